/* The programs by CAPE-2 (Viet Hai Ha, thesis, 2012, figure 4.4), with the incremental checkpoints of dome/delta.h: at each loop
 * the master sends each slave a checkpoint of what it has changed since the loop began: the slave's part. The slave injects it,
 * computes, and sends back a checkpoint of what it has changed itself. The master merges these and injects the result; if another
 * loop follows, it sends the result to all slaves.
 *
 *     mpirun -n 3 cape2 matrix 1000 */
#include "wire.h"

#include <dome/delta.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, NAME = 64 };

/* What the loop's counter is to a process of CAPE. */
static wire_part *part;
static char names[3][NAME];
enum { BEFORE, AFTER, OTHER };

static void fail(const char *what)
{
    fprintf(stderr, "cape2: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void need(int status)
{
    if (status < 0)
        fail(dome_delta_error());
}

static void begin_checkpoints(void)
{
    cape_memory memories[CAPE_MEMORIES];
    part = aligned_alloc(PAGE, PAGE);
    if (!part)
        fail("no memory");
    need(dome_delta_memory(part, PAGE, sizeof(long)));
    for (int k = 0, count = cape_memories(memories); k < count; k++)
        need(dome_delta_memory(memories[k].at, memories[k].bytes, memories[k].unit));
    for (int k = 0; k < 3; k++)
        snprintf(names[k], NAME, "/dev/shm/dome-cape-%d-%d", (int)getpid(), k);
}

static void end_checkpoints(void)
{
    for (int k = 0; k < 3; k++)
        unlink(names[k]);
    free(part);
}

static void *read_file(const char *name, size_t *bytes)
{
    struct stat st;
    FILE *file = fopen(name, "rb");
    if (!file || fstat(fileno(file), &st) < 0)
        fail(name);
    *bytes = (size_t)st.st_size;
    void *data = malloc(*bytes + 1);
    if (!data || fread(data, 1, *bytes, file) != *bytes)
        fail(name);
    fclose(file);
    return data;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        fail(name);
}

static void send_file(int to, const char *name)
{
    size_t bytes;
    void *data = read_file(name, &bytes);
    wire_send(to, data, bytes);
    free(data);
}

static void receive_file(int from, const char *name)
{
    size_t bytes;
    void *data = wire_receive(from, &bytes);
    write_file(name, data, bytes);
    free(data);
}

/* A save with a name other than the last one's makes a file of its own. */
static void tell_parts(long iterations)
{
    need(dome_delta_start());
    for (int k = 1; k < wire_nodes(); k++) {
        *part = wire_part_of(iterations, k - 1, wire_nodes() - 1);
        need(dome_delta_save(names[k % 2]));
        send_file(k, names[k % 2]);
    }
}

static void run_master(const cape_program *program, int last)
{
    wire_clock(WIRE_BEFORE);
    tell_parts(program->iterations());
    wire_clock(WIRE_COMPUTE);
    need(dome_delta_stop());
    wire_clock(WIRE_UPDATE);
    for (int k = 1; k < wire_nodes(); k++) {
        receive_file(k, names[k == 1 ? AFTER : OTHER]);
        if (k > 1)
            need(dome_delta_merge(names[AFTER], names[OTHER]));
    }
    need(dome_delta_inject(names[AFTER]));
    if (last)
        return;
    wire_clock(WIRE_FINAL);
    size_t bytes;
    void *final = read_file(names[AFTER], &bytes);
    wire_broadcast(&final, &bytes);
    free(final);
}

static void run_slave(const cape_program *program, long loop, int last)
{
    wire_clock(WIRE_BEFORE);
    receive_file(0, names[BEFORE]);
    need(dome_delta_inject(names[BEFORE]));
    wire_clock(WIRE_COMPUTE);
    need(dome_delta_start());
    program->body(loop, part->first, part->end);
    wire_clock(WIRE_UPDATE);
    need(dome_delta_save(names[AFTER]));
    need(dome_delta_stop());
    send_file(0, names[AFTER]);
    if (last)
        return;
    wire_clock(WIRE_FINAL);
    size_t bytes;
    void *final;
    wire_broadcast(&final, &bytes);
    write_file(names[OTHER], final, bytes);
    need(dome_delta_inject(names[OTHER]));
    free(final);
}

int main(int argc, char **argv)
{
    wire_begin(&argc, &argv);
    const cape_run run = cape_arguments(argc, argv);
    run.program->begin(run.size);
    begin_checkpoints();
    for (long loop = 0; loop < run.loops; loop++)
        if (wire_node() == 0)
            run_master(run.program, loop + 1 == run.loops);
        else
            run_slave(run.program, loop, loop + 1 == run.loops);
    wire_end(&run);
    end_checkpoints();
    return 0;
}
