#include "wire.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* MPI counts bytes by int. */
#define MOST ((size_t)1 << 30)

enum { TAG = 1 };

static int node, nodes;
static uint64_t counts[2]; /* messages sent, and their bytes */
static double spent[WIRE_PHASES], since;
static wire_phase phase;

void wire_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &node);
    MPI_Comm_size(MPI_COMM_WORLD, &nodes);
    if (nodes < 2) {
        fputs("two nodes or more are needed\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    since = MPI_Wtime();
}

int wire_node(void)
{
    return node;
}

int wire_nodes(void)
{
    return nodes;
}

void wire_clock(wire_phase next)
{
    const double now = MPI_Wtime();
    spent[phase] += now - since;
    since = now;
    phase = next;
}

void wire_send(int to, const void *data, size_t bytes)
{
    counts[0]++;
    counts[1] += bytes;
    MPI_Send(&bytes, sizeof bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD); /* its length, which is not counted */
    for (size_t done = 0; done < bytes; done += MOST)
        MPI_Send((const char *)data + done, (int)(bytes - done < MOST ? bytes - done : MOST), MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void await_message(int from)
{
    const struct timespec pause = {.tv_nsec = 20000};
    for (int there = 0; !there;) {
        MPI_Iprobe(from, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            nanosleep(&pause, NULL);
    }
}

static size_t receive_length(int from)
{
    size_t bytes;
    await_message(from);
    MPI_Recv(&bytes, sizeof bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
}

static void receive_bytes(int from, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += MOST)
        MPI_Recv((char *)data + done, (int)(bytes - done < MOST ? bytes - done : MOST), MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

void *wire_receive(int from, size_t *bytes)
{
    *bytes = receive_length(from);
    void *data = malloc(*bytes + 1);
    if (!data) {
        fputs("no memory for a message\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    receive_bytes(from, data, *bytes);
    return data;
}

void wire_receive_into(int from, void *data, size_t bytes)
{
    if (receive_length(from) != bytes) {
        fputs("a message of another length\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    receive_bytes(from, data, bytes);
}

void wire_broadcast(void **data, size_t *bytes)
{
    int distance = 1;
    while (distance < nodes && !(node & distance))
        distance *= 2;
    if (node > 0)
        *data = wire_receive(node - distance, bytes);
    for (distance /= 2; distance > 0; distance /= 2)
        if (node + distance < nodes)
            wire_send(node + distance, *data, *bytes);
}

wire_part wire_part_of(long iterations, int part, int parts)
{
    return (wire_part){iterations * part / parts, iterations * (part + 1) / parts};
}

void wire_end(const cape_run *run)
{
    static const char *const names[WIRE_PHASES] = {"init", "before", "compute", "update", "final"};
    uint64_t all[2];
    double slaves[WIRE_PHASES], own[WIRE_PHASES], seconds = 0;
    wire_clock(WIRE_INIT);
    for (int k = 0; k < WIRE_PHASES; k++)
        own[k] = node > 0 ? spent[k] / (nodes - 1) : 0;
    MPI_Reduce(counts, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own, slaves, WIRE_PHASES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (node == 0) {
        for (int k = 0; k < WIRE_PHASES; k++)
            seconds += spent[k];
        printf("result %016" PRIx64 " seconds %.6f messages %" PRIu64 " bytes %" PRIu64, cape_result(run), seconds, all[0],
               all[1]);
        for (int k = 0; k < WIRE_PHASES; k++)
            printf(" %s %.6f slaves-%s %.6f", names[k], spent[k], names[k], slaves[k]);
        printf("\n");
    }
    MPI_Finalize();
}
