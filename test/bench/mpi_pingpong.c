/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/mpi_pingpong.c - latency of an MPI library, one way, in
 * microseconds: the median of repetitions. Usage: mpi_pingpong [BYTES]
 * contrib/bench-vs-ucx compiles it with mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum pingpong_count { PINGPONG_ROUNDS = 21, PINGPONG_ITERATIONS = 20000 };

static int pingpong_compare(const void *a, const void *b)
{
    double left  = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double pingpong_round(int rank, char *buffer, int size_bytes)
{
    double begin = MPI_Wtime();
    int    i;

    for (i = 0; i < PINGPONG_ITERATIONS; i++) {
        if (rank == 0) {
            MPI_Send(buffer, size_bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(buffer, size_bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (rank == 1) {
            MPI_Send(buffer, size_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) * 1e6 / PINGPONG_ITERATIONS / 2;
}

int main(int argc, char **argv)
{
    double values[PINGPONG_ROUNDS];
    int    size_bytes = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 8;
    int    rank, i;
    char  *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffer = calloc(1, (size_t)size_bytes + 1);
    if ((rank > 1) || (buffer == NULL)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    (void)pingpong_round(rank, buffer, size_bytes);
    for (i = 0; i < PINGPONG_ROUNDS; i++) {
        values[i] = pingpong_round(rank, buffer, size_bytes);
    }
    if (rank == 0) {
        qsort(values, PINGPONG_ROUNDS, sizeof(*values), pingpong_compare);
        printf("mpi_pingpong_%d %.4f us\n", size_bytes,
               values[PINGPONG_ROUNDS / 2]);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
