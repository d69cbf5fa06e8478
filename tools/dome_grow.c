/* dome grow, dome shrink: change the number of tasks of a running program, by an order to its hub (src/supervision/order.h). */
#include "commands.h"
#include "supervision/order.h"
#include "supervision/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_meant(const dome_report *r, const char *word)
{
    char *pid = g_strdup_printf("%d", r->pid), *name = r->command && r->command[0] ? g_path_get_basename(r->command[0]) : NULL;
    bool meant = strcmp(pid, word) == 0 || g_strcmp0(name, word) == 0;
    g_free(name);
    g_free(pid);
    return meant;
}

static void not_found(const char *command, const char *word) __attribute__((noreturn));

static void not_found(const char *command, const char *word)
{
    struct stat s;
    char *path = g_strdup_printf("/proc/%s", word);
    if (word[0] >= '1' && word[0] <= '9' && stat(path, &s) == 0 && s.st_uid != geteuid())
        dome__command_fail(1, "%s: process %s belongs to another user", command, word);
    dome__command_fail(1, "%s: no program %s of yours with several tasks was started on this host; dome ps lists those that run",
                       command, word);
}

/* The hub of the program with this name or pid. */
static int find(const char *command, const char *word)
{
    GPtrArray *texts = dome__report_ask_all();
    GString *pids = g_string_new(NULL);
    int found = 0, count = 0;
    for (guint i = 0; i < texts->len; i++) {
        dome_report *r = dome__report_parse(texts->pdata[i]);
        if (r && is_meant(r, word)) {
            found = r->pid;
            g_string_append_printf(pids, "%s%d", count++ ? ", " : "", r->pid);
        }
        if (r)
            dome__report_free(r);
    }
    if (count == 0)
        not_found(command, word);
    if (count > 1)
        dome__command_fail(1, "%s: %d programs are called %s: name one by its number, %s", command, count, word, pids->str);
    g_string_free(pids, TRUE);
    g_ptr_array_unref(texts);
    return found;
}

static int change(int argc, char **argv, const char *summary, const char *help)
{
    const char *command = argv[0];
    int count = 1;
    double wait = 30;
    const GOptionEntry entries[] = {
        {"tasks", 'n', 0, G_OPTION_ARG_INT, &count, help, "K"},
        {"wait", 0, 0, G_OPTION_ARG_DOUBLE, &wait, "Seconds to wait until the program has changed (default: 30)", "SECONDS"},
        {0}};
    dome__command_parse(&argc, &argv, entries, "PROGRAM", summary, 1);
    if (argc < 2)
        dome__command_fail(2, "%s: no program given, by its name or its number in dome ps; see dome %s --help", command, command);
    if (count < 1)
        dome__command_fail(2, "%s: -n %d: give a number of tasks, 1 or more", command, count);
    if (!(wait >= 0))
        dome__command_fail(2, "%s: --wait takes a number of seconds", command);
    const int pid = find(command, argv[1]);
    char *line = g_strdup_printf("%s %d\n", command, count), *answer = dome__order_send(pid, line, wait);
    g_free(line);
    if (!answer)
        dome__command_fail(1, "%s: the program has ended", command);
    if (!answer[0])
        dome__command_fail(
            1, "%s: the program has come to no loop boundary (dome_checkpoint) within %g s; it changes at the next one", command,
            wait);
    if (!g_str_has_prefix(answer, "done "))
        dome__command_fail(1, "%s: %s", command, g_str_has_prefix(answer, "no ") ? answer + strlen("no ") : answer);
    printf("%d: %s\n", pid, answer + strlen("done "));
    g_free(answer);
    return 0;
}

int dome__command_grow(int argc, char **argv)
{
    return change(
        argc, argv,
        "Adds tasks to a running program of yours that was started on this host. PROGRAM is its name, or the number that\n"
        "dome ps shows before it. The program changes at its next loop boundary (dome_checkpoint); its tasks keep their\n"
        "processes, and nothing that was computed is lost.",
        "Number of tasks to add (default: 1)");
}

int dome__command_shrink(int argc, char **argv)
{
    return change(
        argc, argv,
        "Takes tasks away from a running program of yours that was started on this host. PROGRAM is its name, or the\n"
        "number that dome ps shows before it. The program changes at its next loop boundary (dome_checkpoint): the tasks\n"
        "with the highest ranks end, and nothing that was computed is lost.",
        "Number of tasks to take away (default: 1)");
}
