/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks every way of moving bytes that MPI has, with verified data:
 *   mpirun -np N mpi_check [prefix of a case's name]...
 * APPS_SEED chooses the data. The cases are in mpi_p2p.c and its neighbours.
 */
#include "mpi_util.h"

int main(int argc, char **argv)
{
    static const struct mc_case *const tables[] = {
        mc_p2p_cases,   mc_modes_cases, mc_match_cases,
        mc_probe_cases, mc_types_cases, mc_coll_cases,
        mc_vcoll_cases, mc_icoll_cases, NULL};
    int result;

    MPI_Init(&argc, &argv);
    result = mc_main(argc, argv, tables);
    MPI_Finalize();
    return result;
}
