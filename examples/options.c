/* The price of an Asian call option by simulation: the mean of the discounted payoffs of random paths, and its standard error.
 *
 *     options [PATHS [ROUNDS]] [--dome-tasks N]
 *
 * Each round follows as many paths. A path's random numbers depend on the round and on the path alone, so the price has the same
 * bits for any number of tasks. The program can be restarted: three scalars are its state.
 */
#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>

enum { DATES = 16 };
static const double start = 100, strike = 100, rate = 0.03, volatility = 0.2, years = 1;

static double payoff(const double random[DATES])
{
    const double dt = years / DATES;
    double x = 0, mean = 0;
    for (int k = 0; k < DATES; k++) { /* uniform shocks of variance 1 */
        x += (rate - volatility * volatility / 2) * dt + volatility * sqrt(3 * dt) * (2 * random[k] - 1);
        mean += start * exp(x) / DATES;
    }
    return fmax(mean - strike, 0) * exp(-rate * years);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long paths = argc > 1 ? atol(argv[1]) : 100000, rounds = argc > 2 ? atol(argv[2]) : 10;
    if (paths < 1 || rounds < 1)
        dome_abort(env, "usage: options [PATHS [ROUNDS]]");
    dvec *random = dvec_new_with(env, NULL, DOME_F64, (uint64_t)paths, DVEC_OPTIONS(.width = DATES));
    dscalar *sum = dscalar_new(env, "sum", DOME_F64), *squares = dscalar_new(env, "squares", DOME_F64);
    dscalar *done = dscalar_new(env, "rounds", DOME_I64);
    for (int64_t round = dscalar_get_i64(done); round < rounds; round++) {
        dvec_random(random, (uint64_t)round);
        double part[2];
        DVEC_FOR_ROWS_SUM (part, i, const double, random) {
            part[0] = payoff(random);
            part[1] = part[0] * part[0];
        }
        dscalar_set_f64(sum, dscalar_get_f64(sum) + part[0]);
        dscalar_set_f64(squares, dscalar_get_f64(squares) + part[1]);
        dscalar_set_i64(done, round + 1);
        dome_checkpoint(env);
    }
    double n = (double)paths * (double)rounds, price = dscalar_get_f64(sum) / n;
    dome_print(env, "price %.6f, standard error %.6f\n", price, sqrt((dscalar_get_f64(squares) / n - price * price) / n));
    return dome_finalize(env);
}
