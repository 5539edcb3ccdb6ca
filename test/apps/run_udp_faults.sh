#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A peer over udp that is killed, stopped for ever, or whose network is cut, at
# each stage: one report within the bound, the others go on. See ucp_kill.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/netns.sh"
apps_need "$CC"
apps_compile_ucp ucp_kill ucp_node.c || apps_finish

stages='before_connect idle receiving full sending rendezvous_send
    rendezvous_announced rendezvous_middle'
# Silence for `bound` is death and is told within it. quick: 2 s, a second more
# for a busy machine, and each way to be lost in some stages; campaign: the
# default, without any more, and all.
bound=2 within=3
if [ "$APPS_TIER" = campaign ]; then
    bound=5 within=5
fi

# kill_run NAME STAGE HOW
kill_run() {
    apps_ucp_run "$1, $2" 60 1 "$apps_bin/ucp_kill" "$2" "$3"
    sed -n 's/^# reported after \([0-9.]*\) s.*/\1/p' "$apps_work/err" |
        tail -n 1 >>"$apps_work/reported"
}

say_reported() {
    sort -n "$apps_work/reported" | awk '{ at[NR] = $1 }
        END { print "# " NR " reported, median " at[int((NR + 1) / 2)] \
                  " s, the last after " at[NR] " s" }'
}

# fault NAME HOW STAGE...
fault() {
    local name="$1" how="$2"
    shift 2
    # shellcheck disable=SC2086
    [ "$APPS_TIER" != campaign ] || set -- $stages
    for stage in "$@"; do
        kill_run "$name" $stage "$how"
    done
}

# what UCX does is its own affair
[ "$APPS_LIBS" != ours ] ||
    apps_extra="UCX_TLS=udp,self UCX_FAILURE_BOUND_PEER=${bound}s
        KILL_WITHIN=$within"
everywhere=$apps_extra
fault "kill -9" kill before_connect sending rendezvous_middle
fault stop stop idle receiving rendezvous_announced

if ! netns_need; then
    apps_skip cut "$netns_why"
    say_reported
    apps_finish
fi

# The survivor and its bystander on host 1, the victim on host 2.
cut_up() {
    netns_down
    if ! netns_up 2; then
        apps_notok cut "the hosts do not come up"
        apps_finish
    fi
    netns_enter "$apps_work/enter" 1
    apps_wrap="$apps_work/enter"
    apps_extra="$everywhere KILL_NETNS=/run/netns/$(netns_of 2)"
}

cat >"$apps_work/drop" <<'DROP'
table inet cut {
    chain arrives { type filter hook input priority -300; drop; }
}
DROP
cat >"$apps_work/refuse" <<'REFUSE'
table inet cut {
    chain leaves { type filter hook output priority -300; reject; }
}
REFUSE
[ "$APPS_TIER" != campaign ] || fault_stages=$stages
for stage in ${fault_stages:-full sending}; do
    cut_up
    kill_run "device off" $stage \
        "ip -n $(netns_of 2) link set eth0 down"
    cut_up
    kill_run "all dropped" $stage \
        "ip netns exec $(netns_of 2) nft -f $apps_work/drop"
done
if [ "$APPS_TIER" = campaign ]; then
    cut_up
    kill_run "our own device off" receiving \
        "ip -n $(netns_of 1) link set eth0 down"
    cut_up
    kill_run "all refused" receiving \
        "ip netns exec $(netns_of 2) nft -f $apps_work/refuse"
fi
say_reported
apps_finish
