/* A message of 1 byte and of 1 MiB to another task and back, in MPI. mpi_messages [SECONDS] */
#include "case.h"

#include <mpi.h>
#include <stdlib.h>

enum { LONG = 1 << 20 };

static double there_and_back(int rank, char *data, int bytes, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = case_now();
    for (int i = 0; i < calls; i++)
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    return (case_now() - begin) / calls;
}

int main(int argc, char **argv)
{
    static case_times times;
    enum { TRIES = 20 };
    const int bytes[] = {1, LONG};
    const double turn_seconds = 0.03;
    int rank, calls[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *data = calloc(LONG, 1);
    for (int k = 0; k < 2; k++) {
        there_and_back(rank, data, bytes[k], TRIES);
        calls[k] = TRIES + (int)(turn_seconds / there_and_back(rank, data, bytes[k], TRIES));
    }
    MPI_Bcast(calls, 2, MPI_INT, 0, MPI_COMM_WORLD);
    int turns = case_turns(2 * turn_seconds, argc > 1 ? atof(argv[1]) : 3);
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "byte", turn, there_and_back(rank, data, bytes[0], calls[0]));
        case_note(&times, "long", turn, there_and_back(rank, data, bytes[1], calls[1]));
    }
    if (rank == 0)
        case_print(&times);
    MPI_Finalize();
    free(data);
    return 0;
}
