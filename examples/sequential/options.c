/* The price of an Asian call option by simulation: the sequential twin of ../options.c. */
#include "../random_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATES = 16 };
static const double start = 100, strike = 100, rate = 0.03, volatility = 0.2, years = 1;

static double follow(uint64_t round, uint64_t path)
{
    const double dt = years / DATES;
    double x = 0, mean = 0;
    for (uint64_t k = 0; k < DATES; k++) { /* uniform shocks of variance 1 */
        x += (rate - volatility * volatility / 2) * dt +
             volatility * sqrt(3 * dt) * (2 * random_number(round, path * DATES + k) - 1);
        mean += start * exp(x) / DATES;
    }
    return fmax(mean - strike, 0) * exp(-rate * years);
}

int main(int argc, char **argv)
{
    long paths = argc > 1 ? atol(argv[1]) : 100000, rounds = argc > 2 ? atol(argv[2]) : 10;
    if (paths < 1 || rounds < 1) {
        fprintf(stderr, "usage: options [PATHS [ROUNDS]]\n");
        return 1;
    }
    double sum = 0, squares = 0, n = (double)paths * (double)rounds;
    for (long round = 0; round < rounds; round++)
        for (long path = 0; path < paths; path++) {
            double payoff = follow((uint64_t)round, (uint64_t)path);
            sum += payoff;
            squares += payoff * payoff;
        }
    printf("price %.6f, standard error %.6f\n", sum / n, sqrt((squares / n - sum / n * (sum / n)) / n));
    return 0;
}
