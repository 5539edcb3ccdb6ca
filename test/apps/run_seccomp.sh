#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs in a container whose seccomp profile forbids to reach into another
# process (no_ptrace.c): attached all the same, explain says why not, and
# whoever forces put or get is served by fragments. All data is verified.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need "$CC" mpicc mpirun
[ "$APPS_LIBS" = ours ] || { apps_skip all "only ours is tested" && apps_finish; }
apps_compile no_ptrace "$CC" no_ptrace.c || apps_finish
apps_wrap=$apps_bin/no_ptrace
if ! $apps_wrap true 2>"$apps_work/why"; then
    apps_skip all "$(cat "$apps_work/why")"
    apps_finish
fi
apps_compile mpi_check "$MPICC" mpi_check.c mpi_util.c mpi_p2p.c mpi_modes.c \
    mpi_match.c mpi_probe.c mpi_types.c mpi_coll.c mpi_vcoll.c mpi_icoll.c ||
    apps_finish

# seccomp_counted NAME PATTERN YES|NO: does a counter of some process say so?
seccomp_counted() {
    local found=no
    ! cat "$apps_work"/stats.* | grep -Eq "$2" || found=yes
    if [ $found = "$3" ]; then
        apps_ok "$1"
    else
        apps_notok "$1" "counters that match $2: $found"
        cat "$apps_work"/stats.* | sed 's/^/#| /' | head -n 40
    fi
}

for scheme in put_zcopy get_zcopy put_ppln shared auto; do
    rm -f "$apps_work"/stats.*
    apps_extra="UCX_TLS=sm,self UCX_RNDV_SCHEME=$scheme UCX_RNDV_THRESH=8k
        UCX_STATS_DEST=file:$apps_work/stats.%p"
    apps_mpi $scheme 60 2 "$apps_bin/mpi_check" p2p__standard p2p__sync
    seccomp_counted "$scheme: fragments carry" \
        ' rndv_pipeline_send_bytes [1-9]' yes
    seccomp_counted "$scheme: nothing else does" ' rndv_rdma_[a-z]*_bytes' no
done

if $apps_wrap ./causeway explain --size 1m >"$apps_work/explain" 2>&1 &&
    grep -q "process_vm_readv: Operation not permitted; .* seccomp" \
        "$apps_work/explain"; then
    apps_ok "explain says why"
else
    apps_notok "explain says why" "its lines on rights are others"
    grep -i 'right\|cma' "$apps_work/explain" | sed 's/^/#| /'
fi
apps_finish
