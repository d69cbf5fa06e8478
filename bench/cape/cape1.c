/* The programs by CAPE-1 (Viet Hai Ha, thesis, 2012, section 2.4): at each loop the master sends each slave an image of all its
 * memory; the slave goes on from there, computes its part, and compares its memory with the image; the master merges the
 * differences into its image and goes on from that. An image here is the memory of the loops; the thesis's has the process's
 * libraries, code and stack, too.
 *
 *     mpirun -n 3 cape1 matrix 1000 */
#include "delta/delta.h"
#include "wire.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A complete checkpoint: the part to be computed, then the contents of all memories in order. */
typedef struct image {
    char *at;
    size_t bytes;
} image;

enum { HEAD = 64 }; /* bytes of the part, so that memories lie as they do in a delta */

static size_t memory_bytes(void)
{
    cape_memory memories[CAPE_MEMORIES];
    size_t bytes = 0;
    for (int k = 0, count = cape_memories(memories); k < count; k++)
        bytes += memories[k].bytes;
    return bytes;
}

static void *need(void *at)
{
    if (!at) {
        fputs("cape1: no memory\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return at;
}

static image create(wire_part part)
{
    cape_memory memories[CAPE_MEMORIES];
    const image made = {need(malloc(HEAD + memory_bytes())), HEAD + memory_bytes()};
    char *to = made.at + HEAD;
    memset(made.at, 0, HEAD);
    memcpy(made.at, &part, sizeof part);
    for (int k = 0, count = cape_memories(memories); k < count; k++) {
        memcpy(to, memories[k].at, memories[k].bytes);
        to += memories[k].bytes;
    }
    return made;
}

static wire_part restart(const image *from)
{
    cape_memory memories[CAPE_MEMORIES];
    wire_part part;
    const char *at = from->at + HEAD;
    if (from->bytes != HEAD + memory_bytes()) {
        fputs("cape1: an image of another program\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memcpy(&part, from->at, sizeof part);
    for (int k = 0, count = cape_memories(memories); k < count; k++) {
        memcpy(memories[k].at, at, memories[k].bytes);
        at += memories[k].bytes;
    }
    return part;
}

static unsigned unit_of_memory(void)
{
    cape_memory memories[CAPE_MEMORIES];
    cape_memories(memories);
    return memories[0].unit;
}

static void run_slave(const cape_program *program, long loop)
{
    wire_clock(WIRE_BEFORE);
    image before = {0};
    before.at = wire_receive(0, &before.bytes);
    const wire_part part = restart(&before);
    wire_clock(WIRE_COMPUTE);
    program->body(loop, part.first, part.end);
    wire_clock(WIRE_UPDATE);
    const image after = create(part);
    dome_delta *delta = dome__delta_new(unit_of_memory());
    dome__delta_find(delta, 0, after.at + HEAD, before.at + HEAD, before.bytes - HEAD, 0);
    size_t bytes;
    const void *records = dome__delta_records(delta, &bytes);
    wire_send(0, records, bytes);
    dome__delta_free(delta);
    free(after.at);
    free(before.at);
}

static void merge(const image *target, int slave)
{
    size_t bytes;
    void *records = wire_receive(slave, &bytes);
    dome_delta *delta = dome__delta_new(unit_of_memory());
    if (!dome__delta_set_records(delta, records, bytes, target->bytes - HEAD) ||
        !dome__delta_apply(delta, target->at + HEAD, target->bytes - HEAD, NULL)) {
        fputs("cape1: damaged differences\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    dome__delta_free(delta);
    free(records);
}

static void run_master(const cape_program *program)
{
    wire_clock(WIRE_BEFORE);
    const image target = create((wire_part){0, 0});
    for (int k = 1; k < wire_nodes(); k++) {
        const image before = create(wire_part_of(program->iterations(), k - 1, wire_nodes() - 1));
        wire_send(k, before.at, before.bytes);
        free(before.at);
    }
    wire_clock(WIRE_UPDATE);
    for (int k = 1; k < wire_nodes(); k++)
        merge(&target, k);
    restart(&target);
    free(target.at);
}

int main(int argc, char **argv)
{
    wire_begin(&argc, &argv);
    const cape_run run = cape_arguments(argc, argv);
    run.program->begin(run.size);
    for (long loop = 0; loop < run.loops; loop++)
        if (wire_node() == 0)
            run_master(run.program);
        else
            run_slave(run.program, loop);
    wire_end(&run);
    return 0;
}
