/* dome grow, dome shrink, dome move: change the tasks of a running program, dome suspend and dome resume stop them, by an order
 * to its hub (src/wire/order.h). */
#include "commands.h"
#include "running.h"
#include "wire/order.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The hub of the program that is meant. */
static int find(const char *command, const char *word)
{
    GPtrArray *all, *meant = dome__running_find(word, &all);
    if (meant->len == 0)
        not_found(command, word);
    const int found = ((const dome_report *)meant->pdata[0])->pid;
    if (meant->len > 1) {
        GString *pids = g_string_new(NULL);
        for (guint i = 0; i < meant->len; i++)
            g_string_append_printf(pids, "%s%d", i ? ", " : "", ((const dome_report *)meant->pdata[i])->pid);
        dome__command_fail(1, "%s: %u programs are called %s: name one by its number, %s", command, meant->len, word, pids->str);
    }
    g_ptr_array_unref(meant);
    g_ptr_array_unref(all);
    return found;
}

/* Seconds to wait unless --wait is given; hosts that are added to the virtual machine may take some. */
static const double PATIENCE = 30, PATIENCE_HOSTS = 60;

static const char wait_help[] = "Seconds to wait until the program has changed (default: 30; with hosts 60)";

static void check_hosts(const char *command, char **hosts)
{
    for (char **host = hosts; host && *host; host++)
        if (!dome__order_is_host(*host))
            dome__command_fail(2, "%s: '%s' is no name of a host", command, *host);
}

/* In the help of each command. */
#define WHICH                                                                                                                    \
    "PROGRAM is its name, or a number: the one\n"                                                                                \
    "before it in dome ps, the pid of one of its tasks, or that of a process that started it (a shell's $!).\n"

/* Gives the order, and prints what has become of it. wait below 0: not given. */
static int give(const char *command, const char *program, const dome_order *order, double wait)
{
    if (wait < 0)
        wait = order->hosts && order->hosts[0] ? PATIENCE_HOSTS : PATIENCE;
    const int pid = find(command, program);
    char *text = dome__order_line(order), *line = g_strconcat(text, "\n", NULL);
    if (strlen(line) >= DOME_ORDER_MOST)
        dome__command_fail(2, "%s: these are too many hosts for one order", command);
    char *answer = dome__order_send(pid, line, wait);
    g_free(line);
    g_free(text);
    if (!answer)
        dome__command_fail(1, "%s: the program has ended", command);
    if (!answer[0] && !dome__order_changes(order))
        dome__command_fail(1, "%s: not all tasks have stopped within %g s", command, wait);
    if (!answer[0])
        dome__command_fail(
            1, "%s: the program has come to no loop boundary (dome_checkpoint) within %g s; it changes at the next one", command,
            wait);
    if (!g_str_has_prefix(answer, "done "))
        dome__command_fail(1, "%s: %s", command, g_str_has_prefix(answer, "no ") ? answer + strlen("no ") : answer);
    dome__print("%d: %s\n", pid, answer + strlen("done "));
    g_free(answer);
    return 0;
}

int dome__command_order(const char *command, const char *program, const dome_order *order)
{
    return give(command, program, order, -1);
}

/* --wait as it was given. */
static double patience(const char *command, const char *text)
{
    char *end = NULL;
    const double wait = text ? g_ascii_strtod(text, &end) : -1;
    if (text && (!(wait >= 0) || end == text || *end))
        dome__command_fail(2, "%s: --wait takes a number of seconds", command);
    return wait;
}

static int change(int argc, char **argv, dome_order_kind kind, const char *summary, const char *help, const char *host_help)
{
    const char *command = argv[0];
    int count = G_MININT; /* not given */
    char **hosts = NULL, *none[] = {NULL}, *wait = NULL;
    const GOptionEntry entries[] = {{"tasks", 'n', 0, G_OPTION_ARG_INT, &count, help, "K"},
                                    {"host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &hosts, host_help, "HOST"},
                                    {"wait", 0, 0, G_OPTION_ARG_STRING, &wait, wait_help, "SECONDS"},
                                    {0}};
    dome__command_parse(&argc, &argv, entries, "PROGRAM", summary, 1);
    if (argc < 2)
        dome__command_fail(2, "%s: no program given, by its name or its number in dome ps; see dome %s --help", command, command);
    const bool given = count != G_MININT;
    if (given && count < 1)
        dome__command_fail(2, "%s: -n %d: give a number of tasks, 1 or more", command, count);
    check_hosts(command, hosts);
    const dome_order order = {kind, given ? count : hosts ? 0 : 1, hosts ? hosts : none};
    return give(command, argv[1], &order, patience(command, wait));
}

int dome__command_grow(int argc, char **argv)
{
    return change(
        argc, argv, DOME_ORDER_GROW,
        "Adds tasks to a running program of yours that was started on this host. " WHICH
        "The program changes at its next loop boundary (dome_checkpoint); its tasks keep their processes, and nothing that\n"
        "was computed is lost.",
        "Number of tasks to add (default: 1; with --host, one on each)",
        "Start them on this host, which is added to the virtual machine if it is not there; may be repeated");
}

int dome__command_shrink(int argc, char **argv)
{
    return change(
        argc, argv, DOME_ORDER_SHRINK,
        "Takes tasks away from a running program of yours that was started on this host. " WHICH
        "The program changes at its next loop boundary (dome_checkpoint): the tasks with the highest ranks end, and nothing\n"
        "that was computed is lost.",
        "Number of tasks to take away (default: 1; with --host, all that are there)",
        "Take them from this host; may be repeated");
}

int dome__command_move(int argc, char **argv)
{
    const char *command = argv[0];
    char *wait = NULL;
    const GOptionEntry entries[] = {{"wait", 0, 0, G_OPTION_ARG_STRING, &wait, wait_help, "SECONDS"}, {0}};
    dome__command_parse(
        &argc, &argv, entries, "PROGRAM FROM TO",
        "Moves the tasks of a running program of yours from one host to another, which is added to the virtual\n"
        "machine if it is not there. " WHICH
        "The program changes at its next loop boundary (dome_checkpoint): new tasks take the places of those on host FROM,\n"
        "and nothing that was computed is lost. Task 0 stays on the host where the program was started.",
        3);
    if (argc < 4)
        dome__command_fail(2, "%s: give a program and two hosts; see dome %s --help", command, command);
    check_hosts(command, argv + 2);
    const dome_order order = {DOME_ORDER_MOVE, 0, argv + 2};
    return give(command, argv[1], &order, patience(command, wait));
}
