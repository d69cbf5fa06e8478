/* The cells, by rows. */
#include "land.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int column_steps[NEIGHBOURS] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int row_steps[NEIGHBOURS] = {-1, -1, -1, 0, 0, 1, 1, 1};

struct grid *grid_new(int columns, int rows)
{
    struct grid *grid = malloc(sizeof *grid);
    if (!grid || !(grid->cells = calloc((size_t)columns * (size_t)rows, sizeof *grid->cells))) {
        fputs("no memory for the land\n", stderr);
        exit(1);
    }
    grid->columns = columns;
    grid->rows = rows;
    for (int k = 0; k < columns * rows; k++) {
        grid->cells[k].column = k % columns;
        grid->cells[k].row = k / columns;
    }
    return grid;
}

void grid_free(struct grid *grid)
{
    free(grid->cells);
    free(grid);
}

int grid_count(const struct grid *grid)
{
    return grid->columns * grid->rows;
}

bool grid_inside(const struct grid *grid, int column, int row)
{
    return column >= 0 && row >= 0 && column < grid->columns && row < grid->rows;
}

/* NULL outside of the land. */
struct cell *grid_at(const struct grid *grid, int column, int row)
{
    return grid_inside(grid, column, row) ? &grid->cells[row * grid->columns + column] : NULL;
}

struct cell *grid_cell(const struct grid *grid, int index)
{
    return &grid->cells[index];
}

int grid_index(const struct grid *grid, const struct cell *cell)
{
    return cell->row * grid->columns + cell->column;
}

struct cell *grid_neighbour(const struct grid *grid, const struct cell *cell, int direction)
{
    return grid_at(grid, cell->column + column_steps[direction], cell->row + row_steps[direction]);
}

int grid_neighbours_of_use(const struct grid *grid, const struct cell *cell, enum use use)
{
    int count = 0;
    for (int d = 0; d < NEIGHBOURS; d++) {
        const struct cell *next = grid_neighbour(grid, cell, d);
        count += next && next->use == use;
    }
    return count;
}

double grid_distance(const struct cell *a, const struct cell *b)
{
    return sqrt(square(a->column - b->column) + square(a->row - b->row));
}
