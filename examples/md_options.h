/* The command line of md, and the atoms that it describes. */
#ifndef MD_OPTIONS_H
#define MD_OPTIONS_H

#include "lammps_data.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct md_options {
    uint64_t steps, thermo; /* thermo: steps between two lines of output; 0: only the first and the last */
    uint64_t cells[3];
    double density, temperature;
    const char *path; /* of a data file; NULL for a lattice */
    bool help;
} md_options;

extern const char md_usage[], md_help[]; /* the usage line; the full help */

/* False if the usage is to be printed; also with --help. */
bool md_parse(md_options *options, int argc, char **argv);

/* The atoms of a data file, moved into the box. False with the reason in error. */
bool md_read_file(lammps_atoms *atoms, const char *path, char error[LAMMPS_ERROR]);

/* The face-centred cubic lattice: number of atoms, box, and position of atom i. */
uint64_t md_lattice_atoms(const md_options *options);
void md_lattice_box(const md_options *options, double side[3]);
void md_lattice_place(const md_options *options, const double side[3], uint64_t i, double x[3]);

#endif
