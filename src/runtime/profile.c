#include "runtime/profile.h"

#include "runtime/checkpoint.h"

#include "balance/balance.h"
#include "objects/eval.h"
#include "objects/storage.h"
#include "transport/collective.h"

#include <stdio.h>
#include <sys/resource.h>

/* A task's figures: numbers of each operation, then of moving. All are added up or compared over tasks. */
enum { CALLS, COMPUTE, WAIT, BYTES, COLUMNS };
enum { NEIGHBOURS = DOME_OPERATIONS * COLUMNS, AROUND, FURTHER, MOVED_BYTES, BALANCING_NS, USED, HELD, RESIDENT, CELLS };

static void fill(const dome_env *env, const dome_balance_report *report, uint64_t mine[CELLS])
{
    for (int k = 0; k < DOME_OPERATIONS; k++) {
        const dome_clock_entry *entry = &env->clock[k];
        uint64_t *cell = mine + k * COLUMNS;
        cell[CALLS] = entry->count;
        cell[COMPUTE] = entry->compute_ns;
        cell[WAIT] = entry->wait_ns;
        cell[BYTES] = entry->bytes;
    }
    mine[NEIGHBOURS] = env->moved.to_neighbours;
    mine[AROUND] = env->moved.around;
    mine[FURTHER] = env->moved.further;
    mine[MOVED_BYTES] = env->moved.bytes;
    mine[BALANCING_NS] = (uint64_t)(report->seconds * 1e9);
    dome__storage_peak(&mine[USED], &mine[HELD]);
    struct rusage usage;
    mine[RESIDENT] = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
}

static double sum(const uint64_t *all, int size, int cell)
{
    double total = 0;
    for (int r = 0; r < size; r++)
        total += (double)all[(size_t)r * CELLS + (size_t)cell];
    return total;
}

static double most(const uint64_t *all, int size, int cell)
{
    uint64_t highest = 0;
    for (int r = 0; r < size; r++)
        highest = MAX(highest, all[(size_t)r * CELLS + (size_t)cell]);
    return (double)highest;
}

/* Calls are those of one task: all make the same. */
static void print_operations(const uint64_t *all, int size)
{
    fprintf(stderr, "%-22s %10s %12s %12s %12s %12s %8s\n", "operation", "calls", "compute", "largest", "wait", "largest",
            "GB/s");
    for (int k = 1; k < DOME_OPERATIONS; k++) {
        int cell = k * COLUMNS;
        double compute = sum(all, size, cell + COMPUTE) * 1e-9, bytes = sum(all, size, cell + BYTES);
        char rate[16] = "-";
        if (!all[cell + CALLS])
            continue;
        if (bytes > 0 && compute > 0)
            g_snprintf(rate, sizeof rate, "%.2f", bytes / compute * 1e-9);
        fprintf(stderr, "%-22s %10" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %8s\n", dome__operation_name((uint32_t)k),
                all[cell + CALLS], compute / size, most(all, size, cell + COMPUTE) * 1e-9,
                sum(all, size, cell + WAIT) * 1e-9 / size, most(all, size, cell + WAIT) * 1e-9, rate);
    }
}

static void print_balance(const dome_env *env, const dome_balance_report *report, const uint64_t *all, int size)
{
    double blocks = sum(all, size, NEIGHBOURS) + sum(all, size, AROUND) + sum(all, size, FURTHER);
    if (env->balance)
        fprintf(stderr,
                "balance: %s, %" G_GUINT64_FORMAT " phases, data moved in %" G_GUINT64_FORMAT ", %.3f s at most in a task\n",
                report->policy, report->phases, report->moving_phases, most(all, size, BALANCING_NS) * 1e-9);
    else
        fprintf(stderr, "balance: none\n");
    if (blocks > 0)
        fprintf(stderr, "blocks moved: %.0f (%.3f MB), to neighbours %.0f, around the ends %.0f, further %.0f\n", blocks,
                sum(all, size, MOVED_BYTES) * 1e-6, sum(all, size, NEIGHBOURS), sum(all, size, AROUND), sum(all, size, FURTHER));
    if (report->imbalance_first > 0)
        fprintf(stderr, "imbalance (largest computing time over mean): %.3f before the first phase, %.3f before the last\n",
                report->imbalance_first, report->imbalance_last);
}

/* Of rank 0: the others wait as long for their copies, more or less. */
static void print_checkpoints(const dome_env *env)
{
    dome_checkpoint_report r;
    if (!dome__checkpoint_report(env, &r))
        return;
    fprintf(stderr,
            "checkpoints: %" G_GUINT64_FORMAT " written, %" G_GUINT64_FORMAT
            " failed, %.3f MB; pauses %.6f s, %.6f s at most; agreeing on them %.6f s; one costs %.6f s",
            r.written, r.failed, (double)r.bytes * 1e-6, r.pause, r.longest_pause, r.consult, r.cost);
    if (r.interval > 0)
        fprintf(stderr, ", every %.3f s", r.interval);
    fputc('\n', stderr);
}

/* At the fullest moment: vectors, with storage kept for the next ones, and the whole process. */
static void print_memory(const uint64_t *all, int size)
{
    fprintf(stderr, "memory at most in a task: vectors %.3f MB, with what is kept for reuse %.3f MB; the process %.3f MB\n",
            most(all, size, USED) * 1e-6, most(all, size, HELD) * 1e-6, most(all, size, RESIDENT) * 1e-6);
}

int dome__profile_print(dome_env *env)
{
    dome_transport *t = env->transport;
    dome_balance_report report = {0};
    if (env->balance)
        dome__balance_report(env->balance, &report);
    uint64_t mine[CELLS], *all = t->rank == 0 ? g_new0(uint64_t, (gsize)t->size * CELLS) : NULL;
    fill(env, &report, mine);
    int status = dome__gather(t, 0, DOME_U64, mine, CELLS, all);
    if (status == DOME_OK && t->rank == 0) {
        fprintf(stderr, "dome: %d task%s; seconds per task, mean and largest; bytes of vectors over computing time\n", t->size,
                t->size == 1 ? "" : "s");
        print_operations(all, t->size);
        print_balance(env, &report, all, t->size);
        print_checkpoints(env);
        print_memory(all, t->size);
        dome__eval_profile(env, stderr);
    }
    g_free(all);
    return status;
}
