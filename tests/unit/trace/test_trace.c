/* A trace stays small however long a program runs; reading gives what was written; damaged files do no harm. */
#include "core/environment.h"
#include "objects/dvec_operations.h"
#include "trace/chrome.h"
#include "trace/record.h"
#include "trace/sink.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECOND = 1000 * 1000 * 1000 };

static void take_all(dome_trace *trace, GString *lines)
{
    while (dome__trace_take(trace, 0, false, DOME_TRACE_LINE, lines))
        continue;
}

/* An hour of operations that take a microsecond each, at a million operations a second, would be 3.6e9 lines. */
static void test_merging(void)
{
    dome_trace *trace = dome__trace_new(0, 0);
    GString *lines = g_string_new(NULL);
    uint64_t begin = dome__now_ns(), bytes = 0, half = 0, calls = 0;
    /* steps of 100 us with a short operation in each, for 100 s; then of 10 ms for an hour */
    for (uint64_t t = 0; t < UINT64_C(3600) * SECOND; t += t < UINT64_C(100) * SECOND ? 100000 : 10000000, calls++) {
        dome__trace_operation(trace, DOME_OP_DVEC_DOT, NULL, begin + t, 50000, 10000);
        if (lines->len > 4096 || calls % 1000 == 0) {
            take_all(trace, lines);
            bytes += lines->len;
            g_string_truncate(lines, 0);
        }
        if (t < UINT64_C(1800) * SECOND)
            half = bytes;
    }
    dome__trace_flush(trace);
    take_all(trace, lines);
    bytes += lines->len;
    g_test_message("%" G_GUINT64_FORMAT " calls, %" G_GUINT64_FORMAT " bytes", calls, bytes);
    g_assert_cmpuint(bytes, >, 1000);
    g_assert_cmpuint(bytes, <, 4 << 20);
    g_assert_cmpuint(bytes - half, <, bytes / 4); /* the second half hour needs little */
    dome__trace_free(trace);
    g_string_free(lines, TRUE);
}

/* If no thread takes lines out, the ring fills up, and the lines left out are counted. */
static void test_full(void)
{
    dome_trace *trace = dome__trace_new(0, 0);
    uint64_t begin = dome__now_ns(), left_out = 0;
    const unsigned operations = 100000;
    unsigned long long count, at;
    for (unsigned k = 0; k < operations; k++)
        dome__trace_operation(trace, DOME_OP_DVEC_DOT, NULL, begin, 2000000, 0);
    GString *lines = g_string_new(NULL);
    take_all(trace, lines);
    g_assert_cmpuint(lines->len, <, 2 << 20);
    dome__trace_wait(trace, 1, begin, UINT64_C(100) * SECOND);
    take_all(trace, lines);
    unsigned kept = 0;
    char **line = g_strsplit(lines->str, "\n", 0);
    for (int k = 0; line[k]; k++) {
        kept += line[k][0] == 'o';
        if (sscanf(line[k], "d %llu %llu", &at, &count) == 2)
            left_out += count;
    }
    g_assert_cmpuint(kept, >, 10000);
    g_assert_cmpuint(kept + left_out, ==, operations);
    g_strfreev(line);
    g_string_free(lines, TRUE);
    dome__trace_free(trace);
}

static const char small[] =
    "dome-trace 1\nT -\nH 1000 1700000000000000 7 node%201 prog%20<b>\n"
    "T 0\nC 1 1000 0 10\nI 1000 11 2 4 node1\nN 3 dvec_dot\nv 1100 1 64 1 0 16 f64 x<y\ny 1100 0 64 16 0 2 2\n"
    "u 2500 a%20b 3 2 4 16384 900\nU 2600 a%20b 0 7 0 5 2 10 3 20 1 40 2\nu 3500 a%20b 6 4 8 32768 1800\nu 3500 % 1 0 1 8 9\n"
    "o 2000 500 100 3 1\ng 3000 100 60 40 3 5\nc 4000 3 6 600 140 4096\nc 4000 0 0 900 0 0\nW 3000 1 90\nW 4000 1 140\n"
    "T 1\nC 1 901000 -900000 5\nC 1 902000 -900000 3\nI 901000 12 2 4 node2\no 902000 500 100 3 1\n"
    "T -\nV 4500 3 2 1 77 heal task%201\nP 4600 3 1 2 3 4\nF 5000 task%201%20is%20lost\nZ 6000 1\n";

/* All lines are there, and which is the last one of a name. */
static void check_regions(const dome_trace_file *file)
{
    g_assert_cmpuint(file->regions->len, ==, 3);
    const dome_trace_regions *r = (const dome_trace_regions *)(const void *)file->regions->data;
    g_assert_cmpint(r[0].time, ==, 1500);
    g_assert_false(r[0].last);
    g_assert_true(r[1].last && r[2].last);
    g_assert_cmpstr(r[1].name, ==, "a b");
    g_assert_cmpstr(r[2].name, ==, "");
    g_assert_cmpuint(r[1].reads, ==, 6);
    g_assert_cmpuint(r[1].writes, ==, 4);
    g_assert_cmpuint(r[1].units, ==, 8);
    g_assert_cmpuint(r[1].bytes, ==, 32768);
    g_assert_cmpuint(r[1].waited_ns, ==, 1800);
    g_assert_cmpuint(file->unit_writes->len, ==, 1);
    const dome_trace_unit_writes *w = &g_array_index(file->unit_writes, dome_trace_unit_writes, 0);
    g_assert_cmpuint(w->unit, ==, 7);
    g_assert_cmpuint(w->turns, ==, 5);
    g_assert_cmpuint(w->written->len, ==, 2);
    g_assert_cmpuint(w->read->len, ==, 1);
    g_assert_cmpuint(g_array_index(w->written, dome_element_run, 1).first, ==, 20);
    g_assert_cmpuint(g_array_index(w->read, dome_element_run, 0).count, ==, 2);
}

/* What a task records of its regions is what a reader finds; a unit with more runs than a line holds is left out. */
static void test_regions(void)
{
    enum { MANY = 3000 };
    dome_trace *trace = dome__trace_new(0, 0);
    dome_element_run *runs = g_new(dome_element_run, MANY);
    for (unsigned k = 0; k < MANY; k++)
        runs[k] = (dome_element_run){10000 + 3 * k, 2};
    const dome_trace_region region = {"x y", 1, 2, 3, 4, 5};
    dome_trace_unit unit = {.name = "x y", .region = 1, .unit = 8, .task = 2, .turns = 9, .written = runs, .written_count = MANY};
    dome__trace_region(trace, &region);
    dome__trace_unit(trace, &unit);
    unit.written_count = 500;
    unit.read = runs + 700;
    unit.read_count = 1;
    dome__trace_unit(trace, &unit);
    GString *text = g_string_new("dome-trace 1\nT -\nH 0 1 1 here prog\nT 0\n");
    take_all(trace, text);
    char *message = NULL;
    dome_trace_file *file = dome__trace_parse(text->str, text->len, &message);
    g_assert_nonnull(file);
    g_assert_cmpuint(file->strange + file->left_out, ==, 0);
    g_assert_cmpuint(file->regions->len, ==, 1);
    const dome_trace_regions *r = &g_array_index(file->regions, dome_trace_regions, 0);
    g_assert_cmpstr(r->name, ==, "x y");
    g_assert_cmpuint(r->reads * 10000 + r->writes * 1000 + r->units * 100 + r->bytes * 10 + r->waited_ns, ==, 12345);
    g_assert_cmpuint(file->unit_writes->len, ==, 1);
    const dome_trace_unit_writes *w = &g_array_index(file->unit_writes, dome_trace_unit_writes, 0);
    g_assert_cmpint(w->member, ==, 2);
    g_assert_cmpuint(w->region, ==, 1);
    g_assert_cmpuint(w->written->len, ==, 500);
    g_assert_cmpuint(w->read->len, ==, 1);
    g_assert_cmpuint(g_array_index(w->read, dome_element_run, 0).first, ==, 12100);
    dome__trace_file_free(file);
    g_string_free(text, TRUE);
    dome__trace_free(trace);
    g_free(runs);
}

static void test_reading(void)
{
    char *message = NULL;
    dome_trace_file *file = dome__trace_parse(small, strlen(small), &message);
    g_assert_nonnull(file);
    g_assert_cmpuint(file->strange, ==, 0);
    g_assert_false(file->cut);
    g_assert_cmpint(file->size, ==, 2);
    g_assert_cmpint(file->spans->len, ==, 3);
    for (guint k = 0; k < 2; k++) { /* the same moment on both tasks */
        const dome_trace_span *s = &g_array_index(file->spans, dome_trace_span, k);
        g_assert_cmpint(s->start, ==, 1000);
        g_assert_cmpint(s->took, ==, 500);
    }
    const dome_trace_run *run = &g_array_index(file->runs, dome_trace_run, 0);
    g_assert_cmpstr(run->host, ==, "node 1");
    g_assert_true(run->ended);
    g_assert_cmpint(run->status, ==, 1);
    g_assert_cmpint(file->end, ==, 5000);
    g_assert_cmpstr(g_array_index(file->marks, dome_trace_mark, 0).text, ==, "task 1 is lost");
    g_assert_cmpstr(g_array_index(file->objects, dome_trace_object, 0).name, ==, "x<y");
    g_assert_cmpuint(g_array_index(file->totals, dome_trace_total, 0).compute_ns, ==, 600);
    g_assert_cmpuint(g_array_index(file->totals, dome_trace_total, 1).compute_ns, ==, 900);
    g_assert_cmpuint(file->waited->len, ==, 1); /* the last line counts */
    const dome_trace_waited *waited = &g_array_index(file->waited, dome_trace_waited, 0);
    g_assert_cmpint(waited->rank, ==, 1);
    g_assert_cmpuint(waited->ns, ==, 140);
    check_regions(file);
    g_assert_cmpuint(file->views->len, ==, 1);
    const dome_trace_view *view = &g_array_index(file->views, dome_trace_view, 0);
    g_assert_cmpint(view->time, ==, 3500);
    g_assert_cmpuint(view->number, ==, 3);
    g_assert_cmpstr(view->kind, ==, "heal");
    g_assert_cmpstr(view->why, ==, "task 1");
    g_assert_true(view->timed);
    g_assert_cmpuint(view->noticing, ==, 77);
    g_assert_cmpuint(view->preamble, ==, 4);
    dome__trace_file_free(file);
}

/* Lines that come when the next view has begun belong to the view before: in each there are the tasks that were in it. */
static void test_late_lines(void)
{
    static const char of_rank0[] = "I 1000 11 1 4 here\nv 1100 1 64 1 0 16 f64 x\ny 1100 0 64 16 0 4\n";
    static const char sample[] = "s 1200 1 1 1 1\n", freed[] = "x 1300 1\n";
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    dome_trace_sink *sink = dome__trace_sink_open_fd(fd, "program");
    dome__trace_sink_take(sink, 2, 0, of_rank0, strlen(of_rank0));
    dome__trace_sink_take(sink, 2, 4, sample, strlen(sample));
    dome__trace_sink_again(sink, "program", 3);
    dome__trace_sink_take(sink, 3, 0, of_rank0, strlen(of_rank0));
    dome__trace_sink_take(sink, 2, 4, sample, strlen(sample));
    dome__trace_sink_again(sink, "program", 5);
    dome__trace_sink_take(sink, 3, 1, sample, strlen(sample));
    dome__trace_sink_take(sink, 2, 0, freed, strlen(freed));
    dome__trace_sink_take(sink, 5, 0, of_rank0, strlen(of_rank0));
    dome__trace_sink_leave(sink);

    char *path = g_strdup_printf("/proc/self/fd/%d", fd), *text, *message = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    dome_trace_file *file = dome__trace_parse(text, strlen(text), &message);
    g_assert_nonnull(file);
    g_assert_cmpuint(file->strange, ==, 0);
    static const int tasks[] = {5, 2, 1};
    g_assert_cmpuint(file->runs->len, ==, G_N_ELEMENTS(tasks));
    g_assert_cmpuint(file->objects->len, ==, G_N_ELEMENTS(tasks));
    for (guint k = 0; k < G_N_ELEMENTS(tasks); k++) {
        g_assert_cmpint(g_array_index(file->runs, dome_trace_run, k).tasks, ==, tasks[k]);
        g_assert_cmpint(g_array_index(file->objects, dome_trace_object, k).run, ==, (int)k);
        g_assert_cmpint(g_array_index(file->layouts, dome_trace_layout, k).run, ==, (int)k);
    }
    g_assert_cmpint(g_array_index(file->objects, dome_trace_object, 0).to, <, INT64_MAX);
    g_assert_cmpint(g_array_index(file->objects, dome_trace_object, 2).to, ==, INT64_MAX);
    g_assert_cmpuint(file->tasks->len, ==, 5); /* of the first run two, of the second two, of the third one */
    dome__trace_file_free(file);
    g_free(text);
    g_free(path);
    close(fd);
}

/* A trace cut at every byte, and with every byte changed, is read or refused, and can be written again. */
static void test_damage(void)
{
    size_t length = strlen(small);
    for (size_t k = 0; k <= length; k++) {
        for (int change = 0; change < 3; change++) {
            static const char with[] = "9-\n";
            char *copy = g_strndup(small, change ? length : k), *message = NULL;
            if (change && k < length)
                copy[k] = with[change - 1];
            dome_trace_file *file = dome__trace_parse(copy, strlen(copy), &message);
            g_assert_true((file != NULL) == (message == NULL));
            char *json = NULL;
            size_t size;
            FILE *to = open_memstream(&json, &size);
            if (file)
                dome__trace_write_chrome(file, to);
            fclose(to);
            free(json);
            dome__trace_file_free(file);
            g_free(message);
            g_free(copy);
        }
    }
}

static void test_text(void)
{
    GString *line = g_string_new(NULL);
    dome__trace_put_text(line, "a b%c\n\xff\xc3\xa4");
    g_assert_cmpstr(line->str, ==, " a%20b%25c%0a\xef\xbf\xbd\xc3\xa4");
    g_string_free(line, TRUE);
    char *json = NULL;
    size_t size;
    FILE *to = open_memstream(&json, &size);
    dome__json_text(to, "</script>\"\\\n\xe2\x80\xa8");
    fclose(to);
    g_assert_cmpstr(json, ==, "\"\\u003c/script\\u003e\\\"\\\\\\u000a\\u2028\"");
    free(json);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace/merging", test_merging);
    g_test_add_func("/trace/full", test_full);
    g_test_add_func("/trace/reading", test_reading);
    g_test_add_func("/trace/regions", test_regions);
    g_test_add_func("/trace/late", test_late_lines);
    g_test_add_func("/trace/damage", test_damage);
    g_test_add_func("/trace/text", test_text);
    return g_test_run();
}
