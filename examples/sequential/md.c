/* Molecular dynamics of a Lennard-Jones fluid: the sequential twin of ../md.c. */
#include "../lennard_jones.h"
#include "../md_options.h"
#include "../random_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double dt = 0.005;

struct md {
    md_options options;
    lj_fluid fluid;
    double *x, *v, *scratch;
};

static void check(const struct md *md, uint64_t step)
{
    if (md->fluid.problem) {
        fprintf(stderr, "md: step %" PRIu64 ": %s\n", step, md->fluid.problem);
        exit(1);
    }
}

/* Two kicks of half a step at the same positions share the forces. */
static void kick(struct md *md, int halves, uint64_t step)
{
    lj_forces(&md->fluid, 0, md->fluid.atoms, md->scratch);
    check(md, step);
    for (size_t k = 0; k < 3 * md->fluid.atoms; k++) {
        double half = dt / 2 * md->scratch[k];
        md->v[k] += half;
        if (halves == 2)
            md->v[k] += half;
    }
}

static void drift(struct md *md)
{
    for (size_t k = 0; k < 3 * md->fluid.atoms; k++)
        md->x[k] = lj_into_box(md->x[k] + dt * md->v[k], md->fluid.side[k % 3]);
}

static int64_t kinetic(const struct md *md)
{
    int64_t sum = 0;
    for (const double *v = md->v; v < md->v + 3 * md->fluid.atoms; v += 3)
        sum += lj_fixed((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2);
    return sum;
}

static void report(struct md *md, uint64_t step)
{
    int64_t sums[3] = {kinetic(md), 0, 0};
    char line[LJ_LINE];
    lj_energies(&md->fluid, 0, md->fluid.atoms, md->scratch);
    check(md, step);
    for (size_t i = 0; i < md->fluid.atoms; i++) {
        sums[1] += lj_fixed(md->scratch[2 * i]);
        sums[2] += lj_fixed(md->scratch[2 * i + 1]);
    }
    lj_thermo_line(&md->fluid, step, sums, line);
    puts(line);
}

/* Random velocities with a total momentum of 0 and the temperature wanted. */
static void launch(struct md *md)
{
    size_t n = md->fluid.atoms;
    int64_t sums[3] = {0};
    for (size_t k = 0; k < 3 * n; k++) {
        md->v[k] = random_number(1, k);
        sums[k % 3] += lj_fixed(md->v[k]);
    }
    for (size_t k = 0; k < 3 * n; k++)
        md->v[k] -= (double)sums[k % 3] * 0x1p-36 / (double)n;
    double scale = sqrt(md->options.temperature / lj_temperature(&md->fluid, kinetic(md)));
    for (size_t k = 0; k < 3 * n; k++)
        md->v[k] *= scale;
}

/* A sum that changes with any bit of the values. */
static uint64_t mix(const struct md *md, const double *values)
{
    uint64_t sum = 0, bits;
    for (size_t k = 0; k < 3 * md->fluid.atoms; k++) {
        memcpy(&bits, &values[k], sizeof bits);
        sum += (2 * (k % 3) + 1) * (bits * 0x9E3779B97F4A7C15 >> 32);
    }
    return sum;
}

static bool set_up(struct md *md, char error[LAMMPS_ERROR])
{
    lammps_atoms file = {.n = md_lattice_atoms(&md->options)};
    if (!md->options.path)
        md_lattice_box(&md->options, file.side);
    else if (!md_read_file(&file, md->options.path, error))
        return false;
    size_t n = file.n;
    const char *problem = lj_init(&md->fluid, n, file.side, n);
    md->x = problem ? NULL : malloc(3 * n * sizeof *md->x);
    md->v = problem ? NULL : malloc(3 * n * sizeof *md->v);
    md->scratch = problem ? NULL : malloc(3 * n * sizeof *md->scratch);
    if (!md->x || !md->v || !md->scratch) {
        snprintf(error, LAMMPS_ERROR, "%s", problem ? problem : "not enough memory");
        return false;
    }
    if (md->options.path) {
        memcpy(md->x, file.x, 3 * n * sizeof *md->x);
        memcpy(md->v, file.v, 3 * n * sizeof *md->v);
    } else {
        for (size_t i = 0; i < n; i++)
            md_lattice_place(&md->options, file.side, i, md->x + 3 * i);
        launch(md);
    }
    lammps_clear(&file);
    return true;
}

int main(int argc, char **argv)
{
    struct md md = {0};
    char error[LAMMPS_ERROR];
    if (!md_parse(&md.options, argc, argv)) {
        fprintf(md.options.help ? stdout : stderr, "%s%s", md.options.help ? "" : "md: ", md.options.help ? md_help : md_usage);
        return md.options.help ? 0 : 2;
    }
    if (!set_up(&md, error)) {
        fprintf(stderr, "md: %s\n", error);
        return 1;
    }

    const lj_fluid *fluid = &md.fluid;
    printf("%zu atoms in a box of %g x %g x %g\n%s\n", fluid->atoms, fluid->side[0], fluid->side[1], fluid->side[2],
           LJ_THERMO_HEAD);
    uint64_t steps = md.options.steps, every = md.options.thermo;
    for (uint64_t step = 0;; step++) {
        bool reports = step == 0 || step == steps || (every > 0 && step % every == 0);
        lj_positions(&md.fluid, md.x);
        if (reports && step > 0)
            kick(&md, 1, step);
        if (reports)
            report(&md, step);
        if (step >= steps)
            break;
        kick(&md, reports ? 1 : 2, step);
        drift(&md);
    }

    printf("after %" PRIu64 " steps: positions %" PRIx64 ", velocities %" PRIx64 "\n", steps, mix(&md, md.x), mix(&md, md.v));
    lj_clear(&md.fluid);
    free(md.x), free(md.v), free(md.scratch);
    return 0;
}
