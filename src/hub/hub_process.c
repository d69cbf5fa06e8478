/* Finds out how the process of a task on this host has ended, or that it has not. It is not a child of the hub; Linux 6.15 and
 * later report the exit status through a pidfd. */
#include "hub/hub_private.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* As in <linux/pidfd.h>, which lacks it on many machines. */
struct process_info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
#define GET_INFO  _IOWR(0xFF, 11, struct process_info)
#define INFO_EXIT 8u

int dome__hub_process_open(const hub_state *s, const hub_client *c)
{
    int process = strcmp(c->host, g_get_host_name()) == 0 ? (int)syscall(SYS_pidfd_open, c->pid, 0) : -1;
    if (process >= 0 &&
        (guint)process > s->machine->pending.descriptors / 2) { /* keep descriptors for connections: hub_pending.c */
        close(process);
        process = -1;
    }
    return process;
}

/* The exit status as from waitpid, or -1. It becomes available after the parent has waited for the process, so this polls for a
 * moment. */
static int exit_code(int process)
{
    struct pollfd p = {.fd = process, .events = POLLIN};
    for (int k = 0; process >= 0 && k < 50; k++) {
        struct process_info info = {.mask = INFO_EXIT};
        if (poll(&p, 1, 100) != 1 || ioctl(process, GET_INFO, &info) < 0)
            return -1;
        if (info.mask & INFO_EXIT)
            return info.exit_code;
        g_usleep(2000);
    }
    return -1;
}

/* Whether a process of this host goes on although its connection is closed. One that ends is marked as exiting before its files
 * are closed. */
static bool goes_on(const hub_client *c)
{
    enum { EXITING = 4 }; /* PF_EXITING of the kernel */
    struct pollfd p = {.fd = c->process, .events = POLLIN};
    if (c->process < 0 || poll(&p, 1, 0) != 0)
        return false;
    unsigned flags = EXITING;
    char *path = g_strdup_printf("/proc/%d/stat", (int)c->pid), *text = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        const char *name_end = strrchr(text, ')');
        if (!name_end || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
            flags = EXITING;
    }
    g_free(path);
    g_free(text);
    return !(flags & EXITING);
}

void dome__hub_process_ended(hub_state *s, hub_client *c)
{
    if (!c->last_signal && goes_on(c)) {
        dome__hub_lost(s, c, DOME_HUB_GOES_ON);
        return;
    }
    int code = c->last_signal ? c->last_signal : exit_code(c->process);
    if (code < 0) {
        dome__hub_lost(s, c, "its process ended");
    } else if (WIFSIGNALED(code)) {
        char *how = g_strdup_printf("its process was ended by signal %d (%s)", WTERMSIG(code), strsignal(WTERMSIG(code)));
        dome__hub_lost(s, c, how);
        g_free(how);
    } else {
        dome__hub_left(s, c, WEXITSTATUS(code));
    }
}

void dome__hub_process_kill(const hub_client *c)
{
    if (c->process >= 0)
        syscall(SYS_pidfd_send_signal, c->process, SIGKILL, NULL, 0);
}
