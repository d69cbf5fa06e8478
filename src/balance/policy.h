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

#include <stdbool.h>
#include <stdint.h>

typedef enum dome_topology { DOME_LINEAR, DOME_RING } dome_topology;

typedef struct dome_load {
    int ranks;
    uint64_t blocks;
    uint64_t start;         /* first block of rank 0 */
    const uint64_t *counts; /* blocks of each rank; they add up to blocks */
    const double *rates; /* cost per second of each rank; not positive or not finite: unknown, taken as the mean of the others */
    const double *costs; /* of each block, by block number, not negative; NULL: all 1 */
    dome_topology topology;
} dome_load;

/* A new division of the ring. counts is the caller's, `ranks` long. */
typedef struct dome_division {
    uint64_t start;
    uint64_t *counts;
} dome_division;

/* What diffusion remembers of each boundary (rank r - 1 | r) from phase to phase, in cost; `ranks` long, first all 0. In a
 * decentralised program each rank holds its own. */
typedef double dome_flow;

void dome__policy_global(const dome_load *load, dome_division *division);

/* group: ranks in a group, from 1 (ring) to load->ranks (global). flow: one for each group, updated. */
void dome__policy_groups(const dome_load *load, int group, dome_flow *flow, dome_division *division);

/* Largest time over ranks, in seconds, that a division takes for all its blocks once. */
double dome__division_time(const dome_load *load, const dome_division *division);

/* The same for the layout as it is. */
double dome__load_time(const dome_load *load);

/* The bound no division can beat: all cost over all rates. */
double dome__oracle_time(const dome_load *load);

/* Blocks that change hands: in all, and the largest number that one rank sends and receives together. */
uint64_t dome__division_moves(const dome_load *load, const dome_division *division, uint64_t *busiest);

/* Folds a measurement into an estimated rate. measured 0: the rank computed nothing in this phase; then the estimate drifts
 * towards the mean, so that a rank that lost all its blocks gets to show again what it can do. */
double dome__rate_update(double estimate, double measured, double mean);

/* ---- when ---- */

typedef struct dome_schedule {
    uint64_t interval; /* operations (or iterations) until the next phase */
    uint64_t shortest, longest;
    double move_seconds;  /* measured cost of moving one block, from the last moves; 0: not known yet */
    double phase_seconds; /* measured cost of a phase that moves nothing */
} dome_schedule;

/* Whether moving pays: the time saved in `interval` more operations of `now` seconds against `then` seconds must exceed the cost
 * of moving, and the gain must stand out of the noise of measurement. */
bool dome__schedule_pays(const dome_schedule *schedule, double now, double then, uint64_t busiest);

/* Sets the next interval: longer while nothing changes and while phases cost more than a thousandth of the time between them,
 * short after a move or when the time differs from what the last phase expected. */
void dome__schedule_next(dome_schedule *schedule, bool moved, double expected, double measured, double seconds_per_operation);

#endif
