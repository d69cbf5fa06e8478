/* The division of data: which policy moves which blocks. */
#include "balance/policy_private.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* ---- reading a load ---- */

static double mean_rate(const dome_load *load)
{
    double sum = 0;
    int count = 0;
    for (int r = 0; r < load->ranks; r++)
        if (dome__rate_known(load->rates[r])) {
            sum += load->rates[r];
            count++;
        }
    return count ? sum / count : 1;
}

double *dome__rates_of(const dome_load *load)
{
    double mean = mean_rate(load), *rates = g_new(double, load->ranks);
    for (int r = 0; r < load->ranks; r++)
        rates[r] = dome__rate_known(load->rates[r]) ? load->rates[r] : mean;
    return rates;
}

/* The same, but a rank that has no blocks gets at most the rate for which one and a half blocks are its share. */
static double *cautious_rates_of(const dome_load *load)
{
    double *rates = dome__rates_of(load), sum = 0;
    for (int r = 0; r < load->ranks; r++)
        sum += rates[r];
    for (int r = 0; r < load->ranks; r++)
        if (load->counts[r] == 0)
            rates[r] = MIN(rates[r], 1.5 * sum / (double)load->blocks);
    return rates;
}

/* Cost of all blocks before a position on the unrolled ring, counted from block `origin`. */
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
            p.sums[b + 1] = p.sums[b] + dome__block_cost(load, (origin + b) % load->blocks);
        if (p.sums[load->blocks] <= 0)
            g_clear_pointer(&p.sums, g_free); /* no costs have been measured yet */
    }
    return p;
}

static double before(const prefix *p, uint64_t place)
{
    return p->sums ? p->sums[place] : (double)place;
}

/* The last position in [from, to] whose prefix does not exceed `cost`. */
static uint64_t last_within(const prefix *p, double cost, uint64_t from, uint64_t to)
{
    if (!p->sums)
        return cost >= (double)to ? to : cost > (double)from ? (uint64_t)cost : from;
    while (from < to) {
        uint64_t middle = from + (to - from + 1) / 2;
        if (before(p, middle) <= cost)
            from = middle;
        else
            to = middle - 1;
    }
    return from;
}

/* ---- dividing blocks of equal cost ---- */

/* Ranks in a heap: at the top the one that would finish first if it got one more block. */
typedef struct heap {
    const double *rates;
    const uint64_t *counts;
    int *ranks, n;
} heap;

static bool earlier(const heap *h, int a, int b)
{
    double ta = (double)(h->counts[a] + 1) / h->rates[a], tb = (double)(h->counts[b] + 1) / h->rates[b];
    return ta < tb || (ta == tb && a < b);
}

static void sift_down(heap *h, int at)
{
    for (int child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && earlier(h, h->ranks[child + 1], h->ranks[child]))
            child++;
        if (!earlier(h, h->ranks[child], h->ranks[at]))
            break;
        int swap = h->ranks[at];
        h->ranks[at] = h->ranks[child];
        h->ranks[child] = swap;
    }
}

/* Whole shares first; the remaining blocks, fewer than n, go one by one to the rank that would finish first. */
static void divide_equal(const double *rates, int n, uint64_t blocks, uint64_t *counts)
{
    double sum = 0;
    uint64_t left = blocks;
    for (int r = 0; r < n; r++)
        sum += rates[r];
    for (int r = 0; r < n; r++) {
        counts[r] = MIN((uint64_t)floor((double)blocks * (rates[r] / sum)), left);
        left -= counts[r];
    }
    heap h = {rates, counts, g_new(int, n), n};
    for (int r = 0; r < n; r++)
        h.ranks[r] = r;
    for (int at = n / 2 - 1; at >= 0; at--)
        sift_down(&h, at);
    for (; left > 0; left--) {
        counts[h.ranks[0]]++;
        sift_down(&h, 0);
    }
    g_free(h.ranks);
}

/* ---- dividing blocks of unequal cost ---- */

/* Ranks `rates[0 ... n - 1]` share the positions [from, to). Boundary r lies between ranks r - 1 and r; `ends` holds boundaries 0
 * ... n. */
typedef struct job {
    const prefix *p;
    const double *rates;
    int n;
    uint64_t from, to;
} job;

/* Finds the latest boundaries for which no rank takes more than `seconds`; returns whether the ranks then cover all blocks. */
static bool latest_ends(const job *j, double seconds, uint64_t *ends)
{
    ends[0] = j->from;
    for (int r = 0; r < j->n; r++)
        ends[r + 1] = last_within(j->p, before(j->p, ends[r]) + j->rates[r] * seconds, ends[r], j->to);
    return ends[j->n] == j->to;
}

/* The first position in [from, end] from which at most `cost` lies before `end`. */
static uint64_t first_within(const prefix *p, double cost, uint64_t from, uint64_t end)
{
    double least = before(p, end) - cost;
    uint64_t place = last_within(p, least, from, end);
    return place < end && before(p, place) < least ? place + 1 : place;
}

/* The earliest ones. */
static void earliest_ends(const job *j, double seconds, uint64_t *ends)
{
    ends[j->n] = j->to;
    for (int r = j->n - 1; r >= 0; r--)
        ends[r] = first_within(j->p, j->rates[r] * seconds, j->from, ends[r + 1]);
}

/* The minimum over divisions of the largest time of a rank, approximately, by bisection. */
static double least_seconds(const job *j, uint64_t *ends)
{
    double total = before(j->p, j->to) - before(j->p, j->from), sum = 0, fastest = 0;
    for (int r = 0; r < j->n; r++) {
        sum += j->rates[r];
        fastest = MAX(fastest, j->rates[r]);
    }
    double low = total / sum,
           high = total / fastest * (1 + 1e-9); /* a lower bound, and the time for the fastest rank to take all */
    for (int i = 0; i < 60 && high - low > 1e-4 * low; i++) {
        double middle = low + (high - low) / 2;
        if (latest_ends(j, middle, ends))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Chooses, among the divisions about as good as the best, one that moves little: a boundary stays where it was (`old`) if it can,
 * otherwise it is put as near as possible to the position at which the costs before it are in proportion to the rates. */
static void divide_unequal(const job *j, const int64_t *old, uint64_t *counts)
{
    const double slack = 1.0001;
    uint64_t *ends = g_new(uint64_t, j->n + 1);
    double seconds = least_seconds(j, ends) * slack, base = before(j->p, j->from), sum = 0, passed = 0;
    for (int r = 0; r < j->n; r++)
        sum += j->rates[r];
    earliest_ends(j, seconds, ends);
    uint64_t at = j->from;
    for (int r = 0; r < j->n; r++) {
        passed += j->rates[r];
        uint64_t latest = last_within(j->p, before(j->p, at) + j->rates[r] * seconds, at, j->to);
        uint64_t earliest = CLAMP(ends[r + 1], at, latest), next = j->to;
        if (r < j->n - 1 && old[r + 1] >= (int64_t)earliest && old[r + 1] <= (int64_t)latest) {
            next = (uint64_t)old[r + 1];
        } else if (r < j->n - 1) {
            double share = base + (before(j->p, j->to) - base) * (passed / sum);
            next = CLAMP(last_within(j->p, share, at, j->to), earliest, latest);
        }
        counts[r] = next - at;
        at = next;
    }
    g_free(ends);
}

/* ---- global ---- */

static void divide(const job *j, const int64_t *old, uint64_t *counts)
{
    if (j->p->sums && before(j->p, j->to) > before(j->p, j->from))
        divide_unequal(j, old, counts);
    else
        divide_equal(j->rates, j->n, j->to - j->from, counts);
}

static void keep(const dome_load *load, dome_division *division)
{
    division->start = load->start;
    memcpy(division->counts, load->counts, (size_t)load->ranks * sizeof *load->counts);
}

/* Positions of the present lower boundaries of all ranks, relative to a block `turn` positions after the present start. */
static int64_t *old_places(const dome_load *load, int64_t turn)
{
    int64_t *places = g_new(int64_t, load->ranks), at = -turn;
    for (int r = 0; r < load->ranks; r++) {
        places[r] = at;
        at += (int64_t)load->counts[r];
    }
    return places;
}

static uint64_t rotated(const dome_load *load, int64_t turn)
{
    int64_t blocks = (int64_t)load->blocks, start = ((int64_t)load->start + turn) % blocks;
    return (uint64_t)(start < 0 ? start + blocks : start);
}

static int compare_places(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Turning a division around the ring changes no rank's number of blocks. Turning by the median distance of the boundaries moves
 * least. */
static int64_t least_moving_turn(const dome_load *load, const uint64_t *counts)
{
    int64_t *ways = old_places(load, 0), place = 0;
    for (int r = 0; r < load->ranks; r++) {
        ways[r] -= place;
        place += (int64_t)counts[r];
    }
    qsort(ways, (size_t)load->ranks, sizeof *ways, compare_places);
    int64_t turn = ways[load->ranks / 2];
    g_free(ways);
    return turn;
}

static void divide_all(const dome_load *load, const double *rates, int64_t turn, dome_division *division)
{
    division->start = rotated(load, turn);
    prefix p = prefix_from(load, division->start);
    int64_t *old = old_places(load, turn);
    divide(&(job){&p, rates, load->ranks, 0, load->blocks}, old, division->counts);
    g_free(old);
    g_free(p.sums);
}

static void divide_at_once(const dome_load *load, dome_division *division)
{
    double *rates = cautious_rates_of(load);
    divide_all(load, rates, 0, division);
    int64_t turn = load->topology == DOME_RING ? least_moving_turn(load, division->counts) : 0;
    if (turn && !load->costs) {
        division->start = rotated(load, turn);
    } else if (turn) { /* the ranks would get other groups of blocks: take them if the division is as good and moves less */
        dome_division other = {0, g_new(uint64_t, load->ranks)};
        uint64_t busiest;
        divide_all(load, rates, turn, &other);
        if (dome__division_time(load, &other) <= 1.01 * dome__division_time(load, division) &&
            dome__division_moves(load, &other, &busiest) < dome__division_moves(load, division, &busiest)) {
            division->start = other.start;
            memcpy(division->counts, other.counts, (size_t)load->ranks * sizeof *other.counts);
        }
        g_free(other.counts);
    }
    g_free(rates);
}

/* Where rates change steadily, the division is balanced for the moment for which it takes least in the mean. */
static void divide_ahead(const dome_load *load, dome_division *division)
{
    static const double moments[] = {0.25, 0.5, 0.75, 1};
    double *rates = dome__rates_of(load), *then = g_new(double, load->ranks), least = dome__division_time(load, division);
    dome_division tried = {0, g_new(uint64_t, load->ranks)};
    for (int k = 0; k < (int)G_N_ELEMENTS(moments); k++) {
        dome_load at = *load;
        at.rates = then;
        at.later = NULL;
        for (int r = 0; r < load->ranks; r++)
            then[r] = dome__rate_at(load, rates, r, moments[k]);
        divide_at_once(&at, &tried);
        double time = dome__division_time(load, &tried);
        if (time < least) {
            least = time;
            division->start = tried.start;
            memcpy(division->counts, tried.counts, (size_t)load->ranks * sizeof *tried.counts);
        }
    }
    g_free(tried.counts);
    g_free(then);
    g_free(rates);
}

void dome__policy_global(const dome_load *load, dome_division *division)
{
    keep(load, division);
    if (load->ranks < 2 || load->blocks == 0)
        return;
    divide_at_once(load, division);
    if (load->later)
        divide_ahead(load, division);
}

/* ---- between the present layout and a balanced one ---- */

enum { DEGREES = 8 };       /* divisions tried */
#define ROUNDING (1 + 1e-9) /* so that a boundary is not missed by it */

/* The boundaries of a division in which no rank takes longer than `seconds`, if there is one: each as near as possible to where
 * it was (`old`). A boundary that has to give way to others does so upwards or downwards. */
static void near_ends(const job *j, double seconds, const int64_t *old, bool upwards, uint64_t *ends)
{
    uint64_t *latest = g_new(uint64_t, j->n + 1);
    latest_ends(j, seconds, latest);
    earliest_ends(j, seconds, ends);
    for (int r = 1; r < j->n; r++)
        ends[r] = old[r] <= (int64_t)ends[r] ? ends[r] : MAX(ends[r], MIN((uint64_t)old[r], latest[r]));
    ends[0] = j->from;
    for (int r = 1; r < j->n && !upwards; r++)
        ends[r] = CLAMP(last_within(j->p, before(j->p, ends[r - 1]) + j->rates[r - 1] * seconds, ends[r - 1], j->to), ends[r - 1],
                        MAX(ends[r], ends[r - 1]));
    for (int r = j->n - 1; r > 0 && upwards; r--)
        ends[r] = MIN(MAX(ends[r], first_within(j->p, j->rates[r] * seconds, j->from, ends[r + 1])), ends[r + 1]);
    g_free(latest);
}

/* Ranks in a row that belong to one cluster share a part; boundaries between clusters are chosen first. */
static void divide_sparingly(const job *j, double seconds, const int64_t *old, const int *cluster, bool upwards, uint64_t *counts)
{
    double *rates = g_new0(double, j->n);
    int64_t *olds = g_new(int64_t, j->n);
    uint64_t *ends = g_new(uint64_t, j->n + 1), *inner = g_new(uint64_t, j->n + 1);
    int *first = g_new(int, j->n + 1), n = 0;
    for (int r = 0; r < j->n; r++) {
        if (r == 0 || (cluster && cluster[r] != cluster[r - 1])) {
            first[n] = r;
            olds[n++] = old[r];
        }
        rates[n - 1] += j->rates[r];
    }
    first[n] = j->n;
    near_ends(&(job){j->p, rates, n, j->from, j->to}, seconds, olds, upwards, ends);
    for (int k = 0; k < n; k++) {
        int ranks = first[k + 1] - first[k];
        near_ends(&(job){j->p, j->rates + first[k], ranks, ends[k], ends[k + 1]}, seconds, old + first[k], upwards, inner);
        for (int r = 0; r < ranks; r++)
            counts[first[k] + r] = inner[r + 1] - inner[r];
    }
    g_free(rates);
    g_free(olds);
    g_free(ends);
    g_free(inner);
    g_free(first);
}

static int64_t turn_of(const dome_load *load, const dome_division *division)
{
    int64_t blocks = (int64_t)load->blocks, turn = (int64_t)division->start - (int64_t)load->start;
    turn += turn < 0 ? blocks : 0;
    return turn > blocks / 2 ? turn - blocks : turn;
}

/* The time lost by a division within the horizon, moving included; now: the time of the present layout. */
static double loses(const dome_load *load, const dome_moving *moving, double horizon, double now, const dome_division *division)
{
    return horizon * dome__division_time(load, division) / now + dome__moving_seconds(load, division, moving, NULL);
}

void dome__policy_spare(const dome_load *load, const dome_moving *moving, double horizon, dome_division *division)
{
    if (load->ranks < 2 || load->blocks == 0 || dome__division_trial(load, division))
        return;
    double best = dome__division_time(load, division), now = dome__load_time(load);
    if (!(best < now))
        return;
    double *rates = dome__rates_of(load), least = loses(load, moving, horizon, now, division);
    int64_t whole_turn = turn_of(load, division);
    dome_division tried = {0, g_new(uint64_t, load->ranks)};
    for (int k = 0; k < DEGREES; k++) {
        double seconds = (best + (now - best) * k / DEGREES) * ROUNDING;
        int64_t turn = whole_turn * (DEGREES - k) / DEGREES, *old = old_places(load, turn);
        tried.start = rotated(load, turn);
        prefix p = prefix_from(load, tried.start);
        for (int upwards = 0; upwards < 2; upwards++) {
            divide_sparingly(&(job){&p, rates, load->ranks, 0, load->blocks}, seconds, old, moving->cluster, upwards,
                             tried.counts);
            double lost = loses(load, moving, horizon, now, &tried);
            if (lost < least) {
                least = lost;
                division->start = tried.start;
                memcpy(division->counts, tried.counts, (size_t)load->ranks * sizeof *tried.counts);
            }
        }
        g_free(p.sums);
        g_free(old);
    }
    g_free(tried.counts);
    g_free(rates);
}

/* ---- ring and groups ---- */

#define DAMPING  0.5  /* of the flow that would level two sides, since both have another neighbour */
#define MOMENTUM 0.45 /* of the last flow over the boundary; a larger value makes long rings faster and short ones swing */
#define SLACK    0.5  /* the times of two sides may differ by this many times the noise */

double dome__ring_flow(const dome_side *below, const dome_side *above, dome_flow *flow)
{
    double up = dome__rate_known(above->rate) ? above->rate : dome__rate_known(below->rate) ? below->rate : 1;
    double down = dome__rate_known(below->rate) ? below->rate : up;
    double here = below->cost * (up / (up + down)), there = above->cost * (down / (up + down));
    double level = here - there; /* 0 when both take the same time */
    if (fabs(level) <= SLACK * MAX(below->noise, above->noise) * MAX(here, there))
        level = 0;
    *flow = CLAMP(DAMPING * level + MOMENTUM * *flow, -above->cost / 2, below->cost / 2);
    return *flow;
}

uint64_t dome__ring_blocks(const dome_side *giver, const dome_side *taker, bool up, const double *costs, double each,
                           uint64_t most, double cost)
{
    bool both = dome__rate_known(giver->rate) && dome__rate_known(taker->rate);
    double part = both ? giver->rate / (giver->rate + taker->rate) : 0.5; /* a block moves only if more than this part of it is
                                                                           * wanted */
    if (!up)
        part =
            (1 + part) / 2; /* otherwise two neighbours would each give a rank the one block that it lacks, and get both back */
    uint64_t count = 0;
    if (!costs) {
        double blocks = each > 0 ? ceil(cost / each - part) : 0;
        return blocks <= 0 ? 0 : blocks >= (double)most ? most : (uint64_t)blocks;
    }
    for (uint64_t k = 0; k < most && cost > part * costs[k]; k++) {
        cost -= costs[k];
        if (costs[k] > 0) /* a block that costs nothing moves only together with one after it */
            count = k + 1;
    }
    return count;
}

/* Groups of ranks, or single ranks, on the ring. */
typedef struct groups {
    const dome_load *load;
    const prefix *p;
    int n;
    uint64_t *ends;  /* n + 1 places: group g owns [ends[g], ends[g + 1]) */
    dome_side *side; /* of each group */
} groups;

static groups find_groups(const dome_load *load, const prefix *p, const double *rates, int size)
{
    int n = (load->ranks + size - 1) / size;
    groups all = {load, p, n, g_new(uint64_t, n + 1), g_new0(dome_side, n)};
    uint64_t place = 0;
    for (int r = 0; r < load->ranks; r++) {
        if (r % size == 0)
            all.ends[r / size] = place;
        place += load->counts[r];
        all.side[r / size].rate += rates[r];
        if (load->noises) /* squares */
            all.side[r / size].noise += (rates[r] * load->noises[r]) * (rates[r] * load->noises[r]);
    }
    all.ends[n] = place;
    for (int g = 0; g < n; g++) {
        all.side[g].noise = sqrt(all.side[g].noise) / all.side[g].rate;
        all.side[g].cost = before(p, all.ends[g + 1]) - before(p, all.ends[g]);
    }
    return all;
}

/* Costs of the group's last `most` blocks, the last one first, or of its first ones. NULL if all are 1. */
static double *leaving(const groups *all, int group, bool up, uint64_t most)
{
    if (!all->p->sums)
        return NULL;
    double *costs = g_new(double, most);
    for (uint64_t k = 0; k < most; k++) {
        uint64_t place = up ? all->ends[group + 1] - 1 - k : all->ends[group] + k;
        costs[k] = dome__block_cost(all->load, (all->p->origin + place) % all->load->blocks);
    }
    return costs;
}

static uint64_t given(const groups *all, int group, bool up, uint64_t most, double cost)
{
    const dome_side *taker = &all->side[(group + (up ? 1 : all->n - 1)) % all->n];
    double *costs = leaving(all, group, up, most);
    uint64_t count = dome__ring_blocks(&all->side[group], taker, up, costs, 1, most, cost);
    g_free(costs);
    return count;
}

/* Blocks that cross each boundary upwards. */
static int64_t *crossings(const groups *all, dome_flow *flow)
{
    int first = all->load->topology == DOME_RING && all->n > 2 ? 0 : 1;
    double *wanted = g_new0(double, all->n);
    int64_t *up = g_new0(int64_t, all->n);
    for (int g = first; g < all->n; g++)
        wanted[g] = dome__ring_flow(&all->side[(g + all->n - 1) % all->n], &all->side[g], &flow[g]);
    for (int g = 0; g < all->n; g++) {
        uint64_t blocks = all->ends[g + 1] - all->ends[g], half = blocks - blocks / 2, above = 0;
        int next = (g + 1) % all->n;
        if (wanted[next] > 0) {
            above = given(all, g, true, half, wanted[next]);
            up[next] = (int64_t)above;
        }
        if (wanted[g] < 0)
            up[g] = -(int64_t)given(all, g, false, MIN(half, blocks - above), -wanted[g]);
    }
    g_free(wanted);
    return up;
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
    double *rates = cautious_rates_of(load);
    prefix p = prefix_from(load, load->start);
    groups all = find_groups(load, &p, rates, group);
    int64_t *up = crossings(&all, flow), turn = -up[0];

    /* A flow upwards moves the boundary down. Relative to the new first block the boundaries are `turn` positions nearer. */
    for (int g = 0; g < all.n; g++)
        all.ends[g] = (uint64_t)((int64_t)all.ends[g] - up[g] - turn);
    division->start = rotated(load, turn);
    if (turn) {
        g_free(p.sums);
        p = prefix_from(load, division->start);
    }
    int64_t *old = old_places(load, turn);
    for (int g = 0; g < all.n; g++) {
        int first = g * group, n = MIN(group, load->ranks - first);
        divide(&(job){&p, rates + first, n, all.ends[g], all.ends[g + 1]}, old + first, division->counts + first);
    }
    g_free(old);
    g_free(up);
    g_free(all.ends);
    g_free(all.side);
    g_free(p.sums);
    g_free(rates);
}
