#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A peer over udp that computes, is stopped for a moment, or waits in a barrier:
# it is not dead, what it sent arrives, and nobody needs it. See ucp_absent.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/netns.sh"
apps_need "$CC"
apps_compile_ucp ucp_absent ucp_node.c || apps_finish

# It computes for longer than the bound, and is stopped for less. Campaign: the
# bound that users have.
seconds=5 bound=2 pause=1
[ "$APPS_TIER" != campaign ] || seconds=60 bound=5 pause=2
apps_extra="UCX_TLS=udp,self UCX_FAILURE_BOUND_PEER=${bound}s"
apps_ucp_run "computes for $seconds s" $((seconds + 20)) 1 \
    "$apps_bin/ucp_absent" compute $seconds
grep '^# all' "$apps_work/err"
apps_ucp_run "stopped for $pause s" 20 1 "$apps_bin/ucp_absent" pause $pause
apps_ucp_run "in a barrier" 20 1 "$apps_bin/ucp_absent" barrier
grep '^# closed' "$apps_work/err"

if ! netns_need; then
    apps_skip "10 % lost" "$netns_why"
    apps_finish
fi
if ! netns_up 2; then
    apps_notok "10 % lost" "the hosts do not come up"
    apps_finish
fi
netns_loss 10 eth0
netns_enter "$apps_work/enter" 1
apps_wrap="$apps_work/enter"
# a packet may be lost some times, and is looked after every 10 ms
apps_extra="$apps_extra ABSENT_NETNS=/run/netns/$(netns_of 2) ABSENT_WITHIN=1"
apps_ucp_run "10 % lost, computes" $((seconds + 20)) 1 "$apps_bin/ucp_absent" \
    compute $seconds
apps_ucp_run "10 % lost, in a barrier" 20 1 "$apps_bin/ucp_absent" barrier
apps_finish
