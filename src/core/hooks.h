/* Calls from core into the rest of the library, on events of operations and objects: core depends on no other folder.
 * program/program_hooks.c fills the table. Every slot is set. */
#ifndef DOME_SRC_HOOKS_H
#define DOME_SRC_HOOKS_H

#include <dome/structure.h>

#include <stdbool.h>
#include <stdint.h>

struct dome_operation;

typedef struct dome_hooks {
    /* ---- operations ---- */

    /* Whether data is to move before an operation of this kind, which is about to begin; the same on all tasks. If so, `move` is
     * called. */
    bool (*due)(dome_env *env, uint32_t code);
    void (*move)(dome_env *env, uint32_t code, const dome_object *object);

    /* The task has entered this operation; DOME_OP_NONE: it has returned to the program's own code. */
    void (*at)(dome_env *env, uint32_t code, uint64_t id);

    /* The operation will update this object (DOME_OPERATION_UPDATES). Called after `at`. */
    void (*updates)(dome_env *env, const dome_object *object);

    /* The operation has ended; times in ns. Not called for deferred operations. */
    void (*ended)(dome_env *env, const struct dome_operation *op, uint64_t total, uint64_t wait);

    /* A structure has registered an operation. */
    void (*registered)(dome_env *env, uint32_t code);

    /* Called between operations, once the time is past env->recording.poll_at. */
    void (*poll)(dome_env *env);

    /* The operation has begun, while exchanges that the program does not wait for are under way or are to begin. Only called if
     * env->futures is set. */
    void (*ahead)(dome_env *env, uint32_t code);

    /* ---- reports ---- */

    /* Prints a line on standard error. */
    void (*say)(dome_env *env, const char *line);

    /* Prints the text on standard output, on task 0 alone. */
    void (*print)(dome_env *env, const char *text);

    /* A checkpoint with this number has been written. */
    void (*saved)(dome_env *env, uint64_t number);

    /* Reports the line of a failure and ends the process. */
    void (*fail)(dome_env *env, int status, int exit_status, const char *line) __attribute__((noreturn));

    /* ---- objects ---- */

    /* Whether the program resumes from a checkpoint. If so, restore gives a new object its values, and returns a status. */
    bool (*restarting)(const dome_env *env);
    int (*restore)(dome_env *env, dome_object *object);
    void (*made)(dome_env *env, const dome_object *object);
    void (*gone)(dome_env *env, const dome_object *object);

    /* The address of task 0's host as this task reaches it, a struct sockaddr_in. False if it is not known. */
    bool (*first_address)(const dome_env *env, void *address);

    /* The layout for the first object of a length and block size; NULL when memory is out. */
    dome_layout *(*first_layout)(const dome_env *env, uint64_t length, uint64_t block_size);
    void (*layout)(dome_env *env, const dome_layout *layout);

    /* Run deferred work. settle runs all of it; advance leaves out values that were already computed for others but not
     * stored. */
    void (*settle)(dome_env *env);
    void (*advance)(dome_env *env);
} dome_hooks;

#endif
