#include "particle_box.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char box_usage[] = "usage: particles [--particles N] [--steps S], N at least 1\n";

/* The unit of length is the range of the forces. Two particles at a distance r below it have the potential energy pull
 * * (core / 2 * w^4 - w^2) with w = 1 - r^2, which repels those that are very near. Each step multiplies velocities by
 * damping. */
static const double dt = 0.1, pull = 0.0006, core = 1.5, damping = 0.997;

/* The particles form clouds of equal numbers and unequal size, all measured by the side of the box. Particles leave the
 * middle of their cloud at a speed of `growth` times their distance from it. */
struct cloud {
    double x, y, size, vx, vy, growth;
};

static const struct cloud clouds[] = {
    {0.20, 0.25, 0.25, +0.006, +0.004, -0.040}, {0.50, 0.50, 1.00, 0, 0, 0}, /* every second particle: thin gas */
    {0.75, 0.30, 0.08, -0.008, +0.006, +0.180}, {0.50, 0.50, 1.00, 0, 0, 0},
    {0.30, 0.75, 0.12, +0.008, -0.008, +0.040}, {0.50, 0.50, 1.00, 0, 0, 0},
    {0.75, 0.75, 0.50, -0.004, -0.004, -0.044}, {0.50, 0.50, 1.00, 0, 0, 0},
};

enum { CLOUDS = sizeof clouds / sizeof clouds[0] };

bool box_parse(int argc, char **argv, struct box *box)
{
    for (int i = 1; i < argc; i += 2) {
        char *end;
        bool steps = strcmp(argv[i], "--steps") == 0;
        if (i + 1 == argc || (!steps && strcmp(argv[i], "--particles") != 0) || !isdigit((unsigned char)argv[i + 1][0]))
            return false;
        *(steps ? &box->steps : &box->particles) = strtoul(argv[i + 1], &end, 10);
        if (*end)
            return false;
    }
    return box->particles > 0;
}

/* With fewer than three cells a side the search would find a particle twice, around both ends. */
bool box_open(struct box *box)
{
    box->side = (size_t)sqrt((double)box->particles / 5);
    if (box->side < 3)
        box->side = 3;
    box->start = calloc(box->side * box->side + 2, sizeof *box->start);
    box->x = calloc(box->particles, sizeof *box->x);
    box->y = calloc(box->particles, sizeof *box->y);
    box->cell = calloc(box->particles, sizeof *box->cell);
    return box->start && box->x && box->y && box->cell;
}

void box_close(struct box *box)
{
    free(box->start);
    free(box->x);
    free(box->y);
    free(box->cell);
}

/* A particle that leaves the box enters it on the other side. A coordinate must not be rounded to the very end, which
 * is in no cell. */
static double into_box(const struct box *box, double x)
{
    double side = (double)box->side, inside = x - side * floor(x / side);
    return inside < side ? inside : 0;
}

static const struct cloud *cloud_of(const struct box *box, size_t particle)
{
    return &clouds[particle * CLOUDS / box->particles];
}

void box_launch(const struct box *box, size_t particle, const double *random, double *v)
{
    const struct cloud *c = cloud_of(box, particle);
    double side = (double)box->side;
    v[0] = side * (c->vx + c->growth * c->size * (random[0] - 0.5));
    v[1] = side * (c->vy + c->growth * c->size * (random[1] - 0.5));
}

void box_place(const struct box *box, size_t particle, const double *random, double *x)
{
    const struct cloud *c = cloud_of(box, particle);
    double side = (double)box->side;
    x[0] = into_box(box, side * (c->x + c->size * (random[0] - 0.5)));
    x[1] = into_box(box, side * (c->y + c->size * (random[1] - 0.5)));
}

/* Signed: converting to an unsigned number takes several instructions on many processors. */
static uint32_t cell_at(const struct box *box, const double *position)
{
    return (uint32_t)((int64_t)position[1] * (int64_t)box->side + (int64_t)position[0]);
}

/* Sorts by cell, and inside a cell by index: sums over particles have the same order on every task. */
void box_sort(struct box *box, const double *x)
{
    size_t cells = box->side * box->side, *end = box->start + 1;
    memset(box->start, 0, (cells + 2) * sizeof *box->start);
    for (size_t i = 0; i < box->particles; i++)
        end[(box->cell[i] = cell_at(box, x + 2 * i)) + 1]++;
    for (size_t c = 1; c < cells; c++)
        end[c] += end[c - 1];
    for (size_t i = 0; i < box->particles; i++) {
        size_t to = end[box->cell[i]]++;
        box->x[to] = x[2 * i];
        box->y[to] = x[2 * i + 1];
    }
}

/* The row or column next to `cell`; *x is shifted by the side of the box if that is around its end. */
static size_t next_to(const struct box *box, size_t cell, int step, double *x)
{
    if (step < 0 && cell == 0) {
        *x += (double)box->side;
        return box->side - 1;
    }
    if (step > 0 && cell == box->side - 1) {
        *x -= (double)box->side;
        return 0;
    }
    return cell + (size_t)step;
}

/* Adds the contributions of the particles of a cell to one at (x, y). */
static inline void add_cell(struct surroundings *sum, const struct box *box, size_t cell, double x, double y)
{
    for (size_t k = box->start[cell]; k < box->start[cell + 1]; k++) {
        double dx = x - box->x[k], dy = y - box->y[k], r2 = dx * dx + dy * dy;
        double w = r2 < 1 ? 1 - r2 : 0, w2 = w * w, force = 4 * pull * w * (core * w2 - 1);
        sum->fx += force * dx;
        sum->fy += force * dy;
        sum->potential += pull * w2 * (core / 2 * w2 - 1);
        sum->neighbours += w > 0;
    }
}

/* All particles near one are in nine cells. The particle itself is there, too: it exerts no force, and the initial
 * value of the sum cancels its contribution to the rest. */
struct surroundings box_look_around(const struct box *box, const double *particle)
{
    struct surroundings sum = {0, 0, pull * (1 - core / 2), -1};
    for (int r = -1; r <= 1; r++) {
        double py = particle[1];
        size_t cells = next_to(box, (size_t)particle[1], r, &py) * box->side;
        for (int c = -1; c <= 1; c++) {
            double px = particle[0];
            size_t cell = cells + next_to(box, (size_t)particle[0], c, &px);
            add_cell(&sum, box, cell, px, py);
        }
    }
    return sum;
}

void box_kick(const struct box *box, const double *x, const double *old, double *v)
{
    struct surroundings around = box_look_around(box, x);
    v[0] = damping * (old[0] + dt * around.fx);
    v[1] = damping * (old[1] + dt * around.fy);
}

double box_drift(const struct box *box, double old, double v)
{
    return into_box(box, old + dt * v);
}

static double rounded(double energy)
{
    return rint(energy * 0x1p30) * 0x1p-30;
}

double box_kinetic(const double *v)
{
    return rounded((v[0] * v[0] + v[1] * v[1]) / 2);
}

/* Half of the energy of a pair belongs to the other particle. */
double box_potential(const struct surroundings *around)
{
    return rounded(around->potential / 2);
}

uint64_t box_mix(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits * 0x9E3779B97F4A7C15 >> 32;
}
