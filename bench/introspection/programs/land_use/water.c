/* The water of a cell in a month: snow, rain, what evaporates, and what plants get. */
#include "land.h"

static double snow_melts(const struct cell *cell, double temperature)
{
    return limited(40 * temperature, 0, cell->snow);
}

static void let_snow(struct cell *cell, double rain)
{
    cell->snow += rain;
}

static double melt(struct cell *cell, double temperature)
{
    const double melted = snow_melts(cell, temperature);
    cell->snow -= melted;
    return melted;
}

/* What leaves hold back and the air takes again. */
static double intercepted(const struct cell *cell, double rain)
{
    return smaller(rain, 2.5 * cell->plants.leaf_area);
}

/* What comes to the ground. */
static double arriving(struct cell *cell, const struct month *month)
{
    if (climate_freezes(month, cell)) {
        let_snow(cell, month->rain);
        return 0;
    }
    return month->rain - intercepted(cell, month->rain) + melt(cell, climate_temperature(month, cell));
}

/* mm that the air could take in this month. */
static double thirst_of_air(const struct cell *cell, const struct month *month)
{
    const double t = climate_temperature(month, cell);
    return t <= 0 ? 0 : 7 * t * climate_light(month, cell);
}

static double from_the_ground(const struct cell *cell, double thirst)
{
    return 0.3 * thirst * canopy_shade(&cell->plants);
}

static double wanted_by_plants(const struct cell *cell, double thirst)
{
    return 0.9 * thirst * (1 - canopy_shade(&cell->plants));
}

/* How much of the water that they want plants get: 0 to 1. */
double water_month(struct cell *cell, const struct month *month)
{
    const double thirst = thirst_of_air(cell, month);
    soil_add(&cell->soil, arriving(cell, month));
    soil_take(&cell->soil, from_the_ground(cell, thirst));
    const double wanted = wanted_by_plants(cell, thirst);
    if (wanted <= 0)
        return 1;
    return soil_take(&cell->soil, wanted) / wanted;
}
