/* How land may change, and what that costs. */
#include "land.h"

#include <stddef.h>

static bool is_ripe(const struct land *land, const struct cell *cell)
{
    (void)land;
    return forest_is_ripe(cell);
}

static bool is_workable(const struct land *land, const struct cell *cell)
{
    return !policy_forbids(&land->policy, cell, USE_CROP);
}

static bool is_old_enough(const struct land *land, const struct cell *cell)
{
    (void)land;
    return cell->years >= 3;
}

static bool has_grass(const struct land *land, const struct cell *cell)
{
    return is_old_enough(land, cell) && cell->soil.depth > 0.3;
}

static bool is_poor(const struct land *land, const struct cell *cell)
{
    return is_old_enough(land, cell) &&
           (terrain_is_steep(cell) || soil_fertility(&cell->soil) < 0.5 || land->market.price[GOOD_GRAIN] < 120);
}

static bool is_reached(const struct land *land, const struct cell *cell)
{
    return is_workable(land, cell) && cell->road < 8;
}

static double cost_of_clearing(const struct land *land, const struct cell *cell)
{
    return 300 + 4 * cell->plants.biomass * terrain_effort(cell) -
           market_value(&land->market, GOOD_TIMBER, 0.2 * cell->plants.biomass);
}

static double cost_of_planting(const struct land *land, const struct cell *cell)
{
    (void)land;
    return 420 * terrain_effort(cell);
}

static double cost_of_ploughing(const struct land *land, const struct cell *cell)
{
    (void)land;
    return 150 * terrain_effort(cell);
}

static double cost_of_fences(const struct land *land, const struct cell *cell)
{
    return 260 - 20 * grid_neighbours_of_use(land->grid, cell, USE_PASTURE);
}

static double cost_of_leaving(const struct land *land, const struct cell *cell)
{
    (void)land;
    (void)cell;
    return 0;
}

static const struct rule rules[] = {
    {"clear the forest for fields", USE_FOREST, USE_CROP, is_reached, cost_of_clearing},
    {"clear the forest for animals", USE_FOREST, USE_PASTURE, is_ripe, cost_of_clearing},
    {"plough grassland", USE_PASTURE, USE_CROP, is_workable, cost_of_ploughing},
    {"plant trees on grassland", USE_PASTURE, USE_FOREST, is_old_enough, cost_of_planting},
    {"leave grassland", USE_PASTURE, USE_WILD, is_poor, cost_of_leaving},
    {"let animals into fields", USE_CROP, USE_PASTURE, has_grass, cost_of_fences},
    {"plant trees on fields", USE_CROP, USE_FOREST, is_poor, cost_of_planting},
    {"leave fields", USE_CROP, USE_WILD, is_poor, cost_of_leaving},
    {"clear wild land for fields", USE_WILD, USE_CROP, is_reached, cost_of_clearing},
    {"let animals into wild land", USE_WILD, USE_PASTURE, has_grass, cost_of_fences},
    {"plant trees on wild land", USE_WILD, USE_FOREST, is_old_enough, cost_of_planting},
};

const struct rule *rules_first(void)
{
    return rules;
}

const struct rule *rules_next(const struct rule *rule)
{
    return rule + 1 < rules + sizeof rules / sizeof *rules ? rule + 1 : NULL;
}

bool rule_applies(const struct rule *rule, const struct land *land, const struct cell *cell)
{
    return rule->from == cell->use && !policy_forbids(&land->policy, cell, rule->to) && rule->allowed(land, cell);
}
