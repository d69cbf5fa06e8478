/* NAS MG, written anew: V-cycles for the Poisson equation in a periodic cube, with charges of 1 and -1 at some points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHARGES = 20, MOST_LEVELS = 12 };

/* side points in each direction, and a layer around them that repeats the other end. */
struct cube {
    int side;
    double *v;
};

struct level {
    struct cube u, r;
};

static unsigned state = 314159;

static int draw(int below)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)below);
}

static long at(const struct cube *c, int x, int y, int z)
{
    const long n = c->side + 2;
    return (z * n + y) * n + x;
}

static struct cube cube_new(int side)
{
    const long n = side + 2;
    struct cube c = {side, calloc((size_t)(n * n * n), sizeof(double))};
    if (!c.v)
        exit(1);
    return c;
}

static void clear(struct cube *c)
{
    const long n = c->side + 2;
    for (long k = 0; k < n * n * n; k++)
        c->v[k] = 0;
}

static void wrap(struct cube *c)
{
    const int n = c->side;
    for (int z = 1; z <= n; z++)
        for (int y = 1; y <= n; y++) {
            c->v[at(c, 0, y, z)] = c->v[at(c, n, y, z)];
            c->v[at(c, n + 1, y, z)] = c->v[at(c, 1, y, z)];
        }
    for (int z = 1; z <= n; z++)
        for (int x = 0; x <= n + 1; x++) {
            c->v[at(c, x, 0, z)] = c->v[at(c, x, n, z)];
            c->v[at(c, x, n + 1, z)] = c->v[at(c, x, 1, z)];
        }
    for (int y = 0; y <= n + 1; y++)
        for (int x = 0; x <= n + 1; x++) {
            c->v[at(c, x, y, 0)] = c->v[at(c, x, y, n)];
            c->v[at(c, x, y, n + 1)] = c->v[at(c, x, y, 1)];
        }
}

/* The sum of the 27 points around one, each by how many steps away it is: 0, 1, 2 or 3. */
static double around(const double *p, long row, long plane, const double *by)
{
    const double faces = p[-1] + p[1] + p[-row] + p[row] + p[-plane] + p[plane];
    const double edges = p[-row - 1] + p[-row + 1] + p[row - 1] + p[row + 1] + p[-plane - 1] + p[-plane + 1] + p[plane - 1] +
                         p[plane + 1] + p[-plane - row] + p[-plane + row] + p[plane - row] + p[plane + row];
    const double corners = p[-plane - row - 1] + p[-plane - row + 1] + p[-plane + row - 1] + p[-plane + row + 1] +
                           p[plane - row - 1] + p[plane - row + 1] + p[plane + row - 1] + p[plane + row + 1];
    return by[0] * p[0] + by[1] * faces + by[2] * edges + by[3] * corners;
}

/* r = f - A u; r may be f */
static void residual(struct cube *r, const struct cube *f, const struct cube *u)
{
    static const double by[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
    const long row = u->side + 2, plane = row * row;
    for (int z = 1; z <= u->side; z++)
        for (int y = 1; y <= u->side; y++)
            for (int x = 1; x <= u->side; x++) {
                const long k = at(u, x, y, z);
                r->v[k] = f->v[k] - around(u->v + k, row, plane, by);
            }
    wrap(r);
}

/* u = u + S r */
static void smooth(struct cube *u, const struct cube *r)
{
    static const double by[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
    const long row = u->side + 2, plane = row * row;
    for (int z = 1; z <= u->side; z++)
        for (int y = 1; y <= u->side; y++)
            for (int x = 1; x <= u->side; x++) {
                const long k = at(u, x, y, z);
                u->v[k] += around(r->v + k, row, plane, by);
            }
    wrap(u);
}

static void to_coarse(struct cube *coarse, const struct cube *fine)
{
    static const double by[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};
    const long row = fine->side + 2, plane = row * row;
    for (int z = 1; z <= coarse->side; z++)
        for (int y = 1; y <= coarse->side; y++)
            for (int x = 1; x <= coarse->side; x++)
                coarse->v[at(coarse, x, y, z)] = around(fine->v + at(fine, 2 * x, 2 * y, 2 * z), row, plane, by);
    wrap(coarse);
}

/* Each fine point gets the mean of the coarse ones next to it. */
static void to_fine(struct cube *fine, const struct cube *coarse)
{
    for (int z = 1; z <= fine->side; z++)
        for (int y = 1; y <= fine->side; y++)
            for (int x = 1; x <= fine->side; x++) {
                const int x0 = x / 2, y0 = y / 2, z0 = z / 2, x1 = x0 + x % 2, y1 = y0 + y % 2, z1 = z0 + z % 2;
                fine->v[at(fine, x, y, z)] += 0.125 * (coarse->v[at(coarse, x0, y0, z0)] + coarse->v[at(coarse, x1, y0, z0)] +
                                                       coarse->v[at(coarse, x0, y1, z0)] + coarse->v[at(coarse, x1, y1, z0)] +
                                                       coarse->v[at(coarse, x0, y0, z1)] + coarse->v[at(coarse, x1, y0, z1)] +
                                                       coarse->v[at(coarse, x0, y1, z1)] + coarse->v[at(coarse, x1, y1, z1)]);
            }
    wrap(fine);
}

/* levels[0] is the coarsest. r of the finest one is the residual. */
static void cycle(struct level *levels, int k)
{
    struct level *here = &levels[k];
    if (k > 0) {
        struct level *below = &levels[k - 1];
        to_coarse(&below->r, &here->r);
        clear(&below->u);
        cycle(levels, k - 1);
        to_fine(&here->u, &below->u);
        residual(&here->r, &here->r, &here->u);
    }
    smooth(&here->u, &here->r);
}

static double norm(const struct cube *c)
{
    double sum = 0;
    for (int z = 1; z <= c->side; z++)
        for (int y = 1; y <= c->side; y++)
            for (int x = 1; x <= c->side; x++) {
                const double v = c->v[at(c, x, y, z)];
                sum += v * v;
            }
    return sqrt(sum / c->side / c->side / c->side);
}

static void add(struct cube *u, const struct cube *correction)
{
    const long n = u->side + 2;
    for (long k = 0; k < n * n * n; k++)
        u->v[k] += correction->v[k];
}

int main(int argc, char **argv)
{
    const int side = argc > 1 ? atoi(argv[1]) : 128, cycles = argc > 2 ? atoi(argv[2]) : 12;
    struct level *levels = malloc(MOST_LEVELS * sizeof(struct level));
    struct cube u = cube_new(side), f = cube_new(side);
    int count = 0;
    if (!levels)
        return 1;
    while (side >> count > 2 && count < MOST_LEVELS - 1)
        count++;
    for (int k = 0; k <= count; k++)
        levels[k] = (struct level){cube_new(side >> (count - k)), cube_new(side >> (count - k))};
    for (int k = 0; k < CHARGES; k++) {
        const int x = 1 + draw(side), y = 1 + draw(side), z = 1 + draw(side);
        f.v[at(&f, x, y, z)] = k % 2 ? 1 : -1;
    }
    wrap(&f);
    struct level *finest = &levels[count];
    residual(&finest->r, &f, &u);
    const double before = norm(&finest->r);
    for (int k = 0; k < cycles; k++) {
        clear(&finest->u);
        cycle(levels, count);
        add(&u, &finest->u);
        residual(&finest->r, &f, &u);
    }
    printf("%.10g %.10g\n", before, norm(&finest->r));
    return norm(&finest->r) > before;
}
