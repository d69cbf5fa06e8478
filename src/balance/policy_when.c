/* Judging divisions, and when data moves. */
#include "balance/policy_private.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* ---- judging ---- */

static double mean_noise(const dome_load *load)
{
    double sum = 0;
    for (int r = 0; load->noises && r < load->ranks; r++)
        sum += load->noises[r];
    return sum / load->ranks;
}

/* The time at a moment between now (0) and the end of the division's time (1). sure: a rank may be faster than its estimate by
 * `sure` times its noise, or the mean noise if that is larger. */
static double time_at(const dome_load *load, const double *rates, uint64_t start, const uint64_t *counts, double sure,
                      double moment)
{
    double mean = mean_noise(load), longest = 0;
    uint64_t at = start;
    for (int r = 0; r < load->ranks; r++) {
        double cost = load->costs ? 0 : (double)counts[r];
        if (load->costs)
            for (uint64_t k = 0; k < counts[r]; k++)
                cost += load->costs[(at + k) % load->blocks];
        double noise = load->noises ? MAX(load->noises[r], mean) : 0, rate = dome__rate_at(load, rates, r, moment);
        longest = MAX(longest, cost / (rate * (1 + sure * noise)));
        at = load->blocks ? (at + counts[r]) % load->blocks : 0;
    }
    return longest;
}

static double layout_time(const dome_load *load, uint64_t start, const uint64_t *counts, double sure)
{
    static const double weights[] = {0.125, 0.25, 0.25, 0.25, 0.125}; /* trapezoids */
    double *rates = dome__rates_of(load), time = 0;
    if (load->later)
        for (int k = 0; k < 5; k++)
            time += weights[k] * time_at(load, rates, start, counts, sure, k / 4.0);
    else
        time = time_at(load, rates, start, counts, sure, 0);
    g_free(rates);
    return time;
}

double dome__division_time(const dome_load *load, const dome_division *division)
{
    return layout_time(load, division->start, division->counts, 0);
}

double dome__load_time(const dome_load *load)
{
    return layout_time(load, load->start, load->counts, 0);
}

double dome__oracle_time(const dome_load *load)
{
    double *rates = dome__rates_of(load), rate = 0, fastest = 0, cost = 0, dearest = 0;
    for (int r = 0; r < load->ranks; r++) {
        rate += rates[r];
        fastest = MAX(fastest, rates[r]);
    }
    for (uint64_t b = 0; b < load->blocks; b++) {
        cost += dome__block_cost(load, b);
        dearest = MAX(dearest, dome__block_cost(load, b));
    }
    g_free(rates);
    return MAX(cost / rate, dearest / fastest);
}

/* The number of blocks that two runs on the ring share. */
static uint64_t common(uint64_t blocks, uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++) /* the second run as it is, and once around the ring */
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

/* The owner of the blocks from some place on: so many of them. */
typedef struct run {
    const uint64_t *counts;
    int ranks, owner;
    uint64_t left;
} run;

static void pass(run *r, uint64_t blocks)
{
    r->left -= blocks;
    while (r->left == 0) {
        r->owner = (r->owner + 1) % r->ranks;
        r->left = r->counts[r->owner];
    }
}

static run run_at(const uint64_t *counts, int ranks, uint64_t place)
{
    run r = {counts, ranks, 0, counts[0]};
    while (place >= r.left) {
        place -= r.left;
        r.left = counts[++r.owner];
    }
    r.left -= place;
    return r;
}

/* Adds to the time of a rank; the times of the rank that is busy longest are `longest`. */
static void add_busy(double (*busy)[DOME_REACHES], int rank, dome_reach reach, double seconds, double *longest)
{
    busy[rank][reach] += seconds;
    double all = 0, most = 0;
    for (int k = 0; k < DOME_REACHES; k++) {
        all += busy[rank][k];
        most += longest[k];
    }
    if (all > most)
        memcpy(longest, busy[rank], sizeof busy[rank]);
}

double dome__moving_seconds(const dome_load *load, const dome_division *division, const dome_moving *moving, double *by_reach)
{
    double longest[DOME_REACHES] = {0}, sum = 0;
    if (load->blocks > 0) {
        run was = run_at(load->counts, load->ranks, 0);
        run is = run_at(division->counts, load->ranks, (load->start + load->blocks - division->start) % load->blocks);
        double(*busy)[DOME_REACHES] = g_malloc0_n((gsize)load->ranks, sizeof *busy);
        for (uint64_t left = load->blocks, n; left > 0; left -= n) {
            n = MIN(MIN(was.left, is.left), left);
            if (was.owner != is.owner) {
                dome_reach far = dome__reach(moving->host, moving->cluster, was.owner, is.owner);
                add_busy(busy, was.owner, far, (double)n * moving->each[far], longest);
                add_busy(busy, is.owner, far, (double)n * moving->each[far], longest);
            }
            if (left > n) {
                pass(&was, n);
                pass(&is, n);
            }
        }
        g_free(busy);
    }
    for (int k = 0; k < DOME_REACHES; k++)
        sum += longest[k];
    if (by_reach)
        memcpy(by_reach, longest, sizeof longest);
    return sum > 0 ? moving->latency + sum : 0;
}

#define SHORT_MOVE   0.005 /* seconds: a move that takes so long counts half */
#define MOST_CHANGED 100.0

void dome__moving_learn(dome_moving *moving, const double planned[DOME_REACHES], double measured)
{
    double sum = 0;
    for (int k = 0; k < DOME_REACHES; k++)
        sum += planned[k];
    if (!(sum > 0) || !(measured > 0) || !isfinite(measured))
        return;
    double factor = CLAMP((measured - moving->latency) / sum, 1 / MOST_CHANGED, MOST_CHANGED), longer = MAX(sum, measured);
    for (int k = 0; k < DOME_REACHES; k++)
        moving->each[k] *= 1 + planned[k] / sum * (longer / (longer + SHORT_MOVE)) * (factor - 1);
}

/* ---- when ---- */

#define SURE          2    /* a gain must exceed this many times the noise */
#define MOST_CAUTION  8    /* in addition */
#define CAUTION_FADES 0.01 /* per second */
#define LASTING       2    /* the most caution against a gain that has lasted */
#define LEAST_GAIN    0.005
#define GROWTH        1.5  /* largest growth of the interval */
#define LOSS          0.3  /* part of the time that is lost until a change is noticed */
#define FIRST_HORIZON 16.0 /* seconds, before anything is known */
#define CALM_PART     0.6  /* of the time since the last change */
#define LASTS         0.7  /* part of the time for which a division stays */
#define FADE          60.0 /* seconds in which changes are forgotten */
#define ONE_CHANGE    1.0  /* seconds */
#define TRIAL_COST    0.02 /* of the time until the next phase */
#define HASTE         1    /* the shortest interval is this many times the cost of a phase */

/* Noise falls with the square root of the time measured: in the shortest interval it falls to QUIET, but that interval is at most
 * PATIENT seconds. */
#define QUIET   0.1
#define PATIENT 1.0

void dome__schedule_init(dome_schedule *schedule)
{
    *schedule = (dome_schedule){.interval = 0.05, .shortest = 0.05, .longest = 20};
}

double dome__schedule_horizon(const dome_schedule *schedule)
{
    double between = (FIRST_HORIZON + schedule->watched) / (1 + schedule->changes);
    return MAX(MAX(between, CALM_PART * schedule->since), schedule->interval);
}

double dome__schedule_stay(const dome_schedule *schedule)
{
    double stay = MAX(schedule->stay, schedule->calm);
    return MIN(MAX(stay, schedule->interval), dome__schedule_horizon(schedule));
}

/* Where speeds change all the time, a gain lasts until the next move at most. */
static double lasting(const dome_schedule *schedule)
{
    return schedule->moves ? LASTS * dome__schedule_stay(schedule) : dome__schedule_horizon(schedule);
}

bool dome__schedule_pays(const dome_schedule *schedule, double now, double then, double moving)
{
    if (!(now > 0) || !isfinite(now))
        return false;
    double gain = (now - then) / now;
    return gain > MAX(LEAST_GAIN, SURE * schedule->noise) && gain * lasting(schedule) > moving;
}

bool dome__division_trial(const dome_load *load, const dome_division *division)
{
    for (int r = 0; r < load->ranks; r++)
        if (load->counts[r] == 0 && division->counts[r] > 0)
            return true;
    return false;
}

/* Noise gains and loses in turn, so a gain that lasts is none: sums the time lost, less what noise explains, from 0 on (Page,
 * Continuous inspection schemes, 1954). */
static bool has_lasted(const dome_schedule *schedule, double now, double then, double moving, double *lost)
{
    *lost = MAX(*lost + (now > 0 ? 1 - then / now : 0) * schedule->interval, 0);
    return *lost > moving;
}

bool dome__division_pays(const dome_schedule *schedule, const dome_load *load, const dome_division *division, double then,
                         double moving, double *lost)
{
    uint64_t busiest;
    double now = layout_time(load, load->start, load->counts, SURE + schedule->caution);
    if (lost && schedule->caution > LASTING) {
        double less = layout_time(load, load->start, load->counts, SURE + LASTING);
        now = has_lasted(schedule, less, then, moving, lost) ? less : now;
    }
    dome_schedule sure = *schedule;
    if (load->noises)
        sure.noise = 0; /* `now` accounts for it */
    if (dome__division_moves(load, division, &busiest) == 0)
        return false;
    return dome__schedule_pays(&sure, now, then, moving) ||
           (dome__division_trial(load, division) && then <= dome__load_time(load) && moving < TRIAL_COST * schedule->interval);
}

bool dome__division_has_paid(const dome_schedule *schedule, const dome_load *load, const dome_division *division, double then,
                             double moving, double *lost)
{
    const double now = layout_time(load, load->start, load->counts, SURE);
    const bool lasted = has_lasted(schedule, now, then, moving, lost);
    return lasted && dome__division_pays(schedule, load, division, then, moving, NULL);
}

/* Phases every T seconds cost phase / T of the time; changes that happen every `calm` seconds are noticed after T / 2 on average,
 * and until then LOSS of the time is lost. T is best where both cost the same (as for checkpoints: Young, A first order
 * approximation to the optimum checkpoint interval, 1974). */
static double best_interval(const dome_schedule *schedule)
{
    return sqrt(2 * schedule->phase * dome__schedule_horizon(schedule) / LOSS);
}

/* A change reaches the tasks' measurements one by one, so changes within a second count once. */
static void count_changes(dome_schedule *schedule)
{
    double keep = FADE / (FADE + schedule->interval);
    schedule->since += schedule->interval;
    schedule->watched = keep * schedule->watched + schedule->interval;
    schedule->changes *= keep;
    if (schedule->changed && schedule->since > ONE_CHANGE) {
        schedule->changes++;
        schedule->since = 0;
    }
}

/* Data that moves though no speed has changed may have moved for noise that lasts longer than the measurements tell. */
static void update_caution(dome_schedule *schedule, bool moved)
{
    schedule->caution = MAX(schedule->caution - CAUTION_FADES * schedule->interval, 0);
    if (schedule->changed)
        schedule->caution /= 2;
    else if (moved)
        schedule->caution = MIN(schedule->caution + 1, MOST_CAUTION);
}

void dome__schedule_next(dome_schedule *schedule, bool moved, bool doubt)
{
    double rough = schedule->spread / QUIET;
    double least = MAX(CLAMP(rough * rough, schedule->shortest, PATIENT), HASTE * schedule->phase);
    count_changes(schedule);
    update_caution(schedule, moved);
    schedule->calm += schedule->interval;
    if (moved) {
        schedule->stay = schedule->stay > 0 ? (schedule->stay + schedule->calm) / 2 : schedule->calm;
        schedule->calm = 0;
    }
    double next = moved || doubt ? 0 : MIN(GROWTH * schedule->interval, best_interval(schedule));
    schedule->interval = MIN(MAX(next, least), schedule->longest);
}
