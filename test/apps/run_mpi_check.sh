#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI on our libucp: every mode, datatype and collective, data verified,
# with 2 and 4 processes, and a part of it with 8 on however few cores.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need mpicc mpirun

# Open MPI's ob1 sends the first round's data again
apps_known ob1 '.*modes__persistent'

apps_compile mpi_check "$MPICC" mpi_check.c mpi_util.c mpi_p2p.c mpi_modes.c \
    mpi_match.c mpi_probe.c mpi_types.c mpi_coll.c mpi_vcoll.c mpi_icoll.c ||
    apps_finish

apps_mpi np2 60 2 "$apps_bin/mpi_check"
apps_mpi np4 90 4 "$apps_bin/mpi_check"
apps_mpi np8 90 8 "$apps_bin/mpi_check" modes match__o match__w probe \
    coll__barrier coll__bcast coll__operations vcoll icoll
if [ "$APPS_TIER" = campaign ]; then
    for np in 1 3 5 16; do
        apps_mpi "np$np" 600 $np "$apps_bin/mpi_check"
    done
fi
apps_finish
