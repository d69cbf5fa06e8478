/* Heat spreading over a plate: the two-dimensional heat equation, explicit scheme. The edge of the plate is kept at 0, the middle
 * ninth of it starts at 100. The rows are spread over the tasks; each step needs the rows next to the own ones.
 *
 *     heat [--rows R] [--columns C] [--steps S] [--output NAME]     writes NAME.npy and NAME.pgm
 */
#include "heat_plate.h"

#include <dome/dome.h>
#include <stdio.h>
#include <string.h>

static void set_up(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct plate *plate = ctx;
    (void)in;
    for (size_t i = 0; i < count; i++)
        plate_warm(plate, first + i, (double *)out + i * plate->columns);
}

static void step(void *ctx, uint64_t row, void *next, const void *const u[])
{
    const struct plate *plate = ctx;
    (void)row;
    if (u[0] && u[2])
        plate_step_row(next, u[0], u[1], u[2], plate->columns);
    else
        memset(next, 0, plate->columns * sizeof(double));
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct plate plate = {256, 256, 500, "heat"};
    if (!plate_parse(argc, argv, &plate)) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "heat: usage: heat [--rows R] [--columns C] [--steps S] [--output NAME], R and C at least 3\n");
        dome_finalize(env);
        return 2;
    }

    dvec *u = dvec_new_with(env, "u", DOME_F64, plate.rows, DVEC_OPTIONS(.width = plate.columns));
    dvec *next = dvec_new_like(u, "next");
    dscalar *steps = dscalar_new(env, "steps", DOME_I64);
    if (!dome_is_restarting(env))
        dvec_map(u, set_up, &plate, 0, NULL);
    for (int64_t n = dscalar_get_i64(steps); n < (int64_t)plate.steps; n++) {
        dvec_stencil(n % 2 == 0 ? next : u, step, &plate, n % 2 == 0 ? u : next, 1, 1, false); /* they take turns */
        dscalar_set_i64(steps, n + 1);
        dome_progress(env, (uint64_t)n + 1, plate.steps, "steps");
        dome_checkpoint(env);
    }
    if (plate.steps % 2 == 1)
        u = next;

    char path[4096];
    snprintf(path, sizeof path, "%s.npy", plate.output);
    dvec_write(u, path);
    const double *all = dvec_allgather(u);
    if (dome_rank(env) == 0 && !plate_picture(&plate, all))
        dome_abort(env, "heat: %s.pgm cannot be written", plate.output);
    double mean = dvec_sum(u) / ((double)plate.rows * (double)plate.columns), highest = dvec_max_value(u);
    dome_print(env, "after %zu steps: mean %.15g  %a, highest %.15g  %a\n", plate.steps, mean, mean, highest, highest);
    return dome_finalize(env);
}
