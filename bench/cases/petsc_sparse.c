/* The products of sparse.c by PETSc's MatMult: petsc_sparse poisson|random [SECONDS] */
#include "case.h"
#include "sparse_rows.h"

#include <petscmat.h>
#include <stdlib.h>

enum { REPEATS = 4 };

int main(int argc, char **argv)
{
    static case_times times;
    PetscMPIInt rank;
    Mat a;
    Vec x, y;
    PetscInt from, to;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    const char *kind = argc > 1 ? argv[1] : "poisson";
    const double budget = argc > 2 ? atof(argv[2]) : 3;
    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, SPARSE_ROWS, SPARSE_ROWS, SPARSE_LINKS, NULL, SPARSE_LINKS, NULL,
                 &a);
    MatGetOwnershipRange(a, &from, &to);
    for (PetscInt i = from; i < to; i++) {
        int64_t column[SPARSE_LINKS];
        double value[SPARSE_LINKS];
        const int count = sparse_row(kind, (uint64_t)i, column, value);
        for (int k = 0; k < count; k++)
            MatSetValue(a, i, (PetscInt)column[k], value[k], ADD_VALUES);
    }
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    MatCreateVecs(a, &x, &y);
    VecSet(x, 1);
    for (int k = 0; k < REPEATS; k++)
        MatMult(a, x, y);
    const int turns = case_turns(REPEATS * 2e-2, budget);
    for (int turn = 0; turn < turns; turn++) {
        MPI_Barrier(PETSC_COMM_WORLD);
        double begin = case_now();
        for (int k = 0; k < REPEATS; k++)
            MatMult(a, x, y);
        case_note(&times, "petsc", turn, (case_now() - begin) / REPEATS);
    }
    if (rank == 0)
        case_print(&times);
    PetscFinalize();
    return 0;
}
