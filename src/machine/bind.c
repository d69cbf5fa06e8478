/* The processors are put into an order in which those that share a core are adjacent, then those that share a cache, from the
 * smallest to the largest, then those of one package. Tasks are spread evenly over this order: each has as much of the caches as
 * possible, and neighbours, which exchange data, are close. While there are enough cores, each task gets one of its own. */
#include "machine/bind.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* From outside to inside: package, caches of level 3 and 2, core. */
enum { SHARED_KINDS = 4 };

typedef struct processor {
    int shared[SHARED_KINDS + 1]; /* the first processor of each set that it belongs to; at last itself */
} processor;

/* The first number in a file such as shared_cpu_list ("0-3,8"); otherwise if there is none. */
static int first_of(const char *directory, int cpu, const char *file, int otherwise)
{
    char *path = g_strdup_printf("%s/cpu%d/%s", directory, cpu, file), *text = NULL;
    int number = otherwise;
    if (g_file_get_contents(path, &text, NULL, NULL) && g_ascii_isdigit(text[0]))
        number = atoi(text);
    g_free(path);
    g_free(text);
    return number;
}

static processor look_at(const char *directory, int cpu)
{
    enum { MOST_CACHES = 8 };
    processor p = {.shared = {first_of(directory, cpu, "topology/package_cpus_list", 0), 0, 0,
                              first_of(directory, cpu, "topology/thread_siblings_list", cpu), cpu}};
    p.shared[1] = p.shared[0];
    p.shared[2] = -1;
    for (int i = 0; i < MOST_CACHES; i++) {
        char level[32], list[32];
        g_snprintf(level, sizeof level, "cache/index%d/level", i);
        g_snprintf(list, sizeof list, "cache/index%d/shared_cpu_list", i);
        const int which = first_of(directory, cpu, level, 0);
        if (which == 2 || which == 3)
            p.shared[which == 3 ? 1 : 2] = first_of(directory, cpu, list, cpu);
    }
    if (p.shared[2] < 0)
        p.shared[2] = p.shared[3];
    return p;
}

static int compare(const void *left, const void *right)
{
    const processor *a = left, *b = right;
    for (int i = 0; i <= SHARED_KINDS; i++)
        if (a->shared[i] != b->shared[i])
            return a->shared[i] < b->shared[i] ? -1 : 1;
    return 0;
}

/* Keeps the first processor of each core. */
static int one_of_each_core(const processor *all, int n, processor *kept)
{
    int cores = 0;
    for (int i = 0; i < n; i++)
        if (!cores || all[i].shared[SHARED_KINDS - 1] != kept[cores - 1].shared[SHARED_KINDS - 1])
            kept[cores++] = all[i];
    return cores;
}

int dome__bind_choose(const cpu_set_t *allowed, const char *directory, int place, int tasks)
{
    int n = 0;
    processor *all = g_new(processor, CPU_COUNT(allowed)), *cores = g_new(processor, CPU_COUNT(allowed));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed))
            all[n++] = look_at(directory, cpu);
    qsort(all, (size_t)n, sizeof *all, compare);
    const int ncores = one_of_each_core(all, n, cores);
    const int chosen = tasks <= ncores ? cores[(long)place * ncores / tasks].shared[SHARED_KINDS]
                                       : all[(long)place * n / tasks].shared[SHARED_KINDS];
    g_free(all);
    g_free(cores);
    return chosen;
}

/* The processors that this process could use before it was bound. */
static cpu_set_t before;
static bool bound;

bool dome__bind_to_core(int place, int tasks)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) < tasks)
        return false;
    CPU_ZERO(&one);
    CPU_SET(dome__bind_choose(&allowed, "/sys/devices/system/cpu", place, tasks), &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0)
        return false;
    before = allowed;
    bound = true;
    return true;
}

void dome__bind_undo(void)
{
    if (bound)
        sched_setaffinity(0, sizeof before, &before);
    bound = false;
}
