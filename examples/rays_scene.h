/* Mirrored balls over a floor of squares: shared by rays.c and its sequential twin. */
#ifndef RAYS_SCENE_H
#define RAYS_SCENE_H

#include <stdbool.h>
#include <stddef.h>

struct scene {
    size_t columns, rows;
    const char *output;
};

/* Options: [--columns C] [--rows R] [--output NAME]. False for any other argument. */
bool scene_parse(int argc, char **argv, struct scene *scene);

/* Computes the grey values of a row. Rows with balls take longer than others. */
void scene_row(const struct scene *scene, size_t row, unsigned char *grey);

/* Writes NAME.pgm, and returns the sum of the values; -1: it cannot be written. */
long scene_write(const struct scene *scene, const unsigned char *grey);

#endif
