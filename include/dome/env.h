/* The environment: one running Dome program as one of its tasks sees it. */
#ifndef DOME_ENV_H
#define DOME_ENV_H

#include <dome/error.h>
#include <dome/layout.h>
#include <dome/type.h>
#include <dome/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DOME_PRINTF(string, first) __attribute__((__format__(__printf__, string, first)))
#else
#define DOME_PRINTF(string, first)
#endif

/* Starts the program and returns its environment. Collective. Call it once, as the first Dome
 * function, before the program opens files or starts threads. dome_init starts the other tasks with
 * the same arguments, reads the --dome-* options from DOME_OPTIONS and from argv, and removes them
 * from argv. It works in a program started from the shell, by `dome run`, or spawned from the PVM
 * console (the tasks of one spawn form one program). argc and argv may be NULL.
 *
 * In a program of several tasks started from the shell, the original process stays to watch over
 * the program, and main continues in a child process as rank 0, with the same standard input and
 * output. The process exits with the status of rank 0.
 *
 * All Dome functions belong to the thread that has called dome_init: a call by another thread ends
 * the program with one line, and so does the end of that thread (pthread_exit) before
 * dome_finalize. A child process of a task (fork) has the values that the task had and may look at
 * them (dvec_local_spans_const); any other call ends the child with one line, and the task goes on.
 *
 * Never returns NULL: if the program cannot start, it prints one line on standard error and exits
 * with a status other than 0. --dome-help and --dome-version print their text and exit with 0. The
 * library owns the environment until dome_finalize. */
dome_env *dome_init(int *argc, char ***argv);

/* Ends the program: waits for all tasks, destroys the remaining objects, and takes down what
 * dome_init started. Collective; no Dome function may be called afterwards (a call that uses the
 * environment or an object prints one line and ends the process). Returns the exit status for main:
 * 0 unless an error was recorded after dome_set_errors_return and not cleared, or what rank 0 has
 * printed could not be written (1, and one line on standard error). NULL is allowed and returns 0. */
int dome_finalize(dome_env *env);

int dome_rank(const dome_env *env);                   /* this task's number, 0 ... size - 1 */
int dome_size(const dome_env *env);                   /* number of tasks */
const char *dome_host(const dome_env *env, int rank); /* the host of a task; NULL if there is no such rank */

/* Prints on rank 0's standard output, once for the whole program. Every task calls it; it does not
 * communicate. The first time that the output cannot be written, as on a disk that is full, a line
 * on standard error says so. In a program that goes back after a loss a line that has been shown is
 * not shown again, nor is anything else on rank 0's standard output (docs/running.md). */
void dome_print(dome_env *env, const char *format, ...) DOME_PRINTF(2, 3);

/* Reports progress: `done` of `total` units (0 if unknown), with rate and estimated time remaining.
 * `unit` names them ("steps"). Rank 0 prints the report on standard error: as a bar on a terminal;
 * in a file as a line now and then (none in the first seconds); in a pipe not at all.
 * --dome-progress always|never overrides this. The report is renewed at most ten times a second, so
 * the function may be called often. Not collective; it does not communicate.
 *
 * The rate is that of this run: work done before a restart does not count. Output of dome_print
 * does not disturb the bar; output that the program writes to the terminal itself appears in the
 * bar's line. */
void dome_progress(dome_env *env, uint64_t done, uint64_t total, const char *unit);

/* The loop boundary. Call it on every task once per iteration of the main loop, at a point where
 * everything the program must remember is in named objects. Data may move here (docs/balancing.md).
 * With --dome-checkpoint-dir, a checkpoint is written here if one is due (docs/checkpoints.md).
 * Collective; tasks communicate only if something may be due. If a checkpoint cannot be written,
 * rank 0 prints a line on standard error; that is no failure of this function. While a message is in
 * transit, a checkpoint waits for a later boundary (dome/comm.h). */
dome_status dome_checkpoint(dome_env *env);

/* Whether the program resumes from a checkpoint (--dome-restart) and should skip its
 * initialisation: named objects get their saved values when they are created. True from dome_init
 * until the first dome_checkpoint. Not collective; the same on all tasks. Always false in a program
 * that dome-cc compiled: it goes on behind the dome_checkpoint at which it was saved, with its C
 * variables (docs/dome-cc.md). */
bool dome_is_restarting(const dome_env *env);

/* Changes the number of tasks to `tasks` at the next loop boundary (dome_checkpoint). Collective;
 * `tasks` is the same everywhere. A later call before that boundary replaces this one.
 *
 * At the boundary the program starts anew with that number of tasks, as after a restart:
 * dome_checkpoint does not return, dome_is_restarting is true, and named objects get their values as
 * they are made, from memory. Tasks that stay keep their process; those with the highest ranks leave
 * with status 0. Users do the same with `dome grow` and `dome shrink` (docs/elastic.md).
 *
 * DOME_ERR_ARGUMENT: not within --dome-min and --dome-max. DOME_ERR_STATE: this program cannot
 * change (one task without a hub, started from the PVM console). If the boundary shows that it
 * cannot change (no named objects, no memory), rank 0 prints a line, and the program continues with
 * its present tasks. While a message is in transit there, the change waits (dome/comm.h). In a
 * program that dome-cc saves behind its operations it also waits while values differ between tasks
 * (docs/dome-cc.md). Checkpoints that are written in the meantime do not contain the request. */
dome_status dome_resize(dome_env *env, int tasks);

/* The number of the view: 0 when the program is started, and larger in each view that follows, by
 * dome_resize, by a user or after a loss (docs/elastic.md says why numbers are left out). Not
 * collective; the same on all tasks. */
uint64_t dome_epoch(const dome_env *env);

/* Why a view began. */
typedef enum dome_view_reason {
    DOME_VIEW_CHANGED, /* dome_resize, or a user: nothing is lost */
    DOME_VIEW_HEALED,  /* tasks were lost, and new tasks have their places: only time is lost */
    DOME_VIEW_LOST     /* tasks were lost, and the others go on without them (--on-loss tell) */
} dome_view_reason;

typedef struct dome_view_news {
    size_t size; /* sizeof(dome_view_news) */
    dome_view_reason reason;
    uint64_t epoch;
    int before, tasks; /* the number of tasks in the view before, and now */
} dome_view_news;

typedef void (*dome_view_function)(dome_env *env, const dome_view_news *news, void *data);

/* Registers a function that learns why the present view began. A view other than the first begins in
 * main, which runs once more; so the function is called here, before dome_on_view returns. In the
 * first view it is not called. Call dome_on_view after dome_init; the function may make all calls
 * that the program may make there. Collective in order. DOME_ERR_STATE: the program has passed a
 * dome_checkpoint already. */
dome_status dome_on_view(dome_env *env, dome_view_function function, void *data);

/* Lets a program that runs go on in the next view: the functions of dome_on_view and this one are then called inside of the
 * dome_checkpoint at which the number of tasks changes, which returns. main does not run once more. A task that stays keeps its
 * process, its memory and its variables; its rank, the number of tasks and the layouts are others, its objects have followed, and
 * objects with names have their values. Pointers to elements (dvec_local_spans and the like) are no longer valid. Objects without
 * names are as new ones, on all tasks: the function fills them.
 *
 *     dome_env *env = dome_init(&argc, &argv);
 *     dvec *x = dvec_new(env, "x", DOME_F64, n);
 *     dscalar *step = dscalar_new(env, "step", DOME_I64);
 *     if (!dome_is_restarting(env))
 *         ... fill x ...
 *     dome_on_view_in_place(env, told, &tables);
 *     for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
 *         ...
 *         dscalar_set_i64(step, k + 1);
 *         dome_checkpoint(env);
 *     }
 *
 * Call it directly in front of the main loop, when all objects have been made. A new task runs main up to this call, where it
 * meets the others; it calls the function there, then goes on into the loop as the others do behind their dome_checkpoint. So
 * that call and all before it must not communicate in a new task but by dome_init: it makes objects, and reads its variables
 * from those with names. Where the function is called, dome_is_restarting is false again.
 *
 * dome_resize, dome grow, dome shrink and moves from host to host are entered in place. The program goes through main, as without
 * this function, and the function is called here, before this call returns: after a loss (healing, --on-loss tell), if a new task
 * is lost while it joins, and if a change finds an object that was not there at this call (or lacks one that was), a region, a
 * lock of dome_lock, or an object whose structure has no slot `enter` (dome/structure.h). In the first view it is not called. A
 * later call replaces the function. Collective in order. DOME_ERR_STATE: the program was compiled by dome-cc, and goes on inside
 * its calls anyway; a new task has made other objects than the tasks that it meets. */
dome_status dome_on_view_in_place(dome_env *env, dome_view_function function, void *data);

/* The elements of an object (dvec_object(x), say) that were lost with their tasks, in a program that
 * goes on without these tasks (--on-loss tell). Sets *spans to spans of global indices, first to
 * first + count - 1, in ascending order with gaps between them, and returns their number. The lost
 * elements are as in a new object: 0 in a vector, no entries in the rows of a dsparse. The program
 * makes them again after it has made the object, before its next loop boundary.
 *
 * The same on all tasks. The spans belong to the library until the first dome_checkpoint. From then
 * on, and if nothing is lost, the result is 0 and *spans is NULL. Objects that are complete on every
 * task (dscalar, DOME_WHOLE) lose nothing. Collective in order; it does not communicate.
 * DOME_ERR_NAME, and 0: the program has given the object no name, so none of its elements are kept.
 */
size_t dome_lost(const dome_object *object, const dome_span **spans);

/* Waits until every task has called it. Collective; data may move. */
dome_status dome_barrier(dome_env *env);

/* Copies `count` elements of `type` from task `root` to all tasks. Collective; root, type and count
 * are equal on all tasks. DOME_ERR_ARGUMENT: no such task, more elements than memory can have. */
dome_status dome_bcast(dome_env *env, int root, dome_type type, void *data, size_t count);

/* The time of a monotonic clock in seconds. Not collective; times of different tasks are not
 * comparable. */
double dome_wtime(void);

/* Ends the whole program with exit status 1 and one line: the formatted text, the task and its
 * host. Any task may call it alone. Does not return. */
void dome_abort(dome_env *env, const char *format, ...) DOME_PRINTF(2, 3)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;

/* Makes failing functions return their status from now on instead of ending the program. Call it on
 * every task. */
void dome_set_errors_return(dome_env *env);

/* The status of the last function that failed since dome_error_clear, and its line; DOME_OK and ""
 * if none failed. The string belongs to env and lives until the next failure. Not collective. */
dome_status dome_error_status(const dome_env *env);
const char *dome_error_message(const dome_env *env);
void dome_error_clear(dome_env *env);

#ifdef __cplusplus
}
#endif
#endif
