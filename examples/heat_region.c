/* Heat spreading over a plate, in memory that all tasks share: heat.c by regions. Each task steps some rows, and reads those next
 * to them from where other tasks have written them. Rows begin at units, so no other row travels with one.
 *
 *     heat_region [--rows R] [--columns C] [--steps S] [--output NAME]     writes NAME.npy and NAME.pgm
 */
#include "heat_plate.h"
#include "npy_f64.h"

#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On one task. */
static void write_all(dome_env *env, const struct plate *plate, const dome_region *region)
{
    const double *rows = dome_region_data(region);
    const size_t columns = plate->columns;
    double *u = malloc(plate->rows * columns * sizeof *u), sum = 0, highest = 0;
    char path[4096], error[NPY_ERROR];
    if (!u)
        dome_abort(env, "heat_region: no memory for the rows side by side");
    dome_region_want(region, 0, plate->rows, false); /* all at once */
    for (size_t i = 0; i < plate->rows; i++)
        memcpy(u + i * columns, rows + i * dome_region_pitch(region), columns * sizeof *u);
    snprintf(path, sizeof path, "%s.npy", plate->output);
    if (!npy_write(&(npy_matrix){plate->rows, plate->columns, u}, path, error))
        dome_abort(env, "heat_region: %s", error);
    if (!plate_picture(plate, u))
        dome_abort(env, "heat_region: %s.pgm cannot be written", plate->output);
    for (size_t i = 0; i < plate->rows * plate->columns; i++) {
        sum += u[i];
        highest = u[i] > highest ? u[i] : highest;
    }
    free(u);
    sum /= (double)plate->rows * (double)plate->columns;
    dome_print(env, "after %zu steps: mean %.15g  %a, highest %.15g  %a\n", plate->steps, sum, sum, highest, highest);
}

/* The rows that this task owns. */
static void step(const struct plate *plate, const dome_region *region, double *to, const double *from)
{
    const size_t columns = plate->columns, pitch = dome_region_pitch(region);
    dome_span spans[2];
    const int count = dome_region_spans(region, spans);
    for (int s = 0; s < count; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            if (i > 0 && i < plate->rows - 1)
                plate_step_row(to + i * pitch, from + (i - 1) * pitch, from + i * pitch, from + (i + 1) * pitch, columns);
}

static void warm(const struct plate *plate, const dome_region *region)
{
    dome_span spans[2];
    const int count = dome_region_spans(region, spans);
    for (int s = 0; s < count; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            plate_warm(plate, i, (double *)dome_region_data(region) + i * dome_region_pitch(region));
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct plate plate = {256, 256, 500, "heat"};
    if (!plate_parse(argc, argv, &plate)) {
        if (dome_rank(env) == 0)
            fprintf(stderr,
                    "heat_region: usage: heat_region [--rows R] [--columns C] [--steps S] [--output NAME], R and C at least 3\n");
        dome_finalize(env);
        return 2;
    }

    const dome_region_options *options = DOME_REGION_OPTIONS(.width = plate.columns, .consistency = DOME_RELEASE, .pitched = 1);
    dome_region *regions[] = {dome_region_new(env, "u", DOME_F64, plate.rows, options),
                              dome_region_new(env, "next", DOME_F64, plate.rows, options)};
    double *u = dome_region_data(regions[0]), *next = dome_region_data(regions[1]);
    dscalar *steps = dscalar_new(env, "steps", DOME_I64);
    if (!dome_is_restarting(env))
        warm(&plate, regions[0]);
    for (int64_t n = dscalar_get_i64(steps); n < (int64_t)plate.steps; n++) {
        dome_barrier(env); /* all rows of the step before are there */
        step(&plate, regions[0], n % 2 == 0 ? next : u, n % 2 == 0 ? u : next);
        dscalar_set_i64(steps, n + 1);
        dome_progress(env, (uint64_t)n + 1, plate.steps, "steps");
        dome_checkpoint(env);
    }
    dome_barrier(env);
    if (dome_rank(env) == 0)
        write_all(env, &plate, regions[plate.steps % 2]);
    return dome_finalize(env);
}
