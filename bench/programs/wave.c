/* A wave in a cube: the three-dimensional wave equation, explicit scheme, edges fixed at 0. An element is a plane of the cube;
 * each step needs the planes next to the own ones. The energy is summed every EVERY steps. The example wave, to be measured. */
#include "../../examples/wave_cube.h"
#include "program.h"

enum { EVERY = 50 };

static void pluck(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const size_t n = *(const size_t *)ctx;
    (void)in;
    for (size_t i = 0; i < count; i++)
        wave_pluck((double *)out + i * n * n, first + i, n);
}

static void step(dvec *old, dvec *u, size_t n)
{
    dvec_halo_span from[2];
    dvec_span to[2];
    dvec_halo_elements(u, 1, 1, false, from);
    dvec_local_spans(old, to);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < to[s].count; i++) {
            const double *plane = (const double *)from[s].local.data + i * n * n;
            size_t index = (size_t)to[s].first + i;
            if (index > 0 && index + 1 < n)
                wave_step((double *)to[s].data + i * n * n, i > 0 ? plane - n * n : from[s].below, plane,
                          i + 1 < to[s].count ? plane + n * n : from[s].above, n);
        }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long side = 128, steps = 1200;
    program_options(env, argc, argv, 2, (program_option[]){{"--side", &side}, {"--steps", &steps}});
    size_t n = (size_t)side;
    dvec *u = dvec_new_with(env, "u", DOME_F64, n, DVEC_OPTIONS(.width = n * n)), *old = dvec_new_like(u, "old");
    dvec_map(u, pluck, &n, 0, NULL);
    dvec_map(old, pluck, &n, 0, NULL);

    double energy = 0;
    program_clock clock;
    program_begin(env, &clock);
    for (long s = 1; s <= steps; s++) {
        step(old, u, n);
        dvec *swap = old;
        old = u;
        u = swap;
        if (s % EVERY == 0 || s == steps)
            energy = dvec_dot(u, u);
    }
    program_end(env, &clock, energy);
    return dome_finalize(env);
}
