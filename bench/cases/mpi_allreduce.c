/* An all-reduce of one double, and a barrier, in MPI. mpi_allreduce [SECONDS] */
#include "case.h"

#include <mpi.h>
#include <stdlib.h>

static double allreduce(int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = case_now();
    for (int i = 0; i < calls; i++) {
        double mine = 1, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return (case_now() - begin) / calls;
}

static double barrier(int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = case_now();
    for (int i = 0; i < calls; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (case_now() - begin) / calls;
}

int main(int argc, char **argv)
{
    static case_times times;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { TRIES = 20, CALLS = 100 };
    double budget = argc > 1 ? atof(argv[1]) : 3, least = 1;
    for (int i = 0; i < TRIES; i++) {
        double one = allreduce(CALLS);
        least = one < least ? one : least;
    }
    int calls = CALLS + (int)(0.03 / least);
    MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int turns = case_turns(0.15, budget);
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "allreduce", turn, allreduce(calls));
        case_note(&times, "barrier", turn, barrier(calls));
    }
    if (rank == 0)
        case_print(&times);
    MPI_Finalize();
    return 0;
}
