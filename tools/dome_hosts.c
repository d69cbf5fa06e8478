/* dome hosts: the hosts of the user's own virtual machine. */
#include "commands.h"
#include "in_time.h"
#include "pvm/pvm.h"
#include "submitted.h"
#include "system/say.h"

#include <stdlib.h>
#include <string.h>

typedef struct request {
    bool (*work)(const void *request, GString *out, char **message);
    char **hosts, *address;
    bool force;
} request;

static bool work_list(const void *data, GString *out, char **message)
{
    GPtrArray *hosts = dome__pvm_hosts(message);
    (void)data;
    for (guint i = 0; hosts && i < hosts->len; i++) {
        const dome_pvm_host *host = hosts->pdata[i];
        g_string_append_printf(out, "%s\t%s\t%d\t%d\n", host->name, host->arch, host->format, host->tasks);
    }
    return hosts != NULL;
}

static bool work_add(const void *data, GString *out, char **message)
{
    const request *r = data;
    (void)out;
    return dome__pvm_add_hosts(r->hosts, NULL, message);
}

static bool work_remove(const void *data, GString *out, char **message)
{
    const request *r = data;
    (void)out;
    return dome__pvm_remove_hosts(r->hosts, r->force, message);
}

static bool work_start(const void *data, GString *out, char **message)
{
    const request *r = data;
    (void)out;
    return dome__pvm_machine_start(r->address, message);
}

static bool work_halt(const void *data, GString *out, char **message)
{
    (void)data, (void)out, (void)message;
    dome__pvm_halt();
    return true;
}

/* Runs a request; ends the command if it fails. */
static char *do_it(request r, int seconds)
{
    char *message = NULL, *text = dome__in_time(r.work, &r, seconds, &message);
    if (!text)
        dome__command_fail(1, "hosts: %s", message);
    return text;
}

static void print_list(bool there, bool json)
{
    char *text = there ? do_it((request){.work = work_list}, 20) : g_strdup("");
    char **lines = g_strsplit(text, "\n", 0);
    int width = 4, n = 0;
    for (char **line = lines; *line && **line; line++, n++)
        width = MAX(width, (int)strcspn(*line, "\t"));
    if (json)
        putchar('[');
    else if (!there)
        puts("no virtual machine of yours runs on this host; dome hosts add HOST... starts one");
    else
        printf("%-*s  %-12s  %-10s  %s\n", width, "HOST", "ARCHITECTURE", "FORMAT", "TASKS");
    for (int i = 0; i < n; i++) {
        char **field = g_strsplit(lines[i], "\t", 4);
        if (g_strv_length(field) == 4 && json) {
            printf("%s\n  {\"host\": ", i ? "," : "");
            dome__json_string(stdout, field[0]);
            fputs(", \"architecture\": ", stdout);
            dome__json_string(stdout, field[1]);
            printf(", \"format\": %s, \"tasks\": %s}", field[2], field[3]);
        } else if (g_strv_length(field) == 4) {
            dome__print("%-*s  %-12s  %-10s  %s\n", width, field[0], field[1], field[2], field[3]);
        }
        g_strfreev(field);
    }
    if (json)
        puts(n ? "\n]" : "]");
    g_strfreev(lines);
    g_free(text);
}

static bool machine_there(void)
{
    char *stale = NULL;
    bool there = dome__pvm_daemon_answers(&stale);
    if (stale)
        dome__say("%s was left behind by a PVM daemon that has ended (rm %s to mend)", stale, stale);
    g_free(stale);
    return there;
}

static void add(bool there, char **names, char *address)
{
    if (!there) {
        g_free(do_it((request){.work = work_start, .address = address}, 30));
        if (!machine_there())
            dome__command_fail(1, "hosts: the PVM daemon does not answer; see dome doctor");
        dome__say("started a virtual machine of yours; dome hosts halt ends it");
    } else if (address) {
        dome__command_fail(2, "hosts: --address is for a machine that is not there yet: dome hosts halt ends the one there is");
    }
    if (*names)
        g_free(do_it((request){.work = work_add, .hosts = names}, 60 + (int)g_strv_length(names)));
}

static void halt(void)
{
    g_free(do_it((request){.work = work_halt}, 20));
    char *stale = NULL;
    for (int i = 0; i < 200 && dome__pvm_daemon_answers(&stale); i++)
        g_usleep(50000);
    if (dome__pvm_daemon_answers(&stale))
        dome__command_fail(1, "hosts: the PVM daemon does not end; see dome doctor");
}

int dome__command_hosts(int argc, char **argv)
{
    gboolean json = FALSE, force = FALSE, daemons = FALSE;
    char *address = NULL;
    const GOptionEntry entries[] = {{"address", 0, 0, G_OPTION_ARG_STRING, &address,
                                     "add: address by which others reach this host, if a machine is started", "NAME"},
                                    {"force", 0, 0, G_OPTION_ARG_NONE, &force, "remove: also hosts with tasks on them", NULL},
                                    {"daemons", 0, 0, G_OPTION_ARG_NONE, &daemons, "list: the hosts of domed alone", NULL},
                                    DOME_DAEMON_ON,
                                    {"json", 0, 0, G_OPTION_ARG_NONE, &json, "list: print a list of objects in JSON", NULL},
                                    {0}};
    dome__command_parse(
        &argc, &argv, entries, "[list | add HOST... | remove HOST... | halt | enable|disable|drain|lost HOST...]",
        "Shows and changes your own PVM virtual machine, which programs use if it runs. add starts it if\n"
        "needed; halt ends it. (A private machine has the hosts of dome run --hosts.)\n"
        "Of a group of hosts with domed: enable lets programs begin on a host, disable does not, nor does drain,\n"
        "and lost says that a host without its domed is gone for good with what ran there.",
        -1);
    const char *verb = argc > 1 ? argv[1] : "list";
    char **names = argc > 2 ? argv + 2 : argv + argc;
    if (dome__submitted_is_host_verb(verb))
        return dome__submitted_use(verb, names);
    if (daemons || *dome__daemon_on()) {
        dome__submitted_hosts(json);
        return 0;
    }
    bool takes_names = strcmp(verb, "add") == 0 || strcmp(verb, "remove") == 0;
    if (!takes_names && strcmp(verb, "list") != 0 && strcmp(verb, "halt") != 0)
        dome__command_fail(2, "hosts: there is no '%s': list, add, remove or halt", verb);
    if (!takes_names && *names)
        dome__command_fail(2, "hosts: '%s' is one argument too many; see dome hosts --help", *names);
    if (strcmp(verb, "remove") == 0 && !*names)
        dome__command_fail(2, "hosts: say which host to remove");
    for (char **name = names; *name; name++)
        if (!**name || strpbrk(*name, " \t\n*&#"))
            dome__command_fail(2, "hosts: '%s' is no name of a host", *name);
    dome__pvm_environment();
    bool there = machine_there();
    if (strcmp(verb, "list") == 0) {
        print_list(there, json);
        if (!json)
            dome__submitted_hosts(false);
    } else if (strcmp(verb, "add") == 0)
        add(there, names, address);
    else if (!there)
        dome__command_fail(1, "hosts: no virtual machine of yours runs on this host");
    else if (strcmp(verb, "halt") == 0)
        halt();
    else
        g_free(do_it((request){.work = work_remove, .hosts = names, .force = force}, 30));
    return 0;
}
