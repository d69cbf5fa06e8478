#include "region/ticket_lock.h"

#include "region/lock_wait.h"
#include "system/thread.h"
#include "system/time.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A task whose turn is next looks so often before it sleeps. */
enum { SPINS = 200 };

/* A task that waits sleeps by its own bit, so that a release wakes the next one alone, or one that is 32 behind it. */
static uint32_t bit_of(unsigned ticket)
{
    return 1u << ticket % 32;
}

static int sleep_until_served(dome_ticket_lock *s, dome_transport *t, unsigned ticket)
{
    const int holder = dome__ticket_lock_holder(s); /* read once: it may change at any time */
    dome_lock_wait wait = dome__lock_wait_begin(t, MAX(holder, 0));
    for (unsigned now; (now = atomic_load_explicit(&s->serving, memory_order_acquire)) != ticket;) {
        const struct timespec until = dome__in_ns(wait.ns);
        syscall(SYS_futex, &s->serving, FUTEX_WAIT_BITSET, now, &until, NULL, bit_of(ticket));
        dome__lock_wait_look(&wait, dome__ticket_lock_holder(s), now);
    }
    return dome__lock_wait_end(&wait);
}

static bool spin(dome_ticket_lock *s, unsigned ticket)
{
    for (int k = 0; k < SPINS; k++) {
        const unsigned now = atomic_load_explicit(&s->serving, memory_order_acquire);
        if (now == ticket)
            return true;
        if (now + 1 != ticket)
            return false;
        dome__thread_relax();
    }
    return false;
}

int dome__ticket_lock_take(dome_ticket_lock *lock, dome_transport *transport)
{
    const unsigned ticket = atomic_fetch_add(&lock->next, 1);
    const int status = spin(lock, ticket) ? DOME_OK : sleep_until_served(lock, transport, ticket);
    atomic_store_explicit(&lock->holder, transport->group.rank + 1, memory_order_relaxed);
    return status;
}

/* A task that takes a ticket after the look finds itself served, or has the value in its system call that has just changed. */
void dome__ticket_lock_give(dome_ticket_lock *lock)
{
    atomic_store_explicit(&lock->holder, 0, memory_order_relaxed);
    const unsigned served = atomic_fetch_add(&lock->serving, 1) + 1;
    if (atomic_load(&lock->next) != served)
        syscall(SYS_futex, &lock->serving, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bit_of(served));
}

int dome__ticket_lock_holder(dome_ticket_lock *lock)
{
    return atomic_load_explicit(&lock->holder, memory_order_relaxed) - 1;
}
