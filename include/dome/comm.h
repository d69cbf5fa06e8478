/* Collectives and messages: data of the program's own that is in no distributed vector.
 *
 *     double sums[65] = ...;                                   // this task's part of each sum
 *     dome_allreduce(env, DOME_F64, sums, 65, DOME_SUM);       // the sums, on every task
 *
 *     dome_send(env, right, 1, DOME_F64, edge, n);             // to the next task, tag 1
 *     dome_recv(env, left, 1, DOME_F64, halo, n, NULL);        // from the one before
 *
 * Elements have a dome_type (type.h), basic or of a struct. Between unlike machines they are
 * converted. Lengths are in elements and have no limit but memory. Buffers of one call must not
 * overlap. Values that belong to all tasks alike are better kept in a dscalar, and long data that
 * all tasks share in a dvec: those are balanced, and are in checkpoints. */
#ifndef DOME_COMM_H
#define DOME_COMM_H

#include <dome/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- collectives ----
 *
 * Every task calls the same function with equal arguments, but for the data. If one calls another
 * function, or gives another type, count, root or reduction, the program ends with one line that
 * names both calls. dome_barrier and dome_bcast are in env.h.
 *
 * DOME_ERR_ARGUMENT: no such task as root, no such reduction, more elements than memory can have.
 * DOME_ERR_TYPE: a reduction that the type does not have. DOME_ERR_MEMORY. All tasks then fail
 * alike, and no data has changed.
 *
 * Results have the same bits for any trees, hosts and lengths, on every task. They depend on the
 * number of tasks only as far as the contributions do. */

/* The reductions of the tasks' elements, each position by itself. C: complex types. */
typedef enum dome_reduction {
    DOME_SUM,    /* floating point, C: the exact sum, rounded to double and then to the type; integers: modulo 2^bits */
    DOME_PROD,   /* floating point, C: from the left in rank order, each step rounded; integers: modulo 2^bits */
    DOME_MIN,    /* not C; NaN if any is NaN; -0 is below +0 */
    DOME_MAX,    /* likewise */
    DOME_AND,    /* 1 if all are not 0, else 0; integers */
    DOME_OR,     /* 1 if any is not 0, else 0; integers */
    DOME_BITAND, /* of the bits; integers */
    DOME_BITOR,
    DOME_BITXOR,
    DOME_REDUCTIONS /* their number */
} dome_reduction;

/* A reduction of one's own, for any type: inout[i] = inout[i] (op) in[i], for count elements. inout
 * holds the result of the lower ranks. Calls go from the left in rank order, ((0 op 1) op 2) op ...,
 * so the function need be neither commutative nor associative. It may get the elements in several
 * parts, and calls no Dome function. Every task gives the same function. */
typedef void (*dome_combine_function)(void *ctx, size_t count, void *inout, const void *in);

/* data: this task's elements before, the result afterwards: on every task (allreduce), on task
 * `root` (reduce; elsewhere data is unchanged), of this task and all lower ranks (scan, inclusive),
 * of all lower ranks alone (exscan, exclusive). Task 0 has no lower rank and gets from exscan the
 * neutral value: 0; 1 for DOME_PROD and DOME_AND; all bits set for DOME_BITAND; the type's largest
 * value or infinity for DOME_MIN, its smallest or -infinity for DOME_MAX. dome_exscan_with leaves
 * task 0's elements as they are. Struct types and other combinations: the functions named _with. */
dome_status dome_allreduce(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction);
dome_status dome_reduce(dome_env *env, int root, dome_type type, void *data, size_t count, dome_reduction reduction);
dome_status dome_scan(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction);
dome_status dome_exscan(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction);
dome_status dome_allreduce_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine,
                                void *ctx);
dome_status dome_reduce_with(dome_env *env, int root, dome_type type, void *data, size_t count, dome_combine_function combine,
                             void *ctx);
dome_status dome_scan_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine, void *ctx);
dome_status dome_exscan_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine, void *ctx);

/* Each task gives `count` elements of send; recv gets dome_size(env) * count elements, in rank
 * order. gather: on task `root`; elsewhere recv may be NULL. */
dome_status dome_gather(dome_env *env, int root, dome_type type, const void *send, size_t count, void *recv);
dome_status dome_allgather(dome_env *env, dome_type type, const void *send, size_t count, void *recv);

/* The same where task r gives counts[r] elements; their parts are contiguous in recv. counts has
 * dome_size(env) entries, equal on all tasks (dome_allgather tells them). */
dome_status dome_gatherv(dome_env *env, int root, dome_type type, const void *send, const size_t *counts, void *recv);
dome_status dome_allgatherv(dome_env *env, dome_type type, const void *send, const size_t *counts, void *recv);

/* The inverse: task `root` gives each task, itself included, `count` elements of send, or counts[r]
 * elements to task r; its parts for the tasks are contiguous, in rank order. recv gets this task's.
 * Elsewhere send is not looked at and may be NULL. counts as in dome_gatherv. */
dome_status dome_scatter(dome_env *env, int root, dome_type type, const void *send, size_t count, void *recv);
dome_status dome_scatterv(dome_env *env, int root, dome_type type, const void *send, const size_t *counts, void *recv);

/* Sends send_counts[r] elements to each task r, itself included, and receives recv_counts[r]
 * elements from each. Both buffers hold the parts one after the other, in rank order. The counts are
 * this task's own. A count to send must equal the receiver's count to receive: else
 * DOME_ERR_MISMATCH on all tasks, in a line that names both, before data is sent. */
dome_status dome_alltoall(dome_env *env, dome_type type, const void *send, const size_t *send_counts, void *recv,
                          const size_t *recv_counts);

/* ---- messages ----
 *
 * From one task to another, each alone: messages are outside of the program's common order of
 * calls, and tasks may send and receive in any pattern. A message has a tag, 0 ... INT_MAX.
 * Messages of one task to another with the same tag are received in the order in which they were
 * sent.
 *
 * dome_send does not wait for the dome_recv: the library keeps messages until they are received,
 * so tasks that send to each other and then receive do not block each other (it may wait while the
 * receiver computes and has much to take in). A task may send to itself.
 *
 * Any operation on objects may wait for all tasks, because data may move then (docs/balancing.md).
 * So a task must not wait for a message that is sent only after an operation which this task has
 * yet to call.
 *
 * A wait that cannot end is found: if the task that is waited for is lost, or if tasks wait for
 * each other (in dome_recv, or one in a collective that the other has not come to), the program
 * ends with one line that names them and the tags. That needs some seconds; a message from oneself
 * that has not been sent is found at once.
 *
 * Errors, found by the task that calls: DOME_ERR_ARGUMENT: no such task, a tag below 0.
 * DOME_ERR_TYPE: the message has elements of another type than the caller asks for. DOME_ERR_SHAPE: it
 * has more elements than fit. In the latter two cases the message is not received, and another call
 * can receive it. DOME_ERR_STATE, DOME_ERR_MEMORY.
 *
 * Messages are no part of a checkpoint, nor of a view (dome_resize). While a message is in transit
 * at a dome_checkpoint, or a request has not been waited for, a checkpoint or change that is due
 * there waits for the next boundary without one: for 10 seconds, and at least 10 boundaries. Then
 * the checkpoint is left out, or the change of the number of tasks is refused; a line names sender
 * and receiver, and the program goes on. If messages have not been received by the end,
 * dome_finalize prints a line about the first of them; the exit status stays as it is.
 * With --dome-checkpoint-protocol snapshot a checkpoint has messages in transit (docs/checkpoints.md). */

/* In place of a rank or tag to receive: from any task, with any tag. Which message comes first then
 * may differ from run to run, and with it the results. */
#define DOME_ANY_RANK (-1)
#define DOME_ANY_TAG  (-1)

/* A message that has been received. */
typedef struct dome_received {
    int rank, tag;
    size_t count; /* elements */
} dome_received;

/* Sends count elements to task `dest`. The buffer may be used again on return. */
dome_status dome_send(dome_env *env, int dest, int tag, dome_type type, const void *data, size_t count);

/* Waits for the next message from task `source` with this tag, and receives it: count elements, or
 * fewer. received (may be NULL) tells where it is from and how many it has. */
dome_status dome_recv(dome_env *env, int source, int tag, dome_type type, void *data, size_t count, dome_received *received);

/* The same in two steps, between which the task can do other work; dome_wait ends each request,
 * once, and frees it. The buffer must not be touched before. A message goes to the request for its
 * sender and tag that began first. dome_wait reports a request that has failed. dome_finalize names
 * a request that has not ended. NULL on failure. */
typedef struct dome_request dome_request;
dome_request *dome_isend(dome_env *env, int dest, int tag, dome_type type, const void *data, size_t count);
dome_request *dome_irecv(dome_env *env, int source, int tag, dome_type type, void *data, size_t count);

/* Waits until a request is complete. received may be NULL; for a request to send it describes the
 * message sent. */
dome_status dome_wait(dome_request *request, dome_received *received);

/* Whether dome_wait would return at once. Never waits. */
bool dome_test(dome_request *request);

#ifdef __cplusplus
}
#endif
#endif
