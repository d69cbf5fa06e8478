#include "lennard_jones.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists contain pairs up to cutoff + skin, and remain valid until an atom has moved by half the skin. */
static const double cutoff = 2.5, skin = 0.4;

/* Below this distance, r^2 = 0.3, the sums of rounded contributions might not be exact any more, and a time step would
 * be far too long anyway: the potential is 5300 there. */
static const double nearest = 0.3;

/* An atom's neighbours are in its own cell and REACH cells to each side, at least (cutoff + skin) / REACH wide each. */
enum { REACH = 2, ACROSS = 2 * REACH + 1 };

/* Adding and subtracting it rounds to multiples of 2^-32 and 2^-36. */
#define TO_32 0x1.8p20
#define TO_36 0x1.8p16

/* Loops over pairs are compiled (by gcc) for processors with wider vectors too. Exact sums give all of them the same bits. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_PROCESSORS __attribute__((target_clones("avx2", "default")))
#else
#define FOR_PROCESSORS
#endif

/* Pairs that are processed at a time. */
enum { PAIRS = 256 };

struct sums {
    double fx, fy, fz, energy, virial, nearest;
};

const char *lj_init(lj_fluid *fluid, size_t atoms, const double side[3], size_t block)
{
    /* No more cells than can be of use, however thin the gas. */
    size_t most = 2 * (size_t)cbrt((double)atoms) + 1, cells = 1;
    *fluid = (lj_fluid){.atoms = atoms, .block = block};
    if (atoms > LJ_ATOMS)
        return "there are more than 16777216 atoms";
    for (int d = 0; d < 3; d++) {
        if (!(side[d] >= LJ_SIDE))
            return "the box is too small: its sides have to be at least 5, twice the cutoff";
        double fit = floor(side[d] * REACH / (cutoff + skin));
        fluid->side[d] = side[d];
        fluid->cells[d] = fit < (double)most ? (size_t)fit : most;
        cells *= fluid->cells[d];
    }
    fluid->x_sorted = malloc(3 * atoms * sizeof *fluid->x_sorted);
    fluid->x_cell = malloc(3 * atoms * sizeof *fluid->x_cell);
    fluid->atom = malloc(atoms * sizeof *fluid->atom);
    fluid->cell = malloc((cells + 2) * sizeof *fluid->cell);
    fluid->lists = calloc((atoms + block - 1) / block, sizeof *fluid->lists);
    bool done = fluid->x_sorted && fluid->x_cell && fluid->atom && fluid->cell && fluid->lists;
    return done ? NULL : "not enough memory";
}

void lj_clear(lj_fluid *fluid)
{
    for (size_t b = 0; fluid->lists && b * fluid->block < fluid->atoms; b++)
        free(fluid->lists[b].start), free(fluid->lists[b].neighbour);
    free(fluid->x_sorted), free(fluid->x_cell), free(fluid->atom), free(fluid->cell), free(fluid->lists);
}

/* A coordinate must not be rounded to the very end of the box, which is in no cell. Very large numbers are not precise
 * enough to have a position in the box. */
double lj_into_box(double x, double side)
{
    if (x >= 0 && x < side)
        return x;
    double inside = x - side * floor(x / side);
    return inside >= 0 && inside < side ? inside : 0;
}

/* The shortest distance between two atoms in the box, along one side. */
static inline double shortest(double dx, double side)
{
    dx -= dx > side / 2 ? side : 0;
    return dx + (dx < -side / 2 ? side : 0);
}

static bool moved_far(const lj_fluid *fluid)
{
    double farthest = 0, sx = fluid->side[0], sy = fluid->side[1], sz = fluid->side[2];
    const double *x = fluid->x, *old = fluid->x_sorted;
#pragma omp simd reduction(max : farthest)
    for (size_t i = 0; i < fluid->atoms; i++) {
        double dx = shortest(x[3 * i] - old[3 * i], sx), dy = shortest(x[3 * i + 1] - old[3 * i + 1], sy);
        double dz = shortest(x[3 * i + 2] - old[3 * i + 2], sz), r2 = dx * dx + dy * dy + dz * dz;
        farthest = r2 > farthest ? r2 : farthest;
    }
    return farthest >= skin * skin / 4;
}

static size_t cell_along(const lj_fluid *fluid, double x, int d)
{
    size_t cell = (size_t)(x / fluid->side[d] * (double)fluid->cells[d]);
    return cell < fluid->cells[d] ? cell : fluid->cells[d] - 1;
}

static size_t cell_at(const lj_fluid *fluid, const double *x)
{
    size_t row = cell_along(fluid, x[2], 2) * fluid->cells[1] + cell_along(fluid, x[1], 1);
    return row * fluid->cells[0] + cell_along(fluid, x[0], 0);
}

static void sort(lj_fluid *fluid)
{
    size_t cells = fluid->cells[0] * fluid->cells[1] * fluid->cells[2];
    uint32_t *end = fluid->cell + 1;
    const double *x = fluid->x;
    memset(fluid->cell, 0, (cells + 2) * sizeof *fluid->cell);
    for (size_t i = 0; i < fluid->atoms; i++)
        end[cell_at(fluid, x + 3 * i) + 1]++;
    for (size_t c = 1; c < cells; c++)
        end[c] += end[c - 1];
    for (size_t i = 0; i < fluid->atoms; i++) {
        size_t to = end[cell_at(fluid, x + 3 * i)]++;
        fluid->atom[to] = (uint32_t)i;
        for (size_t d = 0; d < 3; d++)
            fluid->x_cell[d * fluid->atoms + to] = x[3 * i + d];
    }
    memcpy(fluid->x_sorted, x, 3 * fluid->atoms * sizeof *x);
    fluid->sortings++;
}

void lj_positions(lj_fluid *fluid, const double *x)
{
    fluid->x = x;
    if (fluid->sortings == 0 || moved_far(fluid))
        sort(fluid);
}

/* The numbers of the cells around a coordinate along one side: each of them once, even if there are few. */
static int cells_around(const lj_fluid *fluid, double x, int d, size_t around[ACROSS])
{
    size_t cells = fluid->cells[d], n = cells < ACROSS ? cells : ACROSS;
    for (size_t k = 0; k < n; k++)
        around[k] = (cell_along(fluid, x, d) + cells - n / 2 + k) % cells;
    return (int)n;
}

/* Adds those of the atoms from position `from` to `to`, sorted by cell, that are near atom i to its neighbours; returns
 * the new number of neighbours. */
static inline __attribute__((always_inline)) size_t add_near(const lj_fluid *fluid, size_t i, size_t from, size_t to,
                                                             uint32_t *neighbour, size_t n)
{
    const double *x = fluid->x_sorted + 3 * i, reach = cutoff + skin;
    const double *cx = fluid->x_cell, *cy = cx + fluid->atoms, *cz = cy + fluid->atoms;
    double px = x[0], py = x[1], pz = x[2], sx = fluid->side[0], sy = fluid->side[1], sz = fluid->side[2], r2[PAIRS];
    for (; from < to; from += PAIRS) {
        size_t count = to - from < PAIRS ? to - from : PAIRS;
#pragma omp simd
        for (size_t k = 0; k < count; k++) {
            double dx = shortest(px - cx[from + k], sx), dy = shortest(py - cy[from + k], sy),
                   dz = shortest(pz - cz[from + k], sz);
            r2[k] = dx * dx + dy * dy + dz * dz;
        }
        for (size_t k = 0; k < count; k++) {
            neighbour[n] = fluid->atom[from + k];
            n += (r2[k] < reach * reach) & (fluid->atom[from + k] != i);
        }
    }
    return n;
}

/* Makes room for the present neighbours and another row of cells. */
static bool make_room(lj_list *list, size_t needed)
{
    if (needed <= list->room)
        return true;
    size_t room = needed + needed / 2;
    uint32_t *more = realloc(list->neighbour, room * sizeof *more);
    if (!more)
        return false;
    list->neighbour = more;
    list->room = room;
    return true;
}

/* Adds the neighbours of atom i. Consecutive cells along the first side form one range. */
static inline __attribute__((always_inline)) bool add_neighbours(const lj_fluid *fluid, size_t i, lj_list *list, size_t *n)
{
    const double *x = fluid->x_sorted + 3 * i;
    size_t columns[ACROSS], rows[ACROSS], layers[ACROSS];
    int nx = cells_around(fluid, x[0], 0, columns), ny = cells_around(fluid, x[1], 1, rows),
        nz = cells_around(fluid, x[2], 2, layers);
    for (int k = 0; k < ny * nz; k++) {
        const uint32_t *row = fluid->cell + (layers[k / ny] * fluid->cells[1] + rows[k % ny]) * fluid->cells[0];
        for (int c = 0; c < nx;) {
            size_t first = columns[c], last = first;
            while (++c < nx && columns[c] == last + 1)
                last++;
            if (!make_room(list, *n + row[last + 1] - row[first]))
                return false;
            *n = add_near(fluid, i, row[first], row[last + 1], list->neighbour, *n);
        }
    }
    return true;
}

/* The list of the block that starts at atom `first`, made anew if it is older than the last sorting; NULL without
 * memory. */
static FOR_PROCESSORS const lj_list *list_of(lj_fluid *fluid, size_t first, size_t count)
{
    lj_list *list = &fluid->lists[first / fluid->block];
    size_t n = 0;
    if (list->made == fluid->sortings)
        return list;
    if (!list->start)
        list->start = malloc((fluid->block + 1) * sizeof *list->start);
    for (size_t i = 0; list->start && i < count; i++) {
        list->start[i] = (uint32_t)n;
        if (!add_neighbours(fluid, first + i, list, &n) || n > UINT32_MAX)
            break;
        list->start[i + 1] = (uint32_t)n;
        if (i + 1 == count)
            list->made = fluid->sortings;
    }
    if (list->made == fluid->sortings)
        return list;
    fluid->problem = "not enough memory for lists of neighbours";
    return NULL;
}

/* Adds the contributions of n atoms at other[0][], other[1][], other[2][] to one at x. Those beyond the cutoff add 0. */
static inline __attribute__((always_inline)) void add_pairs(struct sums *sums, const double *x, const double *side,
                                                            double other[3][PAIRS], size_t n, bool energies)
{
    double px = x[0], py = x[1], pz = x[2], sx = side[0], sy = side[1], sz = side[2];
    double fx = 0, fy = 0, fz = 0, energy = 0, virial = 0, least = 1;
#pragma omp simd reduction(+ : fx, fy, fz, energy, virial) reduction(min : least)
    for (size_t k = 0; k < n; k++) {
        double dx = shortest(px - other[0][k], sx), dy = shortest(py - other[1][k], sy), dz = shortest(pz - other[2][k], sz);
        double r2 = dx * dx + dy * dy + dz * dz, inverse = 1 / r2, r6 = inverse * inverse * inverse;
        r6 = r2 < cutoff * cutoff ? r6 : 0;
        double force = 24 * inverse * r6 * (2 * r6 - 1);
        fx += (force * dx + TO_32) - TO_32;
        fy += (force * dy + TO_32) - TO_32;
        fz += (force * dz + TO_32) - TO_32;
        least = r2 < least ? r2 : least;
        if (energies) {
            energy += (4 * r6 * (r6 - 1) + TO_36) - TO_36;
            virial += (force * r2 + TO_32) - TO_32;
        }
    }
    sums->fx += fx, sums->fy += fy, sums->fz += fz;
    sums->energy += energy, sums->virial += virial;
    sums->nearest = least < sums->nearest ? least : sums->nearest;
}

/* Sums over the neighbours of atom i, whose positions are first copied side by side. */
static inline __attribute__((always_inline)) struct sums look_around(const lj_fluid *fluid, size_t i, const uint32_t *neighbour,
                                                                     size_t n, bool energies)
{
    double other[3][PAIRS];
    struct sums sums = {.nearest = 1};
    for (size_t from = 0; from < n; from += PAIRS) {
        size_t count = n - from < PAIRS ? n - from : PAIRS;
        for (size_t k = 0; k < count; k++) {
            const double *x = fluid->x + 3 * (size_t)neighbour[from + k];
            other[0][k] = x[0];
            other[1][k] = x[1];
            other[2][k] = x[2];
        }
        add_pairs(&sums, fluid->x + 3 * i, fluid->side, other, count, energies);
    }
    return sums;
}

FOR_PROCESSORS void lj_forces(lj_fluid *fluid, size_t first, size_t count, double *force)
{
    const lj_list *list = list_of(fluid, first, count);
    double least = 1;
    for (size_t i = 0; list && i < count; i++) {
        const uint32_t *neighbour = list->neighbour + list->start[i];
        struct sums sums = look_around(fluid, first + i, neighbour, list->start[i + 1] - list->start[i], false);
        force[3 * i] = sums.fx;
        force[3 * i + 1] = sums.fy;
        force[3 * i + 2] = sums.fz;
        least = sums.nearest < least ? sums.nearest : least;
    }
    if (least < nearest)
        fluid->problem = "two atoms are too close to each other for this length of step";
}

FOR_PROCESSORS void lj_energies(lj_fluid *fluid, size_t first, size_t count, double *energies)
{
    const lj_list *list = list_of(fluid, first, count);
    double least = 1;
    for (size_t i = 0; list && i < count; i++) {
        const uint32_t *neighbour = list->neighbour + list->start[i];
        struct sums sums = look_around(fluid, first + i, neighbour, list->start[i + 1] - list->start[i], true);
        energies[2 * i] = sums.energy / 2;
        energies[2 * i + 1] = sums.virial / 2;
        least = sums.nearest < least ? sums.nearest : least;
    }
    if (least < nearest)
        fluid->problem = "two atoms are too close to each other for this length of step";
}

int64_t lj_fixed(double energy)
{
    return llrint(energy * 0x1p36);
}

double lj_temperature(const lj_fluid *fluid, int64_t kinetic)
{
    return fluid->atoms > 1 ? (double)kinetic * 0x1p-36 * 2 / (3 * ((double)fluid->atoms - 1)) : 0;
}

void lj_thermo_line(const lj_fluid *fluid, uint64_t step, const int64_t sums[3], char line[LJ_LINE])
{
    double n = (double)fluid->atoms, volume = fluid->side[0] * fluid->side[1] * fluid->side[2];
    double temperature = lj_temperature(fluid, sums[0]);
    double kinetic = (double)sums[0] * 0x1p-36 / n, pair = (double)sums[1] * 0x1p-36 / n;
    double pressure = (temperature * (n - 1) + (double)sums[2] * 0x1p-36 / 3) / volume;
    snprintf(line, LJ_LINE, "%8" PRIu64 " %14.10g %14.10g %14.10g %14.10g", step, temperature, pair, kinetic + pair, pressure);
}
