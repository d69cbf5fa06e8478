/* dome attach, suspend, resume, kill, limits: a program that the daemon runs. suspend and resume also take one that it does not.
 */
#include "commands.h"
#include "daemon_client.h"
#include "submitted.h"
#include "system/say.h"
#include "wire/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- attach ---- */

/* Seconds between two looks at the file; for a daemon that has ended to come back. */
static const double LOOK = 0.1, COMES_BACK = 60;

typedef struct follower {
    int fd; /* of the file; -1: not open yet */
    const char *path;
} follower;

/* Prints what has come. */
static void copy_output(follower *f)
{
    char buffer[65536];
    ssize_t n;
    if (f->fd < 0)
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (f->fd >= 0 && (n = read(f->fd, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)n, stdout);
    fflush(stdout);
}

static int wait_for(const char *word)
{
    dome_record request = dome__daemon_request("wait");
    dome__record_add(&request, "program", word);
    int fd = dome__daemon_connect();
    if (fd >= 0 && !dome__daemon_send(fd, &request)) {
        close(fd);
        fd = -1;
    }
    dome__record_clear(&request);
    return fd;
}

/* Its exit status; the connection is sought again if the daemon ends meanwhile. */
static int follow(const char *word, follower *f)
{
    dome_record line = {0};
    GString *in = g_string_new(NULL);
    double away = 0;
    int fd = wait_for(word), have = 0;
    while (have <= 0) {
        copy_output(f);
        have = fd < 0 ? -1 : dome__daemon_line(fd, in, LOOK, &line);
        if (have >= 0) {
            away = 0;
            continue;
        }
        if (fd >= 0)
            close(fd);
        if ((away += LOOK) > COMES_BACK)
            dome__command_fail(1, "attach: domed has ended; the program goes on, and dome attach %s shows it later", word);
        g_usleep((gulong)(LOOK * G_USEC_PER_SEC));
        g_string_truncate(in, 0);
        fd = wait_for(word);
    }
    copy_output(f);
    close(fd);
    g_string_free(in, TRUE);
    int64_t status = 1;
    const char *text = dome__record_get(&line, "text");
    if (strcmp(line.verb, "done") != 0)
        dome__command_fail(1, "attach: %s", text ? text : "domed refuses it");
    dome__record_number(&line, "status", 0, 255, 1, &status);
    if (text && *text)
        dome__say("%s: %s", word, text);
    dome__record_clear(&line);
    return (int)status;
}

static const dome_program *find(const dome_table *table, const char *command, const char *word)
{
    GPtrArray *meant = table ? dome__table_meant(table, word) : NULL;
    if (!table)
        dome__command_fail(1, "%s: no domed runs on this host, root's or your own; domed & starts yours", command);
    if (meant->len != 1)
        dome__command_fail(1,
                           meant->len ? "%s: several programs are called %s: name one by its number in dome ps"
                                      : "%s: there is no program %s; dome ps lists them",
                           command, word);
    const dome_program *p = meant->pdata[0];
    g_ptr_array_unref(meant);
    return p;
}

int dome__attach(const char *word)
{
    dome_table *table = dome__daemon_table("attach");
    const dome_program *p = find(table, "attach", word);
    char *id = g_strdup_printf("j%" G_GINT64_FORMAT, p->id);
    follower f = {-1, p->output};
    const int status = follow(id, &f);
    if (f.fd < 0)
        dome__say("attach: its output is in %s on host %s, which cannot be read here: %s", p->output, p->home, g_strerror(errno));
    else
        close(f.fd);
    g_free(id);
    dome__table_free(table);
    return status;
}

int dome__command_attach(int argc, char **argv)
{
    const GOptionEntry entries[] = {DOME_DAEMON_ON, {0}};
    dome__command_parse(&argc, &argv, entries, "PROGRAM",
                        "Shows the output of a program that domed runs, from its beginning, until it ends, and ends with its\n"
                        "status. Ctrl-C ends the command alone. With --on the file of its output must be here, too.\n"
                        "PROGRAM is its number in dome ps, such as j7, or its name.",
                        1);
    if (argc < 2)
        dome__command_fail(2, "attach: no program given; see dome attach --help");
    return dome__attach(argv[1]);
}

/* ---- orders ---- */

/* Whether the daemon has a program of that name. */
static bool is_submitted(const char *word)
{
    dome_table *table = dome__daemon_table("ps");
    GPtrArray *meant = table ? dome__table_meant(table, word) : NULL;
    const bool is = meant && meant->len > 0;
    if (meant)
        g_ptr_array_unref(meant);
    dome__table_free(table);
    return is;
}

static void wish(const char *command, const char *word, const char *what)
{
    dome_record request = dome__daemon_request("wish");
    dome__record_add(&request, "program", word);
    dome__record_add(&request, "what", what);
    g_free(dome__daemon_order(command, &request));
    dome__record_clear(&request);
}

/* Waits until the program is as it was ordered. */
static int await(const char *command, const char *word, dome_program_state state)
{
    enum { TRIES = 6000 };
    for (int k = 0; k < TRIES; k++) {
        dome_table *table = dome__daemon_table(command);
        const dome_program *p = find(table, command, word);
        const bool is = p->state == state || p->state == DOME_PROGRAM_ENDED || p->state == DOME_PROGRAM_WAITS;
        if (is)
            dome__print("j%" G_GINT64_FORMAT ": %s\n", p->id, dome__program_state_name(p->state));
        dome__table_free(table);
        if (is)
            return 0;
        g_usleep(5000);
    }
    dome__command_fail(1, "%s: %s has not done so yet; it will, as soon as it can", command, word);
}

static int stop_or_go(int argc, char **argv, bool stop, const char *summary)
{
    const char *command = argv[0];
    const GOptionEntry entries[] = {DOME_DAEMON_ON, {0}};
    dome__command_parse(&argc, &argv, entries, "PROGRAM", summary, 1);
    if (argc < 2)
        dome__command_fail(2, "%s: no program given; see dome %s --help", command, command);
    if (is_submitted(argv[1])) {
        wish(command, argv[1], stop ? "stop" : "run");
        return await(command, argv[1], stop ? DOME_PROGRAM_STOPPED : DOME_PROGRAM_RUNS);
    }
    if (*dome__daemon_on())
        dome__command_fail(1, "%s: there is no program %s on %s; dome ps --on %s lists them", command, argv[1],
                           *dome__daemon_on(), *dome__daemon_on());
    const dome_order order = {.kind = stop ? DOME_ORDER_SUSPEND : DOME_ORDER_RESUME};
    return dome__command_order(command, argv[1], &order);
}

#define WHICH                                                                                                                    \
    "PROGRAM is a number such as j7 or a name in dome ps; or, of a program of yours that was started\n"                          \
    "otherwise, its name or the number of a process of it."

int dome__command_suspend(int argc, char **argv)
{
    return stop_or_go(argc, argv, true,
                      "Stops all processes of a program's tasks, on all hosts, until dome resume. They keep their memory, and\n"
                      "use no processor. " WHICH);
}

int dome__command_resume(int argc, char **argv)
{
    return stop_or_go(argc, argv, false, "Lets a program run on that dome suspend has stopped. " WHICH);
}

int dome__command_kill(int argc, char **argv)
{
    const GOptionEntry entries[] = {DOME_DAEMON_ON, {0}};
    dome__command_parse(
        &argc, &argv, entries, "PROGRAM",
        "Ends a program that domed runs, or that waits: by SIGTERM, and by SIGKILL if it has not ended after ten\n"
        "seconds. PROGRAM is its number in dome ps, such as j7, or its name.",
        1);
    if (argc < 2)
        dome__command_fail(2, "kill: no program given; see dome kill --help");
    wish("kill", argv[1], "end");
    return 0;
}

int dome__command_limits(int argc, char **argv)
{
    int tasks = 0, least = 0, priority = G_MININT;
    const GOptionEntry entries[] = {{"tasks", 'n', 0, G_OPTION_ARG_INT, &tasks, "The most tasks that it may have", "N"},
                                    {"min", 0, 0, G_OPTION_ARG_INT, &least, "The fewest to which it may shrink", "N"},
                                    {"priority", 0, 0, G_OPTION_ARG_INT, &priority, "Who has more is served first", "P"},
                                    DOME_DAEMON_ON,
                                    {0}};
    dome__command_parse(&argc, &argv, entries, "PROGRAM",
                        "Changes how many tasks a submitted program may have, and its priority. What is not given stays.\n"
                        "PROGRAM is its number in dome ps, such as j7, or its name.",
                        1);
    if (argc < 2)
        dome__command_fail(2, "limits: no program given; see dome limits --help");
    dome_record request = dome__daemon_request("limits");
    dome__record_add(&request, "program", argv[1]);
    if (tasks)
        dome__record_add_number(&request, "tasks", tasks);
    if (least)
        dome__record_add_number(&request, "least", least);
    if (priority != G_MININT)
        dome__record_add_number(&request, "priority", priority);
    char *text = dome__daemon_order("limits", &request);
    dome__print("%s\n", text);
    dome__record_clear(&request);
    g_free(text);
    return 0;
}
