/* A wave in a cube: the three-dimensional wave equation by an explicit scheme, with edges fixed at 0. An element of a vector is a
 * plane of the cube; each step needs the planes next to a task's own. The program can be restarted.
 *
 *     wave [SIDE [STEPS]] [--dome-tasks N]
 */
#include "wave_cube.h"

#include <dome/dome.h>
#include <stdlib.h>

static void step(void *ctx, uint64_t index, void *old, const void *const u[])
{
    (void)index;
    if (u[0] && u[2]) /* the planes at the ends stay */
        wave_step(old, u[0], u[1], u[2], *(const size_t *)ctx);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long side = argc > 1 ? atol(argv[1]) : 96, steps = argc > 2 ? atol(argv[2]) : 200;
    if (side < 3 || side > 2000 || steps < 0)
        dome_abort(env, "usage: wave [SIDE [STEPS]] with a side of 3 to 2000");
    size_t n = (size_t)side;
    dvec *u = dvec_new_with(env, "u", DOME_F64, n, DVEC_OPTIONS(.width = n * n)), *old = dvec_new_like(u, "old");
    dscalar *done = dscalar_new(env, "steps", DOME_I64);
    if (!dome_is_restarting(env)) {
        DVEC_FOR_ROWS (i, double, u)
            wave_pluck(u, (size_t)i, n);
        dvec_copy(old, u);
    }
    for (int64_t s = dscalar_get_i64(done); s < steps; s++) {
        dvec_stencil(s % 2 ? u : old, step, &n, s % 2 ? old : u, 1, 1, false); /* they take turns */
        dscalar_set_i64(done, s + 1);
        dome_checkpoint(env);
    }
    u = steps % 2 ? old : u;
    dome_print(env, "after %ld steps: sum of squares %.9g, largest %.9g\n", steps, dvec_dot(u, u), dvec_max_value(u));
    return dome_finalize(env);
}
