#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Plain UCP programs: several contexts, oneself, addresses without network,
# a tiny /dev/shm, good manners. See ucp_scenes.c and ucp_manners.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need "$CC" mpicc mpirun unshare

# "endpoint reconfiguration not supported yet", and abort
apps_known debian 'two_features: .*'
# it installs handlers for SIGHUP and errors, patches mmap and others, and stays
apps_known debian 'manners: manners__(signals|allocator|reload)'
# both its ways of sharing memory need the files or the segments
apps_known debian 'tiny.*'

apps_compile_ucp ucp_scenes ucp_node.c || apps_finish
for scene in two_contexts two_features pair net_only orphan self; do
    apps_ucp_run $scene 30 1 "$apps_bin/ucp_scenes" $scene
done
for tls in sm shm mm posix sysv self sm,self; do
    apps_extra="UCX_TLS=$tls" \
        apps_ucp_run "UCX_TLS=$tls" 30 1 "$apps_bin/ucp_scenes" self
done

# S computes: it must not be needed where R may read, by default either.
if apps_compile_ucp ucp_compute ucp_node.c; then
    for scheme in auto get_zcopy get_ppln rkey_ptr; do
        apps_extra="UCX_RNDV_SCHEME=$scheme" \
            apps_ucp_run "S computes, $scheme" 60 1 "$apps_bin/ucp_compute"
    done
fi

# shellcheck disable=SC2046
if [ -n "$apps_sanitizer" ]; then
    apps_skip manners "a sanitizer maps memory and takes signals itself"
elif apps_compile ucp_manners "$CC" ucp_manners.c ucp_util.c -- \
    $(apps_ucp_headers) -ldl -lm; then
    apps_ucp_run manners 30 1 "$apps_bin/ucp_manners"
fi

# /dev/shm of one page, of nothing useful, and of the usual size
apps_compile mpi_check "$MPICC" mpi_check.c mpi_util.c mpi_p2p.c mpi_modes.c \
    mpi_match.c mpi_probe.c mpi_types.c mpi_coll.c mpi_vcoll.c mpi_icoll.c ||
    apps_finish
for size in 4k 64k 1g; do
    name="tiny /dev/shm of $size"
    [ $size != 1g ] || name="usual /dev/shm"
    if apps_isolate $size; then
        apps_ucp_run "$name" 60 1 "$apps_bin/ucp_scenes" pair
        apps_left "$name"
        # Open MPI itself leaves its session folder's files; only ours count
        apps_mca='--mca btl self' \
            apps_mpi "$name, MPI" 60 2 "$apps_bin/mpi_check" p2p__standard
        rm -f "$apps_work/left"
    else
        apps_skip "$name" "no namespaces: not root, or in a chroot"
    fi
done
apps_finish
