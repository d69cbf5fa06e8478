/* What owners expect, and do. */
#include "land.h"

#include <stddef.h>

static const double YEARS_AHEAD = 8, ENOUGH = 60;

static double expected_amount(const struct cell *cell, enum use use)
{
    switch (use) {
    case USE_FOREST:
        return forest_expected(cell);
    case USE_PASTURE:
        return pasture_expected(cell);
    case USE_CROP:
        return crop_expected(cell);
    default:
        return 0;
    }
}

static double expected_work(const struct cell *cell, enum use use)
{
    switch (use) {
    case USE_FOREST:
        return 15 * terrain_effort(cell);
    case USE_PASTURE:
        return 120 * terrain_effort(cell);
    case USE_CROP:
        return crop_work(cell);
    default:
        return 0;
    }
}

/* Money of a year, if the cell is used so. */
double decide_income(const struct land *land, const struct cell *cell, enum use use)
{
    const double amount = expected_amount(cell, use);
    const double sales = market_value(&land->market, market_good_of(use), amount);
    return sales - expected_work(cell, use) - roads_haul(cell, amount) + policy_subsidy(&land->policy, cell, use);
}

/* Larger pieces of the same use are less work. */
static double bonus_of_neighbours(const struct land *land, const struct cell *cell, enum use use)
{
    return 6 * grid_neighbours_of_use(land->grid, cell, use);
}

static double utility(const struct land *land, const struct cell *cell, enum use use)
{
    const struct owner *owner = owner_of(cell);
    return owner_taste(owner, use) * (decide_income(land, cell, use) + bonus_of_neighbours(land, cell, use));
}

static double gain(const struct land *land, const struct cell *cell, const struct rule *rule)
{
    const double more = utility(land, cell, rule->to) - utility(land, cell, rule->from);
    return more * YEARS_AHEAD * owner_of(cell)->patience - rule->cost(land, cell);
}

/* NULL: to leave it as it is. */
const struct rule *decide_best(const struct land *land, const struct cell *cell)
{
    const struct rule *best = NULL;
    double most = ENOUGH;
    for (const struct rule *rule = rules_first(); rule; rule = rules_next(rule))
        if (rule_applies(rule, land, cell)) {
            const double g = gain(land, cell, rule);
            if (g > most) {
                most = g;
                best = rule;
            }
        }
    return best;
}

static bool thinks_about(const struct cell *cell)
{
    return !cell->protected && random_chance(cell->years < 2 ? 0.02 : 0.25);
}

static bool decide_cell(struct land *land, struct cell *cell)
{
    const struct rule *rule = thinks_about(cell) ? decide_best(land, cell) : NULL;
    struct owner *owner = owner_of(cell);
    if (!rule || !owner_can_pay(owner, rule->cost(land, cell)))
        return false;
    owner_pay(owner, -rule->cost(land, cell));
    change_use(land, cell, rule->to);
    return true;
}

/* How many of its cells change. */
int decide_parcel(struct land *land, struct parcel *parcel)
{
    int changed = 0;
    for (int k = 0; k < parcel->count; k++)
        changed += decide_cell(land, parcel->cells[k]);
    return changed;
}
