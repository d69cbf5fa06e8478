/* Bodies that attract one another: the forces between all pairs, and leapfrog steps (each step kicks the velocities, then moves
 * the bodies with the new ones).
 *
 *     nbody [BODIES [STEPS]] [--dome-tasks N]
 *
 * A row of a vector is a body. Each task computes the forces on its own bodies, from the positions of all, which dvec_allgather
 * brings. Energies and the centre of mass have the same bits for any number of tasks. The program can be restarted: its state is
 * the positions, the velocities and the number of steps; the masses are made again.
 */
#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>

static const double DT = 0.001, SOFTENING = 0.05;

/* The acceleration that n bodies, all of them, give one at x; returns its potential. */
static double pull(long n, const double all[][3], const double m[], const double x[3], double a[3])
{
    double potential = 0;
    a[0] = a[1] = a[2] = 0;
    for (long j = 0; j < n; j++) {
        double d[3] = {all[j][0] - x[0], all[j][1] - x[1], all[j][2] - x[2]};
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING * SOFTENING;
        double part = m[j] / sqrt(square);
        potential -= part;
        for (int k = 0; k < 3; k++)
            a[k] += d[k] * (part / square);
    }
    return potential;
}

static void report(dome_env *env, int64_t step, dvec *x, dvec *v, dvec *m)
{
    const long n = (long)dvec_length(x);
    const double(*all)[3] = dvec_allgather(x), *mass = dvec_allgather(m);
    double sum[5], none[3];
    DVEC_FOR_ROWS_SUM (sum, i, const double, x, const double, v, const double, m) {
        sum[0] = *m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
        sum[1] = *m * pull(n, all, mass, x, none) / 2; /* half to each of a pair */
        for (int k = 0; k < 3; k++)
            sum[2 + k] = *m * x[k];
    }
    dome_print(env, "step %ld: kinetic %.9g, potential %.9g, ", (long)step, sum[0], sum[1]);
    dome_print(env, "centre %.6f %.6f %.6f\n", sum[2], sum[3], sum[4]);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const long n = argc > 1 ? atol(argv[1]) : 1000, steps = argc > 2 ? atol(argv[2]) : 100;
    if (n < 1 || steps < 0)
        dome_abort(env, "usage: nbody [BODIES [STEPS]] with at least 1 body");
    dvec *x = dvec_new_with(env, "x", DOME_F64, (uint64_t)n, DVEC_OPTIONS(.width = 3));
    dvec *v = dvec_new_like(x, "v"), *m = dvec_new(env, NULL, DOME_F64, (uint64_t)n);
    dscalar *done = dscalar_new(env, "steps", DOME_I64);
    dvec_random(m, 2);
    dvec_muls(m, m, 2 / (double)n);
    if (!dome_is_restarting(env))
        dvec_random(x, 1);
    for (int64_t step = dscalar_get_i64(done); step < steps; step++) {
        if (step % 50 == 0)
            report(env, step, x, v, m);
        const double(*all)[3] = dvec_allgather(x), *mass = dvec_allgather(m);
        DVEC_FOR_ROWS (i, double, v, const double, x) {
            double a[3];
            pull(n, all, mass, x, a);
            for (int k = 0; k < 3; k++)
                v[k] += DT * a[k];
        }
        DVEC_FOR (i, double, x, const double, v)
            x += DT * v;
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
    }
    report(env, steps, x, v, m);
    return dome_finalize(env);
}
