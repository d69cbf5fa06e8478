/* Policies: from measured speeds to a new layout. Pure functions of numbers, so that they run in a simulator as well as in a
 * program.
 *
 * Blocks are arranged on a ring and each rank owns a contiguous run (layout.h). A rank's rate is the cost it processes in a
 * second; block costs are relative numbers. With equal rates a balanced layout gives every rank the same cost; in general costs
 * are proportional to rates, so that all ranks need the same time.
 *
 * global: uses all measurements and may choose any layout.
 * ring:   each boundary between two ranks moves by what these two alone know (first-order diffusion with momentum:
 *         Muthukrishnan, Ghosh, Schultz, First- and second-order diffusive methods for rapid, coarse, distributed load balancing,
 *         1998); data moves only between neighbours.
 * groups: global within groups of neighbouring ranks, ring between the groups. Group sizes 1 and `ranks` are ring and global.
 *
 * Topology: on a linear chain block 0 stays with rank 0 and the two ends do not exchange; on a ring the last and the first rank
 * do, and runs may wrap around the end of the vector. */
#ifndef DOME_SRC_POLICY_H
#define DOME_SRC_POLICY_H

#include "core/options.h"
#include "transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_load {
    int ranks;
    uint64_t blocks;
    uint64_t start;         /* first block of rank 0 */
    const uint64_t *counts; /* blocks of each rank; they add up to blocks */
    const double *rates; /* cost per second of each rank; not positive or not finite: unknown, taken as the mean of the others */
    const double *later; /* rates at the end of the time for which a division is made; between, the time for a unit of cost is
                          * taken to change linearly. NULL: the same rates */
    const double *costs; /* of each block, by block number, not negative; NULL: all 1 */
    dome_topology topology;
    const double
        *noises; /* of the rates (dome_speed); NULL: none. Differences within noise move nothing in a ring, and never pay */
} dome_load;

/* A new division of the ring. counts is the caller's, `ranks` long. */
typedef struct dome_division {
    uint64_t start;
    uint64_t *counts;
} dome_division;

/* ---- what a rank knows of its speed ---- */

/* Ways to say from past measurements what the next one will be. */
typedef enum dome_model {
    DOME_MODEL_MEAN,   /* of the last seconds */
    DOME_MODEL_LAST,   /* measurement */
    DOME_MODEL_MEDIAN, /* of the last measurements */
    DOME_MODEL_LONG,   /* mean of a longer time */
    DOME_MODEL_TREND,  /* the time for a unit of cost grows or shrinks linearly */
    DOME_MODELS
} dome_model;

enum { DOME_MODEL_RECENT = 5 };

typedef struct dome_models {
    dome_model used;
    double mean;               /* cost per second */
    double error[DOME_MODELS]; /* the mean square of the relative errors of its predictions; recent ones count more */
    int count, predicted;      /* measurements; those that each model has predicted */
    double seconds;            /* of the last measurement */
    double recent[DOME_MODEL_RECENT];
    double w, t, tt, y, ty; /* sums for the line: of weights; of times, squares, seconds per cost, with their weights */
} dome_models;

/* Starts as all 0. */
typedef struct dome_speed {
    double rate;    /* the estimate, cost per second; 0: not known yet */
    double growth;  /* of the time for a unit of cost, per second, as a fraction; 0: none that noise could not explain */
    double seconds; /* of measurement behind the mean of the last seconds */
    double noise;   /* of the estimate: its relative standard error */
    double spread;  /* of measurements over one second; 0: not known yet */
    double doubt;   /* a measurement far from the estimate that the next one must confirm; 0: none */
    bool changed;   /* by the last measurement, which confirmed the one before */
    double before;  /* the estimate that a trial of dome__speed_between has raised; 0: there is none */
    int rest, wary; /* phases until its next trial may be, and how often trials failed */
    int idle;       /* consecutive phases in which the rank had nothing to compute, and how often its trials failed */
    int patience;
    dome_models models;
} dome_speed;

/* Folds a measurement (cost processed per second of computing, over `seconds`) into the estimate. The estimate is that of the
 * model which has predicted best so far, at first the mean over the last seconds: the noise of measurements falls with the square
 * root of their time. A value further from the estimate than noise explains is not used before the next one confirms it: a task
 * that was stopped for a moment must not lose its data. The first measurement is used at once. If `measured` is not positive or
 * not finite, the rank has no blocks and has computed nothing. Its estimate, if below `mean` (the mean rate of the others), then
 * drifts towards it, more slowly each time that such a trial has failed: a rank that lost all its blocks gets another chance to
 * be measured, and one that is really slow does not often delay the others. (Must not be called if no rank computed anything.)
 * Returns whether the measurement is in doubt, so that the next phase should be soon. */
bool dome__speed_update(dome_speed *speed, double measured, double seconds, double mean);

/* Whether the last measurement of a rank contradicts its estimate, and the next one is to say which of them holds. */
bool dome__speeds_in_doubt(const dome_speed *speeds, int ranks);

/* Whether the rate changes all the time: it grows or shrinks steadily, or the last measurement is the best that can be said. */
bool dome__speed_moves(const dome_speed *speed);

/* The rate that is to be expected in so many seconds. */
double dome__speed_ahead(const dome_speed *speed, double seconds);

/* Folds a measurement of a rank that often waited for others, which gives two bounds: `least`, its rate (cost per second) while
 * others set the pace, and `most`, its rate while it computed. The latter may be too high, because a shared processor is given at
 * once to a task that has waited, and taken away when it has computed for a while. An estimate between the two bounds is kept;
 * any other is clamped to the nearer bound. A rank that still waits long gets more as a trial, and trials become rarer each time
 * that one has failed. */
bool dome__speed_between(dome_speed *speed, double least, double most, double seconds, double mean);

/* ---- where ---- */

/* The state of diffusion at each boundary (rank r - 1 | r) from phase to phase, in cost; initially 0. */
typedef double dome_flow;

/* A rank that has no blocks gets at most one or two at first, however fast its estimate: the estimate is old. */
void dome__policy_global(const dome_load *load, dome_division *division);

/* group: ranks in a group, from 1 (ring) to load->ranks (global). flow: one for each group, updated: flow[g] belongs to the
 * boundary below group g. */
void dome__policy_groups(const dome_load *load, int group, dome_flow *flow, dome_division *division);

/* The parts of the ring policy, for programs in which a rank (or the leader of a group) knows only its neighbours.
 * dome__policy_groups is made of the same parts.
 *
 * A side of a boundary: a rank or a group of ranks. */
typedef struct dome_side {
    double rate, cost; /* cost per second; cost owned */
    double noise;      /* of the rate */
} dome_side;

/* The cost that is to cross a boundary upwards now (negative: downwards). Both sides compute the same number from the same input.
 * The last side and the first share no boundary on a linear chain, nor when there are only two sides. */
double dome__ring_flow(const dome_side *below, const dome_side *above, dome_flow *flow);

/* The number of blocks that the giver sends so that about `cost` crosses; the last of them is sent if that shortens the time of
 * the slower side. up: to the side above; downwards the threshold for the last block is higher, so that two neighbours do not do
 * the same at once. costs: of its blocks in the order in which they leave; NULL: all `each`. most: the largest number it may send
 * to this side: of its n blocks n - n / 2 upwards, and as many downwards, but no more than are left. */
uint64_t dome__ring_blocks(const dome_side *giver, const dome_side *taker, bool up, const double *costs, double each,
                           uint64_t most, double cost);

/* ---- what moving takes ---- */

/* By how far apart two ranks are. */
typedef struct dome_moving {
    double latency;            /* seconds, if anything moves */
    double each[DOME_REACHES]; /* seconds for a byte, or a block, from rank to rank */
    const int *host, *cluster; /* by rank: equal numbers mean the same; NULL: hosts of their own in one cluster */
} dome_moving;

/* Seconds that a division takes to move: those of the rank that is busy longest with sending and receiving. by_reach: gets their
 * parts, without the latency; may be NULL. */
double dome__moving_seconds(const dome_load *load, const dome_division *division, const dome_moving *moving, double *by_reach);

/* Corrects `each` after a move that was expected to take planned[reach] seconds over links of each kind, and took `measured`
 * seconds. Links that took most of the time are corrected most; a move that takes little time says little. */
void dome__moving_learn(dome_moving *moving, const double planned[DOME_REACHES], double measured);

/* Replaces a balanced division by one between it and the present layout, if that loses less: the time that it takes longer over
 * the horizon (seconds for which the load is expected to stay as it is) and the time for moving. Does nothing to a trial. */
void dome__policy_spare(const dome_load *load, const dome_moving *moving, double horizon, dome_division *division);

/* ---- judging ---- */

/* The largest time over ranks, in seconds, in which a division processes each block once; if rates change, the mean over the time
 * for which the division is made. */
double dome__division_time(const dome_load *load, const dome_division *division);

/* The same for the present layout. */
double dome__load_time(const dome_load *load);

/* A lower bound for any division: all cost over all rates, or the most expensive block on the fastest rank. */
double dome__oracle_time(const dome_load *load);

/* Blocks that change owner: in all, and the largest number that one rank sends and receives together. */
uint64_t dome__division_moves(const dome_load *load, const dome_division *division, uint64_t *busiest);

/* ---- when ---- */

/* In seconds, except for noise, spread and counts. Filled by dome__schedule_init; the caller updates phase, noise, spread,
 * moves and changed. */
typedef struct dome_schedule {
    double interval;          /* until the next phase */
    double shortest, longest; /* its limits */
    double phase;             /* measured cost of a phase that moves nothing */
    double spread;            /* of measurements over one second (dome_speed), over the ranks; a fraction */
    double noise;             /* of the measurements (dome_speed), the mean over the ranks; a fraction */
    bool moves;               /* the speed of a rank changes all the time (dome__speed_moves) */
    bool changed;             /* in this phase the speed of a rank has changed (dome_speed) */
    double caution;           /* a gain must exceed so many times more noise: data moved lately though no speed had changed */
    double calm;              /* time since the last migration */
    double stay;              /* smoothed time between migrations; 0: there was none */
    double watched, changes;  /* time, and changes in it; what is long ago counts less */
    double since;             /* time since the last change */
} dome_schedule;

void dome__schedule_init(dome_schedule *schedule);

/* Whether moving pays: `now` and `then` are times for the same work under the old and the new layout, in any unit; moving takes
 * `moving` seconds. The time saved within the horizon must exceed it, and the gain must exceed the noise. (The longer nothing has
 * changed, the longer the horizon: even expensive moving pays in the end.) */
bool dome__schedule_pays(const dome_schedule *schedule, double now, double then, double moving);

/* The same for a division. `then` is dome__division_time for a global policy. A step of the ring or of groups is judged by its
 * goal: dome__oracle_time. A trial, in which a rank without blocks gets some and which gains next to nothing by itself, also pays
 * if moving is cheap. False if nothing moves. lost: updated; the seconds lost since the last move, beyond what noise explains:
 * when they exceed what moving takes, little caution is left. The caller sets it to 0 after a move, and at first. May be NULL. */
bool dome__division_pays(const dome_schedule *schedule, const dome_load *load, const dome_division *division, double then,
                         double moving, double *lost);

/* The same for blocks most of whose bytes are fetched after the move, so that `moving` may be more than what is expected: it also
 * waits until as much time has been lost as it should take. Noise loses in turns, and moves nothing. lost: not NULL. */
bool dome__division_has_paid(const dome_schedule *schedule, const dome_load *load, const dome_division *division, double then,
                             double moving, double *lost);

/* Seconds for which speeds are expected to stay as they are: the mean time between changes so far. */
double dome__schedule_horizon(const dome_schedule *schedule);

/* Seconds for which a division that is made now is expected to stay. */
double dome__schedule_stay(const dome_schedule *schedule);

/* Whether a rank without blocks gets some. */
bool dome__division_trial(const dome_load *load, const dome_division *division);

/* Sets the next interval: the shortest one after a migration and while a measurement is in doubt (but at least the cost of
 * a phase); otherwise it grows to the best one for the present rate of changes. */
void dome__schedule_next(dome_schedule *schedule, bool moved, bool doubt);

#endif
