/* Taking down the private daemon, and what it leaves. */
#include "runtime/hub_private.h"
#include "runtime/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void dome__hub_end_orphans(const char *directory)
{
    char *id = g_path_get_basename(directory), *machine = g_strdup_printf("PVM_VMID=%s", id);
    GDir *proc = g_dir_open("/proc", 0, NULL);
    const char *name;
    while (proc && (name = g_dir_read_name(proc))) {
        char *stat_path = g_build_filename("/proc", name, "stat", NULL), *stat = NULL;
        char *environ_path = g_build_filename("/proc", name, "environ", NULL), *environment = NULL;
        gsize length = 0;
        int parent = 0;
        char *after = g_ascii_isdigit(name[0]) && g_file_get_contents(stat_path, &stat, NULL, NULL) ? strrchr(stat, ')') : NULL;
        if (after && sscanf(after, ") %*c %d", &parent) == 1 && parent == getpid() &&
            g_file_get_contents(environ_path, &environment, &length, NULL)) {
            bool task = false, of_machine = false;
            for (const char *at = environment; at < environment + length; at += strlen(at) + 1) {
                task |= strcmp(at, "DOME_JOIN=1") == 0;
                of_machine |= strcmp(at, machine) == 0;
            }
            /* It may not have come to its own program yet. */
            char *exe_path = g_build_filename("/proc", name, "exe", NULL), *exe = g_file_read_link(exe_path, NULL);
            char *base = exe ? g_path_get_basename(exe) : g_strdup("");
            task |= g_str_has_prefix(base, "pvmd");
            if (task && of_machine) {
                kill(atoi(name), SIGKILL);
                waitpid(atoi(name), NULL, 0); /* it may still make files until it is gone */
            }
            g_free(base);
            g_free(exe);
            g_free(exe_path);
        }
        g_free(stat);
        g_free(environment);
        g_free(stat_path);
        g_free(environ_path);
    }
    if (proc)
        g_dir_close(proc);
    g_free(machine);
    g_free(id);
}

pid_t dome__hub_start_halt(void (*halt)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        signal(SIGALRM, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        alarm(1);
        int null = open("/dev/null", O_RDWR); /* what PVM's library says of a daemon that goes is no news */
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        halt();
        _exit(0);
    }
    return pid;
}

static bool ended_within(pid_t daemon, int milliseconds)
{
    for (int i = 0; i < milliseconds; i++) {
        if (waitpid(daemon, NULL, WNOHANG) != 0)
            return true;
        g_usleep(1000);
    }
    return false;
}

void dome__hub_take_down(pid_t daemon, const char *directory, void (*halt)(void))
{
    if (daemon > 0) {
        /* The handler of its signal does more than a handler may: now and then it stops for good in the middle of it. With no
         * other hosts nothing is lost by that; else their daemons would stay, and so they are ended by a message. */
        kill(daemon, SIGCONT); /* should somebody have stopped it */
        pid_t halting = halt ? dome__hub_start_halt(halt) : 0;
        bool ended = halting > 0 && ended_within(daemon, 1500);
        if (!ended) {
            kill(daemon, SIGTERM);
            ended = ended_within(daemon, 1000);
        }
        if (!ended) {
            kill(daemon, SIGKILL);
            waitpid(daemon, NULL, 0);
        }
        if (halting > 0) {
            kill(halting, SIGKILL);
            waitpid(halting, NULL, 0);
        }
    }
    if (directory)
        dome__remove_directory(directory);
}
