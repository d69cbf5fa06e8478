/* Fields with their rotation, and animals on grass. */
#include "land.h"

static const double grain_part[CROPS] = {0.48, 0.5, 0.38, 0}, nitrogen_left[CROPS] = {-4, -8, 26, 12};
static const double work_of[CROPS] = {160, 210, 140, 20};

static bool is_exhausted(const struct soil *soil)
{
    return soil->nitrogen < 30;
}

static bool is_warm_enough_for_maize(const struct cell *cell)
{
    return cell->elevation < 350 && cell->sun > 0.9;
}

static enum crop after(enum crop crop)
{
    switch (crop) {
    case CROP_WHEAT:
        return CROP_BEANS;
    case CROP_BEANS:
        return CROP_MAIZE;
    default:
        return CROP_WHEAT;
    }
}

void crop_choose(struct cell *cell)
{
    enum crop next = after(cell->plants.crop);
    if (next == CROP_MAIZE && !is_warm_enough_for_maize(cell))
        next = CROP_WHEAT;
    if (is_exhausted(&cell->soil))
        next = random_chance(0.5) ? CROP_BEANS : CROP_FALLOW;
    cell->plants.crop = next;
}

static double damage(const struct cell *cell)
{
    return limited(1 - 0.8 * cell->plants.thirst, 0.2, 1);
}

static void manure(struct cell *cell)
{
    soil_use_nitrogen(&cell->soil, cell->plants.grown);
    soil_feed(&cell->soil, 50 + nitrogen_left[cell->plants.crop]);
}

/* Tonnes that are sold this year. */
double crop_harvest(struct cell *cell)
{
    const double tonnes = cell->plants.grown * grain_part[cell->plants.crop] * damage(cell);
    manure(cell);
    crop_choose(cell);
    return tonnes;
}

double crop_expected(const struct cell *cell)
{
    return 5.5 * soil_fertility(&cell->soil) * limited(soil_capacity(&cell->soil) / 180, 0.2, 1);
}

double crop_work(const struct cell *cell)
{
    return work_of[cell->plants.crop] * terrain_effort(cell);
}

/* ---- animals ---- */

static const double EATS = 3.2 /* t a year */, MEAT = 0.25 /* t a year */, BIRTHS = 0.35, MOST_ANIMALS = 3;

static double animals_fed(const struct cell *cell)
{
    return limited(0.7 * cell->plants.grown / EATS, 0, MOST_ANIMALS);
}

static double births(const struct cell *cell)
{
    return BIRTHS * cell->animals;
}

static void eat(struct cell *cell)
{
    cell->plants.biomass = larger(0.6, cell->plants.biomass - 0.3 * EATS * cell->animals);
    soil_feed(&cell->soil, 6 * cell->animals);
}

static double too_many(const struct cell *cell)
{
    return larger(0, cell->animals - animals_fed(cell));
}

/* Tonnes that are sold this year. */
double pasture_harvest(struct cell *cell)
{
    cell->animals = smaller(cell->animals + births(cell), MOST_ANIMALS);
    const double sold = too_many(cell);
    cell->animals -= sold;
    eat(cell);
    if (cell->animals < 0.1)
        pasture_stock(cell);
    return MEAT * (sold + 0.5 * cell->animals);
}

double pasture_expected(const struct cell *cell)
{
    return MEAT * 1.1 * soil_fertility(&cell->soil);
}

void pasture_stock(struct cell *cell)
{
    cell->animals = 0.5;
}
