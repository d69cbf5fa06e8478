#include "balance/balance.h"

#include "objects/object_private.h"
#include "runtime/watch.h"
#include "transport/collective.h"

#include <math.h>
#include <string.h>

/* From one phase to the next the number of operations grows by no more than this: the operations that come may be longer. */
enum { GROWTH = 4 };

/* Domains that are remembered although they have no objects. */
enum { DOMAINS_KEPT = 64 };

/* Blocks differ in cost when their deviation is more than this part of their mean, and the measurement is correlated with the one
 * before like this at least: noise is not. */
static const double UNEVEN = 0.2, CORRELATION = 0.7;

/* A new measurement of a block's cost counts so much against what was known. */
static const double COST_WEIGHT = 0.5;

/* The same for what a phase costs. */
static const double PHASE_WEIGHT = 0.2;

/* No block is free: mean costs are 1. */
static const double LEAST_COST = 1e-3;

/* A task is looked at for so many seconds at the start; again, for longer, when the fastest is so much faster than the slowest.
 * If it is still, their speeds are taken from that until something is measured: as if they had been measured for that long. */
static const double FIRST_LOOK = 0.02, SECOND_LOOK = 0.1, LOOKS_DIFFERENT = 1.4;

/* Assumed until data has moved for the first time, bytes per second. */
static const double FIRST_BANDWIDTH = 100e6;

/* A task that waits for so much more of its time than after the last phase asks for the next one. The share grows by
 * ALARM_BACKOFF with each phase that was asked for in vain. */
static const double ALARM_SHARE = 0.1, ALARM_BACKOFF = 1.5, ALARM_WINDOW = 0.1;

/* All objects of one length and block size. */
typedef struct domain {
    uint64_t length, block_size, blocks;
    double weight; /* of its work in that of all domains; their sum is 1 */
    double *costs; /* by block, mean 1; NULL: blocks cost the same */
    dome_flow *flow;
    double *seen; /* costs as measured the time before, by block; 0: not this task's then. NULL: never */

    /* of the phase under way */
    dome_layout *layout; /* NULL: no objects */
    dome_object *object; /* one that says what its blocks cost; NULL: none does */
    uint64_t block_bytes;
    double seconds;          /* computing for it, of this task */
    uint64_t *counts, start; /* the new division */
    uint64_t moves;          /* blocks that change hands for it */
} domain;

struct dome_balance {
    dome_balancing policy;
    dome_topology topology;
    int rank, size, group;
    uint64_t every, phases_left; /* 0 and UINT64_MAX: adaptive, no limit */
    bool check_pointers;

    bool started;  /* an operation in which data may move has come */
    uint64_t next; /* number of the operation after which a phase is due */
    GPtrArray *domains;
    dome_speed *speeds; /* by rank; the same on all tasks */
    dome_schedule schedule;
    double bandwidth;  /* of moves, bytes per second */
    double processor;  /* speed of this task's, while it is its own: any unit */
    bool skewed;       /* data has moved because speeds differ */
    bool by_processor; /* speeds are those of tasks' processors, not of their work */

    /* since the last phase */
    uint64_t start_sequence, start_ns, start_wait_ns, start_processor_ns;
    bool was_calm;                      /* nothing had to be done in the phase */
    double move_seconds, phase_seconds; /* what this task saw of it */
    uint64_t moved_bytes;               /* of the busiest task */

    /* the alarm */
    uint64_t window_ns, window_wait_ns;
    double usual_wait, alarm_share; /* usual_wait < 0: not known yet */
    bool alarmed;

    dome_balance_report report;
};

static void domain_free(void *data)
{
    domain *d = data;
    g_free(d->costs);
    g_free(d->seen);
    g_free(d->flow);
    g_free(d->counts);
    dome_layout_unref(d->layout);
    g_free(d);
}

dome_balance *dome__balance_new(const dome_options *options, const dome_transport *transport)
{
    bool moves = options->balance != DOME_BALANCE_NONE && transport->size > 1;
    if (!moves && !options->check_pointers)
        return NULL;
    dome_balance *b = g_new0(dome_balance, 1);
    *b = (dome_balance){
        .policy = moves ? options->balance : DOME_BALANCE_NONE,
        .topology = options->topology,
        .rank = transport->rank,
        .size = transport->size,
        .group = MIN(options->balance == DOME_BALANCE_GLOBAL ? transport->size : options->balance_group, transport->size),
        .every = options->balance_every,
        .phases_left = options->balance_phases ? options->balance_phases : UINT64_MAX,
        .check_pointers = options->check_pointers,
        .next = UINT64_MAX,
        .bandwidth = FIRST_BANDWIDTH,
        .usual_wait = -1,
        .alarm_share = ALARM_SHARE};
    static const char *const names[] = {"global", "ring", "random", "none"};
    b->report.policy = names[b->policy];
    b->domains = g_ptr_array_new_with_free_func(domain_free);
    b->speeds = g_new0(dome_speed, b->size);
    dome__schedule_init(&b->schedule);
    if (b->policy == DOME_BALANCE_RANDOM)
        b->next = 0;
    return b;
}

void dome__balance_free(dome_balance *b)
{
    if (!b)
        return;
    g_ptr_array_unref(b->domains);
    g_free(b->speeds);
    g_free(b);
}

void dome__balance_report(const dome_balance *b, dome_balance_report *report)
{
    *report = b->report;
}

/* ---- at the start ---- */

static bool adaptive(const dome_balance *b)
{
    return b->every == 0 && (b->policy == DOME_BALANCE_GLOBAL || b->policy == DOME_BALANCE_RING);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
    double *sorted = g_new(double, (gsize)MAX(n, 1));
    int known = 0;
    for (int k = 0; k < n; k++)
        if (values[k] > 0 && isfinite(values[k]))
            sorted[known++] = values[k];
    qsort(sorted, (size_t)known, sizeof *sorted, compare_doubles);
    double middle = known ? sorted[known / 2] : 0;
    g_free(sorted);
    return middle;
}

/* By rank, what each gets done in a second. */
static int look(dome_env *env, double seconds, double *speeds, double *most_over_least)
{
    double mine = dome__speed_now(seconds), least, most;
    int status = dome__allgather(env->transport, DOME_F64, &mine, 1, speeds);
    least = most = speeds[0];
    for (int r = 1; r < env->transport->size && status == DOME_OK; r++) {
        least = MIN(least, speeds[r]);
        most = MAX(most, speeds[r]);
    }
    *most_over_least = status == DOME_OK && least > 0 ? most / least : 1;
    return status == DOME_OK ? status : dome__fail_transport(env, status);
}

static bool one_host(const dome_env *env)
{
    for (int r = 1; r < env->transport->size; r++)
        if (strcmp(env->hosts[r], env->hosts[0]) != 0)
            return false;
    return true;
}

int dome__balance_probe(dome_env *env)
{
    dome_balance *b = env->balance;
    if (!b || !adaptive(b) || one_host(env)) /* tasks of one host share what it has */
        return DOME_OK;
    double *speeds = g_new0(double, b->size), ratio;
    int status = look(env, FIRST_LOOK, speeds, &ratio);
    bool differ = status == DOME_OK && ratio > LOOKS_DIFFERENT;
    if (differ)
        status = look(env, SECOND_LOOK, speeds, &ratio);
    if (status == DOME_OK && differ && ratio > LOOKS_DIFFERENT) {
        double middle = median(speeds, b->size);
        for (int r = 0; r < b->size; r++)
            if (dome__speed_update(&b->speeds[r], speeds[r] / middle, SECOND_LOOK, 1))
                b->speeds[r].doubt = 0;
        b->skewed = true;
    }
    g_free(speeds);
    return status;
}

/* ---- when ---- */

static bool may_move(dome_operation_code code)
{
    switch (code) {
    case DOME_OP_CHECKPOINT:
    case DOME_OP_BARRIER:
    case DOME_OP_DVEC_SCAN:
    case DOME_OP_DVEC_SHIFT:
    case DOME_OP_DVEC_GATHER:
    case DOME_OP_DVEC_SCATTER:
    case DOME_OP_DVEC_MAP:
        return true;
    default:
        return code >= DOME_OP_DVEC_SUM && code <= DOME_OP_DVEC_ARGMAX;
    }
}

/* Looks at the time this task has waited lately. In a balanced program nobody waits long. */
static void watch_waiting(dome_balance *b, dome_transport *t)
{
    uint64_t now = dome__now_ns(), wait = t->wait_ns;
    double seconds = (double)(now - b->window_ns) * 1e-9;
    if (seconds < ALARM_WINDOW)
        return;
    double share = (double)(wait - b->window_wait_ns) * 1e-9 / seconds;
    if (b->usual_wait < 0)
        b->usual_wait = share;
    else if (share > b->usual_wait + b->alarm_share)
        t->asks = true;
    b->window_ns = now;
    b->window_wait_ns = wait;
}

static void restart_clock(dome_env *env, dome_balance *b)
{
    b->start_sequence = env->sequence;
    b->start_ns = b->window_ns = dome__now_ns();
    b->start_wait_ns = b->window_wait_ns = env->transport->wait_ns;
    b->start_processor_ns = dome__processor_ns();
    b->usual_wait = -1;
}

/* What comes before the first operation in which data may move is preparation: files are read, vectors are filled, by one task
 * perhaps. It says nothing about speeds. */
static void start(dome_env *env, dome_balance *b)
{
    b->started = true;
    restart_clock(env, b);
    if (b->policy == DOME_BALANCE_GLOBAL || b->policy == DOME_BALANCE_RING)
        b->next = env->sequence + (b->every ? b->every : 1);
}

bool dome__balance_due(dome_env *env, dome_operation_code code)
{
    dome_balance *b = env->balance;
    if (!b || !may_move(code))
        return false;
    if (!b->started)
        start(env, b);
    if (b->check_pointers || (b->phases_left > 0 && env->sequence >= b->next))
        return true;
    if (!adaptive(b) || b->phases_left == 0)
        return false;
    if (env->transport->asked)
        return true;
    if (!env->transport->asks)
        watch_waiting(b, env->transport);
    return false;
}

/* ---- domains ---- */

static domain *domain_of(dome_balance *b, const dome_layout *layout)
{
    uint64_t length = dome_layout_length(layout), block_size = dome_layout_block_size(layout);
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (d->length == length && d->block_size == block_size)
            return d;
    }
    domain *d = g_new0(domain, 1);
    *d = (domain){.length = length, .block_size = block_size, .blocks = dome_layout_blocks(layout)};
    d->flow = g_new0(dome_flow, b->size);
    d->counts = g_new0(uint64_t, b->size);
    g_ptr_array_add(b->domains, d);
    return d;
}

static uint64_t object_block_bytes(const dome_object_info *info)
{
    return (info->type ? dome_type_size(info->type) : sizeof(double)) * info->width * dome_layout_block_size(info->layout);
}

static bool is_live(const domain *d)
{
    return d->layout != NULL;
}

/* A program that makes vectors of ever new lengths must not be remembered for ever. */
static void forget_dead(dome_env *env, dome_balance *b)
{
    for (guint k = b->domains->len; k-- > 0 && b->domains->len > DOMAINS_KEPT;) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (is_live(d))
            continue;
        dome__block_times_forget(env, d->length, d->block_size);
        g_ptr_array_remove_index(b->domains, k);
    }
}

/* Finds the domains that have objects now, in the order in which they first had some: the same on all tasks. */
static void survey(dome_env *env, dome_balance *b)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        dome_layout_unref(d->layout);
        d->layout = NULL;
        d->object = NULL;
        d->block_bytes = 0;
    }
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        dome_object_info info;
        if (dome_object_describe(o, &info) != DOME_OK || info.distribution != DOME_DYNAMIC || info.length == 0)
            continue;
        domain *d = domain_of(b, info.layout);
        if (!d->layout)
            d->layout = dome_layout_ref(info.layout);
        if (!d->object && dome__object_has_cost(o))
            d->object = o;
        d->block_bytes += object_block_bytes(&info);
        d->seconds += (double)dome__object_recent_ns(o) * 1e-9;
    }
    forget_dead(env, b);
}

/* The cost that a rank owns, as part of the domain's. */
static double owned_part(const domain *d, int rank)
{
    uint64_t start, count = dome_layout_run(d->layout, rank, &start);
    double sum = (double)count;
    if (d->costs) {
        sum = 0;
        for (uint64_t k = 0; k < count; k++)
            sum += d->costs[(start + k) % d->blocks];
    }
    return sum / (double)d->blocks;
}

/* ---- what is measured ---- */

/* What each task tells the others: numbers of its own, then those of each live domain. */
enum { SAYS_BUSY, SAYS_ELAPSED, SAYS_FAILED, SAYS_PHASE, SAYS_MOVE, SAYS_PROCESSOR, SAYS_HAD, SAYS };
enum { SAYS_SECONDS, SAYS_UNEVEN, SAYS_OF_DOMAIN };

/* What all tasks have said. */
typedef struct hearing {
    double *said; /* `each` numbers of each rank */
    int each;
    bool failed;
    double elapsed, busy_mean, busy_most, phase, move; /* seconds */
    bool doubt;
} hearing;

static double said(const hearing *h, int rank, int what)
{
    return h->said[(size_t)rank * (size_t)h->each + (size_t)what];
}

/* The costs of this task's blocks in a domain, in any unit, in the order of its run; false if nothing is known. */
static bool measured_costs(dome_env *env, const domain *d, double *costs)
{
    uint64_t start, count = dome_layout_run(d->layout, env->transport->rank, &start), first_part = MIN(count, d->blocks - start);
    double sum = 0;
    if (d->object) {
        if (first_part > 0 && dome_object_cost(d->object, start, first_part, costs) != DOME_OK)
            return false;
        if (count > first_part && dome_object_cost(d->object, 0, count - first_part, costs + first_part) != DOME_OK)
            return false;
    } else {
        dome_block_times *times = dome__block_times(env, d->layout);
        for (uint64_t k = 0; k < count; k++)
            costs[k] = times->ns[(start + k) % d->blocks];
    }
    for (uint64_t k = 0; k < count; k++) {
        if (!(costs[k] >= 0) || !isfinite(costs[k]))
            return false;
        sum += costs[k];
    }
    return sum > 0;
}

/* How two measurements of the blocks from `start` on are correlated; 0 when fewer than 4 are in both. */
static double correlation(const double *seen, uint64_t blocks, uint64_t start, const double *costs, uint64_t count)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (uint64_t k = 0; k < count; k++) {
        double a = seen[(start + k) % blocks], b = costs[k];
        if (a <= 0)
            continue;
        n++;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    double spread = (n * xx - x * x) * (n * yy - y * y);
    return n >= 4 && spread > 0 ? (n * xy - x * y) / sqrt(spread) : 0;
}

/* Whether the costs of this task's blocks differ, and not by noise: what they were the time before says. What an object says is
 * no measurement. */
static bool is_uneven(dome_env *env, domain *d)
{
    uint64_t start, count = dome_layout_run(d->layout, env->transport->rank, &start);
    double *costs = g_new(double, MAX(count, 1)), mean = 0, square = 0;
    bool uneven = false;
    if (count >= 4 && measured_costs(env, d, costs)) {
        /* what is computed first finds cold caches: it proves nothing */
        uint64_t skip = d->object ? 0 : count / 8 + 1, n = count - skip;
        const double *told = costs + skip;
        for (uint64_t k = 0; k < n; k++)
            mean += told[k] / (double)n;
        for (uint64_t k = 0; k < n; k++)
            square += (told[k] - mean) * (told[k] - mean);
        bool differ = sqrt(square / (double)n) > UNEVEN * mean;
        bool again = differ && d->seen && correlation(d->seen, d->blocks, start + skip, told, n) > CORRELATION;
        uneven = differ && (d->object || again);
        if (!d->seen)
            d->seen = g_new(double, d->blocks);
        memset(d->seen, 0, d->blocks * sizeof *d->seen);
        for (uint64_t k = 0; k < count; k++)
            d->seen[(start + k) % d->blocks] = costs[k];
    }
    g_free(costs);
    return uneven;
}

/* What an object says of its blocks holds for all of them alike. */
static void take_costs(domain *d, const double *all, const uint64_t *counts, int size)
{
    double sum = 0;
    uint64_t at = 0;
    for (uint64_t k = 0; k < d->blocks; k++)
        sum += all[k];
    for (int r = 0; r < size && sum > 0; at += counts[r++]) {
        uint64_t start;
        dome_layout_run(d->layout, r, &start);
        for (uint64_t k = 0; k < counts[r]; k++)
            d->costs[(start + k) % d->blocks] = all[at + k] * ((double)d->blocks / sum);
    }
}

/* Processor times compare the blocks of one task, and those of different tasks when the speeds of their processors are taken into
 * account. (How much of its processor a task gets is not in them: that is its rate.) A task that has timed nothing keeps what is
 * known. weight: of what is measured, against that. */
static void adjust_costs(domain *d, const double *all, const uint64_t *counts, int size, const hearing *h, double weight)
{
    double *cost = g_new(double, d->blocks), sum = 0, known = 0;
    uint64_t at = 0;
    for (int r = 0; r < size; at += counts[r++]) {
        uint64_t start;
        double timed = 0;
        dome_layout_run(d->layout, r, &start);
        for (uint64_t k = 0; k < counts[r]; k++)
            timed += all[at + k];
        for (uint64_t k = 0; k < counts[r]; k++) {
            uint64_t block = (start + k) % d->blocks;
            cost[block] = timed > 0 ? all[at + k] * said(h, r, SAYS_PROCESSOR) : -1;
            sum += timed > 0 ? cost[block] : 0;
            known += timed > 0 ? d->costs[block] : 0;
        }
    }
    for (uint64_t k = 0; k < d->blocks && sum > 0; k++)
        if (cost[k] >= 0)
            d->costs[k] += weight * (MAX(cost[k] * (known / sum), LEAST_COST) - d->costs[k]);
    g_free(cost);
}

/* Learns the costs of blocks from their owners. */
static int learn_costs(dome_env *env, const dome_balance *b, const hearing *h, domain *d)
{
    uint64_t *counts = g_new(uint64_t, b->size);
    for (int r = 0; r < b->size; r++)
        counts[r] = dome_layout_run(d->layout, r, NULL);
    double *mine = g_new0(double, MAX(counts[b->rank], 1)), *all = g_new(double, d->blocks);
    if (!measured_costs(env, d, mine))
        memset(mine, 0, counts[b->rank] * sizeof *mine);
    int status = dome__allgatherv(env->transport, DOME_F64, mine, counts, all);
    if (status != DOME_OK)
        status = dome__fail_transport(env, status);
    bool first = !d->costs;
    if (first) {
        d->costs = g_new(double, d->blocks);
        for (uint64_t k = 0; k < d->blocks; k++)
            d->costs[k] = 1;
    }
    if (status == DOME_OK && d->object)
        take_costs(d, all, counts, b->size);
    else if (status == DOME_OK)
        adjust_costs(d, all, counts, b->size, h, first ? 1 : COST_WEIGHT);
    g_free(counts);
    g_free(mine);
    g_free(all);
    return status;
}

static int exchange(dome_env *env, dome_balance *b, hearing *h)
{
    bool ok = dome__env_advance(env); /* first: it is computing, too */
    uint64_t now = dome__now_ns(), wait = env->transport->wait_ns;
    double elapsed = (double)(int64_t)(now - b->start_ns) * 1e-9, waited = (double)(wait - b->start_wait_ns) * 1e-9;
    double had = (double)(int64_t)(dome__processor_ns() - b->start_processor_ns) * 1e-9;
    if (b->processor == 0)
        b->processor = dome__processor_speed();
    h->each = SAYS;
    for (guint k = 0; k < b->domains->len; k++)
        if (is_live(g_ptr_array_index(b->domains, k)))
            h->each += SAYS_OF_DOMAIN;
    double *mine = g_new0(double, h->each), *domain_says = mine + SAYS;
    mine[SAYS_BUSY] = MAX(elapsed - waited, 0);
    mine[SAYS_ELAPSED] = MAX(elapsed, 0);
    mine[SAYS_FAILED] = !ok;
    mine[SAYS_PHASE] = b->phase_seconds;
    mine[SAYS_MOVE] = b->move_seconds;
    mine[SAYS_PROCESSOR] = b->processor;
    mine[SAYS_HAD] = had;
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d))
            continue;
        domain_says[SAYS_SECONDS] = d->seconds;
        domain_says[SAYS_UNEVEN] = !d->costs && is_uneven(env, d);
        domain_says += SAYS_OF_DOMAIN;
    }
    h->said = g_new0(double, (gsize)h->each *(gsize)b->size);
    int status = dome__allgather(env->transport, DOME_F64, mine, (uint64_t)h->each, h->said);
    g_free(mine);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    for (int r = 0; r < b->size; r++) {
        h->failed = h->failed || said(h, r, SAYS_FAILED) != 0;
        h->elapsed += said(h, r, SAYS_ELAPSED) / b->size;
        h->busy_mean += said(h, r, SAYS_BUSY) / b->size;
        h->busy_most = MAX(h->busy_most, said(h, r, SAYS_BUSY));
        h->phase += said(h, r, SAYS_PHASE) / b->size;
        h->move = MAX(h->move, said(h, r, SAYS_MOVE));
    }
    return DOME_OK;
}

/* The weights of domains: by the time computed for them, or by their size where nothing has been computed for any. */
static void weigh(dome_balance *b, const hearing *h)
{
    double sum = 0, bytes = 0;
    int at = SAYS;
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        d->weight = 0;
        if (!is_live(d))
            continue;
        for (int r = 0; r < b->size; r++)
            d->weight += said(h, r, at + SAYS_SECONDS);
        at += SAYS_OF_DOMAIN;
        sum += d->weight;
        bytes += (double)d->block_bytes * (double)d->blocks;
    }
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (is_live(d))
            d->weight = sum > 0 ? d->weight / sum : (double)d->block_bytes * (double)d->blocks / bytes;
    }
}

/* The work a rank owned, as part of all work. */
static double owned_work(const dome_balance *b, int rank)
{
    double work = 0;
    for (guint k = 0; k < b->domains->len; k++) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (is_live(d))
            work += d->weight * owned_part(d, rank);
    }
    return work;
}

/* Where costs of blocks are measured, they change, and are known of the past. The speed of a task is then what it gets of its
 * processor, in the unit of the costs: with the work it owned in it, a speed would take up what costs have not learnt yet, and
 * what changes would be counted twice. */
static double rate_by_processor(const hearing *h, int rank)
{
    double busy = said(h, rank, SAYS_BUSY), had = MIN(said(h, rank, SAYS_HAD), busy);
    return busy > 0 && had > 0 ? said(h, rank, SAYS_PROCESSOR) * had / busy : 0;
}

static bool costs_are_measured(const dome_balance *b)
{
    for (guint k = 0; k < b->domains->len; k++) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (is_live(d) && d->costs && !d->object)
            return true;
    }
    return false;
}

/* Speeds are relative to that of the median task: what an operation costs changes in the course of a program. */
static void learn_speeds(dome_balance *b, hearing *h)
{
    double *rate = g_new(double, b->size), mean = 0;
    bool by_processor = costs_are_measured(b);
    if (by_processor && !b->by_processor)
        memset(b->speeds, 0, (size_t)b->size * sizeof *b->speeds); /* what was known is in another unit */
    b->by_processor |= by_processor;
    for (int r = 0; r < b->size; r++) {
        double busy = said(h, r, SAYS_BUSY), work = owned_work(b, r);
        rate[r] = busy > 0 && work > 0 ? (b->by_processor ? rate_by_processor(h, r) : work / busy) : 0;
        mean += b->speeds[r].rate / b->size;
    }
    double middle = median(rate, b->size);
    b->schedule.noise = b->schedule.spread = 0;
    for (int r = 0; r < b->size && middle > 0; r++) {
        double measured = rate[r] / middle;
        if (b->every)
            b->speeds[r].doubt = measured; /* the user has said when: there may be no other phase to confirm it */
        if (dome__speed_update(&b->speeds[r], measured, h->elapsed, mean))
            h->doubt = true;
        b->schedule.noise += b->speeds[r].noise / b->size;
        b->schedule.spread += b->speeds[r].spread / b->size;
    }
    g_free(rate);
}

static int learn(dome_env *env, dome_balance *b, hearing *h)
{
    int status = DOME_OK, at = SAYS;
    weigh(b, h);
    for (guint k = 0; status == DOME_OK && k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d))
            continue;
        bool uneven = d->costs != NULL;
        for (int r = 0; r < b->size; r++)
            uneven = uneven || said(h, r, at + SAYS_UNEVEN) != 0;
        at += SAYS_OF_DOMAIN;
        dome_block_times *times = dome__block_times(env, d->layout);
        if (uneven)
            status = learn_costs(env, b, h, d);
        times->uneven = uneven && !d->object;
        d->seconds = 0;
        memset(times->ns, 0, times->blocks * sizeof *times->ns);
    }
    if (status == DOME_OK)
        learn_speeds(b, h);
    return status;
}

/* ---- what is decided ---- */

static void load_of(const dome_balance *b, const domain *d, const double *rates, const double *noises, uint64_t *counts,
                    dome_load *load)
{
    for (int r = 0; r < b->size; r++)
        counts[r] = dome_layout_run(d->layout, r, NULL);
    *load = (dome_load){b->size, d->blocks, 0, counts, rates, d->costs, b->topology, noises};
    dome_layout_run(d->layout, 0, &load->start);
}

/* Asks the policy for a division of every domain. When one of them is worth moving, all move. */
static bool decide(dome_balance *b)
{
    double *rates = g_new(double, b->size), *noises = g_new(double, b->size), bytes = 0;
    uint64_t *counts = g_new(uint64_t, b->size);
    bool pays = false;
    for (int r = 0; r < b->size; r++) {
        rates[r] = b->speeds[r].rate;
        noises[r] = b->every ? 0 : b->speeds[r].noise; /* who says when has waited long enough */
    }
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d))
            continue;
        dome_load load;
        load_of(b, d, rates, noises, counts, &load);
        dome_division division = {load.start, d->counts};
        dome__policy_groups(&load, b->group, d->flow, &division);
        d->start = division.start;
        uint64_t busiest;
        d->moves = dome__division_moves(&load, &division, &busiest);
        double moved = (double)(busiest * d->block_bytes);
        bytes += moved;
        /* what is gained in a domain is a part of the whole, by its weight */
        double then = b->group == b->size ? dome__division_time(&load, &division) : dome__oracle_time(&load);
        if (d->weight > 0 && dome__division_pays(&b->schedule, &load, &division, then, moved / b->bandwidth / d->weight))
            pays = true;
    }
    b->moved_bytes = pays ? (uint64_t)bytes : 0;
    g_free(rates);
    g_free(noises);
    g_free(counts);
    return pays;
}

/* A division at random, from the number of the operation: some tasks may get nothing. */
static void decide_randomly(dome_balance *b, uint64_t sequence)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d))
            continue;
        GRand *random = g_rand_new_with_seed((guint32)dome__hash(dome__hash(sequence, d->length), d->block_size));
        double *weight = g_new(double, b->size), sum = 0, before = 0;
        for (int r = 0; r < b->size; r++)
            sum += weight[r] = g_rand_int_range(random, 0, 4) == 0 ? 0 : g_rand_double(random);
        d->start = b->topology == DOME_RING ? (uint64_t)(g_rand_double(random) * (double)d->blocks) % d->blocks : 0;
        uint64_t at = 0;
        for (int r = 0; r < b->size; r++) {
            before += weight[r];
            uint64_t end =
                r == b->size - 1 || sum <= 0 ? d->blocks : MIN((uint64_t)(before / sum * (double)d->blocks), d->blocks);
            d->counts[r] = end - at;
            at = end;
        }
        d->moves = 1;
        g_free(weight);
        g_rand_free(random);
    }
}

/* ---- what is moved ---- */

static int move(dome_env *env, dome_balance *b)
{
    uint64_t begin = dome__now_ns();
    int status = DOME_OK;
    dome__env_settle(env); /* the rest: what can fail has been run */
    for (guint k = 0; status == DOME_OK && k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d) || d->moves == 0)
            continue;
        dome_layout *layout = dome_layout_new(d->length, d->block_size, b->size, d->start, d->counts);
        if (!layout)
            return dome__fail(env, DOME_ERR_MEMORY, "no memory for a layout");
        /* Should tasks ever come to different decisions, the messages will tell. */
        env->history = env->transport->stamp.history = dome__hash(env->history, dome__layout_hash(layout));
        status = dome__relayout(env, layout);
        dome_layout_unref(layout);
    }
    b->move_seconds = (double)dome__since_ns(begin) * 1e-9;
    return status;
}

/* Every vector into new memory where it is, so that old pointers are found out. */
static int stay(dome_env *env, dome_balance *b)
{
    int status = DOME_OK;
    for (guint k = 0; status == DOME_OK && k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!is_live(d))
            continue;
        dome_layout *layout = dome_layout_ref(dome_env_layout(env, d->length, d->block_size)); /* data may just have moved */
        status = dome__relayout(env, layout);
        dome_layout_unref(layout);
    }
    return status;
}

/* ---- phases ---- */

static void note_imbalance(dome_balance *b, const hearing *h)
{
    if (!(h->busy_mean > 0))
        return;
    b->report.imbalance_last = h->busy_most / h->busy_mean;
    if (b->report.imbalance_first == 0)
        b->report.imbalance_first = b->report.imbalance_last;
}

/* When the next phase comes, in operations; long operations may follow short ones. */
static void set_next(dome_env *env, dome_balance *b, double elapsed)
{
    uint64_t done = MAX(env->sequence - b->start_sequence, 1);
    double operations = elapsed > 0 ? ceil(b->schedule.interval * (double)done / elapsed) : 1;
    b->next = env->sequence + (b->every ? b->every : (uint64_t)CLAMP(operations, 1, (double)(GROWTH * done)));
}

/* What the last move has taught. */
static void learn_bandwidth(dome_balance *b, const hearing *h)
{
    if (b->moved_bytes > 0 && h->move > 0)
        b->bandwidth = (double)b->moved_bytes / h->move;
    b->moved_bytes = 0;
    b->move_seconds = 0;
}

static int measured_phase(dome_env *env, dome_balance *b)
{
    hearing h = {0};
    uint64_t begin = dome__now_ns();
    int status = exchange(env, b, &h);
    if (status != DOME_OK)
        goto out;
    b->report.phases++;
    learn_bandwidth(b, &h);
    bool enough = b->every || h.elapsed >= b->schedule.shortest; /* less says nothing */
    if (h.failed || !enough) {
        /* not reset: what is measured so far counts on */
        b->next = env->sequence + 2 * MAX(env->sequence - b->start_sequence, 1);
        goto out;
    }
    if (b->was_calm) /* else some waited for others in it, and would have elsewhere */
        b->schedule.phase += (b->schedule.phase > 0 ? PHASE_WEIGHT : 1) * (h.phase - b->schedule.phase);
    note_imbalance(b, &h);
    double imbalance = h.busy_mean > 0 ? h.busy_most / h.busy_mean : 0;
    status = learn(env, b, &h);
    if (status != DOME_OK)
        goto out;
    if (b->every) /* what is moved now stays there until the next phase that was asked for, or for good */
        b->schedule.interval = b->phases_left == 1 ? INFINITY : h.elapsed;
    bool pays = decide(b);
    b->phase_seconds = (double)dome__since_ns(begin) * 1e-9;
    if (pays) {
        b->skewed = true;
        b->report.moving_phases++;
        status = move(env, b);
    }
    dome__trace_phase(env->trace, begin, pays, imbalance, h.elapsed);
    b->alarm_share = pays ? ALARM_SHARE : b->alarmed ? MIN(b->alarm_share * ALARM_BACKOFF, 0.9) : b->alarm_share;
    /* What has made a task ask is not to be seen in the mean of a long time: soon again, then. */
    b->was_calm = !pays && !h.doubt && !b->alarmed;
    dome__schedule_next(&b->schedule, pays, h.doubt || b->alarmed);
    set_next(env, b, h.elapsed);
    restart_clock(env, b);
out:
    g_free(h.said);
    return status;
}

static int random_phase(dome_env *env, dome_balance *b)
{
    uint64_t failed = !dome__env_settle(env);
    int status = dome__allreduce(env->transport, DOME_U64, &failed, 1, dome__combine_max_u64, NULL);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    if (failed)
        return DOME_OK;
    b->report.phases++;
    b->report.moving_phases++;
    uint64_t begin = dome__now_ns();
    decide_randomly(b, env->sequence);
    status = move(env, b);
    dome__trace_phase(env->trace, begin, true, 0, 0);
    return status;
}

void dome__balance(dome_env *env, dome_operation_code code, const dome_object *object)
{
    dome_balance *b = env->balance;
    dome_operation op;
    uint64_t begin = dome__now_ns();
    bool due = b->phases_left > 0 && (env->sequence >= b->next || env->transport->asked);
    dome__begin(&op, env, DOME_OP_BALANCE, NULL, b->next);
    /* The user knows of the operation that waits here, not of this one. */
    op.code = code;
    op.object = object;
    if (env->watch)
        dome__watch_note(env->watch, env->sequence, env->history, (uint32_t)code, object ? dome_object_name(object) : NULL);
    b->alarmed = env->transport->asked;
    env->transport->asks = env->transport->asked = false;
    survey(env, b);
    int status = DOME_OK;
    if (due && b->policy == DOME_BALANCE_RANDOM)
        status = random_phase(env, b);
    else if (due)
        status = measured_phase(env, b);
    if (due && b->phases_left != UINT64_MAX)
        b->phases_left--;
    if (status == DOME_OK && b->check_pointers && dome__env_settle(env))
        status = stay(env, b);
    b->report.seconds += (double)dome__since_ns(begin) * 1e-9;
    op.code = DOME_OP_BALANCE;
    op.object = NULL;
    dome__end(&op, status);
}

dome_layout *dome__balance_first_layout(const dome_env *env, uint64_t length, uint64_t block_size)
{
    const dome_balance *b = env->balance;
    int size = env->transport->size;
    dome_layout *even = dome_layout_even(length, block_size, size);
    if (!even || !b || !b->skewed)
        return even;
    double *rates = g_new(double, size);
    uint64_t *was = g_new(uint64_t, size), *counts = g_new(uint64_t, size);
    for (int r = 0; r < size; r++) {
        rates[r] = b->speeds[r].rate;
        was[r] = dome_layout_run(even, r, NULL);
    }
    dome_load load = {size, dome_layout_blocks(even), 0, was, rates, NULL, DOME_LINEAR, NULL};
    dome_division division = {0, counts};
    dome__policy_global(&load, &division);
    dome_layout *layout = dome_layout_new(length, block_size, size, division.start, counts);
    dome_layout_unref(even);
    g_free(rates);
    g_free(was);
    g_free(counts);
    return layout;
}
