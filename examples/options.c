/* The price of an Asian call option by simulation: the mean of the discounted payoffs of random paths, and its standard error.
 *
 *     options [PATHS [ROUNDS]] [--dome-tasks N]
 *
 * Each round follows as many paths. A path's random numbers depend on the round and on the path alone, so the price has the same
 * bits for any number of tasks.
 */
#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>

enum { DATES = 16 };
static const double start = 100, strike = 100, rate = 0.03, volatility = 0.2, years = 1;

static void follow(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double dt = years / DATES, *random = in[0];
    (void)ctx, (void)first;
    for (double *payoff = out; count-- > 0; payoff++) {
        double x = 0, mean = 0;
        for (int k = 0; k < DATES; k++, random++) { /* uniform shocks of variance 1 */
            x += (rate - volatility * volatility / 2) * dt + volatility * sqrt(3 * dt) * (2 * *random - 1);
            mean += start * exp(x) / DATES;
        }
        *payoff = fmax(mean - strike, 0) * exp(-rate * years);
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long paths = argc > 1 ? atol(argv[1]) : 100000, rounds = argc > 2 ? atol(argv[2]) : 10;
    if (paths < 1 || rounds < 1)
        dome_abort(env, "usage: options [PATHS [ROUNDS]]");
    dvec *random = dvec_new_with(env, "random", DOME_F64, (uint64_t)paths, DVEC_OPTIONS(.width = DATES));
    dvec *payoff = dvec_new(env, "payoff", DOME_F64, (uint64_t)paths);
    double sum = 0, squares = 0, n = (double)paths * (double)rounds;
    for (long round = 0; round < rounds; round++) {
        dvec_random(random, (uint64_t)round);
        dvec_map(payoff, follow, NULL, 1, &random);
        sum += dvec_sum(payoff);
        squares += dvec_dot(payoff, payoff);
    }
    dome_print(env, "price %.6f, standard error %.6f\n", sum / n, sqrt((squares / n - sum / n * (sum / n)) / n));
    return dome_finalize(env);
}
