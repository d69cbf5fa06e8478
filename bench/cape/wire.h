/* Messages between the nodes of CAPE and of MPI by hand, counted, and the clock of the thesis's phases (section 4.5.2). Node 0 is
 * the master. A failure of MPI ends the program. */
#ifndef BENCH_CAPE_WIRE_H
#define BENCH_CAPE_WIRE_H

#include "programs.h"

typedef enum wire_phase {
    WIRE_INIT,    /* up to the first loop */
    WIRE_BEFORE,  /* the parts are told: master sends, slaves wait and receive */
    WIRE_COMPUTE, /* slaves: the loop; master: its last checkpoint */
    WIRE_UPDATE,  /* results reach the master */
    WIRE_FINAL,   /* and all slaves, where a loop follows */
    WIRE_PHASES
} wire_phase;

void wire_begin(int *argc, char ***argv);
int wire_node(void);
int wire_nodes(void);

/* From now on the time belongs to this phase. */
void wire_clock(wire_phase phase);

void wire_send(int to, const void *data, size_t bytes);

/* The next message of a node; free'd by the caller. _into: it has so many bytes. Both look every 20 us, so that a waiting node
 * leaves its processor to nodes that compute. */
void *wire_receive(int from, size_t *bytes);
void wire_receive_into(int from, void *data, size_t bytes);

/* From the master to all, by a binomial tree. *data and *bytes are set on the others; free'd by the caller. */
void wire_broadcast(void **data, size_t *bytes);

/* The iterations of a part, of so many parts. */
typedef struct wire_part {
    long first, end;
} wire_part;
wire_part wire_part_of(long iterations, int part, int parts);

/* Counts all nodes' messages; the master prints a line of the result, the seconds and the phases. */
void wire_end(const cape_run *run);

#endif
