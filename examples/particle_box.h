/* Particles in a periodic box that attract one another and gather in clumps: shared by particles.c and its sequential
 * twin. Positions, velocities and random numbers are pairs. */
#ifndef PARTICLE_BOX_H
#define PARTICLE_BOX_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct box {
    size_t particles, steps, side; /* side * side cells of length 1 */
    size_t *start;                 /* where the particles of each cell begin in x and y, and where the last ones end */
    double *x, *y;                 /* positions in the box, by cell */
    uint32_t *cell;                /* of each particle */
};

/* The contributions of the other particles to one: the force on it, the energy of all its pairs, and how many are near. */
struct surroundings {
    double fx, fy, potential, neighbours;
};

/* Options: [--particles N] [--steps S]. False for any other argument. */
bool box_parse(int argc, char **argv, struct box *box);
extern const char box_usage[];

/* Allocates room for `particles`; false if there is no memory. */
bool box_open(struct box *box);
void box_close(struct box *box);

/* A particle's velocity and position at the beginning, from random numbers in [0, 1). */
void box_launch(const struct box *box, size_t particle, const double *random, double *v);
void box_place(const struct box *box, size_t particle, const double *random, double *x);

/* Sorts all particles into cells. */
void box_sort(struct box *box, const double *x);

/* The surroundings of a particle at x. */
struct surroundings box_look_around(const struct box *box, const double *x);

/* A step: first the velocity after it, then each coordinate. */
void box_kick(const struct box *box, const double *x, const double *old, double *v);
double box_drift(const struct box *box, double old, double v);

/* Energies are rounded to multiples of 2^-30: then sums are exact in any order. */
double box_kinetic(const double *v);
double box_potential(const struct surroundings *around);

/* A number whose sum over coordinates changes with any bit of them. */
uint64_t box_mix(double x);

#endif
