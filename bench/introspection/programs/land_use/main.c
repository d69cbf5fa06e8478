/* main [YEARS [SIDE]]: so many years of a square land. It prints how land is used, and at the end a number that stands for all of
 * it. The status is 1 if the land is not consistent at the end. */
#include "land.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum use first_use(const struct cell *cell)
{
    if (terrain_is_steep(cell) || terrain_is_high(cell))
        return random_chance(0.8) ? USE_FOREST : USE_WILD;
    const double x = random_uniform();
    return x < 0.35 ? USE_CROP : x < 0.7 ? USE_PASTURE : x < 0.9 ? USE_FOREST : USE_WILD;
}

static void settle_cell(struct land *land, struct cell *cell)
{
    soil_make(cell);
    change_use(land, cell, first_use(cell));
    cell->years = random_below(30);
}

static void land_begin(struct land *land, int side)
{
    land->grid = grid_new(side, side);
    terrain_make(land->grid);
    climate_begin(&land->climate);
    market_begin(&land->market);
    policy_begin(&land->policy);
    for (int k = 0; k < grid_count(land->grid); k++)
        settle_cell(land, grid_cell(land->grid, k));
    town_found(land, 1 + side / 16);
    owner_settle(land, 4 + side / 2);
    roads_build(land);
    roads_measure(land);
    policy_protect(land);
}

static void land_end(struct land *land)
{
    change_free_events(land->events);
    owner_free_all(land->owners);
    town_free_all(land->towns);
    grid_free(land->grid);
}

static void months(struct land *land)
{
    for (int m = 0; m < MONTHS; m++)
        for (int k = 0; k < grid_count(land->grid); k++)
            growth_month(grid_cell(land->grid, k), &land->climate.months[m]);
}

/* The best cell for a house: near its town, flat. */
static double worth_as_site(const struct land *land, const struct town *town, const struct cell *cell)
{
    if (cell->use == USE_TOWN || cell->protected || town_nearest(land, cell) != town)
        return -1;
    return 100 - grid_distance(town->centre, cell) * terrain_effort(cell) + grid_neighbours_of_use(land->grid, cell, USE_TOWN);
}

static struct cell *best_site(const struct land *land, const struct town *town)
{
    struct cell *best = NULL;
    double most = 0;
    for (int k = 0; k < grid_count(land->grid); k++) {
        const double worth = worth_as_site(land, town, grid_cell(land->grid, k));
        if (worth > most) {
            most = worth;
            best = grid_cell(land->grid, k);
        }
    }
    return best;
}

static void build_houses(struct land *land, struct town *town)
{
    while (town_wanted(town) >= 1) {
        struct cell *site = best_site(land, town);
        if (!site)
            return;
        owner_pay(owner_of(site), market_value(&land->market, GOOD_HOUSING, 1));
        change_use(land, site, USE_TOWN);
        town->houses++;
    }
}

static struct owner *richest(const struct land *land)
{
    struct owner *best = land->owners;
    for (struct owner *o = land->owners; o; o = o->next)
        if (o->money > best->money)
            best = o;
    return best;
}

/* An owner in debt sells a parcel to the richest one. */
static void settle_debts(struct land *land, struct owner *owner)
{
    struct owner *buyer = richest(land);
    if (owner->money >= 0 || !owner->parcels || buyer == owner)
        return;
    const double price = smaller(buyer->money, 400.0 * owner->parcels->count);
    parcel_sell(owner->parcels, buyer);
    owner_pay(buyer, -price);
    owner_pay(owner, price);
}

static void decide(struct land *land)
{
    for (struct owner *o = land->owners; o; o = o->next) {
        for (struct parcel *p = o->parcels; p; p = p->next)
            decide_parcel(land, p);
        owner_grow_older(o);
        settle_debts(land, o);
    }
}

static void next_year(struct land *land)
{
    land->year++;
    climate_next_year(&land->climate);
    months(land);
    harvest_year(land);
    town_grow(land);
    for (struct town *t = land->towns; t; t = t->next)
        build_houses(land, t);
    decide(land);
    policy_adapt(land);
    if (land->year % 5 == 0)
        roads_measure(land);
}

int main(int argc, char **argv)
{
    const int years = argc > 1 ? atoi(argv[1]) : 80, side = argc > 2 ? atoi(argv[2]) : 96;
    struct land land = {0};
    random_begin(1998);
    land_begin(&land, side);
    for (int k = 0; k < years; k++) {
        next_year(&land);
        if (land.year % 10 == 0)
            statistics_print(&land);
    }
    const int faults = statistics_faults(&land);
    printf("to forest %d, to towns %d, faults %d, check %016" PRIx64 "\n", change_count_to(&land, USE_FOREST),
           change_count_to(&land, USE_TOWN), faults, statistics_hash(&land));
    land_end(&land);
    return faults != 0;
}
