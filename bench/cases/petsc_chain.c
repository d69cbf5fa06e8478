/* chain.c in PETSc's Vec operations. The sum is VecSum. */
#include "case.h"

#include <petscvec.h>
#include <stdlib.h>

static Vec a, b, c, d, t, u;

static PetscScalar chain(void)
{
    PetscScalar sum;
    VecPointwiseMult(t, a, a);
    VecPointwiseMult(u, b, b);
    VecAXPY(t, 1, u);
    VecSqrtAbs(t);
    VecPointwiseMult(t, t, c);
    VecPointwiseDivide(u, a, b);
    VecAXPY(t, -1, u);
    VecWAXPY(d, 0.5, b, t);
    VecSum(d, &sum);
    return sum;
}

static Vec random_vector(PetscRandom random)
{
    Vec x;
    VecDuplicate(d, &x);
    VecSetRandom(x, random);
    return x;
}

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
    VecCreate(PETSC_COMM_WORLD, &d);
    VecSetSizes(d, PETSC_DECIDE, (PetscInt)n);
    VecSetFromOptions(d);
    a = random_vector(random);
    b = random_vector(random);
    c = random_vector(random);
    VecDuplicate(d, &t);
    VecDuplicate(d, &u);

    chain();
    double begin = case_now();
    chain();
    double took = case_now() - begin;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD);
    int repeats = case_repeats(n), turns = case_turns(took * repeats, budget);
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(PETSC_COMM_WORLD);
        begin = case_now();
        for (int k = 0; k < repeats; k++)
            chain();
        case_note(&times, "petsc", turn, (case_now() - begin) / repeats);
    }
    if (rank == 0)
        case_print(&times);
    PetscFinalize();
    return 0;
}
