/* Policies: measured speed in, new layout out. Pure functions of numbers, so that they run in a simulator as well as in a
 * program.
 *
 * Blocks stand on a ring and each rank owns a contiguous run (layout.h). A rank's rate is the cost it works off in a second;
 * block costs are relative numbers. With equal rates a balanced layout gives every rank the same cost; in general costs are
 * proportional to rates, so that all ranks need the same time.
 *
 * global: all measurements in one place, any layout may come out.
 * ring:   each boundary between two ranks moves by what those two alone know (first-order diffusion with momentum:
 *         Muthukrishnan, Ghosh, Schultz, First- and second-order diffusive methods for rapid, coarse, distributed load balancing,
 *         1998); data only ever moves between neighbours.
 * groups: global within groups of neighbouring ranks, ring between the groups. Group sizes 1 and `ranks` are ring and global.
 *
 * Topology: on a linear chain block 0 stays with rank 0 and the ends do not exchange; on a ring the last rank and the first do,
 * and runs may pass the end of the vector. */
#ifndef DOME_SRC_POLICY_H
#define DOME_SRC_POLICY_H

#include "core/options.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_load {
    int ranks;
    uint64_t blocks;
    uint64_t start;         /* first block of rank 0 */
    const uint64_t *counts; /* blocks of each rank; they add up to blocks */
    const double *rates; /* cost per second of each rank; not positive or not finite: unknown, taken as the mean of the others */
    const double *costs; /* of each block, by block number, not negative; NULL: all 1 */
    dome_topology topology;
    const double
        *noises; /* of the rates (dome_speed); NULL: none. What they may explain moves nothing in a ring, and never pays */
} dome_load;

/* A new division of the ring. counts is the caller's, `ranks` long. */
typedef struct dome_division {
    uint64_t start;
    uint64_t *counts;
} dome_division;

/* ---- what a rank knows of its speed ---- */

/* Starts as all 0. */
typedef struct dome_speed {
    double rate;    /* the estimate, cost per second; 0: not known yet */
    double seconds; /* of measurement that it rests on */
    double noise;   /* of the estimate: how far it may be from the truth, as a fraction of it (one standard deviation) */
    double spread;  /* of measurements over one second; 0: not known yet */
    double doubt;   /* a measurement far from the estimate that waits to be confirmed by the next; 0: none */
    int idle;       /* phases in a row in which the rank had nothing to compute, and how often its trials failed */
    int patience;
} dome_speed;

/* Folds a measurement (cost worked off per second of computing, over `seconds`) into the estimate, which is the mean over the
 * last seconds: the noise of measurements falls with the square root of their time. A value further from the estimate than noise
 * explains is not believed before the next one confirms it: a task that was stopped for a moment must not lose its data. The
 * first one is. measured not positive or not finite: the rank has no blocks and has computed nothing. Its estimate, if below
 * `mean` (the mean rate of the others), drifts towards it, more slowly each time that such a trial has failed, so that a rank
 * that lost all its blocks gets to show again what it can do, and one that is really slow does not hold up the others often. (Not
 * to be called when nothing was computed anywhere.) Returns whether the measurement is in doubt and the next phase should come
 * soon. */
bool dome__speed_update(dome_speed *speed, double measured, double seconds, double mean);

/* ---- where ---- */

/* What diffusion remembers of each boundary (rank r - 1 | r) from phase to phase, in cost; first 0. */
typedef double dome_flow;

/* A rank that has no blocks is given no more than one or two at first, however fast it is believed to be: the belief is old. */
void dome__policy_global(const dome_load *load, dome_division *division);

/* group: ranks in a group, from 1 (ring) to load->ranks (global). flow: one for each group, updated: flow[g] is of the boundary
 * below group g. */
void dome__policy_groups(const dome_load *load, int group, dome_flow *flow, dome_division *division);

/* The parts of the ring policy, for programs in which a rank (or the leader of a group) knows its neighbours only.
 * dome__policy_groups is made of the same.
 *
 * A side of a boundary: a rank or a group of them. */
typedef struct dome_side {
    double rate, cost; /* cost per second; cost owned */
    double noise;      /* of the rate */
} dome_side;

/* The cost that shall cross a boundary upwards now (negative: downwards). Both sides compute the same number from the same input.
 * There is no boundary between the last side and the first on a linear chain, nor when there are only two sides. */
double dome__ring_flow(const dome_side *below, const dome_side *above, dome_flow *flow);

/* The number of blocks the giver parts with so that about `cost` crosses; the last one goes if the slower of the two sides is
 * done earlier for it. up: to the side above; downwards it takes more to move the last one, so that two neighbours do not do the
 * same at once. costs: of its blocks in the order in which they leave; NULL: all `each`. most: blocks it may part with on this
 * side at all. Of its n blocks that is n - n / 2 above; and below as many, but no more than are left. */
uint64_t dome__ring_blocks(const dome_side *giver, const dome_side *taker, bool up, const double *costs, double each,
                           uint64_t most, double cost);

/* ---- judging ---- */

/* Largest time over ranks, in seconds, that a division takes for all its blocks once. */
double dome__division_time(const dome_load *load, const dome_division *division);

/* The same for the layout as it is. */
double dome__load_time(const dome_load *load);

/* A bound no division can beat: all cost over all rates, or the dearest block on the fastest rank. */
double dome__oracle_time(const dome_load *load);

/* Blocks that change hands: in all, and the largest number that one rank sends and receives together. */
uint64_t dome__division_moves(const dome_load *load, const dome_division *division, uint64_t *busiest);

/* ---- when ---- */

/* In seconds, but for noise. Filled by dome__schedule_init; phase, noise and spread are kept up to date by the caller. */
typedef struct dome_schedule {
    double interval;          /* until the next phase */
    double shortest, longest; /* its limits */
    double phase;             /* measured cost of a phase that moves nothing */
    double spread;            /* of measurements over one second (dome_speed), over the ranks; a fraction */
    double calm;              /* since data has moved */
    double between;           /* the same when it moved, smoothed; 0: it never has */
    double noise;             /* of the measurements (dome_speed), the mean over the ranks; a fraction */
} dome_schedule;

void dome__schedule_init(dome_schedule *schedule);

/* Whether moving pays: `now` and `then` are times for the same work under the old and the new layout, in any unit; moving takes
 * `moving` seconds. The time saved for as long as things may be hoped to stay as they are must exceed it, and the gain must stand
 * out of the noise. (That is longer the longer nothing has changed: when moving is dear, it pays in the end.) */
bool dome__schedule_pays(const dome_schedule *schedule, double now, double then, double moving);

/* The same for a division. `then` is dome__division_time for a global policy. A step of the ring or of groups is judged by where
 * it leads: dome__oracle_time. Also pays when a rank without blocks gets some, a trial that gains next to nothing by itself, if
 * moving is cheap. False when nothing moves. */
bool dome__division_pays(const dome_schedule *schedule, const dome_load *load, const dome_division *division, double then,
                         double moving);

/* Sets the next interval: the shortest after data has moved and while a measurement is in doubt (but no less than four times what
 * a phase costs); then it grows to what is best for changes that come as seldom as they have come lately. */
void dome__schedule_next(dome_schedule *schedule, bool moved, bool doubt);

#endif
