#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A peer killed with kill -9 at each stage: one report, the others go on, and
# nothing is left in /dev/shm or /tmp. See ucp_kill.c. In a campaign many times,
# and with each protocol forced that asks before it sends.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need "$CC" unshare

# its default is to look every 20 s
[ "$APPS_LIBS" = ours ] || apps_extra=UCX_KEEPALIVE_INTERVAL=1s

apps_compile_ucp ucp_kill ucp_node.c || apps_finish

# kill_stages NAME: a run for each stage
kill_stages() {
    local stage
    for stage in before_connect idle receiving full sending rendezvous_send \
        rendezvous_announced rendezvous_middle; do
        apps_isolate 1g || true
        apps_ucp_run "$1$stage" 60 1 "$apps_bin/ucp_kill" $stage
        if [ -n "$apps_wrap" ]; then
            apps_left "$1$stage"
        else
            apps_skip "$1$stage: nothing left" \
                "no namespaces: not root, or in a chroot"
        fi
    done
}

# kill_forced SCHEME COUNTER: all messages go that way, and who lives has counted
# some.
kill_forced() {
    apps_extra="UCX_TLS=sm,self UCX_RNDV_SCHEME=$1 UCX_RNDV_THRESH=0
        UCX_STATS_DEST=file:$apps_work/stats"
    rm -f "$apps_work/stats"
    kill_stages "$1: "
    if grep -q " $2_messages [1-9]" "$apps_work/stats"; then
        apps_ok "$1: went by $2"
    else
        apps_notok "$1: went by $2" "nothing did"
        sed 's/^/#| /' "$apps_work/stats" | head -n 40
    fi
}

rounds=1
[ "$APPS_TIER" != campaign ] || rounds=50
while [ $rounds -gt 0 ]; do
    kill_stages ''
    rounds=$((rounds - 1))
done
if [ "$APPS_TIER" = campaign ] && [ "$APPS_LIBS" = ours ]; then
    kill_forced am rndv_pipeline_send
    kill_forced get_zcopy rndv_rdma_get
    kill_forced put_zcopy rndv_rdma_put
    kill_forced put_ppln rndv_rdma_pipeline
    kill_forced shared rndv_rdma_shared
fi
apps_finish
