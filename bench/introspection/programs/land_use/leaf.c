/* What a leaf gains of light and loses in the dark, in grams of a square metre and day. */
#include "land.h"

static const double MOST = 24, COLDEST = 2, BEST = 21, HOTTEST = 38;

/* It rises with light and then levels off. */
static double response_to_light(double light)
{
    return light / (light + 0.35);
}

static double response_to_temperature(double t)
{
    if (t <= COLDEST || t >= HOTTEST)
        return 0;
    return t < BEST ? 1 - square((BEST - t) / (BEST - COLDEST)) : 1 - square((t - BEST) / (HOTTEST - BEST));
}

/* Stomata close where water lacks. */
static double opening(double water)
{
    return limited(0.1 + 1.1 * water, 0, 1);
}

/* Inside of the leaf, where they are half closed. */
static double carbon_inside(double open)
{
    return open / (open + 0.25) * 1.25;
}

double leaf_assimilation(double light, double temperature, double water)
{
    return MOST * response_to_light(light) * response_to_temperature(temperature) * carbon_inside(opening(water));
}

/* It doubles with ten degrees. */
double leaf_respiration(double temperature)
{
    return 1.1 * exponential(0.0693 * (temperature - 15));
}
