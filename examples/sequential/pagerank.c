/* Ranks of pages: the sequential twin of ../pagerank.c. */
#include "../random_number.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINKS = 8, SHOWN = 5 };
static double *ranks;

static int by_rank(const void *a, const void *b)
{
    const double x = ranks[*(const long *)a], y = ranks[*(const long *)b];
    const int order = (x < y) - (x > y);
    return order ? order : (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100000, steps = argc > 2 ? atol(argv[2]) : 30;
    if (n < SHOWN || steps < 0) {
        fprintf(stderr, "usage: pagerank [PAGES [STEPS]] with at least %d pages\n", SHOWN);
        return 1;
    }
    double *next = malloc((size_t)n * sizeof *next);
    long *link = malloc((size_t)n * LINKS * sizeof *link), *order = malloc((size_t)n * sizeof *order);
    ranks = malloc((size_t)n * sizeof *ranks);
    if (!next || !link || !order || !ranks) {
        fprintf(stderr, "pagerank: out of memory\n");
        return 1;
    }
    for (long k = 0; k < n * LINKS; k++) { /* pages of low numbers have more links to them */
        double random = random_number(1, (uint64_t)k);
        link[k] = (long)(random * random * (double)n);
    }
    for (long i = 0; i < n; i++)
        ranks[i] = 1 / (double)n;
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < n; i++)
            next[i] = 0;
        for (long k = 0; k < n * LINKS; k++)
            next[link[k]] += ranks[k / LINKS] / LINKS;
        for (long i = 0; i < n; i++)
            ranks[i] = 0.85 * next[i] + 0.15 / (double)n;
    }
    for (long i = 0; i < n; i++)
        order[i] = i;
    qsort(order, (size_t)n, sizeof *order, by_rank);
    for (long k = 0; k < SHOWN; k++)
        printf("page %ld: %.9f\n", order[k], ranks[order[k]]);
    free(next);
    free(link);
    free(order);
    free(ranks);
    return 0;
}
