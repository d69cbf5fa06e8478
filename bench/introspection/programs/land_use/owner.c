/* Those who own land. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

enum { PARCEL_SIDE = 6 };
static const double tastes[OWNER_KINDS][USES] = {
    {0.6, 0.8, 1.1, 1.15, 0.9}, {0.9, 1.3, 0.8, 0.7, 0.8}, {0.5, 1, 1, 1, 1.2}, {1.6, 1.2, 0.8, 0.6, 0.7}};

struct owner *owner_new(struct owner *next, int number, enum owner_kind kind)
{
    struct owner *owner = malloc(sizeof *owner);
    if (!owner) {
        fputs("no memory for an owner\n", stderr);
        exit(1);
    }
    *owner = (struct owner){.next = next,
                            .kind = kind,
                            .number = number,
                            .age = 25 + random_below(45),
                            .money = random_between(500, 5000),
                            .patience = random_between(0.7, 0.95),
                            .caution = random_between(0.9, 1.5)};
    return owner;
}

static void free_parcels(struct owner *owner)
{
    while (owner->parcels) {
        struct parcel *next = owner->parcels->next;
        parcel_free(owner->parcels);
        owner->parcels = next;
    }
}

void owner_free_all(struct owner *owner)
{
    while (owner) {
        struct owner *next = owner->next;
        free_parcels(owner);
        free(owner);
        owner = next;
    }
}

static enum owner_kind some_kind(void)
{
    const double x = random_uniform();
    return x < 0.6 ? OWNER_FARMER : x < 0.8 ? OWNER_FORESTER : x < 0.95 ? OWNER_INVESTOR : OWNER_STATE;
}

static struct owner *owner_by_number(struct owner *owner, int number)
{
    while (owner && owner->number != number)
        owner = owner->next;
    return owner;
}

/* The square of cells with its corner here, without towns. */
static void give_square(struct land *land, struct owner *owner, int column, int row)
{
    struct parcel *parcel = parcel_new(owner);
    for (int r = row; r < row + PARCEL_SIDE; r++)
        for (int c = column; c < column + PARCEL_SIDE; c++) {
            struct cell *cell = grid_at(land->grid, c, r);
            if (cell && cell->use != USE_TOWN)
                parcel_add(parcel, cell);
        }
}

void owner_settle(struct land *land, int count)
{
    for (int k = 0; k < count; k++)
        land->owners = owner_new(land->owners, k, some_kind());
    for (int row = 0; row < land->grid->rows; row += PARCEL_SIDE)
        for (int column = 0; column < land->grid->columns; column += PARCEL_SIDE)
            give_square(land, owner_by_number(land->owners, random_below(count)), column, row);
}

void owner_pay(struct owner *owner, double money)
{
    owner->money += money;
}

bool owner_can_pay(const struct owner *owner, double money)
{
    return owner->money >= money * owner->caution;
}

/* The next one begins anew, with half of the money. */
static void inherit(struct owner *owner)
{
    owner->age = 25;
    owner->money *= owner->money > 0 ? 0.5 : 0;
    owner->patience = random_between(0.7, 0.95);
}

void owner_grow_older(struct owner *owner)
{
    owner->age++;
    if (owner->age > 60 && random_chance((owner->age - 60) / 60.0))
        inherit(owner);
}

int owner_cells(const struct owner *owner)
{
    int count = 0;
    for (const struct parcel *p = owner->parcels; p; p = p->next)
        count += p->count;
    return count;
}

double owner_taste(const struct owner *owner, enum use use)
{
    return tastes[owner->kind][use];
}

/* NULL: nobody, as in towns. */
struct owner *owner_of(const struct cell *cell)
{
    return cell->parcel ? cell->parcel->owner : NULL;
}
