/* Mirrored balls over a floor of squares: shared by rays.c and its sequential twin. */
#ifndef RAYS_SCENE_H
#define RAYS_SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct scene {
    size_t columns, rows;
    size_t samples; /* rays through a pixel, in rows and in columns: their mean smooths edges */
    size_t batch;   /* rows between two loop boundaries; 0: a quarter of all. The sequential twin has none. */
    const char *output;
};

#define SCENE_USAGE "rays [--columns C] [--rows R] [--samples S] [--batch ROWS] [--output NAME]"

/* The options of SCENE_USAGE. False for any other argument. */
bool scene_parse(int argc, char **argv, struct scene *scene);

/* Computes the grey values of a row. Rows with balls take longer than others. */
void scene_row(const struct scene *scene, size_t row, unsigned char *grey);

/* Writes NAME.pgm, and returns the sum of the values; -1: it cannot be written. */
long scene_write(const struct scene *scene, const unsigned char *grey);

#endif
