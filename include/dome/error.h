/* Errors: one list, and one way to fail.
 *
 * By default, a Dome function that fails prints one line on standard error (operation, object,
 * reason, task, host) and ends the whole program with a status other than 0, as MPI does. After
 * dome_set_errors_return() the function returns instead, and dome_error_message() has the line.
 *
 * A failing function then returns:
 *   dome_status       the error
 *   a pointer         NULL
 *   double            NaN
 *   another number    0
 * dome_error_status() tells a failure from such a value. Of results through a pointer a double is
 * NaN, a position is UINT64_MAX and a span is empty; elements and values of an object's own type
 * are unchanged.
 *
 * Programmer's errors (wrong type, wrong length, ...) are found by every task alike; the program
 * can continue after them. NULL where an environment, an object, a name or a place for a result is
 * needed is DOME_ERR_ARGUMENT in every function. Run-time errors (files, memory) may be found by
 * one task alone: the other tasks receive the same error from the same call. Errors in deferred
 * work are reported by the calls that need its values (dvec.h).
 *
 * Three errors always end the program, because no status could be returned before harm is done:
 * the use of an object that has been freed (the library knows the last thousand or so), a Dome
 * function called inside a kernel, and tasks that disagree when the hub finds it before a message
 * does. The loss of a task or host also ends the program (--dome-timeout). A program that exits
 * without dome_finalize prints a line and ends with a status other than 0.
 */
#ifndef DOME_ERROR_H
#define DOME_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, name, text, exit status of a program that ends with it) */
#define DOME_STATUS_LIST(X)                                                                                                      \
    X(0, DOME_OK, "success", 0)                                                                                                  \
    /* programmer's errors */                                                                                                    \
    X(1, DOME_ERR_ARGUMENT, "argument out of its range", 2)                                                                      \
    X(2, DOME_ERR_TYPE, "element types do not fit", 2)                                                                           \
    X(3, DOME_ERR_SHAPE, "lengths, widths or block sizes differ", 2)                                                             \
    X(4, DOME_ERR_LAYOUT, "distributions do not fit", 2)                                                                         \
    X(5, DOME_ERR_NAME, "name is taken or unknown", 2)                                                                           \
    X(6, DOME_ERR_MISMATCH, "tasks disagree about the operation", 2)                                                             \
    X(7, DOME_ERR_OPTION, "unknown option or bad value", 2)                                                                      \
    X(8, DOME_ERR_STATE, "not possible now", 2)                                                                                  \
    /* run-time errors */                                                                                                        \
    X(16, DOME_ERR_MEMORY, "out of memory", 1)                                                                                   \
    X(17, DOME_ERR_IO, "file cannot be read or written", 1)                                                                      \
    X(18, DOME_ERR_FORMAT, "file is not what it should be", 1)                                                                   \
    X(19, DOME_ERR_RANGE, "value does not fit", 1)                                                                               \
    X(20, DOME_ERR_START, "program cannot be started", 1)                                                                        \
    X(21, DOME_ERR_COMM, "communication failed", 1)                                                                              \
    X(22, DOME_ERR_LOST, "task or host lost", 1)

typedef enum dome_status {
#define DOME_STATUS_ENUM(code, name, text, exit_status) name = code,
    DOME_STATUS_LIST(DOME_STATUS_ENUM)
#undef DOME_STATUS_ENUM
} dome_status;

/* The identifier of a status ("DOME_ERR_TYPE"), and its text. Not collective. Constant strings,
 * never NULL. */
const char *dome_status_name(dome_status status);
const char *dome_status_text(dome_status status);

#ifdef __cplusplus
}
#endif
#endif
