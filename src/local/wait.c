/* Waiting for events in shared memory: spins, then yields of the processor, then sleep.
 *
 * A wait does not end when another task dies: the watcher thread ends the process then. */
#include "core/clock.h"
#include "local/local_private.h"
#include "system/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* After this time a waiting task reads data offered to it, though no call has asked for it yet: the task that it waits for may
 * itself, directly or not, wait for the offering task. */
enum { OFFER_NS = 5000000 };

/* A yield that takes this long has given the processor to a program that computes. */
enum { SLOW_YIELD_NS = 100000, TRY_AGAIN = 16, LEAST_EAGER = EAGER / 8, CROWDED = 64 };

/* An abstract socket address, which vanishes with the socket. */
static socklen_t doorbell_name(const dome_local *local, int place, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = g_snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "%s-%d", local->doorbells, place);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int dome__doorbell_open(dome_local *local)
{
    struct sockaddr_un name;
    socklen_t length = doorbell_name(local, local->place, &name);
    local->doorbell = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (local->doorbell < 0 || bind(local->doorbell, (struct sockaddr *)&name, length) < 0)
        return errno;
    return 0;
}

static void press(const dome_local *local, int place)
{
    struct sockaddr_un name;
    socklen_t length = doorbell_name(local, place, &name);
    /* If the socket's buffer is full, a wakeup is pending already. */
    sendto(local->doorbell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&name, length);
}

bool dome__base_arrived(dome_local *local, int source, int channel)
{
    return local->base.ops->arrived(&local->base, source, channel);
}

/* Sleeps until the doorbell rings or a descriptor of the provider becomes readable. */
static void sleep_for_both(dome_local *local, int milliseconds)
{
    const int *fds;
    int n = local->base.ops->descriptors(&local->base, &fds);
    struct pollfd *list = g_newa(struct pollfd, n + 1);
    for (int i = 0; i < n; i++)
        list[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    list[n] = (struct pollfd){.fd = local->doorbell, .events = POLLIN};
    poll(list, (nfds_t)n + 1, milliseconds);
    char byte[64];
    while (list[n].revents && recv(local->doorbell, byte, sizeof byte, MSG_DONTWAIT) > 0)
        continue;
}

static void wake(const dome_local *local, int place, sleep_kind news)
{
    shared_task *task = local->peers[place].task;
    uint32_t kind = atomic_load_explicit(&task->sleeping, memory_order_relaxed);
    if (kind < (uint32_t)news || kind == AWAKE)
        return;
    if (atomic_exchange(&task->sleeping, AWAKE) == AWAKE)
        return;
    if (local->doorbell >= 0) {
        press(local, place);
        return;
    }
    atomic_fetch_add(&task->bell, 1);
    syscall(SYS_futex, &task->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void dome__ring(const dome_local *local, int place, sleep_kind news)
{
    atomic_thread_fence(memory_order_seq_cst); /* orders the data before the check of `sleeping` */
    wake(local, place, news);
}

void dome__ring_all(const dome_local *local, sleep_kind news)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < local->tasks; i++)
        if (i != local->place)
            wake(local, i, news);
}

void dome__local_rouse(dome_transport_provider *self)
{
    dome_local *local = self->state;
    if (local->base.ops->rouse)
        local->base.ops->rouse(&local->base);
    if (local->doorbell >= 0) {
        press(local, local->place);
        return;
    }
    atomic_fetch_add(&local->own->bell, 1);
    syscall(SYS_futex, &local->own->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void dome__rest(dome_local *local, dome__pause *w, sleep_kind kind)
{
    const unsigned spins = local->spins * local->eager / EAGER;
    const unsigned yields = local->crowded ? 0 : local->yields * local->eager / EAGER;
    dome__transport_may_leave();
    dome__yielded(w->yielded, false);
    w->yielded = 0;
    if (w->turns < spins) {
        w->turns++;
        dome__thread_relax();
        return;
    }
    if (w->turns < spins + yields) {
        w->turns++;
        w->yielded = dome__yield();
        if (w->yielded < SLOW_YIELD_NS)
            return;
        w->turns = UINT_MAX; /* other programs need the processor for long: sleep, in the next waits too */
        local->crowded = CROWDED;
        w->slept = true;
        return;
    }
    w->turns = UINT_MAX;
    if (!w->armed) {
        /* Other tasks may wait for space in a ring that this task must empty, or for their offers to be read. What they write
         * after this look must find `sleeping` set: the caller checks its own condition once more before the sleep, but not
         * these. */
        w->bell = atomic_load(&local->own->bell);
        atomic_store(&local->own->sleeping, (uint32_t)kind);
        atomic_thread_fence(memory_order_seq_cst);
        bool left = dome__take_in(local, kind == FOR_ROOM || w->waited);
        w->waited = left;
        if (!local->alone)
            dome__base_arrived(local, -1, 0);
        /* Not if a task rang meanwhile, or if a wait within the look has ended. */
        w->armed = atomic_load(&local->own->sleeping) != AWAKE;
        return;
    }
    w->slept = true;
    struct timespec limit = {.tv_nsec = OFFER_NS};
    if (local->doorbell >= 0)
        sleep_for_both(local, w->waited ? OFFER_NS / 1000000 : -1);
    else
        syscall(SYS_futex, &local->own->bell, FUTEX_WAIT, w->bell, w->waited ? &limit : NULL, NULL, 0);
    atomic_store(&local->own->sleeping, AWAKE);
    w->armed = false;
}

void dome__rested(dome_local *local, dome__pause *w)
{
    if (w->armed)
        atomic_store(&local->own->sleeping, AWAKE);
    w->armed = false;
    dome__yielded(w->yielded, true);
    w->yielded = 0;
    if (!w->turns || (w->turns == UINT_MAX && !w->slept))
        return;
    local->crowded -= local->crowded > 0;
    /* If other work keeps the processors busy, spinning takes them from the tasks that are waited for: wait less eagerly, and try
     * again at times. */
    if (!w->slept)
        local->eager = MIN(2 * local->eager, EAGER);
    else if (++local->sleeps % TRY_AGAIN == 0)
        local->eager = EAGER;
    else
        local->eager = MAX(local->eager / 2, LEAST_EAGER);
}
