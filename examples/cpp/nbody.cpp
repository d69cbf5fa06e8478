/* Bodies that attract one another: ../nbody.c in C++, with the loops of dome.hpp. It prints the same.
 *
 *     nbody [BODIES [STEPS]] [--dome-tasks N]
 */
#include <cmath>
#include <cstdlib>
#include <dome/dome.hpp>

using dome::row;

static const double dt = 0.001, softening = 0.05;

struct attraction {
    std::array<double, 3> acceleration;
    double potential;
};

/* What all bodies give one at x. */
static attraction pull(row<const double> all, row<const double> mass, row<const double> x)
{
    attraction a = {};
    for (std::size_t j = 0; j < mass.size(); j++) {
        const double *at = &all[3 * j];
        const double d[3] = {at[0] - x[0], at[1] - x[1], at[2] - x[2]};
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening * softening;
        const double part = mass[j] / std::sqrt(square);
        a.potential -= part;
        for (std::size_t k = 0; k < 3; k++)
            a.acceleration[k] += d[k] * (part / square);
    }
    return a;
}

static void report(dome_env *env, std::int64_t step, const dvec *x, const dvec *v, const dvec *m)
{
    auto all = dome::allgather<double>(x), mass = dome::allgather<double>(m);
    auto sum = dome::sum_rows(
        [=](row<const double> x, row<const double> v, row<const double> m) {
            const double energy = m[0] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
            const double potential = m[0] * pull(all, mass, x).potential / 2; /* half to each of a pair */
            return std::array<double, 5>{{energy, potential, m[0] * x[0], m[0] * x[1], m[0] * x[2]}};
        },
        x, v, m);
    dome_print(env, "step %ld: kinetic %.9g, potential %.9g, ", long(step), sum[0], sum[1]);
    dome_print(env, "centre %.6f %.6f %.6f\n", sum[2], sum[3], sum[4]);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const long n = argc > 1 ? std::atol(argv[1]) : 1000, steps = argc > 2 ? std::atol(argv[2]) : 100;
    if (n < 1 || steps < 0)
        dome_abort(env, "usage: nbody [BODIES [STEPS]] with at least 1 body");
    dvec *x = dvec_new_with(env, "x", DOME_F64, std::uint64_t(n), DVEC_OPTIONS(.width = 3));
    dvec *v = dvec_new_like(x, "v"), *m = dvec_new(env, nullptr, DOME_F64, std::uint64_t(n));
    dscalar *done = dscalar_new(env, "steps", DOME_I64);
    dvec_random(m, 2);
    dvec_muls(m, m, 2 / double(n));
    if (!dome_is_restarting(env))
        dvec_random(x, 1);
    for (std::int64_t step = dscalar_get_i64(done); step < steps; step++) {
        if (step % 50 == 0)
            report(env, step, x, v, m);
        auto all = dome::allgather<double>(x), mass = dome::allgather<double>(m);
        dome::for_rows(
            [=](row<double> v, row<const double> x) {
                const attraction a = pull(all, mass, x);
                for (std::size_t k = 0; k < 3; k++)
                    v[k] += dt * a.acceleration[k];
            },
            v, x);
        dome::for_each([](double &x, double v) { x += dt * v; }, x, v);
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
    }
    report(env, steps, x, v, m);
    return dome_finalize(env);
}
