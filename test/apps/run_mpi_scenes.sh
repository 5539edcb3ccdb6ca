#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI on our libucp: what programs do besides communicating. See
# mpi_scenes.c for the scenes.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need mpicc mpirun

apps_compile mpi_scenes "$MPICC" mpi_scenes.c mpi_util.c || apps_finish
scenes='first fork finalize unreceived remap'
case ${UCX_RNDV_THRESH:-auto} in
0 | 1)
    scenes='first fork finalize remap'
    apps_skip unreceived "every send asks first, and waits for its receive"
    ;;
esac
for np in 2 4; do
    for scene in $scenes; do
        apps_mpi "np$np" 40 $np "$apps_bin/mpi_scenes" $scene
    done
done
apps_mpi np2 40 2 "$apps_bin/mpi_scenes" compute

# above 4 GiB; needs as much memory and some seconds
free_mib=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
if [ "$free_mib" -lt 8192 ]; then
    apps_skip "np2: scene__huge" "$free_mib MiB of memory, 8192 needed"
else
    apps_mpi np2 120 2 "$apps_bin/mpi_scenes" huge
fi
apps_finish
