# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC3043
#
# Hosts that are network namespaces, for tests: sourced, also after lib.sh.
#
#     netns_need || skip "$netns_why"
#     netns_up 4 2                   # hosts 1 to 4, rails 0 and 1
#     netns_run 2 ip addr            # a command on host 2
#     netns_loss 1                   # 1 % of what arrives anywhere is dropped
#
#       host 1         host 2         ...     host N        one namespace each
#      eth0 eth1      eth0 eth1              eth0 eth1
#        |    |         |    |                 |    |
#        |   ===========|===================== |   ===     rail 1, a bridge
#       ================================================   rail 0, a bridge
#                                              (both in a namespace "switch")
#
# On rail R host H has 10.77.R.H/24 and fd77:R::H/64; its name is hostH, which
# netns_names makes an address too. No interface, address or rule is made
# outside of these namespaces. Their names begin with the process that made
# them, so that tests run side by side; they go at every exit of the script,
# those of scripts that were killed with the next netns_up. Needs root, ip and,
# for loss, nft.

netns_prefix=causeway$$
netns_hosts=0 netns_rails=0
netns_why=''

# Can namespaces be made here? netns_why says why not.
netns_need() {
    local tool
    for tool in ip bridge unshare; do
        if ! command -v $tool >/dev/null 2>&1; then
            netns_why="no $tool"
            return 1
        fi
    done
    netns_why=$(unshare --net ip link add t0 type veth peer name t1 2>&1) &&
        netns_why=$(unshare --net nft add table inet t 2>&1) ||
        { netns_why="no network namespaces: $netns_why" && return 1; }
}

# The namespace of a host, or of the switch.
netns_of() { echo "$netns_prefix-$1"; }

# netns_run HOST COMMAND...: on that host, in this mount and PID namespace.
netns_run() {
    local host=$1
    shift
    ip netns exec "$(netns_of "$host")" \
        unshare --uts sh -c 'hostname "$0" && exec "$@"' "host$host" "$@"
}

# netns_enter FILE HOST: write a program, `FILE COMMAND...` does what
# `netns_run HOST COMMAND...` does, for whom no shell function will do.
netns_enter() {
    cat >"$1" <<ENTER
#!/bin/sh
exec ip netns exec "$(netns_of "$2")" unshare --uts \\
    sh -c 'hostname "\$0" && exec "\$@"' "host$2" "\$@"
ENTER
    chmod +x "$1"
}

netns_host_up() {
    local host=$1 rail=0 space switch
    space=$(netns_of "$host")
    switch=$(netns_of switch)
    ip netns add "$space" && ip -n "$space" link set lo up || return 1
    # A device that is off and on again has its addresses, of both families.
    ip netns exec "$space" \
        sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/keep_addr_on_down'
    while [ $rail -lt "$netns_rails" ]; do
        ip link add eth$rail netns "$space" type veth \
            peer name "h$host-$rail" netns "$switch" &&
            ip -n "$switch" link set "h$host-$rail" master br$rail up &&
            ip -n "$space" addr add "10.77.$rail.$host/24" dev eth$rail &&
            ip -n "$space" addr add "fd77:$rail::$host/64" dev eth$rail \
                nodad &&
            ip -n "$space" link set eth$rail up || return 1
        rail=$((rail + 1))
    done
}

# netns_up HOSTS [RAILS]
netns_up() {
    local switch rail=0 host=1
    netns_hosts=$1 netns_rails=${2:-1}
    netns_sweep
    trap 'netns_down; [ -z "${apps_work:-}" ] || rm -rf "$apps_work"' EXIT
    trap 'exit 99' INT TERM HUP
    switch=$(netns_of switch)
    ip netns add "$switch" || return 1
    while [ $rail -lt "$netns_rails" ]; do
        ip -n "$switch" link add br$rail type bridge forward_delay 0 &&
            ip -n "$switch" link set br$rail up || return 1
        rail=$((rail + 1))
    done
    while [ $host -le "$netns_hosts" ]; do
        netns_host_up $host || return 1
        host=$((host + 1))
    done
    netns_settle
}

# How many ends of cables are up, in all hosts and in the switch. Until the
# kernel says so of an end, which may take a second, it drops what that end is
# to send.
netns_ends_up() {
    local host=1
    {
        ip -n "$(netns_of switch)" -o link show up type veth
        while [ $host -le "$netns_hosts" ]; do
            ip -n "$(netns_of $host)" -o link show up type veth
            host=$((host + 1))
        done
    } | grep -c ' state UP '
}

# Wait until every cable carries at both ends, for 10 s at most: the kernel
# tells its bridges and the hosts in its own time.
netns_settle() {
    local end all carry
    end=$(($(date +%s) + 10))
    while [ "$(date +%s)" -lt $end ]; do
        all=$(ip -n "$(netns_of switch)" -o link show up type veth | wc -l)
        carry=$(bridge -n "$(netns_of switch)" link show |
            grep -c 'LOWER_UP.* state forwarding')
        [ "$all" -ne "$carry" ] ||
            [ $((2 * all)) -gt "$(netns_ends_up)" ] || return 0
    done
    echo "netns: $carry of $all cables carry, $(netns_ends_up) ends are up" >&2
    return 1
}

# netns_each COMMAND...: with the namespace of each host as its last word
netns_each() {
    local host=1
    while [ $host -le "$netns_hosts" ]; do
        "$@" "$(netns_of $host)" || return 1
        host=$((host + 1))
    done
}

netns_names_in() {
    mkdir -p "/etc/netns/$1" && cp "$netns_hosts_file" "/etc/netns/$1/hosts"
}

# netns_names FILE: hosts find one another by name, on rail 0: host1, host2 ...
# `ip netns exec` gives FILE to who asks for /etc/hosts.
netns_names() {
    local host=1
    netns_hosts_file=$1
    echo "127.0.0.1 localhost" >"$1"
    while [ $host -le "$netns_hosts" ]; do
        echo "10.77.0.$host host$host" >>"$1"
        host=$((host + 1))
    done
    netns_each netns_names_in
}

# ---- what may happen to a network ----

netns_loss_in() {
    ip netns exec "$3" nft -f - <<RULES
table inet causeway
delete table inet causeway
table inet causeway {
    chain arrives {
        type filter hook input priority -300;
        iifname $2 numgen random mod 1000 < $1 counter drop
    }
}
RULES
}

# netns_loss PERCENT [DEVICE]: so much of what arrives at each host, or there, is
# lost; one digit behind the point; 0: none
netns_loss() {
    netns_each netns_loss_in "$(echo "$1" | awk '{printf "%d", $1 * 10 + .5}')" \
        "${2:-!= lo}"
}

netns_mtu_in() {
    local rail=0
    while [ $rail -lt "$netns_rails" ]; do
        ip -n "$2" link set eth$rail mtu "$1" || return 1
        rail=$((rail + 1))
    done
}

# netns_mtu BYTES: of every device; the bridges carry it too
netns_mtu() {
    local rail=0 host switch
    switch=$(netns_of switch)
    while [ $rail -lt "$netns_rails" ]; do
        host=1
        while [ $host -le "$netns_hosts" ]; do
            ip -n "$switch" link set "h$host-$rail" mtu "$1" || return 1
            host=$((host + 1))
        done
        rail=$((rail + 1))
    done
    netns_each netns_mtu_in "$1"
}

# netns_link HOST RAIL up|down: the host's own device
netns_link() {
    ip -n "$(netns_of "$1")" link set "eth$2" "$3" &&
        { [ "$3" = down ] || netns_settle; }
}

# netns_cable HOST RAIL up|down: the other end of its cable
netns_cable() {
    ip -n "$(netns_of switch)" link set "h$1-$2" "$3" &&
        { [ "$3" = down ] || netns_settle; }
}

netns_flush() {
    local rail=0
    while [ $rail -lt "$2" ]; do
        ip -n "$3" -"$1" addr flush dev eth$rail || return 1
        rail=$((rail + 1))
    done
}

# netns_only_ipv6 [RAILS], netns_only_ipv4 [RAILS]: from here on, on the first
# so many rails, or on all.
netns_only_ipv6() { netns_each netns_flush 4 "${1:-$netns_rails}"; }
netns_only_ipv4() { netns_each netns_flush 6 "${1:-$netns_rails}"; }

# ---- Open MPI ----

# netns_rsh FILE: write an agent for `mpirun --mca plm_rsh_agent FILE`, run by
# netns_run 1, with hosts named by address: 10.77.0.1,10.77.0.2 (or fd77:0::2)
netns_rsh() {
    cat >"$1" <<AGENT
#!/bin/sh
# AGENT [-OPTION]... ADDRESS COMMAND: what ssh does, between our namespaces.
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\${1##*[.:]}
shift
exec ip netns exec "$netns_prefix-\$host" unshare --uts sh -c \\
    'hostname "\$0" && eval "\$*"' "host\$host" "\$@"
AGENT
    chmod +x "$1"
}

# ---- the end ----

# netns_remove PREFIX: the namespaces of that script, and who is in them
netns_remove() {
    local space process
    ip netns list | sed -n "s/^\($1-[^ ]*\).*/\1/p" | while read -r space; do
        for process in $(ip netns pids "$space" 2>/dev/null); do
            [ "$process" = $$ ] || kill -9 "$process" 2>/dev/null
        done
        ip netns delete "$space"
        rm -f "/etc/netns/$space/hosts" # of netns_names
        rmdir "/etc/netns/$space" /etc/netns 2>/dev/null
    done
    return 0
}

netns_down() {
    netns_remove "$netns_prefix"
    netns_hosts=0 netns_rails=0
}

# What scripts left that were killed before they could.
netns_sweep() {
    local owner
    ip netns list | sed -n 's/^causeway\([0-9]*\)-.*/\1/p' | sort -u |
        while read -r owner; do
            [ -d "/proc/$owner" ] || netns_remove "causeway$owner"
        done
}
