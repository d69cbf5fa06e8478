/* loops.c in PETSc's Vec operations. */
#include "case.h"

#include <petscvec.h>
#include <stdlib.h>

/* exported, but in none of PETSc's public headers */
PetscErrorCode PetscObjectStateGet(PetscObject, PetscObjectState *);
PetscErrorCode PetscObjectStateSet(PetscObject, PetscObjectState);

static Vec x, y, t;

static void inner(void)
{
    PetscScalar sum;
    VecPointwiseMult(t, x, y);
    VecSum(t, &sum);
}

static void dot(void)
{
    PetscScalar sum;
    VecTDot(x, y, &sum);
}

static void norm(void)
{
    PetscReal value;
    PetscObjectState state;
    /* the norm is kept: a vector that may have changed has none */
    PetscObjectStateGet((PetscObject)x, &state);
    PetscObjectStateSet((PetscObject)x, state + 1);
    VecNorm(x, NORM_2, &value);
}

static void sum(void)
{
    PetscScalar value;
    VecSum(x, &value);
}

static void axpy(void)
{
    static PetscScalar a = 1e-3;
    a = -a;
    VecAXPY(y, a, x);
}

static const struct {
    const char *name;
    void (*run)(void);
} rivals[] = {{"inner.petsc", inner}, {"dot.petsc", dot}, {"norm.petsc", norm}, {"sum.petsc", sum}, {"axpy.petsc", axpy}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

int main(int argc, char **argv)
{
    static case_times times;
    PetscRandom random;
    PetscMPIInt rank;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    size_t n = argc > 1 ? (size_t)atof(argv[1]) : 1000000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    PetscRandomCreate(PETSC_COMM_WORLD, &random);
    PetscRandomSetInterval(random, 1, 2);
    VecCreate(PETSC_COMM_WORLD, &x);
    VecSetSizes(x, PETSC_DECIDE, (PetscInt)n);
    VecSetFromOptions(x);
    VecDuplicate(x, &y);
    VecDuplicate(x, &t);
    VecSetRandom(x, random);
    VecSetRandom(y, random);

    double took = 0;
    for (int k = 0; k < RIVALS; k++) {
        rivals[k].run();
        double begin = case_now();
        rivals[k].run();
        took += case_now() - begin;
    }
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD);
    int repeats = 2 * case_repeats(n), turns = case_turns(took * repeats, budget);
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < RIVALS; k++) {
            MPI_Barrier(PETSC_COMM_WORLD);
            double begin = case_now();
            for (int r = 0; r < repeats; r++)
                rivals[k].run();
            case_note(&times, rivals[k].name, turn, (case_now() - begin) / repeats);
        }
    if (rank == 0)
        case_print(&times);
    PetscFinalize();
    return 0;
}
