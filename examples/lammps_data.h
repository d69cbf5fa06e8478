/* A strict reader of LAMMPS data files (https://docs.lammps.org/read_data.html) of one kind of atoms: atom_style atomic, units
 * lj, a box with right angles. */
#ifndef LAMMPS_DATA_H
#define LAMMPS_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Atom number id of the file has index id - 1 here. */
typedef struct lammps_atoms {
    uint64_t n;    /* at least 1 */
    double low[3]; /* corner of the box */
    double side[3];
    double *x; /* n positions measured from that corner, three numbers each; they may be outside of the box */
    double *v; /* velocities, 0 if the file has none */
} lammps_atoms;

enum { LAMMPS_ERROR = 256 };

/* Takes the atoms from the text of a file. Returns false with the reason, which names the line, in error. What it allocates is
 * bounded by a small multiple of bytes, whatever the text promises. */
bool lammps_parse(lammps_atoms *atoms, const char *text, size_t bytes, char error[LAMMPS_ERROR]);

/* The same from a file; errors name it. */
bool lammps_read(lammps_atoms *atoms, const char *path, char error[LAMMPS_ERROR]);

/* Allocates room for n atoms, where n is set by the caller: for atoms from another source. False without memory. */
bool lammps_alloc(lammps_atoms *atoms);
void lammps_clear(lammps_atoms *atoms);

#endif
