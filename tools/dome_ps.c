/* dome ps: lists running programs, as reported by their hubs (src/wire/report.h). */
#include "commands.h"
#include "in_time.h"
#include "program/providers.h"
#include "running.h"
#include "submitted.h"
#include "system/say.h"
#include "system/terminal.h"
#include "wire/history.h"
#include "wire/report.h"

#include <inttypes.h>
#include <string.h>

static char *duration(double seconds)
{
    uint64_t s = (uint64_t)MAX(seconds, 0);
    if (s >= 86400)
        return g_strdup_printf("%" PRIu64 " d %d:%02d", s / 86400, (int)(s / 3600 % 24), (int)(s / 60 % 60));
    return g_strdup_printf("%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

static guint count_hosts(const dome_report *s)
{
    GHashTable *hosts = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < s->tasks->len; i++)
        g_hash_table_add(hosts, ((dome_report_task *)s->tasks->pdata[i])->host);
    guint n = g_hash_table_size(hosts);
    g_hash_table_unref(hosts);
    return n;
}

static bool is_here(const dome_report *s)
{
    return strcmp(s->host, g_get_host_name()) == 0;
}

static void print_tasks(const dome_report *s)
{
    int width = 4;
    for (guint i = 0; i < s->tasks->len; i++)
        width = MAX(width, (int)g_utf8_strlen(((dome_report_task *)s->tasks->pdata[i])->host, -1));
    printf("  %6s  %-*s  %7s  %5s  %5s  %s\n", "task", width, "host", "pid", "busy", "load", "in");
    for (guint i = 0; i < s->tasks->len; i++) {
        const dome_report_task *t = s->tasks->pdata[i];
        char load[16] = "-", *host = dome__plain(t->host), *object = dome__plain(t->object), *in = dome__plain(t->operation);
        if (t->load >= 0)
            snprintf(load, sizeof load, "%.2f", t->load);
        printf("  %6d  %-*s  %7d  %4.0f%%  %5s  %s", t->rank, width, host, t->pid, 100 * t->busy, load,
               in[0] ? in : "its own code");
        if (object[0])
            printf(" of '%s'", object);
        if (t->waiting)
            fputs(", waiting", stdout);
        if (t->silent >= 2)
            printf(", silent for %.0f s", t->silent);
        putchar('\n');
        g_free(host);
        g_free(object);
        g_free(in);
    }
}

/* Seconds as a cell of the table; below 0: unknown. */
static const char *cell(double seconds, char text[16])
{
    g_snprintf(text, 16, seconds < 0 ? "-" : "%.3f", seconds);
    return text;
}

/* The newest views of a program that has changed. */
static void print_views(const dome_report *s)
{
    enum { NEWEST = 6 };
    const guint n = s->views->len, first = n > NEWEST ? n - NEWEST : 0;
    bool healed = false;
    if (n < 2)
        return;
    printf("  %6s  %5s  %5s  %11s  %7s  %8s  %7s  %7s  %7s  %8s  %s\n", "view", "tasks", "hosts", "since", "still", "noticing",
           "members", "blocks", "joining", "preamble", "why");
    for (guint i = first; i < n; i++) {
        const dome_view_note *v = s->views->pdata[i];
        const dome_change_parts *p = &v->parts;
        char text[6][16], *at = duration(v->at), *why = dome__plain(v->why);
        printf("  %6" PRIu32 "  %5d  %5d  %11s  %7s  %8s  %7s  %7s  %7s  %8s  %s%s%s\n", v->number, v->tasks, v->hosts, at,
               cell(dome__view_note_still(v), text[0]), cell(i > 0 ? p->noticing : -1, text[1]),
               cell(v->timed ? p->members : -1, text[2]), cell(v->timed ? p->blocks : -1, text[3]),
               cell(v->timed ? p->joining : -1, text[4]), cell(v->timed ? p->preamble : -1, text[5]), v->kind, why[0] ? ": " : "",
               why);
        healed = healed || strcmp(v->kind, "heal") == 0;
        g_free(why);
        g_free(at);
    }
    if (healed)
        puts("  healing counts views by two: the number between is left for a change that tasks may have begun before the loss "
             "was known");
}

static void print_program(const dome_report *s, bool brief)
{
    char *time = duration(s->seconds), *since = duration(s->checkpoint_seconds), checkpoint[64] = "none";
    char *command = s->command ? g_strjoinv(" ", s->command) : g_strdup(""),
         *shown = dome__plain(command[0] ? command : "(without a name)");
    char *host = dome__plain(s->host), *view = s->view ? g_strdup_printf("view %" PRIu32 ", ", s->view) : g_strdup("");
    guint hosts = count_hosts(s);
    if (s->checkpoint >= 0)
        snprintf(checkpoint, sizeof checkpoint, "%" PRId64 ", %s ago", s->checkpoint, since);
    if (brief)
        printf("%7d  %5u  %5u  %11s  %-18s  %-7s  %-8s  %s\n", s->pid, s->tasks->len, hosts, time, checkpoint, s->machine, host,
               shown);
    else {
        printf("%d%s%s: %s\n  %u task%s on %u host%s of %s virtual machine, for %s, %s%slast checkpoint: %s\n", s->pid,
               is_here(s) ? "" : " on ", is_here(s) ? "" : host, shown, s->tasks->len, s->tasks->len == 1 ? "" : "s", hosts,
               hosts == 1 ? "" : "s", strcmp(s->machine, "own") == 0 ? "your own" : "a private", time, view,
               s->suspended ? "suspended, " : "", checkpoint);
        print_tasks(s);
        print_views(s);
    }
    g_free(host);
    g_free(shown);
    g_free(view);
    g_free(command);
    g_free(since);
    g_free(time);
}

static void json_member(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    dome__json_string(stdout, text);
}

/* Of any locale. */
static void json_number(const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    printf(", \"%s\": ", name);
    dome__json_number(stdout, g_ascii_formatd(text, sizeof text, "%.3f", value));
}

static void print_json_view(const dome_view_note *v)
{
    printf("{\"number\": %" PRIu32 ", \"tasks\": %d, \"hosts\": %d", v->number, v->tasks, v->hosts);
    json_number("seconds", v->at);
    json_member("kind", v->kind);
    json_member("why", v->why);
    json_number("noticing", v->parts.noticing);
    if (v->timed) {
        json_number("still", dome__view_note_still(v));
        json_number("members", v->parts.members);
        json_number("blocks", v->parts.blocks);
        json_number("joining", v->parts.joining);
        json_number("preamble", v->parts.preamble);
    }
    putchar('}');
}

static void print_json(GPtrArray *all)
{
    putchar('[');
    for (guint i = 0; i < all->len; i++) {
        const dome_report *s = all->pdata[i];
        printf("%s\n  {\"pid\": %d, \"host\": ", i ? "," : "", s->pid);
        dome__json_string(stdout, s->host);
        fputs(", \"command\": [", stdout);
        for (char **word = s->command; word && *word; word++) {
            fputs(word == s->command ? "" : ", ", stdout);
            dome__json_string(stdout, *word);
        }
        putchar(']');
        json_member("directory", s->directory);
        json_member("machine", s->machine);
        json_member("trace", s->trace);
        json_number("seconds", s->seconds);
        printf(", \"view\": %" PRIu32, s->view);
        fputs(", \"checkpoint\": ", stdout);
        if (s->checkpoint < 0)
            fputs("null", stdout);
        else {
            printf("{\"number\": %" PRId64, s->checkpoint);
            json_number("seconds_ago", s->checkpoint_seconds);
            putchar('}');
        }
        printf(", \"views_left_out\": %" PRIu64 ", \"views\": [", s->views_left_out);
        for (guint k = 0; k < s->views->len; k++) {
            fputs(k ? ",\n    " : "\n    ", stdout);
            print_json_view(s->views->pdata[k]);
        }
        fputs("], \"tasks\": [", stdout);
        for (guint k = 0; k < s->tasks->len; k++) {
            const dome_report_task *t = s->tasks->pdata[k];
            printf("%s\n    {\"rank\": %d, \"pid\": %d", k ? "," : "", t->rank, t->pid);
            json_member("host", t->host);
            json_member("operation", t->operation);
            json_member("object", t->object);
            printf(", \"waiting\": %s, \"operations\": %" PRIu64, t->waiting ? "true" : "false", t->sequence);
            json_number("busy", t->busy);
            if (t->load >= 0)
                json_number("load", t->load);
            else
                fputs(", \"load\": null", stdout);
            json_number("silent", t->silent);
            putchar('}');
        }
        fputs("]}", stdout);
    }
    puts(all->len ? "\n]" : "]");
}

/* ---- other hosts ---- */

/* Seconds allowed for all other hosts together. */
enum { PATIENCE = 10 };

/* Separates reports: they are key files, which have no such line. A message instead of a report begins with NO_REPORT. */
#define SEPARATOR "\n\f\n"
#define NO_REPORT '?'

/* Asks the other hosts of the user's virtual machine. */
static bool ask_others(const void *request, GString *out, char **message)
{
    const dome_launcher *launcher = request;
    GPtrArray *addresses = launcher->published(message);
    for (guint i = 0; addresses && i < addresses->len; i++) {
        char *why = NULL, *text = dome__report_ask_hub(addresses->pdata[i], &why);
        if (text)
            g_string_append_printf(out, "%s" SEPARATOR, text);
        else if (why)
            g_string_append_printf(out, "%c%s" SEPARATOR, NO_REPORT, why);
        g_free(text);
        g_free(why);
    }
    return addresses != NULL;
}

static void add_others(GPtrArray *all)
{
    const dome_launcher *launcher = dome__launcher_that_can(DOME_LAUNCHER_PUBLISH | DOME_LAUNCHER_MACHINE);
    char *stale = NULL, *message = NULL, *text = NULL;
    if (!launcher)
        return;
    launcher->machine.prepare();
    if (launcher->machine.there(&stale) && !(text = dome__in_time(ask_others, launcher, PATIENCE, &message)))
        dome__say("ps: programs of other hosts are not known: %s", message);
    char **texts = g_strsplit(text ? text : "", SEPARATOR, 0);
    for (char **at = texts; *at; at++) {
        dome_report *s = **at == NO_REPORT ? NULL : dome__report_parse(*at);
        if (**at == NO_REPORT)
            dome__say("ps: %s", *at + 1);
        if (s && !is_here(s)) /* programs of this host have been listed already */
            g_ptr_array_add(all, s);
        else if (s)
            dome__report_free(s);
    }
    g_strfreev(texts);
    g_free(text);
    g_free(message);
    g_free(stale);
}

/* The programs that any of the words means. */
static GPtrArray *meant_by(const GPtrArray *reports, char **words)
{
    GPtrArray *all = g_ptr_array_new();
    for (char **word = words; *word; word++) {
        GPtrArray *meant = dome__running_meant(reports, *word);
        if (!meant->len)
            dome__command_fail(1, "ps: no Dome program of yours with several tasks is called %s, or has this pid", *word);
        for (guint i = 0; i < meant->len; i++)
            if (!g_ptr_array_find(all, meant->pdata[i], NULL))
                g_ptr_array_add(all, meant->pdata[i]);
        g_ptr_array_unref(meant);
    }
    return all;
}

int dome__command_ps(int argc, char **argv)
{
    gboolean json = FALSE, brief = FALSE, submitted = FALSE;
    const GOptionEntry entries[] = {
        {"brief", 'b', 0, G_OPTION_ARG_NONE, &brief, "One line for each program, without its tasks", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a list of objects in JSON", NULL},
        {"submitted", 0, 0, G_OPTION_ARG_NONE, &submitted, "The programs of all hosts that were given to domed", NULL},
        DOME_DAEMON_ON,
        {0}};
    dome__command_parse(
        &argc, &argv, entries, "[PROGRAM...]",
        "Lists your programs of several tasks that were started on this host, or on another one of your own virtual\n"
        "machine: for each its tasks with their hosts, the processor time that they use, the hosts' load averages,\n"
        "and the last checkpoint; of a program that has changed its number of tasks or was healed, its newest views:\n"
        "since when, why, for how many seconds nothing was computed, and how long the parts of the change took.\n"
        "PROGRAM: only those with this name, or with this pid: the number before a program, that of one of its tasks, or\n"
        "that of a process that started it (a shell's $!).",
        -1);
    submitted |= *dome__daemon_on() != NULL;
    if (submitted && !dome__submitted_print(json))
        dome__command_fail(1, "ps: no domed runs on this host, root's or your own; domed & starts yours");
    if (submitted)
        return 0;
    GPtrArray *reports = dome__running(NULL);
    add_others(reports);
    GPtrArray *all = argc > 1 ? meant_by(reports, argv + 1) : g_ptr_array_ref(reports);
    if (json)
        print_json(all);
    else if (!all->len)
        puts("no Dome program of yours with several tasks runs here");
    else if (brief)
        printf("%7s  %5s  %5s  %11s  %-18s  %-7s  %-8s  %s\n", "PID", "TASKS", "HOSTS", "TIME", "CHECKPOINT", "MACHINE",
               "STARTED", "PROGRAM");
    for (guint i = 0; i < all->len && !json; i++)
        print_program(all->pdata[i], brief);
    if (!json && argc == 1)
        dome__submitted_print(false);
    g_ptr_array_unref(all);
    g_ptr_array_unref(reports);
    return 0;
}
