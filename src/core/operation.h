/* The wrapper around every public operation: records the current operation, times it, and reports failure.
 *
 *     dome_status dlist_append(dlist *z, double x)
 *     {
 *         dome_operation op;
 *         dome__begin(&op, z->env, DOME_OP_DLIST_APPEND, z->object, hash of the other arguments);
 *         dome_status status = ...;                      // check, then dispatch; failures by dome__fail
 *         return dome__end(&op, status);
 *     }
 *
 * Operations nest (dome_finalize frees objects): messages and the clock name the outermost. */
#ifndef DOME_SRC_OPERATION_H
#define DOME_SRC_OPERATION_H

#include "core/operation_table.h"

#include <dome/structure.h>

enum { DOME_PART_CORE = 0 };

/* The operations of core itself. */
#define DOME_CORE_OPERATIONS(X)                                                                                                  \
    X(NONE, "the program's own code", "", PLAIN)                                                                                 \
    X(TYPE_STRUCT, "dome_type_struct", "name:o fields:h", PLAIN)                                                                 \
    X(TYPE_PARSE, "dome_type_parse", "name:o text:h", PLAIN)                                                                     \
    X(TYPE_SET_OPS, "dome_type_set_ops", "type:n functions:h", PLAIN)                                                            \
    X(OBJECT_NEW, "dome_object_new", "name:o kind:n", PLAIN)                                                                     \
    X(OBJECT_FREE, "dome_object_free", "", PLAIN)                                                                                \
    X(OPERATION_REGISTER, "dome_operation_register", "name:n arguments:n flags:u", PLAIN)

DOME_OPERATION_CODES(DOME_PART_CORE, DOME_CORE_OPERATIONS);

struct dome_operation {
    dome_env *env;
    dome_operation_code code;
    const dome_object *object;
    bool program; /* running the program's own code: a kernel */
    uint64_t start_ns, start_wait_ns, start_eval_ns;
    struct dome_operation *outer;
};

/* Enters an operation. If data may move in it and load balancing is due, balancing runs first. object may be NULL. The words hold
 * all else that tasks must agree on, as the row of the operation describes them: ids of the other operands, scalars, lengths. op
 * must stay at its address until dome__end. Nested operations do not enter the history. */
void dome__begin_with(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object,
                      const uint64_t *words, size_t count);

/* dome__begin_with with one word, which may be a hash of several. */
static inline void dome__begin(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object,
                               uint64_t word)
{
    dome__begin_with(op, env, code, object, &word, 1);
}

/* dome__begin for an operation that this task may call alone: it has no number and no place in the history, and no data moves
 * before it. */
void dome__begin_alone(dome_operation *op, dome_env *env, dome_operation_code code);

/* The task's own thread, outside operations, has stopped since `start` for something that it did not call, a page fault; it has
 * waited since the account of its waits said start_wait. Counts as an operation of this kind. Any thread may call it. */
void dome__spent_outside(dome_env *env, dome_operation_code code, uint64_t start, uint64_t start_wait);

/* dome__begin_alone in two steps, between which the clock has not been read and nobody sees the task in the operation: for what
 * takes less time than that. */
void dome__enter_alone(dome_operation *op, dome_env *env, dome_operation_code code);
void dome__clock_alone(dome_operation *op);

/* Words for dome__begin: of a double (all NaNs have the same word), and of a text (0 if none), which is kept for the report on
 * tasks that disagree. */
uint64_t dome__double_word(double value);
uint64_t dome__text_word(dome_env *env, const char *text);

/* Continues the current operation as the next one of the history, under a new number: adds a decision (a hash) that all tasks
 * have made in it to the history, so that tasks which decided differently are found. */
void dome__begin_next(dome_env *env, uint64_t decision);

/* Tasks that have come by different ways go on together, in an operation of this kind: the same number and history on all of
 * them. */
void dome__begin_together(dome_env *env, dome_operation_code code, uint64_t sequence, uint64_t history);

/* The clock and the account of waits are others than those with which the operation began: it is timed from here on. */
void dome__begin_again(dome_operation *op);

/* Leaves the operation: adds its computing time (waiting excluded) to the clock. Returns status. */
dome_status dome__end(dome_operation *op, dome_status status);

/* Counts bytes of vectors that an operation has read or written, for the profile: as the outermost one's. */
void dome__count_bytes(const dome_operation *op, uint64_t bytes);

/* The errors of an environment. */
struct dome_errors *dome__errors_new(void);
void dome__errors_free(struct dome_errors *errors);

/* Whether errors are returned to the program (dome_set_errors_return) instead of ending it. */
bool dome__errors_returned(const dome_env *env);

/* From now on errors end the program. */
void dome__errors_end(dome_env *env);

/* Reports a failure of the current operation: one line with its name, its object, the text, task and host. Ends the program, or,
 * after dome_set_errors_return, records the line and returns status. */
dome_status dome__fail(dome_env *env, dome_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* dome__fail for a failure that the task with this rank has found. */
dome_status dome__fail_at(dome_env *env, dome_status status, int rank, const char *text);

/* Report a call by another thread of the task, and by a child process of it, and end the program, or the child. The line names
 * the operation itself: the current one is that of the task's own thread. */
void dome__fail_beside(dome_env *env, dome_status status, const char *line) __attribute__((cold, noreturn));
void dome__fail_child(dome_status status, const char *line) __attribute__((cold, noreturn));

/* Reports that an argument of a public function is NULL, before its operation has begun; `what` says which ("the vector").
 * Returns DOME_ERR_ARGUMENT. */
dome_status dome__null(const char *function, const char *what);

/* Reports that a public function was called after dome_finalize, and ends the process. */
void dome__called_late(dome_env *env, const char *function) __attribute__((cold, noreturn));

/* At the head of a public function: if pointer is NULL, reports that and returns the value of the last argument (none: void). */
#define DOME_NEEDS(pointer, what, ...)                                                                                           \
    do {                                                                                                                         \
        if (__builtin_expect(!(pointer), 0)) {                                                                                   \
            dome__null(__func__, what);                                                                                          \
            return __VA_ARGS__;                                                                                                  \
        }                                                                                                                        \
    } while (0)

/* This process's only environment. NULL before dome_init and after dome_finalize. From dome__set_this_env on operations may be
 * called by the thread that calls it, and by no other; a child process of this one may only look at values. */
dome_env *dome__this_env(void);
void dome__set_this_env(dome_env *env);

/* Mixes a value into a hash; start with 0. For doubles use dome__hash_double, which treats all NaNs as equal. */
uint64_t dome__hash(uint64_t hash, uint64_t value);
uint64_t dome__hash_double(uint64_t hash, double value);
uint64_t dome__hash_bytes(uint64_t hash, const void *data, size_t bytes);

#endif
