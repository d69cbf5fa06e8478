#include "program/profile.h"

#include "balance/balance.h"
#include "balance/balance_operations.h"
#include "balance/migrate.h"
#include "ckpt/checkpoint.h"
#include "core/storage.h"
#include "eval/eval.h"
#include "manage/size_policy.h"
#include "objects/dvec_operations.h"
#include "peer/peer.h"
#include "program/advice.h"
#include "program/change.h"
#include "program/placement.h"
#include "program/profile_past.h"
#include "program/program_operations.h"
#include "region/region_profile.h"
#include "sparse/dsparse_notes.h"
#include "system/say.h"
#include "system/terminal.h"
#include "system/time.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The figures of a task: those of the program, then those of each operation. The sum or maximum over tasks is printed. */
enum { CALLS, COMPUTE, WAIT, BYTES, COLUMNS };
enum {
    NEIGHBOURS,
    AROUND,
    FURTHER,
    MOVED_BYTES,
    HELPED, /* blocks computed for other tasks */
    BALANCING_NS,
    WAITED_NS, /* in phases of balancing, for tasks that reached them later */
    ELAPSED,
    MESSAGES,
    SENT_BYTES,
    CHANNEL_FRAMES, /* of the service channel */
    CHANNEL_BYTES,
    USED,
    HELD,
    RESIDENT,
    WAITED_FOR, /* the task for which this one has waited longest, and how long */
    WAITED_FOR_NS,
    WAITED_ALL,         /* ns of waiting, in any operation */
    WITHOUT_NS,         /* it could have run and had no processor, */
    WITHOUT_WAITING_NS, /* and this part of that while it waited by the clock on the wall */
    PROCESSORS,         /* of the task's host */
    LOOPS,              /* boundaries passed in this view */
    PHASES,
    PHASES_AHEAD,
    PHASES_MOVING,
    IMBALANCE, /* before the first phase, in 1e-5 */
    SAVED,     /* checkpoints */
    NOT_SAVED,
    SAVED_BYTES,
    PAUSE_NS,
    LONGEST_PAUSE_NS,
    CONSULT_NS,
    CELLS /* of the program */
};

/* The number of figures of a task. All tasks have registered the same operations. */
static size_t cells(void)
{
    return CELLS + (size_t)dome__operation_count() * COLUMNS;
}

/* The first figure of operation number k of the table. */
static size_t of_number(uint32_t k)
{
    return CELLS + (size_t)k * COLUMNS;
}

static size_t of_code(uint32_t code)
{
    uint32_t k = 0;
    while (dome__operation_at(k) != code)
        k++;
    return of_number(k);
}

static void fill_parts(const dome_env *env, const dome_balance_report *report, uint64_t *mine)
{
    dome_checkpoint_report checkpoints = {0};
    mine[PROCESSORS] = g_get_num_processors();
    mine[LOOPS] = env->watch ? dome__watch_passed(env->watch) : 0;
    mine[PHASES] = report->phases;
    mine[PHASES_AHEAD] = report->phases_ahead;
    mine[PHASES_MOVING] = report->moving_phases;
    mine[IMBALANCE] = (uint64_t)(MAX(report->imbalance_first, 0) * 1e5);
    if (!dome__checkpoint_report(env, &checkpoints))
        return;
    mine[SAVED] = checkpoints.written;
    mine[NOT_SAVED] = checkpoints.failed;
    mine[SAVED_BYTES] = checkpoints.bytes;
    mine[PAUSE_NS] = (uint64_t)(checkpoints.pause * 1e9);
    mine[LONGEST_PAUSE_NS] = (uint64_t)(checkpoints.longest_pause * 1e9);
    mine[CONSULT_NS] = (uint64_t)(checkpoints.consult * 1e9);
}

static void fill(const dome_env *env, const dome_balance_report *report, uint64_t *mine)
{
    fill_parts(env, report, mine);
    for (uint32_t k = 0; k < dome__operation_count(); k++) {
        const dome_clock_entry *entry = dome__clock_entry_of(env, dome__operation_at(k));
        uint64_t *cell = mine + of_number(k);
        cell[CALLS] = entry->count;
        cell[COMPUTE] = entry->compute_ns;
        cell[WAIT] = entry->wait_ns;
        cell[BYTES] = entry->bytes;
    }
    mine[WAITED_NS] = (uint64_t)(report->waited * 1e9);
    uint64_t *const balancing = mine + of_code(DOME_OP_BALANCE);
    balancing[WAIT] -= MIN(mine[WAITED_NS], balancing[WAIT]);
    dome_moved moved = dome__moved(env);
    mine[NEIGHBOURS] = moved.to_neighbours;
    mine[AROUND] = moved.around;
    mine[FURTHER] = moved.further;
    mine[MOVED_BYTES] = moved.bytes;
    mine[HELPED] = dome__clock_helped_blocks(env);
    mine[BALANCING_NS] = (uint64_t)(report->seconds * 1e9);
    mine[ELAPSED] = dome__clock_ran_ns(env);
    mine[MESSAGES] = env->transport->account.messages;
    mine[SENT_BYTES] = env->transport->account.bytes;
    const dome_peer_count channel = env->peer ? dome__peer_sent(env->peer) : (dome_peer_count){0, 0};
    mine[CHANNEL_FRAMES] = channel.frames;
    mine[CHANNEL_BYTES] = channel.bytes;
    mine[WAITED_FOR] = mine[WAITED_FOR_NS] = 0;
    for (int r = 0; env->transport->account.waited_for && r < env->size; r++)
        if (r != env->rank && env->transport->account.waited_for[r] > mine[WAITED_FOR_NS]) {
            mine[WAITED_FOR] = (uint64_t)r;
            mine[WAITED_FOR_NS] = env->transport->account.waited_for[r];
        }
    dome__storage_peak(&mine[USED], &mine[HELD]);
    mine[WAITED_ALL] = mine[WAITED_NS];
    for (uint32_t k = 1; k < dome__operation_count(); k++)
        mine[WAITED_ALL] += mine[of_number(k) + WAIT];
    const dome_processor_time processor = dome__clock_processor(env);
    mine[WITHOUT_NS] = MIN(processor.wanted_ns, mine[ELAPSED]);
    mine[WITHOUT_WAITING_NS] =
        mine[WAITED_ALL] - (uint64_t)dome__really_waited((double)mine[ELAPSED], (double)processor.had_ns,
                                                         (double)mine[WITHOUT_NS], (double)mine[WAITED_ALL]);
    struct rusage usage;
    mine[RESIDENT] = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
}

static double sum(const uint64_t *all, int size, size_t cell)
{
    const size_t width = cells();
    double total = 0;
    for (int r = 0; r < size; r++)
        total += (double)all[(size_t)r * width + cell];
    return total;
}

static double most(const uint64_t *all, int size, size_t cell)
{
    const size_t width = cells();
    uint64_t highest = 0;
    for (int r = 0; r < size; r++)
        highest = MAX(highest, all[(size_t)r * width + cell]);
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
    for (uint32_t k = 1; k < dome__operation_count(); k++) {
        const size_t cell = of_number(k);
        double compute = sum(all, size, cell + COMPUTE) * 1e-9, bytes = sum(all, size, cell + BYTES);
        char rate[16] = "-", ratio[16];
        double wait = sum(all, size, cell + WAIT) * 1e-9;
        inside += compute + wait;
        if (!all[cell + CALLS] && compute + wait == 0) /* a time without a call belongs to work that another operation deferred */
            continue;
        if (bytes > 0 && compute > 0)
            g_snprintf(rate, sizeof rate, "%.2f", bytes / compute * 1e-9);
        fprintf(stderr, "%-22s %10" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %8s %6s %5.1f %%\n",
                dome__operation_name(dome__operation_at(k)), all[cell + CALLS], compute / size,
                most(all, size, cell + COMPUTE) * 1e-9, wait / size, most(all, size, cell + WAIT) * 1e-9, rate,
                ratio_text(most(all, size, cell + COMPUTE) * 1e-9, compute / size, ratio),
                100 * share(compute + wait, all, size));
    }
    double waited = sum(all, size, WAITED_NS) * 1e-9;
    if (waited > 0)
        fprintf(stderr, "%-22s %10" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %8s %6s %5.1f %%\n", "waiting for slow tasks",
                all[of_code(DOME_OP_BALANCE) + CALLS], 0.0, 0.0, waited / size, most(all, size, WAITED_NS) * 1e-9, "-", "-",
                100 * share(waited, all, size));
    double own = sum(all, size, ELAPSED) * 1e-9 - inside - waited, without = sum(all, size, WITHOUT_NS) * 1e-9;
    fprintf(stderr, "%-22s %10s %12.6f %60.1f %%\n", "the program's own code", "", MAX(own, 0) / size,
            100 * share(MAX(own, 0), all, size));
    fprintf(stderr, "of all this, %.1f %% without a processor: %.6f s in a task, %.6f s at most\n",
            100 * share(without, all, size), without / size, most(all, size, WITHOUT_NS) * 1e-9);
}

static void print_balance(const dome_env *env, const dome_balance_report *report, const uint64_t *all, int size)
{
    double blocks = sum(all, size, NEIGHBOURS) + sum(all, size, AROUND) + sum(all, size, FURTHER);
    if (env->balance)
        fprintf(stderr,
                "balance: %s, %" G_GUINT64_FORMAT " phase%s (%" G_GUINT64_FORMAT
                " from numbers sent ahead), data moved in %" G_GUINT64_FORMAT ", %.3f s at most in a task\n",
                report->policy, all[PHASES], all[PHASES] == 1 ? "" : "s", all[PHASES_AHEAD], all[PHASES_MOVING],
                most(all, size, BALANCING_NS) * 1e-9);
    else
        fprintf(stderr, "balance: none\n");
    if (blocks > 0)
        fprintf(stderr, "blocks moved: %.0f (%.3f MB), to neighbours %.0f, around the ends %.0f, further %.0f\n", blocks,
                sum(all, size, MOVED_BYTES) * 1e-6, sum(all, size, NEIGHBOURS), sum(all, size, AROUND), sum(all, size, FURTHER));
    if (sum(all, size, HELPED) > 0)
        fprintf(stderr, "blocks computed by tasks that do not own them: %.0f\n", sum(all, size, HELPED));
    if (all[IMBALANCE] > 0 && report->imbalance_last > 0)
        fprintf(stderr, "imbalance (largest computing time over mean): %.3f before the first phase, %.3f before the last\n",
                (double)all[IMBALANCE] * 1e-5, report->imbalance_last);
}

/* A task's time in all operations, computing or waiting (column). */
static double in_operations(const uint64_t *all, int rank, int column)
{
    double ns = column == WAIT ? (double)all[(size_t)rank * cells() + WAITED_NS] : 0;
    for (uint32_t k = 1; k < dome__operation_count(); k++)
        ns += (double)all[(size_t)rank * cells() + of_number(k) + (size_t)column];
    return ns * 1e-9;
}

/* Seconds of a task in operations without waiting: in `a` and `b`. */
static double working_in(const uint64_t *task, uint32_t a, uint32_t b)
{
    return (double)(task[of_code(a) + COMPUTE] + (a != b ? task[of_code(b) + COMPUTE] : 0)) * 1e-9;
}

/* A task's waiting for others: what it was asleep for. */
static double really_waiting(const uint64_t *all, int rank)
{
    return MAX(in_operations(all, rank, WAIT) - (double)all[(size_t)rank * cells() + WITHOUT_WAITING_NS] * 1e-9, 0);
}

/* The columns of work are without the time that the task had no processor, which is taken out of all of them in proportion. */
static void print_task(const uint64_t *all, int rank)
{
    const uint64_t *task = all + (size_t)rank * cells();
    double balancing = working_in(task, DOME_OP_BALANCE, DOME_OP_RELAYOUT),
           halo = working_in(task, DOME_OP_DVEC_HALO, DOME_OP_DVEC_HALO_PLANES);
    double checkpoints = working_in(task, DOME_OP_CHECKPOINT, DOME_OP_CHECKPOINT);
    double work = in_operations(all, rank, COMPUTE),
           own = MAX((double)task[ELAPSED] * 1e-9 - work - in_operations(all, rank, WAIT), 0);
    double without = (double)task[WITHOUT_NS] * 1e-9, in_work = without - (double)task[WITHOUT_WAITING_NS] * 1e-9;
    double left = work + own > 0 ? 1 - MIN(MAX(in_work, 0) / (work + own), 1) : 0;
    fprintf(stderr, "%-10d %12.6f %12.6f %12.6f %12.6f %12.6f %12.6f %12.6f", rank,
            left * (work - balancing - halo - checkpoints), left * own, left * halo, left * balancing, left * checkpoints,
            without, really_waiting(all, rank));
    const double waited = in_operations(all, rank, WAIT), really = waited > 0 ? really_waiting(all, rank) / waited : 0;
    if (task[WAITED_FOR_NS] > 0)
        fprintf(stderr, "  %12.6f for task %" G_GUINT64_FORMAT, really * (double)task[WAITED_FOR_NS] * 1e-9, task[WAITED_FOR]);
    fputc('\n', stderr);
}

/* Prints where the time of each task went; of many tasks, those that waited longest and shortest. */
static void print_tasks(const uint64_t *all, int size)
{
    enum { MOST_ROWS = 16 };
    int shortest = 0, longest = 0;
    if (size == 1)
        return;
    fprintf(stderr, "%-10s %12s %12s %12s %12s %12s %12s %12s  %12s\n", "task", "compute", "own code", "halos", "balancing",
            "checkpoints", "no processor", "waiting", "longest");
    for (int r = 0; r < size; r++) {
        shortest = really_waiting(all, r) < really_waiting(all, shortest) ? r : shortest;
        longest = really_waiting(all, r) > really_waiting(all, longest) ? r : longest;
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
        wait += really_waiting(all, r);
    return share(wait, all, size);
}

static void print_communication(const uint64_t *all, int size)
{
    double longest = 0, largest = most(all, size, SENT_BYTES);
    for (int r = 0; r < size; r++)
        longest = MAX(longest, really_waiting(all, r));
    if (size > 1)
        fprintf(
            stderr,
            "communication: %.0f messages, %.3f MB in all, %.3f MB at most from a task; waiting %.1f %% of the time, %.3f s at "
            "most in a task\n",
            sum(all, size, MESSAGES), sum(all, size, SENT_BYTES) * 1e-6, largest * 1e-6, 100 * waiting_share(all, size), longest);
    if (sum(all, size, CHANNEL_FRAMES) > 0)
        fprintf(stderr,
                "service channel (regions, locks, checkpoints): %.0f messages, %.3f MB in all, %.3f MB at most from a task\n",
                sum(all, size, CHANNEL_FRAMES), sum(all, size, CHANNEL_BYTES) * 1e-6, most(all, size, CHANNEL_BYTES) * 1e-6);
}

/* Of programs on several hosts. */
static void print_placement(const dome_env *env, const dome_transport *t)
{
    char **hosts = dome__placement_hosts(t->group.size, env->hosts);
    int count = (int)g_strv_length(hosts), clusters = 1;
    for (int r = 0; r < t->group.size && t->group.links.cluster; r++)
        clusters = MAX(clusters, t->group.links.cluster[r] + 1);
    char *text = t->group.links.cluster ? g_strdup_printf("%d cluster%s of hosts", clusters, clusters == 1 ? "" : "s")
                                        : g_strdup("nothing is known of the network");
    if (count > 1)
        fprintf(stderr, "placement: %d hosts; of %d neighbours on the ring of tasks %d are on two hosts; %s\n", count,
                t->group.size, dome__placement_boundaries(t->group.size, env->hosts), text);
    g_free(text);
    g_strfreev(hosts);
}

/* Prints rank 0's figures: the pauses of other tasks are about as long. */
static void print_checkpoints(const dome_env *env, const uint64_t *all)
{
    dome_checkpoint_report r;
    if (!dome__checkpoint_report(env, &r))
        return;
    fprintf(stderr,
            "checkpoints: %" G_GUINT64_FORMAT " written, %" G_GUINT64_FORMAT
            " failed, %.3f MB; pauses %.6f s, %.6f s at most; agreeing on them %.6f s; one costs %.6f s",
            all[SAVED], all[NOT_SAVED], (double)all[SAVED_BYTES] * 1e-6, (double)all[PAUSE_NS] * 1e-9,
            (double)all[LONGEST_PAUSE_NS] * 1e-9, (double)all[CONSULT_NS] * 1e-9, r.cost);
    if (r.interval > 0)
        fprintf(stderr, ", every %.3f s", r.interval);
    fprintf(stderr, "; their thread %.6f s\n", r.thread);
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
                      .without = share(sum(all, size, WITHOUT_NS) * 1e-9, all, size),
                      .balancing = share(sum(all, size, BALANCING_NS) * 1e-9, all, size),
                      .balances = env->balance != NULL,
                      .random = o->balance.policy == DOME_BALANCE_RANDOM,
                      .every = o->balance.every,
                      .automatic = o->checkpoint.unit == DOME_CHECKPOINT_AUTO,
                      .phases = report->phases};
    double mean = 0, largest = 0, calls = 0;
    for (int r = 0; r < size; r++) {
        double compute = in_operations(all, r, COMPUTE);
        mean += compute / size;
        f.slowest = compute > largest ? r : f.slowest;
        largest = MAX(largest, compute);
        f.crowd += strcmp(env->hosts[r], env->hosts[0]) == 0;
    }
    for (uint32_t k = 1; k < dome__operation_count(); k++)
        calls += all[of_number(k) + WAIT] > 0 ? (double)all[of_number(k) + CALLS] : 0; /* those in which task 0 waited */
    f.imbalance = mean > 0 ? largest / mean : 1;
    f.between = calls > 0 ? mean / calls : mean;
    if (dome__checkpoint_report(env, &checkpoints) && f.seconds > 0)
        f.checkpoints = (checkpoints.pause + checkpoints.consult) / f.seconds;
    char *advice = dome__advice(&f);
    char *plain = advice ? dome__plain(advice) : NULL;
    if (plain)
        fprintf(stderr, "advice: %s\n", plain);
    g_free(plain);
    g_free(advice);
}

/* Prints peak memory: vectors, vectors with storage kept for reuse, and the whole process. */
static void print_memory(const uint64_t *all, int size)
{
    fprintf(stderr, "memory at most in a task: vectors %.3f MB, with what is kept for reuse %.3f MB; the process %.3f MB\n",
            most(all, size, USED) * 1e-6, most(all, size, HELD) * 1e-6, most(all, size, RESIDENT) * 1e-6);
}

/* ---- views ---- */

static dome_profile_view view_of(const dome_env *env, const uint64_t *all, int size)
{
    dome_profile_view v = {.number = env->change ? env->change->view.number : 0,
                           .tasks = (uint64_t)size,
                           .loops = all[LOOPS],
                           .elapsed = (uint64_t)most(all, size, ELAPSED)};
    double computing = 0, waiting = 0, largest = 0;
    v.without = (uint64_t)(sum(all, size, WITHOUT_NS) / size);
    v.without_waiting = (uint64_t)(sum(all, size, WITHOUT_WAITING_NS) / size);
    for (int r = 0; r < size; r++) {
        const uint64_t *task = all + (size_t)r * cells(), waited = MIN(task[WAITED_ALL], task[ELAPSED]);
        waiting += (double)waited / size;
        computing += (double)(task[ELAPSED] - waited) / size;
        largest = MAX(largest, (double)(task[ELAPSED] - waited));
    }
    v.computing = (uint64_t)computing;
    v.slowest = (uint64_t)largest;
    v.waiting = (uint64_t)waiting;
    return v;
}

/* Figures that are not added up over views, but for rows of one task: the largest counts. */
static bool is_largest(size_t cell)
{
    return cell == USED || cell == HELD || cell == RESIDENT || cell == LONGEST_PAUSE_NS || cell == PROCESSORS;
}

static void add_row(uint64_t *sum, const uint64_t *row)
{
    const bool waits_more = row[WAITED_FOR_NS] > sum[WAITED_FOR_NS];
    const size_t width = cells();
    for (size_t k = 0; k < width; k++)
        if (k == WAITED_FOR || k == WAITED_FOR_NS)
            sum[k] = waits_more ? row[k] : sum[k];
        else if (k == IMBALANCE)
            sum[k] = sum[k] ? sum[k] : row[k]; /* the first */
        else if (is_largest(k))
            sum[k] = MAX(sum[k], row[k]);
        else
            sum[k] += row[k];
}

/* Adds the present view. */
static void add_view(dome_profile_past *past, const dome_env *env, const uint64_t *all, int size)
{
    const dome_profile_view view = view_of(env, all, size);
    if ((uint64_t)size > past->ranks) {
        past->rows = g_renew(uint64_t, past->rows, (gsize)size * cells() + 1);
        memset(past->rows + past->ranks * cells(), 0, ((gsize)size - past->ranks) * cells() * sizeof *past->rows);
        past->ranks = (uint64_t)size;
    }
    for (int r = 0; r < size; r++)
        add_row(past->rows + (size_t)r * cells(), all + (size_t)r * cells());
    g_array_append_val(past->views, view);
}

static void print_views(const dome_profile_past *past)
{
    enum { MOST_ROWS = 24 };
    const guint n = past->views->len, first = n > MOST_ROWS ? n - MOST_ROWS : 0;
    if (n < 2)
        return;
    fprintf(stderr, "views: %u; the figures above are those of all%s\n", n, first ? ", these are the last ones" : "");
    fprintf(stderr, "%-10s %12s %12s %12s %12s %12s %12s %12s\n", "view", "tasks", "seconds", "compute", "no processor",
            "waiting", "boundaries", "s/boundary");
    for (guint k = first; k < n; k++) {
        const dome_profile_view *v = &g_array_index(past->views, dome_profile_view, k);
        char each[16] = "-";
        if (v->loops > 0)
            g_snprintf(each, sizeof each, "%.6f", (double)v->elapsed * 1e-9 / (double)v->loops);
        const uint64_t in_work = v->without - MIN(v->without_waiting, v->without);
        fprintf(stderr,
                "%-10" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT " %12.6f %12.6f %12.6f %12.6f %12" G_GUINT64_FORMAT " %12s\n",
                v->number, v->tasks, (double)v->elapsed * 1e-9, (double)(v->computing - MIN(in_work, v->computing)) * 1e-9,
                (double)v->without * 1e-9, (double)(v->waiting - MIN(v->without_waiting, v->waiting)) * 1e-9, v->loops, each);
    }
}

/* ---- the number of tasks that pays ---- */

/* The views with so many tasks together; per boundary. Without boundaries only the present view says something. */
static GArray *points_of(const dome_profile_past *past, int present)
{
    GArray *points = g_array_new(FALSE, TRUE, sizeof(dome_size_point));
    const guint n = past->views->len;
    bool boundaries = false;
    for (guint k = 0; k < n; k++)
        boundaries |= g_array_index(past->views, dome_profile_view, k).loops > 0;
    for (guint k = 0; k < n; k++) {
        double loops = 0, computing = 0, slowest = 0, waiting = 0;
        const uint64_t tasks = g_array_index(past->views, dome_profile_view, k).tasks;
        bool before = false;
        for (guint i = 0; i < n; i++) {
            const dome_profile_view *v = &g_array_index(past->views, dome_profile_view, i);
            before |= i < k && v->tasks == tasks;
            if (v->tasks != tasks || (boundaries && !v->loops))
                continue;
            loops += (double)v->loops;
            computing += (double)v->computing * 1e-9;
            slowest += (double)v->slowest * 1e-9;
            waiting += (double)v->waiting * 1e-9;
        }
        if (before || (boundaries ? loops == 0 : (int)tasks != present))
            continue;
        const double by = boundaries ? loops : 1;
        const dome_size_point point = {(int)tasks, computing / by, slowest / by, waiting / by};
        g_array_append_val(points, point);
    }
    return points;
}

/* Of all hosts together. */
static int processors_of(const dome_env *env, const uint64_t *all)
{
    uint64_t sum = 0;
    for (int r = 0; r < env->size; r++) {
        bool before = false;
        for (int k = 0; k < r && !before; k++)
            before = strcmp(env->hosts[k], env->hosts[r]) == 0;
        sum += before ? 0 : all[(size_t)r * cells() + PROCESSORS];
    }
    return (int)MIN(sum, G_MAXINT / 2);
}

/* all: of the present view. */
static void print_size(const dome_env *env, const dome_profile_past *past, const uint64_t *all)
{
    static const double SHORT = 0.2; /* seconds: less says nothing */
    const dome_options *o = &env->options;
    const int present = env->size, processors = processors_of(env, all);
    GArray *points = points_of(past, present);
    bool measured = false, several = false;
    for (guint k = 0; k < points->len; k++) {
        measured |= g_array_index(points, dome_size_point, k).tasks == present;
        several |= g_array_index(points, dome_size_point, k).tasks > 1;
    }
    if (measured && several && most(all, present, ELAPSED) * 1e-9 >= SHORT) {
        double time, now;
        const dome_size_program program = {.points = (const dome_size_point *)(const void *)points->data,
                                           .n = (int)points->len,
                                           .processors = processors,
                                           .present = present,
                                           .least = o->size.least,
                                           .most = o->size.most};
        const int best = dome__size_best(&program, &time, &now);
        if (!dome__size_pays(best, present, time, now) || !(now > 0))
            fprintf(stderr, "size: %d tasks pay: another number would hardly be faster, nor do with fewer\n", present);
        else if (best < present)
            fprintf(stderr, "size: %d task%s would do, in %.2f times the time of %d\n", best, best == 1 ? "" : "s", time / now,
                    present);
        else
            fprintf(stderr, "size: %d tasks would pay, in %.2f times the time of %d\n", best, time / now, present);
    }
    g_array_unref(points);
}

/* ---- printing ---- */

/* The figures of all tasks in this view, on task 0. leaving_ns: for how long the program has stood still to leave it. */
static int gather(dome_env *env, uint64_t leaving_ns, dome_balance_report *report, uint64_t **all)
{
    dome_transport *t = env->transport;
    uint64_t *mine = g_new0(uint64_t, cells());
    *report = (dome_balance_report){0};
    if (env->balance)
        dome__balance_report(env->balance, report);
    *all = t->group.rank == 0 ? g_new0(uint64_t, (gsize)t->group.size * cells()) : NULL;
    fill(env, report, mine);
    mine[ELAPSED] -= MIN(leaving_ns, mine[ELAPSED]);
    const int status = dome__gather(t, 0, DOME_U64, mine, cells(), *all);
    g_free(mine);
    return status;
}

int dome__profile_keep(dome_env *env)
{
    dome_balance_report report;
    uint64_t *all;
    int status = gather(env, dome__view_times_passed(&env->change->times), &report, &all);
    if (status == DOME_OK && env->rank == 0) {
        dome_profile_past past;
        dome__profile_past_read(&past, env->change->profile, cells());
        add_view(&past, env, all, env->size);
        env->change->profile = dome__profile_past_write(&past, env->change->profile, cells());
        dome__profile_past_clear(&past);
    }
    g_free(all);
    return status;
}

int dome__profile_print(dome_env *env)
{
    const dome_transport *t = env->transport;
    dome_balance_report report;
    uint64_t *all;
    char *regions = NULL;
    int status = gather(env, 0, &report, &all);
    if (status == DOME_OK)
        status = dome__region_profile_text(env, &regions);
    if (status == DOME_OK && t->group.rank == 0) {
        dome_profile_past past;
        dome__profile_past_read(&past, env->change ? env->change->profile : -1, cells());
        add_view(&past, env, all, t->group.size);
        const uint64_t *sums = past.rows;
        const int size = (int)past.ranks; /* the most tasks of a view */
        dome__say("%d task%s; seconds per task, mean and largest; bytes of vectors over computing time", size,
                  size == 1 ? "" : "s");
        print_operations(sums, size);
        print_tasks(sums, size);
        print_communication(sums, size);
        print_placement(env, t);
        print_balance(env, &report, sums, size);
        print_checkpoints(env, sums);
        print_memory(sums, size);
        dome__eval_profile(env, stderr);
        dsparse__profile(env, stderr);
        fputs(regions ? regions : "", stderr);
        print_views(&past);
        print_size(env, &past, all);
        print_advice(env, &report, all, t->group.size);
        dome__profile_past_clear(&past);
    }
    g_free(regions);
    g_free(all);
    return status;
}
