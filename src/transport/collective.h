/* Collective operations over a transport, for any number of tasks: trees of logarithmic depth over ranks. Short barriers,
 * broadcasts, all-reduces and all-gathers use the memory that tasks of a host share; between hosts one task of each exchanges
 * messages.
 *
 * Every task calls the same function with the same root, type and (but for the v variants) count. counts and displacements are in
 * elements. Each function returns a dome_status. Buffers must not overlap unless noted. */
#ifndef DOME_SRC_COLLECTIVE_H
#define DOME_SRC_COLLECTIVE_H

#include "transport/transport.h"

/* inout = inout (op) in, for count elements, element by element. dome__reduce calls it with the lower ranks' part in inout, so it
 * need not commute; for dome__allreduce it must, because tasks that share memory are combined first, whatever their ranks. */
typedef void (*dome_combine)(void *inout, const void *in, uint64_t count, void *ctx);

/* What is combined, and how. */
typedef struct dome_combining {
    dome_type type;
    void *data; /* input everywhere */
    uint64_t count;
    dome_combine combine;
    void *ctx; /* of combine */
} dome_combining;

int dome__barrier(dome_transport *transport);
int dome__bcast(dome_transport *transport, int root, dome_type type, void *data, uint64_t count);

/* data is input everywhere and output at root (reduce) or everywhere (allreduce). The order of combination depends on the number
 * of tasks and their hosts: bits are reproducible only if the combination is associative. */
int dome__reduce(dome_transport *transport, int root, const dome_combining *c);
int dome__allreduce(dome_transport *transport, dome_type type, void *data, uint64_t count, dome_combine combine, void *ctx);

/* recv: size * count elements in rank order, at root or everywhere. */
int dome__gather(dome_transport *transport, int root, dome_type type, const void *send, uint64_t count, void *recv);
int dome__allgather(dome_transport *transport, dome_type type, const void *send, uint64_t count, void *recv);

/* Each task has at least one element and at most `most`, and only it knows how many. Those of rank r are at element r * most of
 * recv, and what is behind them is undefined: they must say themselves how many they are. send has room for `most`. */
int dome__allgather_some(dome_transport *transport, dome_type type, const void *send, uint64_t count, uint64_t most, void *recv);

/* Rank r contributes counts[r] elements; they are stored contiguously in rank order. counts is the same on all tasks. */
int dome__gatherv(dome_transport *transport, int root, dome_type type, const void *send, const uint64_t *counts, void *recv);
int dome__allgatherv(dome_transport *transport, dome_type type, const void *send, const uint64_t *counts, void *recv);

/* send and recv: size pieces of count elements. */
int dome__alltoall(dome_transport *transport, dome_type type, const void *send, uint64_t count, void *recv);

/* send holds a piece of send_counts[r] elements for each rank r, contiguously in rank order; recv receives recv_counts[r]
 * elements from each rank r likewise. A piece of 0 elements is not sent (both sides know its count). */
int dome__alltoallv(dome_transport *transport, dome_type type, const void *send, const uint64_t *send_counts, void *recv,
                    const uint64_t *recv_counts);

/* The usual combinations. */
void dome__combine_sum_i64(void *inout, const void *in, uint64_t count, void *ctx);
void dome__combine_max_i64(void *inout, const void *in, uint64_t count, void *ctx);
void dome__combine_max_u64(void *inout, const void *in, uint64_t count, void *ctx);

#endif
