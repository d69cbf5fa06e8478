/* Prices follow what is sold and what is wanted; what cells bring in a year, and what of it their owners keep. */
#include "land.h"

static const double first_prices[GOODS] = {55, 2100, 210, 900}, wanted_by_one[GOODS] = {0.35, 0.035, 0.45, 0.002};
static const double lowest = 0.4, highest = 2.5, STICKINESS = 0.8;

void market_clear(struct market *market)
{
    for (int g = 0; g < GOODS; g++)
        market->supply[g] = market->demand[g] = 0;
}

void market_begin(struct market *market)
{
    market_clear(market);
    for (int g = 0; g < GOODS; g++)
        market->price[g] = first_prices[g];
}

void market_sell(struct market *market, enum good good, double amount)
{
    market->supply[good] += amount;
}

void market_want(struct market *market, double people)
{
    for (int g = 0; g < GOODS; g++)
        market->demand[g] += wanted_by_one[g] * people;
}

/* Above 1: people want more than there is. */
static double scarcity(const struct market *market, int good)
{
    return (market->demand[good] + 1) / (market->supply[good] + 1);
}

static double fair_price(const struct market *market, int good)
{
    return first_prices[good] * limited(scarcity(market, good), lowest, highest);
}

void market_settle(struct market *market)
{
    for (int g = 0; g < GOODS; g++)
        market->price[g] = mixed(fair_price(market, g), market->price[g], STICKINESS);
}

enum good market_good_of(enum use use)
{
    switch (use) {
    case USE_PASTURE:
        return GOOD_MEAT;
    case USE_CROP:
        return GOOD_GRAIN;
    case USE_TOWN:
        return GOOD_HOUSING;
    default:
        return GOOD_TIMBER;
    }
}

double market_value(const struct market *market, enum good good, double amount)
{
    return market->price[good] * amount;
}

/* ---- a year's harvest ---- */

typedef double harvester(struct cell *cell);

static double harvest_nothing(struct cell *cell)
{
    (void)cell;
    return 0;
}

static harvester *const harvesters[USES] = {harvest_nothing, forest_harvest, pasture_harvest, crop_harvest, harvest_nothing};

static double expenses(const struct cell *cell, double tonnes)
{
    return roads_haul(cell, tonnes) + (cell->use == USE_CROP ? crop_work(cell) : cell->use == USE_PASTURE ? 90 : 0);
}

static void settle(struct land *land, const struct cell *cell, double tonnes)
{
    struct owner *owner = owner_of(cell);
    if (!owner)
        return;
    const enum good good = market_good_of(cell->use);
    const double income =
        market_value(&land->market, good, tonnes) - expenses(cell, tonnes) + policy_subsidy(&land->policy, cell, cell->use);
    market_sell(&land->market, good, tonnes);
    owner_pay(owner, income - policy_tax(&land->policy, income));
}

static void harvest_cell(struct land *land, struct cell *cell)
{
    settle(land, cell, harvesters[cell->use](cell));
    cell->years++;
    growth_new_year(cell);
}

static void offer_houses(struct land *land)
{
    market_sell(&land->market, GOOD_HOUSING, 0.1 * statistics_cells(land->grid, USE_TOWN));
}

void harvest_year(struct land *land)
{
    market_clear(&land->market);
    for (int k = 0; k < grid_count(land->grid); k++)
        harvest_cell(land, grid_cell(land->grid, k));
    offer_houses(land);
    market_want(&land->market, town_people(land->towns));
    market_settle(&land->market);
}
