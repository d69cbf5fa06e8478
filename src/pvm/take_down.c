/* Takes down a private machine. The hub does so at the end; the guard, if the hub was killed; the supervisor, if both were; a
 * later run, if all of them were. */
#include "pvm/pvm.h"
#include "system/child.h"
#include "system/files.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct member {
    dome_pvm_process process;
    bool daemon, task;
} member;

static bool gone(const member *m)
{
    dome_pvm_process now = {.pid = m->process.pid};
    waitpid(now.pid, NULL, WNOHANG); /* reaps it if it is a child of this process */
    return !dome__pvm_process_read(&now) || now.start != m->process.start;
}

/* Whether a process belongs to the machine: its daemon and all processes started from there have the machine's directory in their
 * environment. */
static bool look_at(const char *number, const char *machine, member *m)
{
    char path[64], *environment = NULL;
    gsize length = 0;
    struct stat s;
    bool of_machine = false;
    *m = (member){.process.pid = atoi(number)};
    const int pid = (int)m->process.pid;
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &s) < 0 || s.st_uid != geteuid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (g_file_get_contents(path, &environment, &length, NULL))
        for (const char *at = environment; at < environment + length; at += strlen(at) + 1) {
            of_machine |= strcmp(at, machine) == 0;
            m->task |= strcmp(at, "DOME_JOIN=1") == 0;
        }
    g_free(environment);
    m->daemon = of_machine && dome__pvm_process_is_daemon(pid);
    return of_machine && dome__pvm_process_read(&m->process);
}

static bool is_daemon(const GArray *members, pid_t pid)
{
    for (guint i = 0; i < members->len; i++)
        if (g_array_index(members, member, i).process.pid == pid)
            return g_array_index(members, member, i).daemon;
    return false;
}

/* The processes of the machine: the daemon and tasks, also tasks that have exec'd another program (children of the daemon).
 * Processes that a task has started do not belong to the run. */
static GArray *members_of(const char *directory)
{
    char *machine = g_strdup_printf("PVM_TMP=%s", directory);
    GArray *found = g_array_new(FALSE, FALSE, sizeof(member));
    GDir *proc = g_dir_open("/proc", 0, NULL);
    const char *name;
    member m;
    while (proc && (name = g_dir_read_name(proc)))
        if (g_ascii_isdigit(name[0]) && look_at(name, machine, &m))
            g_array_append_val(found, m);
    if (proc)
        g_dir_close(proc);
    for (guint i = 0; i < found->len; i++) {
        member *each = &g_array_index(found, member, i);
        each->task |= is_daemon(found, each->process.parent);
    }
    for (guint i = found->len; i-- > 0;)
        if (!g_array_index(found, member, i).task && !g_array_index(found, member, i).daemon)
            g_array_remove_index_fast(found, i);
    g_free(machine);
    return found;
}

static void send_to(const GArray *members, bool daemons, int number)
{
    for (guint i = 0; i < members->len; i++) {
        const member *m = &g_array_index(members, member, i);
        if (m->daemon == daemons && !gone(m))
            kill(m->process.pid, number);
    }
}

static bool ended_within(const GArray *members, bool daemons, int milliseconds)
{
    for (int waited = 0;; waited++) {
        bool all = true;
        for (guint i = 0; i < members->len && all; i++) {
            const member *m = &g_array_index(members, member, i);
            all = m->daemon != daemons || gone(m);
        }
        if (all || waited >= milliseconds)
            return all;
        g_usleep(1000);
    }
}

/* Halts the machine from a separate process, which ends within one second. */
static pid_t start_halt(void)
{
    const dome_child_setup setup = {
        .null = DOME_CHILD_STANDARD,     /* drop messages of PVM's library about the daemon that ends */
        .close_from = STDERR_FILENO + 1, /* as for dome__pvm_kill_tasks */
        .unblocked = true,
        .seconds = 1,
    };
    pid_t pid = dome__child_fork(&setup, NULL);
    if (pid == 0) {
        dome__pvm_halt();
        _exit(0);
    }
    return pid;
}

/* The daemon's signal handler calls functions that are not async-signal-safe, and at times hangs for ever. On a single host that
 * does no harm; with other hosts their daemons would survive, so they are first halted by a message. */
static void end_daemons(const GArray *members, bool others)
{
    send_to(members, true, SIGCONT); /* in case it was stopped */
    pid_t halting = others && !ended_within(members, true, 0) ? start_halt() : 0;
    bool ended = halting > 0 && ended_within(members, true, 1500);
    if (!ended) {
        send_to(members, true, SIGTERM);
        ended = ended_within(members, true, 1000);
    }
    if (!ended) {
        send_to(members, true, SIGKILL);
        ended_within(members, true, 1000);
    }
    dome__child_kill(halting);
}

void dome__pvm_take_down(const char *directory, bool others)
{
    if (!directory)
        return;
    /* A task that was being started when the daemon ended has lost its parent and may have been missed: search again. */
    for (int round = 0; round < 5; round++) {
        GArray *members = members_of(directory);
        bool none = members->len == 0;
        if (!none) {
            end_daemons(members, round == 0 && others);
            if (!ended_within(members, false, 200)) /* stopped, or ignoring the daemon's signal */
                send_to(members, false, SIGKILL);
            ended_within(members, false, 1000); /* a task may still create files until it has ended */
        }
        g_array_free(members, TRUE);
        if (none)
            break;
    }
    dome__remove_directory(directory);
}
