#include "races/races.h"

#include "openmp/shared.h"
#include "program/start.h"
#include "races/races_private.h"
#include "system/say.h"

#include <string.h>

enum { SHOWN = 20 }; /* lines at most; a variable of a region has one */

static struct {
    dome_omp_races_setup setup;
    dome_omp_writes *writes;
    dome_omp_watched *watched;
    GHashTable *pages; /* gint64 *: written in this interval; NULL: one task */
    GHashTable *shown; /* texts: what, where */
    uint64_t left_out;
    const void *function; /* of the region */
    struct thread {
        uint64_t began;   /* the last act */
        uint32_t segment; /* 0: it has written nothing since */
    } threads[DOME_OMP_MAX_THREADS];
} here;

/* ---- what was found ---- */

static const void *read_bytes(const void *address)
{
    return dome__omp_watched_bytes(here.watched, address);
}

static char *text_of(const dome_omp_race *r, const char *variable, const char *function)
{
    const bool between = r->tasks[0] != r->tasks[1];
    char *first = between ? g_strdup_printf(" (task %d)", r->tasks[0]) : g_strdup("");
    char *second = between ? g_strdup_printf(" (task %d)", r->tasks[1]) : g_strdup("");
    char *text =
        g_strdup_printf("OpenMP: a race: threads %u%s and %u%s have written different values to %s (%" G_GUINT64_FORMAT
                        " byte%s) in %s, without synchronising between",
                        r->threads[0], first, r->threads[1], second, variable, r->bytes, r->bytes == 1 ? "" : "s", function);
    g_free(first);
    g_free(second);
    return text;
}

/* Elements of one variable are one race. */
static bool is_new(const char *variable, const char *function)
{
    char *what = g_strndup(variable, strcspn(variable, "+")), *key = g_strconcat(what, " ", function, NULL);
    const bool is_new = !g_hash_table_contains(here.shown, key);
    g_free(what);
    if (is_new && g_hash_table_size(here.shown) < SHOWN)
        return g_hash_table_add(here.shown, key);
    g_free(key);
    here.left_out++;
    return false;
}

void dome__omp_race_found(const dome_omp_race *race)
{
    char *variable = here.setup.name(race->at, read_bytes), *function = here.setup.function(race->function);
    if (is_new(variable, function)) {
        char *text = text_of(race, variable, function);
        if (here.setup.is_error)
            dome__start_failed(here.setup.env, 1, text);
        dome__say_at_once("%s", text);
        g_free(text);
    }
    g_free(variable);
    g_free(function);
}

/* ---- what threads of this task write ---- */

typedef struct writing {
    dome_omp_piece *piece;
    uint32_t thread;
} writing;

static void overlap(void *context, size_t first, size_t count, uint32_t earlier)
{
    const writing *w = context;
    const int rank = dome__omp_tasks.rank;
    dome__omp_race_found(&(dome_omp_race){.at = w->piece->at + first,
                                          .bytes = count,
                                          .threads = {dome__omp_writes_segment(here.writes, earlier)->thread, w->thread},
                                          .tasks = {rank, rank},
                                          .function = here.function});
}

static void note_pages(const char *from, size_t bytes)
{
    enum { PAGE = 4096 };
    for (gint64 page = (gint64)(uintptr_t)from / PAGE; here.pages && page <= (gint64)((uintptr_t)from + bytes - 1) / PAGE; page++)
        if (!g_hash_table_contains(here.pages, &page))
            g_hash_table_add(here.pages, g_memdup2(&page, sizeof page));
}

static void changed(void *context, dome_omp_piece *piece, size_t first, size_t count, const void *values)
{
    writing w = {piece, *(const unsigned *)context};
    struct thread *t = &here.threads[w.thread];
    if (!t->segment)
        t->segment = dome__omp_writes_begin(here.writes, w.thread, t->began, here.function);
    if (!t->segment)
        return;
    dome__omp_writes_note(here.writes, &piece->shadow, t->segment, first, count, values, overlap, &w);
    note_pages(piece->at + first, count);
}

static void stopped(unsigned thread)
{
    if (thread < DOME_OMP_MAX_THREADS)
        dome__omp_watched_take(here.watched, changed, &thread);
}

static void end_segment(struct thread *t, uint64_t act)
{
    if (t->segment)
        dome__omp_writes_segment(here.writes, t->segment)->ended = act;
    t->segment = 0;
}

/* What the act itself has written, the variable of a lock or of an atomic update, comes after all acts before it. */
static void acted(unsigned thread)
{
    if (thread >= DOME_OMP_MAX_THREADS)
        return;
    struct thread *t = &here.threads[thread];
    const uint64_t act = ++dome__omp_shared()->acts;
    end_segment(t, act);
    t->began = act - 1;
    stopped(thread);
    end_segment(t, act);
    t->began = act;
}

/* ---- intervals ---- */

static void clear(void *unused, dome_omp_piece *piece)
{
    (void)unused;
    dome__omp_shadow_clear(&piece->shadow);
}

static void next_interval(void)
{
    if (!dome__omp_writes_next(here.writes))
        dome__omp_watched_each(here.watched, clear, NULL);
    for (unsigned k = 0; k < DOME_OMP_MAX_THREADS; k++)
        here.threads[k].segment = 0;
    if (here.pages)
        g_hash_table_remove_all(here.pages);
}

/* What thread 0 has written before comes before all. */
static void region(const void *function)
{
    here.function = function;
    dome__omp_watched_take(here.watched, NULL, NULL);
    next_interval();
}

static void met(void)
{
    const int status = here.pages ? dome__omp_races_between(here.setup.env, here.writes, here.watched, here.pages) : DOME_OK;
    if (status != DOME_OK)
        dome__start_failed(here.setup.env, 1, dome_error_message(here.setup.env));
    next_interval();
}

/* ---- beginning and end ---- */

const char *dome__omp_races_watch(void *at, uint64_t bytes)
{
    return here.watched ? dome__omp_watched_add(here.watched, at, bytes) : NULL;
}

const char *dome__omp_races_watch_part(unsigned part)
{
    return dome__omp_watched_add_part(here.watched, part);
}

bool dome__omp_races_has(const void *address)
{
    return here.watched && dome__omp_watched_at(here.watched, address);
}

void dome__omp_races_block(const void *address, uint64_t bytes, bool exempt)
{
    dome_omp_piece *piece = here.watched ? dome__omp_watched_at(here.watched, address) : NULL;
    const size_t first = piece ? (size_t)((const char *)address - piece->at) : 0;
    if (piece)
        dome__omp_shadow_exempt(&piece->shadow, first, MIN(bytes, piece->bytes - first), exempt);
}

const char *dome__omp_races_begin(const dome_omp_races_setup *setup)
{
    static const dome_omp_watcher watcher = {region, stopped, acted, met};
    here.setup = *setup;
    here.writes = dome__omp_writes_new();
    here.watched = dome__omp_watched_new(setup->space);
    here.shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (setup->space)
        here.pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    dome__omp_watcher = &watcher;
    return NULL;
}

void dome__omp_races_end(void)
{
    if (!here.watched)
        return;
    dome__omp_watcher = NULL;
    if (here.left_out > 0)
        dome__say_at_once("OpenMP: task %d has found %" G_GUINT64_FORMAT " more races, in the same variables or in others",
                          dome__omp_tasks.rank, here.left_out);
    g_clear_pointer(&here.watched, dome__omp_watched_free);
    g_clear_pointer(&here.writes, dome__omp_writes_free);
    g_clear_pointer(&here.pages, g_hash_table_unref);
    g_clear_pointer(&here.shown, g_hash_table_unref);
}
