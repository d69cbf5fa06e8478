#include "heat_plate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plate_parse(int argc, char **argv, struct plate *plate)
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

void plate_warm(const struct plate *plate, size_t i, double *row)
{
    size_t rows = plate->rows, columns = plate->columns;
    for (size_t k = 0; k < columns; k++)
        row[k] = i >= rows / 3 && i < rows - rows / 3 && k >= columns / 3 && k < columns - columns / 3 ? 100 : 0;
}

void plate_step_row(double *next, const double *above, const double *row, const double *below, size_t columns)
{
    next[0] = next[columns - 1] = 0;
    for (size_t k = 1; k + 1 < columns; k++)
        next[k] = row[k] + 0.2 * (above[k] + below[k] + row[k - 1] + row[k + 1] - 4 * row[k]);
}

bool plate_picture(const struct plate *plate, const double *u)
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
