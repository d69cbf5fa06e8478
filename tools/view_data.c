#include "view_data.h"

#include "core/clock.h"
#include "core/layout.h"
#include "network/network_file.h"
#include "network_picture.h"
#include "region/unit_writes.h"
#include "trace/chrome.h"

#include <inttypes.h>
#include <string.h>

/* view.html, embedded by cmake/Embed.cmake. */
extern const unsigned char dome__view_html[];
extern const size_t dome__view_html_size;

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static void seconds_or_null(FILE *to, bool known, int64_t ns)
{
    if (known)
        fprintf(to, "%.6f", seconds(ns));
    else
        fputs("null", to);
}

static const char *comma(bool *first)
{
    const char *text = *first ? "" : ",";
    *first = false;
    return text;
}

static void write_runs(const dome_trace_file *file, FILE *to)
{
    bool first = true;
    fputs(",\n\"runs\":[", to);
    for (guint k = 0; k < file->runs->len; k++) {
        const dome_trace_run *r = &g_array_index(file->runs, dome_trace_run, k);
        fprintf(to, "%s{\"begin\":%.6f,\"end\":", comma(&first), seconds(r->begin));
        seconds_or_null(to, r->ended, r->end);
        fprintf(to, ",\"before\":%.6f,\"tasks\":%d", seconds(r->before), r->tasks);
        if (r->ended)
            fprintf(to, ",\"status\":%d", r->status);
        fputs("}", to);
    }
    first = true;
    fputs("],\n\"tasks\":[", to);
    for (guint k = 0; k < file->tasks->len; k++) {
        const dome_trace_task *t = &g_array_index(file->tasks, dome_trace_task, k);
        fprintf(to, "%s{\"run\":%d,\"rank\":%d,\"processors\":%d,\"clock_error_ms\":%.3f,\"host\":", comma(&first), t->run,
                t->rank, t->processors, (double)t->clock_error * 1e-6);
        dome__json_text(to, t->host ? t->host : "?");
        fputs("}", to);
    }
    fputs("]", to);
}

/* The picture of the tasks' hosts, if dome net has measured their links. */
static void write_network(const dome_trace_file *file, FILE *to)
{
    char *note = NULL;
    GPtrArray *hosts = g_ptr_array_new();
    for (guint k = 0; k < file->tasks->len; k++) {
        char *host = g_array_index(file->tasks, dome_trace_task, k).host;
        if (host && host[0] && !g_ptr_array_find_with_equal_func(hosts, host, g_str_equal, NULL))
            g_ptr_array_add(hosts, host);
    }
    dome_network *network = hosts->len > 1 ? dome__network_read((int)hosts->len, (char **)hosts->pdata, &note) : NULL;
    if (network) {
        char *picture = dome__network_picture(network);
        fputs(",\n\"network\":", to);
        dome__json_text(to, picture);
        g_free(picture);
    }
    dome__network_free(network);
    g_ptr_array_unref(hosts);
    g_free(note);
}

/* Layouts for the same vectors, in the order of their first one. */
typedef struct group {
    int run;
    uint64_t object, length, block_size;
    GArray *layouts; /* const dome_trace_layout * */
} group;

static guint group_hash(gconstpointer key)
{
    const group *g = key;
    uint64_t numbers[] = {(uint64_t)g->run, g->object, g->length, g->block_size}, hash = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++)
        hash = (hash ^ numbers[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return (guint)(hash >> 32);
}

static gboolean group_equal(gconstpointer a, gconstpointer b)
{
    const group *g = a, *h = b;
    return g->run == h->run && g->object == h->object && g->length == h->length && g->block_size == h->block_size;
}

static void free_group(gpointer data)
{
    group *g = data;
    g_array_unref(g->layouts);
    g_free(g);
}

/* Groups, and tables for finding them. */
typedef struct grouping {
    GPtrArray *groups;
    GHashTable *places;    /* group -> its position, plus 1 */
    GHashTable *of_object; /* run and object without its layout -> position of the first group, plus 1 */
} grouping;

static group *add_group(grouping *all, const group *like)
{
    group *g = g_memdup2(like, sizeof *like), *short_key = g_new0(group, 1);
    *short_key = (group){.run = g->run, .object = g->object};
    g->layouts = g_array_new(FALSE, FALSE, sizeof(const dome_trace_layout *));
    g_ptr_array_add(all->groups, g);
    g_hash_table_insert(all->places, g, GUINT_TO_POINTER(all->groups->len));
    if (g_hash_table_contains(all->of_object, short_key))
        g_free(short_key);
    else
        g_hash_table_insert(all->of_object, short_key, GUINT_TO_POINTER(all->groups->len));
    return g;
}

static grouping group_layouts(const dome_trace_file *file)
{
    grouping all = {g_ptr_array_new_with_free_func(free_group), g_hash_table_new(group_hash, group_equal),
                    g_hash_table_new_full(group_hash, group_equal, g_free, NULL)};
    for (guint k = 0; k < file->layouts->len; k++) {
        const dome_trace_layout *l = &g_array_index(file->layouts, dome_trace_layout, k);
        group wanted = {.run = l->run, .object = l->object, .length = l->length, .block_size = l->block_size};
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(all.places, &wanted));
        group *g = place ? all.groups->pdata[place - 1] : add_group(&all, &wanted);
        g_array_append_val(g->layouts, l);
    }
    return all;
}

static int group_of(const grouping *all, const dome_trace_object *o)
{
    group dynamic = {.run = o->run, .length = o->length, .block_size = o->block_size}, own = {.run = o->run, .object = o->id};
    gpointer place =
        o->distribution == 0 ? g_hash_table_lookup(all->places, &dynamic) : g_hash_table_lookup(all->of_object, &own);
    return (int)GPOINTER_TO_UINT(place) - 1;
}

static void free_grouping(grouping *all)
{
    g_hash_table_destroy(all->places);
    g_hash_table_destroy(all->of_object);
    g_ptr_array_unref(all->groups);
}

static void write_layouts(const dome_trace_file *file, FILE *to)
{
    grouping all = group_layouts(file);
    bool first = true;
    fputs(",\n\"groups\":[", to);
    for (guint k = 0; k < all.groups->len; k++) {
        const group *g = all.groups->pdata[k];
        bool next = true;
        fprintf(to, "%s{\"run\":%d,\"length\":%" PRIu64 ",\"block\":%" PRIu64 ",\"layouts\":[", comma(&first), g->run, g->length,
                g->block_size);
        for (guint i = 0; i < g->layouts->len; i++) {
            const dome_trace_layout *l = g_array_index(g->layouts, const dome_trace_layout *, i);
            fprintf(to, "%s\n[%.6f,%" PRIu64 ",[", comma(&next), seconds(l->time), l->start);
            for (int r = 0; r < l->tasks; r++)
                fprintf(to, "%s%" PRIu64, r ? "," : "", l->counts[r]);
            fputs("]]", to);
        }
        fputs("]}", to);
    }
    first = true;
    fputs("],\n\"vectors\":[", to);
    for (guint k = 0; k < file->objects->len; k++) {
        const dome_trace_object *o = &g_array_index(file->objects, dome_trace_object, k);
        fprintf(to, "%s{\"run\":%d,\"from\":%.6f,\"to\":", comma(&first), o->run, seconds(o->from));
        seconds_or_null(to, o->to != INT64_MAX, o->to);
        fprintf(to, ",\"length\":%" PRIu64 ",\"width\":%" PRIu64 ",\"distribution\":\"%s\",\"group\":%d,\"type\":", o->length,
                o->width, dome__distribution_word((uint64_t)o->distribution), group_of(&all, o));
        dome__json_text(to, o->type);
        fputs(",\"name\":", to);
        dome__json_text(to, o->name);
        fputs("}", to);
    }
    fputs("]", to);
    free_grouping(&all);
}

/* [time, number, tasks, hosts, run, kind, why, noticing, then the other parts of the change, or nothing if they are not known] */
static void write_views(const dome_trace_file *file, FILE *to)
{
    fputs(",\n\"views\":[", to);
    for (guint k = 0; k < file->views->len; k++) {
        const dome_trace_view *v = &g_array_index(file->views, dome_trace_view, k);
        fprintf(to, "%s\n[%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,", k ? "," : "", seconds(v->time), v->number, v->tasks,
                v->hosts, v->run);
        dome__json_text(to, v->kind);
        fputc(',', to);
        dome__json_text(to, v->why);
        fprintf(to, ",%.6f", (double)v->noticing * 1e-9);
        if (v->timed)
            fprintf(to, ",%.6f,%.6f,%.6f,%.6f", (double)v->members * 1e-9, (double)v->blocks * 1e-9, (double)v->joining * 1e-9,
                    (double)v->preamble * 1e-9);
        fputc(']', to);
    }
    fputc(']', to);
}

/* A checkpoint as a whole; every task writes a part of it. */
typedef struct whole_checkpoint {
    int64_t begin, end;
    uint64_t number, bytes;
    int run;
} whole_checkpoint;

static void write_checkpoints(const dome_trace_file *file, FILE *to)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(whole_checkpoint));
    GHashTable *places = g_hash_table_new_full(group_hash, group_equal, g_free, NULL); /* run and number -> position, plus 1 */
    for (guint k = 0; k < file->spans->len; k++) {
        const dome_trace_span *s = &g_array_index(file->spans, dome_trace_span, k);
        if (s->kind != 'k')
            continue;
        int run = g_array_index(file->tasks, dome_trace_task, s->task).run;
        group key = {.run = run, .object = s->a};
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, &key));
        if (place == 0) {
            whole_checkpoint new = {.begin = s->start, .number = s->a, .run = run};
            g_array_append_val(all, new);
            place = all->len;
            g_hash_table_insert(places, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place));
        }
        whole_checkpoint *c = &g_array_index(all, whole_checkpoint, place - 1);
        c->begin = MIN(c->begin, s->start);
        c->end = MAX(c->end, s->start + s->took);
        c->bytes += s->b;
    }
    fputs(",\n\"checkpoints\":[", to);
    for (guint k = 0; k < all->len; k++) {
        const whole_checkpoint *c = &g_array_index(all, whole_checkpoint, k);
        fprintf(to, "%s[%.6f,%.6f,%" PRIu64 ",%" PRIu64 "]", k ? "," : "", seconds(c->begin), seconds(c->end - c->begin),
                c->number, c->bytes);
    }
    fputs("]", to);
    g_array_unref(all);
    g_hash_table_destroy(places);
}

static void write_marks(const dome_trace_file *file, FILE *to)
{
    bool first = true;
    uint64_t bytes = 0;
    fputs(",\n\"phases\":[", to);
    for (guint k = 0; k < file->spans->len; k++) {
        const dome_trace_span *s = &g_array_index(file->spans, dome_trace_span, k);
        if (s->kind == 'b')
            fprintf(to, "%s[%.6f,%.6f,%d,%.4f]", comma(&first), seconds(s->start), seconds(s->took), s->a != 0,
                    (double)s->b * 1e-6);
        else if (s->kind == 'm')
            bytes += s->b;
    }
    fprintf(to, "],\n\"moved_bytes\":%" PRIu64, bytes);
    write_checkpoints(file, to);
    first = true;
    fputs(",\n\"marks\":[", to);
    for (guint k = 0; k < file->marks->len; k++) {
        const dome_trace_mark *m = &g_array_index(file->marks, dome_trace_mark, k);
        fprintf(to, "%s[%.6f,\"%s\",", comma(&first), seconds(m->time),
                m->kind == 'F'   ? "failure"
                : m->kind == 'r' ? "restart"
                : m->kind == 'B' ? "begin"
                                 : "unwritten");
        dome__json_text(to, m->text);
        fputs("]", to);
    }
    fputs("]", to);
}

/* For each task: [from, to, processor, waiting, host's processors at work, MB, without a processor], as shares of the time
 * between. */
static void write_loads(const dome_trace_file *file, FILE *to)
{
    GPtrArray *of_task = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint k = 0; k < file->tasks->len; k++)
        g_ptr_array_add(of_task, g_array_new(FALSE, FALSE, sizeof(dome_trace_sample)));
    for (guint k = 0; k < file->samples->len; k++) {
        const dome_trace_sample *s = &g_array_index(file->samples, dome_trace_sample, k);
        g_array_append_vals(g_ptr_array_index(of_task, s->task), s, 1);
    }
    fputs(",\n\"loads\":[", to);
    for (guint k = 0; k < of_task->len; k++) {
        const GArray *samples = g_ptr_array_index(of_task, k);
        bool first = true;
        fputs(k ? ",\n[" : "\n[", to);
        for (guint i = 1; i < samples->len; i++) {
            const dome_trace_sample *a = &g_array_index(samples, dome_trace_sample, i - 1),
                                    *b = &g_array_index(samples, dome_trace_sample, i);
            if (b->time - a->time < 1000000) /* less says nothing */
                continue;
            dome_trace_load load = dome__trace_load(a, b);
            fprintf(to, "%s[%.4f,%.4f,%.3f,%.3f,%.2f,%.1f,%.3f]", comma(&first), seconds(a->time), seconds(b->time),
                    load.processor, load.waiting, load.host, (double)b->resident_kb * 1024e-6, load.without);
        }
        fputc(']', to);
    }
    fputc(']', to);
    g_ptr_array_unref(of_task);
}

/* The cost of an operation to a task, over all runs of the program. */
typedef struct cost {
    uint32_t code;
    int rank;
    uint64_t count;
    double compute, wait, bytes;
} cost;

static int by_code(gconstpointer a, gconstpointer b)
{
    const cost *x = a, *y = b;
    return x->code != y->code ? (x->code > y->code) - (x->code < y->code) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorted by code and rank, one entry for each pair. */
static GArray *sum_costs(const dome_trace_file *file)
{
    GArray *costs = g_array_sized_new(FALSE, FALSE, sizeof(cost), file->totals->len);
    for (guint k = 0; k < file->totals->len; k++) {
        const dome_trace_total *t = &g_array_index(file->totals, dome_trace_total, k);
        cost c = {t->code,
                  g_array_index(file->tasks, dome_trace_task, t->task).rank,
                  t->count,
                  (double)t->compute_ns * 1e-9,
                  (double)t->wait_ns * 1e-9,
                  (double)t->bytes};
        if (c.code > 0 && c.code < file->names->len)
            g_array_append_val(costs, c);
    }
    g_array_sort(costs, by_code);
    guint kept = 0;
    for (guint k = 0; k < costs->len; k++) {
        cost c = g_array_index(costs, cost, k), *last = kept ? &g_array_index(costs, cost, kept - 1) : NULL;
        if (last && last->code == c.code && last->rank == c.rank) {
            last->count += c.count;
            last->compute += c.compute;
            last->wait += c.wait;
            last->bytes += c.bytes;
        } else {
            g_array_index(costs, cost, kept++) = c;
        }
    }
    g_array_set_size(costs, kept);
    return costs;
}

/* Writes for each operation that task 0 has called one row: name, its calls, and for each task that has called it [rank,
 * computing and waiting seconds, bytes]. Values missing in the file take no room here. */
static void write_operations(const dome_trace_file *file, FILE *to)
{
    GArray *costs = sum_costs(file);
    bool first = true;
    fputs(",\n\"operations\":[", to);
    for (guint k = 0, next; k < costs->len; k = next) {
        const cost *c = &g_array_index(costs, cost, k);
        for (next = k; next < costs->len && g_array_index(costs, cost, next).code == c->code;)
            next++;
        if (c->rank != 0 || c->count == 0)
            continue;
        fprintf(to, "%s\n{\"name\":", comma(&first));
        dome__json_text(to, dome__trace_name(file, c->code));
        fprintf(to, ",\"calls\":%" PRIu64 ",\"tasks\":[", c->count);
        for (guint i = k; i < next; i++) {
            const cost *t = &g_array_index(costs, cost, i);
            fprintf(to, "%s[%d,%.6f,%.6f,%.0f]", i > k ? "," : "", t->rank, t->compute, t->wait, t->bytes);
        }
        fputs("]}", to);
    }
    fputc(']', to);
    g_array_unref(costs);
}

/* The uses of a task's time, in seconds, over all runs. Waiting is apart from work, by what the task waited in; so is the time in
 * which the task could have run and had no processor. */
enum { COMPUTING, OWN_CODE, CHECKPOINTS, MOVING, HALO, OTHER_WAIT, MOVING_WAIT, HALO_WAIT, WITHOUT, PARTS };

typedef struct wait_for {
    int rank;
    double seconds;
} wait_for;

typedef struct task_time {
    double parts[PARTS];
    double held;   /* other tasks waited for this one */
    GArray *waits; /* wait_for, longest first */
} task_time;

/* Traces of earlier builds have its former name. */
static bool is_halo(const char *name)
{
    return strcmp(name, "dvec_halo_elements") == 0 || strcmp(name, "dvec_halo_planes") == 0 || strcmp(name, "dvec_halo") == 0;
}

static void add_cost(double parts[PARTS], const char *name, double compute, double wait)
{
    int work = COMPUTING, waiting = OTHER_WAIT;
    if (strcmp(name, "load balancing") == 0 || strcmp(name, "dome_env_relayout") == 0) {
        work = MOVING;
        waiting = MOVING_WAIT;
    } else if (is_halo(name)) {
        work = HALO;
        waiting = HALO_WAIT;
    } else if (strcmp(name, "dome_checkpoint") == 0) {
        work = CHECKPOINTS;
    }
    parts[work] += compute;
    parts[waiting] += wait;
}

static int by_rank(gconstpointer a, gconstpointer b)
{
    const wait_for *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_seconds(gconstpointer a, gconstpointer b)
{
    const wait_for *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds)
                                    : (x->rank > y->rank) - (x->rank < y->rank);
}

/* One entry for each rank, of all runs; longest first. */
static void merge_waits(GArray *waits)
{
    guint kept = 0;
    g_array_sort(waits, by_rank);
    for (guint k = 0; k < waits->len; k++) {
        wait_for w = g_array_index(waits, wait_for, k), *last = kept ? &g_array_index(waits, wait_for, kept - 1) : NULL;
        if (last && last->rank == w.rank)
            last->seconds += w.seconds;
        else
            g_array_index(waits, wait_for, kept++) = w;
    }
    g_array_set_size(waits, kept);
    g_array_sort(waits, by_seconds);
}

static double sum_of(const double parts[PARTS], int from, int to)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        sum += parts[k];
    return sum;
}

/* Takes so many seconds out of the parts from `from` to `to`, of each in proportion. */
static void take_out(double parts[PARTS], int from, int to, double seconds)
{
    double sum = sum_of(parts, from, to), left = sum > 0 ? 1 - MIN(seconds / sum, 1) : 0;
    for (int k = from; k < to; k++)
        parts[k] *= left;
}

/* Times are by the clock on the wall: what of them a task spent without a processor is a part of its own. Returns what is left of
 * its waiting, as a part of it. */
static double set_apart(double parts[PARTS], const dome_trace_sample *last)
{
    double all = sum_of(parts, 0, WITHOUT), waited = sum_of(parts, OTHER_WAIT, WITHOUT), wanted = (double)last->wanted_ns * 1e-9;
    double in_waits = waited - dome__really_waited(all, (double)last->had_ns * 1e-9, wanted, waited);
    double in_work = MIN(wanted - in_waits, all - waited);
    take_out(parts, OTHER_WAIT, WITHOUT, in_waits);
    take_out(parts, COMPUTING, OTHER_WAIT, in_work);
    parts[WITHOUT] = in_waits + in_work;
    return waited > 0 ? 1 - in_waits / waited : 1;
}

/* Of each task of each run; waited: what is left of its waiting. */
static double (*sum_parts(const dome_trace_file *file, double *waited))[PARTS]
{
    double(*parts)[PARTS] = g_malloc0((file->tasks->len + 1) * sizeof *parts);
    const dome_trace_sample **last = g_new0(const dome_trace_sample *, file->tasks->len + 1);
    for (guint k = 0; k < file->totals->len; k++) {
        const dome_trace_total *t = &g_array_index(file->totals, dome_trace_total, k);
        if (t->code == 0)
            parts[t->task][OWN_CODE] += (double)t->compute_ns * 1e-9;
        else
            add_cost(parts[t->task], dome__trace_name(file, t->code), (double)t->compute_ns * 1e-9, (double)t->wait_ns * 1e-9);
    }
    for (guint k = 0; k < file->samples->len; k++) {
        const dome_trace_sample *s = &g_array_index(file->samples, dome_trace_sample, k);
        last[s->task] = !last[s->task] || s->time >= last[s->task]->time ? s : last[s->task];
    }
    for (guint k = 0; k < file->tasks->len; k++)
        waited[k] = last[k] && last[k]->wanted_ns > 0 ? set_apart(parts[k], last[k]) : 1;
    g_free(last);
    return parts;
}

static task_time *sum_times(const dome_trace_file *file)
{
    task_time *times = g_new0(task_time, file->size);
    double *really = g_new(double, file->tasks->len + 1), (*parts)[PARTS] = sum_parts(file, really);
    for (int r = 0; r < file->size; r++)
        times[r].waits = g_array_new(FALSE, FALSE, sizeof(wait_for));
    for (guint k = 0; k < file->tasks->len; k++)
        for (int part = 0; part < PARTS; part++)
            times[g_array_index(file->tasks, dome_trace_task, k).rank].parts[part] += parts[k][part];
    g_free(parts);
    for (guint k = 0; k < file->waited->len; k++) {
        const dome_trace_waited *w = &g_array_index(file->waited, dome_trace_waited, k);
        int rank = g_array_index(file->tasks, dome_trace_task, w->task).rank;
        if (w->rank >= file->size)
            continue;
        wait_for one = {w->rank, (double)w->ns * 1e-9 * really[w->task]};
        g_array_append_val(times[rank].waits, one);
        if (w->rank != rank)
            times[w->rank].held += one.seconds;
    }
    for (int r = 0; r < file->size; r++)
        merge_waits(times[r].waits);
    g_free(really);
    return times;
}

/* The parts of a task's time, how long others waited for it, and the tasks that it waited for longest; 0 for a task without any.
 */
static void write_times_of(const task_time *t, FILE *to)
{
    enum { LONGEST = 8 };
    double sum = t->held;
    for (int k = 0; k < PARTS; k++)
        sum += t->parts[k];
    if (!(sum > 0) && t->waits->len == 0) {
        fputc('0', to);
        return;
    }
    fputs("\n{\"parts\":[", to);
    for (int k = 0; k < PARTS; k++)
        fprintf(to, "%s%.6f", k ? "," : "", t->parts[k]);
    fprintf(to, "],\"held\":%.6f,\"waits\":[", t->held);
    for (guint k = 0; k < MIN(t->waits->len, LONGEST); k++) {
        const wait_for *w = &g_array_index(t->waits, wait_for, k);
        fprintf(to, "%s[%d,%.6f]", k ? "," : "", w->rank, w->seconds);
    }
    fputs("]}", to);
}

static void write_times(const dome_trace_file *file, FILE *to)
{
    task_time *times = sum_times(file);
    fputs(",\n\"times\":[", to);
    for (int r = 0; r < file->size; r++) {
        if (r)
            fputc(',', to);
        write_times_of(&times[r], to);
        g_array_unref(times[r].waits);
    }
    fputc(']', to);
    g_free(times);
}

/* ---- regions ---- */

/* By name, then by rank. */
static int by_region(gconstpointer a, gconstpointer b)
{
    const dome_trace_regions *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : x->task - y->task; /* task: a rank here */
}

/* Of all runs; one entry for each name and rank. The names are the file's. */
static GArray *sum_regions(const dome_trace_file *file)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(dome_trace_regions));
    for (guint k = 0; k < file->regions->len; k++) {
        dome_trace_regions r = g_array_index(file->regions, dome_trace_regions, k);
        r.task = g_array_index(file->tasks, dome_trace_task, r.task).rank;
        if (r.last)
            g_array_append_val(all, r);
    }
    g_array_sort(all, by_region);
    guint kept = 0;
    for (guint k = 0; k < all->len; k++) {
        const dome_trace_regions r = g_array_index(all, dome_trace_regions, k);
        dome_trace_regions *last = kept ? &g_array_index(all, dome_trace_regions, kept - 1) : NULL;
        if (last && by_region(last, &r) == 0) {
            last->reads += r.reads;
            last->writes += r.writes;
            last->units += r.units;
            last->bytes += r.bytes;
            last->waited_ns += r.waited_ns;
        } else {
            g_array_index(all, dome_trace_regions, kept++) = r;
        }
    }
    g_array_set_size(all, kept);
    return all;
}

static void write_regions(const dome_trace_file *file, FILE *to)
{
    GArray *all = sum_regions(file);
    fputs(",\n\"regions\":[", to);
    for (guint k = 0, next; k < all->len; k = next) {
        const char *name = g_array_index(all, dome_trace_regions, k).name;
        fputs(k ? ",\n{\"name\":" : "\n{\"name\":", to);
        dome__json_text(to, name);
        fputs(",\"tasks\":[", to);
        for (next = k; next < all->len && strcmp(g_array_index(all, dome_trace_regions, next).name, name) == 0; next++) {
            const dome_trace_regions *r = &g_array_index(all, dome_trace_regions, next);
            fprintf(to, "%s[%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f]", next > k ? "," : "", r->task, r->reads,
                    r->writes, r->units, r->bytes, (double)r->waited_ns * 1e-9);
        }
        fputs("]}", to);
    }
    fputc(']', to);
    g_array_unref(all);
}

/* What tasks have told of a unit, and of which region in which run that is. */
typedef struct told_unit {
    const char *name;
    int run;
    uint64_t region;
    dome_unit_told told;
} told_unit;

static int by_name(gconstpointer a, gconstpointer b)
{
    const told_unit *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : x->run != y->run ? x->run - y->run : (x->region > y->region) - (x->region < y->region);
}

/* One region: [name, units, task, elements, turns, other task, its elements, its turns]. */
static void write_shared_region(const told_unit *units, guint count, bool *first, FILE *to)
{
    GArray *told = g_array_new(FALSE, FALSE, sizeof(dome_unit_told));
    for (guint k = 0; k < count; k++)
        g_array_append_val(told, units[k].told);
    const dome_false_sharing found = dome__false_sharing_find(told);
    if (found.a) {
        fprintf(to, "%s\n[", comma(first));
        dome__json_text(to, units->name);
        fprintf(to, ",%" PRIu64, found.units);
        for (int k = 0; k < 2; k++) {
            const dome_unit_told *one = k ? found.b : found.a;
            char *elements = dome__element_runs_text(one->written);
            fprintf(to, ",%d,\"%s\",%" PRIu64, one->task, elements, one->turns);
            g_free(elements);
        }
        fputc(']', to);
    }
    g_array_unref(told);
}

static void write_shared(const dome_trace_file *file, FILE *to)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(told_unit));
    bool first = true;
    for (guint k = 0; k < file->unit_writes->len; k++) {
        const dome_trace_unit_writes *w = &g_array_index(file->unit_writes, dome_trace_unit_writes, k);
        const told_unit one = {w->name,
                               g_array_index(file->tasks, dome_trace_task, w->task).run,
                               w->region,
                               {w->member, w->unit, w->turns, w->written, w->read}};
        g_array_append_val(all, one);
    }
    g_array_sort(all, by_name);
    fputs(",\n\"shared\":[", to);
    for (guint k = 0, next; k < all->len; k = next) {
        const told_unit *units = &g_array_index(all, told_unit, k);
        for (next = k + 1; next < all->len && by_name(units, &g_array_index(all, told_unit, next)) == 0;)
            next++;
        write_shared_region(units, next - k, &first, to);
    }
    fputc(']', to);
    g_array_unref(all);
}

static void write_data(const dome_trace_file *file, bool live, bool gone, FILE *to)
{
    const dome_trace_run *run = &g_array_index(file->runs, dome_trace_run, 0),
                         *last = &g_array_index(file->runs, dome_trace_run, file->runs->len - 1);
    fputs("{\"program\":", to);
    dome__json_text(to, run->command);
    fputs(",\"host\":", to);
    dome__json_text(to, run->host);
    fprintf(to,
            ",\"started_ms\":%" PRId64 ",\"live\":%s,\"gone\":%s,\"ended\":%s,\"cut\":%s,\"left_out\":%" PRIu64
            ",\"strange\":%" PRIu64,
            run->real_us / 1000, live ? "true" : "false", gone ? "true" : "false", last->ended ? "true" : "false",
            file->cut ? "true" : "false", file->left_out, file->strange);
    fprintf(to, ",\"size\":%d,\"end\":%.6f", file->size, seconds(file->end));
    write_runs(file, to);
    write_views(file, to);
    write_network(file, to);
    write_layouts(file, to);
    write_marks(file, to);
    write_loads(file, to);
    write_operations(file, to);
    write_times(file, to);
    write_regions(file, to);
    write_shared(file, to);
    fputs("}\n", to);
}

void dome__view_write_data(const dome_trace_file *file, bool gone, FILE *to)
{
    write_data(file, true, gone, to);
}

static void write_page(const dome_trace_file *file, bool live, FILE *to)
{
    static const char place[] = "{\"data\":\"here\"}";
    const unsigned char *at = memmem(dome__view_html, dome__view_html_size, place, sizeof place - 1);
    size_t before = at ? (size_t)(at - dome__view_html) : dome__view_html_size, after = before + sizeof place - 1;
    fwrite(dome__view_html, 1, before, to);
    if (!at)
        return;
    write_data(file, live, false, to);
    fwrite(dome__view_html + after, 1, dome__view_html_size - after, to);
}

void dome__view_write_page(const dome_trace_file *file, FILE *to)
{
    write_page(file, false, to);
}

void dome__view_write_live_page(const dome_trace_file *file, FILE *to)
{
    write_page(file, true, to);
}
