/* Towns: people, and the cells in which they live. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

static const double PEOPLE_IN_A_CELL = 60, GROWTH = 0.008;

struct town *town_new(struct town *next, struct cell *centre, double people)
{
    struct town *town = malloc(sizeof *town);
    if (!town) {
        fputs("no memory for a town\n", stderr);
        exit(1);
    }
    *town = (struct town){next, centre, people, 1};
    return town;
}

void town_free_all(struct town *town)
{
    while (town) {
        struct town *next = town->next;
        free(town);
        town = next;
    }
}

static bool is_free_of_towns(const struct land *land, const struct cell *cell, double distance)
{
    for (const struct town *t = land->towns; t; t = t->next)
        if (grid_distance(t->centre, cell) < distance)
            return false;
    return true;
}

static bool is_site(const struct land *land, const struct cell *cell)
{
    return !terrain_is_steep(cell) && !terrain_is_high(cell) && is_free_of_towns(land, cell, 12);
}

void town_found(struct land *land, int count)
{
    for (int tries = 0; count > 0 && tries < 10000; tries++) {
        struct cell *cell = grid_cell(land->grid, random_below(grid_count(land->grid)));
        if (!is_site(land, cell))
            continue;
        land->towns = town_new(land->towns, cell, random_between(100, 900));
        change_use(land, cell, USE_TOWN);
        count--;
    }
}

/* Cells that its people lack. */
double town_wanted(const struct town *town)
{
    return larger(0, town->people / PEOPLE_IN_A_CELL - town->houses);
}

static double crowding(const struct town *town)
{
    return town->people / (PEOPLE_IN_A_CELL * town->houses);
}

static void live(struct town *town)
{
    town->people *= 1 + GROWTH - 0.004 * larger(0, crowding(town) - 1.5);
}

static double attraction(const struct town *town, const struct cell *cell)
{
    return town->people / (10 + square(grid_distance(town->centre, cell)));
}

struct town *town_nearest(const struct land *land, const struct cell *cell)
{
    struct town *nearest = land->towns;
    for (struct town *t = land->towns; t; t = t->next)
        if (grid_distance(t->centre, cell) < grid_distance(nearest->centre, cell))
            nearest = t;
    return nearest;
}

static void move_people(struct town *from, struct town *to, double people)
{
    from->people -= people;
    to->people += people;
}

/* Some go to the town that attracts them most. */
static void migrate(struct land *land, struct town *town)
{
    struct town *best = town;
    for (struct town *t = land->towns; t; t = t->next)
        if (t != town && (best == town || attraction(t, town->centre) > attraction(best, town->centre)))
            best = t;
    if (best != town && crowding(town) > crowding(best))
        move_people(town, best, 0.002 * town->people);
}

void town_grow(struct land *land)
{
    for (struct town *t = land->towns; t; t = t->next) {
        live(t);
        migrate(land, t);
    }
}

double town_people(const struct town *town)
{
    double sum = 0;
    for (; town; town = town->next)
        sum += town->people;
    return sum;
}
