/* Explicit tasks. Those that thread 0 meets are put off until it waits, and then dealt to all threads (task_queue.c). Others run
 * where they are met, at once: that is allowed, fulfils all dependences, and keeps their order. What is left to wait for then are
 * events of detached tasks. */
#ifndef DOME_SRC_OPENMP_TASK_H
#define DOME_SRC_OPENMP_TASK_H

#include "openmp/team.h"

typedef struct dome_omp_taskgroup {
    struct dome_omp_taskgroup *outer;
    bool cancelled;
    uintptr_t *reductions; /* reduction.h */
    const void *shares;    /* of clang's code: how many, and what stands for which variable (src/kmpc/kmpc_task_calls.c) */
    int32_t nshares;
} dome_omp_taskgroup;

void dome__omp_taskgroup_start(struct dome_omp_thread *t);
void dome__omp_taskgroup_end(struct dome_omp_thread *t);

/* Bits of a task's flags. */
enum {
    DOME_OMP_TASK_FINAL = 1 << 1,
    DOME_OMP_TASK_DEPEND = 1 << 3,
    DOME_OMP_TASK_UP = 1 << 8,
    DOME_OMP_TASK_GRAINSIZE = 1 << 9,
    DOME_OMP_TASK_IF = 1 << 10, /* of a taskloop: its tasks need not run at once */
    DOME_OMP_TASK_NOGROUP = 1 << 11,
    DOME_OMP_TASK_REDUCTION = 1 << 12,
    DOME_OMP_TASK_DETACH = 1 << 13,
    DOME_OMP_TASK_STRICT = 1 << 14,
};

typedef struct dome_omp_task {
    void (*function)(void *);
    void *data;
    void (*copy)(void *to, void *from); /* of the data; NULL: bytes */
    long bytes, alignment;
    bool final;
} dome_omp_task;

/* Runs it; begins: if not NULL, the two words with which its copy of the data begins. */
void dome__omp_task_run(dome_omp_thread *t, const dome_omp_task *task, const uint64_t *begins);

/* ---- tasks that are put off ---- */

/* run(thread, data) runs it. Data and memory are in memory that all tasks of the program share. */
typedef struct dome_omp_put_off {
    void (*run)(dome_omp_thread *t, void *data);
    void *data, *memory; /* memory: is released when it has run */
    const void *place;   /* by which the program's tasks differ */
} dome_omp_put_off;

typedef struct dome_omp_dependence {
    const void *address;
    bool writes;
} dome_omp_dependence;

/* One of the list that thread 0 deals. Tasks of one wave do not depend on each other. */
typedef struct dome_omp_item {
    dome_omp_put_off task;
    dome_omp_taskgroup *group;
    unsigned wave;
} dome_omp_item;

void dome__omp_item_run(dome_omp_thread *t, const dome_omp_item *item);

/* Whether thread 0 is to run alone what it has dealt; and how many meetings there were in this region. */
bool dome__omp_deal_refused(void);
uint64_t dome__omp_deal_meetings(void);

/* Whether a task that the thread meets can be put off; and doing it. */
bool dome__omp_task_may_wait(const dome_omp_thread *t);
bool dome__omp_task_put_off(dome_omp_thread *t, const dome_omp_put_off *task, const dome_omp_dependence *depends, unsigned count);

/* All that are put off run: dealt to all threads; and where the thread is, as it waits for something that one of them may do. */
void dome__omp_tasks_deal(dome_omp_thread *t);
void dome__omp_tasks_run_here(dome_omp_thread *t);

/* A task of gcc's is put off; false: it cannot be. begins: as below. */
bool dome__omp_task_copy_off(dome_omp_thread *t, const dome_omp_task *task, const uint64_t *begins,
                             const dome_omp_dependence *depends, unsigned count);

/* What the thread goes on with after a task. */
typedef struct dome_omp_outer {
    dome_omp_variables variables;
    dome_omp_event *events;
    bool final;
} dome_omp_outer;

/* The thread runs a task between these two. */
void dome__omp_task_begin(dome_omp_thread *t, bool final, dome_omp_outer *outer);
void dome__omp_task_end(dome_omp_thread *t, const dome_omp_outer *outer);

/* A task that the thread meets is not to run. */
bool dome__omp_task_is_cancelled(const dome_omp_thread *t);

/* The event of a detached task; and when that has run, the thread waits for it, too. */
dome_omp_event *dome__omp_event_new(void);
void dome__omp_event_follow(dome_omp_thread *t, dome_omp_event *event);

/* Waits for the events of the thread's detached tasks. */
void dome__omp_tasks_finish(dome_omp_thread *t);

/* A taskloop's iterations in so many tasks, of `least` iterations each, the first `larger` of them one more. flags: of a task;
 * asked: the number or size of tasks, or 0. */
typedef struct dome_omp_division {
    uint64_t tasks, least, larger;
} dome_omp_division;

dome_omp_division dome__omp_taskloop_divide(uint64_t count, unsigned flags, uint64_t asked, unsigned threads);

#endif
