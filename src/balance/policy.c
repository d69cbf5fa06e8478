#include "balance/policy.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* ---- reading a load ---- */

static double mean_rate(const dome_load *load)
{
    double sum = 0;
    int known = 0;
    for (int r = 0; r < load->ranks; r++)
        if (load->rates[r] > 0 && isfinite(load->rates[r])) {
            sum += load->rates[r];
            known++;
        }
    return known ? sum / known : 1;
}

static double *rates_of(const dome_load *load)
{
    double mean = mean_rate(load), *rates = g_new(double, load->ranks);
    for (int r = 0; r < load->ranks; r++)
        rates[r] = load->rates[r] > 0 && isfinite(load->rates[r]) ? load->rates[r] : mean;
    return rates;
}

/* Cost of all blocks before a place on the unrolled ring, counted from block `origin`. */
typedef struct prefix {
    const dome_load *load;
    uint64_t origin;
    double *sums; /* blocks + 1 of them; NULL when all costs are 1 */
} prefix;

static prefix prefix_from(const dome_load *load, uint64_t origin)
{
    prefix p = {.load = load, .origin = origin};
    if (load->costs) {
        p.sums = g_new(double, load->blocks + 1);
        p.sums[0] = 0;
        for (uint64_t b = 0; b < load->blocks; b++)
            p.sums[b + 1] = p.sums[b] + load->costs[(origin + b) % load->blocks];
        if (p.sums[load->blocks] <= 0)
            g_clear_pointer(&p.sums, g_free); /* nothing has cost anything yet */
    }
    return p;
}

static double before(const prefix *p, uint64_t place)
{
    return p->sums ? p->sums[place] : (double)place;
}

/* The place whose prefix comes nearest to `cost`, at or after `low`. */
static uint64_t nearest(const prefix *p, double cost, uint64_t low)
{
    uint64_t high = p->load->blocks;
    if (!p->sums) {
        double place = round(cost);
        return place <= (double)low ? low : place >= (double)high ? high : (uint64_t)place;
    }
    uint64_t begin = low;
    while (begin < high) {
        uint64_t middle = begin + (high - begin) / 2;
        if (p->sums[middle] < cost)
            begin = middle + 1;
        else
            high = middle;
    }
    return begin > low && cost - p->sums[begin - 1] < p->sums[begin] - cost ? begin - 1 : begin;
}

/* ---- dividing places [from, to) among ranks first ... first + n - 1 ---- */

/* Blocks of cost 1: whole shares first; what is left goes one by one to whoever is done with it first. */
static void divide_equal(const double *rates, int n, uint64_t blocks, uint64_t *counts)
{
    double sum = 0;
    uint64_t given = 0;
    for (int r = 0; r < n; r++)
        sum += rates[r];
    for (int r = 0; r < n; r++) {
        counts[r] = MIN((uint64_t)floor((double)blocks * (rates[r] / sum)), blocks - given);
        given += counts[r];
    }
    /* Fewer than n are left. A heap of (time if one more, rank). */
    int *heap = g_new(int, n);
    for (int r = 0; r < n; r++)
        heap[r] = r;
#define TIME_WITH_ONE_MORE(r) ((double)(counts[r] + 1) / rates[r])
#define EARLIER(a, b)                                                                                                            \
    (TIME_WITH_ONE_MORE(a) < TIME_WITH_ONE_MORE(b) || (TIME_WITH_ONE_MORE(a) == TIME_WITH_ONE_MORE(b) && (a) < (b)))
    for (int top = n / 2 - 1, left = (int)(blocks - given); top >= 0 || left > 0;) {
        int at = top >= 0 ? top : 0;
        if (top >= 0) {
            top--;
        } else {
            counts[heap[0]]++;
            left--;
        }
        for (int child; (child = 2 * at + 1) < n; at = child) {
            if (child + 1 < n && EARLIER(heap[child + 1], heap[child]))
                child++;
            if (!EARLIER(heap[child], heap[at]))
                break;
            int swap = heap[at];
            heap[at] = heap[child];
            heap[child] = swap;
        }
    }
#undef EARLIER
#undef TIME_WITH_ONE_MORE
    g_free(heap);
}

/* Takes blocks rank after rank as long as they fit into `seconds` each; whether all did. */
static bool fits(const prefix *p, const double *rates, int n, uint64_t from, uint64_t to, double seconds, uint64_t *counts)
{
    uint64_t at = from;
    for (int r = 0; r < n; r++) {
        double limit = before(p, at) + rates[r] * seconds;
        uint64_t begin = at, end = to;
        while (begin < end) { /* the last place whose prefix does not pass the limit */
            uint64_t middle = begin + (end - begin + 1) / 2;
            if (before(p, middle) <= limit)
                begin = middle;
            else
                end = middle - 1;
        }
        counts[r] = begin - at;
        at = begin;
    }
    return at == to;
}

static void divide(const prefix *p, const double *rates, int n, uint64_t from, uint64_t to, uint64_t *counts)
{
    if (!p->sums) {
        divide_equal(rates, n, to - from, counts);
        return;
    }
    double sum = 0, total = before(p, to) - before(p, from), slowest = INFINITY;
    for (int r = 0; r < n; r++) {
        sum += rates[r];
        slowest = MIN(slowest, rates[r]);
    }
    /* Bisection between the bound and what always fits: the fastest rank takes all. */
    double low = total / sum, high = low, fastest = 0;
    for (int r = 0; r < n; r++)
        fastest = MAX(fastest, rates[r]);
    high = total / fastest * (1 + 1e-9) + 1e-300;
    uint64_t *trial = g_new(uint64_t, n);
    memset(counts, 0, (size_t)n * sizeof *counts);
    if (!fits(p, rates, n, from, to, high, counts))
        counts[n - 1] += to - from; /* rounding; the caller's numbers are at their end */
    for (int i = 0; i < 40 && high - low > 1e-4 * low; i++) {
        double middle = low + (high - low) / 2;
        if (fits(p, rates, n, from, to, middle, trial)) {
            memcpy(counts, trial, (size_t)n * sizeof *counts);
            high = middle;
        } else {
            low = middle;
        }
    }
    g_free(trial);
}

/* ---- policies ---- */

static void keep(const dome_load *load, dome_division *division)
{
    division->start = load->start;
    memcpy(division->counts, load->counts, (size_t)load->ranks * sizeof *load->counts);
}

static int compare_places(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Turning the whole division around the ring changes no rank's share of equal blocks: the median of the boundaries' ways moves
 * least. */
static uint64_t least_moving_start(const dome_load *load, const uint64_t *counts)
{
    int64_t *ways = g_new(int64_t, load->ranks), was = 0, becomes = 0;
    for (int r = 0; r < load->ranks; r++) {
        ways[r] = was - becomes;
        was += (int64_t)load->counts[r];
        becomes += (int64_t)counts[r];
    }
    qsort(ways, (size_t)load->ranks, sizeof *ways, compare_places);
    int64_t blocks = (int64_t)load->blocks, start = ((int64_t)load->start + ways[load->ranks / 2]) % blocks;
    g_free(ways);
    return (uint64_t)(start < 0 ? start + blocks : start);
}

void dome__policy_global(const dome_load *load, dome_division *division)
{
    keep(load, division);
    if (load->ranks < 2 || load->blocks == 0)
        return;
    double *rates = rates_of(load);
    prefix p = prefix_from(load, load->start);
    divide(&p, rates, load->ranks, 0, load->blocks, division->counts);
    if (load->topology == DOME_RING && !p.sums)
        division->start = least_moving_start(load, division->counts);
    g_free(p.sums);
    g_free(rates);
}

void dome__policy_groups(const dome_load *load, int group, dome_flow *flow, dome_division *division)
{
    if (group >= load->ranks) {
        dome__policy_global(load, division);
        return;
    }
    keep(load, division);
    if (load->ranks < 2 || load->blocks == 0)
        return;
    group = MAX(group, 1);
    int groups = (load->ranks + group - 1) / group;
    double *rates = rates_of(load);
    prefix p = prefix_from(load, load->start);

    /* Boundary g is where group g begins; boundary `groups` is the end, which on a ring is boundary 0 again. */
    uint64_t *was = g_new(uint64_t, groups + 1), *becomes = g_new(uint64_t, groups + 1), place = 0;
    double *cost = g_new0(double, groups), *rate = g_new0(double, groups);
    for (int r = 0; r < load->ranks; r++) {
        int g = r / group;
        if (r % group == 0)
            was[g] = place;
        place += load->counts[r];
        rate[g] += rates[r];
    }
    was[groups] = load->blocks;
    for (int g = 0; g < groups; g++)
        cost[g] = before(&p, was[g + 1]) - before(&p, was[g]);

    /* Each boundary moves by half of what would level its two groups, since both of them have another neighbour, and by part of
     * what moved it last time. The first boundary moves only on a ring. */
    double average = before(&p, load->blocks) / (double)load->blocks;
    int64_t turn = 0; /* what boundary 0 moves by */
    for (int g = load->topology == DOME_RING && groups > 2 ? 0 : 1; g < groups; g++) {
        int below = (g + groups - 1) % groups;
        double level = (cost[below] * rate[g] - cost[g] * rate[below]) / (rate[below] + rate[g]);
        flow[g] = 0.5 * level + 0.45 * flow[g];
        /* Upwards through the boundary flows cost of the group below: the boundary moves down. A rank gives at most half of what
         * it has to each side, so data goes to a neighbour and no further. */
        double most_up = cost[below] / 2, most_down = -cost[g] / 2;
        flow[g] = CLAMP(flow[g], most_down, most_up);
        if (g == 0)
            turn = -(int64_t)round(flow[0] / average);
        else
            becomes[g] = nearest(&p, before(&p, was[g]) - flow[g], 0);
    }
    becomes[0] = 0;
    becomes[groups] = load->blocks;
    if (load->topology != DOME_RING || groups <= 2)
        turn = 0;
    /* In equal blocks the places stay inside: halves from both sides do not cross. With unequal costs a boundary block may. */
    for (int g = 1; g < groups; g++)
        becomes[g] = CLAMP(becomes[g], becomes[g - 1], load->blocks);

    if (turn) {
        /* Seen from the new first block, all other boundaries stand `turn` places nearer or further. */
        int64_t shifted = (int64_t)load->blocks;
        division->start = (uint64_t)((((int64_t)load->start + turn) % shifted + shifted) % shifted);
        for (int g = 1; g < groups; g++)
            becomes[g] = (uint64_t)CLAMP((int64_t)becomes[g] - turn, 0, shifted);
        for (int g = 1; g < groups; g++)
            becomes[g] = CLAMP(becomes[g], becomes[g - 1], load->blocks);
        g_free(p.sums);
        p = prefix_from(load, division->start);
    }
    for (int g = 0; g < groups; g++) {
        int first = g * group, n = MIN(group, load->ranks - first);
        divide(&p, rates + first, n, becomes[g], becomes[g + 1], division->counts + first);
    }
    g_free(cost);
    g_free(rate);
    g_free(was);
    g_free(becomes);
    g_free(p.sums);
    g_free(rates);
}

/* ---- judging ---- */

double dome__division_time(const dome_load *load, const dome_division *division)
{
    double *rates = rates_of(load), longest = 0;
    uint64_t at = division->start;
    for (int r = 0; r < load->ranks; r++) {
        double cost = 0;
        if (load->costs)
            for (uint64_t k = 0; k < division->counts[r]; k++)
                cost += load->costs[(at + k) % load->blocks];
        else
            cost = (double)division->counts[r];
        longest = MAX(longest, cost / rates[r]);
        at = load->blocks ? (at + division->counts[r]) % load->blocks : 0;
    }
    g_free(rates);
    return longest;
}

double dome__load_time(const dome_load *load)
{
    return dome__division_time(load, &(dome_division){load->start, (uint64_t *)load->counts});
}

double dome__oracle_time(const dome_load *load)
{
    double *rates = rates_of(load), rate = 0, cost = 0;
    for (int r = 0; r < load->ranks; r++)
        rate += rates[r];
    for (uint64_t b = 0; b < load->blocks; b++)
        cost += load->costs ? load->costs[b] : 1;
    g_free(rates);
    return cost / rate;
}

/* Common blocks of two runs on the ring. */
static uint64_t common(uint64_t blocks, uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++) /* the second run, once as it is and once around */
        for (int j = 0; j < 2; j++) {
            uint64_t a0 = a + (uint64_t)j * blocks, b0 = b + (uint64_t)i * blocks;
            uint64_t low = MAX(a0, b0), high = MIN(a0 + na, b0 + nb);
            if (low < high && !(i && j))
                sum += high - low;
        }
    return MIN(sum, MIN(na, nb));
}

uint64_t dome__division_moves(const dome_load *load, const dome_division *division, uint64_t *busiest)
{
    uint64_t at = load->start, to = division->start, moved = 0;
    *busiest = 0;
    for (int r = 0; r < load->ranks; r++) {
        uint64_t stay = common(load->blocks, at, load->counts[r], to, division->counts[r]);
        uint64_t gives = load->counts[r] - stay, takes = division->counts[r] - stay;
        moved += gives;
        *busiest = MAX(*busiest, gives + takes);
        at = load->blocks ? (at + load->counts[r]) % load->blocks : 0;
        to = load->blocks ? (to + division->counts[r]) % load->blocks : 0;
    }
    return moved;
}

double dome__rate_update(double estimate, double measured, double mean)
{
    if (!(measured > 0) || !isfinite(measured))
        return estimate > 0 ? estimate + 0.05 * (mean - estimate) : mean;
    if (!(estimate > 0))
        return measured;
    /* A large change is believed at once; a small one is mostly noise. */
    double change = fabs(measured - estimate) / estimate;
    return change > 0.25 ? measured : estimate + 0.5 * (measured - estimate);
}

bool dome__schedule_pays(const dome_schedule *schedule, double now, double then, uint64_t busiest)
{
    const double noise = 0.02;
    double gain = now - then;
    return busiest > 0 && gain > noise * now && gain * (double)schedule->interval > (double)busiest * schedule->move_seconds;
}

void dome__schedule_next(dome_schedule *schedule, bool moved, double expected, double measured, double seconds_per_operation)
{
    bool drifted = expected > 0 && measured > 0 && fabs(measured - expected) > 0.1 * expected;
    if (moved || drifted)
        schedule->interval = MAX(schedule->interval / 2, schedule->shortest);
    else
        schedule->interval = MIN(schedule->interval * 2, schedule->longest);
    if (seconds_per_operation > 0) {
        double floor_operations = ceil(1000 * schedule->phase_seconds / seconds_per_operation);
        if ((double)schedule->interval < floor_operations)
            schedule->interval = (uint64_t)MIN(floor_operations, (double)schedule->longest);
    }
}
