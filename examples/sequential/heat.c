/* Heat spreading over a plate: the sequential twin of ../heat.c. */
#include "../npy_f64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plate {
    size_t rows, columns, steps;
    const char *output;
};

static void set_up(const struct plate *plate, double *u)
{
    size_t rows = plate->rows, columns = plate->columns;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            *u++ = i >= rows / 3 && i < rows - rows / 3 && k >= columns / 3 && k < columns - columns / 3 ? 100 : 0;
}

/* One step for a row that is not at the edge. */
static void step_row(double *next, const double *above, const double *row, const double *below, size_t columns)
{
    next[0] = next[columns - 1] = 0;
    for (size_t k = 1; k + 1 < columns; k++)
        next[k] = row[k] + 0.2 * (above[k] + below[k] + row[k - 1] + row[k + 1] - 4 * row[k]);
}

static void step(const struct plate *plate, double *next, const double *u)
{
    size_t columns = plate->columns, last = plate->rows - 1;
    memset(next, 0, columns * sizeof *next);
    memset(next + last * columns, 0, columns * sizeof *next);
    for (size_t i = 1; i < last; i++) {
        const double *row = u + i * columns;
        step_row(next + i * columns, row - columns, row, row + columns, columns);
    }
}

static bool write_picture(const struct plate *plate, const double *u)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.pgm", plate->output);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    fprintf(file, "P5\n%zu %zu\n255\n", plate->columns, plate->rows);
    for (size_t i = 0; i < plate->rows * plate->columns; i++)
        fputc((int)(u[i] * 2.55 + 0.5), file);
    bool failed = ferror(file);
    return fclose(file) == 0 && !failed;
}

static bool parse(int argc, char **argv, struct plate *plate)
{
    for (int i = 1; i < argc; i += 2) {
        char *end = "";
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--rows") == 0)
            plate->rows = strtoul(argv[i + 1], &end, 10);
        else if (strcmp(argv[i], "--columns") == 0)
            plate->columns = strtoul(argv[i + 1], &end, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            plate->steps = strtoul(argv[i + 1], &end, 10);
        else if (strcmp(argv[i], "--output") == 0)
            plate->output = argv[i + 1];
        else
            return false;
        if (*end || (argv[i + 1][0] == '-' && plate->output != argv[i + 1]))
            return false;
    }
    return plate->rows >= 3 && plate->columns >= 3 && strlen(plate->output) < 4000;
}

static int fail(int status, const char *text)
{
    fprintf(stderr, "heat: %s\n", text);
    return status;
}

int main(int argc, char **argv)
{
    struct plate plate = {256, 256, 500, "heat"};
    if (!parse(argc, argv, &plate))
        return fail(2, "usage: heat [--rows R] [--columns C] [--steps S] [--output NAME], R and C at least 3");

    size_t n = plate.rows <= (size_t)-1 / plate.columns ? plate.rows * plate.columns : (size_t)-1;
    double *u = calloc(n, sizeof *u), *next = calloc(n, sizeof *next);
    if (!u || !next)
        return fail(1, "out of memory");
    set_up(&plate, u);
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
    if (!write_picture(&plate, u))
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
