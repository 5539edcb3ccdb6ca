#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The scripts of other people's programs, over udp between two hosts: mpi4py;
# in the campaign hpcc and NetPIPE too.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/hosts.sh"
apps_need mpirun
[ "$APPS_LIBS" = ours ] || { apps_skip all "only ours has udp" && apps_finish; }
hosts_need

# script NAME: what it needs of lib.sh and hosts.sh it gets by the environment
script() {
    local code=0 last
    env "apps_wrap=$apps_wrap" "apps_mca=$apps_mca" "apps_extra=$apps_extra" \
        "APPS_TIER=$APPS_TIER" sh "$apps_src/$1.sh" >"$apps_work/script" 2>&1 ||
        code=$?
    last=$(tail -n 1 "$apps_work/script")
    case $code in
    0) apps_ok "$1: $last" ;;
    77) apps_skip "$1" "$last" ;;
    *)
        apps_notok "$1" "$last"
        grep -v '^ok' "$apps_work/script" | sed 's/^/#| /' | head -n 40
        ;;
    esac
}

hosts_up 2 1 2
script run_mpi4py
if [ "$APPS_TIER" = campaign ]; then
    script run_hpcc
    script run_netpipe
fi
apps_finish
