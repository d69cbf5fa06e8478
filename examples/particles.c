/* Particles in a box that attract one another and gather in clumps. The work for a particle grows with the number of its
 * neighbours, which is 10 times and more higher in a clump than in the thin gas around, and changes as clouds draw together, meet
 * and fly apart.
 *
 *     particles [--particles N] [--steps S]
 *
 * In each step every task sorts all particles into cells, which is little work, and computes the forces on its own. */
#include <ctype.h>
#include <dome/dome.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The unit of length is the range of the forces. Two particles at a distance r below it have the potential energy
 * pull * (core / 2 * w^4 - w^2) with w = 1 - r^2, which repels those that are very near. damping is what a step leaves of a
 * velocity. */
static const double dt = 0.1, pull = 0.0006, core = 1.5, damping = 0.997;

/* The particles come in clouds of equal numbers and unequal size, all measured by the side of the box. Particles leave the middle
 * of their cloud at a speed of `growth` times their distance from it. */
struct cloud {
    double x, y, size, vx, vy, growth;
};

static const struct cloud clouds[] = {
    {0.20, 0.25, 0.25, +0.006, +0.004, -0.040}, {0.50, 0.50, 1.00, 0, 0, 0}, /* as every second one: thin gas */
    {0.75, 0.30, 0.08, -0.008, +0.006, +0.180}, {0.50, 0.50, 1.00, 0, 0, 0},
    {0.30, 0.75, 0.12, +0.008, -0.008, +0.040}, {0.50, 0.50, 1.00, 0, 0, 0},
    {0.75, 0.75, 0.50, -0.004, -0.004, -0.044}, {0.50, 0.50, 1.00, 0, 0, 0},
};

enum { CLOUDS = sizeof clouds / sizeof clouds[0] };

struct box {
    size_t particles, steps, side; /* side * side cells of length 1 */
    size_t *start;                 /* where the particles of each cell start in x and y, and where the last ones end */
    double *x, *y;                 /* positions in the box, by cell */
};

struct surroundings {
    double fx, fy, potential, neighbours;
};

struct energies {
    double kinetic, potential;
};

/* The box is periodic: what leaves it comes in on the other side. Nothing may be rounded to its very end, which is in no cell. */
static double into_box(const struct box *box, double x)
{
    double side = (double)box->side, inside = x - side * floor(x / side);
    return inside < side ? inside : 0;
}

/* Velocities and positions from random numbers in [0, 1). */
static void launch(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const struct box *box = ctx;
    const double *random = in[0];
    double *v = out, side = (double)box->side;
    for (size_t i = 0; i < count; i++) {
        const struct cloud *c = &clouds[(first + i) * CLOUDS / box->particles];
        v[2 * i] = side * (c->vx + c->growth * c->size * (random[2 * i] - 0.5));
        v[2 * i + 1] = side * (c->vy + c->growth * c->size * (random[2 * i + 1] - 0.5));
    }
}

static void place(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const struct box *box = ctx;
    const double *random = in[0];
    double *x = out, side = (double)box->side;
    for (size_t i = 0; i < count; i++) {
        const struct cloud *c = &clouds[(first + i) * CLOUDS / box->particles];
        x[2 * i] = into_box(box, side * (c->x + c->size * (random[2 * i] - 0.5)));
        x[2 * i + 1] = into_box(box, side * (c->y + c->size * (random[2 * i + 1] - 0.5)));
    }
}

static size_t cell_at(const struct box *box, const double *position)
{
    return (size_t)position[1] * box->side + (size_t)position[0];
}

/* Sorts by cell, and inside a cell by index: the sums over particles have one order, whoever computes them. */
static void sort(struct box *box, const double *x)
{
    size_t cells = box->side * box->side, *end = box->start + 1;
    memset(box->start, 0, (cells + 2) * sizeof *box->start);
    for (size_t i = 0; i < box->particles; i++)
        end[cell_at(box, x + 2 * i) + 1]++;
    for (size_t c = 1; c < cells; c++)
        end[c] += end[c - 1];
    for (size_t i = 0; i < box->particles; i++) {
        size_t to = end[cell_at(box, x + 2 * i)]++;
        box->x[to] = x[2 * i];
        box->y[to] = x[2 * i + 1];
    }
}

/* The row or column next to `cell`; *x is moved along where that is around the end of the box. */
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

/* Adds what the particles of a cell mean to one at (x, y). */
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

/* All that is near a particle is in nine cells. The particle is there too: it pulls nobody, and the start of the sum takes it off
 * the rest. */
static inline struct surroundings look_around(const struct box *box, const double *particle)
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

/* New velocities from old ones and positions. */
static void kick(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *old = in[0], *x = in[1];
    double *v = out;
    (void)first;
    for (size_t i = 0; i < count; i++) {
        struct surroundings around = look_around(ctx, x + 2 * i);
        v[2 * i] = damping * (old[2 * i] + dt * around.fx);
        v[2 * i + 1] = damping * (old[2 * i + 1] + dt * around.fy);
    }
}

static void drift(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *old = in[0], *v = in[1];
    double *x = out;
    (void)first;
    for (size_t k = 0; k < 2 * count; k++)
        x[k] = into_box(ctx, old[k] + dt * v[k]);
}

/* Energies are rounded to multiples of 2^-30: then sums are exact, and the sequential twin, which does not sum by
 * block, has the same. */
static double rounded(double energy)
{
    return rint(energy * 0x1p30) * 0x1p-30;
}

static void kinetic(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *v = in[0];
    double *energy = out;
    (void)ctx, (void)first;
    for (size_t i = 0; i < count; i++)
        energy[i] = rounded((v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]) / 2);
}

static void potential(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    double *energy = out;
    (void)first;
    for (size_t i = 0; i < count; i++)
        energy[i] = rounded(look_around(ctx, x + 2 * i).potential / 2);
}

static void neighbours(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    double *number = out;
    (void)first;
    for (size_t i = 0; i < count; i++)
        number[i] = look_around(ctx, x + 2 * i).neighbours;
}

/* Integers whose sum changes with any bit of the positions. */
static void mix(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    int64_t *number = out;
    (void)ctx, (void)first;
    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        number[i] = (int64_t)(bits * 0x9E3779B97F4A7C15 >> 32);
    }
}

static struct energies report(dome_env *env, struct box *box, size_t step, dvec *x, dvec *v, dvec *each)
{
    struct energies energies;
    dvec_map(each, kinetic, NULL, 1, &v);
    energies.kinetic = dvec_sum(each);
    dvec_map(each, potential, box, 1, &x);
    energies.potential = dvec_sum(each);
    dvec_map(each, neighbours, box, 1, &x);
    double mean = dvec_sum(each) / (double)box->particles;
    dome_print(env, "step %zu: kinetic %.9g, potential %.9g, neighbours %.6g on average, %g at most\n", step, energies.kinetic,
               energies.potential, mean, dvec_max_value(each));
    return energies;
}

/* Fewer than three cells a side would meet a particle twice around the ends. */
static bool set_up(struct box *box)
{
    box->side = (size_t)sqrt((double)box->particles / 5);
    if (box->side < 3)
        box->side = 3;
    box->start = calloc(box->side * box->side + 2, sizeof *box->start);
    box->x = calloc(box->particles, sizeof *box->x);
    box->y = calloc(box->particles, sizeof *box->y);
    return box->start && box->x && box->y;
}

static bool parse(int argc, char **argv, struct box *box)
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

static int show_usage(dome_env *env, bool wanted)
{
    if (dome_rank(env) == 0)
        fprintf(wanted ? stdout : stderr, "%susage: particles [--particles N] [--steps S], N at least 1\n",
                wanted ? "" : "particles: ");
    dome_finalize(env);
    return wanted ? 0 : 2;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct box box = {.particles = 8192, .steps = 400};
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return show_usage(env, true);
    if (!parse(argc, argv, &box))
        return show_usage(env, false);
    if (!set_up(&box))
        dome_abort(env, "particles: not enough memory for %zu particles", box.particles);

    size_t n = box.particles;
    const dvec_options two = {.width = 2};
    dvec *x = dvec_new_with(env, "x", DOME_F64, n, &two), *v = dvec_new_with(env, "v", DOME_F64, n, &two);
    dscalar *at = dscalar_new(env, "step", DOME_I64);
    /* scratch, without a name: checkpoints need not have it */
    dvec *each = dvec_new(env, NULL, DOME_F64, n), *bits = dvec_new_with(env, NULL, DOME_I64, n, &two);
    if (!dome_is_restarting(env)) {
        dvec_random(x, 1);
        dvec_map(v, launch, &box, 1, &x);
        dvec_map(x, place, &box, 1, &x);
    }

    size_t often = box.steps >= 10 ? box.steps / 10 : 1;
    struct energies energies = {0};
    for (size_t step = (size_t)dscalar_get_i64(at);; step++) {
        sort(&box, dvec_whole(x));
        if (step % often == 0 || step >= box.steps)
            energies = report(env, &box, step, x, v, each);
        if (step >= box.steps)
            break;
        dvec_map(v, kick, &box, 2, (dvec *[]){v, x});
        dvec_map(x, drift, &box, 2, (dvec *[]){x, v});
        dscalar_set_i64(at, (int64_t)step + 1);
        dome_checkpoint(env);
    }

    dvec_map(bits, mix, NULL, 1, &x);
    dome_print(env, "after %zu steps: kinetic %.15g  %a, potential %.15g  %a, positions %" PRIx64 "\n", box.steps,
               energies.kinetic, energies.kinetic, energies.potential, energies.potential, (uint64_t)dvec_sum_i64(bits));
    free(box.start), free(box.x), free(box.y);
    return dome_finalize(env);
}
