#include "trace/record.h"

#include "core/environment.h"
#include "core/type_private.h"
#include "system/environment_variables.h"
#include "system/time.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Bytes of the ring: a power of two. */
enum { RING = 1 << 20 };

/* Operations shorter than this are merged with their neighbours: a fraction of the time since the start, but at least
 * LEAST_GRAIN. A run of merged operations lasts at most LONGEST_GROUP grains. */
enum { LEAST_GRAIN = 200 * 1000, GRAIN_PART = 10000, LONGEST_GROUP = 50 };

/* Least time between samples, between totals and between layouts: ns, and a fraction of the time since the start. */
enum { SAMPLE_NS = 100 * 1000 * 1000, SAMPLE_PART = 500, TOTALS_NS = 1000 * 1000 * 1000, TOTALS_PART = 100 };
enum { LAYOUT_NS = 1000 * 1000, LAYOUT_PART = 5000 };

/* Most objects that are recorded: a program that makes vectors in a loop makes any number of them. */
enum { OBJECTS = 2000 };

/* Longest name in a line, in bytes. */
enum { LONGEST_TEXT = 1000 };

/* Measurements of the clock: this many at the start, close to each other; then one every CLOCK_EVERY seconds. The best of a
 * window is used. */
enum { FIRST_CLOCKS = 8 };
static const double CLOCK_SOON = 0.02, CLOCK_EVERY = 1;
enum { WINDOW_NS = 2000 * 1000 * 1000, WINDOW_PART = 50 };

struct dome_trace {
    const dome_env *env;
    int rank;
    uint32_t number;
    int64_t shift; /* of this task's clock, ns; drift: how much too fast it is, in millionths; for tests */
    int64_t drift;
    uint64_t begin;

    /* the ring: head and tail only grow */
    char *ring;
    atomic_uint_fast64_t head, tail;
    uint64_t dropped;

    /* the operations being merged: from `start` to `end` */
    struct {
        uint64_t start, end, wait, compute;
        unsigned operations;
    } group;
    GArray *codes;  /* uint32_t, the operations in the group */
    GArray *counts; /* uint32_t, by code: calls in the group */

    uint64_t totals_at;
    dome_trace_totals *others; /* of other parts; NULL: none */
    void *others_ctx;
    GArray *told;         /* uint64_t, by code: calls and waits that have been written in totals, added up: both only grow */
    uint64_t *told_waits; /* by rank: time waiting for it that has been written */
    unsigned objects;
    uint64_t last_object; /* number of the last recorded object */
    uint64_t layout_at;
    GPtrArray *held; /* dome_layout, the last of each domain, not written yet */
    GArray *held_at; /* uint64_t, when each was set */

    /* used by the other thread */
    uint64_t sampled_at;
    unsigned clocks;
    double clock_at;
    uint64_t window_end, window_error;
    unsigned window;
};

/* "1:5000000,2:-3000000:50": in tests the clocks of tasks differ, by ns, and run too fast, by millionths. */
static void take_test_clock(dome_trace *trace)
{
    const char *text = g_getenv(DOME_VARIABLE_TEST_SHIFT);
    while (text && *text) {
        char *end;
        long of = strtol(text, &end, 10);
        int64_t shift = *end == ':' ? strtoll(end + 1, &end, 10) : 0, drift = *end == ':' ? strtoll(end + 1, &end, 10) : 0;
        if (of == trace->rank) {
            trace->shift = shift;
            trace->drift = drift;
        }
        text = *end == ',' ? end + 1 : NULL;
    }
}

dome_trace *dome__trace_new(int rank, uint32_t number)
{
    dome_trace *trace = g_new0(dome_trace, 1);
    trace->rank = rank;
    trace->number = number;
    trace->begin = dome__now_ns();
    take_test_clock(trace);
    trace->ring = g_malloc(RING);
    trace->codes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    trace->counts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    trace->told = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    trace->held = g_ptr_array_new_with_free_func((GDestroyNotify)dome_layout_unref);
    trace->held_at = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return trace;
}

void dome__trace_free(dome_trace *trace)
{
    if (!trace)
        return;
    g_array_unref(trace->codes);
    g_array_unref(trace->counts);
    g_array_unref(trace->told);
    g_ptr_array_unref(trace->held);
    g_array_unref(trace->held_at);
    g_free(trace->told_waits);
    g_free(trace->ring);
    g_free(trace);
}

uint32_t dome__trace_number(const dome_trace *trace)
{
    return trace->number;
}

/* ---- lines ---- */

static void ring_copy(dome_trace *trace, uint64_t head, const char *line, size_t length)
{
    size_t at = head & (RING - 1), first = MIN(length, RING - at);
    memcpy(trace->ring + at, line, first);
    memcpy(trace->ring, line + first, length - first);
}

static bool ring_put(dome_trace *trace, const char *line, size_t length)
{
    uint64_t head = atomic_load_explicit(&trace->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&trace->tail, memory_order_acquire);
    if (RING - (head - tail) < length)
        return false;
    ring_copy(trace, head, line, length);
    atomic_store_explicit(&trace->head, head + length, memory_order_release);
    return true;
}

typedef struct text_line {
    char text[256];
    size_t length;
} text_line;

static void put_number(text_line *line, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    line->text[line->length++] = ' ';
    while (n > 0)
        line->text[line->length++] = digits[--n];
}

/* A time of dome__now_ns on the trace's clock. A test's shift may lead to a time before the clock's zero. */
static uint64_t time_of(const dome_trace *trace, uint64_t ns)
{
    int64_t time = (int64_t)ns + trace->shift + (int64_t)(ns - trace->begin) * trace->drift / 1000000;
    return time > 0 ? (uint64_t)time : 0;
}

static void put_time(const dome_trace *trace, text_line *line, uint64_t ns)
{
    put_number(line, time_of(trace, ns));
}

static void begin_line(text_line *line, char kind)
{
    line->text[0] = kind;
    line->length = 1;
}

static void write_text(dome_trace *trace, const char *text, size_t length)
{
    if (trace->dropped > 0) {
        text_line note;
        begin_line(&note, 'd');
        put_time(trace, &note, dome__now_ns());
        put_number(&note, trace->dropped);
        note.text[note.length++] = '\n';
        if (ring_put(trace, note.text, note.length))
            trace->dropped = 0;
    }
    if (length > DOME_TRACE_LINE || !ring_put(trace, text, length))
        trace->dropped++;
}

static void end_line(dome_trace *trace, text_line *line)
{
    line->text[line->length++] = '\n';
    write_text(trace, line->text, line->length);
}

static void end_string(dome_trace *trace, GString *line)
{
    g_string_append_c(line, '\n');
    write_text(trace, line->str, line->len);
    g_string_free(line, TRUE);
}

void dome__trace_put_text(GString *line, const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    g_string_append_c(line, ' ');
    if (!*valid)
        g_string_append(line, "%");
    for (const char *c = valid; *c && c - valid < LONGEST_TEXT; c = g_utf8_next_char(c))
        if ((unsigned char)*c <= ' ' || *c == '%' || *c == 127)
            g_string_append_printf(line, "%%%02x", (unsigned char)*c);
        else
            g_string_append_len(line, c, g_utf8_next_char(c) - c);
    g_free(valid);
}

static GString *new_string(const dome_trace *trace, char kind, uint64_t ns)
{
    text_line line;
    begin_line(&line, kind);
    put_time(trace, &line, ns);
    return g_string_new_len(line.text, (gssize)line.length);
}

static void put_u64(GString *line, uint64_t value)
{
    g_string_append_printf(line, " %" PRIu64, value);
}

/* ---- operations ---- */

static uint64_t grain(const dome_trace *trace, uint64_t now)
{
    uint64_t part = now > trace->begin ? (now - trace->begin) / GRAIN_PART : 0;
    return MAX(part, LEAST_GRAIN);
}

static gint by_code(gconstpointer a, gconstpointer b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A place in an array by code. */
static void *at_code(GArray *array, uint32_t code)
{
    if (code >= array->len)
        g_array_set_size(array, code + 1);
    return array->data + (gsize)code * g_array_get_element_size(array);
}

static void count_in_group(dome_trace *trace, uint32_t code)
{
    uint32_t *count = at_code(trace->counts, code);
    if ((*count)++ == 0)
        g_array_append_val(trace->codes, code);
}

static void write_group(dome_trace *trace)
{
    GArray *codes = trace->codes;
    if (trace->group.operations == 0)
        return;
    GString *line = new_string(trace, 'g', trace->group.start);
    put_u64(line, trace->group.end - trace->group.start);
    put_u64(line, trace->group.compute);
    put_u64(line, trace->group.wait);
    g_array_sort(codes, by_code);
    for (guint k = 0; k < codes->len; k++) {
        const uint32_t code = g_array_index(codes, uint32_t, k);
        uint32_t *count = at_code(trace->counts, code);
        g_string_append_printf(line, " %u %u", code, *count);
        *count = 0;
    }
    end_string(trace, line);
    g_array_set_size(codes, 0);
    memset(&trace->group, 0, sizeof trace->group);
}

/* A line is written once the time waiting for a task has grown by `least` ns. */
static void write_waits(dome_trace *trace, uint64_t now, uint64_t least)
{
    const dome_transport *t = trace->env->transport;
    for (int r = 0; t->account.waited_for && r < t->group.size; r++) {
        uint64_t waited = t->account.waited_for[r];
        if (waited - trace->told_waits[r] < least)
            continue;
        trace->told_waits[r] = waited;
        text_line line;
        begin_line(&line, 'W');
        put_time(trace, &line, now);
        put_number(&line, (uint64_t)r);
        put_number(&line, waited);
        end_line(trace, &line);
    }
}

static void write_total(dome_trace *trace, uint64_t now, unsigned code, const dome_clock_entry *entry)
{
    text_line line;
    begin_line(&line, 'c');
    put_time(trace, &line, now);
    put_number(&line, code);
    put_number(&line, entry->count);
    put_number(&line, entry->compute_ns);
    put_number(&line, entry->wait_ns);
    put_number(&line, entry->bytes);
    end_line(trace, &line);
}

/* The totals add up to the time since the clock started: that outside operations is the program's own. */
static void write_totals(dome_trace *trace, uint64_t now)
{
    uint64_t inside = 0, ran = dome__clock_ran_ns(trace->env);
    trace->totals_at = now;
    for (uint32_t k = 1; k < dome__operation_count(); k++) {
        const uint32_t code = dome__operation_at(k);
        const dome_clock_entry *entry = dome__clock_entry_of(trace->env, code);
        uint64_t *told = at_code(trace->told, code);
        inside += entry->compute_ns + entry->wait_ns;
        if (entry->count + entry->wait_ns == *told)
            continue;
        *told = entry->count + entry->wait_ns;
        write_total(trace, now, code, entry);
    }
    write_total(trace, now, DOME_OP_NONE, &(dome_clock_entry){.compute_ns = ran > inside ? ran - inside : 0});
    if (trace->others)
        trace->others(trace, trace->others_ctx);
}

static void write_layout(dome_trace *trace, const dome_layout *layout, uint64_t object, uint64_t at)
{
    uint64_t start;
    dome_layout_run(layout, 0, &start);
    GString *line = new_string(trace, 'y', at);
    put_u64(line, object);
    put_u64(line, dome_layout_length(layout));
    put_u64(line, dome_layout_block_size(layout));
    put_u64(line, start);
    for (int r = 0; r < dome_layout_tasks(layout); r++)
        put_u64(line, dome_layout_run(layout, r, NULL));
    end_string(trace, line);
}

static void write_held(dome_trace *trace, uint64_t now)
{
    for (guint k = 0; k < trace->held->len; k++)
        write_layout(trace, g_ptr_array_index(trace->held, k), 0, g_array_index(trace->held_at, uint64_t, k));
    g_ptr_array_set_size(trace->held, 0);
    g_array_set_size(trace->held_at, 0);
    trace->layout_at = now;
}

static bool is_due(const dome_trace *trace, uint64_t last, uint64_t now, uint64_t least, uint64_t part)
{
    uint64_t age = now > trace->begin ? now - trace->begin : 0;
    return now < last || now - last >= MAX(least, age / part);
}

void dome__trace_operation(dome_trace *trace, uint32_t code, const dome_object *object, uint64_t start, uint64_t took,
                           uint64_t wait)
{
    if (!trace)
        return;
    uint64_t now = start + took, limit = grain(trace, now);
    bool later = start >= trace->group.end && start - trace->group.end < limit; /* after the group, and soon */
    if (trace->group.operations > 0 && (took >= limit || !later || now - trace->group.start > LONGEST_GROUP * limit))
        write_group(trace);
    if (took >= limit) {
        text_line line;
        begin_line(&line, 'o');
        put_time(trace, &line, start);
        put_number(&line, took);
        put_number(&line, MIN(wait, took));
        put_number(&line, code);
        put_number(&line, object ? dome_object_id(object) : 0);
        end_line(trace, &line);
    } else {
        if (trace->group.operations++ == 0)
            trace->group.start = start;
        trace->group.end = now;
        trace->group.wait += MIN(wait, took);
        trace->group.compute += took - MIN(wait, took);
        count_in_group(trace, code);
    }
    if (trace->env && is_due(trace, trace->totals_at, now, TOTALS_NS, TOTALS_PART)) {
        write_totals(trace, now);
        write_waits(trace, now, now > trace->begin ? (now - trace->begin) / TOTALS_PART : 1);
    }
    if (trace->held->len > 0 && is_due(trace, trace->layout_at, now, LAYOUT_NS, LAYOUT_PART))
        write_held(trace, now);
}

static void write_span(dome_trace *trace, char kind, uint64_t start, uint64_t took, uint64_t a, uint64_t b, uint64_t c)
{
    if (trace->group.end <= start)
        write_group(trace); /* a group must not extend over an event that is not part of it */
    text_line line;
    begin_line(&line, kind);
    put_time(trace, &line, start);
    put_number(&line, took);
    put_number(&line, a);
    if (kind != 'w' && kind != 'e')
        put_number(&line, b);
    if (kind == 'm' || kind == 'b')
        put_number(&line, c);
    end_line(trace, &line);
}

void dome__trace_wait(dome_trace *trace, int rank, uint64_t start, uint64_t took)
{
    if (trace && took >= grain(trace, start + took))
        write_span(trace, 'w', start, took, (uint64_t)rank, 0, 0);
}

void dome__trace_evaluation(dome_trace *trace, unsigned operations, uint64_t start, uint64_t took)
{
    if (trace && took >= grain(trace, start + took))
        write_span(trace, 'e', start, took, operations, 0, 0);
}

void dome__trace_help(dome_trace *trace, int rank, uint64_t start, uint64_t blocks)
{
    uint64_t took = dome__since_ns(start);
    if (trace && took >= grain(trace, start + took))
        write_span(trace, 'h', start, took, (uint64_t)rank, blocks, 0);
}

void dome__trace_migration(dome_trace *trace, const dome_layout *layout, uint64_t start, uint64_t bytes, uint64_t blocks)
{
    if (trace)
        write_span(trace, 'm', start, dome__since_ns(start), dome_layout_length(layout), bytes, blocks);
}

void dome__trace_phase(dome_trace *trace, uint64_t start, bool moved, double imbalance, double elapsed)
{
    if (trace && trace->rank == 0)
        write_span(trace, 'b', start, dome__since_ns(start), moved, (uint64_t)(imbalance * 1e6), (uint64_t)(elapsed * 1e9));
}

void dome__trace_checkpoint(dome_trace *trace, uint64_t number, uint64_t start, uint64_t written)
{
    if (trace)
        write_span(trace, 'k', start, dome__since_ns(start), number, written, 0);
}

static void write_mark(dome_trace *trace, char kind, uint64_t number)
{
    if (!trace || trace->rank != 0)
        return;
    text_line line;
    begin_line(&line, kind);
    put_time(trace, &line, dome__now_ns());
    put_number(&line, number);
    end_line(trace, &line);
}

void dome__trace_checkpoint_failed(dome_trace *trace, uint64_t number)
{
    write_mark(trace, 'K', number);
}

void dome__trace_restart(dome_trace *trace, uint64_t number)
{
    write_mark(trace, 'r', number);
}

/* ---- totals of other parts ---- */

void dome__trace_on_totals(dome_trace *trace, dome_trace_totals *totals, void *ctx)
{
    if (!trace)
        return;
    trace->others = totals;
    trace->others_ctx = ctx;
}

void dome__trace_region(dome_trace *trace, const dome_trace_region *region)
{
    GString *line = new_string(trace, 'u', dome__now_ns());
    dome__trace_put_text(line, region->name);
    put_u64(line, region->reads);
    put_u64(line, region->writes);
    put_u64(line, region->units);
    put_u64(line, region->bytes);
    put_u64(line, region->waited_ns);
    end_string(trace, line);
}

static void put_runs(GString *line, const dome_element_run *runs, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        put_u64(line, runs[k].first);
        put_u64(line, runs[k].count);
    }
}

void dome__trace_unit(dome_trace *trace, const dome_trace_unit *unit)
{
    GString *line = new_string(trace, 'U', dome__now_ns());
    dome__trace_put_text(line, unit->name);
    put_u64(line, unit->region);
    put_u64(line, unit->unit);
    put_u64(line, unit->task);
    put_u64(line, unit->turns);
    put_u64(line, unit->written_count);
    put_runs(line, unit->written, unit->written_count);
    put_runs(line, unit->read, unit->read_count);
    if (line->len < DOME_TRACE_LINE)
        end_string(trace, line);
    else
        g_string_free(line, TRUE);
}

/* ---- objects and layouts: the same on all tasks, so rank 0 records them ---- */

void dome__trace_object(dome_trace *trace, const dome_object *object)
{
    dome_object_info info = {.size = sizeof info};
    if (!trace || trace->rank != 0 || trace->objects >= OBJECTS || dome_object_describe(object, &info) != DOME_OK)
        return;
    trace->objects++;
    uint64_t now = dome__now_ns(), id = trace->last_object = dome_object_id(object);
    GString *line = new_string(trace, 'v', now);
    put_u64(line, id);
    put_u64(line, info.length);
    put_u64(line, info.width);
    put_u64(line, info.distribution);
    put_u64(line, info.layout ? dome_layout_block_size(info.layout) : 0);
    dome__trace_put_text(line, info.type ? dome_type_name(info.type) : dome_object_operations(object)->kind);
    dome__trace_put_text(line, dome_object_name(object));
    end_string(trace, line);
    if (info.distribution == DOME_BLOCK && info.layout)
        write_layout(trace, info.layout, id, now);
}

void dome__trace_object_gone(dome_trace *trace, const dome_object *object)
{
    if (!trace || trace->rank != 0 || dome_object_id(object) > trace->last_object)
        return;
    text_line line;
    begin_line(&line, 'x');
    put_time(trace, &line, dome__now_ns());
    put_number(&line, dome_object_id(object));
    end_line(trace, &line);
}

static bool same_domain(const dome_layout *a, const dome_layout *b)
{
    return dome_layout_length(a) == dome_layout_length(b) && dome_layout_block_size(a) == dome_layout_block_size(b);
}

/* Another layout may follow at once, so a layout is held back, and only the last of its domain is written. */
void dome__trace_layout(dome_trace *trace, const dome_layout *layout)
{
    if (!trace || trace->rank != 0)
        return;
    uint64_t now = dome__now_ns();
    guint k = 0;
    while (k < trace->held->len && !same_domain(g_ptr_array_index(trace->held, k), layout))
        k++;
    if (k == trace->held->len) {
        g_ptr_array_add(trace->held, dome_layout_ref(layout));
        g_array_append_val(trace->held_at, now);
    } else {
        dome_layout_unref(g_ptr_array_index(trace->held, k));
        g_ptr_array_index(trace->held, k) = dome_layout_ref(layout);
        g_array_index(trace->held_at, uint64_t, k) = now;
    }
    if (is_due(trace, trace->layout_at, now, LAYOUT_NS, LAYOUT_PART))
        write_held(trace, now);
}

void dome__trace_operation_name(dome_trace *trace, uint32_t code)
{
    if (!trace || trace->rank != 0)
        return;
    GString *name = g_string_new("N");
    put_u64(name, code);
    dome__trace_put_text(name, dome__operation_name(code));
    end_string(trace, name);
}

void dome__trace_stand(dome_trace *trace, const dome_env *env)
{
    if (!trace)
        return;
    trace->env = env;
    trace->told_waits = g_new0(uint64_t, env->size);
    GString *line = new_string(trace, 'I', trace->begin);
    put_u64(line, (uint64_t)getpid());
    put_u64(line, (uint64_t)env->size);
    put_u64(line, g_get_num_processors());
    dome__trace_put_text(line, env->hosts[trace->rank]);
    end_string(trace, line);
    for (uint32_t k = 0; k < dome__operation_count(); k++)
        dome__trace_operation_name(trace, dome__operation_at(k));
}

void dome__trace_catch_up(dome_trace *trace, const dome_trace_before *before)
{
    uint64_t now = dome__now_ns();
    if (trace->rank == 0) {
        text_line line;
        begin_line(&line, 'B');
        put_time(trace, &line, now);
        put_number(&line, before->ran_ns);
        put_number(&line, before->checkpoints ? before->checkpoint + 1 : 0);
        put_number(&line, before->checkpoint_ns);
        put_number(&line, (uint64_t)(before->imbalance * 1e6));
        end_line(trace, &line);
        const dome_layout *layout;
        for (unsigned k = 0; (layout = dome__registry_layout(trace->env, k)); k++)
            write_layout(trace, layout, 0, now);
        for (const dome_object *o = NULL; (o = dome_object_next(trace->env, o));)
            dome__trace_object(trace, o);
    }
    write_totals(trace, now);
    write_waits(trace, now, 1);
}

void dome__trace_flush(dome_trace *trace)
{
    if (!trace || !trace->env)
        return;
    uint64_t now = dome__now_ns();
    write_group(trace);
    write_held(trace, now);
    write_totals(trace, now);
    write_waits(trace, now, 1);
}

/* ---- the other thread ---- */

uint64_t dome__trace_now(const dome_trace *trace)
{
    return time_of(trace, dome__now_ns());
}

/* Milliseconds that all processors of this host have worked, added up. */
static uint64_t host_busy_ms(void)
{
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *file = fopen("/proc/stat", "re");
    int n = file ? fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq,
                          &softirq, &steal)
                 : 0;
    if (file)
        fclose(file);
    long hertz = sysconf(_SC_CLK_TCK);
    return n == 8 && hertz > 0 ? (user + nice + system + irq + softirq) * 1000 / (unsigned long long)hertz : 0;
}

static uint64_t resident_kb(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu %lu", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void sample(dome_trace *trace, uint64_t now, uint64_t wait_ns, GString *lines)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    trace->sampled_at = now;
    GString *line = new_string(trace, 's', now);
    put_u64(line, (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec);
    put_u64(line, wait_ns);
    put_u64(line, host_busy_ms());
    put_u64(line, resident_kb());
    dome_processor_time processor = trace->env ? dome__clock_processor(trace->env) : (dome_processor_time){0};
    put_u64(line, processor.had_ns);
    put_u64(line, processor.wanted_ns);
    g_string_append_printf(lines, "%s\n", line->str);
    g_string_free(line, TRUE);
}

bool dome__trace_take(dome_trace *trace, uint64_t wait_ns, bool last, size_t most, GString *lines)
{
    uint64_t tail = atomic_load_explicit(&trace->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&trace->head, memory_order_acquire), now = dome__now_ns();
    if (head > 0 && (last || is_due(trace, trace->sampled_at, now, SAMPLE_NS, SAMPLE_PART)))
        sample(trace, now, wait_ns, lines);
    size_t length = MIN(head - tail, most), at = tail & (RING - 1), first = MIN(length, RING - at);
    bool more = head - tail > length;
    gsize before = lines->len;
    g_string_append_len(lines, trace->ring + at, (gssize)first);
    g_string_append_len(lines, trace->ring, (gssize)(length - first));
    while (more && length > 0 && lines->str[before + length - 1] != '\n')
        length--;
    g_string_truncate(lines, before + length);
    atomic_store_explicit(&trace->tail, tail + length, memory_order_release);
    return more;
}

double dome__trace_clock_due(dome_trace *trace)
{
    double now = dome__now();
    if (now < trace->clock_at)
        return trace->clock_at - now;
    trace->clock_at = now + (trace->clocks++ < FIRST_CLOCKS ? CLOCK_SOON : CLOCK_EVERY);
    return 0;
}

void dome__trace_clock(dome_trace *trace, int64_t offset, uint64_t time, uint64_t error, GString *lines)
{
    uint64_t now = dome__now_ns();
    if (now >= trace->window_end) {
        trace->window++;
        trace->window_end = now + MAX((now - trace->begin) / WINDOW_PART, WINDOW_NS);
        trace->window_error = UINT64_MAX;
    }
    if (error >= trace->window_error)
        return;
    trace->window_error = error;
    g_string_append_printf(lines, "C %u %" PRIu64 " %" PRId64 " %" PRIu64 "\n", trace->window, time, offset, error);
}
