/* For people who add a distributed structure. dome.h does not include this header.
 *
 * A structure is a header, a source file and one operation table. Load balancing, migration,
 * checkpoints and tracing reach every structure through its table alone. docs/adding-a-structure.md
 * explains an example; every structure must pass the battery of tests/conformance.h.
 *
 * An object consists of its content (yours), its table (yours, constant) and its environment.
 * Objects with a layout hold their data in blocks (layout.h). A replicated object (DOME_WHOLE) is
 * complete on every task; its layout is one over a single task, or NULL, which means one block with
 * number 0. */
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
    int ndim;                  /* dimensions of the array that the values are, row by row; 0: it is length x width */
    const uint64_t *shape;     /* the dimensions, which have the product length * width; borrowed */
} dome_object_info;

/* Marks of an object, by which a caller asks what has been written since it last asked. They are independent of each other: mark
 * 0 is that of checkpoints, the others are for a program's own services. */
enum { DOME_MARK_CHECKPOINT = 0, DOME_MARKS = 8 };

/* Takes a run of blocks that may have been written. Another status than DOME_OK ends the visit. */
typedef dome_status (*dome_delta_visit)(void *ctx, uint64_t first, uint64_t count);

/* For the library's own structures. */
typedef struct dome_block_source dome_block_source;

/* The operation table. Runs of blocks are given as (first, count) in block numbers and never pass
 * the end of the vector. A required slot must be filled. A defaulted slot may be NULL and then has
 * the behaviour in brackets. An optional slot may be NULL; the service is then not available. No
 * slot communicates or prints: the caller reports a failure. */
typedef struct dome_object_ops {
    size_t size;      /* sizeof(dome_object_ops): tables of older programs stay readable */
    const char *kind; /* required: name of the structure, "dvec" */

    /* Required. Describes the object in *info (info->size is set already). Cheap; may be called at
     * any time. */
    dome_status (*describe)(const dome_object *object, dome_object_info *info);

    /* Defaulted (nothing to do). Completes deferred work: then the blocks hold their values. */
    dome_status (*sync)(dome_object *object);

    /* Defaulted (every element costs the same). Relative costs of the blocks of a run, one number
     * per block. */
    dome_status (*cost)(const dome_object *object, uint64_t first, uint64_t count, double *cost);

    /* Required. The number of bytes that pack writes for a run of blocks of this task. */
    dome_status (*packed_bytes)(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes);

    /* Required. Packs a run of blocks of this task into `buffer`. DOME_PORTABLE bytes must not
     * depend on the machine, the layout or the number of tasks: checkpoints rely on it. */
    dome_status (*pack)(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                        uint64_t bytes);

    /* Required. Unpacks `bytes` bytes into a run of blocks of this task. The bytes come from other
     * tasks and from files: return DOME_ERR_FORMAT for a wrong number, and never crash. */
    dome_status (*unpack)(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                          uint64_t bytes);

    /* Required for DOME_DYNAMIC objects, else optional. Makes the object follow `layout` (same
     * length and block size). Blocks owned under both layouts keep their values; gained blocks are
     * undefined until they are unpacked; lost blocks were packed before and may be dropped. The
     * object takes its own reference. On failure the object is unchanged. With
     * --dome-check-pointers, adopt may be called with the present layout, and for objects that are
     * not dynamic: an object that hands out pointers then takes new memory, so that old pointers
     * are detected. */
    dome_status (*adopt)(dome_object *object, const dome_layout *layout);

    /* Defaulted (all true). Tables from before there was `delta` have these two, which know mark 0
     * alone; with delta they are not called. Sets changed[k] if block first + k may have been written
     * since the last mark_saved; for incremental checkpoints. */
    dome_status (*changed)(const dome_object *object, uint64_t first, uint64_t count, bool *changed);
    dome_status (*mark_saved)(dome_object *object);

    /* Defaulted (pack and unpack with DOME_PORTABLE). The bytes that a checkpoint stores for a run
     * of blocks, if they differ from those that migration moves. Fill write_bytes, write and read
     * together or not at all. */
    dome_status (*write_bytes)(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes);
    dome_status (*write)(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes);
    dome_status (*read)(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes);

    /* Required. Frees the content. The object has left the registry already. */
    void (*destroy)(dome_object *object);

    /* Optional, for objects with a type and without `write`. The address of the values of a run of
     * blocks of this task, contiguous and in native form (deferred work is complete). A checkpoint
     * copies them while the program waits and converts them later in a thread; without this slot
     * the program waits for pack or write. NULL if the values are not contiguous. With
     * --dome-checkpoint-copy on-write they are read out of a child process, so they must be in memory
     * that fork copies, unless the slot `shares` says that tasks share them. */
    const void *(*values)(const dome_object *object, uint64_t first, uint64_t count);

    /* Optional, for objects with a type. The address of the values of a run of blocks, contiguous
     * and in native form, to read or write (deferred work is complete). With layout NULL, the task
     * owns the blocks. Otherwise the task will own them under `layout`: the address is in the
     * memory that the following adopt of that layout takes over together with the values written
     * there; the present content is unchanged. NULL if there is no memory. Between tasks of equal
     * data formats migration copies values from address to address without packing. */
    void *(*place)(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count);

    /* Optional, for objects whose describe fills ndim and shape. Gives the object these again, as they
     * were in a checkpoint; with ndim 0 and no shape if it had none there. The numbers come from a file:
     * return DOME_ERR_SHAPE if they do not fit. */
    dome_status (*reshape)(dome_object *object, int ndim, const uint64_t shape[]);

    /* Optional, for programs that are saved inside their calls (dome-cc, capture.h), where an object
     * goes on without its program's call of dome_object_new. Makes the object again: new content, as
     * for an empty object of this description, and one dome_object_new with `name`, which gives it
     * its elements (unpack or read). Returns that object, or NULL. `info` is the result of describe,
     * except for ndim and shape (reshape gives these back) and the layout, which is that of the
     * present tasks: the one of dome_env_layout if dynamic. `parameters` are the bytes of the slot
     * below; they come from a file: return NULL if they do not fit. Objects that were made before
     * this one are there (dome_object_find). It runs before pointers in the program's variables are
     * back, so it makes only the object. Content must be a block of the heap of its own; blocks of
     * the heap that can be reached from content belong to the object, and are not saved with the
     * program's variables. Collective.
     */
    dome_object *(*make)(dome_env *env, const char *name, const dome_object_info *info, const void *parameters, uint64_t bytes);

    /* Optional, with make: parameters that make needs beyond the description, such as the number of
     * columns or the name of another object. Returns the number of bytes, and writes them to
     * `buffer` if that is not NULL. Portable (dome_type_pack, DOME_PORTABLE), and the same on all
     * tasks. */
    uint64_t (*parameters)(const dome_object *object, void *buffer);

    /* Defaulted (changed and mark_saved for mark 0; without these, and for other marks, all blocks
     * count as written). Calls visit(ctx, first, count) for runs of blocks of this task that contain
     * every block written since `mark` was set: by an operation, by unpack or read, by arriving in
     * adopt. Before a mark is set for the first time that is every block. The runs do not overlap.
     * Returns DOME_OK, or the status that ended the visit. With visit NULL: sets the mark, for all
     * blocks of this task. Marks are 0 to DOME_MARKS - 1. */
    dome_status (*delta)(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx);

    /* Defaulted (false). Whether task `rank` reaches all values as this task does: then no values move between them.
     * The slot is for objects whose elements are written by other tasks than their owners, without a call: with it, all tasks
     * wait for each other before values are read for a checkpoint or another view, and before the program goes on there or
     * behind a move. The same on both tasks. */
    bool (*shares)(const dome_object *object, int rank);

    /* Defaulted (nothing to do). For objects with `shares` of which tasks have copies: gets the values that this task will own
     * under the layout that adopt is about to get. All tasks meet before it (`meet`), and wait for each other after it. */
    dome_status (*fetch)(dome_object *object, const dome_layout *layout);

    /* Defaulted (all tasks wait for each other). For objects with `shares`: all tasks wait for each other, and what each has
     * written to objects with this table is there for all. Collective. */
    dome_status (*meet)(dome_object *object);

    /* Optional, for objects with a type and without `read`; for the library's own structures. Where the program's options allow
     * it (--dome-restart-load), called instead of unpack while the program restarts: the object reads its values from the source
     * when it needs them, and frees the source. *taken false: it cannot do so, has freed it, and unpack is called. Collective. */
    dome_status (*load)(dome_object *object, dome_block_source *source, bool *taken);

    /* Optional. The task is in another view, which it has entered in place (dome_on_view_in_place): it has another rank, and
     * there are other tasks. The object gives its values up and becomes what a new one is that follows `layout` (one over the
     * present tasks; DOME_WHOLE: the one it has). An object with a name then gets its values by read or unpack. Without this slot
     * the program does not enter views in place, but goes through main. On failure the program ends. */
    dome_status (*enter)(dome_object *object, const dome_layout *layout);
} dome_object_ops;

/* Registers `content` under `name` and returns its handle. Collective in order: every task
 * registers the same objects in the same order, which the next communication checks. The name is
 * copied; it has at most DOME_NAME_MAX bytes. With NULL or "" the library makes a name up
 * ("dvec-3"); such an object is in no checkpoint, and the program may give another object that
 * name. While the program restarts (dome_is_restarting), this call restores an object with a name
 * of its own by its slots unpack or read, so content must be ready for them. A block that is lost
 * (dome_lost) is not restored: content must be complete without it. env owns the object until
 * dome_object_free or dome_finalize.
 *
 * NULL on failure: DOME_ERR_NAME (a live object has the name; the name is too long; the checkpoint
 * has no such object), DOME_ERR_ARGUMENT (a required slot is empty), DOME_ERR_TYPE, _SHAPE, _LAYOUT
 * (the object in the checkpoint is different), DOME_ERR_IO, _FORMAT (the checkpoint cannot be
 * read). */
dome_object *dome_object_new(dome_env *env, const char *name, const dome_object_ops *ops, void *content);

/* Removes the object from the registry and destroys it. NULL is allowed. Collective in order. */
void dome_object_free(dome_object *object);

/* Not collective. The name belongs to the object. */
void *dome_object_content(const dome_object *object);
const dome_object_ops *dome_object_operations(const dome_object *object);
dome_env *dome_object_env(const dome_object *object);
const char *dome_object_name(const dome_object *object);
uint64_t dome_object_id(const dome_object *object); /* 1, 2, ... in creation order, equal on all tasks, never reused */

/* The registry: live objects in creation order. Not collective. `previous` is NULL for the first
 * object; the result is NULL after the last. */
dome_object *dome_object_next(const dome_env *env, const dome_object *previous);
/* The object of this name, or NULL. Names of the program take precedence over made-up ones. */
dome_object *dome_object_find(const dome_env *env, const char *name);
size_t dome_object_count(const dome_env *env);

/* Calls of the slots, with their defaults; services use these. For dome_object_describe the caller
 * sets info->size; it communicates nothing. dome_object_values and dome_object_place return NULL if
 * the slot is empty; dome_object_reshape then does nothing. */
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
dome_status dome_object_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx);
/* dome_object_delta of mark 0 for a run of blocks of this task, and setting that mark. */
dome_status dome_object_changed(const dome_object *object, uint64_t first, uint64_t count, bool *changed);
dome_status dome_object_mark_saved(dome_object *object);
dome_status dome_object_write_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes);
dome_status dome_object_write(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes);
dome_status dome_object_read(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes);
const void *dome_object_values(const dome_object *object, uint64_t first, uint64_t count);
void *dome_object_place(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count);
dome_status dome_object_reshape(dome_object *object, int ndim, const uint64_t shape[]);

/* ---- operations of a structure ----
 *
 * A function of a structure that all tasks call can be an operation, as dvec_sum is. The library
 * then counts it, times it (without waiting), records it in traces and names it in messages and
 * `dome ps`; it reports tasks that call it with different arguments, and load balancing may move
 * data before it. Operations nest: only the outermost counts.
 *
 *     uint64_t words[] = {dome_operation_object_word(dvec_object(sums))};
 *     dome_operation *op = dome_operation_begin(env, l->sums, l->object, words, 1);
 *     dome_status status = ...;
 *     return dome_operation_end(op, status); */

typedef uint32_t dome_operation_code;
typedef struct dome_operation dome_operation;

typedef enum dome_operation_flags {
    DOME_OPERATION_PLAIN = 0,    /* none of the following */
    DOME_OPERATION_DEFERRED = 1, /* records work and does it later: calls are counted, not timed */
    DOME_OPERATION_MOVES = 2 /* data may move before it, and pointers into local data end with it: for operations that communicate
                                or compute on all of an object, not for those that give out pointers */
} dome_operation_flags;

/* Registers an operation name ("lists_sums") and returns its code. `arguments` describes the words
 * of dome_operation_begin for the line about tasks that disagree: "sums:v factor:f" lists names and
 * kinds, with underscores for spaces. Kinds: u, an unsigned number; i, a signed one; f,
 * dome_operation_f64_word; n, dome_operation_text_word; v, dome_operation_object_word; h, a hash,
 * whose value is not shown. The last entry describes all further words. A name that is registered
 * with the same arguments and flags returns its code. Both texts are copied and live until
 * dome_finalize. Collective in order. 0 on failure: DOME_ERR_NAME (the name is empty, belongs to
 * the library, or has other arguments or flags), DOME_ERR_ARGUMENT (invalid arguments or flags). A
 * program may register any number of operations. */
dome_operation_code dome_operation_register(dome_env *env, const char *name, const char *arguments, unsigned flags);

/* Begins an operation; all Dome calls until its end are part of it. Its computing time is charged
 * to `object`, which may be NULL. `words` are further arguments on which all tasks must agree. NULL
 * if no operation with this code is registered (DOME_ERR_ARGUMENT). Collective in order. */
dome_operation *dome_operation_begin(dome_env *env, dome_operation_code code, const dome_object *object, const uint64_t *words,
                                     size_t count);

/* Reports a failure that all tasks find alike: "lists_sums of 'l': text (task, host)". Ends the
 * program, or returns status after dome_set_errors_return. */
dome_status dome_operation_fail(dome_operation *op, dome_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Ends the operation. Returns status; DOME_ERR_ARGUMENT if op is NULL. */
dome_status dome_operation_end(dome_operation *op, dome_status status);

/* Words for dome_operation_begin: of an object (NULL is allowed; a freed object ends the program in
 * dome_operation_begin), of a double (all NaNs are equal), of a text, which messages show. */
uint64_t dome_operation_object_word(const dome_object *object);
uint64_t dome_operation_f64_word(double value);
uint64_t dome_operation_text_word(dome_env *env, const char *text);

/* The layout that dynamic objects of this length and block size share now. Borrowed; data movement
 * replaces it. block_size 0 means dome_block_size(length). Not collective. */
const dome_layout *dome_env_layout(dome_env *env, uint64_t length, uint64_t block_size);

/* Moves every dynamic object that follows the layout of the same length and block size to `layout`;
 * objects created later follow it too. Collective; all tasks give equal layouts. Objects move one
 * after the other; while one moves, a task needs memory for the blocks it gains and for its new
 * part beside the old. DOME_ERR_ARGUMENT, DOME_ERR_LAYOUT, or the error of a structure's sync: then
 * nothing has moved. A failure during the movement ends the program. */
dome_status dome_env_relayout(dome_env *env, const dome_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
