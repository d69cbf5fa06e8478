#include "submitted.h"

#include "commands.h"
#include "daemon_client.h"
#include "system/terminal.h"

#include <stdio.h>
#include <string.h>

/* ---- programs ---- */

/* Stopped, and not by its user. */
static bool is_held(const dome_program *p)
{
    return p->plan.held && p->state == DOME_PROGRAM_STOPPED;
}

static void print_program(const dome_program *p)
{
    char id[32], tasks[48], *words = g_strjoinv(" ", p->words), *shown = dome__plain(words), *why = dome__plain(p->why);
    g_snprintf(id, sizeof id, "j%" G_GINT64_FORMAT, p->id);
    if (p->least < p->tasks)
        g_snprintf(tasks, sizeof tasks, "%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, p->size, p->least,
                   p->tasks);
    else
        g_snprintf(tasks, sizeof tasks, "%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, p->size, p->tasks);
    dome__print("%-6s  %-8s  %-7s  %4" G_GINT64_FORMAT "  %9s  %-10s  %5" G_GINT64_FORMAT "  %s", id, p->owner,
                is_held(p) ? "held" : dome__program_state_name(p->state), p->priority, tasks, p->host[0] ? p->host : "-",
                p->attempt, shown);
    if (p->state == DOME_PROGRAM_ENDED)
        dome__print(" (status %" G_GINT64_FORMAT "%s%s)", p->status, why[0] ? ": " : "", why);
    putchar('\n');
    g_free(why);
    g_free(shown);
    g_free(words);
}

static void json_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, ", \"%s\": ", name);
    dome__json_string(to, text);
}

static void write_program(FILE *to, const dome_program *p)
{
    fprintf(to, "{\"program\": \"j%" G_GINT64_FORMAT "\"", p->id);
    json_text(to, "owner", p->owner);
    json_text(to, "state", dome__program_state_name(p->state));
    json_text(to, "host", p->host);
    json_text(to, "submitted_on", p->home);
    json_text(to, "directory", p->directory);
    json_text(to, "output", p->output);
    json_text(to, "why", p->why);
    fputs(", \"hosts\": {", to);
    for (guint i = 0; i < p->plan.is.all->len; i++) {
        const dome_place *place = &g_array_index(p->plan.is.all, dome_place, i);
        fputs(i ? ", " : "", to);
        dome__json_string(to, place->host);
        fprintf(to, ": %" G_GINT64_FORMAT, place->tasks);
    }
    fprintf(to, "}, \"held\": %s", p->plan.held ? "true" : "false");
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"tasks", p->size},        {"min", p->least},           {"max", p->tasks},
                   {"priority", p->priority}, {"attempts", p->attempt},    {"checkpoint", p->checkpoint},
                   {"status", p->status},     {"submitted", p->submitted}, {"started", p->started},
                   {"ended", p->ended}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        fprintf(to, ", \"%s\": %" G_GINT64_FORMAT, numbers[i].name, numbers[i].value);
    fputs(", \"words\": [", to);
    for (char **word = p->words; *word; word++) {
        fputs(word > p->words ? ", " : "", to);
        dome__json_string(to, *word);
    }
    fputs("]}", to);
}

bool dome__submitted_print(bool json)
{
    dome_table *table = dome__daemon_table("ps");
    if (!table)
        return false;
    if (json)
        putchar('[');
    else if (table->programs->len)
        printf("%-6s  %-8s  %-7s  %4s  %9s  %-10s  %5s  %s\n", "NUMBER", "OWNER", "STATE", "PRIO", "TASKS", "HOST", "START",
               "PROGRAM");
    else
        puts("no program has been submitted");
    for (guint i = 0; i < table->programs->len; i++) {
        if (json)
            fputs(i ? ",\n  " : "\n  ", stdout);
        if (json)
            write_program(stdout, table->programs->pdata[i]);
        else
            print_program(table->programs->pdata[i]);
    }
    if (json)
        puts(table->programs->len ? "\n]" : "]");
    dome__table_free(table);
    return true;
}

/* ---- hosts ---- */

static const char *state_of(const dome_host *h)
{
    return h->there ? "there" : h->lost ? "lost" : h->left ? "left" : "away";
}

/* What is done for its owner. */
static const char *owner_of(const dome_host *h)
{
    static const char *const phases[] = {"-", "nice", "stop", "leave"};
    return phases[h->owner];
}

static void write_host(FILE *to, const dome_host *h)
{
    fputs("{\"host\": ", to);
    dome__json_string(to, h->name);
    fprintf(to, ", \"state\": \"%s\", \"slots\": %" G_GINT64_FORMAT ", \"load\": %.2f, \"owner\": \"%s\", \"use\": \"%s\"",
            state_of(h), h->slots, (double)h->load / 100, owner_of(h), dome__host_use_name(h->use));
    json_text(to, "architecture", h->architecture);
    fputc('}', to);
}

void dome__submitted_write(const dome_table *table, FILE *to)
{
    fputs("{\"hosts\": [", to);
    for (guint i = 0; i < table->hosts->len; i++) {
        fputs(i ? ",\n  " : "\n  ", to);
        write_host(to, table->hosts->pdata[i]);
    }
    fputs("],\n \"programs\": [", to);
    for (guint i = 0; i < table->programs->len; i++) {
        fputs(i ? ",\n  " : "\n  ", to);
        write_program(to, table->programs->pdata[i]);
    }
    fputs("]}\n", to);
}

void dome__submitted_hosts(bool json)
{
    dome_table *table = dome__daemon_table("hosts");
    if (!table)
        return;
    if (json)
        putchar('[');
    else
        printf("%-16s  %-6s  %5s  %5s  %-6s  %s\n", "HOST OF DOMED", "STATE", "SLOTS", "LOAD", "OWNER", "USE");
    for (guint i = 0; i < table->hosts->len; i++) {
        const dome_host *h = table->hosts->pdata[i];
        if (json) {
            fputs(i ? ",\n  " : "\n  ", stdout);
            write_host(stdout, h);
        } else {
            dome__print("%-16s  %-6s  %5" G_GINT64_FORMAT "  %5.2f  %-6s  %s\n", h->name, state_of(h), h->slots,
                        (double)h->load / 100, owner_of(h), dome__host_use_name(h->use));
        }
    }
    if (json)
        puts(table->hosts->len ? "\n]" : "]");
    dome__table_free(table);
}

bool dome__submitted_is_host_verb(const char *verb)
{
    static const char *const verbs[] = {"enable", "disable", "drain", "lost", NULL};
    return g_strv_contains(verbs, verb);
}

int dome__submitted_use(const char *verb, char **names)
{
    if (!*names)
        dome__command_fail(2, "hosts: say which host to %s", verb);
    for (; *names; names++) {
        const bool lost = strcmp(verb, "lost") == 0;
        dome_record request = dome__daemon_request(lost ? "lost" : "use");
        dome__record_add(&request, "name", *names);
        if (!lost)
            dome__record_add(&request, "what", verb);
        char *text = dome__daemon_order("hosts", &request);
        dome__print("%s\n", text);
        g_free(text);
        dome__record_clear(&request);
    }
    return 0;
}
