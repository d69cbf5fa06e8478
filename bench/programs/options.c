/* Prices of Asian options by simulation: each element is one option, each round follows some paths of every one. One map and one
 * sum a round. */
#include "program.h"

#include <math.h>

static const double start = 100, rate = 0.03, years = 1;

enum { DATES = 16 };

struct round {
    uint64_t number;
    long paths;
};

/* Adds to each option the payoffs of the paths of a round. */
static void follow(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct round *round = ctx;
    const double *before = in[0];
    double *sum = out;
    const double dt = years / DATES;
    for (size_t i = 0; i < count; i++) {
        uint64_t option = first + i;
        double strike = 80 + (double)(option % 41), volatility = 0.1 + 0.01 * (double)(option % 29);
        double trend = (rate - volatility * volatility / 2) * dt, spread = volatility * sqrt(dt);
        sum[i] = before[i];
        for (long p = 0; p < round->paths; p++) {
            double x = 0, mean = 0;
            uint64_t at = (option * (uint64_t)round->paths + (uint64_t)p) * DATES;
            for (uint64_t k = 0; k < DATES; k++) {
                double shock = program_random(round->number, at + k) * 2 - 1; /* uniform, of variance 1/3 */
                x += trend + spread * 1.7320508075688772 * shock;
                mean += start * exp(x) / DATES;
            }
            sum[i] += mean > strike ? (mean - strike) * exp(-rate * years) : 0;
        }
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    long options = 8192, paths = 16, rounds = 480;
    program_options(env, argc, argv, 3, (program_option[]){{"--options", &options}, {"--paths", &paths}, {"--rounds", &rounds}});
    dvec *sums = dvec_new(env, "sums", DOME_F64, (uint64_t)options);
    double total = 0;
    program_clock clock;
    program_begin(env, &clock);
    for (long r = 0; r < rounds; r++) {
        dvec_map(sums, follow, &(struct round){(uint64_t)r, paths}, 1, &sums);
        total = dvec_sum(sums);
    }
    program_end(env, &clock, total);
    return dome_finalize(env);
}
