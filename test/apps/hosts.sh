# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC3043,SC2154,SC2034
#
# MPI programs on hosts of their own, over udp only: sourced after lib.sh.
#
#     hosts_up 4 1       # four hosts, one rail for udp; what apps_mpirun starts
#                        # from here on has one process on each
#
#   eth0 (eth1)   the rails of udp
#   the last one  Open MPI's own words, and no udp; nothing happens to it
. "$apps_src/netns.sh"

# Ends the script where hosts cannot be made.
hosts_need() {
    if ! netns_need; then
        apps_skip all "$netns_why"
        apps_finish
    fi
}

# eth0,eth1: the first COUNT devices of a host
hosts_devices() {
    local rail=0 names=''
    while [ $rail -lt "$1" ]; do
        names=$names${names:+,}eth$rail
        rail=$((rail + 1))
    done
    echo "$names"
}

hosts_no_udp() {
    ip netns exec "$2" nft -f - <<RULES
table inet no_udp {
    chain arrives {
        type filter hook input priority -300;
        iifname $1 meta l4proto udp drop
    }
}
RULES
}

# hosts_up HOSTS DATA_RAILS [SLOTS]
hosts_up() {
    local host=1 names=''
    netns_down
    if ! netns_up "$1" $(($2 + 1)) || ! netns_each hosts_no_udp "eth$2"; then
        apps_notok "$1 hosts with $2 rails" "they do not come up"
        apps_finish
    fi
    while [ $host -le "$1" ]; do
        names=$names${names:+,}10.77.$2.$host:${3:-1}
        host=$((host + 1))
    done
    netns_rsh "$apps_work/rsh"
    netns_enter "$apps_work/enter" 1
    apps_wrap="$apps_work/enter"
    apps_mca="--host $names --mca plm_rsh_agent $apps_work/rsh
        --mca oob_tcp_if_include eth$2 --mca mpi_yield_when_idle 1"
    apps_compile hosts_rest "$CC" hosts_rest.c -- -shared -fPIC || apps_finish
    apps_extra="UCX_TLS=udp,self UCX_NET_DEVICES=$(hosts_devices "$2")
        LD_PRELOAD=${apps_sanitizer:+$apps_sanitizer:}$apps_bin/hosts_rest"
}
