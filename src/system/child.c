#include "system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pair of descriptors: the parent's, the child's. */
enum { PARENT, CHILD, ENDS };

static bool open_line(dome_child_line line, int ends[ENDS])
{
    int pair[2] = {-1, -1};
    const bool open =
        line == DOME_CHILD_ALONE ||
        (line == DOME_CHILD_TALKS ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) : pipe2(pair, O_CLOEXEC)) == 0;
    ends[PARENT] = pair[line == DOME_CHILD_HEARS];
    ends[CHILD] = pair[line != DOME_CHILD_HEARS];
    return open;
}

static void close_end(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* In the child. */

static void set_signals(const dome_child_setup *setup)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; setup->handles_none && number < NSIG; number++)
        signal(number, SIG_DFL);
    if (setup->seconds) {
        signal(SIGALRM, SIG_DFL);
        alarm(setup->seconds);
    }
    if (setup->unblocked)
        sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_null(unsigned which)
{
    const int null = which ? open("/dev/null", O_RDWR) : -1;
    for (int fd = 0; fd < 3; fd++)
        if (which & 1u << fd && dup2(null, fd) < 0)
            close(fd);
    if (null > STDERR_FILENO)
        close(null);
}

/* Returns its end of the line. */
static int set_descriptors(const dome_child_setup *setup, int line)
{
    if (line >= 0 && line <= STDERR_FILENO) /* the parent has closed its own */
        line = fcntl(line, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    set_null(setup->null);
    if (setup->line_as == line)
        fcntl(line, F_SETFD, 0);
    else if (setup->line_as && dup2(line, setup->line_as) < 0)
        _exit(127);
    if (setup->close_from)
        close_range((unsigned)setup->close_from, ~0U, 0);
    return setup->line_as ? setup->line_as : line;
}

static int become(const dome_child_setup *setup, const int ends[ENDS], pid_t parent)
{
    if (setup->with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* it has ended before */
            _exit(127);
    }
    if (setup->group)
        setpgid(0, 0);
    close_end(ends[PARENT]);
    set_signals(setup);
    return set_descriptors(setup, ends[CHILD]);
}

pid_t dome__child_fork(const dome_child_setup *setup, int *line)
{
    int ends[ENDS], own = -1;
    const pid_t parent = getpid();
    pid_t child = -1;
    if (open_line(setup->line, ends) && (child = fork()) == 0)
        own = become(setup, ends, parent);
    const int error = errno;
    if (child) {
        close_end(ends[CHILD]);
        if (child > 0 && setup->group)
            setpgid(child, child); /* whichever process comes first */
        if (child > 0)
            own = ends[PARENT];
        else
            close_end(ends[PARENT]);
    }
    if (line)
        *line = own;
    errno = error;
    return child;
}

int dome__child_reap(pid_t child)
{
    int status;
    pid_t reaped;
    do
        reaped = child > 0 ? waitpid(child, &status, 0) : -1;
    while (reaped < 0 && child > 0 && errno == EINTR);
    return reaped > 0 ? status : -1;
}

void dome__child_kill(pid_t child)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    dome__child_reap(child);
}
