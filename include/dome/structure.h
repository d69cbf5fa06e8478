/* For people who add a distributed structure of their own.
 *
 * A structure is a header, a source file and one operation table. Load balancing, migration, checkpoints and tracing reach
 * every structure through this table alone and never know a concrete one. docs/adding-a-structure.md walks through an
 * example; tests/conformance.h is a battery that every structure must pass.
 *
 * An object is content (yours), table (yours, constant) and environment. Objects with a layout keep their data in blocks
 * (see layout.h). A replicated object (DOME_WHOLE) is held in full by every task: its layout is one over a single task, or
 * NULL, which means that the whole object is one block, number 0.
 */
#ifndef DOME_STRUCTURE_H
#define DOME_STRUCTURE_H

#include <dome/error.h>
#include <dome/layout.h>
#include <dome/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dome_object_info {
    size_t size;     /* sizeof(dome_object_info), set by the caller of dome_object_describe; a slot need not */
    dome_type type;  /* of one value; NULL if the elements have no common type. With a type, DOME_PORTABLE bytes are the values */
    uint64_t length; /* elements */
    uint64_t width;  /* values per element */
    dome_distribution distribution;
    const dome_layout *layout; /* borrowed; DOME_WHOLE: over one task, or NULL for a single block */
} dome_object_info;

/* The operation table. Runs of blocks are given as (first, count) in block numbers and never pass the end of the vector.
 * A slot marked required must be filled, one marked defaulted may be NULL and gets the behaviour described, one
 * marked optional may be NULL and the service is then not offered. Slots return a dome_status. No slot communicates
 * and none prints: failures are reported by the caller. */
typedef struct dome_object_ops {
    size_t size;      /* sizeof(dome_object_ops): tables of older programs stay readable */
    const char *kind; /* required: name of the structure, "dvec" */

    /* Required. What the object is. Cheap; may be called at any time. */
    dome_status (*describe)(const dome_object *object, dome_object_info *info);

    /* Defaulted (nothing to do). Completes deferred work: after it the blocks hold their values. */
    dome_status (*sync)(dome_object *object);

    /* Defaulted (every element costs the same). Relative cost of the blocks of a run, one number a block. */
    dome_status (*cost)(const dome_object *object, uint64_t first, uint64_t count, double *cost);

    /* Required. Bytes that pack writes for a run of blocks owned by this task. */
    dome_status (*packed_bytes)(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes);

    /* Required. Writes a run of blocks owned by this task into `buffer`. DOME_PORTABLE bytes must not depend on the
     * machine, the layout or the number of tasks: checkpoints rest on it. */
    dome_status (*pack)(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes);

    /* Required. The reverse: fills a run of blocks owned by this task from `bytes` bytes. Bytes come from other tasks and
     * from files: a wrong number of them is DOME_ERR_FORMAT, never a crash. */
    dome_status (*unpack)(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes);

    /* Required for DOME_DYNAMIC objects, else optional. From now on the object follows `layout` (same length and block
     * size). With --dome-check-pointers it may be the layout that the object has, also of objects that are not dynamic: one that
     * gives out pointers then takes new memory, so that old ones are found out. Blocks owned under both layouts keep their
     * values; blocks gained are undefined until unpacked; blocks lost may be forgotten (they were packed before). Takes its own
     * reference. On failure the object is as it was. */
    dome_status (*adopt)(dome_object *object, const dome_layout *layout);

    /* Defaulted (all true). Sets changed[k] when block first + k may have been written to since the last mark_saved, for
     * incremental checkpoints. */
    dome_status (*changed)(const dome_object *object, uint64_t first, uint64_t count, bool *changed);
    dome_status (*mark_saved)(dome_object *object);

    /* Defaulted (pack and unpack with DOME_PORTABLE). What a checkpoint stores for a run of blocks, where that is not
     * what a migration moves. write_bytes, write and read are filled together or not at all. */
    dome_status (*write_bytes)(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes);
    dome_status (*write)(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes);
    dome_status (*read)(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes);

    /* Required. Frees the content. The object is already out of the registry. */
    void (*destroy)(dome_object *object);

    /* Optional, for objects with a type and without `write`. Where the values of a run of blocks owned by this task lie, one
     * after the other as in memory (no deferred work is left). A checkpoint then copies them while the program waits and converts
     * them later, beside it; else the program waits for pack or write. NULL: they do not lie so. */
    const void *(*values)(const dome_object *object, uint64_t first, uint64_t count);

    /* Optional, for objects with a type. Where the values of a run of blocks lie, one after the other as in memory, to be read or
     * written (no deferred work is left). layout NULL: of blocks that this task owns. Else of blocks that it does not own yet and
     * will own under layout: in memory that adopt for the same layout, which follows, takes with what has been written there;
     * what the object holds now stays as it is. NULL: no memory. Between tasks with equal data formats migration then moves
     * values from place to place without packing. */
    void *(*place)(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count);
} dome_object_ops;

/* Registers `content` under `name`. Collective in order: every task registers the same objects in the same order (this is
 * checked at the next communication). name is copied and has at most DOME_NAME_MAX bytes; NULL or "" makes one up ("dvec-3"):
 * such objects are scratch and in no checkpoint, and the program may give another object that name. While the program restarts
 * (dome_is_restarting), an object with a name of its own gets its values from the checkpoint here, by the slots unpack or read:
 * content has to be ready for them. DOME_ERR_NAME if the checkpoint has no such object, DOME_ERR_TYPE, _SHAPE, _LAYOUT if it is
 * another one there, DOME_ERR_IO and _FORMAT if it cannot be read. The environment owns the object until dome_object_free or
 * dome_finalize. NULL on failure: DOME_ERR_NAME (an object was given that name and lives, or the name is too long),
 * DOME_ERR_ARGUMENT (a required slot is empty). */
dome_object *dome_object_new(dome_env *env, const char *name, const dome_object_ops *ops, void *content);

/* Takes the object out of the registry and destroys it. NULL is allowed. Collective in order. */
void dome_object_free(dome_object *object);

void *dome_object_content(const dome_object *object);
const dome_object_ops *dome_object_operations(const dome_object *object);
dome_env *dome_object_env(const dome_object *object);
const char *dome_object_name(const dome_object *object);
uint64_t dome_object_id(const dome_object *object); /* 1, 2, ... in creation order; equal on all tasks; never used again */

/* The registry: live objects in creation order. Start with NULL; NULL after the last. */
dome_object *dome_object_next(const dome_env *env, const dome_object *previous);
/* NULL if there is none. Names that the program has given come before those that were made up. */
dome_object *dome_object_find(const dome_env *env, const char *name);
size_t dome_object_count(const dome_env *env);

/* The slots with their defaults applied: what services call. dome_object_values and _place give NULL where the slot is empty. */
dome_status dome_object_describe(const dome_object *object, dome_object_info *info);
dome_status dome_object_sync(dome_object *object);
dome_status dome_object_cost(const dome_object *object, uint64_t first, uint64_t count, double *cost);
dome_status dome_object_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                     uint64_t *bytes);
dome_status dome_object_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                             uint64_t bytes);
dome_status dome_object_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                               uint64_t bytes);
dome_status dome_object_adopt(dome_object *object, const dome_layout *layout);
dome_status dome_object_changed(const dome_object *object, uint64_t first, uint64_t count, bool *changed);
dome_status dome_object_mark_saved(dome_object *object);
dome_status dome_object_write_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes);
dome_status dome_object_write(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes);
dome_status dome_object_read(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes);
const void *dome_object_values(const dome_object *object, uint64_t first, uint64_t count);
void *dome_object_place(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count);

/* ---- operations of a structure ----
 *
 * A function of a structure that all tasks call can be an operation, as dvec_sum is one: it is then counted, timed (waiting
 * apart), recorded in traces and named by messages and `dome ps`; tasks that call it with other arguments are told so; and load
 * balancing may move data before it. Operations nest: of those inside of another one only the outermost counts.
 *
 *     uint64_t words[] = {dome_operation_object_word(dvec_object(sums))};
 *     dome_operation *op = dome_operation_begin(env, l->sums, l->object, words, 1);
 *     dome_status status = ...;
 *     return dome_operation_end(op, status);
 */

typedef uint32_t dome_operation_code;
typedef struct dome_operation dome_operation;

typedef enum dome_operation_flags {
    DOME_OPERATION_PLAIN = 0,    /* none of the following */
    DOME_OPERATION_DEFERRED = 1, /* records work and does it later: calls are counted, not timed */
    DOME_OPERATION_MOVES = 2 /* data may move before it, and pointers into local data end with it: for operations that communicate
                                or compute on all of an object, not for those that give out pointers */
} dome_operation_flags;

/* The code of the operation of this name ("lists_sums"). arguments describes the words of dome_operation_begin, for the line
 * about tasks that disagree: "sums:v factor:f", a name and a kind each, underscores for spaces. Kinds: u, an unsigned number; i,
 * a signed one; f, dome_operation_f64_word; n, dome_operation_text_word; v, dome_operation_object_word; h, a hash, whose value is
 * not shown. The last one describes all further words, too. A name that is registered already gives its code, if arguments and
 * flags are the same. Both texts are copied. Collective in order. Lives until dome_finalize. 0 on failure: DOME_ERR_NAME (the
 * name is empty, is that of an operation of the library, or has other arguments or flags), DOME_ERR_ARGUMENT (arguments or flags
 * are none; 64 have been registered). */
dome_operation_code dome_operation_register(dome_env *env, const char *name, const char *arguments, unsigned flags);

/* Enters an operation; all further Dome calls until its end are part of it. object: what it is about, NULL if nothing; its
 * computing time is charged to that. words: what else all tasks have to agree on. NULL if the code is that of no registered
 * operation (DOME_ERR_ARGUMENT). Collective in order. */
dome_operation *dome_operation_begin(dome_env *env, dome_operation_code code, const dome_object *object, const uint64_t *words,
                                     size_t count);

/* Reports a failure of the operation, which all tasks find alike: "lists_sums of 'l': text (task, host)". Ends the program, or
 * returns status after dome_set_errors_return. */
dome_status dome_operation_fail(dome_operation *op, dome_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Leaves it. Returns status; of NULL DOME_ERR_ARGUMENT. */
dome_status dome_operation_end(dome_operation *op, dome_status status);

/* Words for dome_operation_begin. Of an object (NULL is allowed), a freed one of which ends the program there; of a double, all
 * NaNs being one; of a text, which messages then show. */
uint64_t dome_operation_object_word(const dome_object *object);
uint64_t dome_operation_f64_word(double value);
uint64_t dome_operation_text_word(dome_env *env, const char *text);

/* The layout that dynamic objects of this length and block size share now. Borrowed; becomes another one when data
 * moves. block_size 0 means dome_block_size(length). */
const dome_layout *dome_env_layout(dome_env *env, uint64_t length, uint64_t block_size);

/* Moves every dynamic object that follows the layout of the same length and block size to `layout`; objects made later follow it
 * too. Collective; all tasks give equal layouts. Objects move one after the other; while one moves, a task needs memory for
 * what it gains and for the new part beside the old. DOME_ERR_ARGUMENT, DOME_ERR_LAYOUT, or what a structure's sync fails with:
 * then nothing has moved. A failure once data moves ends the program. */
dome_status dome_env_relayout(dome_env *env, const dome_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
