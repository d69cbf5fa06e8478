/* A rarefied gas that streams through a wind tunnel past a block, in the manner of Mp3d (J. D. McDonald, D. Baganoff; a program
 * of SPLASH): particles move freely through a grid of cells, and some of those that meet in a cell collide. Shared by gas.c and
 * its sequential twin. */
#ifndef GAS_TUNNEL_H
#define GAS_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELLS_ALONG = 24, CELLS_ACROSS = 14, CELLS_UP = 7, CELLS = CELLS_ALONG * CELLS_ACROSS * CELLS_UP };

struct particle {
    float x[3], v[3];
    int64_t collisions;
};

/* Sums of a cell over all steps. */
struct cell {
    int64_t particles, collisions;
    double momentum[3];
};

struct tunnel {
    size_t particles, steps;
};

/* Those of some cells that lie side by side: member[start[k]] to member[start[k + 1] - 1] are in cell first + k, in the order
 * of their numbers. */
struct members {
    size_t first, count;
    uint32_t *start, *member;
    uint16_t *cell; /* of each particle */
};

#define TUNNEL_USAGE "gas [--particles N] [--steps S]"

/* The options of TUNNEL_USAGE. False for any other argument. */
bool tunnel_parse(int argc, char **argv, struct tunnel *tunnel);

/* Memory for all particles; false if there is none. */
bool members_open(struct members *members, const struct tunnel *tunnel);
void members_close(struct members *members);

/* Puts particle number i into the tunnel. */
void tunnel_launch(size_t i, struct particle *p);

/* Moves a particle for one step. */
void tunnel_move(struct particle *p);

/* Finds the particles that are in cells first to first + count - 1. */
void tunnel_sort(const struct tunnel *tunnel, const struct particle *all, size_t first, size_t count, struct members *members);

/* Lets particles of these cells collide in a step, and adds what is in each to cells[its number]. */
void tunnel_collide(size_t step, struct particle *all, const struct members *members, struct cell *cells);

/* Prints a line about the state, with its bits, into text. */
void tunnel_tell(const struct tunnel *tunnel, const struct particle *all, const struct cell *cells, char *text, size_t bytes);

#endif
