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

/* Velocities and positions from random numbers in [0, 1). */
static void launch(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    for (size_t i = 0; i < count; i++)
        box_launch(ctx, first + i, (const double *)in[0] + 2 * i, (double *)out + 2 * i);
}

static void place(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    for (size_t i = 0; i < count; i++)
        box_place(ctx, first + i, (const double *)in[0] + 2 * i, (double *)out + 2 * i);
}

/* New velocities from old ones and positions. */
static void kick(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *old = in[0], *x = in[1];
    (void)first;
    for (size_t i = 0; i < count; i++)
        box_kick(ctx, x + 2 * i, old + 2 * i, (double *)out + 2 * i);
}

static void drift(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *old = in[0], *v = in[1];
    double *x = out;
    (void)first;
    for (size_t k = 0; k < 2 * count; k++)
        x[k] = box_drift(ctx, old[k], v[k]);
}

static void kinetic(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *energy = out;
    (void)ctx, (void)first;
    for (size_t i = 0; i < count; i++)
        energy[i] = box_kinetic((const double *)in[0] + 2 * i);
}

static void potential(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *energy = out;
    (void)first;
    for (size_t i = 0; i < count; i++) {
        struct surroundings around = box_look_around(ctx, (const double *)in[0] + 2 * i);
        energy[i] = box_potential(&around);
    }
}

static void neighbours(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *number = out;
    (void)first;
    for (size_t i = 0; i < count; i++)
        number[i] = box_look_around(ctx, (const double *)in[0] + 2 * i).neighbours;
}

static void mix(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    int64_t *number = out;
    (void)ctx, (void)first;
    for (size_t k = 0; k < 2 * count; k++)
        number[k] = (int64_t)box_mix(x[k]);
}

static struct energies report(dome_env *env, struct box *box, size_t step, dvec *x, dvec *v, dvec *each)
{
    struct energies energies;
    dvec_map(each, kinetic, NULL, 1, &v);
    energies.kinetic = dvec_sum(each);
    dvec_map(each, potential, box, 1, &x);
    energies.potential = dvec_sum(each);
    dvec_map(each, neighbours, box, 1, &x);
    double mean = dvec_sum(each) / (double)box->particles;
    dome_print(env, "step %zu: kinetic %.9g, potential %.9g, neighbours %.6g on average, %g at most\n", step, energies.kinetic,
               energies.potential, mean, dvec_max_value(each));
    return energies;
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
    dvec *each = dvec_new(env, NULL, DOME_F64, n), *bits = dvec_new_with(env, NULL, DOME_I64, n, DVEC_OPTIONS(.width = 2));
    if (!dome_is_restarting(env)) {
        dvec_random(x, 1);
        dvec_map(v, launch, &box, 1, &x);
        dvec_map(x, place, &box, 1, &x);
    }

    size_t often = box.steps >= 10 ? box.steps / 10 : 1;
    struct energies energies = {0};
    for (size_t step = (size_t)dscalar_get_i64(at);; step++) {
        box_sort(&box, dvec_allgather(x));
        if (step % often == 0 || step >= box.steps)
            energies = report(env, &box, step, x, v, each);
        if (step >= box.steps)
            break;
        dvec_map(v, kick, &box, 2, (dvec *[]){v, x});
        dvec_map(x, drift, &box, 2, (dvec *[]){x, v});
        dscalar_set_i64(at, (int64_t)step + 1);
        dome_checkpoint(env);
    }

    dvec_map(bits, mix, NULL, 1, &x);
    dome_print(env, "after %zu steps: kinetic %.15g  %a, potential %.15g  %a, positions %" PRIx64 "\n", box.steps,
               energies.kinetic, energies.kinetic, energies.potential, energies.potential, (uint64_t)dvec_sum_i64(bits));
    box_close(&box);
    return dome_finalize(env);
}
