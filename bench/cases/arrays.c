/* Operations on vectors by order and index, and the transpose of a sparse matrix, in one task:
 *
 *     arrays N [SECONDS]
 *         scan             dvec_scan
 *         cumprod          dvec_cumprod
 *         gather           dvec_gather at random indices
 *     arrays poisson|random [SECONDS]
 *         transpose        dsparse_transpose
 *
 * Times are the process's user time: that of other libraries for the same does not depend on what else runs. */
#include "case_dome.h"
#include "sparse_fill.h"

#include <ctype.h>
#include <stdlib.h>

struct vectors {
    dvec *x, *z, *index;
    dsparse *a, *t;
};

static void scan(const struct vectors *v)
{
    dvec_scan(v->z, v->x);
}

static void cumprod(const struct vectors *v)
{
    dvec_cumprod(v->z, v->x);
}

static void gather(const struct vectors *v)
{
    dvec_gather(v->z, v->x, v->index);
}

static void transpose(const struct vectors *v)
{
    dsparse_transpose(v->t, v->a);
}

/* Times of one operation, in turns that are long enough for the system's clock of user time. */
static void measure(const char *name, void (*run)(const struct vectors *v), const struct vectors *v, double budget)
{
    static const double turn_seconds = 0.3;
    case_times times = {0};
    const double start = case_now();
    run(v);
    const double once = case_now() - start;
    const int repeats = once < turn_seconds ? (int)(turn_seconds / once) + 1 : 1;
    const int turns = case_turns(once * repeats, budget);
    for (int turn = 0; turn < turns; turn++) {
        const double begin = case_user();
        for (int k = 0; k < repeats; k++)
            run(v);
        case_note(&times, name, turn, (case_user() - begin) / repeats);
    }
    case_print(&times);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    char *what = argc > 1 ? argv[1] : "2e7";
    const double budget = argc > 2 ? atof(argv[2]) : 3;
    struct vectors v = {0};
    if (isdigit((unsigned char)what[0])) {
        const size_t n = (size_t)strtod(what, NULL);
        v.x = case_random(env, "x", n, 1); /* 1 to 2 */
        v.z = dvec_new(env, "z", DOME_F64, n);
        v.index = dvec_new(env, "index", DOME_I64, n);
        dvec_span mine[2];
        dvec_local_spans(v.index, mine);
        for (size_t i = 0; i < mine[0].count; i++)
            ((int64_t *)mine[0].data)[i] = (int64_t)(sparse_random(i) * (double)n);
        measure("scan", scan, &v, budget / 3);
        measure("cumprod", cumprod, &v, budget / 3);
        measure("gather", gather, &v, budget / 3);
    } else {
        v.a = dsparse_new(env, "a", SPARSE_ROWS, SPARSE_ROWS);
        v.t = dsparse_new(env, "t", SPARSE_ROWS, SPARSE_ROWS);
        dsparse_fill_rows(v.a, sparse_fill_row, what);
        measure("transpose", transpose, &v, budget);
    }
    return dome_finalize(env);
}
