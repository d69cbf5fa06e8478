#include "mm_pvm.h"

#include <math.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

static int quit(int status, const char *text)
{
    fprintf(stderr, "%s\n", text);
    pvm_exit();
    return status;
}

static bool spawn_copies(mm_group *group, char **argv)
{
    struct pvmhostinfo *host;
    int hosts, formats, here = pvm_tidtohost(group->tid[0]);
    if (pvm_config(&hosts, &formats, &host) < 0)
        return false;
    char *path = realpath("/proc/self/exe", NULL);
    bool started = path != NULL;
    for (int h = 0; started && h < hosts; h++)
        if (host[h].hi_tid != here)
            started = group->size < MM_MAX_TASKS &&
                      pvm_spawn(path, argv + 1, PvmTaskHost, host[h].hi_name, 1, &group->tid[group->size++]) == 1;
    free(path);
    return started;
}

static void kill_copies(const mm_group *group)
{
    for (int r = 1; r < group->size; r++)
        if (group->tid[r] > 0)
            pvm_kill(group->tid[r]);
}

static int join(mm_group *group, int parent)
{
    if (pvm_recv(parent, MM_TAG_START) < 0 || pvm_upkint(&group->size, 1, 1) < 0 || pvm_upkint(group->tid, group->size, 1) < 0)
        return quit(1, "the first task does not answer");
    while (group->tid[group->rank] != pvm_mytid())
        group->rank++;
    return 0;
}

/* Status to end with on failure, 0 if all is well. Parses the arguments, which the copies get as well. */
static int enrol(mm_group *group, mm_options *options, int argc, char **argv)
{
    *group = (mm_group){.size = 1};
    if (!mm_parse(options, argc, argv, true))
        return 2;
    group->tid[0] = pvm_mytid();
    if (group->tid[0] < 0)
        return quit(1, "no virtual machine is running");
    int parent = pvm_parent();
    if (parent != PvmNoParent)
        return join(group, parent);
    if (!spawn_copies(group, argv)) {
        kill_copies(group);
        return quit(1, "a task could not be started on each host");
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&group->size, 1, 1);
    pvm_pkint(group->tid, group->size, 1);
    pvm_mcast(group->tid + 1, group->size - 1, MM_TAG_START);
    return 0;
}

static size_t first_row(const mm_group *group, const mm_options *options, int rank)
{
    return options->rows * (size_t)rank / (size_t)group->size;
}

static void barrier(const mm_group *group)
{
    pvm_initsend(PvmDataDefault);
    if (group->rank == 0) {
        for (int r = 1; r < group->size; r++)
            pvm_recv(group->tid[r], MM_TAG_READY);
        pvm_mcast((int *)group->tid + 1, group->size - 1, MM_TAG_GO);
    } else {
        pvm_send(group->tid[0], MM_TAG_READY);
        pvm_recv(group->tid[0], MM_TAG_GO);
    }
}

/* Rank 0 prints the result; all leave the virtual machine. */
static void finish(const mm_group *group, const mm_clock *clock, double norm)
{
    double processor = clock->processor;
    if (group->rank == 0) {
        for (int r = 1; r < group->size; r++) {
            double part = 0;
            pvm_recv(group->tid[r], MM_TAG_PROCESSOR);
            pvm_upkdouble(&part, 1, 1);
            processor += part;
        }
        mm_print(clock, norm, processor);
    } else {
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(&processor, 1, 1);
        pvm_send(group->tid[0], MM_TAG_PROCESSOR);
    }
    pvm_exit();
}

int mm_pvm_run(int argc, char **argv, bool direct, mm_total total)
{
    mm_options o;
    mm_group group;
    int status = enrol(&group, &o, argc, argv);
    if (status)
        return status;
    size_t first = first_row(&group, &o, group.rank), rows = first_row(&group, &o, group.rank + 1) - first;
    double *x = mm_matrix(rows, o.k), *y = mm_matrix(rows, o.k), *b = mm_matrix(o.k, o.k);
    mm_fill_x(x, first, rows, o.k);
    mm_fill_b(b, o.k);

    double norm = 1;
    mm_clock clock;
    if (direct) {
        pvm_setopt(PvmRoute, PvmRouteDirect);
        total(&group, 0); /* makes the connections */
    }
    barrier(&group);
    mm_begin(&clock, group.rank == 0);
    for (int p = 1; p <= o.products; p++) {
        bool divide = p > 1 && mm_due(&o, p - 1);
        mm_multiply(y, x, b, rows, o.k, divide ? 1 / norm : 1);
        double *swap = x;
        x = y;
        y = swap;
        if (mm_due(&o, p))
            norm = sqrt(total(&group, mm_squares(x, rows, o.k)));
        mm_tick(&clock, &o, p);
    }
    mm_end(&clock);

    finish(&group, &clock, norm);
    free(x);
    free(y);
    free(b);
    return 0;
}
