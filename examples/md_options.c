#include "md_options.h"

#include "lennard_jones.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char md_usage[] = "usage: md [--steps N] [--thermo N] [FILE.data | [--cells N|XxYxZ] [--density D] [--temperature T]]\n";

const char md_help[] =
    "usage: md [--steps N] [--thermo N] FILE.data\n"
    "       md [--steps N] [--thermo N] [--cells N|XxYxZ] [--density D] [--temperature T]\n"
    "Molecular dynamics of a Lennard-Jones fluid at constant energy: reduced units, cutoff 2.5, time step 0.005.\n"
    "  FILE.data        a LAMMPS data file (atom_style atomic, one type of atoms); without it a lattice is made\n"
    "  --steps N        time steps (500)\n"
    "  --thermo N       a line of figures every N steps (50); 0: the first and the last only\n"
    "  --cells N        N x N x N cells of four atoms (10), or as many to each side as 25x25x40 says\n"
    "  --density D      atoms by volume (0.8442)\n"
    "  --temperature T  at the start (3)\n"
    "Options that start with --dome- are the library's: --dome-help.\n";

static bool read_count(const char *text, char **end, uint64_t *value)
{
    errno = 0;
    *value = strtoull(text, end, 10);
    return *text >= '0' && *text <= '9' && !errno;
}

/* "10" or "25x25x40" */
static bool read_cells(const char *text, uint64_t cells[3])
{
    char *end;
    for (int d = 0; d < 3; d++) {
        if (!read_count(text, &end, &cells[d]) || cells[d] < 1 || cells[d] > LJ_ATOMS / 4)
            return false;
        if (d == 0 && !*end) {
            cells[1] = cells[2] = cells[0];
            return true;
        }
        if (*end != (d < 2 ? 'x' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_value(const char *text, double least, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= least && *value <= 1e6;
}

static bool read_option(md_options *options, const char *name, const char *value)
{
    char *end = "";
    if (strcmp(name, "--steps") == 0)
        return read_count(value, &end, &options->steps) && !*end && options->steps <= INT64_MAX;
    if (strcmp(name, "--thermo") == 0)
        return read_count(value, &end, &options->thermo) && !*end;
    if (strcmp(name, "--cells") == 0)
        return read_cells(value, options->cells);
    if (strcmp(name, "--density") == 0)
        return read_value(value, 1e-6, &options->density);
    return strcmp(name, "--temperature") == 0 && read_value(value, 0, &options->temperature);
}

bool md_parse(md_options *options, int argc, char **argv)
{
    bool lattice = false;
    *options = (md_options){500, 50, {10, 10, 10}, 0.8442, 3.0, NULL, argc == 2 && strcmp(argv[1], "--help") == 0};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && argv[i][0] && !options->path) {
            options->path = argv[i];
            continue;
        }
        if (i + 1 == argc || !read_option(options, argv[i], argv[i + 1]))
            return false;
        lattice |= strcmp(argv[i], "--steps") != 0 && strcmp(argv[i], "--thermo") != 0;
        i++;
    }
    return !(lattice && options->path) && md_lattice_atoms(options) <= LJ_ATOMS;
}

bool md_read_file(lammps_atoms *atoms, const char *path, char error[LAMMPS_ERROR])
{
    if (!lammps_read(atoms, path, error))
        return false;
    for (uint64_t k = 0; k < 3 * atoms->n; k++)
        atoms->x[k] = lj_into_box(atoms->x[k], atoms->side[k % 3]);
    return true;
}

uint64_t md_lattice_atoms(const md_options *options)
{
    double cells = (double)options->cells[0] * (double)options->cells[1] * (double)options->cells[2];
    return cells <= (double)LJ_ATOMS ? 4 * (uint64_t)cells : UINT64_MAX;
}

void md_lattice_box(const md_options *options, double side[3])
{
    double width = cbrt(4 / options->density);
    for (int d = 0; d < 3; d++)
        side[d] = (double)options->cells[d] * width;
}

/* Cell by cell, four atoms each: at a corner and in the middle of the three faces that meet there. */
void md_lattice_place(const md_options *options, const double side[3], uint64_t i, double x[3])
{
    static const double base[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    uint64_t cell = i / 4;
    for (int d = 0; d < 3; d++) {
        x[d] = ((double)(cell % options->cells[d]) + base[i % 4][d]) * (side[d] / (double)options->cells[d]);
        cell /= options->cells[d];
    }
}
