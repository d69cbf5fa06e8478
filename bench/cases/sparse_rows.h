/* The matrices of the sparse cases, row by row, the same in every program. */
#ifndef DOME_BENCH_SPARSE_ROWS_H
#define DOME_BENCH_SPARSE_ROWS_H

#include <stdint.h>
#include <string.h>

enum { SPARSE_SIDE = 1000, SPARSE_ROWS = SPARSE_SIDE * SPARSE_SIDE, SPARSE_LINKS = 10, SPARSE_FEW = 1000 };

/* A random number in [0, 1): splitmix64. */
static inline double sparse_random(uint64_t position)
{
    uint64_t z = (position + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Sets the entries of a row, at most SPARSE_LINKS, columns in any order and perhaps more than once, and returns how many there
 * are.
 *
 *     poisson    the 5-point matrix of a grid of 1000 x 1000 points
 *     random     10 entries in random columns
 *     tall       10 entries in random ones of 1000 columns
 *     pages      10 links from a page, more of them to pages of low numbers, each with the weight 1/10 */
static inline int sparse_row(const char *kind, uint64_t row, int64_t column[], double value[])
{
    int count = 0;
    if (strcmp(kind, "poisson") == 0) {
        const int64_t m = SPARSE_SIDE, i = (int64_t)row / m, j = (int64_t)row % m;
        const int64_t to[] = {(int64_t)row - m, (int64_t)row - 1, (int64_t)row, (int64_t)row + 1, (int64_t)row + m};
        const int there[] = {i > 0, j > 0, 1, j + 1 < m, i + 1 < m};
        for (int k = 0; k < 5; k++)
            if (there[k]) {
                column[count] = to[k];
                value[count++] = k == 2 ? 4 : -1;
            }
        return count;
    }
    for (; count < SPARSE_LINKS; count++) {
        const double random = sparse_random(row * SPARSE_LINKS + (uint64_t)count);
        const int pages = strcmp(kind, "pages") == 0;
        column[count] = (int64_t)((pages ? random * random : random) * (strcmp(kind, "tall") == 0 ? SPARSE_FEW : SPARSE_ROWS));
        value[count] = pages ? 1.0 / SPARSE_LINKS : random - 0.5;
    }
    return count;
}

#endif
