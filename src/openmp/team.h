/* Virtual threads and teams. A parallel region's threads are dealt to the tasks in runs; a task runs its threads one after the
 * other, in the order of their numbers, each until it cannot go on:
 *
 *     READY      runs when its turn comes
 *     BLOCKED    its attempt (turn.h) is made again and again, and it is READY when that succeeds
 *     ARRIVED    at a barrier: READY when all threads are there
 *     ENDED      has returned from the region's function
 *
 * A region inside a region of several threads has one thread, as with libgomp unless it is told otherwise. */
#ifndef DOME_SRC_OPENMP_TEAM_H
#define DOME_SRC_OPENMP_TEAM_H

#include "openmp/deal.h"
#include "openmp/fibre.h"
#include "openmp/places.h"
#include "system/bytes.h"

/* The variables of the specification ("internal control variables") that belong to a thread's task. */
typedef struct dome_omp_variables {
    unsigned threads;  /* of the next region */
    unsigned schedule; /* omp_sched_t, with the bit of monotonic */
    int chunk;         /* of it */
    bool dynamic;
    int active_levels;
    int device;
    unsigned thread_limit;
    uintptr_t allocator; /* the default one */
} dome_omp_variables;

struct dome_omp_taskgroup;

typedef struct dome_omp_team {
    struct dome_omp_team *outer;
    unsigned size; /* of threads */
    unsigned level, active_level;
    uint64_t serial; /* of the region; the same on all tasks, another one for each region */
    uint64_t place;  /* of the region */
    bool cancelled;  /* of a team of one, and the construct of it that is (cancel.c) */
    uint64_t cancelled_sharing;
    char *frame; /* of the caller: further up the region has been left without its end */
    /* Of the thread, when it entered: it goes on with these. */
    unsigned number;
    bool final;
    uint64_t construct, barrier;
    dome_omp_loop loop;
    struct dome_omp_taskgroup *taskgroup;
    dome_omp_variables variables;
} dome_omp_team;

/* Constructs and barriers of a region are counted from its serial shifted by so many bits. */
enum { DOME_OMP_SERIAL_SHIFT = 32 };

/* After so many looks at what does not change a thread is taken to wait. */
enum { DOME_OMP_SPINS = 64 };

typedef struct dome_omp_event dome_omp_event;

enum { DOME_OMP_DIMENSIONS = 30 };

/* Loops of one kind that follow each other without a barrier, each with a slot of the team's words. */
typedef struct dome_omp_row {
    uint64_t barrier; /* the thread's last one before it */
    unsigned loops;
} dome_omp_row;

/* The nest that ordered(n) is about. */
typedef struct dome_omp_doacross {
    unsigned dimensions;
    uint64_t counts[DOME_OMP_DIMENSIONS];
    dome_omp_row row;
} dome_omp_doacross;

/* What clang's code says before a construct begins (src/kmpc). */
typedef struct dome_omp_asked {
    unsigned threads, teams, thread_limit; /* 0: nothing */
    bool doacross;                         /* the next loop is one */
} dome_omp_asked;

typedef enum dome_omp_state { DOME_OMP_READY, DOME_OMP_BLOCKED, DOME_OMP_ARRIVED, DOME_OMP_ENDED } dome_omp_state;

/* What a thread waits for. */
typedef struct dome_omp_waiting {
    const char *what;  /* the construct's name */
    const void *where; /* the lock, the place; NULL: none */
} dome_omp_waiting;

typedef struct dome_omp_thread {
    dome_omp_fibre fibre;
    unsigned number; /* in its team */
    dome_omp_state state;
    bool made;
    bool cancelled; /* by which the barrier that it was in has ended */
    bool final;     /* runs a final task */
    bool has_share; /* of tasks that are dealt (task_queue.c) */
    unsigned tasks; /* explicit ones that it is in */
    dome_omp_team *team;
    dome_omp_variables variables;
    bool (*attempt)(void *); /* BLOCKED: until this succeeds */
    bool passes;             /* it does not keep the turn, until it has it again */
    bool in_turn, refused;   /* it is made in turn (turn.h); it has failed though the thread had the turn */
    void (*call)(void *);    /* what the task is to call for it */
    void *argument;          /* of either */
    uint64_t construct;      /* how many of those that need state of the team it has met */
    uint64_t barrier;        /* how many barriers */
    dome_omp_loop loop;
    dome_omp_row ordered_row;
    dome_omp_doacross doacross;
    dome_omp_asked asked;
    struct dome_omp_taskgroup *taskgroup;
    dome_omp_event *events;       /* of its detached tasks */
    dome_omp_waiting waiting;     /* for messages */
    const volatile void *seen_at; /* spin.h */
    uint64_t seen, spins, entries;
} dome_omp_thread;

extern dome_omp_thread dome__omp_threads[DOME_OMP_MAX_THREADS];
extern dome_omp_thread *dome__omp_running;

/* The caller's thread, when it is none that runs regions: threads that the program created. */
dome_omp_thread *dome__omp_stranger(void);

/* Whether another task runs the thread, so that its stack cannot be accessed here. */
bool dome__omp_is_elsewhere(unsigned thread);

/* Whether there have been any. */
bool dome__omp_strangers(void);

static inline dome_omp_thread *dome__omp_self(void)
{
    dome_omp_thread *t = dome__omp_running;
    return t && t->fibre.thread_pointer == dome__omp_thread_pointer() ? t : dome__omp_stranger();
}

/* The thread's number in the outermost region. */
static inline unsigned dome__omp_thread_id(const dome_omp_thread *t)
{
    return t >= dome__omp_threads && t < dome__omp_threads + DOME_OMP_MAX_THREADS ? (unsigned)(t - dome__omp_threads)
                                                                                  : DOME_OMP_MAX_THREADS;
}

/* Whether the thread has others beside it in its innermost team. */
static inline bool dome__omp_has_others(const dome_omp_thread *t)
{
    return t->team->size > 1;
}

/* What a region's threads begin with, beside function and argument. */
typedef struct dome_omp_region {
    void (*function)(void *);
    void *data;
    unsigned threads; /* asked for; 0: the variable */
    unsigned flags;
    const dome_omp_loop *loop; /* the work-sharing construct that it is combined with, or NULL */
    uint64_t place;            /* by which it differs from others; 0: by its function */
} dome_omp_region;

/* Whether code is a library's, whose variables each task has for itself and whose atomic operations reach one task: regions there
 * have one thread, and tasks run at once. NULL: all code is the program's. */
extern bool (*dome__omp_in_library)(const void *code);

static inline bool dome__omp_is_library(const void *code)
{
    return dome__omp_in_library && dome__omp_in_library(code);
}

/* The number of threads that a region of this code, asked for with `threads`, has. */
unsigned dome__omp_team_size(dome_omp_thread *t, unsigned threads, const void *code);

/* The team of several threads that there is, or was last. */
const dome_omp_team *dome__omp_active_team(void);

/* A region from its beginning to its end; and its two halves, between which the caller runs as thread 0 of the team. */
void dome__omp_region(const dome_omp_region *region);
void dome__omp_region_start(const dome_omp_region *region);
void dome__omp_region_end(void);

/* Called before the thread gives way to others, or ends a region: of the explicit tasks that it has met some may be left. */
extern void (*dome__omp_tasks_left)(dome_omp_thread *t, dome_omp_state state);

/* The thread gives up control until it is READY again. */
void dome__omp_give_way(dome_omp_thread *t, dome_omp_state state);

/* The program ends inside of a region, of which nothing goes on: this thread is alone from here on. And: thread 0 is to call this
 * where it has given way; in the task's own context. */
void dome__omp_leave_region(dome_omp_thread *t);
void dome__omp_end_by_first(void (*end)(void)) __attribute__((noreturn));

/* The same at a barrier or the region's end: it may run tasks meanwhile that are dealt to it (task_queue.c). */
void dome__omp_arrive(dome_omp_thread *t, dome_omp_state state);

/* For the scheduler; deal_tasks.c. What a meeting was: DOME_OMP_DEAL_AGAIN: threads that wait could not come, but may get on. */
typedef enum dome_omp_met {
    DOME_OMP_NO_DEAL,
    DOME_OMP_DEAL_BEGINS,
    DOME_OMP_DEAL_ENDS,
    DOME_OMP_DEAL_AGAIN,
    DOME_OMP_DEAL_REFUSED,
} dome_omp_met;

void dome__omp_deals_begin(uint64_t serial);        /* a region begins, before which there were so many */
bool dome__omp_deal_waits(void);                    /* thread 0 waits for all to come */
void dome__omp_deal_moved(void);                    /* threads of this task have got on */
void dome__omp_deal_come(bool stuck);               /* before a meeting; stuck: threads of this task wait for something else */
dome_omp_met dome__omp_deal_met(void);              /* after it */
void dome__omp_deal_give_up(void);                  /* with one task: as DOME_OMP_DEAL_REFUSED */
uint64_t dome__omp_deal_place(void);                /* of the tasks that are dealt */
bool dome__omp_has_share(const dome_omp_thread *t); /* of them */
void dome__omp_share_run(dome_omp_thread *t);
void dome__omp_go_on_dealing(dome_omp_met met); /* the threads for which that is a reason to */

/* Calls the function in the task's own context, from a virtual thread; and the same for what the caller's context can do as well
 * where there is one task. */
void dome__omp_call_task(void (*call)(void *), void *argument);
void dome__omp_on_task(void (*call)(void *), void *argument);

/* Before the next two: thread 0 gets its stack, of so many bytes, on all tasks. */
void dome__omp_first_make(size_t stack_bytes);

/* Task 0: runs the function as thread 0; returns when the function has. Other tasks: run regions until task 0 ends. A program in
 * which nobody calls these runs alone: the thread that calls the runtime first is thread 0. */
void dome__omp_run_main(void (*function)(void *), void *argument);

/* Task 0, in a call that thread 0 makes to begin a region: what of the threads belongs to the program's state; and putting that
 * back in a new process, whose thread 0 has not run. False: it is none of this program. */
void dome__omp_team_save(GByteArray *to);
bool dome__omp_team_restore(dome_bytes *from);

/* As dome__omp_run_main, for a program that goes on: it begins the region that it was about to begin. */
void dome__omp_run_on(void);
void dome__omp_serve(void);

/* All virtual threads up to this number exist. */
void dome__omp_threads_make(unsigned count);

/* One line, and the program ends with status 1. */
void dome__omp_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn, cold));

#endif
