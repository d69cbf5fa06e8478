/* Particles in a box that attract one another and gather in clumps. The work for a particle grows with the number of its
 * neighbours, which is 10 times and more higher in a clump than in the thin gas around, and changes as clouds draw together, meet
 * and fly apart.
 *
 *     particles [--particles N] [--steps S]
 *
 * In each step every task sorts all particles into cells, which is little work, and computes the forces on its own. */
#include "particle_box.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct energies {
    double kinetic, potential;
};

static struct energies report(dome_env *env, struct box *box, size_t step, dvec *x, dvec *v, dvec *neighbours)
{
    double sum[3];
    DVEC_FOR_ROWS_SUM (sum, i, double, neighbours, const double, x, const double, v) {
        const struct surroundings around = box_look_around(box, x);
        *neighbours = around.neighbours;
        sum[0] = box_kinetic(v);
        sum[1] = box_potential(&around);
        sum[2] = around.neighbours;
    }
    dome_print(env, "step %zu: kinetic %.9g, potential %.9g, neighbours %.6g on average, %g at most\n", step, sum[0], sum[1],
               sum[2] / (double)box->particles, dvec_max_value(neighbours));
    return (struct energies){sum[0], sum[1]};
}

static int show_usage(dome_env *env, bool wanted)
{
    if (dome_rank(env) == 0)
        fprintf(wanted ? stdout : stderr, "%s%s", wanted ? "" : "particles: ", box_usage);
    dome_finalize(env);
    return wanted ? 0 : 2;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct box box = {.particles = 8192, .steps = 400};
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return show_usage(env, true);
    if (!box_parse(argc, argv, &box))
        return show_usage(env, false);
    if (!box_open(&box))
        dome_abort(env, "particles: not enough memory for %zu particles", box.particles);

    size_t n = box.particles;
    dvec *x = dvec_new_with(env, "x", DOME_F64, n, DVEC_OPTIONS(.width = 2)), *v = dvec_new_like(x, "v");
    dscalar *at = dscalar_new(env, "step", DOME_I64);
    /* scratch, without a name: checkpoints need not have it */
    dvec *neighbours = dvec_new(env, NULL, DOME_F64, n);
    dvec *bits = dvec_new_with(env, NULL, DOME_I64, n, DVEC_OPTIONS(.width = 2));
    if (!dome_is_restarting(env)) {
        dvec_random(x, 1);
        DVEC_FOR_ROWS (i, double, v, const double, x)
            box_launch(&box, (size_t)i, x, v);
        DVEC_FOR_ROWS (i, double, x)
            box_place(&box, (size_t)i, x, x);
    }

    size_t often = box.steps >= 10 ? box.steps / 10 : 1;
    struct energies energies = {0};
    for (size_t step = (size_t)dscalar_get_i64(at);; step++) {
        box_sort(&box, dvec_allgather(x));
        if (step % often == 0 || step >= box.steps)
            energies = report(env, &box, step, x, v, neighbours);
        if (step >= box.steps)
            break;
        DVEC_FOR_ROWS (i, double, v, const double, x)
            box_kick(&box, x, v, v);
        DVEC_FOR (i, double, x, const double, v)
            x = box_drift(&box, x, v);
        dscalar_set_i64(at, (int64_t)step + 1);
        dome_checkpoint(env);
    }

    DVEC_FOR (i, int64_t, bits, const double, x)
        bits = (int64_t)box_mix(x);
    dome_print(env, "after %zu steps: kinetic %.15g  %a, potential %.15g  %a, positions %" PRIx64 "\n", box.steps,
               energies.kinetic, energies.kinetic, energies.potential, energies.potential, (uint64_t)dvec_sum_i64(bits));
    box_close(&box);
    return dome_finalize(env);
}
