/* Programs of parallel loops with independent iterations: a product of matrices (the program that the thesis on CAPE measures),
 * Jacobi's method, and primes. The loops are divided by CAPE's two ways (cape1.c, cape2.c), by MPI by hand (by_hand.c), and by
 * OpenMP (loops.c).
 *
 *     matrix SIZE            float, SIZE x SIZE: one loop, an iteration is a row
 *     jacobi SIZE SWEEPS     double, SIZE x SIZE: a loop for each sweep, an iteration is a row
 *     primes SIZE            below SIZE: one loop, an iteration is 1000 numbers */
#ifndef BENCH_CAPE_PROGRAMS_H
#define BENCH_CAPE_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Memory that the loops use. */
typedef struct cape_memory {
    void *at; /* at the start of a page */
    size_t bytes;
    unsigned unit; /* bytes of an element */
} cape_memory;

enum { CAPE_MEMORIES = 3 };

typedef struct cape_program {
    const char *name;
    void (*begin)(long size);                                /* the sequential part: makes the memories and fills them */
    long (*iterations)(void);                                /* of each loop */
    void (*body)(long loop, long first, long end);           /* iterations of a loop */
    cape_memory (*written)(long loop, long first, long end); /* what these write */
    long halo; /* iterations on each side of a part that the part's next loop reads */
} cape_program;

/* By the arguments of a program; the process ends if they make no sense. */
typedef struct cape_run {
    const cape_program *program;
    long size, loops;
} cape_run;
cape_run cape_arguments(int argc, char **argv);

/* What the program has, after begin; the number of these. */
int cape_memories(cape_memory memories[CAPE_MEMORIES]);

/* Of what all loops together have computed: 64 bits that differ if a bit differs. */
uint64_t cape_result(const cape_run *run);

#endif
