#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A peer killed with kill -9 at each stage: one report, the others go on, and
# nothing is left in /dev/shm or /tmp. See ucp_kill.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need "$CC" unshare

# its default is to look every 20 s
[ "$APPS_LIBS" = ours ] || apps_extra=UCX_KEEPALIVE_INTERVAL=1s

apps_compile_ucp ucp_kill ucp_node.c || apps_finish
rounds=1
[ "$APPS_TIER" != campaign ] || rounds=50
while [ $rounds -gt 0 ]; do
    for stage in before_connect idle receiving full sending rendezvous_send \
        rendezvous_announced rendezvous_middle; do
        apps_isolate 1g || true
        apps_ucp_run "$stage" 60 1 "$apps_bin/ucp_kill" $stage
        if [ -n "$apps_wrap" ]; then
            apps_left "$stage"
        else
            apps_skip "$stage: nothing left" "no namespaces: not root, or in a chroot"
        fi
    done
    rounds=$((rounds - 1))
done
apps_finish
