#include "program/profile.h"

#include "balance/balance.h"
#include "balance/migrate.h"
#include "ckpt/checkpoint.h"
#include "core/storage.h"
#include "objects/eval.h"
#include "program/advice.h"
#include "program/placement.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The figures of a task: those of each operation, then those of the program. The sum or maximum over tasks is printed. */
enum { CALLS, COMPUTE, WAIT, BYTES, COLUMNS };
enum {
    NEIGHBOURS = DOME_OPERATIONS_MAX * COLUMNS,
    AROUND,
    FURTHER,
    MOVED_BYTES,
    HELPED, /* blocks computed for other tasks */
    BALANCING_NS,
    WAITED_NS, /* in phases of balancing, for tasks that reached them later */
    ELAPSED,
    MESSAGES,
    SENT_BYTES,
    USED,
    HELD,
    RESIDENT,
    WAITED_FOR, /* the task for which this one has waited longest, and how long */
    WAITED_FOR_NS,
    CELLS
};

static void fill(const dome_env *env, const dome_balance_report *report, uint64_t mine[CELLS])
{
    for (int k = 0; k < DOME_OPERATIONS_MAX; k++) {
        const dome_clock_entry *entry = dome__clock_entry_of(env, (uint32_t)k);
        uint64_t *cell = mine + k * COLUMNS;
        cell[CALLS] = entry->count;
        cell[COMPUTE] = entry->compute_ns;
        cell[WAIT] = entry->wait_ns;
        cell[BYTES] = entry->bytes;
    }
    mine[WAITED_NS] = (uint64_t)(report->waited * 1e9);
    mine[DOME_OP_BALANCE * COLUMNS + WAIT] -= MIN(mine[WAITED_NS], mine[DOME_OP_BALANCE * COLUMNS + WAIT]);
    dome_moved moved = dome__moved(env);
    mine[NEIGHBOURS] = moved.to_neighbours;
    mine[AROUND] = moved.around;
    mine[FURTHER] = moved.further;
    mine[MOVED_BYTES] = moved.bytes;
    mine[HELPED] = dome__clock_helped_blocks(env);
    mine[BALANCING_NS] = (uint64_t)(report->seconds * 1e9);
    mine[ELAPSED] = dome__clock_ran_ns(env);
    mine[MESSAGES] = env->transport->messages;
    mine[SENT_BYTES] = env->transport->bytes;
    mine[WAITED_FOR] = mine[WAITED_FOR_NS] = 0;
    for (int r = 0; env->transport->waited_for && r < env->size; r++)
        if (r != env->rank && env->transport->waited_for[r] > mine[WAITED_FOR_NS]) {
            mine[WAITED_FOR] = (uint64_t)r;
            mine[WAITED_FOR_NS] = env->transport->waited_for[r];
        }
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

/* Largest over mean; "-" if the times are too short. */
static const char *ratio_text(double largest, double mean, char text[16])
{
    g_snprintf(text, 16, mean >= 1e-5 ? "%.2f" : "-", largest / mean);
    return text;
}

static double share(double part, const uint64_t *all, int size)
{
    double elapsed = sum(all, size, ELAPSED) * 1e-9;
    return elapsed > 0 ? part / elapsed : 0;
}

/* Prints the calls of one task: all make the same calls. Waiting for slower tasks at the beginning of a phase is not a cost of
 * balancing and has a separate line. */
static void print_operations(const uint64_t *all, int size)
{
    fprintf(stderr, "%-22s %10s %12s %12s %12s %12s %8s %6s %7s\n", "operation", "calls", "compute", "largest", "wait", "largest",
            "GB/s", "ratio", "share");
    double inside = 0;
    for (int k = 1; k < DOME_OPERATIONS_MAX; k++) {
        int cell = k * COLUMNS;
        double compute = sum(all, size, cell + COMPUTE) * 1e-9, bytes = sum(all, size, cell + BYTES);
        char rate[16] = "-", ratio[16];
        double wait = sum(all, size, cell + WAIT) * 1e-9;
        inside += compute + wait;
        if (!all[cell + CALLS] && compute + wait == 0) /* a time without a call belongs to work that another operation deferred */
            continue;
        if (bytes > 0 && compute > 0)
            g_snprintf(rate, sizeof rate, "%.2f", bytes / compute * 1e-9);
        fprintf(stderr, "%-22s %10" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %8s %6s %5.1f %%\n",
                dome__operation_name((uint32_t)k), all[cell + CALLS], compute / size, most(all, size, cell + COMPUTE) * 1e-9,
                wait / size, most(all, size, cell + WAIT) * 1e-9, rate,
                ratio_text(most(all, size, cell + COMPUTE) * 1e-9, compute / size, ratio),
                100 * share(compute + wait, all, size));
    }
    double waited = sum(all, size, WAITED_NS) * 1e-9;
    if (waited > 0)
        fprintf(stderr, "%-22s %10" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %8s %6s %5.1f %%\n", "waiting for slow tasks",
                all[DOME_OP_BALANCE * COLUMNS + CALLS], 0.0, 0.0, waited / size, most(all, size, WAITED_NS) * 1e-9, "-", "-",
                100 * share(waited, all, size));
    double own = sum(all, size, ELAPSED) * 1e-9 - inside - waited;
    fprintf(stderr, "%-22s %10s %12.6f %60.1f %%\n", "the program's own code", "", MAX(own, 0) / size,
            100 * share(MAX(own, 0), all, size));
}

static void print_balance(const dome_env *env, const dome_balance_report *report, const uint64_t *all, int size)
{
    double blocks = sum(all, size, NEIGHBOURS) + sum(all, size, AROUND) + sum(all, size, FURTHER);
    if (env->balance)
        fprintf(stderr,
                "balance: %s, %" G_GUINT64_FORMAT " phase%s (%" G_GUINT64_FORMAT
                " from numbers sent ahead), data moved in %" G_GUINT64_FORMAT ", %.3f s at most in a task\n",
                report->policy, report->phases, report->phases == 1 ? "" : "s", report->phases_ahead, report->moving_phases,
                most(all, size, BALANCING_NS) * 1e-9);
    else
        fprintf(stderr, "balance: none\n");
    if (blocks > 0)
        fprintf(stderr, "blocks moved: %.0f (%.3f MB), to neighbours %.0f, around the ends %.0f, further %.0f\n", blocks,
                sum(all, size, MOVED_BYTES) * 1e-6, sum(all, size, NEIGHBOURS), sum(all, size, AROUND), sum(all, size, FURTHER));
    if (sum(all, size, HELPED) > 0)
        fprintf(stderr, "blocks computed by tasks that do not own them: %.0f\n", sum(all, size, HELPED));
    if (report->imbalance_first > 0)
        fprintf(stderr, "imbalance (largest computing time over mean): %.3f before the first phase, %.3f before the last\n",
                report->imbalance_first, report->imbalance_last);
}

/* A task's time in all operations, computing or waiting (column). */
static double in_operations(const uint64_t *all, int rank, int column)
{
    double ns = column == WAIT ? (double)all[(size_t)rank * CELLS + WAITED_NS] : 0;
    for (int k = 1; k < DOME_OPERATIONS_MAX; k++)
        ns += (double)all[(size_t)rank * CELLS + (size_t)(k * COLUMNS + column)];
    return ns * 1e-9;
}

/* Seconds of a task in operations without waiting: in `a` and `b`. */
static double working_in(const uint64_t *task, uint32_t a, uint32_t b)
{
    return (double)(task[a * COLUMNS + COMPUTE] + (a != b ? task[b * COLUMNS + COMPUTE] : 0)) * 1e-9;
}

static void print_task(const uint64_t *all, int rank)
{
    const uint64_t *task = all + (size_t)rank * CELLS;
    double balancing = working_in(task, DOME_OP_BALANCE, DOME_OP_RELAYOUT),
           halo = working_in(task, DOME_OP_DVEC_HALO, DOME_OP_DVEC_HALO_PLANES);
    double checkpoints = working_in(task, DOME_OP_CHECKPOINT, DOME_OP_CHECKPOINT), waiting = in_operations(all, rank, WAIT);
    double work = in_operations(all, rank, COMPUTE), own = (double)task[ELAPSED] * 1e-9 - work - waiting;
    fprintf(stderr, "%-10d %12.6f %12.6f %12.6f %12.6f %12.6f %12.6f", rank, work - balancing - halo - checkpoints, MAX(own, 0),
            halo, balancing, checkpoints, waiting);
    if (task[WAITED_FOR_NS] > 0)
        fprintf(stderr, "  %12.6f for task %" G_GUINT64_FORMAT, (double)task[WAITED_FOR_NS] * 1e-9, task[WAITED_FOR]);
    fputc('\n', stderr);
}

/* Prints where the time of each task went; of many tasks, those that waited longest and shortest. */
static void print_tasks(const uint64_t *all, int size)
{
    enum { MOST_ROWS = 16 };
    int shortest = 0, longest = 0;
    if (size == 1)
        return;
    fprintf(stderr, "%-10s %12s %12s %12s %12s %12s %12s  %12s\n", "task", "compute", "own code", "halos", "balancing",
            "checkpoints", "waiting", "longest");
    for (int r = 0; r < size; r++) {
        shortest = in_operations(all, r, WAIT) < in_operations(all, shortest, WAIT) ? r : shortest;
        longest = in_operations(all, r, WAIT) > in_operations(all, longest, WAIT) ? r : longest;
        if (size <= MOST_ROWS)
            print_task(all, r);
    }
    if (size <= MOST_ROWS)
        return;
    print_task(all, longest);
    print_task(all, shortest);
}

static double waiting_share(const uint64_t *all, int size)
{
    double wait = 0;
    for (int r = 0; r < size; r++)
        wait += in_operations(all, r, WAIT);
    return share(wait, all, size);
}

static void print_communication(const uint64_t *all, int size)
{
    double longest = 0, largest = most(all, size, SENT_BYTES);
    for (int r = 0; r < size; r++)
        longest = MAX(longest, in_operations(all, r, WAIT));
    if (size > 1)
        fprintf(
            stderr,
            "communication: %.0f messages, %.3f MB in all, %.3f MB at most from a task; waiting %.1f %% of the time, %.3f s at "
            "most in a task\n",
            sum(all, size, MESSAGES), sum(all, size, SENT_BYTES) * 1e-6, largest * 1e-6, 100 * waiting_share(all, size), longest);
}

/* Of programs on several hosts. */
static void print_placement(const dome_env *env, const dome_transport *t)
{
    char **hosts = dome__placement_hosts(t->size, env->hosts);
    int count = (int)g_strv_length(hosts), clusters = 1;
    for (int r = 0; r < t->size && t->links.cluster; r++)
        clusters = MAX(clusters, t->links.cluster[r] + 1);
    char *text = t->links.cluster ? g_strdup_printf("%d cluster%s of hosts", clusters, clusters == 1 ? "" : "s")
                                  : g_strdup("nothing is known of the network");
    if (count > 1)
        fprintf(stderr, "placement: %d hosts; of %d neighbours on the ring of tasks %d are on two hosts; %s\n", count, t->size,
                dome__placement_boundaries(t->size, env->hosts), text);
    g_free(text);
    g_strfreev(hosts);
}

/* Prints rank 0's figures: the pauses of other tasks are about as long. */
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

static void print_advice(const dome_env *env, const dome_balance_report *report, const uint64_t *all, int size)
{
    const dome_options *o = &env->options;
    dome_checkpoint_report checkpoints;
    dome_figures f = {.tasks = size,
                      .processors = (int)g_get_num_processors(),
                      .host = env->hosts[0],
                      .seconds = most(all, size, ELAPSED) * 1e-9,
                      .waiting = waiting_share(all, size),
                      .balancing = share(sum(all, size, BALANCING_NS) * 1e-9, all, size),
                      .balances = env->balance != NULL,
                      .random = o->balance == DOME_BALANCE_RANDOM,
                      .every = o->balance_every,
                      .automatic = o->checkpoint_unit == DOME_CHECKPOINT_AUTO,
                      .phases = report->phases};
    double mean = 0, largest = 0, calls = 0;
    for (int r = 0; r < size; r++) {
        double compute = in_operations(all, r, COMPUTE);
        mean += compute / size;
        f.slowest = compute > largest ? r : f.slowest;
        largest = MAX(largest, compute);
        f.crowd += strcmp(env->hosts[r], env->hosts[0]) == 0;
    }
    for (int k = 1; k < DOME_OPERATIONS_MAX; k++)
        calls += all[k * COLUMNS + WAIT] > 0 ? (double)all[k * COLUMNS + CALLS] : 0; /* those in which task 0 waited */
    f.imbalance = mean > 0 ? largest / mean : 1;
    f.between = calls > 0 ? mean / calls : mean;
    if (dome__checkpoint_report(env, &checkpoints) && f.seconds > 0)
        f.checkpoints = (checkpoints.pause + checkpoints.consult) / f.seconds;
    char *advice = dome__advice(&f);
    if (advice)
        fprintf(stderr, "advice: %s\n", advice);
    g_free(advice);
}

/* Prints peak memory: vectors, vectors with storage kept for reuse, and the whole process. */
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
        print_tasks(all, t->size);
        print_communication(all, t->size);
        print_placement(env, t);
        print_balance(env, &report, all, t->size);
        print_checkpoints(env);
        print_memory(all, t->size);
        dome__eval_profile(env, stderr);
        print_advice(env, &report, all, t->size);
    }
    g_free(all);
    return status;
}
