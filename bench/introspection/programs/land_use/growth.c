/* Plants of a cell through the months. */
#include "land.h"

static const double most_leaves[USES] = {3.5, 5.5, 3, 4.5, 0.5};
static const double most_biomass[USES] = {60, 320, 8, 16, 4};
static const double lost_in_winter[USES] = {0.03, 0.012, 0.5, 0.9, 0.1};
static const double seeds[USES] = {0.5, 1, 0.6, 0.4, 0.2};

static double leaves_of(const struct cell *cell, double biomass)
{
    return most_leaves[cell->use] * (1 - exponential(-4 * biomass / most_biomass[cell->use]));
}

static double room_to_grow(const struct cell *cell)
{
    return limited(1 - cell->plants.biomass / most_biomass[cell->use], 0, 1);
}

static void set_biomass(struct cell *cell, double biomass)
{
    cell->plants.biomass = limited(biomass, seeds[cell->use], most_biomass[cell->use]);
    cell->plants.leaf_area = leaves_of(cell, cell->plants.biomass);
}

/* What grows where its use has just begun. */
void growth_begin(struct cell *cell)
{
    cell->plants.grown = cell->plants.thirst = 0;
    set_biomass(cell, seeds[cell->use]);
}

static void grow(struct cell *cell, double tonnes)
{
    const double gain = tonnes > 0 ? tonnes * room_to_grow(cell) : tonnes;
    cell->plants.grown += larger(0, gain);
    set_biomass(cell, cell->plants.biomass + gain);
}

static bool sleeps(const struct cell *cell, const struct month *month)
{
    return cell->snow > 0 || climate_freezes(month, cell);
}

void growth_month(struct cell *cell, const struct month *month)
{
    const double water = water_month(cell, month);
    cell->plants.thirst += (1 - water) / MONTHS;
    if (!sleeps(cell, month))
        grow(cell, canopy_month(cell, month, water));
}

/* Leaves fall, a part dies. */
void growth_new_year(struct cell *cell)
{
    soil_rest(&cell->soil);
    set_biomass(cell, cell->plants.biomass * (1 - lost_in_winter[cell->use]));
    cell->plants.grown = cell->plants.thirst = 0;
}
