/* How a task leaves pvm_send.
 *
 * The call waits in select() until another task takes its data, or answers that it wants a connection. If that task's host is
 * lost, neither comes. libpvm gives a call up only when its daemon is gone. So another thread puts a connection that has ended in
 * the place of the one to the daemon, and rings a bell, a descriptor for which libpvm waits, too: pvm_send then returns an error.
 * So does pvm_exit, at once, and the daemon hears nothing: it sees the end of the connection when the last copy of the real one
 * is closed (dome__pvm_daemon_fd). */
#include "pvm/pvm.h"

#include <fcntl.h>
#include <pvm3.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

/* libpvm's own; no header has them. Such a descriptor is one for which the calls wait until it becomes readable; nothing reads
 * it. */
int pvm_fd_add(int fd, int sets) __attribute__((weak));
int pvm_fd_delete(int fd, int sets) __attribute__((weak));

enum { OUTSIDE, INSIDE, CUTTING, CUT };

static int state;      /* one of these; atomic */
static int bell = -1;  /* among libpvm's descriptors in pvm_send alone: each costs time in each call */
static int usual = -1; /* the descriptor that libpvm has for its daemon */
static int real = -1;  /* that of the connection to the daemon, once this process is cut off; atomic */

void dome__pvm_note_daemon_fd(int fd)
{
    usual = fd;
}

static int real_fd(void)
{
    return __atomic_load_n(&real, __ATOMIC_ACQUIRE);
}

int dome__pvm_daemon_fd(void)
{
    const int fd = real_fd();
    return fd >= 0 ? fd : usual;
}

bool dome__pvm_cut_off(void)
{
    int ends[2];
    if (real_fd() >= 0)
        return true;
    if (usual < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    const int copy = fcntl(usual, F_DUPFD_CLOEXEC, 0);
    const bool cut = copy >= 0 && dup3(ends[0], usual, O_CLOEXEC) >= 0;
    if (cut)
        __atomic_store_n(&real, copy, __ATOMIC_RELEASE);
    else if (copy >= 0)
        close(copy);
    close(ends[0]);
    close(ends[1]);
    return cut;
}

static void hang_bell(void)
{
    if (bell < 0)
        bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bell >= 0 && bell < FD_SETSIZE && pvm_fd_add && pvm_fd_delete)
        pvm_fd_add(bell, 1);
}

static void take_bell_away(void)
{
    if (bell >= 0 && bell < FD_SETSIZE && pvm_fd_add && pvm_fd_delete)
        pvm_fd_delete(bell, 1);
}

void dome__pvm_send_begins(void)
{
    hang_bell();
    __atomic_store_n(&state, INSIDE, __ATOMIC_RELEASE);
}

bool dome__pvm_send_ends(void)
{
    int expected = INSIDE;
    take_bell_away();
    if (__atomic_compare_exchange_n(&state, &expected, OUTSIDE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == CUTTING)
        sched_yield();
    return __atomic_exchange_n(&state, OUTSIDE, __ATOMIC_ACQ_REL) == CUT;
}

void dome__pvm_rouse(void)
{
    int expected = INSIDE;
    if (!__atomic_compare_exchange_n(&state, &expected, CUTTING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    const bool cut = dome__pvm_cut_off();
    if (cut && bell >= 0)
        eventfd_write(bell, 1);
    __atomic_store_n(&state, cut ? CUT : INSIDE, __ATOMIC_RELEASE);
}

void dome__pvm_forget_cut(void)
{
    eventfd_t rings;
    const int copy = __atomic_exchange_n(&real, -1, __ATOMIC_ACQ_REL);
    if (copy >= 0)
        close(copy);
    if (bell >= 0)
        eventfd_read(bell, &rings);
}
