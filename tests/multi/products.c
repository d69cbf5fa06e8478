/* Products of matrices: of whole numbers, which no order of addition rounds, beside their definition; of others beside the same
 * product on one task, to the bit, in layouts of all kinds. */
#include "numbers.h"

#include "kernels/blas.h"
#include "system/unconst.h"

#include <math.h>
#include <stdlib.h>

/* Value number k of a matrix. Whole numbers are small. */
static double value_of(uint64_t seed, bool whole, uint64_t k)
{
    return whole ? (double)(mixed(seed + k) % 19) - 9 : number(seed + k) / 7;
}

static void set_values(dvec *x, uint64_t seed, bool whole)
{
    const bool single = dvec_type(x) == DOME_F32;
    dvec_span span[2];
    CHECK(dvec_local_spans(x, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (uint64_t j = 0; j < span[s].count * dvec_width(x); j++) {
            const double value = value_of(seed, whole, span[s].first * dvec_width(x) + j);
            if (single)
                ((float *)span[s].data)[j] = (float)value;
            else
                ((double *)span[s].data)[j] = value;
        }
}

static dvec *matrix(dome_type type, uint64_t rows, size_t columns, dome_distribution distribution, uint64_t block)
{
    return dvec_new_with(env, NULL, type, rows, DVEC_OPTIONS(.distribution = distribution, .width = columns, .block = block));
}

/* Whether this task's elements of x are those of `whole`, which has all. */
static bool same_rows(const dvec *x, const dvec *whole)
{
    const size_t size = dvec_width(x) * dome_type_size(dvec_type(x));
    const char *all = dvec_allgather(whole);
    dvec_span span[2];
    bool same = dvec_local_spans_const(x, span) == DOME_OK;
    for (int s = 0; s < 2; s++)
        same = same && (span[s].count == 0 || memcmp(span[s].data, all + span[s].first * size, span[s].count * size) == 0);
    return same;
}

/* Sets c to the product by its definition; each value is the sum of its products in order, from 0 on, rounded as the type is. */
static void define(dvec *c, uint64_t inner, bool whole)
{
    const uint64_t columns = dvec_width(c);
    const bool single = dvec_type(c) == DOME_F32;
    dvec_span span[2];
    CHECK(dvec_local_spans(c, span) == DOME_OK);
    for (uint64_t k = 0; k < span[0].count * columns; k++) {
        const uint64_t i = k / columns, j = k % columns;
        double sum = 0;
        float narrow = 0;
        for (uint64_t l = 0; l < inner; l++) {
            const double a = value_of(1, whole, i * inner + l), b = value_of(2, whole, l * columns + j);
            sum += a * b;
            narrow += (float)a * (float)b;
        }
        if (single)
            ((float *)span[0].data)[k] = narrow;
        else
            ((double *)span[0].data)[k] = sum;
    }
}

/* plain: without a BLAS. */
static void test_matmul(dome_type type, uint64_t n, size_t inner, size_t columns, dome_distribution of_b, uint64_t block,
                        bool plain)
{
    dvec *a = matrix(type, n, inner, DOME_DYNAMIC, block), *c = matrix(type, n, columns, DOME_DYNAMIC, block);
    dvec *all_a = matrix(type, n, inner, DOME_WHOLE, block), *all_c = matrix(type, n, columns, DOME_WHOLE, block);
    dvec *b = matrix(type, inner, columns, of_b, 0);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        relayout(n, block, layout);
        for (int whole = 0; whole < 2; whole++) {
            set_values(a, 1, whole);
            set_values(all_a, 1, whole);
            set_values(b, 2, whole);
            CHECK(dvec_fill(c, (double)NAN) == DOME_OK && dvec_matmul(c, a, b) == DOME_OK);
            if (whole || plain)
                define(all_c, inner, whole);
            else
                CHECK(dvec_matmul(all_c, all_a, b) == DOME_OK);
            CHECK(same_rows(c, all_c));
            CHECK(dvec_matmul(c, all_a, b) == DOME_OK && same_rows(c, all_c));
        }
    }
    dvec_free(a);
    dvec_free(b);
    dvec_free(c);
    dvec_free(all_a);
    dvec_free(all_c);
}

/* Whether a result is right: exact of whole numbers, else nearly so. */
static bool is_product(const double *result, dome_type type, uint64_t n, size_t inner, size_t columns, bool whole, bool square)
{
    for (size_t i = 0; i < inner; i++)
        for (size_t j = 0; j < columns; j++) {
            long double sum = 0, size = 0;
            for (uint64_t r = 0; r < n; r++) {
                double a = value_of(1, whole, r * inner + i), b = value_of(square ? 1 : 2, whole, r * columns + j);
                if (type == DOME_F32) {
                    a = (double)(float)a;
                    b = (double)(float)b;
                }
                sum += (long double)a * (long double)b;
                size += fabsl((long double)a * (long double)b);
            }
            if (fabsl((long double)result[i * columns + j] - sum) > (whole ? 0 : 1e-13L * size))
                return false;
        }
    return true;
}

static void test_transposed(dome_type type, uint64_t n, size_t inner, size_t columns, uint64_t block)
{
    const size_t bytes = inner * columns * sizeof(double), square = inner * inner * sizeof(double);
    dvec *a = matrix(type, n, inner, DOME_DYNAMIC, block), *b = matrix(type, n, columns, DOME_DYNAMIC, block);
    dvec *all_a = matrix(type, n, inner, DOME_WHOLE, block), *all_b = matrix(type, n, columns, DOME_WHOLE, block);
    double *result = malloc(bytes), *first = malloc(bytes), *gram = malloc(square), *first_gram = malloc(square);
    for (int whole = 0; whole < 2; whole++) {
        set_values(all_a, 1, whole);
        set_values(all_b, 2, whole);
        CHECK(dvec_transpose_matmul(all_a, all_b, first) == DOME_OK);
        CHECK(is_product(first, type, n, inner, columns, whole, false));
        CHECK(dvec_transpose_matmul(all_a, all_a, first_gram) == DOME_OK);
        CHECK(is_product(first_gram, type, n, inner, inner, whole, true));
        for (size_t i = 0; i < inner; i++)
            for (size_t j = 0; j < i; j++)
                CHECK(first_gram[i * inner + j] == first_gram[j * inner + i]);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            relayout(n, block, layout);
            set_values(a, 1, whole);
            set_values(b, 2, whole);
            CHECK(dvec_transpose_matmul(a, b, result) == DOME_OK && memcmp(result, first, bytes) == 0);
            CHECK(dvec_transpose_matmul(all_a, b, result) == DOME_OK && memcmp(result, first, bytes) == 0);
            CHECK(dvec_transpose_matmul(a, all_b, result) == DOME_OK && memcmp(result, first, bytes) == 0);
            CHECK(dvec_transpose_matmul(a, a, gram) == DOME_OK && memcmp(gram, first_gram, square) == 0);
        }
    }
    dvec_free(a);
    dvec_free(b);
    dvec_free(all_a);
    dvec_free(all_b);
    free(result);
    free(first);
    free(gram);
    free(first_gram);
}

static void test_errors(void)
{
    dvec *a = matrix(DOME_F64, 100, 3, DOME_DYNAMIC, 0), *b = matrix(DOME_F64, 3, 4, DOME_DYNAMIC, 0);
    dvec *c = matrix(DOME_F64, 100, 4, DOME_DYNAMIC, 0), *single = matrix(DOME_F32, 3, 4, DOME_WHOLE, 0);
    dvec *integers = matrix(DOME_I64, 100, 3, DOME_DYNAMIC, 0), *coarse = matrix(DOME_F64, 100, 4, DOME_DYNAMIC, 64);
    dvec *square = matrix(DOME_F64, 100, 100, DOME_DYNAMIC, 0), *other = matrix(DOME_F64, 100, 100, DOME_DYNAMIC, 0);
    double result[16];
    CHECK(dvec_matmul(c, a, c) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "is also an operand");
    CHECK(dvec_matmul(square, square, other) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "is also an operand");
    CHECK(dvec_matmul(c, a, other) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "has width 3, but ");
    CHECK(dvec_matmul(a, square, c) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "has width 3, but ");
    CHECK(dvec_matmul(c, a, single) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "has type f32, but ");
    CHECK(dvec_matmul(c, integers, b) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "has type i64, but matrices are of type f32 or f64");
    CHECK(dvec_matmul(coarse, a, b) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "blocks of");
    CHECK(dvec_transpose_matmul(a, b, result) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "");
    CHECK(dvec_transpose_matmul(integers, integers, result) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "matrices are of type f32 or f64");
    CHECK(dvec_transpose_matmul(a, coarse, result) != DOME_OK);
    FAILED(DOME_ERR_SHAPE, "blocks of");
    dvec *const all[] = {a, b, c, single, integers, coarse, square, other};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dvec_free(all[k]);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    /* Two tasks use the kernels of old processors, if this is OpenBLAS: some add by how a matrix lies in memory. */
    if (dome_size(env) == 2)
        setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    for (int k = 0; k < 2; k++) {
        const dome_type type = k ? DOME_F64 : DOME_F32;
        test_matmul(type, 0, 3, 2, DOME_WHOLE, 1, false);
        test_matmul(type, 1, 1, 1, DOME_WHOLE, 1, false);
        test_matmul(type, 700, 5, 1, DOME_DYNAMIC, dome_block_size(700), false);
        test_matmul(type, 513, 130, 17, DOME_DYNAMIC, 64, false);
        test_matmul(type, 333, 67, 1, DOME_BLOCK, 16, false);
        test_matmul(type, 333, 67, 1, DOME_WHOLE, 1, false);
        test_transposed(type, 0, 2, 3, 1);
        test_transposed(type, 700, 5, 1, dome_block_size(700));
        test_transposed(type, 513, 19, 30, 64);
    }
    test_transposed(DOME_F64, 100, 150, 130, 16); /* in two parts */
    test_errors();
    /* If the tasks have different libraries, all compute by plain loops. */
    char *name = dome__unconst(dome__blas_name());
    if (name && dome_rank(env) == 1)
        name[0] ^= 1;
    for (int k = 0; k < 2 && (!name || dome_size(env) > 1); k++) {
        test_matmul(k ? DOME_F64 : DOME_F32, 513, 130, 17, DOME_DYNAMIC, 64, true);
        test_matmul(k ? DOME_F64 : DOME_F32, 333, 67, 1, DOME_BLOCK, 16, true);
    }
    dome_print(env, "ok: %u checks on %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
