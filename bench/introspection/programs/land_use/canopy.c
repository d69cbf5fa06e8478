/* Leaves above each other: the lower ones get what the upper ones let through. */
#include "land.h"

static const double EXTINCTION = 0.5, TONNES_A_MONTH = 30 * 0.01;

/* The part of the light that reaches the ground. */
double canopy_shade(const struct plants *plants)
{
    return exponential(-EXTINCTION * plants->leaf_area);
}

static double layer_leaves(const struct plants *plants)
{
    return plants->leaf_area / LAYERS;
}

/* The part of the light that gets through a layer. */
static double layer_passes(double leaves)
{
    return exponential(-EXTINCTION * leaves);
}

static double layer_gain(double light, double temperature, double water, double leaves)
{
    return leaves * (leaf_assimilation(light, temperature, water) - leaf_respiration(temperature));
}

/* Tonnes of a hectare that grow in a month. Less than 0: they lose. */
double canopy_month(const struct cell *cell, const struct month *month, double water)
{
    const double temperature = climate_temperature(month, cell), leaves = layer_leaves(&cell->plants),
                 passes = layer_passes(leaves);
    double light = climate_light(month, cell), sum = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
        sum += layer_gain(light, temperature, water, leaves);
        light *= passes;
    }
    return TONNES_A_MONTH * sum * soil_fertility(&cell->soil) / 4;
}
