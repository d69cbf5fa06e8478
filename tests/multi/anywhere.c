/* Blocks that other tasks compute (dvec_map_anywhere): the results are those of dvec_map, to the bit, for every type of operands
 * and distribution, whoever computes them. */
#include <dome/dome.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static dome_env *env;

#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            dome_abort(env, "line %d: %s does not hold (%s)", __LINE__, #condition, dome_error_message(env));                    \
    } while (0)

/* In the context: the same on all tasks. What was called here is counted elsewhere, as ctx must not keep it. */
typedef struct work {
    long ms_first; /* the blocks below `dear` take so long, the others no time */
    uint64_t dear;
} work;

static uint64_t called;

static void wait_for(const work *w, uint64_t first)
{
    called++;
    if (first < w->dear)
        nanosleep(&(struct timespec){.tv_nsec = w->ms_first * 1000000}, NULL);
}

static void mixed(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *z = out;
    const double *x = in[0], *whole = in[1];
    const int32_t *k = in[2];
    double sum = 0; /* a value that depends on the range */
    wait_for(ctx, first);
    for (size_t i = 0; i < count; i++) {
        sum += x[2 * i] / 3 + whole[i];
        z[i] = sqrt(fabs(sum)) + k[i] + (double)first;
    }
}

static void in_place(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *z = out;
    const double *x = in[0];
    wait_for(ctx, first);
    for (size_t i = 0; i < count; i++)
        z[i] = x[i] * 1.5 + z[i];
}

static void none(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)in;
    wait_for(ctx, first);
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)out)[i] = (uint8_t)(first + i);
}

static bool equal(dvec *x, dvec *y)
{
    dvec *mask = dvec_new_with(env, NULL, DOME_U8, dvec_length(x), DVEC_OPTIONS(.distribution = dvec_distribution(x)));
    dvec_ne(mask, x, y);
    int64_t different = dvec_sum_i64(mask);
    dvec_free(mask);
    return different == 0;
}

static void compare(uint64_t n, dome_distribution distribution, work w)
{
    const dvec_options *wide = DVEC_OPTIONS(.distribution = distribution, .width = 2);
    dvec *x = dvec_new_with(env, NULL, DOME_F64, n, wide);
    const dvec_options *narrow = DVEC_OPTIONS(.distribution = distribution), *all = DVEC_OPTIONS(.distribution = DOME_WHOLE);
    dvec *k = dvec_new_with(env, NULL, DOME_I32, n, narrow), *whole = dvec_new_with(env, NULL, DOME_F64, n, all);
    dvec *z = dvec_new_with(env, NULL, DOME_F64, n, narrow), *y = dvec_new_with(env, NULL, DOME_F64, n, narrow);
    dvec *bytes = dvec_new_with(env, NULL, DOME_U8, n, narrow), *more = dvec_new_with(env, NULL, DOME_U8, n, narrow);
    work idle = {0};
    dvec_random(x, 1);
    dvec_random(k, 2);
    dvec_random(whole, 3);
    CHECK(dvec_map(y, mixed, &idle, 3, (dvec *[]){x, whole, k}) == DOME_OK);
    CHECK(dvec_map_anywhere(z, mixed, &w, 3, (dvec *[]){x, whole, k}) == DOME_OK);
    CHECK(equal(z, y));
    CHECK(dvec_map(y, in_place, &idle, 1, (dvec *[]){y}) == DOME_OK);
    CHECK(dvec_map_anywhere(z, in_place, &w, 1, (dvec *[]){z}) == DOME_OK);
    CHECK(equal(z, y));
    CHECK(dvec_map(bytes, none, &idle, 0, NULL) == DOME_OK);
    CHECK(dvec_map_anywhere(more, none, &w, 0, NULL) == DOME_OK);
    CHECK(equal(bytes, more));
    dvec *made[] = {x, k, whole, z, y, bytes, more};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        dvec_free(made[i]);
}

/* The first task's blocks take `ms` each. Returns on all tasks whether others computed some of them; each block is computed once.
 */
static bool are_helped(long ms)
{
    enum { N = 512 };
    uint64_t size = (uint64_t)dome_size(env), own;
    dvec *z = dvec_new_with(env, "z", DOME_U8, N, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    dvec *calls = dvec_new_with(env, "calls", DOME_I64, size, DVEC_OPTIONS(.distribution = DOME_BLOCK, .block = 1));
    dvec_span spans[2];
    CHECK(dvec_local_spans(z, spans) == DOME_OK);
    own = (spans[0].count + spans[1].count) / dome_block_size(N);
    work w = {ms, N / size};
    called = 0;
    CHECK(dvec_map_anywhere(z, none, &w, 0, NULL) == DOME_OK);
    CHECK(dvec_local_spans(calls, spans) == DOME_OK && spans[0].count == 1);
    *(int64_t *)spans[0].data = (int64_t)called;
    CHECK(dvec_sum_i64(calls) == (int64_t)(N / dome_block_size(N)));
    *(int64_t *)spans[0].data = dome_rank(env) == 0 && called < own;
    bool helped = dvec_sum_i64(calls) == 1;
    dvec_free(calls);
    dvec_free(z);
    return helped;
}

/* On a busy machine the other tasks may have no processor until the first is done: it takes longer then. */
static void slow_task_is_helped(void)
{
    bool helped = dome_size(env) == 1;
    for (long ms = 1; !helped && ms < 500; ms *= 4)
        helped = are_helped(ms);
    CHECK(helped);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    for (uint64_t n = 0; n < 5; n++)
        compare(n, DOME_DYNAMIC, (work){0});
    compare(257, DOME_DYNAMIC, (work){1, 60});
    compare(1000, DOME_BLOCK, (work){1, 100});
    compare(1000, DOME_WHOLE, (work){0});
    compare(300000, DOME_DYNAMIC, (work){1, 300000 / 3});
    slow_task_is_helped();
    return dome_finalize(env);
}
