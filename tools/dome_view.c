/* dome view: shows a trace as a page for a browser, live or not, or converts it to JSON for other tools. */
#include "cluster_page.h"
#include "commands.h"
#include "daemon/descent.h"
#include "live.h"
#include "running.h"
#include "system/say.h"
#include "trace/chrome.h"
#include "trace/demand.h"
#include "transport/control_socket.h"
#include "view_data.h"

#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints on standard error what the reader should know about gaps in the trace. */
static void say_what_is_missing(const char *path, const dome_trace_file *file)
{
    const dome_trace_run *last = &g_array_index(file->runs, dome_trace_run, file->runs->len - 1);
    if (file->cut || !last->ended)
        dome__say("view: %s: the trace stops before the end of the program: this is what is there", path);
    if (file->strange)
        dome__say("view: %s: %" G_GUINT64_FORMAT " lines were not understood and are left out", path, file->strange);
    if (file->left_out)
        dome__say("view: %s: the program had to leave out %" G_GUINT64_FORMAT " lines", path, file->left_out);
}

static void write_output(const char *path, const char *output)
{
    char *message = NULL, *made = output ? g_strdup(output) : g_strconcat(path, ".html", NULL);
    dome_trace_file *file = dome__trace_read(path, &message);
    if (!file)
        dome__command_fail(1, "view: %s", message);
    bool json = g_str_has_suffix(made, ".json");
    if (!dome__write_file(made, json ? dome__trace_write_chrome : dome__view_write_page, file, &message))
        dome__command_fail(1, "view: %s", message);
    if (!output)
        printf("%s\n", made);
    say_what_is_missing(path, file);
    dome__trace_file_free(file);
    g_free(made);
}

/* A running program that can be viewed. */
typedef struct running {
    int pid;
    char *trace; /* the file it records into; "": none */
} running;

static void clear_running(void *data)
{
    g_free(((running *)data)->trace);
}

/* Lists all such programs, or those that pid means. Hubs report what they record; a program of one task has no hub. */
static GArray *list_running(int pid)
{
    char *word = g_strdup_printf("%d", pid);
    GPtrArray *reports = dome__running(NULL), *meant = pid ? dome__running_meant(reports, word) : g_ptr_array_ref(reports);
    GArray *all = g_array_new(FALSE, FALSE, sizeof(running)), *alone = dome__control_socket_list(DOME_CONTROL_VIEW);
    g_array_set_clear_func(all, clear_running);
    for (guint k = 0; k < meant->len; k++) {
        const dome_report *report = meant->pdata[k];
        running one = {report->pid, g_strdup(report->trace)};
        g_array_append_val(all, one);
    }
    for (guint k = 0; k < alone->len; k++) {
        running one = {g_array_index(alone, int, k), NULL};
        bool known = pid && pid != one.pid && !dome__descends(one.pid, pid);
        for (guint i = 0; i < reports->len && !known; i++)
            known = ((const dome_report *)reports->pdata[i])->pid == one.pid;
        if (known)
            continue;
        one.trace = g_strdup("");
        g_array_append_val(all, one);
    }
    g_array_free(alone, TRUE);
    g_ptr_array_unref(meant);
    g_ptr_array_unref(reports);
    g_free(word);
    return all;
}

/* Chooses the program that the user means. */
static const running *choose(const GArray *all, int pid)
{
    const running *tracing = NULL, *first = all->len ? &g_array_index(all, running, 0) : NULL;
    int count = 0;
    for (guint k = 0; k < all->len; k++)
        if (g_array_index(all, running, k).trace[0]) {
            tracing = &g_array_index(all, running, k);
            count++;
        }
    if (!first && pid)
        dome__command_fail(1, "view: no Dome program of yours runs as %d (dome ps lists them)", pid);
    if (!first)
        dome__command_fail(1, "view: no Dome program of yours runs on this host: give a trace");
    if (all->len > 1 && count != 1)
        dome__command_fail(1, "view: %u programs run: give the pid of one (dome ps lists them) or a trace", all->len);
    return all->len > 1 ? tracing : first;
}

/* Seconds in which a process may become a Dome program. */
enum { STARTING = 2 };

/* The path for reading the trace of a running program, g_free'd. */
static char *open_running(int pid, int *connection)
{
    char *message = NULL;
    GArray *all = list_running(pid);
    for (int k = 0; pid && !all->len && kill(pid, 0) == 0 && k < STARTING * 20; k++) { /* the program may just be starting */
        g_usleep(50000);
        g_array_unref(all);
        all = list_running(pid);
    }
    const running *one = choose(all, pid);
    char *path = one->trace[0] ? g_strdup(one->trace) : NULL;
    if (!path) { /* the program begins to record, for as long as this connection is open */
        int file;
        if (!dome__demand_ask(one->pid, &file, connection, &message))
            dome__command_fail(1, "view: %s", message);
        path = g_strdup_printf("/proc/self/fd/%d", file);
    }
    g_array_unref(all);
    return path;
}

/* The path of what is served, g_free'd; NULL: no trace. */
static char *path_of(const char *what, dome_live_request *request)
{
    guint64 pid = 0;
    char *message = NULL, *path = NULL;
    if (request->source)
        return NULL;
    if (!what || (g_ascii_string_to_unsigned(what, 10, 1, G_MAXINT, &pid, NULL) && !g_file_test(what, G_FILE_TEST_EXISTS))) {
        path = open_running((int)pid, &request->connection);
    } else {
        path = g_file_test(what, G_FILE_TEST_EXISTS) ? g_strdup(what) : g_strconcat(what, ".partial", NULL);
        dome_trace_file *file = dome__trace_read(path, &message);
        if (!file)
            dome__command_fail(1, "view: %s", message);
        dome__trace_file_free(file);
    }
    return path;
}

static void serve(const char *what, dome_live_request *request)
{
    char *message = NULL, *path = path_of(what, request);
    sigset_t ends;
    int number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    request->path = path;
    dome_live *live = dome__live_start(request, &message);
    if (!live)
        dome__command_fail(1, "view: %s", message);
    printf("%s\n", dome__live_address(live));
    fflush(stdout);
    dome__say("view: the page is at this address until this command is ended (Ctrl-C)");
    sigwait(&ends, &number);
    dome__live_stop(live);
    g_free(path);
}

int dome__command_view(int argc, char **argv)
{
    char *output = NULL;
    gboolean live = FALSE, open = FALSE, submitted = FALSE;
    dome_live_request request = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Where to write: a page, or (FILE.json) JSON for Perfetto; default TRACE.html", "FILE"},
        {"live", 'l', 0, G_OPTION_ARG_NONE, &live,
         "Serve the page to a browser on this host, and keep it up to date while the program runs", NULL},
        {"submitted", 0, 0, G_OPTION_ARG_NONE, &submitted,
         "Serve a page of all submitted programs and their hosts, that takes orders for them, instead of a trace's", NULL},
        {"port", 0, 0, G_OPTION_ARG_INT, &request.port, "With --live: port to listen on (default: any that is free)", "PORT"},
        {"address", 0, 0, G_OPTION_ARG_STRING, &request.address, "With --live: address to listen on (default 127.0.0.1)",
         "ADDRESS"},
        {"open", 0, 0, G_OPTION_ARG_NONE, &open, "With --address: allow an address that other hosts can reach", NULL},
        {0}};
    dome__command_parse(
        &argc, &argv, entries, "TRACE",
        "Writes a page for a browser from the trace that a program recorded with --dome-trace TRACE.\n"
        "With --live, TRACE may also be the pid of a running program (dome ps), started with --dome-trace or not,\n"
        "or be left out if only one program runs. A program without a trace records while a viewer is connected.",
        1);
    request.open = open;
    request.source = submitted ? &dome__cluster_page : NULL;
    live |= submitted;
    if (submitted && argc > 1)
        dome__command_fail(2, "view: --submitted is for all programs: leave out the trace");
    if (live && output)
        dome__command_fail(2, "view: --live writes nothing: leave out -o");
    if (!live && (request.port || request.address || open))
        dome__command_fail(2, "view: --port, --address and --open go with --live");
    if (!live && argc != 2)
        dome__command_fail(2, "view: give one trace; see dome view --help");
    if (live)
        serve(argc > 1 ? argv[1] : NULL, &request);
    else
        write_output(argv[1], output);
    g_free(output);
    return 0;
}
