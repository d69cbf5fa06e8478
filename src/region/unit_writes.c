#include "region/unit_writes.h"

#include "delta/delta.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* So many units are watched: the first that are touched. */
enum { MOST_UNITS = 4096, MOST_TOLD = 64 };

/* A unit that was written once or twice by a task is its beginning, and no habit. */
enum { LEAST_TURNS = 3 };

struct dome_unit_writes {
    pthread_mutex_t lock;
    int task;
    uint64_t element, unit, units;
    size_t words;       /* of a set of a unit's elements */
    GHashTable *places; /* unit + 1 -> place in entries, + 1 */
    GPtrArray *entries; /* entry */
    char *then;         /* the units as they came; NULL: values are compared no more */
    uint8_t *has;       /* by unit: `then` has it */
    dome_delta *delta;
};

typedef struct entry {
    uint64_t unit, turns;
    uint64_t told;   /* turns, when it was told last */
    uint64_t sets[]; /* elements written, then elements at which a load faulted */
} entry;

dome_unit_writes *dome__unit_writes_new(const dome_unit_writes_setup *setup)
{
    const uint64_t element = setup->element, unit = setup->unit, units = setup->units;
    char *then = mmap(NULL, unit * units, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (then == MAP_FAILED)
        return NULL;
    dome_unit_writes *w = g_new0(dome_unit_writes, 1);
    *w = (dome_unit_writes){
        .task = setup->task, .element = element, .unit = unit, .units = units, .words = (size_t)(unit / element + 2) / 64 + 1};
    pthread_mutex_init(&w->lock, NULL);
    w->places = g_hash_table_new(NULL, NULL);
    w->entries = g_ptr_array_new_with_free_func(g_free);
    w->then = then;
    w->has = g_malloc0(units);
    w->delta = dome__delta_new(1);
    return w;
}

void dome__unit_writes_stop(dome_unit_writes *writes)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    if (writes->then)
        munmap(writes->then, writes->unit * writes->units);
    writes->then = NULL;
    pthread_mutex_unlock(&writes->lock);
}

void dome__unit_writes_free(dome_unit_writes *writes)
{
    if (!writes)
        return;
    dome__unit_writes_stop(writes);
    pthread_mutex_destroy(&writes->lock);
    g_hash_table_unref(writes->places);
    g_ptr_array_unref(writes->entries);
    dome__delta_free(writes->delta);
    g_free(writes->has);
    g_free(writes);
}

/* ---- noting; the lock is held ---- */

/* NULL: too many are watched. */
static entry *entry_of(dome_unit_writes *w, uint64_t unit)
{
    const gpointer key = GSIZE_TO_POINTER((gsize)unit + 1);
    const guint place = GPOINTER_TO_UINT(g_hash_table_lookup(w->places, key));
    if (place)
        return w->entries->pdata[place - 1];
    if (w->entries->len == MOST_UNITS)
        return NULL;
    entry *e = g_malloc0(sizeof *e + 2 * w->words * sizeof *e->sets);
    e->unit = unit;
    g_ptr_array_add(w->entries, e);
    g_hash_table_insert(w->places, key, GUINT_TO_POINTER(w->entries->len));
    return e;
}

static uint64_t first_element(const dome_unit_writes *w, uint64_t unit)
{
    return unit * w->unit / w->element;
}

static void note(dome_unit_writes *w, uint64_t offset, uint64_t bytes, bool write)
{
    for (uint64_t end = offset + bytes, next; offset < end; offset = next) {
        const uint64_t unit = offset / w->unit, first = first_element(w, unit);
        entry *e = entry_of(w, unit);
        next = MIN(end, (unit + 1) * w->unit);
        for (uint64_t k = offset / w->element - first; e && k <= (next - 1) / w->element - first; k++)
            e->sets[(write ? 0 : w->words) + k / 64] |= UINT64_C(1) << k % 64;
    }
}

static void count_turn(dome_unit_writes *w, uint64_t unit)
{
    entry *e = entry_of(w, unit);
    if (e)
        e->turns++;
}

void dome__unit_writes_touch(dome_unit_writes *writes, uint64_t offset, bool write)
{
    dome__unit_writes_add(write ? writes : NULL, offset, 1);
    if (!writes || write)
        return;
    pthread_mutex_lock(&writes->lock);
    note(writes, offset, 1, false);
    pthread_mutex_unlock(&writes->lock);
}

void dome__unit_writes_add(dome_unit_writes *writes, uint64_t offset, uint64_t bytes)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    note(writes, offset, bytes, true);
    pthread_mutex_unlock(&writes->lock);
}

void dome__unit_writes_turn(dome_unit_writes *writes, uint64_t unit)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    count_turn(writes, unit);
    pthread_mutex_unlock(&writes->lock);
}

/* ---- comparing ---- */

void dome__unit_writes_begin(dome_unit_writes *writes, uint64_t unit, const void *values)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    if (writes->then)
        memcpy(writes->then + unit * writes->unit, values, writes->unit);
    writes->has[unit] = writes->then != NULL;
    pthread_mutex_unlock(&writes->lock);
}

void dome__unit_writes_others(dome_unit_writes *writes, uint64_t offset, const void *values, uint64_t bytes)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    if (writes->then)
        memcpy(writes->then + offset, values, bytes);
    pthread_mutex_unlock(&writes->lock);
}

static void note_run(void *ctx, uint64_t first, uint64_t count, const void *values)
{
    (void)values;
    note(ctx, first, count, true);
}

void dome__unit_writes_end(dome_unit_writes *writes, uint64_t unit, const void *values)
{
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    if (writes->then && writes->has[unit]) {
        dome__delta_clear(writes->delta);
        dome__delta_find(writes->delta, unit * writes->unit, values, writes->then + unit * writes->unit, writes->unit, 0);
        dome__delta_runs(writes->delta, note_run, writes);
        if (dome__delta_units(writes->delta) > 0)
            count_turn(writes, unit);
    }
    pthread_mutex_unlock(&writes->lock);
    dome__unit_writes_begin(writes, unit, values); /* it may stay, to be read, and be written again */
}

/* ---- telling ---- */

static int by_turns(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    return x->turns != y->turns ? (x->turns < y->turns) - (x->turns > y->turns) : (x->unit > y->unit) - (x->unit < y->unit);
}

static GArray *runs_of(const uint64_t *set, size_t words, uint64_t first)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(dome_element_run));
    for (size_t k = 0; k < words * 64; k++) {
        dome_element_run *last = runs->len ? &g_array_index(runs, dome_element_run, runs->len - 1) : NULL;
        if (!(set[k / 64] >> k % 64 & 1))
            continue;
        if (last && last->first + last->count == first + k)
            last->count++;
        else
            g_array_append_val(runs, ((dome_element_run){first + k, 1}));
    }
    return runs;
}

/* The lock is held. */
static void sort_by_turns(const dome_unit_writes *w)
{
    g_ptr_array_sort(w->entries, by_turns);
    for (guint k = 0; k < w->entries->len; k++) {
        const entry *e = w->entries->pdata[k];
        g_hash_table_insert(w->places, GSIZE_TO_POINTER((gsize)e->unit + 1), GUINT_TO_POINTER(k + 1));
    }
}

void dome__unit_writes_tell(dome_unit_writes *writes, bool all, dome_unit_tell *tell, void *ctx)
{
    enum { NEWS = 8 }; /* a part of the turns */
    if (!writes)
        return;
    pthread_mutex_lock(&writes->lock);
    sort_by_turns(writes);
    for (guint k = 0; k < MIN(MOST_TOLD, writes->entries->len); k++) {
        entry *e = writes->entries->pdata[k];
        const uint64_t first = first_element(writes, e->unit);
        if (!all && e->turns < e->told + e->told / NEWS + 1)
            continue;
        const dome_unit_told told = {.task = writes->task,
                                     .unit = e->unit,
                                     .turns = e->turns,
                                     .written = runs_of(e->sets, writes->words, first),
                                     .read = runs_of(e->sets + writes->words, writes->words, first)};
        tell(ctx, &told);
        e->told = e->turns;
        g_array_unref(told.written);
        g_array_unref(told.read);
    }
    pthread_mutex_unlock(&writes->lock);
}

/* ---- what several tasks have told ---- */

static int by_unit(const void *a, const void *b)
{
    const dome_unit_told *x = a, *y = b;
    return x->unit != y->unit ? (x->unit > y->unit) - (x->unit < y->unit) : x->task - y->task;
}

static bool overlap(const GArray *a, const GArray *b)
{
    guint i = 0, k = 0;
    while (i < a->len && k < b->len) {
        const dome_element_run *x = &g_array_index(a, dome_element_run, i), *y = &g_array_index(b, dome_element_run, k);
        if (x->first < y->first + y->count && y->first < x->first + x->count)
            return true;
        if (x->first < y->first)
            i++;
        else
            k++;
    }
    return false;
}

static bool meet(const dome_unit_told *a, const dome_unit_told *b)
{
    return overlap(a->written, b->written) || overlap(a->written, b->read) || overlap(a->read, b->written);
}

/* all: what was told of one unit; more than one task may have told it for a member. */
static bool is_false(const dome_unit_told *all, guint count, const dome_unit_told *a, const dome_unit_told *b)
{
    if (a->task == b->task || a->turns < LEAST_TURNS || b->turns < LEAST_TURNS)
        return false;
    for (guint i = 0; i < count; i++)
        for (guint k = 0; k < count; k++)
            if (all[i].task == a->task && all[k].task == b->task && meet(&all[i], &all[k]))
                return false;
    return true;
}

dome_false_sharing dome__false_sharing_find(GArray *told)
{
    dome_false_sharing found = {0};
    uint64_t turns = 0;
    g_array_sort(told, by_unit);
    for (guint k = 0, end; k < told->len; k = end) {
        const dome_unit_told *all = &g_array_index(told, dome_unit_told, k);
        bool any = false;
        for (end = k + 1; end < told->len && g_array_index(told, dome_unit_told, end).unit == all->unit;)
            end++;
        for (guint a = 0; a < end - k; a++)
            for (guint b = a + 1; b < end - k; b++) {
                if (!is_false(all, end - k, &all[a], &all[b]))
                    continue;
                any = true;
                if (all[a].turns + all[b].turns > turns) {
                    turns = all[a].turns + all[b].turns;
                    found.a = &all[a];
                    found.b = &all[b];
                }
            }
        found.units += any;
    }
    return found;
}

char *dome__element_runs_text(const GArray *runs)
{
    enum { SHOWN = 2 };
    GString *text = g_string_new(NULL);
    const bool one = runs->len == 1 && g_array_index(runs, dome_element_run, 0).count == 1;
    g_string_append(text, one ? "element " : "elements ");
    for (guint k = 0; k < MIN(runs->len, SHOWN); k++) {
        const dome_element_run *r = &g_array_index(runs, dome_element_run, k);
        g_string_append_printf(text, "%s%" PRIu64, k ? ", " : "", r->first);
        if (r->count > 1)
            g_string_append_printf(text, " to %" PRIu64, r->first + r->count - 1);
    }
    if (runs->len > SHOWN)
        g_string_append(text, " and others");
    return g_string_free(text, FALSE);
}
