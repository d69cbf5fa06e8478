/* md as dome-cc saves it: dome_checkpoint stands in a function that main calls, and nothing in the program is about going on from
 * a checkpoint. It prints what ../md.c prints, and has its options.
 *
 * Positions of all atoms and lists of neighbours are made anew for each stretch of steps, and given up before dome_checkpoint:
 * lists differ between tasks, and with values that differ the number of tasks would have to stay. */
#include "lennard_jones.h"
#include "md_options.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double dt = 0.005;

enum { STRETCH = 10, BLOCK = 1024 }; /* steps between two calls of dome_checkpoint; the most atoms of a block (dome_block_size) */

struct md {
    md_options options;
    lammps_atoms file;
    size_t atoms;
    double side[3];
    lj_fluid fluid;
    int64_t step;           /* for messages */
    int halves;             /* half kicks done at once */
    double shift[3], scale; /* of velocities */
};

/* Velocity Verlet moves atoms in between two kicks of half a step. The second kick of one step and the first of the
 * next are at the same positions: unless the velocities in between are needed, they share the forces. */
static void kick(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    struct md *md = ctx;
    const double *old = in[0];
    double *v = out, force[3 * BLOCK];
    lj_forces(&md->fluid, first, count, force);
    for (size_t k = 0; k < 3 * count; k++) {
        double half = dt / 2 * force[k], once = old[k] + half;
        v[k] = md->halves == 1 ? once : once + half;
    }
}

static void drift(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct md *md = ctx;
    const double *old = in[0], *v = in[1];
    double *x = out;
    (void)first;
    for (size_t k = 0; k < 3 * count; k++)
        x[k] = lj_into_box(old[k] + dt * v[k], md->side[k % 3]);
}

/* Kinetic energy, potential energy and virial of each atom. */
static void energies(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    struct md *md = ctx;
    const double *v = in[0];
    double energy[2 * BLOCK];
    int64_t *parts = out;
    lj_energies(&md->fluid, first, count, energy);
    for (size_t i = 0; i < count; i++, v += 3) {
        parts[3 * i] = lj_fixed((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2);
        parts[3 * i + 1] = lj_fixed(energy[2 * i]);
        parts[3 * i + 2] = lj_fixed(energy[2 * i + 1]);
    }
}

static void velocities(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *v = in[0];
    int64_t *parts = out;
    (void)ctx, (void)first;
    for (size_t k = 0; k < 3 * count; k++)
        parts[k] = lj_fixed(v[k]);
}

/* Integers whose sum changes with any bit of the values. */
static void mix(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *value = in[0];
    int64_t *number = out;
    (void)ctx, (void)first;
    for (size_t k = 0; k < 3 * count; k++) {
        uint64_t bits;
        memcpy(&bits, &value[k], sizeof bits);
        number[k] = (int64_t)(bits * 0x9E3779B97F4A7C15 >> 32);
    }
}

static void pick(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const int64_t *parts = in[0];
    (void)first;
    for (size_t i = 0; i < count; i++)
        ((int64_t *)out)[i] = parts[3 * i + *(int *)ctx];
}

/* A failure of one task ends all of them. */
static void check(dome_env *env, const struct md *md)
{
    if (md->fluid.problem)
        dome_abort(env, "md: step %" PRId64 ": %s", md->step, md->fluid.problem);
}

/* Sums of the three integers that a kernel computes for each atom. */
static void sum(dome_env *env, struct md *md, dvec_kernel kernel, dvec *in, int64_t sums[3])
{
    dvec *parts = dvec_new_with(env, NULL, DOME_I64, md->atoms, DVEC_OPTIONS(.width = 3));
    dvec *part = dvec_new(env, NULL, DOME_I64, md->atoms);
    dvec_map(parts, kernel, md, 1, &in);
    check(env, md);
    for (int d = 0; d < 3; d++) {
        dvec_map(part, pick, &d, 1, &parts);
        sums[d] = dvec_sum_i64(part);
    }
    dvec_free(part);
    dvec_free(parts);
}

static void from_file(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    memcpy(out, (const double *)ctx + 3 * first, 3 * count * sizeof(double));
    (void)in;
}

static void from_lattice(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct md *md = ctx;
    (void)in;
    for (size_t i = 0; i < count; i++)
        md_lattice_place(&md->options, md->side, first + i, (double *)out + 3 * i);
}

static void adjust(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct md *md = ctx;
    const double *v = in[0];
    (void)first;
    for (size_t k = 0; k < 3 * count; k++)
        ((double *)out)[k] = (v[k] - md->shift[k % 3]) * md->scale;
}

/* Random velocities with a total momentum of 0 and the temperature wanted. */
static void launch(dome_env *env, struct md *md, dvec *v)
{
    int64_t sums[3];
    dvec_random(v, 1);
    sum(env, md, velocities, v, sums);
    for (int d = 0; d < 3; d++)
        md->shift[d] = (double)sums[d] * 0x1p-36 / (double)md->atoms;
    md->scale = 1;
    dvec_map(v, adjust, md, 1, &v);
    sum(env, md, energies, v, sums);
    memset(md->shift, 0, sizeof md->shift);
    md->scale = sqrt(md->options.temperature / lj_temperature(&md->fluid, sums[0]));
    dvec_map(v, adjust, md, 1, &v);
}

static void initialise(dome_env *env, struct md *md, dvec *x, dvec *v)
{
    if (md->options.path) {
        dvec_map(x, from_file, md->file.x, 0, NULL);
        dvec_map(v, from_file, md->file.v, 0, NULL);
    } else {
        dvec_map(x, from_lattice, md, 0, NULL);
        lj_positions(&md->fluid, dvec_allgather(x));
        launch(env, md, v);
    }
}

/* Rank 0 reads the file, so only its host needs to have it. */
static void read_file(dome_env *env, struct md *md)
{
    lammps_atoms *file = &md->file;
    char error[LAMMPS_ERROR];
    if (dome_rank(env) == 0 && !md_read_file(file, md->options.path, error))
        dome_abort(env, "md: %s", error);
    dome_bcast(env, 0, DOME_U64, &file->n, 1);
    dome_bcast(env, 0, DOME_F64, file->side, 3);
    if (dome_rank(env) != 0 && !lammps_alloc(file))
        dome_abort(env, "md: not enough memory for %" PRIu64 " atoms", file->n);
    dome_bcast(env, 0, DOME_F64, file->x, 3 * file->n);
    dome_bcast(env, 0, DOME_F64, file->v, 3 * file->n);
    md->atoms = file->n;
    memcpy(md->side, file->side, sizeof md->side);
}

static void begin_stretch(dome_env *env, struct md *md)
{
    const char *problem = lj_init(&md->fluid, md->atoms, md->side, dome_block_size(md->atoms));
    if (problem)
        dome_abort(env, "md: %s", problem);
}

static void kick_all(dome_env *env, struct md *md, dvec *v, int halves)
{
    md->halves = halves;
    dvec_map(v, kick, md, 1, &v);
    check(env, md);
}

static void report(dome_env *env, struct md *md, dvec *v)
{
    int64_t sums[3];
    char line[LJ_LINE];
    sum(env, md, energies, v, sums);
    lj_thermo_line(&md->fluid, (uint64_t)md->step, sums, line);
    dome_print(env, "%s\n", line);
}

static uint64_t bits_of(dome_env *env, struct md *md, dvec *values)
{
    int64_t sums[3];
    sum(env, md, mix, values, sums);
    return (uint64_t)sums[0] + 3 * (uint64_t)sums[1] + 5 * (uint64_t)sums[2];
}

static int show_usage(dome_env *env, bool wanted)
{
    if (dome_rank(env) == 0)
        fprintf(wanted ? stdout : stderr, "%s%s", wanted ? "" : "md: ", wanted ? md_help : md_usage);
    dome_finalize(env);
    return wanted ? 0 : 2;
}

static void run(dome_env *env, struct md *md, dvec *x, dvec *v)
{
    int64_t steps = (int64_t)md->options.steps, every = (int64_t)md->options.thermo;
    for (;; md->step++) {
        bool reports = md->step == 0 || md->step == steps || (every > 0 && md->step % every == 0);
        if (md->step % STRETCH == 0 && md->step > 0) {
            lj_clear(&md->fluid);
            md->fluid = (lj_fluid){0};
            dome_progress(env, (uint64_t)md->step, (uint64_t)steps, "steps");
            dome_checkpoint(env);
            begin_stretch(env, md);
        }
        lj_positions(&md->fluid, dvec_allgather(x));
        if (reports && md->step > 0)
            kick_all(env, md, v, 1);
        if (reports)
            report(env, md, v);
        if (md->step >= steps)
            break;
        kick_all(env, md, v, reports ? 1 : 2);
        dvec_map(x, drift, md, 2, (dvec *[]){x, v});
    }
    lj_clear(&md->fluid);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    struct md md = {0};
    if (!md_parse(&md.options, argc, argv))
        return show_usage(env, md.options.help);
    md.atoms = md_lattice_atoms(&md.options);
    md_lattice_box(&md.options, md.side);
    if (md.options.path)
        read_file(env, &md);
    begin_stretch(env, &md);

    dvec *x = dvec_new_with(env, NULL, DOME_F64, md.atoms, DVEC_OPTIONS(.width = 3)), *v = dvec_new_like(x, NULL);
    initialise(env, &md, x, v);
    dome_print(env, "%zu atoms in a box of %g x %g x %g\n%s\n", md.atoms, md.side[0], md.side[1], md.side[2], LJ_THERMO_HEAD);
    lammps_clear(&md.file);
    run(env, &md, x, v);

    uint64_t x_bits = bits_of(env, &md, x), v_bits = bits_of(env, &md, v);
    dome_print(env, "after %" PRId64 " steps: positions %" PRIx64 ", velocities %" PRIx64 "\n", md.step, x_bits, v_bits);
    return dome_finalize(env);
}
