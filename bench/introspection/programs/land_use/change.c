/* Changes of use, and the list of them. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

static void note(struct land *land, const struct cell *cell, enum use to)
{
    struct event *event = malloc(sizeof *event);
    if (!event) {
        fputs("no memory for the history\n", stderr);
        exit(1);
    }
    *event = (struct event){land->events, land->year, cell, cell->use, to};
    land->events = event;
}

static void leave(struct cell *cell)
{
    cell->animals = 0;
}

static void begin(struct cell *cell, enum use use)
{
    cell->use = use;
    cell->years = 0;
    if (use == USE_PASTURE)
        pasture_stock(cell);
    if (use == USE_CROP)
        crop_choose(cell);
    if (use == USE_TOWN)
        parcel_remove(cell);
    growth_begin(cell);
}

void change_use(struct land *land, struct cell *cell, enum use to)
{
    note(land, cell, to);
    leave(cell);
    begin(cell, to);
}

void change_free_events(struct event *event)
{
    while (event) {
        struct event *earlier = event->earlier;
        free(event);
        event = earlier;
    }
}

/* In a year: the newest are the first. */
int change_count(const struct land *land, int year)
{
    int count = 0;
    for (const struct event *e = land->events; e && e->year >= year; e = e->earlier)
        count += e->year == year;
    return count;
}

int change_count_to(const struct land *land, enum use use)
{
    int count = 0;
    for (const struct event *e = land->events; e; e = e->earlier)
        count += e->to == use;
    return count;
}
