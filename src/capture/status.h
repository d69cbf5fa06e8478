/* The status word, and what sets it. */
#ifndef DOME_SRC_CAPTURE_STATUS_H
#define DOME_SRC_CAPTURE_STATUS_H

#include <dome/capture.h>
#include <pthread.h>
#include <signal.h>

enum { DOME_CAPTURE_HOLDERS = 32 };

/* The state of status.c, beside the status word, which the program's polls read. */
typedef struct dome_capture_polling {
    uint64_t polls, poll_at, poll_every, captures;
    unsigned held;
    const char *holders[DOME_CAPTURE_HOLDERS]; /* of the outermost: the functions, where they are known */
    bool restored;
    volatile sig_atomic_t requested;
} dome_capture_polling;

typedef struct dome_capture_timer {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs, quit;
    struct timespec due;
    bool is_due_some_day;
} dome_capture_timer;

void dome__capture_status_set(int bits);
void dome__capture_status_clear(int bits);

/* Polls are counted, and each whose number is a multiple of `every` captures; 0: none does. */
void dome__capture_poll_every(uint64_t every);

/* The counts that the image keeps. */
typedef struct dome_capture_counts {
    uint64_t polls, request_at;
    bool counting;
} dome_capture_counts;
dome_capture_counts dome__capture_counts(void);
void dome__capture_counts_set(const dome_capture_counts *counts);

/* Once dome_capture_main has called the program's main again, or for the first time. */
void dome__capture_count_capture(void);
void dome__capture_mark_restored(void);

/* Whether somebody has asked for a capture since the last dome__capture_take_request, and not the timer alone. */
bool dome__capture_requested(void);
bool dome__capture_take_request(void);

/* A thread requests a capture after so many seconds; a later call replaces the time. INFINITY: never. */
void dome__capture_timer_set(double seconds);
void dome__capture_timer_stop(void);

/* How many calls of dome_capture_hold have no dome_capture_release yet. */
unsigned dome__capture_held(void);
void dome__capture_held_set(unsigned count);

/* The innermost function that is known to hold polls back; NULL: none. */
const char *dome__capture_holder(void);

#endif
