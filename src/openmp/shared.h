/* The words of the runtime that all tasks have in common. They are read and changed between enter and leave (tasks.h), or by one
 * thread before a barrier and by others after it. All zero at first. */
#ifndef DOME_SRC_OPENMP_SHARED_H
#define DOME_SRC_OPENMP_SHARED_H

#include "openmp/icv.h"
#include "openmp/places.h"
#include "openmp/tasks.h"

enum {
    DOME_OMP_ORDERED_SLOTS = 64, /* ordered loops that threads are in at the same time, in a row of nowait */
    DOME_OMP_DOACROSS_SLOTS = 4,
    DOME_OMP_MADE_SLOTS = 2, /* for what thread 0 makes before a barrier and others look at after it, before the next one */
    DOME_OMP_USED = 4096,
    DOME_OMP_MAX_TASKS = 512,
};

typedef struct dome_omp_slot {
    uint64_t construct, value;
} dome_omp_slot;

/* Tasks that thread 0 deals to all threads (task_queue.c). */
typedef struct dome_omp_deal {
    uint64_t serial;     /* which one */
    uint64_t after;      /* so many meetings of the region: it is for those behind */
    uint64_t items;      /* address */
    uint64_t begin, end; /* of those that are dealt */
    uint64_t place;
    /* By task, in turns: in which meeting a thread of it could not come; and had got on since the one before. */
    uint32_t stuck[2][DOME_OMP_MAX_TASKS], moved[2][DOME_OMP_MAX_TASKS];
} dome_omp_deal;

typedef struct dome_omp_shared {
    uint64_t critical, atomic;  /* locks: the holder's number + 1 */
    uint64_t copyprivate;       /* address */
    uint64_t cancelled_region;  /* the serial of the region that is cancelled */
    uint64_t cancelled_sharing; /* the construct that is */
    uint64_t turn;              /* the task that has it */
    uint64_t round;             /* turn.c */
    uint64_t acts;              /* so many actions of threads have been ordered: for who watches them */
    dome_omp_slot ordered[DOME_OMP_ORDERED_SLOTS];
    dome_omp_deal deal;
    uint64_t memory[DOME_OMP_MADE_SLOTS]; /* of work-sharing constructs: address */
    uint64_t reductions[DOME_OMP_MADE_SLOTS];
    dome_omp_variables variables; /* with which the region's threads begin */
    dome_omp_league league;
    uint64_t doacross_of[DOME_OMP_DOACROSS_SLOTS];
    uint64_t doacross[DOME_OMP_DOACROSS_SLOTS][DOME_OMP_MAX_THREADS];
    uint64_t arrived[DOME_OMP_MAX_TASKS]; /* the interval whose barrier a task has reached */
    uint8_t ended[2][DOME_OMP_MAX_TASKS];
    uint8_t watches[DOME_OMP_MAX_TASKS]; /* the task waits for something else than the turn */
    uint8_t in_order[DOME_OMP_USED];     /* places after which threads have acted in turn */
    uint64_t ends[DOME_OMP_MAX_TASKS];   /* a thread of this task ends the program inside of a region (process/omp_worker.c) */
} dome_omp_shared;

static inline dome_omp_shared *dome__omp_shared(void)
{
    return (dome_omp_shared *)dome__omp_tasks.shared;
}

_Static_assert(sizeof(dome_omp_shared) <= 1 << 16, "the block");

#endif
