/* The weather of a year by months. */
#include "land.h"

static const double mean_temperatures[MONTHS] = {-1, 0.5, 4.5, 9, 13.5, 17, 19, 18.5, 14.5, 9.5, 4, 0.5};
static const double mean_rains[MONTHS] = {58, 48, 52, 50, 66, 74, 78, 72, 60, 54, 60, 64};
static const double mean_lights[MONTHS] = {0.2, 0.32, 0.5, 0.7, 0.88, 1, 0.96, 0.84, 0.62, 0.4, 0.24, 0.17};
static const double DEGREES_A_METRE = 0.0065, WARMING_A_YEAR = 0.03;

void climate_begin(struct climate *climate)
{
    climate->warming = 0;
    climate->wetness = 1;
    climate_next_year(climate);
}

static double month_temperature(const struct climate *climate, int month)
{
    return mean_temperatures[month] + climate->warming + 0.8 * random_normal();
}

static double month_rain(const struct climate *climate, int month)
{
    return larger(0, mean_rains[month] * climate->wetness * (1 + 0.35 * random_normal()));
}

static double month_light(double rain, int month)
{
    return mean_lights[month] * limited(1.15 - rain / 400, 0.7, 1.1);
}

/* Wet and dry years come in rows. */
static double next_wetness(double wetness)
{
    return limited(mixed(1, wetness, 0.5) + 0.12 * random_normal(), 0.5, 1.5);
}

void climate_next_year(struct climate *climate)
{
    climate->warming += WARMING_A_YEAR;
    climate->wetness = next_wetness(climate->wetness);
    for (int m = 0; m < MONTHS; m++) {
        struct month *month = &climate->months[m];
        month->temperature = month_temperature(climate, m);
        month->rain = month_rain(climate, m);
        month->light = month_light(month->rain, m);
    }
}

double climate_temperature(const struct month *month, const struct cell *cell)
{
    return month->temperature - DEGREES_A_METRE * (cell->elevation - 300);
}

double climate_light(const struct month *month, const struct cell *cell)
{
    return limited(month->light * cell->sun, 0, 1.2);
}

bool climate_freezes(const struct month *month, const struct cell *cell)
{
    return climate_temperature(month, cell) < 0;
}

double climate_mean_temperature(const struct climate *climate)
{
    double sum = 0;
    for (int m = 0; m < MONTHS; m++)
        sum += climate->months[m].temperature;
    return sum / MONTHS;
}

double climate_year_rain(const struct climate *climate)
{
    double sum = 0;
    for (int m = 0; m < MONTHS; m++)
        sum += climate->months[m].rain;
    return sum;
}
