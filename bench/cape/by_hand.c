/* The programs with MPI by hand: as little as possible is exchanged. The master tells each slave its part, and gets what it has
 * written behind the last loop; slaves exchange the edges of their parts between loops. As in the thesis all nodes run the
 * sequential part, and the master computes nothing, unless a third argument behind the program's is --all.
 *
 *     mpirun -n 3 by_hand matrix 1000 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

typedef struct team {
    const cape_run *run;
    int first; /* of the nodes that compute */
    wire_part part;
} team;

static void tell_parts(team *t)
{
    const int parts = wire_nodes() - t->first;
    const long iterations = t->run->program->iterations();
    if (wire_node() > 0) {
        wire_receive_into(0, &t->part, sizeof t->part);
        return;
    }
    for (int k = 1; k < wire_nodes(); k++) {
        const wire_part part = wire_part_of(iterations, k - t->first, parts);
        wire_send(k, &part, sizeof part);
    }
    if (t->first == 0)
        t->part = wire_part_of(iterations, 0, parts);
}

/* What the neighbour reads in its next loop, and what this node reads. */
static void exchange_edge(const team *t, long loop, int neighbour)
{
    const cape_program *program = t->run->program;
    const long halo = program->halo, low = neighbour < wire_node() ? t->part.first : t->part.end - halo;
    const long other = neighbour < wire_node() ? t->part.first - halo : t->part.end;
    const cape_memory mine = program->written(loop, low, low + halo), theirs = program->written(loop, other, other + halo);
    if (wire_node() % 2 == 0)
        wire_send(neighbour, mine.at, mine.bytes);
    wire_receive_into(neighbour, theirs.at, theirs.bytes);
    if (wire_node() % 2 == 1)
        wire_send(neighbour, mine.at, mine.bytes);
}

static void exchange_edges(const team *t, long loop)
{
    const int lower = wire_node() - 1, upper = wire_node() + 1;
    const int turn = wire_node() % 2;
    for (int k = 0; k < 2; k++) {
        const int neighbour = k == turn ? upper : lower;
        if (neighbour >= t->first && neighbour < wire_nodes())
            exchange_edge(t, loop, neighbour);
    }
}

static void collect(const team *t, long loop)
{
    const cape_program *program = t->run->program;
    const cape_memory mine = program->written(loop, t->part.first, t->part.end);
    if (wire_node() > 0)
        wire_send(0, mine.at, mine.bytes);
    for (int k = 1; k < wire_nodes() && wire_node() == 0; k++) {
        const wire_part part = wire_part_of(program->iterations(), k - t->first, wire_nodes() - t->first);
        const cape_memory theirs = program->written(loop, part.first, part.end);
        wire_receive_into(k, theirs.at, theirs.bytes);
    }
}

int main(int argc, char **argv)
{
    wire_begin(&argc, &argv);
    const int all = argc > 1 && strcmp(argv[argc - 1], "--all") == 0;
    const cape_run run = cape_arguments(argc - all, argv);
    team t = {&run, all ? 0 : 1, {0, 0}};
    run.program->begin(run.size);
    wire_clock(WIRE_BEFORE);
    tell_parts(&t);
    for (long loop = 0; loop < run.loops; loop++) {
        wire_clock(WIRE_COMPUTE);
        if (wire_node() >= t.first)
            run.program->body(loop, t.part.first, t.part.end);
        wire_clock(WIRE_FINAL);
        if (loop + 1 < run.loops && wire_node() >= t.first)
            exchange_edges(&t, loop);
    }
    wire_clock(WIRE_UPDATE);
    collect(&t, run.loops - 1);
    wire_end(&run);
    return 0;
}
