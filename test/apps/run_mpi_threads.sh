#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI on our libucp: the four thread levels of MPI_Init_thread.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need mpicc mpirun

apps_compile mpi_threads "$MPICC" mpi_threads.c mpi_util.c || apps_finish
for level in single funneled serialized multiple; do
    for np in 2 4; do
        apps_mpi "np$np" 60 $np "$apps_bin/mpi_threads" $level
    done
done
apps_finish
