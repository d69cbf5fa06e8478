/* Generated code for chains of operations that come back.
 *
 * A pass over floating-point values of one type is written down as a C function, compiled by the machine's C compiler in a thread
 * beside the program, and loaded. Until then, and where there is no compiler, the pass is run by the kernels. The code is kept in
 * a folder between runs: $DOME_CACHE_DIR, or dome in $XDG_CACHE_HOME or ~/.cache. The bits are those of the kernels: the same
 * operations in the same order, contraction off; the first blocks that a function computes are compared with the kernels'. */
#ifndef DOME_SRC_EVAL_COMPILE_H
#define DOME_SRC_EVAL_COMPILE_H

#include "kernels/kernels.h"
#include "kernels/kernels_reduce.h"

#include <stdio.h>

enum { CHAIN_STEPS_MAX = 64, CHAIN_INPUTS = 3, CHAIN_MEMORY_MAX = 48 };

/* Where a step finds an input: nowhere, memory number n, or the result of step n. */
#define CHAIN_NONE      0
#define CHAIN_MEMORY(n) ((uint8_t)(1 + (n)))
#define CHAIN_RESULT(n) ((uint8_t)(128 + (n)))

typedef struct chain_step {
    uint8_t code, in[CHAIN_INPUTS];
    uint8_t out; /* memory, or CHAIN_NONE */
} chain_step;

/* What has to be equal for two passes to share their code. Memories are different ones. */
typedef struct chain_program {
    uint8_t kind;                      /* DOME_KIND_F32 or F64 */
    uint8_t steps, terms;              /* terms: a dome_terms, or DOME_TERMS if there is no sum */
    uint8_t x, y;                      /* of the sum: as inputs of a step */
    uint8_t bytes_read, bytes_written; /* of memory, for each value */
    chain_step step[CHAIN_STEPS_MAX];
} chain_program;

/* Computes count values; the sum of each `block` of them goes to sum[0], sum[1], ... Scalars by step. */
typedef void (*chain_code)(void *const *memory, const double *scalar, uint64_t count, uint64_t block, double *sum);

typedef struct dome_chain dome_chain;
typedef struct dome_chains dome_chains;

/* now: every chain gets its code the first time it comes, and is waited for. */
dome_chains *dome__chains_new(bool now);
void dome__chains_free(dome_chains *chains);

/* Whether `now`. */
bool dome__chains_now(const dome_chains *chains);

/* Notes that a program is about to run for so many values. Asks for its code if it comes often enough. */
dome_chain *dome__chains_note(dome_chains *chains, const chain_program *program, uint64_t values);

/* The code, or NULL if there is none yet. *check: it has not been compared with the kernels'; dome__chain_checked says how that
 * came out. */
chain_code dome__chain_code(dome_chain *chain, bool *check);
void dome__chain_checked(dome_chain *chain, bool equal);

/* A line for each of the chains that have moved the most. */
void dome__chains_print(const dome_chains *chains, FILE *file);

#endif
