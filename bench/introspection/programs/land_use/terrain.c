/* Hills and valleys: elevations of several scales, slopes, and the side to which they lie. */
#include "land.h"

#include <math.h>

enum { SCALES = 4 };
static const double HIGHEST = 900, STEEP = 0.25, HIGH = 600, CELL_METRES = 100;

/* A number from 0 to 1 that belongs to a point. */
static double point_noise(int column, int row, int scale)
{
    uint32_t h = (uint32_t)column * 374761393u + (uint32_t)row * 668265263u + (uint32_t)scale * 2246822519u;
    h = (h ^ h >> 13) * 1274126177u;
    return ((h ^ h >> 16) & 65535) / 65536.0;
}

static double smooth_step(double x)
{
    return x * x * (3 - 2 * x);
}

static double smooth_noise(double x, double y, int scale)
{
    const int column = (int)x, row = (int)y;
    const double right = smooth_step(x - column), down = smooth_step(y - row);
    return mixed(mixed(point_noise(column, row, scale), point_noise(column + 1, row, scale), right),
                 mixed(point_noise(column, row + 1, scale), point_noise(column + 1, row + 1, scale), right), down);
}

static double elevation_of(const struct cell *cell)
{
    double sum = 0, part = 0.5, length = 32;
    for (int scale = 0; scale < SCALES; scale++) {
        sum += part * smooth_noise(cell->column / length, cell->row / length, scale);
        part /= 2;
        length /= 2;
    }
    return HIGHEST * sum;
}

static double elevation_beside(const struct grid *grid, const struct cell *cell, int columns, int rows)
{
    const struct cell *next = grid_at(grid, cell->column + columns, cell->row + rows);
    return next ? next->elevation : cell->elevation;
}

static double rise_east(const struct grid *grid, const struct cell *cell)
{
    return (elevation_beside(grid, cell, 1, 0) - elevation_beside(grid, cell, -1, 0)) / (2 * CELL_METRES);
}

static double rise_south(const struct grid *grid, const struct cell *cell)
{
    return (elevation_beside(grid, cell, 0, 1) - elevation_beside(grid, cell, 0, -1)) / (2 * CELL_METRES);
}

/* Land that rises to the north lies towards the sun. */
static double sun_of(double south)
{
    return limited(1 - 0.8 * south, 0.6, 1.2);
}

void terrain_make(struct grid *grid)
{
    for (int k = 0; k < grid_count(grid); k++)
        grid_cell(grid, k)->elevation = elevation_of(grid_cell(grid, k));
    for (int k = 0; k < grid_count(grid); k++) {
        struct cell *cell = grid_cell(grid, k);
        const double east = rise_east(grid, cell), south = rise_south(grid, cell);
        cell->slope = sqrt(square(east) + square(south));
        cell->sun = sun_of(south);
    }
}

bool terrain_is_steep(const struct cell *cell)
{
    return cell->slope > STEEP;
}

bool terrain_is_high(const struct cell *cell)
{
    return cell->elevation > HIGH;
}

/* How much more work is there than on flat land. */
double terrain_effort(const struct cell *cell)
{
    return 1 + 4 * cell->slope + (terrain_is_high(cell) ? 0.3 : 0);
}
