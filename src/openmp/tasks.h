/* What the runtime of OpenMP asks of the other tasks. All constructs rest on these few functions; with one task they cost
 * nothing.
 *
 *     task 0                                      the other tasks
 *     fork(&region)      ---- memory agrees --->  await_fork(&region)
 *     runs its threads of the region              run theirs
 *     meet(place)        <--- memory agrees --->  meet(place)          a barrier; and the end of the region
 *
 *     enter();  x = x + 1;  leave(true);          a short section: one task at a time, with all that was published before it
 *
 * They are called in the task's own context (thread.h: a virtual thread asks the task to call), by the thread that called
 * dome_init. */
#ifndef DOME_SRC_OPENMP_TASKS_H
#define DOME_SRC_OPENMP_TASKS_H

#include <stdbool.h>
#include <stdint.h>

/* Of the words of a fork three have a meaning here: the address of the region's argument, in the frame that begins regions; the
 * number of threads, in the lower half of its word; and the bytes of memory that the threads share, which task 0 sets. */
enum { DOME_OMP_FORK_WORDS = 12, DOME_OMP_FORK_DATA = 1, DOME_OMP_FORK_THREADS = 2, DOME_OMP_FORK_BYTES = 11 };

/* A parallel region as all tasks begin it. */
typedef struct dome_omp_fork {
    uint64_t words[DOME_OMP_FORK_WORDS]; /* the region's function, its argument, numbers: of the caller's choice */
    uint64_t place;                      /* by which the program's places of synchronisation differ */
} dome_omp_fork;

/* Who is to look again when this task has left. */
typedef struct dome_omp_telling {
    const uint8_t *whom; /* by rank: not 0; in memory that all tasks have in common or that does not change. NULL: nobody */
    bool if_written;     /* only if this task has written anything */
    int next;            /* a task that is told in any case, since it is about to enter; -1: none */
} dome_omp_telling;

typedef struct dome_omp_tasks {
    int rank, size;

    /* Task 0: all other tasks return from await_fork with `fork`, and have what task 0 has written. */
    void (*fork)(const dome_omp_fork *fork);
    /* The other tasks. False: the program ends. */
    bool (*await_fork)(dome_omp_fork *fork);
    /* Task 0, once: the other tasks return false from await_fork. */
    void (*end)(void);

    /* All threads of this task have arrived: the tasks wait for each other, and each has what all have written. */
    void (*meet)(uint64_t place);

    /* In a team of so many threads, task r has those from first(threads, r) up to first(threads, r + 1): the same on all tasks,
     * and from one fork to the next. Thread 0 is task 0's. */
    unsigned (*first)(unsigned threads, int rank);
    /* NULL, or called for the threads' times: this task is about to run its threads, one after the other; has run this one; has
     * run those that could run. In task 0's first pass over a team thread 0 has run since the fork. */
    void (*pass_begins)(void);
    void (*ran)(unsigned thread);
    void (*pass_ends)(void);

    /* One task at a time: from enter on this task has what others had published at their leave; leave publishes what it has
     * written, and says whose await returns. Not nested. */
    void (*enter)(void);
    void (*leave)(const dome_omp_telling *telling);

    /* Instead of enter and leave, for a task that does so again soon: others hear of what it has written when it leaves the next
     * time with whom, or when they have waited for a while. False: it cannot be left for later. */
    bool (*defer)(void);

    /* How often others have told so far; await returns when they have told since `seen`, or after a second. */
    uint64_t (*told)(void);
    void (*await)(uint64_t seen);

    /* Memory of which all tasks have the same, all zero at first, at the same address on all: state of locks, of orders. */
    void *shared;
    uint64_t shared_bytes;

    /* Updates of what is shared need no turn (turn.h). */
    bool any_order;

    /* Explicit tasks run where they are met (task.h). */
    bool at_once;

    /* fork is called with one task, too: there the program can be saved. */
    bool saves;

    /* Thread 0's own variables: given by it before a meeting, and taken by other tasks behind that, which then have them at the
     * same addresses. */
    void (*give_locals)(void);
    void (*take_locals)(void);

    /* Whether other tasks may access this address at all: globals, the heap, the stack of thread 0. */
    bool (*is_shared)(const void *address);
} dome_omp_tasks;

/* Who wants to know what threads write between their acts of synchronisation (races). Called by the task, on its own stack. */
typedef struct dome_omp_watcher {
    void (*region)(const void *function); /* the threads of a region begin */
    void (*stopped)(unsigned thread);     /* the thread is about to act, or to give way to another */
    void (*acted)(unsigned thread);       /* it has acted: what others do after this is ordered; between enter and leave */
    void (*met)(void);                    /* all threads have met, and all tasks; collective */
} dome_omp_watcher;

extern const dome_omp_watcher *dome__omp_watcher; /* NULL: nobody */

/* Of a program of one task, until others are there (tasks.c). */
extern dome_omp_tasks dome__omp_tasks;

/* `first` where all tasks have as many threads as can be. */
unsigned dome__omp_first_even(unsigned threads, int rank);

#endif
