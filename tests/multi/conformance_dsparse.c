/* The battery for sparse matrices of several shapes and types. */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

typedef struct shape {
    uint64_t rows, columns;
    dome_type type;
} shape;

/* The number of entries of a row, and entry number k: the first rows have more, so that blocks differ. */
static uint64_t length(const shape *s, uint64_t row)
{
    uint64_t wanted = row < 8 ? 40 - row : row % 4;
    return wanted < s->columns ? wanted : s->columns;
}

static uint64_t column(const shape *s, uint64_t row, uint64_t k)
{
    uint64_t free = s->columns - length(s, row);
    return k + (free > 0 ? row % (free + 1) : 0);
}

static double value(uint64_t row, uint64_t k)
{
    return (double)row + 1 / (double)(1 << k % 8); /* a float, too */
}

static double imaginary(const shape *s, uint64_t row, uint64_t k)
{
    return s->type == DOME_C64 || s->type == DOME_C128 ? -value(row, k) : 0;
}

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const shape *s = ctx;
    for (uint64_t k = length(s, index); k-- > 0;) {
        double parts[] = {value(index, k), imaginary(s, index, k)};
        if (parts[1] != 0)
            dsparse_row_add_c128(row, column(s, index, k), parts);
        else
            dsparse_row_add(row, column(s, index, k), parts[0]);
    }
}

static dome_object *make(dome_env *env, const char *name, void *ctx)
{
    const shape *s = ctx;
    dsparse *a = dsparse_new_of(env, name, s->type, s->rows, s->columns);
    if (!dome_is_restarting(env) && dsparse_fill_rows(a, fill_row, ctx) != DOME_OK)
        dome_abort(env, "the matrix cannot be filled");
    return dsparse_object(a);
}

static bool check(dome_object *object, void *ctx)
{
    const shape *s = ctx;
    const dsparse *a = dome_object_content(object);
    dome_object_info info = {.size = sizeof info};
    dome_span spans[2];
    dome_object_describe(object, &info);
    int nspans = dome_layout_spans(info.layout, dome_rank(dsparse_env(a)), spans);
    for (int p = 0; p < nspans; p++)
        for (uint64_t i = spans[p].first; i < spans[p].first + spans[p].count; i++) {
            uint64_t columns[40];
            double values[40][2];
            size_t count;
            if (dsparse_get_row_c128(a, i, 40, columns, values, &count) != DOME_OK || count != length(s, i))
                return false;
            for (size_t k = 0; k < count; k++)
                if (columns[k] != column(s, i, k) || values[k][0] != value(i, k) || values[k][1] != imaginary(s, i, k))
                    return false;
        }
    return true;
}

/* Another matrix: each row has one entry, of a value that `value` does not give. */
static void other_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const shape *s = ctx;
    dsparse_row_add(row, index % s->columns, -1);
}

static void alter(dome_object *object, void *ctx)
{
    dsparse_fill_rows(dome_object_content(object), other_row, ctx);
}

enum { LAYOUTS = 400 };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool keep = argc > 1 && strcmp(argv[1], "keep") == 0;
    shape shapes[] = {{0, 0, DOME_F64},
                      {0, 5, DOME_C64},
                      {1, 1, DOME_F64},
                      {2, 7, DOME_F32},
                      {255, 3, DOME_C128},
                      {256, 256, DOME_F64},
                      {1000, 70, DOME_F64},
                      {1000, 70, DOME_F32},
                      {1000, 70, DOME_C64},
                      {500, 70, DOME_C128},
                      {3000, UINT64_C(1) << 32, DOME_F64}};
    size_t count = sizeof shapes / sizeof shapes[0];
    for (size_t t = 0; t < count; t++) {
        char what[64];
        snprintf(what, sizeof what, "%d x %llu matrix of %s", (int)shapes[t].rows, (unsigned long long)shapes[t].columns,
                 dome_type_name(shapes[t].type));
        conformance c = {.what = what, .make = make, .check = check, .alter = alter, .ctx = &shapes[t], .layouts = LAYOUTS};
        conformance_test(env, &c, keep, t);
    }
    if (keep)
        dome_checkpoint(env);
    dome_print(env, "ok conformance of dsparse: %zu shapes, %d tasks\n", count, dome_size(env));
    return dome_finalize(env);
}
