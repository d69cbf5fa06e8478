/* What a soil holds: water and nitrogen. */
#include "land.h"

static const double held_of_kind[SOIL_KINDS] = {90, 170, 210};      /* mm of water in a metre */
static const double wilting_of_kind[SOIL_KINDS] = {0.1, 0.2, 0.35}; /* the part that plants cannot take */
static const double MOST_NITROGEN = 160, DEEPEST = 1.5;

static enum soil_kind soil_kind_of(const struct cell *cell)
{
    if (cell->slope > 0.3)
        return SOIL_SAND;
    return cell->elevation < 300 ? SOIL_CLAY : SOIL_LOAM;
}

static double soil_depth_of(const struct cell *cell)
{
    return limited(DEEPEST - 3 * cell->slope, 0.2, DEEPEST);
}

void soil_make(struct cell *cell)
{
    cell->soil.kind = soil_kind_of(cell);
    cell->soil.depth = soil_depth_of(cell);
    cell->soil.water = soil_capacity(&cell->soil) / 2;
    cell->soil.nitrogen = MOST_NITROGEN * random_between(0.3, 0.8);
}

double soil_capacity(const struct soil *soil)
{
    return held_of_kind[soil->kind] * soil->depth;
}

static double soil_wilting(const struct soil *soil)
{
    return wilting_of_kind[soil->kind] * soil_capacity(soil);
}

/* mm that plants can take. */
double soil_available(const struct soil *soil)
{
    return larger(0, soil->water - soil_wilting(soil));
}

/* How much of that they get. */
double soil_take(struct soil *soil, double water)
{
    const double taken = smaller(water, soil_available(soil));
    soil->water -= taken;
    return taken;
}

/* What runs off. */
double soil_add(struct soil *soil, double water)
{
    const double excess = larger(0, soil->water + water - soil_capacity(soil));
    soil->water += water - excess;
    return excess;
}

double soil_fertility(const struct soil *soil)
{
    return limited(soil->nitrogen / 80, 0.1, 1);
}

static void soil_set_nitrogen(struct soil *soil, double kilograms)
{
    soil->nitrogen = limited(kilograms, 5, MOST_NITROGEN);
}

void soil_use_nitrogen(struct soil *soil, double grown)
{
    soil_set_nitrogen(soil, soil->nitrogen - 9 * grown);
}

void soil_feed(struct soil *soil, double kilograms)
{
    soil_set_nitrogen(soil, soil->nitrogen + kilograms);
}

/* A year's leaves and roots. */
void soil_rest(struct soil *soil)
{
    soil_feed(soil, 0.1 * (MOST_NITROGEN - soil->nitrogen));
}
