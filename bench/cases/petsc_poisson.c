/* poisson.c in PETSc: KSPCG without preconditioner, seconds for one iteration. petsc_poisson [N [SECONDS]] */
#include "case.h"

#include <petscksp.h>
#include <stdlib.h>

enum { ITERATIONS = 20 };

int main(int argc, char **argv)
{
    static case_times times;
    PetscMPIInt rank;
    Mat a;
    Vec x, b;
    KSP solver;
    PC none;
    PetscInt first, end;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    PetscInt n = argc > 1 ? (PetscInt)atof(argv[1]) : 1000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 2, NULL, &a);
    MatGetOwnershipRange(a, &first, &end);
    for (PetscInt row = first; row < end; row++) {
        PetscInt i = row / n, k = row % n, column[5], count = 0;
        PetscScalar value[5];
        const PetscInt step[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
        column[count] = row;
        value[count++] = 4;
        for (int s = 0; s < 4; s++) {
            PetscInt di = i + step[s][0], dk = k + step[s][1];
            if (di < 0 || di >= n || dk < 0 || dk >= n)
                continue;
            column[count] = di * n + dk;
            value[count++] = -1;
        }
        MatSetValues(a, 1, &row, count, column, value, INSERT_VALUES);
    }
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    MatCreateVecs(a, &x, &b);
    VecSet(b, 1);
    KSPCreate(PETSC_COMM_WORLD, &solver);
    KSPSetOperators(solver, a, a);
    KSPSetType(solver, KSPCG);
    KSPGetPC(solver, &none);
    PCSetType(none, PCNONE);
    KSPSetTolerances(solver, 1e-50, 1e-50, 1e50, ITERATIONS);
    KSPSolve(solver, b, x);
    int turns = 3;
    double begin = case_now();
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(PETSC_COMM_WORLD);
        double start = case_now();
        KSPSolve(solver, b, x);
        case_note(&times, "petsc", turn, (case_now() - start) / ITERATIONS);
        if (turn == 0) {
            turns = case_turns(case_now() - begin, budget);
            MPI_Bcast(&turns, 1, MPI_INT, 0, PETSC_COMM_WORLD);
        }
    }
    if (rank == 0)
        case_print(&times);
    PetscFinalize();
    return 0;
}
