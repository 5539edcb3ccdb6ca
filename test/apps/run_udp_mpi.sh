#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI on hosts of its own: four processes on four network namespaces, data
# over udp only, verified; on networks that lose, with short and long packets,
# over IPv6, and while an interface goes down.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/hosts.sh"
apps_need mpicc mpirun
hosts_need

# The campaign runs every case of mpi_check.
cases=''
[ "$APPS_TIER" = campaign ] ||
    cases='p2p__sendrecv modes__waitall coll__alltoall icoll__many'

# hosts_check NAME [CASE...]: of mpi_check; all that are wanted in this tier
hosts_check() {
    local name="$1"
    shift
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $cases
    apps_mpi "$name" 600 4 "$apps_bin/mpi_check" "$@"
}

# hosts_meanwhile COMMAND...: once the first case of the next run is done
hosts_meanwhile() {
    : >"$apps_work/out"
    (
        until grep -q '^ok' "$apps_work/out" 2>/dev/null; do
            sleep 0.05
        done
        "$@"
    ) &
    hosts_watcher=$!
}

hosts_alone() {
    kill "$hosts_watcher" 2>/dev/null
    wait "$hosts_watcher" 2>/dev/null
}

# One of two rails goes down in mid-run: what was sent arrives over the other.
hosts_lose_rail() {
    local end=$1
    shift
    hosts_up 4 2
    hosts_meanwhile "$@"
    hosts_check "two rails, $end"
    hosts_alone
}

# The only one: the job ends with an error, by itself and within the bound, and
# says why, once for each that is lost (docs/adr/0033; Open MPI asks for no error
# handling).
hosts_lose_all() {
    local name="one rail, its device off" took said twice
    hosts_up 4 1
    apps_extra="$apps_extra UCX_FAILURE_BOUND_PEER=3s"
    hosts_meanwhile hosts_go_off
    apps_mpirun "$name" 100 4 "$apps_bin/mpi_check" p2p__sendrecv match coll \
        >/dev/null
    took=$(awk -v now="$(date +%s.%N)" '{ printf "%.1f", now - $1 }' \
        "$apps_work/off")
    hosts_alone
    said=$(grep -c 'the peer is lost' "$apps_work/err")
    twice=$(grep 'the peer is lost' "$apps_work/err" |
        grep -o '\[[^ ]*:[0-9].*' | sort | uniq -d | wc -l)
    echo "# $said lines, exit status $apps_code, after $took s"
    if [ "$said" -eq 0 ] || [ "$said" -gt 6 ] || [ "$twice" -gt 0 ]; then
        apps_notok "$name: one line each" "$said lines, $twice twice"
        apps_show
    elif [ "$apps_code" -eq 0 ] || [ "$apps_code" -eq 124 ]; then
        apps_notok "$name: an error" "exit status $apps_code"
        apps_show
    elif awk -v took="$took" 'BEGIN { exit took <= 12 }'; then # 3 s, and mpirun
        apps_notok "$name: within the bound" "after $took s"
    else
        apps_ok "$name: ended within the bound"
    fi
}

hosts_go_off() {
    netns_link 2 0 down
    date +%s.%N >"$apps_work/off"
}

apps_compile mpi_check "$MPICC" mpi_check.c mpi_util.c mpi_p2p.c mpi_modes.c \
    mpi_match.c mpi_probe.c mpi_types.c mpi_coll.c mpi_vcoll.c mpi_icoll.c ||
    apps_finish

hosts_up 4 1
hosts_check plain
netns_loss 10 eth0
hosts_check "10 % lost"
if [ "$APPS_TIER" = campaign ]; then
    netns_loss 1 eth0
    hosts_check "1 % lost"
    netns_loss 0
    netns_mtu 1280
    hosts_check "MTU 1280"
    netns_mtu 9000
    hosts_check "MTU 9000"
    netns_mtu 1500
    netns_only_ipv6 1
    hosts_check "IPv6 only"
    netns_loss 10 eth0
    hosts_check "IPv6 only, 10 % lost"
fi
hosts_lose_rail "a device off" netns_link 2 0 down
if [ "$APPS_TIER" = campaign ]; then
    hosts_lose_rail "the other device off" netns_link 3 1 down
    hosts_lose_rail "a cable out" netns_cable 1 0 down
fi
hosts_lose_all
apps_finish
