/* dome_region_fetch_add: each addition is made once, in one step, from all tasks at the same time.
 *
 *     additions [release] [formats]         formats: as on machines of two kinds */
#include "checked.h"
#include "mixed_formats.h"

#include <complex.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>

enum { TURNS = 300, LENGTH = 3000 };

static dome_consistency consistency;
static int rank, size;

static dome_region *new_region(const char *name, dome_type type, uint64_t n, size_t width)
{
    dome_region *r = dome_region_new(env, name, type, n, DOME_REGION_OPTIONS(.width = width, .consistency = consistency));
    CHECK(r != NULL);
    return r;
}

/* A counter: all tasks together get each number once, and a task gets larger ones each time. Its last value is seen by all. */
static void check_counter(void)
{
    dome_region *next = new_region(NULL, DOME_I64, 5, 1);
    const uint64_t all = (uint64_t)size * TURNS;
    int64_t *taken = g_new0(int64_t, all), before = -1, one = 1, mine;
    for (int k = 0; k < TURNS; k++) {
        CHECK(dome_region_fetch_add(next, 3, 1, &one, &mine) == DOME_OK);
        CHECK(mine > before && mine < (int64_t)all);
        taken[mine]++;
        before = mine;
    }
    const volatile int64_t *data = dome_region_data(next);
    CHECK(data[3] > before); /* its own additions a task sees at once */
    dome_barrier(env);
    CHECK(data[3] == (int64_t)all && data[2] == 0 && data[4] == 0);
    CHECK(dome_allreduce(env, DOME_I64, taken, all, DOME_SUM) == DOME_OK);
    for (uint64_t k = 0; k < all; k++)
        CHECK(taken[k] == 1);
    g_free(taken);
    dome_region_free(next);
}

/* Of each type, small numbers, whose sums are exact: many elements at once, which lie in several units; and with width 3. */
#define CHECK_TYPE(kind, ctype)                                                                                                  \
    for (size_t width = 1; width <= 3; width += 2) {                                                                             \
        dome_region *r = new_region(NULL, DOME_##kind, LENGTH, width);                                                           \
        const uint64_t n = LENGTH * width, off = 7 * width;                                                                      \
        ctype *values = g_new(ctype, n), *before = g_new(ctype, n), *data = dome_region_data(r);                                 \
        for (uint64_t k = 0; k < n; k++)                                                                                         \
            values[k] = (ctype)(1 + k % 3);                                                                                      \
        CHECK(dome_region_fetch_add(r, 7, LENGTH - 7, values, before) == DOME_OK);                                               \
        for (uint64_t k = 0; k < n - off; k++) { /* others have added as often to each part of it */                             \
            const int times = (int)before[k] / (int)(1 + k % 3);                                                                 \
            CHECK(before[k] == (ctype)(times * (int)(1 + k % 3)) && times < size);                                               \
        }                                                                                                                        \
        dome_barrier(env);                                                                                                       \
        CHECK(dome_region_fetch_add(r, 0, LENGTH, values, NULL) == DOME_OK);                                                     \
        dome_barrier(env);                                                                                                       \
        for (uint64_t k = 0; k < n; k++)                                                                                         \
            CHECK(data[k] == (ctype)(size * (int)(1 + k % 3 + (k >= off ? 1 + (k - off) % 3 : 0))));                             \
        g_free(values);                                                                                                          \
        g_free(before);                                                                                                          \
        dome_region_free(r);                                                                                                     \
    }

static void check_types(void)
{
    CHECK_TYPE(I8, int8_t)
    CHECK_TYPE(I16, int16_t)
    CHECK_TYPE(I32, int32_t)
    CHECK_TYPE(I64, int64_t)
    CHECK_TYPE(U8, uint8_t)
    CHECK_TYPE(U16, uint16_t)
    CHECK_TYPE(U32, uint32_t)
    CHECK_TYPE(U64, uint64_t)
    CHECK_TYPE(F32, float)
    CHECK_TYPE(F64, double)
}

/* Elements that begin at units: each is added to as if they lay side by side. */
static void check_pitched(void)
{
    enum { ROWS = 9, WIDTH = 700 };
    dome_region *r =
        dome_region_new(env, NULL, DOME_F64, ROWS, DOME_REGION_OPTIONS(.width = WIDTH, .pitched = 1, .consistency = consistency));
    CHECK(r != NULL);
    const double *data = dome_region_data(r);
    double *values = g_new(double, ROWS *WIDTH), *before = g_new(double, ROWS *WIDTH);
    for (int k = 0; k < ROWS * WIDTH; k++)
        values[k] = k;
    CHECK(dome_region_fetch_add(r, 2, ROWS - 2, values, before) == DOME_OK);
    for (int k = 1; k < (ROWS - 2) * WIDTH; k++)
        CHECK(before[k] / k < size && before[k] == k * (int)(before[k] / k));
    dome_barrier(env);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++) {
            const double *row = data + (size_t)i * dome_region_pitch(r);
            CHECK(row[j] == (i < 2 ? 0. : (double)size * ((i - 2) * WIDTH + j)));
        }
    g_free(values);
    g_free(before);
    dome_region_free(r);
}

/* Integers wrap around, beside neighbours that stay; fractions and infinities are what C says. */
static void check_values(void)
{
    dome_region *r = new_region(NULL, DOME_U8, 8, 1), *f = new_region(NULL, DOME_F64, 2, 1);
    const uint8_t much = 200;
    const double third = 1. / 3;
    const uint8_t *bytes = dome_region_data(r);
    const double *reals = dome_region_data(f);
    uint8_t was;
    double before;
    if (rank == 0) {
        CHECK(dome_region_fetch_add(r, 4, 1, &much, &was) == DOME_OK && was == 0);
        CHECK(dome_region_fetch_add(r, 4, 1, &much, &was) == DOME_OK && was == 200);
        CHECK(dome_region_fetch_add(f, 1, 1, &third, NULL) == DOME_OK);
        CHECK(dome_region_fetch_add(f, 1, 1, &third, &before) == DOME_OK && before == third);
    }
    dome_barrier(env);
    CHECK(bytes[4] == 144 && bytes[3] == 0 && bytes[5] == 0 && reals[1] == third + third && reals[0] == 0);
    dome_region_free(r);
    dome_region_free(f);
}

/* Additions beside stores to other elements of the same unit, from barrier to barrier and under a lock: nothing is lost. */
static void check_beside_stores(void)
{
    enum { ELEMENTS = 64, ROUNDS = 40 };
    dome_region *r = new_region(NULL, DOME_I64, ELEMENTS, 1);
    dome_lock *lock = dome_lock_new(env, NULL);
    int64_t *data = dome_region_data(r);
    const int64_t own = 2 + rank, two = 2;
    for (int k = 0; k < ROUNDS; k++) {
        data[own] = k + 1;
        CHECK(dome_region_fetch_add(r, 0, 1, &two, NULL) == DOME_OK);
        CHECK(data[own] == k + 1);
        data[own + size] = -k;
        if (k % 4 == 3) {
            dome_lock_acquire(lock);
            data[1]++;
            CHECK(dome_region_fetch_add(r, 1, 1, &two, NULL) == DOME_OK);
            data[1]++;
            dome_lock_release(lock);
        }
        dome_barrier(env);
        CHECK(data[0] == (int64_t)2 * size * (k + 1));
        for (int t = 0; t < size; t++)
            CHECK(data[2 + t] == k + 1 && data[2 + size + t] == -k);
        CHECK(data[1] == (int64_t)4 * size * ((k + 1) / 4));
        dome_barrier(env);
    }
    dome_lock_free(lock);
    dome_region_free(r);
}

static void check_refusals(void)
{
    dome_region *r = new_region("sums", DOME_I64, 10, 1), *c = new_region("pairs", DOME_C128, 10, 1);
    dome_region *none = new_region(NULL, DOME_I64, 0, 1);
    const int64_t one[2] = {1, 1};
    const double complex z = 1;
    CHECK(dome_region_fetch_add(none, 0, 0, NULL, NULL) == DOME_OK);
    CHECK(dome_region_fetch_add(r, 10, 0, NULL, NULL) == DOME_OK);
    dome_set_errors_return(env);
    CHECK(dome_region_fetch_add(r, 9, 2, one, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "'sums' has 10 elements, not 2 from 9 on");
    CHECK(dome_region_fetch_add(r, UINT64_MAX, 2, one, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "'sums'");
    CHECK(dome_region_fetch_add(c, 0, 1, &z, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "elements of 'pairs' are c128, which cannot be added to in one step");
    CHECK(dome_region_fetch_add(none, 0, 1, one, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "has 0 elements");
    dome_barrier(env);
    dome_region_free(none);
    dome_region_free(c);
    dome_region_free(r);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    consistency = argc > 1 && strcmp(argv[1], "release") == 0 ? DOME_RELEASE : DOME_SEQUENTIAL;
    if (argc > 1 && strcmp(argv[argc - 1], "formats") == 0)
        pretend_mixed_formats(env);
    rank = dome_rank(env);
    size = dome_size(env);
    check_counter();
    check_types();
    check_pitched();
    check_values();
    check_beside_stores();
    check_refusals();
    return dome_finalize(env);
}
