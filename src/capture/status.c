#include "capture/capture.h"
#include "heap/die.h"
#include "system/thread.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <string.h>
#include <time.h>

volatile int dome_capture_status;

/* Programs that were compiled before have these numbers in their polls: a shared library must not change them. */
_Static_assert(DOME_CAPTURE_REQUESTED == 1 && DOME_CAPTURE_COUNTING == 2 && DOME_CAPTURE_CAPTURING == 4 &&
                   DOME_CAPTURE_RESUMING == 8,
               "bits of the status word are part of compiled programs");

/* Signal handlers and the timer's thread set bits while the program clears others. */
void dome__capture_status_set(int bits)
{
    __atomic_fetch_or(&dome_capture_status, bits, __ATOMIC_SEQ_CST);
}

void dome__capture_status_clear(int bits)
{
    __atomic_fetch_and(&dome_capture_status, ~bits, __ATOMIC_SEQ_CST);
}

void dome_capture_request(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->requested = 1;
    dome__capture_status_set(DOME_CAPTURE_REQUESTED);
}

bool dome__capture_requested(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return p->requested;
}

bool dome__capture_take_request(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    const bool was = p->requested;
    p->requested = 0;
    return was;
}

void dome_capture_request_at(uint64_t poll)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->poll_at = poll;
    dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

void dome__capture_poll_every(uint64_t every)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->poll_every = every;
    if (every > 0)
        dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

uint64_t dome_capture_polls(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return p->polls;
}

dome_capture_counts dome__capture_counts(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return (dome_capture_counts){p->polls, p->poll_at, dome_capture_status & DOME_CAPTURE_COUNTING};
}

void dome__capture_counts_set(const dome_capture_counts *counts)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->polls = counts->polls;
    p->poll_at = counts->request_at;
    if (counts->counting)
        dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

uint64_t dome_capture_captures(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return p->captures;
}

void dome__capture_count_capture(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->captures++;
}

bool dome_capture_restored(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return p->restored;
}

void dome__capture_mark_restored(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->restored = true;
}

void dome_capture_hold(void)
{
    dome_capture_hold_in(NULL);
}

void dome_capture_hold_in(const char *function)
{
    dome_capture_polling *p = &dome__capture->polling;
    if (p->held < G_N_ELEMENTS(p->holders))
        p->holders[p->held] = function;
    p->held++;
}

const char *dome__capture_holder(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    const char *found = NULL;
    for (unsigned k = 0; k < MIN(p->held, G_N_ELEMENTS(p->holders)); k++)
        found = p->holders[k] ? p->holders[k] : found;
    return found;
}

void dome_capture_release(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    if (p->held == 0)
        dome__capture_die("dome_capture_release without dome_capture_hold");
    p->held--;
}

unsigned dome__capture_held(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    return p->held;
}

void dome__capture_held_set(unsigned count)
{
    dome_capture_polling *p = &dome__capture->polling;
    p->held = count;
}

int dome_capture_poll(void)
{
    dome_capture_polling *p = &dome__capture->polling;
    const int status = dome_capture_status;
    if (status & DOME_CAPTURE_RESUMING) {
        if (dome__capture_record_count() > 0)
            dome__capture_die("the program does not resume as it was captured: it polls, and function '%s' was to be called",
                              dome__capture_record(dome__capture_record_count() - 1)->function->name);
        dome__capture_status_clear(DOME_CAPTURE_RESUMING);
        return 0;
    }
    if (status & DOME_CAPTURE_CAPTURING)
        dome__capture_die("a function polls while the program is captured: the call of a function that returned captured was not "
                          "followed by a test");
    if (p->held > 0)
        return 0;
    if (status & DOME_CAPTURE_COUNTING) {
        p->polls++;
        if (p->polls == p->poll_at || (p->poll_every > 0 && p->polls % p->poll_every == 0))
            dome_capture_request();
    }
    if (!(dome_capture_status & DOME_CAPTURE_REQUESTED))
        return 0;
    dome__capture_status_clear(DOME_CAPTURE_REQUESTED);
    dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    return 1;
}

/* ---- the timer ---- */

static void *timer_main(void *unused)
{
    dome_capture_timer *t = &dome__capture->timer;
    pthread_mutex_lock(&t->mutex);
    while (!t->quit) {
        if (!t->is_due_some_day) {
            pthread_cond_wait(&t->changed, &t->mutex);
        } else if (pthread_cond_timedwait(&t->changed, &t->mutex, &t->due) == ETIMEDOUT && !t->quit) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec < t->due.tv_sec || (now.tv_sec == t->due.tv_sec && now.tv_nsec < t->due.tv_nsec))
                continue; /* the time was replaced meanwhile */
            t->is_due_some_day = false;
            dome__capture_status_set(DOME_CAPTURE_REQUESTED);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return unused;
}

static void start_timer(void)
{
    dome_capture_timer *t = &dome__capture->timer;
    dome__condition_init(&t->changed);
    int error = dome__thread_start(&t->thread, timer_main, NULL);
    if (error)
        dome__capture_die("the thread that requests checkpoints cannot be started: %s", strerror(error));
    t->runs = true;
}

void dome__capture_timer_set(double seconds)
{
    dome_capture_timer *t = &dome__capture->timer;
    enum { LONGEST = 1 << 30 };
    if (!t->runs)
        start_timer();
    pthread_mutex_lock(&t->mutex);
    t->is_due_some_day = seconds < LONGEST;
    if (t->is_due_some_day) {
        double whole = floor(MAX(seconds, 0));
        clock_gettime(CLOCK_MONOTONIC, &t->due);
        t->due.tv_sec += (time_t)whole;
        t->due.tv_nsec += (long)((MAX(seconds, 0) - whole) * 1e9);
        if (t->due.tv_nsec >= 1000000000) {
            t->due.tv_nsec -= 1000000000;
            t->due.tv_sec++;
        }
    }
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->mutex);
}

void dome__capture_timer_stop(void)
{
    dome_capture_timer *t = &dome__capture->timer;
    if (!t->runs)
        return;
    pthread_mutex_lock(&t->mutex);
    t->quit = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->mutex);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    t->runs = t->quit = false;
}
