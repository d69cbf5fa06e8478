/* Ranks of pages (Page, Brin, Motwani, Winograd: The PageRank citation ranking, 1999) on a random graph: a reader follows one of
 * the LINKS links of a page, or goes to any page. Prints the pages that are read most. The program can be restarted.
 *
 *     pagerank [PAGES [STEPS]] [--dome-tasks N]
 */
#include "random_number.h"

#include <dome/dome.h>
#include <stdlib.h>

enum { LINKS = 8, SHOWN = 5 };

static void links(void *ctx, uint64_t page, dsparse_row *row)
{
    const double pages = *(const double *)ctx;
    for (uint64_t k = 0; k < LINKS; k++) { /* pages of low numbers have more links to them */
        double random = random_number(1, page * LINKS + k);
        dsparse_row_add(row, (uint64_t)(random * random * pages), 1.0 / LINKS);
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long n = argc > 1 ? atol(argv[1]) : 100000, steps = argc > 2 ? atol(argv[2]) : 30;
    if (n < SHOWN || steps < 0)
        dome_abort(env, "usage: pagerank [PAGES [STEPS]] with at least %d pages", SHOWN);
    double pages = (double)n;
    dsparse *from = dsparse_new(env, NULL, (uint64_t)n, (uint64_t)n);
    dvec *rank = dvec_new(env, "rank", DOME_F64, (uint64_t)n), *next = dvec_new_like(rank, NULL);
    dvec *order = dvec_new(env, NULL, DOME_I64, (uint64_t)n);
    dscalar *done = dscalar_new(env, "steps", DOME_I64);
    dsparse_fill_rows(from, links, &pages);
    dsparse_transpose(from, from);
    if (!dome_is_restarting(env))
        dvec_fill(rank, 1 / pages);
    for (int64_t step = dscalar_get_i64(done); step < steps; step++) {
        dsparse_multiply(next, from, rank);
        dvec_muls(next, next, 0.85);
        dvec_adds(rank, next, 0.15 / pages);
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
    }
    dvec_neg(next, rank);
    dvec_argsort(order, next);
    for (uint64_t k = 0; k < SHOWN; k++) {
        int64_t page;
        double value;
        dvec_get(order, k, &page);
        dvec_get(rank, (uint64_t)page, &value);
        dome_print(env, "page %d: %.9f\n", (int)page, value);
    }
    return dome_finalize(env);
}
