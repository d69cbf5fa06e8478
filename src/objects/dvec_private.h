/* Functions that the files of a dvec call of each other. Its fields are in eval/vector.h. */
#ifndef DOME_SRC_DVEC_PRIVATE_H
#define DOME_SRC_DVEC_PRIVATE_H

#include "core/storage.h"
#include "eval/vector.h"
#include "objects/dvec_operations.h"

/* Runs the recorded work that x takes part in. Required before every access to x->data. */
void dvec__complete(const dvec *x);

/* The same for vectors (y may be NULL) whose values a collective operation needs: fails, as dvec__agree does, if they could not
 * be computed. For an output that is completely overwritten dvec__complete or dvec__renew is enough. */
int dvec__settle(const dvec *x, const dvec *y);

/* Before all values of x are overwritten by an operation that cannot fail: recorded values of x that nobody reads are never
 * computed. */
void dvec__renew(dvec *x);

/* dvec__settle for a vector that is only read: recorded work that reads it may stay recorded. */
int dvec__settle_read(const dvec *x);

/* Replaces *options, the program's (NULL: none), by a copy that has all fields this library knows. False if they are of another
 * size: the operation then fails by dvec__unknown_options. */
bool dvec__options(const dvec_options **options, dvec_options *copy);
dome_status dvec__unknown_options(dome_env *env, const dvec_options *options);

/* The shape of x, and the number of its dimensions. */
int dvec__shape(const dvec *x, uint64_t shape[DOME_MAX_DIMENSIONS]);

/* Whether these numbers can be the shape of x. */
bool dvec__shape_fits(const dvec *x, int ndim, const uint64_t shape[]);

/* Gives x a shape that fits its length and width; ndim 0: the default. */
void dvec__take_shape(dvec *x, int ndim, const uint64_t shape[]);

/* The number of planes along the first dimension, and of elements in each. False if an element is more than a plane. */
bool dvec__plane(const dvec *x, uint64_t *planes, uint64_t *elements);

/* Whether an object is a dvec. */
bool dvec__is(const dome_object *object);

/* Notes that values have changed, of blocks that are marked one by one; dvec__written (eval/vector.h): of all blocks. */
void dvec__written_in_part(dvec *x);

/* Notes that values of one block of this task have changed. */
void dvec__written_block(dvec *x, uint64_t block);

/* Notes that the program gets a pointer for writing. The vector is not told of writes through it. */
void dvec__lend(dvec *x);

/* Notes that all values have been overwritten by an operation that does not need the old ones. */
void dvec__overwritten(dvec *x);

/* Whether x can take part in one element-wise operation with z as `output`: returns 0, or fails with an error message. */
int dvec__conforms(const dvec *z, const dvec *x, bool same_type, bool same_width);

/* Whether x is an operand that is repeated where z's shape is wanted (dvec.h, "Repeated operands"); whether because it has one
 * element. */
static inline bool dvec__alone(const dvec *z, const dvec *x)
{
    return x->length == 1 && z->length != 1;
}
static inline bool dvec__repeated(const dvec *z, const dvec *x)
{
    return __builtin_expect((x->width != z->width && x->width == 1) || (x->length != z->length && x->length == 1), 0);
}

/* dvec__conforms for operands that may also be repeated. */
int dvec__conforms_repeated(const dvec *z, const dvec *x, bool same_type, bool same_width);

/* Sets two empty spans. Their pointers point to no element but are not NULL, since they may be passed to memcpy. */
void dvec__no_spans(dvec_span spans[2]);

/* Sets this task's spans of x, with pointers; an unused one is empty. Returns the number of non-empty ones. x must be synced. */
int dvec__spans(const dvec *x, dvec_span spans[2]);

/* A range of elements of x that a task wants: element first + j goes to element `at` + j of its output. */
typedef struct dvec_want {
    uint64_t first, count, at;
} dvec_want;

/* Sets the ranges that a rank wants and returns their number. Any task can compute it for any rank, so no requests are sent. */
#define DVEC_WANTS 12
typedef int (*dvec_wants)(const void *ctx, int rank, dvec_want wants[DVEC_WANTS]);

/* Copies the elements this task wants to out, from whichever tasks own them, without additional memory. Collective. x must be
 * synced; out must not overlap x's memory. */
int dvec__fetch(const dvec *x, dvec_wants wants, const void *ctx, void *out);

/* The same if each task wants elements next to its own: then not all tasks have to be looked at. */
int dvec__fetch_near(const dvec *x, dvec_wants wants, const void *ctx, void *out);

/* z = x for vectors of different distributions or block sizes; fails unless type, length and width are equal. Collective. */
int dvec__redistribute(dvec *z, const dvec *x);

/* Whether z may take values of x: same environment, type and width. Fails by dome__fail. */
int dvec__check_values(const dvec *z, const dvec *x);

/* The spans of a rank's part; a DOME_WHOLE vector's are the same everywhere. */
static inline int dvec__spans_of(const dvec *x, int rank, dome_span spans[2])
{
    return dome_layout_spans(x->layout, x->distribution == DOME_WHOLE ? 0 : rank, spans);
}

/* The id for the program's history; 0 for NULL. dome__begin refuses the operation if x was freed. */
static inline uint64_t dvec__id(const dvec *x)
{
    uint64_t id = x ? dome_object_id(x->object) : 0;
    if (id & DOME_FREED)
        x->env->position.stale = x->object;
    return id;
}

/* The most vectors in a list that a call takes. */
enum { DVEC_LIST_MOST = 1 << 24 };

/* The whole of an operation whose list is longer; returns its status. */
dome_status dvec__refuse_list(dome_env *env, dome_operation_code code, const dome_object *object, size_t n);

/* Sets the words that tasks have to agree on when an operation uses the values of vectors. Returns the number of words. */
size_t dvec__map_words(uint64_t words[1 + DVEC_MAP_MAX], int nin, dvec *const in[]);

/* Replaces x's storage and retires the old one, and with it all pointers that were lent. */
void dvec__replace(dvec *x, void *data);

/* Handles a failure that this task may have found alone (status is not DOME_OK; text may be NULL). Where errors end the program,
 * it is reported at once; where they are returned, all tasks agree on it (collective). */
int dvec__agree(dome_env *env, int status, const char *text);

/* The same for allocations: fails unless `have`. */
int dvec__agree_memory(const dvec *x, bool have, const char *what);

#endif
