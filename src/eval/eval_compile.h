/* Generated code for chains of operations that recur.
 *
 * A pass over floating-point values of one type is written as a C function, compiled by the machine's C compiler in a thread
 * beside the program, and loaded. Until then, and on machines without a compiler, kernels run the pass. The code is kept in a
 * folder between runs: $DOME_CACHE_DIR, or dome in $XDG_CACHE_HOME or ~/.cache. The bits are those of the kernels: the same
 * operations in the same order, contraction off; the first blocks that a function computes are compared with the kernels'. */
#ifndef DOME_SRC_EVAL_COMPILE_H
#define DOME_SRC_EVAL_COMPILE_H

#include "kernels/kernels.h"
#include "kernels/kernels_reduce.h"

#include <stdio.h>

enum { CHAIN_STEPS_MAX = 64, CHAIN_INPUTS = 3, CHAIN_MEMORY_MAX = 48 };

/* The source of a step's input: none, memory number n, or the result of step n. */
#define CHAIN_NONE      0
#define CHAIN_MEMORY(n) ((uint8_t)(1 + (n)))
#define CHAIN_RESULT(n) ((uint8_t)(128 + (n)))

typedef struct chain_step {
    uint8_t number, in[CHAIN_INPUTS]; /* number: of the operation (kernels/elementwise.h) */
    uint8_t out;                      /* memory, or CHAIN_NONE */
} chain_step;

/* The key by which passes share code. Different memory numbers stand for different memory. */
typedef struct chain_program {
    uint8_t kind;                      /* DOME_KIND_F32 or F64 */
    uint8_t steps, terms;              /* terms: a dome_terms, or DOME_TERMS if there is no sum */
    uint8_t x, y;                      /* operands of the sum, in the form of a step's inputs */
    uint8_t bytes_read, bytes_written; /* of memory, per value */
    chain_step step[CHAIN_STEPS_MAX];
} chain_program;

/* Computes count values; the sum of each `block` of them goes to sum[0], sum[1], ... Scalars by step. */
typedef void (*chain_code)(void *const *memory, const double *scalar, uint64_t count, uint64_t block, double *sum);

typedef struct dome_chain dome_chain;
typedef struct dome_chains dome_chains;

/* now: each chain's code is generated the first time the chain runs, which waits for it. */
dome_chains *dome__chains_new(bool now);
void dome__chains_free(dome_chains *chains);

/* Whether `now`. */
bool dome__chains_now(const dome_chains *chains);

/* Notes that a program is about to run for so many values. Requests its code if the chain recurs often enough. */
dome_chain *dome__chains_note(dome_chains *chains, const chain_program *program, uint64_t values);

/* The code, or NULL if there is none yet. *check: the code has not been compared with the kernels; the caller reports the result
 * of the comparison by dome__chain_checked. */
chain_code dome__chain_code(dome_chain *chain, bool *check);
void dome__chain_checked(dome_chain *chain, bool equal);

/* Prints a line for each of the chains that moved the most data. */
void dome__chains_print(const dome_chains *chains, FILE *file);

#endif
