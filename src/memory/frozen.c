#define _GNU_SOURCE
#include "memory/frozen.h"

#include "system/thread.h"
#include "system/unconst.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel takes at most 2 GiB in a call. */
static const uint64_t READ_MOST = (uint64_t)1 << 30;

/* In the child, in which the state of the C library is that of one thread among several: system calls alone. Signals stay
 * blocked. Descriptors are closed, since connections and locks would otherwise end with the child only. */
static void stand_still(int line, unsigned descriptors)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* another child of the program may have the other end of the line */
    if (syscall(SYS_dup3, line, STDIN_FILENO, 0) < 0 && line != STDIN_FILENO)
        syscall(SYS_exit_group, 1);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0) == 0)
        descriptors = 0;
#endif
    for (unsigned fd = STDIN_FILENO + 1; fd < descriptors; fd++) /* before Linux 5.9 */
        syscall(SYS_close, fd);
    while (syscall(SYS_read, STDIN_FILENO, &byte, (size_t)1) < 0 && errno == EINTR)
        continue;
    syscall(SYS_exit_group, 0);
}

/* With neither flags nor a signal at its end: wait() does not see such a child. */
static int make_child(int line)
{
    sigset_t before;
    const long most = sysconf(_SC_OPEN_MAX);
    dome__signals_block(&before);
    const long process = syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
    if (process == 0)
        stand_still(line, most > 0 ? (unsigned)most : 1024);
    const int error = errno;
    dome__signals_restore(&before);
    errno = error;
    return (int)process;
}

static bool can_be_read(const dome_frozen *frozen, const char **why)
{
    static const char text[] = "as it was";
    char there[sizeof text] = "";
    *why = "the child has other memory";
    return dome__frozen_read(frozen, there, text, sizeof text, why) && memcmp(there, text, sizeof text) == 0;
}

bool dome__frozen_begin(dome_frozen *frozen, const char **why)
{
    int ends[2];
    *frozen = (dome_frozen){0, -1};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        *why = strerror(errno);
        return false;
    }
    const int process = make_child(ends[0]);
    if (process < 0)
        *why = strerror(errno);
    close(ends[0]);
    *frozen = (dome_frozen){process > 0 ? process : 0, ends[1]};
    if (process > 0 && can_be_read(frozen, why))
        return true;
    dome__frozen_end(frozen);
    return false;
}

bool dome__frozen_read(const dome_frozen *frozen, void *to, const void *from, uint64_t bytes, const char **why)
{
    for (uint64_t done = 0; done < bytes;) {
        const size_t most = (size_t)(bytes - done < READ_MOST ? bytes - done : READ_MOST);
        const struct iovec here = {(char *)to + done, most}, there = {(char *)dome__unconst(from) + done, most}; /* only read */
        const ssize_t n = process_vm_readv(frozen->process, &here, 1, &there, 1, 0);
        if (n <= 0) {
            *why = n < 0 ? strerror(errno) : "it is gone";
            return false;
        }
        done += (uint64_t)n;
    }
    return true;
}

void dome__frozen_end(dome_frozen *frozen)
{
    if (frozen->line >= 0)
        close(frozen->line);
    if (frozen->process > 0) {
        kill(frozen->process, SIGKILL); /* not reaped yet, so no other process has its number */
        while (waitpid(frozen->process, NULL, __WALL) < 0 && errno == EINTR)
            continue;
    }
    *frozen = (dome_frozen){0, -1};
}
