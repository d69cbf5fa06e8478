/* What is known of the whole land, a number that stands for all of it, and whether it is consistent. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const use_names[USES] = {"wild", "forest", "pasture", "crop", "town"};

int statistics_cells(const struct grid *grid, enum use use)
{
    int count = 0;
    for (int k = 0; k < grid_count(grid); k++)
        count += grid_cell(grid, k)->use == use;
    return count;
}

double statistics_biomass(const struct grid *grid)
{
    double sum = 0;
    for (int k = 0; k < grid_count(grid); k++)
        sum += grid_cell(grid, k)->plants.biomass;
    return sum;
}

/* On average. */
double statistics_leaf_area(const struct grid *grid)
{
    double sum = 0;
    for (int k = 0; k < grid_count(grid); k++)
        sum += grid_cell(grid, k)->plants.leaf_area;
    return sum / grid_count(grid);
}

double statistics_money(const struct owner *owners)
{
    double sum = 0;
    for (; owners; owners = owners->next)
        sum += owners->money;
    return sum;
}

/* Cells of the patch to which this one belongs; `seen` has those that have been counted. */
static int patch_cells(const struct grid *grid, const struct cell *cell, bool *seen)
{
    int count = 1;
    seen[grid_index(grid, cell)] = true;
    for (int d = 0; d < NEIGHBOURS; d++) {
        const struct cell *next = grid_neighbour(grid, cell, d);
        if (next && next->use == cell->use && !seen[grid_index(grid, next)])
            count += patch_cells(grid, next, seen);
    }
    return count;
}

int statistics_patches(const struct grid *grid, enum use use, int *largest)
{
    bool *seen = calloc((size_t)grid_count(grid), sizeof *seen);
    int patches = 0;
    if (!seen) {
        fputs("no memory for patches\n", stderr);
        exit(1);
    }
    *largest = 0;
    for (int k = 0; k < grid_count(grid); k++) {
        if (seen[k] || grid_cell(grid, k)->use != use)
            continue;
        const int cells = patch_cells(grid, grid_cell(grid, k), seen);
        if (cells > *largest)
            *largest = cells;
        patches++;
    }
    free(seen);
    return patches;
}

static void hash_add(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * 1099511628211u;
}

static void hash_add_number(uint64_t *hash, double value)
{
    hash_add(hash, (uint64_t)(int64_t)(value * 1048576));
}

static void hash_add_cell(uint64_t *hash, const struct cell *cell)
{
    hash_add(hash, (uint64_t)cell->use);
    hash_add(hash, (uint64_t)cell->years);
    hash_add_number(hash, cell->soil.water);
    hash_add_number(hash, cell->soil.nitrogen);
    hash_add_number(hash, cell->plants.biomass);
    hash_add_number(hash, cell->animals);
    hash_add(hash, cell->parcel ? (uint64_t)cell->parcel->owner->number : UINT64_MAX);
}

uint64_t statistics_hash(const struct land *land)
{
    uint64_t hash = 14695981039346656037u;
    for (int k = 0; k < grid_count(land->grid); k++)
        hash_add_cell(&hash, grid_cell(land->grid, k));
    for (const struct owner *o = land->owners; o; o = o->next)
        hash_add_number(&hash, o->money);
    for (int g = 0; g < GOODS; g++)
        hash_add_number(&hash, land->market.price[g]);
    return hash;
}

static int faults_of_cell(const struct cell *cell)
{
    return (cell->soil.water < -1e-9) + (cell->soil.water > soil_capacity(&cell->soil) + 1e-9) + !(cell->plants.biomass >= 0) +
           ((cell->use == USE_TOWN) != (cell->parcel == NULL)) + (cell->use != USE_PASTURE && cell->animals != 0);
}

static int faults_of_parcel(const struct parcel *parcel, const struct owner *owner)
{
    int faults = parcel->owner != owner;
    for (int k = 0; k < parcel->count; k++)
        faults += parcel->cells[k]->parcel != parcel;
    return faults;
}

static int cells_of_uses(const struct grid *grid)
{
    int count = 0;
    for (int use = 0; use < USES; use++)
        count += statistics_cells(grid, (enum use)use);
    return count;
}

/* What must not be: 0 if the land is consistent. */
int statistics_faults(const struct land *land)
{
    int faults = cells_of_uses(land->grid) != grid_count(land->grid), owned = 0;
    for (int k = 0; k < grid_count(land->grid); k++)
        faults += faults_of_cell(grid_cell(land->grid, k));
    for (const struct owner *o = land->owners; o; o = o->next) {
        owned += owner_cells(o);
        for (const struct parcel *p = o->parcels; p; p = p->next)
            faults += faults_of_parcel(p, o);
    }
    return faults + (owned + statistics_cells(land->grid, USE_TOWN) != grid_count(land->grid));
}

void statistics_print(const struct land *land)
{
    printf("%4d %5.1f %5.0f", land->year, climate_mean_temperature(&land->climate), climate_year_rain(&land->climate));
    for (int use = 0; use < USES; use++) {
        int largest;
        const int patches = statistics_patches(land->grid, (enum use)use, &largest);
        printf("  %s %d in %d, %d", use_names[use], statistics_cells(land->grid, (enum use)use), patches, largest);
    }
    printf("  leaves %.3f biomass %.1f money %.1f changes %d\n", statistics_leaf_area(land->grid), statistics_biomass(land->grid),
           statistics_money(land->owners), change_count(land, land->year));
}
