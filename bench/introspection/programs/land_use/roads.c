/* Roads between towns, and how far it is to them. */
#include "land.h"

#include <stdio.h>
#include <stdlib.h>

static const double FAR = 1e6;

/* Cells from which ways are still to be followed, in the order in which they were reached. */
struct queue {
    struct cell **cells;
    int first, end;
};

static void queue_begin(struct queue *queue, int room)
{
    queue->cells = calloc((size_t)room, sizeof *queue->cells);
    queue->first = queue->end = 0;
    if (!queue->cells) {
        fputs("no memory for roads\n", stderr);
        exit(1);
    }
}

static void queue_end(struct queue *queue)
{
    free(queue->cells);
}

static void queue_add(struct queue *queue, struct cell *cell)
{
    queue->cells[queue->end++] = cell;
}

static struct cell *queue_next(struct queue *queue)
{
    return queue->first < queue->end ? queue->cells[queue->first++] : NULL;
}

static int step_towards(int from, int to)
{
    return (to > from) - (to < from);
}

static void build_between(struct land *land, const struct cell *from, const struct cell *to)
{
    int column = from->column, row = from->row;
    while (column != to->column || row != to->row) {
        column += step_towards(column, to->column);
        row += step_towards(row, to->row);
        grid_at(land->grid, column, row)->road = 0;
    }
}

static void forget_roads(struct land *land)
{
    for (int k = 0; k < grid_count(land->grid); k++)
        grid_cell(land->grid, k)->road = FAR;
}

/* From each town to the one that was founded before it. */
void roads_build(struct land *land)
{
    forget_roads(land);
    for (const struct town *t = land->towns; t; t = t->next)
        if (t->next)
            build_between(land, t->centre, t->next->centre);
}

static void reach(struct queue *queue, struct cell *cell, double distance)
{
    if (cell && cell->road > distance) {
        cell->road = distance;
        queue_add(queue, cell);
    }
}

static void spread(struct land *land, struct queue *queue)
{
    for (const struct cell *cell = queue_next(queue); cell; cell = queue_next(queue))
        for (int d = 0; d < NEIGHBOURS; d++)
            reach(queue, grid_neighbour(land->grid, cell, d), cell->road + 1);
}

static double way_to_town(const struct land *land, const struct cell *cell)
{
    const struct town *town = town_nearest(land, cell);
    return town ? cell->road * 3 + grid_distance(town->centre, cell) : FAR;
}

void roads_measure(struct land *land)
{
    struct queue queue;
    queue_begin(&queue, grid_count(land->grid));
    for (int k = 0; k < grid_count(land->grid); k++)
        if (grid_cell(land->grid, k)->road == 0)
            queue_add(&queue, grid_cell(land->grid, k));
    spread(land, &queue);
    queue_end(&queue);
    for (int k = 0; k < grid_count(land->grid); k++)
        grid_cell(land->grid, k)->town = way_to_town(land, grid_cell(land->grid, k));
}

double roads_haul(const struct cell *cell, double tonnes)
{
    return 0.9 * tonnes * cell->town;
}
