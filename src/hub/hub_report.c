/* Reports for `dome ps` and for the supervisor. */
#include "hub/hub_private.h"
#include "trace/record.h"
#include "wire/report.h"

#include <string.h>
#include <unistd.h>

static char **command_of(pid_t pid)
{
    char *path = g_strdup_printf("/proc/%d/cmdline", (int)pid), *text = NULL;
    gsize length = 0;
    GPtrArray *words = g_ptr_array_new();
    if (g_file_get_contents(path, &text, &length, NULL))
        for (const char *at = text; at < text + length; at += strlen(at) + 1)
            g_ptr_array_add(words, g_strdup(at));
    g_ptr_array_add(words, NULL);
    g_free(text);
    g_free(path);
    return (char **)g_ptr_array_free(words, FALSE);
}

static char **command(hub_state *s)
{
    char **words = command_of(s->rank0.pid);
    if (words[0] || !s->report.command) {
        g_strfreev(s->report.command);
        s->report.command = words;
    } else {
        g_strfreev(words);
    }
    return s->report.command;
}

void dome__hub_report_open(hub_state *s)
{
    s->report = (hub_report){.started = s->now, .checkpoint = -1};
    command(s);
}

void dome__hub_report_close(hub_state *s)
{
    g_clear_pointer(&s->report.command, g_strfreev);
}

void dome__hub_report_checkpoint(hub_state *s, int64_t number)
{
    if (number != s->report.checkpoint)
        s->report.checkpoint_at = dome__hub_now();
    s->report.checkpoint = number;
}

void dome__hub_report_back(hub_state *s, int64_t number)
{
    if (s->report.checkpoint < number)
        s->report.checkpoint_at = dome__hub_now();
    s->report.checkpoint = number;
}

char *dome__hub_command_line(void *data)
{
    return g_strjoinv(" ", command(data));
}

static int by_rank(const void *a, const void *b)
{
    const dome_report_task *const *x = a, *const *y = b;
    return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

char *dome__hub_report_text(void *data)
{
    hub_state *s = data;
    dome_report *report = dome__report_new();
    char *directory = g_strdup_printf("/proc/%d/cwd", (int)s->rank0.pid);
    report->pid = (int)getpid();
    report->host = g_strdup(g_get_host_name());
    report->command = g_strdupv(command(s));
    report->directory = g_file_read_link(directory, NULL);
    report->trace = g_strdup(s->record.trace ? dome__trace_sink_path(s->record.trace) : "");
    report->machine = g_strdup(s->hub->machine.directory ? "private" : "own");
    report->seconds = dome__hub_now() - s->report.started;
    report->suspended = s->suspended;
    report->view = s->view.number;
    report->checkpoint = s->report.checkpoint;
    report->checkpoint_seconds = s->report.checkpoint >= 0 ? dome__hub_now() - s->report.checkpoint_at : 0;
    report->views_left_out = s->history.views.left_out;
    for (guint i = 0; i < s->history.views.notes->len; i++)
        g_ptr_array_add(report->views, dome__view_note_copy(s->history.views.notes->pdata[i]));
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_there(c))
            continue;
        dome_report_task *t = g_new0(dome_report_task, 1);
        t->rank = c->rank;
        t->pid = c->pid;
        t->host = g_strdup(c->host);
        t->operation = g_strdup(c->beat.operation ? c->beat.operation : "");
        t->object = g_strdup(dome__hub_in_operation(c) ? c->beat.object : "");
        t->waiting = c->beat.waiting;
        t->sequence = c->beat.sequence;
        t->busy = c->beat.busy;
        t->load = c->beat.came ? c->beat.load : -1;
        t->silent = s->now - c->heard;
        g_ptr_array_add(report->tasks, t);
    }
    g_ptr_array_sort(report->tasks, by_rank);
    char *text = dome__report_text(report);
    dome__report_free(report);
    g_free(directory);
    return text;
}

/* All silent hosts: several may be lost together, though only one was noticed first, and some earlier. Separated by blanks;
 * g_free'd. */
static char *silent_hosts(const hub_state *s)
{
    GPtrArray *hosts = g_ptr_array_new();
    if (s->failure.silent)
        g_ptr_array_add(hosts, s->failure.silent);
    for (guint i = 0; s->failure.silent && i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c) && dome__hub_silent(s, c) &&
            !g_ptr_array_find_with_equal_func(hosts, c->host, g_str_equal, NULL))
            g_ptr_array_add(hosts, c->host);
    }
    for (guint i = 0; i < s->machine->down->len; i++) {
        char *name = g_array_index(s->machine->down, hub_host, i).name;
        if (!g_ptr_array_find_with_equal_func(hosts, name, g_str_equal, NULL))
            g_ptr_array_add(hosts, name);
    }
    g_ptr_array_add(hosts, NULL);
    char *text = g_strjoinv(" ", (char **)hosts->pdata);
    g_ptr_array_free(hosts, TRUE);
    return text;
}

void dome__hub_report_end(const hub_state *s, int status)
{
    char *silent = silent_hosts(s);
    uint64_t loop = 0, sequence = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        loop = MAX(loop, c->beat.loop);
        sequence = MAX(sequence, c->beat.sequence);
    }
    dome_end end = s->rank0.ending || !s->failure.told ? DOME_END_OWN : s->failure.end;
    dome__wire_send(s->hub->report_fd, NULL,
                    &(dome_wire_message){.kind = DOME_WIRE_REPORT,
                                         .report = {end, s->failure.line, silent, sequence, s->history.loops_before + loop,
                                                    !s->failure.place_unknown, s->failure.cause, (uint32_t)status}});
    g_free(silent);
}
