/* The wave equation in a cube of n * n * n cells, a plane of n * n cells at a time: what wave.c, its
 * sequential twin and bench/programs/wave.c share. */
#ifndef WAVE_CUBE_H
#define WAVE_CUBE_H

#include <stddef.h>

/* Sets a plane of the cube to the wave at the beginning: a bump, and 0 at the edges. */
void wave_pluck(double *plane, size_t index, size_t n);

/* Replaces the wave of the step before last in a plane by that of the next step. below, u, above: the last step's wave in this
 * plane and in those beside it. The edges stay. */
void wave_step(double *restrict old, const double *below, const double *u, const double *above, size_t n);

#endif
