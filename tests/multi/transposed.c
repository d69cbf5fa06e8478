/* Transposed products of matrices of many shapes: each way gives the bits of a transpose that the program makes; the library
 * takes one that sends no more than the better of the two ways that a program has; what it keeps is dropped when the matrix
 * changes or moves; and where memory is short it does without. */
#include "checked.h"
#include "core/environment.h"
#include "sparse/dsparse_transposed_product.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdio.h>
#include <sys/resource.h>

/* A random number below `most`, a function of its arguments. */
static uint64_t mix(uint64_t a, uint64_t b, uint64_t most)
{
    uint64_t z = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 7) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 30) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % most;
}

/* ---- matrices ---- */

typedef struct shape {
    const char *what;
    uint64_t rows, columns;
    uint64_t links;   /* entries of a row, in random columns */
    uint64_t band;    /* or within so many columns of the diagonal */
    uint64_t every;   /* rows without entries: all but one of so many */
    bool skewed;      /* most in columns of low numbers */
    dsparse_way best; /* with 2 or 3 tasks; DSPARSE_BY_ANY: any */
} shape;

static const shape shapes[] = {
    {"tall", 20000, 50, 10, 0, 1, false, DSPARSE_BY_SUMS},
    {"tall and thin", 20000, 1, 1, 0, 1, false, DSPARSE_BY_ANY},
    {"wide", 300, 20000, 400, 0, 1, false, DSPARSE_BY_TRANSPOSE},
    {"square, random columns", 8000, 8000, 12, 0, 1, false, DSPARSE_BY_TRANSPOSE},
    {"square, some columns of many entries", 8000, 8000, 12, 0, 1, true, DSPARSE_BY_ANY},
    {"banded", 20000, 20000, 5, 3, 1, false, DSPARSE_BY_ENTRIES},
    {"tall, with empty rows", 20000, 64, 10, 0, 7, false, DSPARSE_BY_ANY},
    {"without entries", 300, 40, 0, 0, 1, false, DSPARSE_BY_ANY},
    {"of one row", 1, 900, 500, 0, 1, false, DSPARSE_BY_ANY},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t column_of(const shape *s, uint64_t row, uint64_t k)
{
    if (s->band > 0) {
        const uint64_t at = row * s->columns / s->rows + mix(row, k, 2 * s->band + 1);
        return at < s->band ? 0 : at - s->band < s->columns ? at - s->band : s->columns - 1;
    }
    const uint64_t c = mix(row, k, s->columns);
    return s->skewed ? c * c / s->columns : c;
}

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const shape *s = ctx;
    for (uint64_t k = 0; k < s->links && index % s->every == 0; k++)
        dsparse_row_add(row, column_of(s, index, k), ((double)mix(index, k + 100, 2000001) - 1000000) / 3);
}

static dsparse *matrix_of(const shape *s, dome_type type)
{
    dsparse *a = dsparse_new_of(env, NULL, type, s->rows, s->columns);
    CHECK(a && dsparse_fill_rows(a, fill_row, (void *)(uintptr_t)s) == DOME_OK);
    return a;
}

static dvec *operand(dome_type type, uint64_t n, size_t width)
{
    dvec *x = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.width = width));
    CHECK(x && dvec_random(x, 3) == DOME_OK);
    return x;
}

/* ---- what is compared ---- */

/* What a call sends, in all tasks. */
static uint64_t bytes_of(dome_status (*call)(dvec *y, dsparse *a, const dvec *x), dvec *y, dsparse *a, const dvec *x)
{
    uint64_t bytes = env->transport->account.bytes;
    CHECK(call(y, a, x) == DOME_OK);
    bytes = env->transport->account.bytes - bytes;
    CHECK(dome__allreduce(env->transport, DOME_U64, &bytes, 1, dome__combine_sum_i64, NULL) == DOME_OK);
    return bytes;
}

static void same_bits(const dvec *y, const dvec *expected)
{
    dvec_span have[2], want[2];
    CHECK(dvec_local_spans_const(y, have) == DOME_OK && dvec_local_spans_const(expected, want) == DOME_OK);
    for (int s = 0; s < 2; s++) {
        const size_t bytes = want[s].count * dome_type_size(dvec_type(y)) * dvec_width(y);
        CHECK(have[s].count == want[s].count && memcmp(have[s].data, want[s].data, bytes) == 0);
    }
}

/* By each way, and by a transpose that the program has made. Returns what a product by entries sends. */
static uint64_t test_ways(dsparse *a, dsparse *t, dvec *y, dvec *expected, const dvec *x, uint64_t *by_hand)
{
    uint64_t entries = 0;
    CHECK(dsparse_multiply(expected, t, x) == DOME_OK);
    *by_hand = bytes_of(dsparse_multiply, expected, t, x);
    for (int way = DSPARSE_BY_ENTRIES; way < DSPARSE_WAYS; way++) {
        a->wanted = way;
        dsparse__forget(a);
        for (int k = 0; k < 3; k++) {
            CHECK(dvec_fill(y, 7) == DOME_OK);
            const uint64_t bytes = bytes_of(dsparse_multiply_transposed, y, a, x);
            entries = way == DSPARSE_BY_ENTRIES ? bytes : entries;
            same_bits(y, expected);
        }
        CHECK(dome_size(env) == 1 || (int)dsparse__way(a) == way);
    }
    a->wanted = DSPARSE_BY_ANY;
    dsparse__forget(a);
    return entries;
}

/* The way that the library takes; `small`: messages of some bytes. */
static void test_choice(const shape *s, dsparse *a, dvec *y, dvec *expected, const dvec *x, uint64_t entries, uint64_t by_hand)
{
    enum { SMALL = 4096 };
    a->expected = 0;
    CHECK(dsparse_multiply_transposed(y, a, x) == DOME_OK);
    const uint64_t bytes = bytes_of(dsparse_multiply_transposed, y, a, x), better = entries < by_hand ? entries : by_hand;
    same_bits(y, expected);
    const bool few = dome_size(env) == 2 || dome_size(env) == 3; /* of many tasks the latencies count more */
    CHECK(!few || s->best == DSPARSE_BY_ANY || dsparse__way(a) == s->best);
    if (bytes > better + better / 20 + SMALL)
        dome_abort(env, "%s: a product sends %d bytes, by entries %d, by a transpose %d", s->what, (int)bytes, (int)entries,
                   (int)by_hand);
    if (few && s->best == DSPARSE_BY_SUMS)
        CHECK(bytes < better / 4);
}

static void test_shape(const shape *s, dome_type type, size_t width, dome_distribution distribution, uint64_t block)
{
    uint64_t by_hand;
    dsparse *a = matrix_of(s, type), *t = dsparse_new_of(env, NULL, type, s->columns, s->rows);
    dvec *x = operand(type, s->rows, width), *expected = dvec_new_with(env, NULL, type, s->columns, DVEC_OPTIONS(.width = width));
    dvec *y =
        dvec_new_with(env, NULL, type, s->columns, DVEC_OPTIONS(.width = width, .distribution = distribution, .block = block));
    dvec *whole = dvec_new_with(env, NULL, type, s->columns, DVEC_OPTIONS(.width = width, .distribution = DOME_WHOLE));
    CHECK(dsparse_transpose(t, a) == DOME_OK);
    const bool plain = distribution == DOME_DYNAMIC && block == 0;
    for (int layout = 0; layout < (plain ? LAYOUTS : 1); layout++) {
        relayout(s->rows, dome_block_size(s->rows), layout);
        if (s->rows != s->columns)
            relayout(s->columns, dome_block_size(s->columns), (layout + 1) % LAYOUTS);
        if (plain) {
            const uint64_t entries = test_ways(a, t, y, expected, x, &by_hand);
            if (layout == 0 && width == 1)
                test_choice(s, a, y, expected, x, entries, by_hand);
        } else {
            CHECK(dsparse_multiply(expected, t, x) == DOME_OK);
            CHECK(dsparse_multiply_transposed(y, a, x) == DOME_OK);
            dvec *moved = dvec_new_like(y, NULL);
            CHECK(dvec_copy(moved, expected) == DOME_OK);
            same_bits(y, moved);
            dvec_free(moved);
        }
    }
    CHECK(dsparse_multiply_transposed(whole, a, x) == DOME_OK && dsparse_multiply_transposed(whole, a, x) == DOME_OK);
    dvec *all = dvec_new_like(whole, NULL);
    CHECK(dvec_copy(all, expected) == DOME_OK);
    same_bits(whole, all);
    dvec_free(all);
    dvec_free(whole);
    dvec_free(expected);
    dvec_free(y);
    dvec_free(x);
    dsparse_free(t);
    dsparse_free(a);
}

/* ---- what is kept ---- */

static void test_kept(void)
{
    static const shape s = {"square", 3000, 3000, 12, 0, 1, false, DSPARSE_BY_TRANSPOSE};
    dsparse *a = matrix_of(&s, DOME_F64), *t = dsparse_new(env, NULL, s.columns, s.rows);
    dvec *x = operand(DOME_F64, s.rows, 1), *y = dvec_new_like(x, NULL), *expected = dvec_new_like(x, NULL);
    for (int change = 0; change < 6; change++) {
        CHECK(dsparse_transpose(t, a) == DOME_OK && dsparse_multiply(expected, t, x) == DOME_OK);
        const uint64_t first = bytes_of(dsparse_multiply_transposed, y, a, x);
        const uint64_t kept = bytes_of(dsparse_multiply_transposed, y, a, x);
        for (int k = 0; k < 3; k++)
            CHECK(bytes_of(dsparse_multiply_transposed, y, a, x) == kept);
        CHECK(dome_size(env) == 1 || first > kept);
        same_bits(y, expected);
        if (change == 0)
            CHECK(dsparse_scale(a, 3) == DOME_OK);
        else if (change == 1)
            CHECK(dsparse_scale_rows(a, x) == DOME_OK);
        else if (change == 2)
            CHECK(dsparse_fill_rows(a, fill_row, &(shape){"other", 3000, 3000, 5, 0, 2, false, DSPARSE_BY_ANY}) == DOME_OK);
        else
            relayout(s.rows, dome_block_size(s.rows), change - 2);
        CHECK(dsparse__way(a) == DSPARSE_BY_ANY || dome_size(env) == 1);
    }
    dvec_free(expected);
    dvec_free(y);
    dvec_free(x);
    dsparse_free(t);
    dsparse_free(a);
}

/* A matrix that changes before each product is never transposed for one product. */
static void test_changing(void)
{
    static const shape s = {"square", 3000, 3000, 12, 0, 1, false, DSPARSE_BY_TRANSPOSE};
    dsparse *a = matrix_of(&s, DOME_F64);
    dvec *x = operand(DOME_F64, s.rows, 1), *y = dvec_new_like(x, NULL);
    for (int k = 0; k < 4; k++) {
        CHECK(dsparse_multiply_transposed(y, a, x) == DOME_OK);
        CHECK(dome_size(env) == 1 || k == 0 || dsparse__way(a) != DSPARSE_BY_TRANSPOSE);
        CHECK(dsparse_fill_rows(a, fill_row, (void *)(uintptr_t)&s) == DOME_OK);
    }
    dvec_free(y);
    dvec_free(x);
    dsparse_free(a);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Bytes of address space; 0: not known. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (uint64_t)pages * 4096;
}

/* Only one task lacks memory for the copy. */
static void test_short_memory(void)
{
    static const shape s = {"banded", 300000, 300000, 30, 40, 1, false, DSPARSE_BY_ENTRIES};
    dsparse *a = matrix_of(&s, DOME_F64);
    dvec *x = operand(DOME_F64, s.rows, 1), *y = dvec_new_like(x, NULL), *expected = dvec_new_like(x, NULL);
    struct rlimit before, little;
    a->wanted = DSPARSE_BY_ENTRIES;
    CHECK(dsparse_multiply_transposed(expected, a, x) == DOME_OK);
    for (int way = DSPARSE_BY_SUMS; way < DSPARSE_WAYS && dome_size(env) > 1; way++) {
        dsparse__forget(a);
        a->wanted = way;
        CHECK(getrlimit(RLIMIT_AS, &before) == 0);
        little = before;
        dome__storage_trim();
        little.rlim_cur = address_space() + (4 << 20);
        if (dome_rank(env) == 1 && address_space() > 0)
            CHECK(setrlimit(RLIMIT_AS, &little) == 0);
        const dome_status status = dsparse_multiply_transposed(y, a, x);
        CHECK(setrlimit(RLIMIT_AS, &before) == 0);
        CHECK(status == DOME_OK);
        CHECK(dsparse__way(a) == DSPARSE_BY_ENTRIES || address_space() == 0);
        same_bits(y, expected);
    }
    dvec_free(expected);
    dvec_free(y);
    dvec_free(x);
    dsparse_free(a);
}
#else
static void test_short_memory(void)
{
}
#endif

int main(int argc, char **argv)
{
    init_unbalanced(argc, argv); /* bytes are counted */
    dome_set_errors_return(env);
    for (int k = 0; k < SHAPES; k++) {
        test_shape(&shapes[k], DOME_F64, 1, DOME_DYNAMIC, 0);
        test_shape(&shapes[k], k % 2 ? DOME_C128 : DOME_F32, 1 + (size_t)k % 3, k % 3 ? DOME_BLOCK : DOME_DYNAMIC, k % 2 ? 0 : 4);
    }
    test_shape(&shapes[0], DOME_C128, 3, DOME_DYNAMIC, 0);
    test_kept();
    test_changing();
    test_short_memory();
    dome_print(env, "transposed: %u checks\n", checks);
    return dome_finalize(env);
}
