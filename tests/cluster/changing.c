/* A program whose state has objects of many kinds, for changes of the number of tasks on machines of different kinds.
 *
 *     changing STEPS SLEEP-MS MARKS
 *
 * It sleeps in each step while there is a file MARKS/slow, and writes the step into MARKS/step.0. Prints a line for every tenth
 * step, and at the end what all of its state is: numbers that do not depend on a machine's byte order. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <dome/sparse.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 6000, ROWS = 900, WHOLE = 40 };

typedef struct walker {
    int8_t kind;
    double at[3];
    int64_t steps;
    uint16_t tag;
    float weight;
} walker;

static dome_type walker_type(dome_env *env)
{
    const dome_field fields[] = {
        {"kind", DOME_I8, offsetof(walker, kind), 1},      {"at", DOME_F64, offsetof(walker, at), 3},
        {"steps", DOME_I64, offsetof(walker, steps), 1},   {"tag", DOME_U16, offsetof(walker, tag), 1},
        {"weight", DOME_F32, offsetof(walker, weight), 1},
    };
    return dome_type_struct(env, "walker", sizeof(walker), fields, sizeof fields / sizeof *fields, sizeof(dome_field));
}

static void make_walkers(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    walker *w = out;
    (void)ctx, (void)in;
    memset(w, 0, count * sizeof *w);
    for (size_t i = 0; i < count; i++)
        w[i] = (walker){(int8_t)(first + i),
                        {(double)(first + i) / 3, 0, -1},
                        INT64_MIN + (int64_t)(first + i),
                        (uint16_t)((first + i) * 7),
                        (float)(first + i) / 7};
}

static void walk(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const walker *from = in[0];
    walker *w = out;
    (void)first;
    memmove(w, from, count * sizeof *w);
    for (size_t i = 0; i < count; i++) {
        w[i].at[1] += w[i].at[0] / (double)(1 + *(int64_t *)ctx);
        w[i].at[2] *= -1.0625;
        w[i].steps ^= (int64_t)1 << (w[i].tag % 60);
        w[i].tag = (uint16_t)(w[i].tag * 5 + 3);
        w[i].weight = -w[i].weight * 0.75f;
    }
}

/* Three entries in a row, of which one lies far away. */
static void fill_row(void *ctx, uint64_t row, dsparse_row *to)
{
    (void)ctx;
    dsparse_row_add(to, row, 2 + 1.0 / (double)(row + 1));
    dsparse_row_add(to, (row + 1) % ROWS, -0.25);
    dsparse_row_add(to, (row * 37 + 11) % ROWS, 0.125);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t hash_walkers(const walker *w)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < N; i++) {
        hash = mix(hash, (uint64_t)w[i].kind);
        for (int k = 0; k < 3; k++)
            hash = mix(hash, bits(w[i].at[k]));
        hash = mix(mix(mix(hash, (uint64_t)w[i].steps), w[i].tag), bits((double)w[i].weight));
    }
    return hash;
}

#define HASH(hash, values, count)                                                                                                \
    for (size_t i = 0; i < (count); i++)                                                                                         \
    (hash) = mix((hash), bits((double)(values)[i]))

static void show(dome_env *env, const char *name, uint64_t hash)
{
    dome_print(env, "%s: %016" PRIx64 "\n", name, hash);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 10;
    const long sleep_ms = argc > 2 ? atol(argv[2]) : 0;
    const char *marks = argc > 3 ? argv[3] : NULL;
    char slow[4096];
    snprintf(slow, sizeof slow, "%s/slow", marks ? marks : "");
    dvec *x = dvec_new(env, "x", DOME_F64, N), *half = dvec_new(env, NULL, DOME_F64, N);
    dvec *narrow = dvec_new_with(env, "narrow", DOME_F32, N, DVEC_OPTIONS(.distribution = DOME_BLOCK, .width = 3));
    dvec *whole = dvec_new_with(env, "whole", DOME_I32, WHOLE, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec *big = dvec_new(env, "big", DOME_I64, N), *bytes = dvec_new(env, "bytes", DOME_U8, N);
    dvec *shorts = dvec_new(env, "shorts", DOME_I16, N), *complex = dvec_new(env, "complex", DOME_C128, 500);
    dvec *walkers = dvec_new(env, "walkers", walker_type(env), N);
    dsparse *matrix = dsparse_new(env, "matrix", ROWS, ROWS);
    dvec *in = dvec_new(env, "in", DOME_F64, ROWS), *out = dvec_new(env, NULL, DOME_F64, ROWS);
    dscalar *step = dscalar_new(env, "step", DOME_I64), *total = dscalar_new(env, "total", DOME_F64);
    if (!dome_is_restarting(env)) {
        dome_print(env, "begins\n");
        dvec_random(x, 7);
        dvec_iota(big);
        dvec_muls(big, big, 4398046511104.0);
        dvec_fill(narrow, 0.5);
        dvec_fill(whole, 1);
        dvec_iota(shorts);
        dvec_fill_c128(complex, (const double[]){1, 0.5});
        dvec_map(walkers, make_walkers, NULL, 0, NULL);
        dsparse_fill_rows(matrix, fill_row, NULL);
        dvec_random(in, 8);
    }
    int64_t k;
    while ((k = dscalar_get_i64(step)) < steps) {
        dvec_muls(half, x, 0.5);
        dvec_adds(x, half, (double)(k + 1) / 3);
        dvec_axpy(narrow, 1e-3 * (double)(k % 7), narrow);
        dvec_adds(whole, whole, (double)(k % 5));
        dvec_adds(big, big, (double)k);
        dvec_adds(bytes, bytes, 3);
        dvec_adds(shorts, shorts, -1);
        dvec_muls_c128(complex, complex, (const double[]){0.6, 0.8});
        dvec_map(walkers, walk, &k, 1, (dvec *[]){walkers});
        dsparse_multiply(out, matrix, in);
        dvec_muls(in, out, 0.375);
        dscalar_set_f64(total, dscalar_get_f64(total) + dvec_sum(in));
        if (k % 10 == 0)
            dome_print(env, "step %" PRId64 ": %a %a\n", k, dvec_sum(x), dscalar_get_f64(total));
        if (marks && access(slow, F_OK) == 0)
            nanosleep(&(struct timespec){.tv_sec = sleep_ms / 1000, .tv_nsec = sleep_ms % 1000 * 1000000}, NULL);
        dscalar_set_i64(step, k + 1);
        if (marks && dome_rank(env) == 0)
            mark(marks, "step", 0, (long)k + 1);
        dome_checkpoint(env);
    }
    uint64_t of_x = 0, of_narrow = 0, of_whole = 0, of_big = 0, of_bytes = 0, of_shorts = 0, of_complex = 0, of_in = 0;
    HASH(of_x, (const double *)dvec_allgather(x), N);
    HASH(of_narrow, (const float *)dvec_allgather(narrow), 3 * N);
    HASH(of_whole, (const int32_t *)dvec_allgather(whole), WHOLE);
    HASH(of_big, (const int64_t *)dvec_allgather(big), N);
    HASH(of_bytes, (const uint8_t *)dvec_allgather(bytes), N);
    HASH(of_shorts, (const int16_t *)dvec_allgather(shorts), N);
    HASH(of_complex, (const double *)dvec_allgather(complex), 2 * 500);
    HASH(of_in, (const double *)dvec_allgather(in), ROWS);
    show(env, "f64", of_x);
    show(env, "f32", of_narrow);
    show(env, "whole i32", of_whole);
    show(env, "i64", of_big);
    show(env, "u8", of_bytes);
    show(env, "i16", of_shorts);
    show(env, "c128", of_complex);
    show(env, "structs", hash_walkers(dvec_allgather(walkers)));
    show(env, "matrix times vector", of_in);
    dome_print(env, "after %" PRId64 " steps: %a\n", k, dscalar_get_f64(total));
    return dome_finalize(env);
}
