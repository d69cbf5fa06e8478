#include "trace/chrome.h"

#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void dome__json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const char *c = text; *c; c = g_utf8_next_char(c)) {
        gunichar u = g_utf8_get_char(c);
        if (u == '"' || u == '\\')
            fprintf(to, "\\%c", (char)u);
        else if (u < ' ' || u == '<' || u == '>' || u == '&' || u == '\'' || u == 127 || u == 0x2028 || u == 0x2029)
            fprintf(to, "\\u%04x", (unsigned)u);
        else
            fwrite(c, 1, (size_t)(g_utf8_next_char(c) - c), to);
    }
    fputc('"', to);
}

/* ns as the microseconds of the format. */
static void microseconds(FILE *to, const char *key, int64_t ns)
{
    fprintf(to, ",\"%s\":%s%" PRId64 ".%03d", key, ns < 0 ? "-" : "", ABS(ns) / 1000, (int)(ABS(ns) % 1000));
}

/* A process of the format is a task of one run; the tasks of another run are other processes. */
static int64_t process_of(const dome_trace_file *file, int task)
{
    const dome_trace_task *t = &g_array_index(file->tasks, dome_trace_task, task);
    return (int64_t)t->run * file->size + t->rank + 1;
}

static void begin_event(FILE *to, const char *phase, const char *name, int64_t process, int64_t time)
{
    fprintf(to, ",\n{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"name\":", phase, process, process);
    dome__json_text(to, name);
    microseconds(to, "ts", time);
}

/* The view that begins with this run; NULL: none. */
static const dome_trace_view *first_view(const dome_trace_file *file, int run)
{
    for (guint k = 0; k < file->views->len; k++)
        if (g_array_index(file->views, dome_trace_view, k).run == run)
            return &g_array_index(file->views, dome_trace_view, k);
    return NULL;
}

/* The number of tasks over time, and why it changed. */
static void write_views(const dome_trace_file *file, FILE *to)
{
    for (guint k = 0; k < file->views->len; k++) {
        const dome_trace_view *v = &g_array_index(file->views, dome_trace_view, k);
        begin_event(to, "C", "tasks", 0, v->time);
        fprintf(to, ",\"args\":{\"tasks\":%" PRIu64 "}}", v->tasks);
        if (strcmp(v->kind, "start") == 0)
            continue;
        begin_event(to, "i", "view", 0, v->time);
        fprintf(to,
                ",\"s\":\"g\",\"args\":{\"number\":%" PRIu64 ",\"tasks\":%" PRIu64 ",\"hosts\":%" PRIu64 ",\"kind\":", v->number,
                v->tasks, v->hosts);
        dome__json_text(to, v->kind);
        fputs(",\"why\":", to);
        dome__json_text(to, v->why);
        if (v->timed)
            fprintf(to, ",\"noticing_us\":%.3f,\"members_us\":%.3f,\"blocks_us\":%.3f,\"joining_us\":%.3f,\"preamble_us\":%.3f",
                    (double)v->noticing * 1e-3, (double)v->members * 1e-3, (double)v->blocks * 1e-3, (double)v->joining * 1e-3,
                    (double)v->preamble * 1e-3);
        fputs("}}", to);
    }
}

static void write_tasks(const dome_trace_file *file, FILE *to)
{
    fputs("{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"the program\"}}", to);
    for (guint k = 0; k < file->tasks->len; k++) {
        const dome_trace_task *t = &g_array_index(file->tasks, dome_trace_task, k);
        const dome_trace_view *view = first_view(file, t->run);
        char *name = view && view->number > 0
                         ? g_strdup_printf("task %d (%s), view %" PRIu64, t->rank, t->host ? t->host : "?", view->number)
                     : t->run ? g_strdup_printf("task %d (%s), restart %d", t->rank, t->host ? t->host : "?", t->run)
                              : g_strdup_printf("task %d (%s)", t->rank, t->host ? t->host : "?");
        int64_t process = process_of(file, (int)k);
        fprintf(to,
                ",\n{\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"name\":\"process_name\",\"args\":{\"name\":", process,
                process);
        dome__json_text(to, name);
        fprintf(to,
                "}},\n{\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
                ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}",
                process, process, process);
        g_free(name);
    }
}

static void write_span(const dome_trace_file *file, const dome_trace_span *s, GHashTable *objects, FILE *to)
{
    const char *name = s->kind == 'o'   ? dome__trace_name(file, s->b)
                       : s->kind == 'g' ? "operations"
                       : s->kind == 'e' ? "deferred operations"
                       : s->kind == 'w' ? "waiting"
                       : s->kind == 'h' ? "blocks of another task"
                       : s->kind == 'm' ? "data moves"
                       : s->kind == 'b' ? "phase of load balancing"
                                        : "checkpoint";
    begin_event(to, "X", name, process_of(file, s->task), s->start);
    microseconds(to, "dur", s->took);
    switch (s->kind) {
    case 'o': {
        uint64_t key = (uint64_t)g_array_index(file->tasks, dome_trace_task, s->task).run << 40 ^ s->c;
        const dome_trace_object *o = s->c ? g_hash_table_lookup(objects, &key) : NULL;
        fputs(",\"cat\":\"operation\",\"args\":{\"waiting_us\":", to);
        fprintf(to, "%.3f", (double)s->a * 1e-3);
        if (o) {
            fputs(",\"object\":", to);
            dome__json_text(to, o->name);
        }
        fputc('}', to);
        break;
    }
    case 'g':
        fprintf(to, ",\"cat\":\"merged\",\"args\":{\"computing_us\":%.3f,\"waiting_us\":%.3f", (double)s->a * 1e-3,
                (double)s->b * 1e-3);
        for (guint k = 0; k < s->count; k++) {
            fputc(',', to);
            dome__json_text(to, dome__trace_name(file, g_array_index(file->pairs, uint32_t, s->first + 2 * k)));
            fprintf(to, ":%" PRIu32, g_array_index(file->pairs, uint32_t, s->first + 2 * k + 1));
        }
        fputc('}', to);
        break;
    case 'e':
        fprintf(to, ",\"cat\":\"deferred\",\"args\":{\"operations\":%" PRIu64 "}", s->a);
        break;
    case 'w':
        fprintf(to, ",\"cat\":\"waiting\",\"args\":{\"for_task\":%" PRIu64 "}", s->a);
        break;
    case 'h':
        fprintf(to, ",\"cat\":\"operation\",\"args\":{\"of_task\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", s->a, s->b);
        break;
    case 'm':
        fprintf(to, ",\"cat\":\"balance\",\"args\":{\"length\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64 "}", s->a,
                s->b, s->c);
        break;
    case 'b':
        fprintf(to, ",\"cat\":\"balance\",\"args\":{\"moved\":%s,\"imbalance\":%.6f,\"since_last_s\":%.6f}",
                s->a ? "true" : "false", (double)s->b * 1e-6, (double)s->c * 1e-9);
        break;
    default:
        fprintf(to, ",\"cat\":\"checkpoint\",\"args\":{\"number\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", s->a, s->b);
    }
    fputc('}', to);
}

static void write_samples(const dome_trace_file *file, FILE *to)
{
    const dome_trace_sample **before = g_new0(const dome_trace_sample *, file->tasks->len);
    for (guint k = 0; k < file->samples->len; k++) {
        const dome_trace_sample *s = &g_array_index(file->samples, dome_trace_sample, k), *b = before[s->task];
        before[s->task] = s;
        int64_t ns = b ? s->time - b->time : 0;
        if (ns <= 0)
            continue;
        dome_trace_load load = dome__trace_load(b, s);
        int64_t process = process_of(file, s->task);
        begin_event(to, "C", "processor (part of one)", process, b->time);
        fprintf(to, ",\"args\":{\"used\":%.3f}}", load.processor);
        begin_event(to, "C", "waiting (part of the time)", process, b->time);
        fprintf(to, ",\"args\":{\"waiting\":%.3f}}", load.waiting);
        begin_event(to, "C", "without a processor (part of the time)", process, b->time);
        fprintf(to, ",\"args\":{\"without\":%.3f}}", load.without);
        begin_event(to, "C", "memory (MB)", process, b->time);
        fprintf(to, ",\"args\":{\"resident\":%.3f}}", (double)b->resident_kb * 1024e-6);
    }
    g_free(before);
}

static void write_layouts(const dome_trace_file *file, FILE *to)
{
    for (guint k = 0; k < file->layouts->len; k++) {
        const dome_trace_layout *l = &g_array_index(file->layouts, dome_trace_layout, k);
        if (l->object)
            continue;
        char *name = g_strdup_printf("blocks, vectors of %" PRIu64, l->length);
        begin_event(to, "C", name, 0, l->time);
        fputs(",\"args\":{", to);
        for (int r = 0; r < l->tasks; r++)
            fprintf(to, "%s\"task %d\":%" PRIu64, r ? "," : "", r, l->counts[r]);
        fputs("}}", to);
        g_free(name);
    }
}

/* Growing numbers: the slope is what happens. */
static void write_regions(const dome_trace_file *file, FILE *to)
{
    for (guint k = 0; k < file->regions->len; k++) {
        const dome_trace_regions *r = &g_array_index(file->regions, dome_trace_regions, k);
        char *name = r->name[0] ? g_strdup_printf("region '%s' so far", r->name) : g_strdup("regions without a name, so far");
        begin_event(to, "C", name, process_of(file, r->task), r->time);
        fprintf(to,
                ",\"args\":{\"faults to read\":%" PRIu64 ",\"faults to write\":%" PRIu64 ",\"units\":%" PRIu64
                ",\"kB\":%.3f,\"waited_ms\":%.3f}}",
                r->reads, r->writes, r->units, (double)r->bytes * 1e-3, (double)r->waited_ns * 1e-6);
        g_free(name);
    }
}

void dome__trace_write_chrome(const dome_trace_file *file, FILE *to)
{
    GHashTable *objects = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint k = 0; k < file->objects->len; k++) {
        dome_trace_object *o = &g_array_index(file->objects, dome_trace_object, k);
        uint64_t *key = g_new(uint64_t, 1);
        *key = (uint64_t)o->run << 40 ^ o->id;
        g_hash_table_insert(objects, key, o);
    }
    const dome_trace_run *run = &g_array_index(file->runs, dome_trace_run, 0),
                         *last = &g_array_index(file->runs, dome_trace_run, file->runs->len - 1);
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":", to);
    dome__json_text(to, run->command);
    fprintf(to, ",\"tasks\":\"%d\",\"starts\":\"%u\",\"left_out\":\"%" PRIu64 "\",\"ended\":\"%s\"},\n\"traceEvents\":[\n",
            file->size, file->runs->len, file->left_out, last->ended ? "yes" : "no");
    write_tasks(file, to);
    for (guint k = 0; k < file->spans->len; k++)
        write_span(file, &g_array_index(file->spans, dome_trace_span, k), objects, to);
    write_samples(file, to);
    write_layouts(file, to);
    write_regions(file, to);
    write_views(file, to);
    for (guint k = 0; k < file->marks->len; k++) {
        const dome_trace_mark *m = &g_array_index(file->marks, dome_trace_mark, k);
        begin_event(to, "i",
                    m->kind == 'F'   ? "failure"
                    : m->kind == 'r' ? "restart"
                    : m->kind == 'B' ? "recording"
                                     : "checkpoint not written",
                    0, m->time);
        fputs(",\"s\":\"g\",\"args\":{\"text\":", to);
        dome__json_text(to, m->text);
        fputs("}}", to);
    }
    fputs("\n]}\n", to);
    g_hash_table_destroy(objects);
}

static bool write_to(FILE *to, void (*write)(const dome_trace_file *file, FILE *to), const dome_trace_file *file)
{
    if (!to)
        return false;
    write(file, to);
    bool good = !ferror(to);
    return fclose(to) == 0 && good;
}

/* A path that exists and is not a regular file, such as /dev/stdout, is written to directly. */
bool dome__write_file(const char *path, void (*write)(const dome_trace_file *file, FILE *to), const dome_trace_file *file,
                      char **message)
{
    dome_new_file new = {.fd = -1};
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    bool good;
    if (dome__file_irregular(path, true)) {
        good = write_to(fopen(path, "we"), write, file);
    } else {
        int fd = dome__new_file_begin(&new, path, 0666, false);
        good = fd >= 0 && write_to(fdopen(fcntl(fd, F_DUPFD_CLOEXEC, 0), "w"), write, file) && dome__new_file_place(&new);
    }
    if (!good)
        *message = g_strdup_printf("%s cannot be written: %s", path, dome__file_error(errno));
    dome__new_file_end(&new);
    dome__file_limit_end(&limit);
    return good;
}

bool dome__trace_convert(const char *from, const char *to, char **message)
{
    dome_trace_file *file = dome__trace_read(from, message);
    bool good = file && dome__write_file(to, dome__trace_write_chrome, file, message);
    dome__trace_file_free(file);
    return good;
}
