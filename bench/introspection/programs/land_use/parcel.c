/* Pieces of land that change hands together. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

static void insert(struct owner *owner, struct parcel *parcel)
{
    parcel->next = owner->parcels;
    parcel->owner = owner;
    owner->parcels = parcel;
}

struct parcel *parcel_new(struct owner *owner)
{
    struct parcel *parcel = calloc(1, sizeof *parcel);
    if (!parcel) {
        fputs("no memory for a parcel\n", stderr);
        exit(1);
    }
    insert(owner, parcel);
    return parcel;
}

void parcel_free(struct parcel *parcel)
{
    free(parcel->cells);
    free(parcel);
}

static void make_room(struct parcel *parcel)
{
    if (parcel->count < parcel->room)
        return;
    parcel->room = parcel->room ? 2 * parcel->room : 8;
    parcel->cells = realloc(parcel->cells, (size_t)parcel->room * sizeof *parcel->cells);
    if (!parcel->cells) {
        fputs("no memory for the cells of a parcel\n", stderr);
        exit(1);
    }
}

void parcel_add(struct parcel *parcel, struct cell *cell)
{
    make_room(parcel);
    parcel->cells[parcel->count++] = cell;
    cell->parcel = parcel;
}

static int place_of(const struct parcel *parcel, const struct cell *cell)
{
    int k = 0;
    while (parcel->cells[k] != cell)
        k++;
    return k;
}

/* It belongs to nobody then. */
void parcel_remove(struct cell *cell)
{
    struct parcel *parcel = cell->parcel;
    if (!parcel)
        return;
    const int k = place_of(parcel, cell);
    parcel->cells[k] = parcel->cells[--parcel->count];
    cell->parcel = NULL;
}

int parcel_count_use(const struct parcel *parcel, enum use use)
{
    int count = 0;
    for (int k = 0; k < parcel->count; k++)
        count += parcel->cells[k]->use == use;
    return count;
}

static void take_out(struct parcel *parcel)
{
    struct parcel **link = &parcel->owner->parcels;
    while (*link != parcel)
        link = &(*link)->next;
    *link = parcel->next;
}

void parcel_sell(struct parcel *parcel, struct owner *to)
{
    take_out(parcel);
    insert(to, parcel);
}
