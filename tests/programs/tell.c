/* A Dome program that goes on without lost tasks, for tests/fault/tell.py.
 *
 *     tell STEPS SLEEP-MS MARKS [VARIANT]
 *
 * Each task writes its pid into MARKS/rank.N when it has joined, and the elements of x that it owns into MARKS/own.N at each
 * boundary; task 0 the step into MARKS/step.0. After a loss the program compares each element with what it must be there: 0 where
 * dome_lost says so, otherwise what it was, which can be computed for each element alone. Then it makes the lost ones again.
 * VARIANT "hurries": sleeps only while there is a file MARKS/slow; "slow": takes long before its first boundary; "bare": no
 * object has a name; "sizes": asks for another number of tasks now and then; "crash": the last task ends by a signal in step 25;
 * "late", "nameless": a mistake. Prints what it is told of views, the spans, and a number in which all state is. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 5000, ROWS = 700 };

static void mark_own(const char *marks, dome_env *env, dvec *x)
{
    dvec_span spans[2];
    char text[128] = "";
    dvec_local_spans_const(x, spans);
    for (int s = 0; s < 2; s++)
        if (spans[s].count > 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%zu-%zu ", (size_t)spans[s].first,
                     (size_t)(spans[s].first + spans[s].count));
    mark_text(marks, "own", dome_rank(env), text);
}

/* Element i after one more step, and after k steps. */
static uint64_t next(uint64_t value, uint64_t i, uint64_t k)
{
    return value * UINT64_C(6364136223846793005) + i * 2 + k + 1;
}

static uint64_t after(uint64_t i, int64_t k)
{
    uint64_t value = i + 1;
    for (int64_t step = 0; step < k; step++)
        value = next(value, i, (uint64_t)step);
    return value;
}

static void advance(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const int64_t *step = ctx;
    const uint64_t *from = in[0];
    uint64_t *to = out;
    for (size_t j = 0; j < count; j++)
        to[j] = next(from[j], first + j, (uint64_t)*step);
}

static bool is_lost(const dome_span *lost, size_t count, uint64_t i)
{
    for (size_t k = 0; k < count; k++)
        if (i >= lost[k].first && i < lost[k].first + lost[k].count)
            return true;
    return false;
}

static void say_lost(dome_env *env, const char *name, const dome_span *lost, size_t count)
{
    for (size_t k = 0; k < count; k++)
        dome_print(env, "lost %s %" PRIu64 "-%" PRIu64 "\n", name, lost[k].first, lost[k].first + lost[k].count);
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

/* All tasks have been told of the same spans. */
static void compare_lost(dome_env *env, const dome_span *lost, size_t count)
{
    uint64_t least = mix(14695981039346656037u, lost, count * sizeof *lost), most = least;
    dome_allreduce(env, DOME_U64, &least, 1, DOME_MIN);
    dome_allreduce(env, DOME_U64, &most, 1, DOME_MAX);
    if (least != most)
        dome_abort(env, "tasks disagree about what is lost");
}

/* Each element is there, or lost. Makes the lost ones again. */
static void look_at(dome_env *env, dvec *x, int64_t k)
{
    const dome_span *lost;
    const size_t count = dome_lost(dvec_object(x), &lost);
    dvec_span spans[2];
    say_lost(env, "x", lost, count);
    compare_lost(env, lost, count);
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t j = 0; j < spans[s].count; j++) {
            const uint64_t i = spans[s].first + j;
            uint64_t *value = (uint64_t *)spans[s].data + j;
            const bool gone = is_lost(lost, count, i);
            if (*value != (gone ? 0 : after(i, k)))
                dome_abort(env, "element %" PRIu64 " is %" PRIu64 " after %" PRId64 " steps, lost: %d", i, *value, k, gone);
            *value = after(i, k);
        }
}

/* All rows have one number, which says how many steps there were. */
static void look_at_rows(dome_env *env, dvec *m, int64_t k)
{
    const dome_span *lost;
    const size_t count = dome_lost(dvec_object(m), &lost);
    dvec_span spans[2];
    say_lost(env, "m", lost, count);
    dvec_local_spans(m, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t j = 0; j < spans[s].count * 3; j++) {
            float *value = (float *)spans[s].data + j;
            const bool gone = is_lost(lost, count, spans[s].first + j / 3);
            if (*value != (gone ? 0 : (float)(k + 1)))
                dome_abort(env, "a value of row %" PRIu64 " is %g, lost: %d", spans[s].first + j / 3, (double)*value, gone);
            *value = (float)(k + 1);
        }
}

static void diagonal(void *ctx, uint64_t row, dsparse_row *to)
{
    (void)ctx;
    dsparse_row_add(to, row, (double)row + 1);
}

/* The rows of a matrix that are lost have no entries. */
static void look_at_matrix(dome_env *env, dsparse *a)
{
    const dome_span *lost;
    uint64_t gone = 0;
    const size_t count = dome_lost(dsparse_object(a), &lost);
    for (size_t k = 0; k < count; k++)
        gone += lost[k].count;
    if (dsparse_entries(a) != ROWS - gone)
        dome_abort(env, "the matrix has %" PRIu64 " entries, and %" PRIu64 " rows are lost", dsparse_entries(a), gone);
    if (count > 0)
        dsparse_fill_rows(a, diagonal, NULL);
}

static void told(dome_env *env, const dome_view_news *news, void *calls)
{
    static const char *const why[] = {"changed", "healed", "lost"};
    ++*(int *)calls;
    dome_print(env, "view %" PRIu64 ": %s, %d tasks, now %d\n", news->epoch, why[news->reason], news->before, news->tasks);
}

/* Whether the program takes its time. */
static bool slow(const char *marks, const char *variant)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/slow", marks);
    return strcmp(variant, "hurries") != 0 || access(path, F_OK) == 0;
}

static void rest(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

int main(int argc, char **argv)
{
    int calls = 0;
    dome_env *env = dome_init(&argc, &argv);
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 10;
    const long sleep_ms = argc > 2 ? atol(argv[2]) : 0;
    const char *marks = argc > 3 ? argv[3] : "", *variant = argc > 4 ? argv[4] : "";
    const bool bare = strcmp(variant, "bare") == 0;
    dome_on_view(env, told, &calls);
    if (calls != (dome_epoch(env) > 0))
        dome_abort(env, "told %d times in view %" PRIu64, calls, dome_epoch(env));
    dvec *x = dvec_new(env, bare ? NULL : "x", DOME_U64, LENGTH);
    dvec *m = dvec_new_with(env, bare ? NULL : "m", DOME_F32, ROWS, DVEC_OPTIONS(.distribution = DOME_BLOCK, .width = 3));
    dvec *w = dvec_new_with(env, bare ? NULL : "w", DOME_I32, 300, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dsparse *a = dsparse_new(env, bare ? NULL : "a", ROWS, ROWS);
    dscalar *step = dscalar_new(env, bare ? NULL : "step", DOME_I64);
    const dome_span *lost = NULL;
    if (!bare && (dome_lost(dscalar_object(step), &lost) + dome_lost(dvec_object(w), &lost) != 0 || lost))
        dome_abort(env, "a part of what every task has is lost");
    if (dome_is_restarting(env)) {
        look_at(env, x, dscalar_get_i64(step));
        look_at_rows(env, m, dscalar_get_i64(step));
        look_at_matrix(env, a);
    } else {
        dvec_span spans[2];
        dvec_local_spans(x, spans);
        for (int s = 0; s < 2; s++)
            for (uint64_t j = 0; j < spans[s].count; j++)
                ((uint64_t *)spans[s].data)[j] = after(spans[s].first + j, 0);
        dvec_fill(m, 1);
        dsparse_fill_rows(a, diagonal, NULL);
    }
    mark(marks, "rank", dome_rank(env), (long)getpid());
    if (strcmp(variant, "slow") == 0 && dome_epoch(env) == 0)
        rest(20000);
    if (strcmp(variant, "nameless") == 0)
        dome_lost(dvec_object(dvec_new(env, NULL, DOME_F64, 10)), &lost);
    int64_t k;
    while ((k = dscalar_get_i64(step)) < steps) {
        dvec_map(x, advance, &k, 1, (dvec *[]){x});
        dvec_adds(m, m, 1);
        dvec_adds(w, w, (double)(k % 5));
        dscalar_set_i64(step, k + 1);
        if (slow(marks, variant))
            rest(sleep_ms);
        if (strcmp(variant, "crash") == 0 && k == 24 && dome_rank(env) == dome_size(env) - 1)
            raise(SIGSEGV); /* what a program does itself; SIGKILL comes from outside */
        if (dome_rank(env) == 0)
            mark(marks, "step", 0, (long)k + 1);
        if (strcmp(variant, "sizes") == 0 && k % 10 == 7)
            dome_resize(env, 1 + (int)(k / 10 * 3 % 4));
        mark_own(marks, env, x);
        dome_checkpoint(env);
        if (!bare && dome_lost(dvec_object(x), &lost) != 0)
            dome_abort(env, "elements are lost after a boundary");
        if (strcmp(variant, "late") == 0)
            dome_on_view(env, told, &calls);
    }
    uint64_t hash = mix(14695981039346656037u, dvec_allgather(x), LENGTH * sizeof(uint64_t));
    hash = mix(hash, dvec_allgather(m), ROWS * 3 * sizeof(float));
    hash = mix(hash, dvec_allgather(w), 300 * sizeof(int32_t));
    const double norm = dsparse_norm_frobenius(a);
    hash = mix(hash, &norm, sizeof norm);
    dome_print(env, "after %" PRId64 " steps: %016" PRIx64 "\n", k, hash);
    return dome_finalize(env);
}
