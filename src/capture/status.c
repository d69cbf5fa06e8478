#include "capture/status.h"

#include "capture/frames.h"
#include "heap/die.h"
#include "system/thread.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

volatile int dome_capture_status;

/* Programs that were compiled before have these numbers in their polls: a shared library must not change them. */
_Static_assert(DOME_CAPTURE_REQUESTED == 1 && DOME_CAPTURE_COUNTING == 2 && DOME_CAPTURE_CAPTURING == 4 &&
                   DOME_CAPTURE_RESUMING == 8,
               "bits of the status word are part of compiled programs");

static uint64_t polls, poll_at, poll_every, captures;
static unsigned held;
static const char *holders[32]; /* of the outermost: the functions, where they are known */
static bool restored;
static volatile sig_atomic_t requested;

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
    requested = 1;
    dome__capture_status_set(DOME_CAPTURE_REQUESTED);
}

bool dome__capture_requested(void)
{
    return requested;
}

bool dome__capture_take_request(void)
{
    const bool was = requested;
    requested = 0;
    return was;
}

void dome_capture_request_at(uint64_t poll)
{
    poll_at = poll;
    dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

void dome__capture_poll_every(uint64_t every)
{
    poll_every = every;
    if (every > 0)
        dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

uint64_t dome_capture_polls(void)
{
    return polls;
}

dome_capture_counts dome__capture_counts(void)
{
    return (dome_capture_counts){polls, poll_at, dome_capture_status & DOME_CAPTURE_COUNTING};
}

void dome__capture_counts_set(const dome_capture_counts *counts)
{
    polls = counts->polls;
    poll_at = counts->request_at;
    if (counts->counting)
        dome__capture_status_set(DOME_CAPTURE_COUNTING);
}

uint64_t dome_capture_captures(void)
{
    return captures;
}

void dome__capture_count_capture(void)
{
    captures++;
}

bool dome_capture_restored(void)
{
    return restored;
}

void dome__capture_mark_restored(void)
{
    restored = true;
}

void dome_capture_hold(void)
{
    dome_capture_hold_in(NULL);
}

void dome_capture_hold_in(const char *function)
{
    if (held < G_N_ELEMENTS(holders))
        holders[held] = function;
    held++;
}

const char *dome__capture_holder(void)
{
    const char *found = NULL;
    for (unsigned k = 0; k < MIN(held, G_N_ELEMENTS(holders)); k++)
        found = holders[k] ? holders[k] : found;
    return found;
}

void dome_capture_release(void)
{
    if (held == 0)
        dome__capture_die("dome_capture_release without dome_capture_hold");
    held--;
}

unsigned dome__capture_held(void)
{
    return held;
}

void dome__capture_held_set(unsigned count)
{
    held = count;
}

int dome_capture_poll(void)
{
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
    if (held > 0)
        return 0;
    if (status & DOME_CAPTURE_COUNTING) {
        polls++;
        if (polls == poll_at || (poll_every > 0 && polls % poll_every == 0))
            dome_capture_request();
    }
    if (!(dome_capture_status & DOME_CAPTURE_REQUESTED))
        return 0;
    dome__capture_status_clear(DOME_CAPTURE_REQUESTED);
    dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    return 1;
}

/* ---- the timer ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_t thread;
static bool runs, quit;
static struct timespec due;
static bool is_due_some_day;

static void *timer_main(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (!quit) {
        if (!is_due_some_day) {
            pthread_cond_wait(&changed, &mutex);
        } else if (pthread_cond_timedwait(&changed, &mutex, &due) == ETIMEDOUT && !quit) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec < due.tv_sec || (now.tv_sec == due.tv_sec && now.tv_nsec < due.tv_nsec))
                continue; /* the time was replaced meanwhile */
            is_due_some_day = false;
            dome__capture_status_set(DOME_CAPTURE_REQUESTED);
        }
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void start_timer(void)
{
    dome__condition_init(&changed);
    int error = dome__thread_start(&thread, timer_main, NULL);
    if (error)
        dome__capture_die("the thread that requests checkpoints cannot be started: %s", strerror(error));
    runs = true;
}

void dome__capture_timer_set(double seconds)
{
    enum { LONGEST = 1 << 30 };
    if (!runs)
        start_timer();
    pthread_mutex_lock(&mutex);
    is_due_some_day = seconds < LONGEST;
    if (is_due_some_day) {
        double whole = floor(MAX(seconds, 0));
        clock_gettime(CLOCK_MONOTONIC, &due);
        due.tv_sec += (time_t)whole;
        due.tv_nsec += (long)((MAX(seconds, 0) - whole) * 1e9);
        if (due.tv_nsec >= 1000000000) {
            due.tv_nsec -= 1000000000;
            due.tv_sec++;
        }
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

void dome__capture_timer_stop(void)
{
    if (!runs)
        return;
    pthread_mutex_lock(&mutex);
    quit = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&changed);
    runs = quit = false;
}
