#include "watch/stop.h"

#include "system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a child of a process with threads may call: nothing that allocates. */

static bool has_stopped(pid_t process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") T", 3) == 0;
}

/* A thread in a call of the kernel that nothing interrupts stops at its end. */
static void await_stop(pid_t process)
{
    enum { TRIES = 1000 };
    for (int k = 0; k < TRIES && !has_stopped(process); k++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void stop_parent(pid_t parent, int fd, const void *said, size_t bytes) __attribute__((noreturn));

static void stop_parent(pid_t parent, int fd, const void *said, size_t bytes)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (kill(parent, SIGSTOP) < 0)
        _exit(1);
    await_stop(parent);
    if (send(fd, said, bytes, MSG_NOSIGNAL) == (ssize_t)bytes)
        while (poll(&p, 1, -1) < 0 && errno == EINTR)
            continue;
    kill(parent, SIGCONT);
    _exit(0);
}

void dome__stop_until(int fd, const void *said, size_t bytes)
{
    /* Forks of a task close the descriptor by its number. */
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const pid_t parent = getpid(), child = copy < 0 ? -1 : dome__child_fork(&(dome_child_setup){.with_parent = true}, NULL);
    if (child == 0)
        stop_parent(parent, copy, said, bytes);
    const int status = dome__child_reap(child);
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        const ssize_t ignored = send(fd, said, bytes, MSG_NOSIGNAL);
        (void)ignored;
    }
    if (copy >= 0)
        close(copy);
}
