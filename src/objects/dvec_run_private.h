/* The state of a dvec_run: dvec_run.c visits runs of elements in memory, dvec_run_pieces.c pieces of them. */
#ifndef DOME_SRC_DVEC_RUN_PRIVATE_H
#define DOME_SRC_DVEC_RUN_PRIVATE_H

#include "kernels/kernels_reduce.h"
#include "objects/dvec_private.h"

#include <dome/loop.h>

typedef struct run_pieces run_pieces;

/* The state of a dvec_run between calls; stored in its state_. */
typedef struct run_state {
    dome_operation op;
    const dvec *lead; /* its runs are visited: the output, or without one an input */
    dvec *out;        /* of dvec_run_begin */
    const dvec *in[DVEC_MAP_MAX];
    int nin, spans, span;
    uint64_t most;  /* elements in a run */
    uint64_t bytes; /* of an element of all vectors together */
    uint64_t place; /* elements of earlier spans */
    uint64_t done;  /* elements of this span visited, including the current run; by pieces: positions (run_pieces) */
    dvec_span at[2];
    dome_exact_sum sum;
    int status;
    bool open;  /* the operation has begun and not ended */
    bool waits; /* for the program's call that computes the sums, which is part of the operation */
    uint32_t written,
        overwritten;    /* dvec_run_over: bits of the operands in `in` that the loop writes, and that it does not read */
    size_t sums;        /* dvec_run_over: number of sums */
    run_pieces *pieces; /* NULL: runs need not be divided */
} run_state;

_Static_assert(sizeof(run_state) <= sizeof((dvec_run){0}.state_), "there is room for the state");

static inline run_state *dvec__run_state(dvec_run *run)
{
    return (run_state *)(void *)run->state_;
}

/* Prepares runs in pieces, for operands that are repeated, for sums of terms and for loops by rows; fails if memory is out. */
int dvec__pieces_new(run_state *s, unsigned flags);
void dvec__pieces_free(run_state *s);

/* Finds the next piece, after having added up the terms of the current one. False after the last. */
bool dvec__pieces_next(dvec_run *run);

/* This task's sums, one after the other. */
dome_exact_sum *dvec__pieces_sums(run_state *s);

#endif
