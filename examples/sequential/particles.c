/* Particles in a box that attract one another and gather in clumps: the sequential twin of ../particles.c. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
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

/* The number in [0, 1) that dvec_random gives for a position: Philox4x32-10. */
static double random_number(uint64_t seed, uint64_t position)
{
    uint32_t c[4] = {(uint32_t)position, (uint32_t)(position >> 32), 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ key[0];
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ key[1];
        c[3] = (uint32_t)a;
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return (double)(((uint64_t)c[1] << 32 | c[0]) >> 11) * 0x1p-53;
}

/* The box is periodic: what leaves it comes in on the other side. Nothing may be rounded to its very end, which is in no cell. */
static double into_box(const struct box *box, double x)
{
    double side = (double)box->side, inside = x - side * floor(x / side);
    return inside < side ? inside : 0;
}

static void launch(const struct box *box, double *x, double *v)
{
    double side = (double)box->side;
    for (size_t i = 0; i < box->particles; i++) {
        const struct cloud *c = &clouds[i * CLOUDS / box->particles];
        double dx = random_number(1, 2 * i) - 0.5, dy = random_number(1, 2 * i + 1) - 0.5;
        v[2 * i] = side * (c->vx + c->growth * c->size * dx);
        v[2 * i + 1] = side * (c->vy + c->growth * c->size * dy);
        x[2 * i] = into_box(box, side * (c->x + c->size * dx));
        x[2 * i + 1] = into_box(box, side * (c->y + c->size * dy));
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

static void move(const struct box *box, double *x, double *v)
{
    for (size_t i = 0; i < box->particles; i++) {
        struct surroundings around = look_around(box, x + 2 * i);
        v[2 * i] = damping * (v[2 * i] + dt * around.fx);
        v[2 * i + 1] = damping * (v[2 * i + 1] + dt * around.fy);
    }
    for (size_t k = 0; k < 2 * box->particles; k++)
        x[k] = into_box(box, x[k] + dt * v[k]);
}

/* Energies are rounded to multiples of 2^-30: then sums are exact, and ../particles.c has the same.
 */
static double rounded(double energy)
{
    return rint(energy * 0x1p30) * 0x1p-30;
}

static void report(const struct box *box, size_t step, const double *x, const double *v, double *kinetic, double *potential)
{
    double neighbours = 0, most = 0;
    *kinetic = *potential = 0;
    for (size_t i = 0; i < box->particles; i++) {
        struct surroundings around = look_around(box, x + 2 * i);
        *kinetic += rounded((v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]) / 2);
        *potential += rounded(around.potential / 2);
        neighbours += around.neighbours;
        most = fmax(most, around.neighbours);
    }
    printf("step %zu: kinetic %.9g, potential %.9g, neighbours %.6g on average, %g at most\n", step, *kinetic, *potential,
           neighbours / (double)box->particles, most);
}

/* A sum that changes with any bit of the positions. */
static uint64_t mix(const struct box *box, const double *x)
{
    uint64_t sum = 0, bits;
    for (size_t k = 0; k < 2 * box->particles; k++) {
        memcpy(&bits, &x[k], sizeof bits);
        sum += bits * 0x9E3779B97F4A7C15 >> 32;
    }
    return sum;
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

int main(int argc, char **argv)
{
    struct box box = {.particles = 8192, .steps = 400};
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (help || !parse(argc, argv, &box)) {
        fprintf(help ? stdout : stderr, "%susage: particles [--particles N] [--steps S], N at least 1\n",
                help ? "" : "particles: ");
        return help ? 0 : 2;
    }
    bool ready = set_up(&box);
    double *x = calloc(box.particles, 2 * sizeof *x), *v = calloc(box.particles, 2 * sizeof *v), kinetic = 0, potential = 0;
    if (!ready || !x || !v) {
        fprintf(stderr, "particles: not enough memory for %zu particles\n", box.particles);
        return 1;
    }

    launch(&box, x, v);
    size_t often = box.steps >= 10 ? box.steps / 10 : 1;
    for (size_t step = 0; step <= box.steps; step++) {
        sort(&box, x);
        if (step % often == 0 || step == box.steps)
            report(&box, step, x, v, &kinetic, &potential);
        if (step < box.steps)
            move(&box, x, v);
    }
    printf("after %zu steps: kinetic %.15g  %a, potential %.15g  %a, positions %" PRIx64 "\n", box.steps, kinetic, kinetic,
           potential, potential, mix(&box, x));
    free(box.start), free(box.x), free(box.y), free(x), free(v);
    return 0;
}
