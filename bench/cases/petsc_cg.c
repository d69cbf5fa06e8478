/* cg.c by PETSc's KSPCG without preconditioner, on an assembled sparse matrix. */
#include "case.h"

#include <petscksp.h>
#include <stdlib.h>

enum { ITERATIONS = 100 };

int main(int argc, char **argv)
{
    static case_times times;
    PetscMPIInt rank;
    Mat a;
    Vec x, b;
    KSP ksp;
    PC pc;
    PetscInt from, to;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    PetscInt m = argc > 1 ? (PetscInt)atof(argv[1]) : 1000, n = m * m;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 5, NULL, 2, NULL, &a);
    MatGetOwnershipRange(a, &from, &to);
    for (PetscInt k = from; k < to; k++) {
        PetscInt i = k / m, j = k % m, column[5], entries = 0;
        PetscScalar value[5];
        column[entries] = k, value[entries++] = 4;
        if (i > 0)
            column[entries] = k - m, value[entries++] = -1;
        if (i + 1 < m)
            column[entries] = k + m, value[entries++] = -1;
        if (j > 0)
            column[entries] = k - 1, value[entries++] = -1;
        if (j + 1 < m)
            column[entries] = k + 1, value[entries++] = -1;
        MatSetValues(a, 1, &k, entries, column, value, INSERT_VALUES);
    }
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    MatCreateVecs(a, &x, &b);
    VecSet(b, 1);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, a, a);
    KSPSetType(ksp, KSPCG);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCNONE);
    KSPSetTolerances(ksp, 1e-300, 1e-300, 1e300, ITERATIONS);
    int turns = case_turns(ITERATIONS * 8e-9 * (double)n, budget);
    for (int turn = -1; turn < turns; turn++) {
        PetscInt done;
        PetscReal norm;
        VecSet(x, 0);
        MPI_Barrier(PETSC_COMM_WORLD);
        double begin = case_now();
        KSPSolve(ksp, b, x);
        double took = case_now() - begin;
        KSPGetIterationNumber(ksp, &done);
        KSPGetResidualNorm(ksp, &norm);
        if (turn >= 0) {
            case_note(&times, "petsc", turn, took / (double)done);
            case_note(&times, "rr", turn, norm * norm);
        }
    }
    if (rank == 0)
        case_print(&times);
    PetscFinalize();
    return 0;
}
