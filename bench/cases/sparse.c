/* Products of a sparse matrix with a vector.
 *
 *     sparse poisson|random [SECONDS]
 *         dome          dsparse_multiply
 *         hand          the loop over compressed rows (one task)
 *     sparse transposed-poisson|transposed-random|transposed-tall [SECONDS]
 *         transposed        dsparse_multiply_transposed
 *         stored        dsparse_multiply by a transpose that was made before
 *         made          dsparse_transpose and dsparse_multiply
 *     sparse pages [SECONDS]
 *         dome          a step of pagerank: rank = 0.85 A rank + 0.15 / n */
#include "case_dome.h"
#include "sparse_fill.h"

#include <stdlib.h>

struct vectors {
    dome_env *env;
    dsparse *a, *transpose, *made;
    dvec *x, *y;
    int *start, *column; /* of the loop by hand */
    double *value, *result, *given;
};

/* The first and the last value of this task. */
static double ends(const dvec *y)
{
    dvec_span span[2];
    dvec_local_spans_const(y, span);
    const double *mine = span[0].data;
    return mine[0] + mine[span[0].count - 1];
}

static double by_dome(struct vectors *v)
{
    dsparse_multiply(v->y, v->a, v->x);
    return ends(v->y);
}

static double by_hand(struct vectors *v)
{
    hand_rows(SPARSE_ROWS, v->result, v->start, v->column, v->value, v->given);
    return v->result[0] + v->result[SPARSE_ROWS - 1];
}

static double transposed(struct vectors *v)
{
    dsparse_multiply_transposed(v->y, v->a, v->x);
    return ends(v->y);
}

static double stored(struct vectors *v)
{
    dsparse_multiply(v->y, v->transpose, v->x);
    return ends(v->y);
}

static double made(struct vectors *v)
{
    dsparse_transpose(v->made, v->a);
    dsparse_multiply(v->y, v->made, v->x);
    return ends(v->y);
}

static double step(struct vectors *v)
{
    dsparse_multiply(v->y, v->transpose, v->x);
    dvec_muls(v->y, v->y, 0.85);
    dvec_adds(v->x, v->y, 0.15 / SPARSE_ROWS);
    return 1 + 0 * ends(v->x); /* it changes with every step */
}

/* The matrix and the vector for the loop by hand. */
static void take_rows(struct vectors *v, const dsparse *a)
{
    const size_t entries = (size_t)dsparse_entries(a);
    uint64_t *column = calloc(SPARSE_ROWS, sizeof *column);
    dvec_span span[2];
    size_t at = 0, count;
    v->start = calloc(SPARSE_ROWS + 1, sizeof *v->start);
    v->column = (int *)(void *)case_array(entries / 2 + 1);
    v->value = case_array(entries);
    v->result = case_array(SPARSE_ROWS);
    v->given = case_array(SPARSE_ROWS);
    for (uint64_t i = 0; i < SPARSE_ROWS; i++) {
        dsparse_get_row(a, i, SPARSE_ROWS, column, v->value + at, &count);
        for (size_t k = 0; k < count; k++)
            v->column[at++] = (int)column[k];
        v->start[i + 1] = (int)at;
    }
    dvec_local_spans_const(v->x, span);
    memcpy(v->given, span[0].data, SPARSE_ROWS * sizeof *v->given);
    free(column);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    char *kind = argc > 1 ? argv[1] : "poisson";
    const double budget = argc > 2 ? atof(argv[2]) : 3;
    static const char prefix[] = "transposed-";
    const int multiplies_transposed = strncmp(kind, prefix, strlen(prefix)) == 0, pages = strcmp(kind, "pages") == 0;
    const uint64_t columns = strcmp(kind, "transposed-tall") == 0 ? SPARSE_FEW : SPARSE_ROWS;
    struct vectors v = {.env = env, .a = dsparse_new(env, NULL, SPARSE_ROWS, columns)};
    v.x = case_random(env, NULL, SPARSE_ROWS, 1);
    v.y = dvec_new(env, NULL, DOME_F64, columns);
    dsparse_fill_rows(v.a, sparse_fill_row, kind + (multiplies_transposed ? strlen(prefix) : 0));
    if (multiplies_transposed || pages) {
        v.transpose = dsparse_new(env, NULL, columns, SPARSE_ROWS);
        v.made = dsparse_new(env, NULL, columns, SPARSE_ROWS);
        dsparse_transpose(v.transpose, v.a);
    }
    if (pages) {
        dvec_fill(v.x, 1.0 / SPARSE_ROWS);
        take_rows(&v, v.transpose);
        case_compete(env, (case_rival[]){{"dome", step, 0}, {"product", stored, 1}, {"hand", by_hand, 2}}, 3, &v, 4, 1, budget);
    } else if (multiplies_transposed) {
        case_compete(env, (case_rival[]){{"transposed", transposed, 0}, {"stored", stored, 0}, {"made", made, 0}}, 3, &v, 1, 1,
                     budget);
    } else if (dome_size(env) == 1) {
        take_rows(&v, v.a);
        case_compete(env, (case_rival[]){{"dome", by_dome, 0}, {"hand", by_hand, 0}}, 2, &v, 4, 1, budget);
    } else {
        case_compete(env, (case_rival[]){{"dome", by_dome, 0}}, 1, &v, 4, 1, budget);
    }
    free(v.start);
    free(v.column);
    free(v.value);
    free(v.result);
    free(v.given);
    return dome_finalize(env);
}
