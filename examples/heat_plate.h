/* A plate that is warm in the middle: shared by heat.c and its sequential twin. */
#ifndef HEAT_PLATE_H
#define HEAT_PLATE_H

#include <stdbool.h>
#include <stddef.h>

struct plate {
    size_t rows, columns, steps;
    const char *output;
};

/* Options: [--rows R] [--columns C] [--steps S] [--output NAME]. False for any other argument. */
bool plate_parse(int argc, char **argv, struct plate *plate);

/* Row i at the beginning: the middle ninth is at 100, the rest at 0. */
void plate_warm(const struct plate *plate, size_t i, double *row);

/* One step for a row that is not at the edge. */
void plate_step_row(double *next, const double *above, const double *row, const double *below, size_t columns);

/* Writes NAME.pgm. */
bool plate_picture(const struct plate *plate, const double *u);

#endif
