/* Forces and energies of a Lennard-Jones fluid in a periodic box, in reduced units, cut off at a distance of 2.5. It knows
 * nothing of Dome: both md use it.
 *
 * What an atom feels is a function of the positions alone, to the last bit. It does not depend on when lists of neighbours
 * were made, in which order they are, or how many pairs a processor works off at a time: the contribution of
 * each pair is rounded to a multiple of 2^-32 (forces, virial) or 2^-36 (energy), and sums of those are exact. So a program that
 * resumes from saved positions, and makes its lists anew, has the same bits as one that was never stopped. */
#ifndef LENNARD_JONES_H
#define LENNARD_JONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Neighbours of the atoms of one block: those of its atom i are neighbour[start[i]] ... neighbour[start[i + 1] - 1]. */
typedef struct lj_list {
    uint64_t made; /* the sorting it was made after */
    size_t room;
    uint32_t *start, *neighbour;
} lj_list;

typedef struct lj_fluid {
    size_t atoms, block;
    double side[3];
    const double *x;     /* all positions, in the box: x[3 i + d] */
    uint64_t sortings;   /* how often atoms were sorted into cells; 0: lists have to be made */
    double *x_sorted;    /* the positions then, by atom */
    double *x_cell;      /* the same by cell: all x, all y, all z */
    uint32_t *atom;      /* which atom that is */
    size_t cells[3];     /* along each side */
    uint32_t *cell;      /* where cells start in x_cell */
    lj_list *lists;      /* for each block of atoms; made when first asked for */
    const char *problem; /* what went wrong, if anything did; checked by the caller after each of the calls below */
} lj_fluid;

/* The shortest side of a box, twice the cutoff: an atom meets one image of another, no more. And the most atoms. */
#define LJ_SIDE  5.0
#define LJ_ATOMS ((uint64_t)1 << 24)

/* For atoms in a box, worked off in blocks of `block`. Returns NULL, or why it cannot be. */
const char *lj_init(lj_fluid *fluid, size_t atoms, const double side[3], size_t block);
void lj_clear(lj_fluid *fluid);

/* From now on the atoms are at x, which has to stay there for the calls below. */
void lj_positions(lj_fluid *fluid, const double *x);

/* For `count` atoms from `first`, all of a block: the force on each, three numbers; its half of the potential energy and of the
 * virial of the pairs it is in, two numbers. */
void lj_forces(lj_fluid *fluid, size_t first, size_t count, double *force);
void lj_energies(lj_fluid *fluid, size_t first, size_t count, double *energies);

/* The box is periodic: what leaves it comes in on the other side. */
double lj_into_box(double x, double side);

/* Energies are added up as multiples of 2^-36, in integers, so that the order does not matter. */
int64_t lj_fixed(double energy);

/* The temperature that goes with a sum of kinetic energies; the total momentum is 0, which leaves 3 (atoms - 1) degrees of
 * freedom. */
double lj_temperature(const lj_fluid *fluid, int64_t kinetic);

/* A line as LAMMPS's thermo style prints it, from the sums of kinetic energy, potential energy and virial: step, temperature,
 * potential and total energy per atom, pressure. No tail corrections. */
enum { LJ_LINE = 128 };
#define LJ_THERMO_HEAD "    Step           Temp         E_pair         TotEng          Press"
void lj_thermo_line(const lj_fluid *fluid, uint64_t step, const int64_t sums[3], char line[LJ_LINE]);

#endif
