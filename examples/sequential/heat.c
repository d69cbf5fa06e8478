/* Heat spreading over a plate: the sequential twin of ../heat.c. */
#include "../heat_plate.h"
#include "../npy_f64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void step(const struct plate *plate, double *next, const double *u)
{
    size_t columns = plate->columns, last = plate->rows - 1;
    memset(next, 0, columns * sizeof *next);
    memset(next + last * columns, 0, columns * sizeof *next);
    for (size_t i = 1; i < last; i++) {
        const double *row = u + i * columns;
        plate_step_row(next + i * columns, row - columns, row, row + columns, columns);
    }
}

static int fail(int status, const char *text)
{
    fprintf(stderr, "heat: %s\n", text);
    return status;
}

int main(int argc, char **argv)
{
    struct plate plate = {256, 256, 500, "heat"};
    if (!plate_parse(argc, argv, &plate))
        return fail(2, "usage: heat [--rows R] [--columns C] [--steps S] [--output NAME], R and C at least 3");

    size_t n = plate.rows <= (size_t)-1 / plate.columns ? plate.rows * plate.columns : (size_t)-1;
    double *u = calloc(n, sizeof *u), *next = calloc(n, sizeof *next);
    if (!u || !next)
        return fail(1, "out of memory");
    for (size_t i = 0; i < plate.rows; i++)
        plate_warm(&plate, i, u + i * plate.columns);
    for (size_t s = 0; s < plate.steps; s++) {
        step(&plate, next, u);
        double *old = u;
        u = next;
        next = old;
    }

    char path[4096], error[NPY_ERROR];
    snprintf(path, sizeof path, "%s.npy", plate.output);
    if (!npy_write(&(npy_matrix){plate.rows, plate.columns, u}, path, error))
        return fail(1, error);
    if (!plate_picture(&plate, u))
        return fail(1, "the picture cannot be written");
    double sum = 0, highest = 0;
    for (size_t i = 0; i < n; i++) {
        sum += u[i];
        if (u[i] > highest)
            highest = u[i];
    }
    double mean = sum / (double)n;
    printf("after %zu steps: mean %.15g  %a, highest %.15g  %a\n", plate.steps, mean, mean, highest, highest);
    free(u);
    free(next);
    return 0;
}
