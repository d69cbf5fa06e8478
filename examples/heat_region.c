/* Heat spreading over a plate, in memory that all tasks share: heat.c by regions. Each task steps some rows, and reads those next
 * to them from where other tasks have written them.
 *
 *     heat_region [--rows R] [--columns C] [--steps S] [--output NAME]     writes NAME.npy and NAME.pgm
 */
#include "heat_plate.h"
#include "npy_f64.h"

#include <dome/dome.h>
#include <stdio.h>

/* On one task. */
static void write_all(dome_env *env, const struct plate *plate, const dome_region *region)
{
    double *u = dome_region_data(region);
    char path[4096], error[NPY_ERROR];
    double sum = 0, highest = 0;
    dome_region_want(region, 0, plate->rows, false); /* the system writes it to files: it must be here */
    snprintf(path, sizeof path, "%s.npy", plate->output);
    if (!npy_write(&(npy_matrix){plate->rows, plate->columns, u}, path, error))
        dome_abort(env, "heat_region: %s", error);
    if (!plate_picture(plate, u))
        dome_abort(env, "heat_region: %s.pgm cannot be written", plate->output);
    for (size_t i = 0; i < plate->rows * plate->columns; i++) {
        sum += u[i];
        highest = u[i] > highest ? u[i] : highest;
    }
    sum /= (double)plate->rows * (double)plate->columns;
    dome_print(env, "after %zu steps: mean %.15g  %a, highest %.15g  %a\n", plate->steps, sum, sum, highest, highest);
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

    const size_t columns = plate.columns, rank = (size_t)dome_rank(env), size = (size_t)dome_size(env);
    const size_t first = plate.rows * rank / size, end = plate.rows * (rank + 1) / size;
    const dome_region_options *width = DOME_REGION_OPTIONS(.width = columns, .consistency = DOME_RELEASE);
    dome_region *regions[] = {dome_region_new(env, "u", DOME_F64, plate.rows, width),
                              dome_region_new(env, "next", DOME_F64, plate.rows, width)};
    double *u = dome_region_data(regions[0]), *next = dome_region_data(regions[1]);
    dscalar *steps = dscalar_new(env, "steps", DOME_I64);
    for (size_t i = first; i < end && !dome_is_restarting(env); i++)
        plate_warm(&plate, i, u + i * columns);
    for (int64_t n = dscalar_get_i64(steps); n < (int64_t)plate.steps; n++) {
        double *from = n % 2 == 0 ? u : next, *to = n % 2 == 0 ? next : u; /* they take turns */
        dome_barrier(env);                                                 /* all rows of the step before are there */
        for (size_t i = first; i < end; i++)
            if (i > 0 && i < plate.rows - 1)
                plate_step_row(to + i * columns, from + (i - 1) * columns, from + i * columns, from + (i + 1) * columns, columns);
        dscalar_set_i64(steps, n + 1);
        dome_progress(env, (uint64_t)n + 1, plate.steps, "steps");
        dome_checkpoint(env);
    }
    dome_barrier(env);
    if (rank == 0)
        write_all(env, &plate, regions[plate.steps % 2]);
    return dome_finalize(env);
}
