#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI on our libucp with each protocol forced: data verified as in the
# other scripts, and UCX_STATS_DEST says what carried the bytes. A forced
# protocol that carried none, or not all that it should, is a failure.
#
#   FORCED='put_0 get_0' run_mpi_forced.sh     only these rows
#   FORCED_SCRIPTS=yes run_mpi_forced.sh       the other scripts, too: 2 minutes
#                                              a row on an idle machine
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need mpicc mpirun
if [ "$APPS_LIBS" != ours ]; then
    apps_skip all "only ours counts what its protocols carry"
    apps_finish
fi

# NAME TIER COUNTER VARIABLE=VALUE...: settings, and who must carry bytes then.
# Who asks first and is forced from 0 on must carry every contiguous message.
# rdma_* between processes need CMA; where that is off, protocol 4 goes on.
forced_rows="
immediate  quick    eager_immediate    UCX_ZCOPY_THRESH=inf
prepared   campaign eager_prepared     UCX_ZCOPY_THRESH=1 UCX_RNDV_THRESH=64k
allocated  quick    eager_allocated    UCX_ZCOPY_THRESH=inf UCX_RNDV_THRESH=inf
am_0       quick    rndv_pipeline_send UCX_RNDV_SCHEME=am UCX_RNDV_THRESH=0
am_1k      campaign rndv_pipeline_send UCX_RNDV_SCHEME=am UCX_RNDV_THRESH=1k UCX_ZCOPY_THRESH=0
put_0      quick    rndv_rdma_put      UCX_RNDV_SCHEME=put_zcopy UCX_RNDV_THRESH=0
put_8k     campaign rndv_rdma_put      UCX_RNDV_SCHEME=put_zcopy UCX_RNDV_THRESH=8k
get_0      quick    rndv_rdma_get      UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=0
get_8k     campaign rndv_rdma_get      UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=8k
shared_0   quick    rndv_rdma_shared   UCX_RNDV_SCHEME=shared UCX_RNDV_THRESH=0
ppln_0     quick    rndv_rdma_pipeline UCX_RNDV_SCHEME=put_ppln UCX_RNDV_THRESH=0
ppln_small campaign rndv_rdma_pipeline UCX_RNDV_SCHEME=put_ppln UCX_RNDV_THRESH=1 UCX_RNDV_FRAG_SIZE=20k UCX_RNDV_PIPELINE_SEND_LENGTH=3000
put_no_cma quick    rndv_pipeline_send UCX_RNDV_SCHEME=put_zcopy UCX_RNDV_THRESH=0 UCX_SM_CMA=n
get_rings  campaign rndv_pipeline_send UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=0 UCX_TLS=posix,self
"

# May processes here write to and read one another's memory?
forced_has_cma=no
if ./causeway explain --size 1 2>/dev/null |
    grep -q "rights *we to the peer's memory: put, get"; then
    forced_has_cma=yes
fi

# forced_sum NAME...: what all processes together counted under these names.
forced_sum() {
    cat "$apps_work"/stats.* 2>/dev/null |
        awk -v names=" $* " 'index(names, " " $(NF - 1) " ") { sum += $NF }
            END { printf "%d\n", sum }'
}

forced_show() {
    cat "$apps_work"/stats.* 2>/dev/null | sed 's/^/#| /' | head -n 40
}

# forced_carried NAME: somebody's bytes went as they should.
forced_carried() {
    if [ "$(forced_sum "${forced_counter}_bytes")" -gt 0 ]; then
        apps_ok "$1: $forced_counter carried bytes"
    else
        apps_notok "$1: $forced_counter carried bytes" "none"
        forced_show
    fi
}

# forced_alone NAME: of contiguous messages that asked first nothing went in
# another way, and no receiver refused the proposal.
forced_alone() {
    local other=''
    case $forced_counter in
    eager_*) return ;;
    esac
    for counter in rndv_pipeline_send rndv_rdma_put rndv_rdma_get \
        rndv_rdma_shared rndv_rdma_pipeline; do
        [ $counter = "$forced_counter" ] || other="$other ${counter}_bytes"
    done
    # shellcheck disable=SC2086
    if [ "$(forced_sum $other rndv_fall_back)" -eq 0 ]; then
        apps_ok "$1: $forced_counter alone"
    else
        apps_notok "$1: $forced_counter alone" "others carried bytes, too"
        forced_show
    fi
}

# forced_check NAME SECONDS NP CASE...: cases of mpi_check.
forced_check() {
    local name="$forced_name, $1" seconds="$2" np="$3"
    shift 3
    rm -f "$apps_work"/stats.*
    apps_extra="$forced_settings UCX_STATS_DEST=file:$apps_work/stats.%p"
    apps_mpi "$name" "$seconds" "$np" "$apps_bin/mpi_check" "$@"
    apps_extra=''
    forced_carried "$name"
}

# forced_script NAME: another script of this folder, all of it.
forced_script() {
    local code=0 last
    rm -f "$apps_work"/stats.*
    # shellcheck disable=SC2086
    env $forced_settings "UCX_STATS_DEST=file:$apps_work/stats.%p" \
        APPS_TIER=quick sh "$apps_src/$1.sh" >"$apps_work/script" 2>&1 ||
        code=$?
    last=$(tail -n 1 "$apps_work/script")
    case $code in
    0)
        apps_ok "$forced_name, $1: $last"
        forced_carried "$forced_name, $1"
        ;;
    77) apps_skip "$forced_name, $1" "$last" ;;
    *)
        apps_notok "$forced_name, $1" "$last"
        grep -v '^ok' "$apps_work/script" | sed 's/^/#| /' | head -n 40
        ;;
    esac
}

forced_row() {
    if [ "${forced_counter#rndv_rdma}" != "$forced_counter" ] &&
        [ $forced_has_cma = no ]; then
        apps_skip "$forced_name" "CMA is forbidden here"
        return
    fi
    forced_check contiguous 60 2 p2p__standard p2p__sync p2p__ready \
        p2p__sendrecv p2p__alignment modes match__o
    forced_alone "$forced_name, contiguous"
    forced_check "any data" 60 2 types__both p2p__self p2p__buffered
    if [ "${FORCED_SCRIPTS:-no}" = yes ]; then
        for script in run_mpi_check run_mpi_scenes run_mpi_threads run_mpi4py \
            run_hpcc run_netpipe; do
            forced_script $script
        done
    fi
}

# forced_recycled NAME COUNTER SETTING...: a program that mallocs, sends and
# frees. Open MPI reports what goes away, so that registrations are kept: they
# are found again (each of two processes sends twice from each of 12 buffers), and
# dropped (at least the 4 that are unmapped). With UCX_RCACHE_ENABLE=n none is.
forced_recycled() {
    local hits reports name="recycled, $1"
    forced_counter=$2
    shift 2
    rm -f "$apps_work"/stats.*
    apps_extra="UCX_RNDV_THRESH=0 $* UCX_STATS_DEST=file:$apps_work/stats.%p"
    apps_mpi "$name" 60 2 "$apps_bin/mpi_scenes" recycle
    apps_extra=''
    forced_carried "$name"
    hits=$(forced_sum hits) reports=$(forced_sum reports)
    echo "# $name: $hits found, $reports dropped because their memory went"
    case "$*" in
    *RCACHE_ENABLE=n*)
        forced_expect "$name: none is kept" [ "$hits$reports" = 00 ]
        ;;
    *)
        forced_expect "$name: registrations are found again" [ "$hits" -ge 24 ]
        forced_expect "$name: unmaps are reported" [ "$reports" -ge 8 ]
        ;;
    esac
}

# forced_expect NAME COMMAND...
forced_expect() {
    local name="$1"
    shift
    if "$@"; then
        apps_ok "$name"
    else
        apps_notok "$name" "the counters say otherwise"
        forced_show
    fi
}

apps_compile mpi_scenes "$MPICC" mpi_scenes.c mpi_util.c || apps_finish
apps_compile mpi_check "$MPICC" mpi_check.c mpi_util.c mpi_p2p.c mpi_modes.c \
    mpi_match.c mpi_probe.c mpi_types.c mpi_coll.c mpi_vcoll.c mpi_icoll.c ||
    apps_finish
echo "$forced_rows" >"$apps_work/rows"
while read -r forced_name forced_tier forced_counter forced_settings <&3; do
    case " ${FORCED:-$forced_name} " in *" $forced_name "*) ;; *) continue ;; esac
    [ -n "$forced_name" ] || continue
    if [ "$forced_tier" = quick ] || [ "$APPS_TIER" = campaign ] ||
        [ -n "${FORCED:-}" ]; then
        forced_row
    fi
done 3<"$apps_work/rows"

if [ -n "${FORCED:-}" ]; then
    apps_finish
elif [ $forced_has_cma = no ]; then
    apps_skip recycled "CMA is forbidden here"
else
    forced_recycled put rndv_rdma_put UCX_RNDV_SCHEME=put_zcopy
    forced_recycled get rndv_rdma_get UCX_RNDV_SCHEME=get_zcopy
    forced_recycled "get, nothing kept" rndv_rdma_get UCX_RNDV_SCHEME=get_zcopy \
        UCX_RCACHE_ENABLE=n
fi
apps_finish
