/* dvec_nearest beside its definition, in layouts of all kinds; and what it refuses. */
#include "numbers.h"

#include <math.h>

enum { MOST = 17 };

static double value_of(uint64_t seed, uint64_t k)
{
    const uint64_t draw = mixed(seed + k);
    return draw % 97 == 0 ? (double)NAN : draw % 89 == 0 ? (double)INFINITY : (double)(draw % 13) - 6; /* many are equally near */
}

static dvec *points(dome_type type, uint64_t n, size_t width, dome_distribution distribution, uint64_t block)
{
    return dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
}

static void set_values(dvec *x, uint64_t seed)
{
    dvec_span span[2];
    CHECK(dvec_local_spans(x, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (uint64_t j = 0; j < span[s].count * dvec_width(x); j++) {
            const double value = value_of(seed, span[s].first * dvec_width(x) + j);
            if (dvec_type(x) == DOME_F32)
                ((float *)span[s].data)[j] = (float)value;
            else
                ((double *)span[s].data)[j] = value;
        }
}

static int64_t defined(uint64_t i, uint64_t width, uint64_t k)
{
    double least = (double)INFINITY;
    int64_t found = 0;
    for (uint64_t j = 0; j < k; j++) {
        double distance = 0;
        for (uint64_t d = 0; d < width; d++) {
            const double difference = value_of(1, i * width + d) - value_of(2, j * width + d);
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            found = (int64_t)j;
        }
    }
    return found;
}

static void test_nearest(dome_type type, uint64_t n, size_t width, uint64_t k, dome_distribution of_rows, uint64_t block)
{
    dvec *x = points(type, n, width, DOME_DYNAMIC, block), *z = points(DOME_I64, n, 1, DOME_DYNAMIC, block);
    dvec *narrow = points(DOME_U8, n, 1, DOME_DYNAMIC, block), *rows = points(type, k, width, of_rows, 0);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        relayout(n, block, layout);
        set_values(x, 1);
        set_values(rows, 2);
        CHECK(dvec_nearest(z, x, rows) == DOME_OK && dvec_nearest(narrow, x, rows) == DOME_OK);
        dvec_span span[2], small[2];
        CHECK(dvec_local_spans_const(z, span) == DOME_OK && dvec_local_spans_const(narrow, small) == DOME_OK);
        for (int s = 0; s < 2; s++)
            for (uint64_t j = 0; j < span[s].count; j++) {
                const int64_t wanted = defined(span[s].first + j, width, k);
                CHECK(((const int64_t *)span[s].data)[j] == wanted && ((const uint8_t *)small[s].data)[j] == wanted);
            }
    }
    dvec *const all[] = {x, z, narrow, rows};
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
        dvec_free(all[j]);
}

static void test_errors(void)
{
    dvec *x = points(DOME_F64, 100, 3, DOME_DYNAMIC, 0), *z = points(DOME_I64, 100, 1, DOME_DYNAMIC, 0);
    dvec *rows = points(DOME_F64, 200, 3, DOME_WHOLE, 0), *flat = points(DOME_F64, 5, 2, DOME_WHOLE, 0);
    dvec *none = points(DOME_F64, 0, 3, DOME_WHOLE, 0), *single = points(DOME_F32, 5, 3, DOME_WHOLE, 0);
    dvec *small = points(DOME_I8, 100, 1, DOME_DYNAMIC, 0), *real = points(DOME_F64, 100, 1, DOME_DYNAMIC, 0);
    dvec *wide = points(DOME_I64, 100, 2, DOME_DYNAMIC, 0), *shorter = points(DOME_I64, 99, 1, DOME_DYNAMIC, 0);
    dvec *integers = points(DOME_I64, 100, 3, DOME_DYNAMIC, 0);
    CHECK(dvec_nearest(z, x, flat) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "has width 3, but ");
    CHECK(dvec_nearest(z, x, none) != DOME_OK);
    FAILED(DOME_ERR_RANGE, "has 0 rows");
    CHECK(dvec_nearest(small, x, rows) != DOME_OK);
    FAILED(DOME_ERR_RANGE, "has 200 rows, of which type i8");
    CHECK(dvec_nearest(z, x, single) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "has type f32, but ");
    CHECK(dvec_nearest(z, integers, rows) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "points are of type f32 or f64");
    CHECK(dvec_nearest(real, x, rows) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "must have an integer type");
    CHECK(dvec_nearest(wide, x, rows) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "width 1");
    CHECK(dvec_nearest(shorter, x, rows) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "");
    dvec *const all[] = {x, z, rows, flat, none, single, small, real, wide, shorter, integers};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dvec_free(all[k]);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    for (int k = 0; k < 2; k++) {
        const dome_type type = k ? DOME_F64 : DOME_F32;
        test_nearest(type, 0, 3, 2, DOME_WHOLE, 1);
        test_nearest(type, 1, 1, 1, DOME_WHOLE, 1);
        test_nearest(type, 700, 4, MOST, DOME_DYNAMIC, dome_block_size(700));
        test_nearest(type, 513, 7, MOST, DOME_WHOLE, 16);
        test_nearest(type, 333, 1, 2, DOME_BLOCK, 1);
    }
    test_errors();
    dome_print(env, "ok: %u checks on %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
