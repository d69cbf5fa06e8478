/* Histories: what the tasks of a simulated program could compute, step by step, and what moving data cost. A history does not
 * depend on what a policy does, so that all policies, and the best schedule of all, are compared by the same one. */
#ifndef DOME_BENCH_HISTORY_H
#define DOME_BENCH_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum history_kind {
    STEADY,
    ONE_STEP,
    STEPS,
    RESTLESS,
    WALK,
    PERIODIC,
    SPIKES,
    GROWTH,
    HISTORY_KINDS,
    STEEP_GROWTH = HISTORY_KINDS /* for itself: one or two tasks need many times as long in the end, and moving is dear */
} history_kind;

extern const char *const history_names[HISTORY_KINDS];

typedef struct history {
    history_kind kind;
    int tasks, steps;
    uint64_t blocks;           /* each is computed once a step, at equal cost */
    double *speeds;            /* steps x tasks: blocks per second */
    double *seconds;           /* steps x tasks: what a block really takes: the inverse of the speed, with noise */
    double latency, per_block; /* moving takes latency + per_block * blocks of the task that sends and receives most */
    double phase;              /* seconds of a phase */
} history;

/* Equal for equal kinds and seeds. */
history *history_new(history_kind kind, int tasks, int steps, uint32_t seed);
void history_free(history *history);

/* The balanced layout at each step, by the speeds without noise: steps x tasks, freed by g_free. */
uint64_t *history_layouts(const history *history);

/* Seconds that a step takes under a layout, and those of moving from one layout to another (0 if they are equal). */
double history_step(const history *history, int step, const uint64_t *layout);
double history_move(const history *history, const uint64_t *from, const uint64_t *to);

/* ---- the best schedule (best.c) ---- */

/* Seconds of the whole history if data moves to the balanced layout before each step for which moves[step] is true. It is divided
 * evenly at first. */
double history_time(const history *history, const uint64_t *layouts, const bool *moves);

/* The schedule that takes least; sets `moves` if that is not NULL. Branch and bound: a prefix of a schedule is known by its last
 * move, the cheapest prefix for each last move is kept, and one that cannot beat a schedule already known is not extended. */
double history_best(const history *history, const uint64_t *layouts, bool *moves);

/* ---- policies on histories (replay.c) ---- */

/* When data moves, by name: NULL ends the list. */
extern const char *const replay_names[];

typedef struct replay_result {
    double seconds;
    int phases, moves;
    double last_move; /* seconds since the beginning */
    double moved;     /* seconds of moving */
} replay_result;

replay_result replay(const history *history, const char *name);

#endif
