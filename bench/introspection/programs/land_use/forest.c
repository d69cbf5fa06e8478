/* Timber. */
#include "land.h"

static const int RIPE_YEARS = 40;
static const double RIPE_TONNES = 90, LEFT = 0.1;

static double stem_part(const struct cell *cell)
{
    return limited(0.3 + cell->years / 100.0, 0.3, 0.75);
}

static double timber(const struct cell *cell)
{
    return cell->plants.biomass * stem_part(cell);
}

bool forest_is_ripe(const struct cell *cell)
{
    return cell->years >= RIPE_YEARS || cell->plants.biomass > RIPE_TONNES;
}

static bool can_be_thinned(const struct cell *cell)
{
    return cell->years % 10 == 9 && cell->plants.biomass > RIPE_TONNES / 3;
}

static double cut(struct cell *cell, double part)
{
    const double tonnes = part * timber(cell);
    cell->plants.biomass *= 1 - part;
    return tonnes;
}

/* Tonnes that are sold this year. */
double forest_harvest(struct cell *cell)
{
    if (cell->protected)
        return 0;
    if (forest_is_ripe(cell)) {
        const double tonnes = cut(cell, 1 - LEFT);
        forest_plant(cell);
        return tonnes;
    }
    return can_be_thinned(cell) ? cut(cell, 0.15) : 0;
}

/* Of a year, on average. */
double forest_expected(const struct cell *cell)
{
    return 2.2 * soil_fertility(&cell->soil) * limited(cell->soil.depth, 0.3, 1);
}

void forest_plant(struct cell *cell)
{
    cell->years = 0;
}
