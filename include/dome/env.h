/* The environment: one running Dome program as one of its tasks sees it. */
#ifndef DOME_ENV_H
#define DOME_ENV_H

#include <dome/error.h>
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

/* Starts the program. Collective; the first Dome call, before the program opens files or starts threads, and called once. Enrols
 * this process, starts the other copies with the same arguments, takes the --dome-* options out of argv (and reads DOME_OPTIONS
 * before them). Works when the program was started from the shell, spawned from the PVM console (siblings form one program) and
 * by `dome run`. argc and argv may be NULL.
 *
 * Started from the shell with more than one task, the process stays behind to watch over the program, and main goes on in
 * a child process as rank 0, with the same standard input and output. The exit status of that rank 0 becomes that of
 * the process.
 *
 * Never returns NULL: whatever prevents the start is one line on standard error and an exit status other than 0.
 * --dome-help and --dome-version print and exit with 0. The environment belongs to the library until dome_finalize. */
dome_env *dome_init(int *argc, char ***argv);

/* Ends the program: waits for all tasks, destroys the objects that are left, takes down what dome_init started. Collective; no
 * Dome call may follow. Returns the exit status for main, 0 unless an error was recorded by dome_set_errors_return and
 * never cleared. NULL is allowed and returns 0. */
int dome_finalize(dome_env *env);

int dome_rank(const dome_env *env);                   /* 0 ... size - 1 */
int dome_size(const dome_env *env);                   /* number of tasks */
const char *dome_host(const dome_env *env, int rank); /* name of the host a task runs on; NULL if there is no such rank */

/* Prints once, on rank 0's standard output, and not once per task. Every task calls it; it does not communicate. */
void dome_print(dome_env *env, const char *format, ...) DOME_PRINTF(2, 3);

/* Shows how far a loop is: done of total (0: nobody knows) of what unit says ("steps"), how fast it goes and how long it will
 * take still. On a terminal that is a bar; in a file a line now and then (none for what takes seconds); in a pipe nothing, unless
 * --dome-progress always asks for it (never: nowhere). Rank 0 shows it, on standard error, at most ten times a second, so it may
 * be called often. Not collective: it does not communicate. The speed is what this run has seen: a loop that begins at done > 0,
 * after a restart, does not look fast. dome_print gets along with the bar; what the program prints by itself on the terminal
 * stands in its line. */
void dome_progress(dome_env *env, uint64_t done, uint64_t total, const char *unit);

/* The loop boundary: call it once per iteration of the main loop, on every task, where what the program has to remember is in
 * named objects. Data may move here (docs/balancing.md), and with --dome-checkpoint-dir a checkpoint is written if one is due
 * (docs/checkpoints.md). Collective; tasks talk only if something may be due. That a checkpoint cannot be written is said in a
 * line on rank 0's standard error, and is no failure of the program. Returns a status. */
dome_status dome_checkpoint(dome_env *env);

/* Whether the program goes on from a checkpoint (--dome-restart) and should skip its initialisation: objects made with a name of
 * their own have their values already. True from dome_init until the first dome_checkpoint. Not collective; the same on all
 * tasks. */
bool dome_is_restarting(const dome_env *env);

/* Waits until every task has called it. Collective; data may move. */
dome_status dome_barrier(dome_env *env);

/* Copies count elements of rank root to all tasks. Collective; root, type and count equal everywhere. */
dome_status dome_bcast(dome_env *env, int root, dome_type type, void *data, size_t count);

/* Seconds of a monotonic clock. Not collective, and not comparable between tasks. */
double dome_wtime(void);

/* Ends the whole program with one line (the formatted text, with task and host) and an exit status of 1. Any task may call it.
 * Does not return. */
void dome_abort(dome_env *env, const char *format, ...) DOME_PRINTF(2, 3)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;

/* From now on failing functions return their status instead of ending the program. Call it on every task. */
void dome_set_errors_return(dome_env *env);

/* The status of the last function that failed since dome_error_clear, and its line. DOME_OK and "" if none has. The string
 * belongs to env and lives until the next failure. */
dome_status dome_error_status(const dome_env *env);
const char *dome_error_message(const dome_env *env);
void dome_error_clear(dome_env *env);

#ifdef __cplusplus
}
#endif
#endif
