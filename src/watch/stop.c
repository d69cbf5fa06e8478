#include "watch/stop.h"

#include "system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* In a process of its own, which alone still runs then. */
static void stop_parent(pid_t parent, int fd) __attribute__((noreturn));

static void stop_parent(pid_t parent, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (kill(parent, SIGSTOP) == 0) {
        while (poll(&p, 1, -1) < 0 && errno == EINTR)
            continue;
        kill(parent, SIGCONT);
    }
    _exit(0);
}

void dome__stop_until(int fd)
{
    /* Forks of a task close the descriptor by its number. */
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const pid_t parent = getpid();
    if (copy < 0)
        return;
    const pid_t child = dome__child_fork(&(dome_child_setup){.with_parent = true}, NULL);
    if (child == 0)
        stop_parent(parent, copy);
    dome__child_reap(child);
    close(copy);
}
