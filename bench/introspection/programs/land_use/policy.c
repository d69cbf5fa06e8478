/* What the state forbids, pays and takes. */
#include "land.h"

static const double first_subsidies[USES] = {0, 20, 15, 30, 0};

void policy_begin(struct policy *policy)
{
    for (int use = 0; use < USES; use++)
        policy->subsidy[use] = first_subsidies[use];
    policy->tax = 0.25;
    policy->steepest_field = 0.2;
}

static bool is_worth_protecting(const struct land *land, const struct cell *cell)
{
    return cell->use == USE_FOREST && terrain_is_high(cell) && grid_neighbours_of_use(land->grid, cell, USE_FOREST) >= 6;
}

void policy_protect(struct land *land)
{
    for (int k = 0; k < grid_count(land->grid); k++)
        if (is_worth_protecting(land, grid_cell(land->grid, k)))
            grid_cell(land->grid, k)->protected = true;
}

static double less_favoured(const struct cell *cell)
{
    return terrain_is_steep(cell) || terrain_is_high(cell) ? 25 : 0;
}

double policy_subsidy(const struct policy *policy, const struct cell *cell, enum use use)
{
    return policy->subsidy[use] + (use == USE_PASTURE ? less_favoured(cell) : 0);
}

double policy_tax(const struct policy *policy, double income)
{
    return income > 0 ? policy->tax * income : 0;
}

bool policy_forbids(const struct policy *policy, const struct cell *cell, enum use use)
{
    return cell->protected || (use == USE_CROP && cell->slope > policy->steepest_field);
}

static void change_subsidy(struct policy *policy, enum use use, double by)
{
    policy->subsidy[use] = limited(policy->subsidy[use] + by, 0, 120);
}

static double share(const struct land *land, enum use use)
{
    return (double)statistics_cells(land->grid, use) / grid_count(land->grid);
}

/* It wants a quarter of forest, and food. */
void policy_adapt(struct land *land)
{
    change_subsidy(&land->policy, USE_FOREST, share(land, USE_FOREST) < 0.25 ? 6 : -4);
    change_subsidy(&land->policy, USE_CROP, land->market.demand[GOOD_GRAIN] > land->market.supply[GOOD_GRAIN] ? 5 : -5);
}
