/* dome slurm: what the commands of Dome need of an allocation of Slurm, for scripts, too.
 *
 * A step of Slurm ends with its first process, and Slurm then kills all that this has left. A command that starts a daemon ends
 * at once, so here the step waits for what the command has left, while srun stays in the background, without this process. When
 * the job ends, Slurm sends SIGTERM to all that runs in it: then the step still waits, until files have been removed. */
#include "commands.h"
#include "machine/slurm.h"
#include "system/child.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a step does: the command; its status, behind a byte and a name that the command does not print; and it waits. */
static const char script[] =
    "/bin/sh -c \"$1\"\n"
    "status=$?\n"
    "printf '\\001%s %d\\n' \"$0\" $status\n"
    "exec >/dev/null 2>&1\n"
    "trap '' TERM HUP\n"
    "cd /\n"
    "for p in $(grep -lsz \"^SLURM_STEP_ID=$SLURM_STEP_ID\\$\" /proc/[0-9]*/environ | tr -dc '0-9\\n'); do\n"
    "    [ \"$p\" = $$ ] || ! grep -qsz \"^SLURM_JOB_ID=$SLURM_JOB_ID\\$\" \"/proc/$p/environ\" ||\n"
    "        while kill -0 \"$p\"; do sleep 0.5; done\n"
    "done\n"
    "exit $status\n";

typedef struct step {
    pid_t srun;
    int out, err;  /* its; -1: at the end */
    char *mark;    /* "dome-step-N" */
    GString *held; /* of its output from the byte 1 on */
    int status;    /* of the command; -1: not known yet */
} step;

static pid_t srun; /* for the handler */

static void end_step(int number)
{
    kill(-srun, SIGTERM);
    _exit(128 + number);
}

/* Options of the job and of a step around this one would count for the new step, too, and some exclude each other. */
static void forget_options(void)
{
    static const char *const kept[] = {DOME_SLURM_JOB, DOME_SLURM_NODES, DOME_SLURM_PROCESSORS, "SLURM_CONF",
                                       "SLURM_CLUSTER_NAME"};
    char **names = g_listenv();
    for (char **name = names; *name; name++) {
        bool keep = !g_str_has_prefix(*name, "SLURM_");
        for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
            keep = keep || strcmp(*name, kept[i]) == 0;
        if (!keep)
            g_unsetenv(*name);
    }
    g_strfreev(names);
}

static void become_srun(const step *s, const char *host, const char *command) __attribute__((noreturn));

static void become_srun(const step *s, const char *host, const char *command)
{
    char *nodelist = g_strconcat("--nodelist=", host, NULL);
    forget_options();
    execlp("srun", "srun", "--overlap", "--quiet", "--input=none", "--mpi=none", "--nodes=1", "--ntasks=1", "--cpu-bind=none",
           "--kill-on-bad-exit=0", nodelist, "/bin/sh", "-c", script, s->mark, command, (char *)NULL);
    fprintf(stderr, "dome: slurm: srun cannot be run: %s\n", g_strerror(errno));
    _exit(127);
}

static void begin(step *s, const char *host, const char *command)
{
    const dome_child_setup setup = {
        .line = DOME_CHILD_TELLS, .line_as = STDOUT_FILENO, .null = DOME_CHILD_IN, .unblocked = true, .group = true};
    int err[2];
    if (pipe2(err, O_CLOEXEC) < 0)
        dome__command_fail(1, "slurm: no pipe: %s", g_strerror(errno));
    s->srun = dome__child_fork(&setup, &s->out);
    if (s->srun == 0) {
        dup2(err[1], STDERR_FILENO);
        become_srun(s, host, command);
    }
    if (s->srun < 0)
        dome__command_fail(1, "slurm: srun cannot be started: %s", g_strerror(errno));
    close(err[1]);
    s->err = err[0];
    srun = s->srun;
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        signal(ends[i], end_step);
}

/* Prints what the command has printed, as it comes, and finds its status. */
static void take_output(step *s, const char *bytes, size_t count)
{
    g_string_append_len(s->held, bytes, (gssize)count);
    for (;;) {
        const char *at = memchr(s->held->str, 1, s->held->len);
        const size_t before = at ? (size_t)(at - s->held->str) : s->held->len;
        dome__io_write(STDOUT_FILENO, s->held->str, before);
        g_string_erase(s->held, 0, (gssize)before);
        const size_t length = strlen(s->mark), there = s->held->len;
        if (!there || memcmp(s->held->str + 1, s->mark, MIN(length, there - 1)) != 0) {
            if (!there)
                return;
            dome__io_write(STDOUT_FILENO, s->held->str, 1); /* the command's own */
            g_string_erase(s->held, 0, 1);
            continue;
        }
        if (memchr(s->held->str, '\n', there))
            s->status = atoi(s->held->str + 1 + length);
        return;
    }
}

/* False at the end. */
static bool take(step *s, int *fd)
{
    char buffer[4096];
    const ssize_t n = dome__io_read_some(*fd, buffer, sizeof buffer);
    if (n > 0 && fd == &s->out)
        take_output(s, buffer, (size_t)n);
    else if (n > 0)
        dome__io_write(STDERR_FILENO, buffer, (uint64_t)n);
    if (n > 0)
        return true;
    close(*fd);
    *fd = -1;
    return false;
}

/* What has been said on standard error before the end of the command, or of srun. */
static void take_rest(step *s)
{
    struct pollfd p = {.fd = s->err, .events = POLLIN};
    while (s->err >= 0 && poll(&p, 1, 0) > 0 && take(s, &s->err))
        continue;
}

static int run_step(const char *host, const char *command)
{
    step s = {.out = -1, .err = -1, .held = g_string_new(NULL), .status = -1};
    s.mark = g_strdup_printf("dome-step-%d-%08x", (int)getpid(), g_random_int());
    begin(&s, host, command);
    while (s.status < 0 && s.out >= 0) {
        struct pollfd p[] = {{.fd = s.out, .events = POLLIN}, {.fd = s.err, .events = POLLIN}};
        if (poll(p, 2, -1) < 0)
            continue; /* EINTR */
        if (p[0].revents)
            take(&s, &s.out);
        if (p[1].revents && s.err >= 0)
            take(&s, &s.err);
    }
    take_rest(&s);
    if (s.status < 0) {
        const int ended = dome__child_reap(s.srun);
        take_rest(&s);
        s.status = ended > 0 && ended % 256 == 0 ? ended / 256 : 255; /* as of ssh: the host was not reached */
    }
    g_string_free(s.held, TRUE);
    g_free(s.mark);
    return s.status;
}

/* HOST [-l USER] COMMAND..., or the user before the host, as for ssh. */
static int step_command(int argc, char **argv)
{
    const char *host = NULL, *user = NULL;
    int at = 1;
    for (; at < argc; at++) {
        if (strcmp(argv[at], "-l") == 0 && at + 1 < argc)
            user = argv[++at];
        else if (!host)
            host = argv[at];
        else
            break;
    }
    if (!host || at >= argc)
        dome__command_fail(2, "slurm: step takes a host of the allocation and a command; see dome slurm --help");
    if (user && strcmp(user, g_get_user_name()) != 0)
        dome__command_fail(2, "slurm: a step on %s runs as %s, not as %s", host, g_get_user_name(), user);
    char *command = g_strjoinv(" ", argv + at);
    const int status = run_step(host, command);
    g_free(command);
    return status;
}

static int print_hosts(void)
{
    char *slots = NULL, *message = NULL, **hosts = dome__slurm_hosts(true, &slots, &message);
    if (!hosts)
        dome__command_fail(1, "slurm: %s", message);
    g_strdelimit(slots, "=", ':');
    g_strdelimit(slots, " ", '\n');
    dome__print("%s\n", slots);
    g_free(slots);
    g_strfreev(hosts);
    return 0;
}

int dome__command_slurm(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const bool step_on = strcmp(name, "step") == 0;
    if (!step_on && strcmp(name, "hosts") != 0) {
        const GOptionEntry none[] = {{0}};
        dome__command_parse(&argc, &argv, none, "hosts | step HOST COMMAND...",
                            "In an allocation of Slurm: lists its hosts as host:tasks, or runs a shell command on one of them,\n"
                            "as ssh would. What the command leaves running stays until it ends, or the allocation does.",
                            1);
        dome__command_fail(
            2, argc > 1 ? "slurm: there is no '%s'; hosts and step are there" : "slurm: hosts or step? see dome slurm --help",
            name);
    }
    if (!dome__slurm_there())
        dome__command_fail(1, "slurm: this is not an allocation of Slurm's (salloc, sbatch): " DOME_SLURM_JOB
                              " and " DOME_SLURM_NODES " are not set");
    if (step_on)
        return step_command(argc - 1, argv + 1);
    if (argc > 2)
        dome__command_fail(2, "slurm: '%s' is one argument too many; see dome slurm --help", argv[2]);
    return print_hosts();
}
