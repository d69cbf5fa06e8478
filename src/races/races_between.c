/* Races between threads of different tasks. A task tells the others which pages its threads have written in an interval, and then
 * who has written what in those pages that another task has written, too. Task 0 compares. */
#include "races/races_private.h"

#include "transport/collective.h"

#include <string.h>

enum { PAGE = 4096 };

/* The words of a run, before its values. */
enum { AT, BYTES, THREAD, FUNCTION, BEGAN, ENDED, HEAD };

typedef struct run {
    const uint64_t *words;
    int task;
} run;

static uint64_t words_of(const uint64_t *run)
{
    return HEAD + (run[BYTES] + 7) / 8;
}

/* ---- gathering ---- */

/* What all tasks have, one behind the other; counts: of words, by rank. */
static int gather(dome_env *env, const GArray *own, uint64_t *counts, uint64_t **all)
{
    uint64_t count = own->len, total = 0;
    int status = dome__allgather(env->transport, DOME_U64, &count, 1, counts);
    for (int r = 0; r < env->size && status == DOME_OK; r++)
        total += counts[r];
    *all = g_new(uint64_t, total + 1);
    if (status == DOME_OK && total > 0)
        status = dome__allgatherv(env->transport, DOME_U64, own->data, counts, *all);
    return status;
}

static GArray *numbers_of(GHashTable *pages)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    GHashTableIter at;
    gpointer page;
    g_hash_table_iter_init(&at, pages);
    while (g_hash_table_iter_next(&at, &page, NULL)) {
        const uint64_t number = (uint64_t) * (const gint64 *)page;
        g_array_append_val(numbers, number);
    }
    return numbers;
}

/* Of this task's pages those that another task has, too. */
static GArray *common_pages(const dome_env *env, GHashTable *pages, const uint64_t *counts, const uint64_t *all)
{
    GArray *common = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    GHashTable *seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (int r = 0; r < env->size; all += counts[r++])
        for (uint64_t k = 0; r != env->rank && k < counts[r]; k++)
            if (g_hash_table_contains(pages, &all[k]) && g_hash_table_add(seen, (gpointer)&all[k]))
                g_array_append_val(common, all[k]);
    g_hash_table_unref(seen);
    return common;
}

typedef struct telling {
    const dome_omp_writes *writes;
    const dome_omp_piece *piece;
    GArray *words;
} telling;

static void tell_run(void *context, size_t first, size_t count, uint32_t segment, const uint8_t *values)
{
    const telling *t = context;
    const dome_omp_segment *s = dome__omp_writes_segment(t->writes, segment);
    const uint64_t head[HEAD] = {[AT] = (uintptr_t)t->piece->at + first, [BYTES] = count,    [THREAD] = s->thread,
                                 [FUNCTION] = (uintptr_t)s->function,    [BEGAN] = s->began, [ENDED] = s->ended};
    const guint at = t->words->len, words = (guint)words_of(head);
    g_array_append_vals(t->words, head, HEAD);
    g_array_set_size(t->words, at + words);
    g_array_index(t->words, uint64_t, at + words - 1) = 0;
    memcpy(&g_array_index(t->words, uint64_t, at + HEAD), values, count);
}

static GArray *runs_in(const dome_omp_writes *writes, const dome_omp_watched *watched, const GArray *pages)
{
    GArray *words = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < pages->len; k++) {
        const uintptr_t page = g_array_index(pages, uint64_t, k) * PAGE;
        const dome_omp_piece *piece = dome__omp_watched_at(watched, (const void *)page); // NOLINT(performance-no-int-to-ptr)
        telling t = {writes, piece, words};
        if (piece)
            dome__omp_writes_owned(writes, &piece->shadow, page - (uintptr_t)piece->at, page - (uintptr_t)piece->at + PAGE,
                                   tell_run, &t);
    }
    return words;
}

/* ---- comparing ---- */

static int by_address(const void *a, const void *b)
{
    const uint64_t x = ((const run *)a)->words[AT], y = ((const run *)b)->words[AT];
    return (x > y) - (x < y);
}

static dome_omp_segment segment_of(const uint64_t *run)
{
    return (dome_omp_segment){.began = run[BEGAN], .ended = run[ENDED], .thread = (uint32_t)run[THREAD]};
}

static uint8_t value_at(const run *r, uint64_t address)
{
    return ((const uint8_t *)(r->words + HEAD))[address - r->words[AT]];
}

/* b does not begin before a. */
static void compare(const run *a, const run *b)
{
    const dome_omp_segment first = segment_of(a->words), second = segment_of(b->words);
    const uint64_t end = MIN(a->words[AT] + a->words[BYTES], b->words[AT] + b->words[BYTES]);
    if (a->task == b->task || dome__omp_segments_ordered(&first, &second))
        return;
    for (uint64_t at = b->words[AT], next; at < end; at = next + 1) {
        for (next = at; next < end && value_at(a, next) != value_at(b, next);)
            next++;
        const bool ascending = a->words[THREAD] < b->words[THREAD];
        const run *low = ascending ? a : b, *high = ascending ? b : a;
        if (next > at)
            dome__omp_race_found(&(dome_omp_race){.at = (const char *)(uintptr_t)at, // NOLINT(performance-no-int-to-ptr)
                                                  .bytes = next - at,
                                                  .threads = {(uint32_t)low->words[THREAD], (uint32_t)high->words[THREAD]},
                                                  .tasks = {low->task, high->task},
                                                  .function = (const void *)(uintptr_t)a->words[FUNCTION]}); // NOLINT
    }
}

static void compare_all(const dome_env *env, const uint64_t *counts, const uint64_t *all)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(run));
    for (int r = 0; r < env->size; all += counts[r++])
        for (const uint64_t *at = all; at < all + counts[r]; at += words_of(at))
            g_array_append_val(runs, ((run){at, r}));
    g_array_sort(runs, by_address);
    for (guint k = 0; k < runs->len; k++) {
        const run *a = &g_array_index(runs, run, k);
        for (guint j = k + 1; j < runs->len; j++) { /* a task's runs do not overlap, so these are few */
            const run *b = &g_array_index(runs, run, j);
            if (b->words[AT] >= a->words[AT] + a->words[BYTES])
                break;
            compare(a, b);
        }
    }
    g_array_unref(runs);
}

int dome__omp_races_between(dome_env *env, const dome_omp_writes *writes, const dome_omp_watched *watched, GHashTable *pages)
{
    uint64_t *counts = g_new0(uint64_t, (gsize)env->size), *all = NULL;
    GArray *own = numbers_of(pages);
    int status = gather(env, own, counts, &all);
    if (status == DOME_OK) {
        GArray *common = common_pages(env, pages, counts, all), *words = runs_in(writes, watched, common);
        g_free(all);
        all = NULL;
        status = gather(env, words, counts, &all);
        if (status == DOME_OK && env->rank == 0)
            compare_all(env, counts, all);
        g_array_unref(common);
        g_array_unref(words);
    }
    g_array_unref(own);
    g_free(counts);
    g_free(all);
    return status;
}
