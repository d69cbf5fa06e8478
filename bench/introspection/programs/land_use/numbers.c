/* Random numbers and small functions of numbers. */
#include "land.h"

static uint64_t random_state;

void random_begin(uint64_t seed)
{
    random_state = seed * 2654435769u + 88172645463325252u;
}

uint32_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

double random_uniform(void)
{
    return random_bits() / 4294967296.0;
}

int random_below(int most)
{
    return (int)(random_uniform() * most);
}

double random_between(double low, double high)
{
    return mixed(low, high, random_uniform());
}

/* Of mean 0 and deviation 1, nearly normal. */
double random_normal(void)
{
    double sum = 0;
    for (int k = 0; k < 12; k++)
        sum += random_uniform();
    return sum - 6;
}

bool random_chance(double probability)
{
    return random_uniform() < probability;
}

double smaller(double a, double b)
{
    return a < b ? a : b;
}

double larger(double a, double b)
{
    return a > b ? a : b;
}

double limited(double value, double low, double high)
{
    return smaller(larger(value, low), high);
}

double square(double value)
{
    return value * value;
}

/* a for part 0, b for part 1. */
double mixed(double a, double b, double part)
{
    return a + (b - a) * part;
}

/* e to the power x, with a relative error below 1e-6: (e to the power x / 64) to the power 64. */
double exponential(double x)
{
    const double y = limited(x, -40, 40) / 64;
    double e = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4)));
    for (int k = 0; k < 6; k++)
        e = square(e);
    return e;
}
