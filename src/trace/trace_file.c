#include "trace/trace_file.h"

#include "core/clock.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits for damaged files: no program exceeds them. PVM has room for fewer than a thousand tasks. */
enum { MOST_TASKS = 1 << 14, MOST_CODES = 1 << 20 };

/* A measurement of the clock is not used if its error is more than this many times that of the best. */
enum { ERROR_FACTOR = 4 };

typedef struct clock_point {
    uint64_t window;
    int64_t time, offset;
    uint64_t error;
} clock_point;

typedef struct parser {
    dome_trace_file *file;
    GHashTable *tasks;   /* run and rank -> place + 1 */
    GHashTable *totals;  /* task and code -> place + 1 */
    GHashTable *waited;  /* task and rank -> place + 1 */
    GHashTable *objects; /* run and id -> place + 1 */
    GHashTable *regions; /* task and name -> place + 1 of its last line */
    GHashTable *units;   /* task, name and unit -> place + 1 */
    GArray *layout_tasks, *mark_tasks, *object_tasks;
    int task; /* the task whose lines are read; -1: the hub; -2: not known yet */
} parser;

/* The fields of a line, read one after the other. */
typedef struct fields {
    const char *at, *end;
    bool bad;
} fields;

static uint64_t get_u64(fields *f)
{
    uint64_t value = 0;
    if (f->at >= f->end || *f->at != ' ') {
        f->bad = true;
        return 0;
    }
    f->at++;
    const char *first = f->at;
    while (f->at < f->end && g_ascii_isdigit(*f->at)) {
        uint64_t digit = (uint64_t)(*f->at++ - '0');
        if (value > (UINT64_MAX - digit) / 10)
            f->bad = true;
        value = value * 10 + digit;
    }
    f->bad |= f->at == first;
    return value;
}

static int64_t get_i64(fields *f)
{
    bool minus = f->end - f->at >= 2 && f->at[1] == '-';
    fields rest = {f->at + (minus ? 1 : 0), f->end, f->bad};
    uint64_t value = 0;
    if (minus) { /* the sign stands where get_u64 looks for the space */
        char *copy = g_strndup(f->at, (gsize)(f->end - f->at));
        copy[1] = ' ';
        rest = (fields){copy + 1, copy + (f->end - f->at), f->bad};
        value = get_u64(&rest);
        f->at += rest.at - copy;
        g_free(copy);
    } else {
        value = get_u64(&rest);
        f->at = rest.at;
    }
    f->bad = rest.bad || value > INT64_MAX / 2;
    return minus ? -(int64_t)value : (int64_t)value;
}

/* Limits times to values far from the ends of 64 bits, so that adding a few of them is safe. */
static int64_t get_time(fields *f)
{
    uint64_t value = get_u64(f);
    f->bad |= value > INT64_MAX / 4;
    return f->bad ? 0 : (int64_t)value;
}

static char *get_text(fields *f)
{
    GString *text = g_string_new(NULL);
    if (f->at >= f->end || *f->at != ' ')
        f->bad = true;
    else
        f->at++;
    while (f->at < f->end && *f->at != ' ') {
        if (*f->at == '%' && f->end - f->at >= 3 && g_ascii_isxdigit(f->at[1]) && g_ascii_isxdigit(f->at[2])) {
            char c = (char)(g_ascii_xdigit_value(f->at[1]) * 16 + g_ascii_xdigit_value(f->at[2]));
            g_string_append_c(text, c ? c : ' ');
            f->at += 3;
        } else {
            if (*f->at != '%' && *f->at)
                g_string_append_c(text, *f->at);
            f->at++;
        }
    }
    char *valid = g_utf8_make_valid(text->str, -1);
    g_string_free(text, TRUE);
    return valid;
}

static gpointer key_of(int high, uint64_t low)
{
    uint64_t *key = g_new(uint64_t, 1);
    *key = (uint64_t)high << 40 ^ low;
    return key;
}

/* The position stored under (high, low). If there is none and `make`, `size` zero bytes are appended to array for it. */
static guint place_of(GHashTable *table, GArray *array, int high, uint64_t low, bool make, bool *made)
{
    gpointer key = key_of(high, low);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(table, key));
    *made = place == 0 && make;
    if (!*made) {
        g_free(key);
        return place ? place - 1 : G_MAXUINT;
    }
    place = array->len;
    g_array_set_size(array, place + 1);
    g_hash_table_insert(table, key, GUINT_TO_POINTER(place + 1));
    return place;
}

static dome_trace_run *last_run(const parser *p)
{
    return p->file->runs->len ? &g_array_index(p->file->runs, dome_trace_run, p->file->runs->len - 1) : NULL;
}

/* The number of the run in which the present task is. */
static int own_number(const parser *p)
{
    return g_array_index(p->file->tasks, dome_trace_task, p->task).run;
}

static dome_trace_run *own_run(const parser *p)
{
    return &g_array_index(p->file->runs, dome_trace_run, own_number(p));
}

static bool set_task(parser *p, fields *f)
{
    if (f->end - f->at == 2 && memcmp(f->at, " -", 2) == 0) {
        p->task = -1;
        return true;
    }
    const uint64_t rank = get_u64(f), since = f->at < f->end ? get_u64(f) : 0;
    if (f->bad || rank >= MOST_TASKS || since >= p->file->runs->len)
        return false;
    const int run = (int)(p->file->runs->len - 1 - since);
    bool made;
    guint place = place_of(p->tasks, p->file->tasks, run, rank, true, &made);
    if (made)
        g_array_index(p->file->tasks, dome_trace_task, place) =
            (dome_trace_task){.run = run, .rank = (int)rank, .clocks = g_array_new(FALSE, TRUE, sizeof(clock_point))};
    p->task = (int)place;
    dome_trace_run *r = own_run(p);
    r->tasks = MAX(r->tasks, (int)rank + 1);
    return true;
}

static bool view_line(parser *p, int64_t time, fields *f)
{
    dome_trace_view view = {.run = (int)p->file->runs->len - 1, .time = time};
    view.number = get_u64(f);
    view.tasks = get_u64(f);
    view.hosts = get_u64(f);
    view.noticing = get_u64(f);
    view.kind = get_text(f);
    view.why = get_text(f);
    f->bad |= view.tasks > MOST_TASKS || view.hosts > MOST_TASKS;
    if (f->bad) {
        g_free(view.kind);
        g_free(view.why);
        return false;
    }
    g_array_append_val(p->file->views, view);
    return true;
}

static bool parts_line(parser *p, fields *f)
{
    const uint64_t number = get_u64(f), members = get_u64(f), blocks = get_u64(f), joining = get_u64(f), preamble = get_u64(f);
    for (guint k = p->file->views->len; k-- > 0 && !f->bad;) {
        dome_trace_view *view = &g_array_index(p->file->views, dome_trace_view, k);
        if (view->number != number)
            continue;
        view->timed = true;
        view->members = members;
        view->blocks = blocks;
        view->joining = joining;
        view->preamble = preamble;
        return true;
    }
    return false;
}

static bool hub_line(parser *p, char kind, fields *f)
{
    dome_trace_file *file = p->file;
    if (kind == 'H') {
        dome_trace_run run = {.begin = get_time(f)};
        run.real_us = get_time(f);
        run.pid = (int)get_u64(f);
        run.host = get_text(f);
        run.command = get_text(f);
        if (f->bad) {
            g_free(run.host);
            g_free(run.command);
            return false;
        }
        run.end = run.begin;
        g_array_append_val(file->runs, run);
        return true;
    }
    dome_trace_run *run = last_run(p);
    int64_t time = get_time(f);
    if (!run || f->bad)
        return false;
    if (kind == 'F') {
        dome_trace_mark mark = {.time = time, .kind = 'F', .text = get_text(f)};
        g_array_append_val(file->marks, mark);
        g_array_append_val(p->mark_tasks, p->task);
    } else if (kind == 'Z') {
        run->end = time;
        run->status = (int)get_u64(f);
        run->ended = !f->bad;
    } else if (kind == 'd') {
        file->left_out += get_u64(f);
    } else if (kind == 'V') {
        return view_line(p, time, f);
    } else if (kind == 'P') {
        return parts_line(p, f);
    } else {
        return false;
    }
    return !f->bad;
}

static bool span_line(parser *p, char kind, fields *f)
{
    dome_trace_span span = {.task = p->task, .kind = kind, .first = p->file->pairs->len};
    span.start = get_time(f);
    span.took = get_time(f);
    span.a = get_u64(f);
    if (kind != 'w' && kind != 'e')
        span.b = get_u64(f);
    if (kind == 'o' || kind == 'm' || kind == 'b')
        span.c = get_u64(f);
    while (kind == 'g' && !f->bad && f->at < f->end) {
        uint32_t pair[2];
        for (int k = 0; k < 2; k++)
            pair[k] = (uint32_t)get_u64(f);
        g_array_append_vals(p->file->pairs, pair, 2);
        span.count++;
    }
    if (!f->bad)
        g_array_append_val(p->file->spans, span);
    return !f->bad;
}

static bool layout_line(parser *p, fields *f)
{
    dome_trace_layout layout = {.run = own_number(p)};
    layout.time = get_time(f);
    layout.object = get_u64(f);
    layout.length = get_u64(f);
    layout.block_size = get_u64(f);
    layout.start = get_u64(f);
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    uint64_t sum = 0,
             blocks = layout.block_size ? layout.length / layout.block_size + (layout.length % layout.block_size > 0) : 0;
    while (!f->bad && f->at < f->end) {
        uint64_t count = get_u64(f);
        f->bad |= count > blocks - sum;
        sum += count;
        g_array_append_val(counts, count);
    }
    f->bad |= counts->len == 0 || counts->len > MOST_TASKS || sum != blocks || (blocks > 0 && layout.start >= blocks);
    layout.tasks = (int)counts->len;
    layout.counts = (uint64_t *)(void *)g_array_free(counts, f->bad);
    if (f->bad)
        return false;
    g_array_append_val(p->file->layouts, layout);
    g_array_append_val(p->layout_tasks, p->task);
    return true;
}

static bool object_line(parser *p, char kind, fields *f)
{
    int64_t time = get_time(f);
    uint64_t id = get_u64(f);
    bool made;
    if (f->bad)
        return false;
    guint place = place_of(p->objects, p->file->objects, own_number(p), id, kind == 'v', &made);
    if (place == G_MAXUINT)
        return kind == 'x'; /* only so many objects are recorded */
    dome_trace_object *object = &g_array_index(p->file->objects, dome_trace_object, place);
    if (kind == 'x') {
        object->to = time;
        return true;
    }
    if (!made)
        return false;
    g_array_append_val(p->object_tasks, p->task);
    *object = (dome_trace_object){.run = own_number(p), .id = id, .from = time, .to = INT64_MAX};
    object->length = get_u64(f);
    object->width = get_u64(f);
    object->distribution = (int)get_u64(f);
    object->block_size = get_u64(f);
    object->type = get_text(f);
    object->name = get_text(f);
    return !f->bad;
}

static bool total_line(parser *p, fields *f)
{
    get_time(f);
    uint64_t code = get_u64(f);
    dome_trace_total total = {.task = p->task, .code = (uint32_t)code};
    total.count = get_u64(f);
    total.compute_ns = get_u64(f);
    total.wait_ns = get_u64(f);
    total.bytes = get_u64(f);
    if (f->bad || code >= MOST_CODES)
        return false;
    bool made;
    guint place = place_of(p->totals, p->file->totals, p->task, code, true, &made);
    g_array_index(p->file->totals, dome_trace_total, place) = total;
    return true;
}

static bool waited_line(parser *p, fields *f)
{
    get_time(f);
    uint64_t rank = get_u64(f);
    dome_trace_waited waited = {.task = p->task, .rank = (int)rank, .ns = get_u64(f)};
    if (f->bad || rank >= MOST_TASKS)
        return false;
    bool made;
    guint place = place_of(p->waited, p->file->waited, p->task, rank, true, &made);
    g_array_index(p->file->waited, dome_trace_waited, place) = waited;
    return true;
}

/* A key of texts and numbers, for the tables of regions; the caller frees it. */
static char *name_key(const parser *p, const char *name, uint64_t region, uint64_t unit)
{
    return g_strdup_printf("%d %" PRIu64 " %" PRIu64 " %s", p->task, region, unit, name);
}

static bool regions_line(parser *p, fields *f)
{
    GArray *all = p->file->regions;
    dome_trace_regions r = {.task = p->task, .time = get_time(f), .last = true, .name = get_text(f)};
    r.reads = get_u64(f);
    r.writes = get_u64(f);
    r.units = get_u64(f);
    r.bytes = get_u64(f);
    r.waited_ns = get_u64(f);
    if (f->bad) {
        g_free(r.name);
        return false;
    }
    char *key = name_key(p, r.name, 0, 0);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(p->regions, key));
    if (before)
        g_array_index(all, dome_trace_regions, before - 1).last = false;
    g_array_append_val(all, r);
    g_hash_table_replace(p->regions, key, GUINT_TO_POINTER(all->len));
    return true;
}

static GArray *get_runs(fields *f, uint64_t count)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(dome_element_run));
    for (uint64_t k = 0; k < count && !f->bad && f->at < f->end; k++) {
        dome_element_run run = {.first = get_u64(f)};
        run.count = get_u64(f);
        f->bad |= run.first > UINT64_MAX - run.count;
        g_array_append_val(runs, run);
    }
    return runs;
}

static void clear_unit(void *data)
{
    dome_trace_unit_writes *unit = data;
    g_free(unit->name);
    g_array_unref(unit->written);
    g_array_unref(unit->read);
}

static bool unit_line(parser *p, fields *f)
{
    get_time(f);
    GArray *all = p->file->unit_writes;
    dome_trace_unit_writes w = {.task = p->task, .name = get_text(f)};
    w.region = get_u64(f);
    w.unit = get_u64(f);
    const uint64_t member = get_u64(f);
    w.member = (int)member;
    w.turns = get_u64(f);
    const uint64_t written = get_u64(f);
    w.written = get_runs(f, written);
    f->bad |= w.written->len < written || member >= MOST_TASKS;
    w.read = get_runs(f, UINT64_MAX);
    if (f->bad) {
        clear_unit(&w);
        return false;
    }
    char *key = name_key(p, w.name, w.region, w.unit);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(p->units, key));
    if (before) {
        clear_unit(&g_array_index(all, dome_trace_unit_writes, before - 1));
        g_array_index(all, dome_trace_unit_writes, before - 1) = w;
        g_free(key);
        return true;
    }
    g_array_append_val(all, w);
    g_hash_table_insert(p->units, key, GUINT_TO_POINTER(all->len));
    return true;
}

static bool clock_line(parser *p, fields *f)
{
    clock_point point = {.window = get_u64(f)};
    point.time = get_time(f);
    point.offset = get_i64(f);
    point.error = get_u64(f);
    if (f->bad)
        return false;
    GArray *clocks = g_array_index(p->file->tasks, dome_trace_task, p->task).clocks;
    if (clocks->len > 0 && g_array_index(clocks, clock_point, clocks->len - 1).window == point.window)
        g_array_index(clocks, clock_point, clocks->len - 1) = point;
    else
        g_array_append_val(clocks, point);
    return true;
}

static bool start_line(parser *p, fields *f)
{
    dome_trace_task *task = &g_array_index(p->file->tasks, dome_trace_task, p->task);
    get_time(f);
    task->pid = (int)get_u64(f);
    uint64_t size = get_u64(f);
    task->processors = (int)get_u64(f);
    g_free(task->host);
    task->host = get_text(f);
    f->bad |= size > MOST_TASKS;
    if (!f->bad)
        own_run(p)->tasks = MAX(own_run(p)->tasks, (int)size);
    return !f->bad;
}

static bool name_line(parser *p, fields *f)
{
    GPtrArray *names = p->file->names;
    uint64_t code = get_u64(f);
    char *name = get_text(f);
    if (f->bad || code >= MOST_CODES) {
        g_free(name);
        return false;
    }
    if (code >= names->len)
        g_ptr_array_set_size(names, (gint)code + 1);
    g_free(g_ptr_array_index(names, code));
    g_ptr_array_index(names, code) = name;
    return true;
}

static bool sample_line(parser *p, fields *f)
{
    dome_trace_sample sample = {.task = p->task};
    sample.time = get_time(f);
    sample.cpu_ns = get_u64(f);
    sample.wait_ns = get_u64(f);
    sample.host_busy_ms = get_u64(f);
    sample.resident_kb = get_u64(f);
    if (f->at < f->end) {
        sample.had_ns = get_u64(f);
        sample.wanted_ns = get_u64(f);
    }
    if (!f->bad)
        g_array_append_val(p->file->samples, sample);
    return !f->bad;
}

static bool add_mark(parser *p, const dome_trace_mark *mark)
{
    g_array_append_vals(p->file->marks, mark, 1);
    g_array_append_val(p->mark_tasks, p->task);
    return true;
}

static bool checkpoint_line(parser *p, char kind, fields *f)
{
    dome_trace_mark mark = {.kind = kind};
    mark.time = get_time(f);
    mark.number = get_u64(f);
    if (f->bad)
        return false;
    mark.text = g_strdup_printf(
        kind == 'r' ? "the program continues from checkpoint %" PRIu64 : "checkpoint %" PRIu64 " was not written", mark.number);
    return add_mark(p, &mark);
}

/* A recording that began while the program was running. */
static bool begin_line(parser *p, char kind, fields *f)
{
    dome_trace_mark mark = {.kind = kind, .time = get_time(f)};
    uint64_t ran = get_u64(f), checkpoint = get_u64(f), age = get_u64(f), imbalance = get_u64(f);
    if (f->bad || ran > INT64_MAX / 4)
        return false;
    own_run(p)->before = (int64_t)ran;
    if (own_number(p) > 0)
        return true; /* recorded before, too: the program has entered another view */
    GString *text = g_string_new(NULL);
    g_string_printf(text, "recorded from here on, %.1f s after the program began", (double)ran * 1e-9);
    if (checkpoint)
        g_string_append_printf(text, "; last checkpoint: %" PRIu64 ", %.1f s before", checkpoint - 1, (double)age * 1e-9);
    if (imbalance)
        g_string_append_printf(text, "; imbalance before the last phase: %.3f", (double)imbalance * 1e-6);
    mark.text = g_string_free(text, FALSE);
    return add_mark(p, &mark);
}

static bool task_line(parser *p, char kind, fields *f)
{
    switch (kind) {
    case 'I':
        return start_line(p, f);
    case 'N':
        return name_line(p, f);
    case 'C':
        return clock_line(p, f);
    case 'o':
    case 'g':
    case 'e':
    case 'w':
    case 'h':
    case 'm':
    case 'b':
    case 'k':
        return span_line(p, kind, f);
    case 'y':
        return layout_line(p, f);
    case 'v':
    case 'x':
        return object_line(p, kind, f);
    case 'c':
        return total_line(p, f);
    case 'W':
        return waited_line(p, f);
    case 's':
        return sample_line(p, f);
    case 'u':
        return regions_line(p, f);
    case 'U':
        return unit_line(p, f);
    case 'K':
    case 'r':
        return checkpoint_line(p, kind, f);
    case 'B':
        return begin_line(p, kind, f);
    case 'd':
        get_time(f);
        p->file->left_out += get_u64(f);
        return !f->bad;
    default:
        return false;
    }
}

static void parse_line(parser *p, const char *line, const char *end)
{
    fields f = {line + 1, end, false};
    bool good;
    if (line == end)
        return;
    if (*line == 'T')
        good = set_task(p, &f);
    else if (p->task == -1)
        good = hub_line(p, *line, &f);
    else
        good = p->task >= 0 && task_line(p, *line, &f);
    p->file->strange += !good;
}

/* ---- one clock ---- */

static int by_time(gconstpointer a, gconstpointer b)
{
    const clock_point *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Removes the measurements that are not accurate enough. */
static void choose_clocks(dome_trace_task *task)
{
    uint64_t best = UINT64_MAX;
    guint good = 0;
    for (guint k = 0; k < task->clocks->len; k++)
        best = MIN(best, g_array_index(task->clocks, clock_point, k).error);
    for (guint k = 0; k < task->clocks->len; k++) {
        clock_point point = g_array_index(task->clocks, clock_point, k);
        if (point.error / ERROR_FACTOR <= best)
            g_array_index(task->clocks, clock_point, good++) = point;
    }
    g_array_set_size(task->clocks, good);
    g_array_sort(task->clocks, by_time);
    task->clock_error = task->clocks->len ? best : 0;
}

/* The number of points that are not later than `time`. */
static guint points_until(const clock_point *points, guint n, int64_t time)
{
    guint low = 0, high = n;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (points[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* After the last measurement the offset is extrapolated: it is assumed to change as it did over an equally long time before. No
 * clock is assumed to be wrong by more than a hundredth. */
static int64_t offset_after(const clock_point *points, guint n, int64_t time)
{
    const clock_point *last = &points[n - 1];
    int64_t ahead = time - last->time;
    guint until = points_until(points, n, last->time - ahead);
    const clock_point *before = &points[until > 0 ? until - 1 : 0];
    double span = (double)(last->time - before->time), most = (double)ahead / 100;
    double change = span > 0 ? ((double)last->offset - (double)before->offset) * MIN((double)ahead / span, 1) : 0;
    return last->offset + (int64_t)CLAMP(change, -most, most);
}

/* A task's time on the hub's clock: between two measurements the offset is interpolated linearly. */
static int64_t on_hub_clock(const dome_trace_file *file, int task, int64_t time)
{
    if (task < 0)
        return time;
    const GArray *clocks = g_array_index(file->tasks, dome_trace_task, task).clocks;
    const clock_point *points = (const clock_point *)(const void *)clocks->data;
    guint next = points_until(points, clocks->len, time);
    if (clocks->len == 0)
        return time;
    if (next == 0)
        return time + points[0].offset;
    if (next == clocks->len)
        return time + offset_after(points, next, time);
    const clock_point *a = &points[next - 1], *b = &points[next];
    double part = b->time > a->time ? (double)(time - a->time) / (double)(b->time - a->time) : 0;
    return time + a->offset + (int64_t)(part * (double)(b->offset - a->offset));
}

/* Of two spans that begin together the longer one comes first, so that an inner span follows the outer one. */
static int by_start(gconstpointer a, gconstpointer b)
{
    const dome_trace_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->took < y->took) - (x->took > y->took);
}

static void to_one_clock(parser *p)
{
    dome_trace_file *file = p->file;
    int64_t base = g_array_index(file->runs, dome_trace_run, 0).begin, end = INT64_MIN;
    for (guint k = 0; k < file->tasks->len; k++)
        choose_clocks(&g_array_index(file->tasks, dome_trace_task, k));
    for (guint k = 0; k < file->spans->len; k++) {
        dome_trace_span *s = &g_array_index(file->spans, dome_trace_span, k);
        int64_t stop = on_hub_clock(file, s->task, s->start + s->took);
        s->start = on_hub_clock(file, s->task, s->start);
        s->took = MAX(stop - s->start, 0);
        base = MIN(base, s->start);
        end = MAX(end, stop);
    }
    for (guint k = 0; k < file->samples->len; k++) {
        dome_trace_sample *s = &g_array_index(file->samples, dome_trace_sample, k);
        s->time = on_hub_clock(file, s->task, s->time);
        base = MIN(base, s->time);
        end = MAX(end, s->time);
    }
    for (guint k = 0; k < file->objects->len; k++) {
        dome_trace_object *o = &g_array_index(file->objects, dome_trace_object, k);
        int task = g_array_index(p->object_tasks, int, k);
        o->from = on_hub_clock(file, task, o->from) - base;
        o->to = o->to == INT64_MAX ? o->to : on_hub_clock(file, task, o->to) - base;
    }
    for (guint k = 0; k < file->layouts->len; k++) {
        dome_trace_layout *l = &g_array_index(file->layouts, dome_trace_layout, k);
        l->time = on_hub_clock(file, g_array_index(p->layout_tasks, int, k), l->time) - base;
        end = MAX(end, l->time + base);
    }
    for (guint k = 0; k < file->marks->len; k++) {
        dome_trace_mark *m = &g_array_index(file->marks, dome_trace_mark, k);
        m->time = on_hub_clock(file, g_array_index(p->mark_tasks, int, k), m->time) - base;
        end = MAX(end, m->time + base);
    }
    for (guint k = 0; k < file->regions->len; k++) {
        dome_trace_regions *r = &g_array_index(file->regions, dome_trace_regions, k);
        r->time = on_hub_clock(file, r->task, r->time) - base;
        end = MAX(end, r->time + base);
    }
    for (guint k = 0; k < file->views->len; k++) {
        dome_trace_view *v = &g_array_index(file->views, dome_trace_view, k);
        end = MAX(end, v->time);
        v->time -= base;
    }
    for (guint k = 0; k < file->spans->len; k++)
        g_array_index(file->spans, dome_trace_span, k).start -= base;
    for (guint k = 0; k < file->samples->len; k++)
        g_array_index(file->samples, dome_trace_sample, k).time -= base;
    for (guint k = 0; k < file->runs->len; k++) {
        dome_trace_run *r = &g_array_index(file->runs, dome_trace_run, k);
        end = MAX(end, r->end);
        r->begin -= base;
        r->end -= base;
        file->size = MAX(file->size, r->tasks);
    }
    file->end = MAX(end - base, 0);
    g_array_sort(file->spans, by_start);
}

/* ---- files ---- */

static void clear_run(void *data)
{
    g_free(((dome_trace_run *)data)->host);
    g_free(((dome_trace_run *)data)->command);
}

static void clear_task(void *data)
{
    dome_trace_task *task = data;
    g_free(task->host);
    if (task->clocks)
        g_array_unref(task->clocks);
}

static void clear_object(void *data)
{
    g_free(((dome_trace_object *)data)->type);
    g_free(((dome_trace_object *)data)->name);
}

static void clear_layout(void *data)
{
    g_free(((dome_trace_layout *)data)->counts);
}

static void clear_mark(void *data)
{
    g_free(((dome_trace_mark *)data)->text);
}

static void clear_view(void *data)
{
    g_free(((dome_trace_view *)data)->kind);
    g_free(((dome_trace_view *)data)->why);
}

static void clear_regions(void *data)
{
    g_free(((dome_trace_regions *)data)->name);
}

static GArray *new_array(guint size, GDestroyNotify clear)
{
    GArray *array = g_array_new(FALSE, TRUE, size);
    if (clear)
        g_array_set_clear_func(array, clear);
    return array;
}

static const char MAGIC[] = "dome-trace ";

/* Whether the first bytes of a file are those of a trace; otherwise *reason says why not. */
static bool is_trace(const char *text, size_t length, const char **reason)
{
    *reason = "not a trace of a Dome program (--dome-trace FILE writes one)";
    if (length < sizeof MAGIC || memcmp(text, MAGIC, sizeof MAGIC - 1) != 0)
        return false;
    *reason = "a trace of another version of the format: this program reads version 1";
    return text[sizeof MAGIC - 1] == '1' && (length == sizeof MAGIC || text[sizeof MAGIC] == '\n');
}

dome_trace_file *dome__trace_parse(const char *text, size_t length, char **message)
{
    const char *reason;
    if (!is_trace(text, length, &reason)) {
        *message = g_strdup(reason);
        return NULL;
    }
    dome_trace_file *file = g_new0(dome_trace_file, 1);
    file->runs = new_array(sizeof(dome_trace_run), clear_run);
    file->tasks = new_array(sizeof(dome_trace_task), clear_task);
    file->spans = new_array(sizeof(dome_trace_span), NULL);
    file->samples = new_array(sizeof(dome_trace_sample), NULL);
    file->objects = new_array(sizeof(dome_trace_object), clear_object);
    file->layouts = new_array(sizeof(dome_trace_layout), clear_layout);
    file->totals = new_array(sizeof(dome_trace_total), NULL);
    file->waited = new_array(sizeof(dome_trace_waited), NULL);
    file->marks = new_array(sizeof(dome_trace_mark), clear_mark);
    file->views = new_array(sizeof(dome_trace_view), clear_view);
    file->regions = new_array(sizeof(dome_trace_regions), clear_regions);
    file->unit_writes = new_array(sizeof(dome_trace_unit_writes), clear_unit);
    file->pairs = new_array(sizeof(uint32_t), NULL);
    file->names = g_ptr_array_new_with_free_func(g_free);
    parser p = {.file = file,
                .tasks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .totals = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .waited = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                .regions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .units = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .layout_tasks = new_array(sizeof(int), NULL),
                .mark_tasks = new_array(sizeof(int), NULL),
                .object_tasks = new_array(sizeof(int), NULL),
                .task = -2};
    const char *at = memchr(text, '\n', length), *end = text + length;
    at = at ? at + 1 : end;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        file->cut = !stop;
        if (stop)
            parse_line(&p, at, stop);
        at = stop ? stop + 1 : end;
    }
    if (file->runs->len > 0)
        to_one_clock(&p);
    g_hash_table_destroy(p.tasks);
    g_hash_table_destroy(p.totals);
    g_hash_table_destroy(p.waited);
    g_hash_table_destroy(p.objects);
    g_hash_table_destroy(p.regions);
    g_hash_table_destroy(p.units);
    g_array_unref(p.layout_tasks);
    g_array_unref(p.mark_tasks);
    g_array_unref(p.object_tasks);
    if (file->runs->len == 0) {
        *message = g_strdup("the trace ends before the program begins");
        dome__trace_file_free(file);
        return NULL;
    }
    return file;
}

/* Reads the whole file, which may be a pipe, but stops as soon as it is seen not to be a trace. */
static GByteArray *read_all(int fd, const char **reason)
{
    enum { PIECE = 1 << 20 };
    GByteArray *text = g_byte_array_new();
    for (;;) {
        guint have = text->len;
        if (have > G_MAXUINT - PIECE) {
            *reason = "too long for a trace";
            break;
        }
        g_byte_array_set_size(text, have + PIECE);
        ssize_t n = dome__io_read_some(fd, text->data + have, PIECE);
        g_byte_array_set_size(text, have + (guint)MAX(n, 0));
        if (n < 0)
            *reason = g_strerror(errno);
        else if (n > 0 && (text->len <= sizeof MAGIC || is_trace((char *)text->data, text->len, reason)))
            continue;
        else if (n == 0)
            return text;
        break;
    }
    g_byte_array_unref(text);
    return NULL;
}

dome_trace_file *dome__trace_read(const char *path, char **message)
{
    const char *reason = NULL;
    char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* without a writer a FIFO counts as empty, instead of
                                                                        * waiting for one */
    GByteArray *text = NULL;
    dome_trace_file *file = NULL;
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0)
        reason = g_strerror(errno);
    else
        text = read_all(fd, &reason);
    if (text) {
        file = dome__trace_parse((char *)text->data, text->len, &why);
        g_byte_array_unref(text);
    }
    if (!file)
        *message = g_strdup_printf("%s: %s", path, why ? why : reason);
    g_free(why);
    if (fd >= 0)
        close(fd);
    return file;
}

void dome__trace_file_free(dome_trace_file *file)
{
    if (!file)
        return;
    GArray *arrays[] = {file->runs,   file->tasks, file->spans, file->samples, file->objects,     file->layouts, file->totals,
                        file->waited, file->marks, file->views, file->regions, file->unit_writes, file->pairs};
    for (size_t k = 0; k < G_N_ELEMENTS(arrays); k++)
        g_array_unref(arrays[k]);
    g_ptr_array_unref(file->names);
    g_free(file);
}

const char *dome__trace_name(const dome_trace_file *file, uint64_t code)
{
    const char *name = code < file->names->len ? g_ptr_array_index(file->names, code) : NULL;
    return name ? name : "an unknown operation";
}

/* 0 if a number has gone down: another process has the task's place since. */
static double grown(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) : 0;
}

dome_trace_load dome__trace_load(const dome_trace_sample *a, const dome_trace_sample *b)
{
    double all = MAX((double)(b->time - a->time), 1), without = MIN(grown(a->wanted_ns, b->wanted_ns), all);
    double waited = MIN(grown(a->wait_ns, b->wait_ns), all);
    dome_trace_load load = {.processor = grown(a->cpu_ns, b->cpu_ns) / all, .without = without / all};
    load.waiting = dome__really_waited(all, grown(a->had_ns, b->had_ns), without, waited) / all;
    load.host = grown(a->host_busy_ms, b->host_busy_ms) * 1e6 / all;
    return load;
}
