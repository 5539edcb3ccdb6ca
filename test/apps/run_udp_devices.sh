#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which interfaces udp uses between hosts, and what it says of the others. The
# hosts have a good network and four that only look good:
#
#     lo       127.0.0.1 on both
#     docker0  172.17.0.1/16 on both
#     ll0      169.254.7.HOST/16
#     hole0    10.99.HOST.1/24, and each host drops what goes to the other's
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/netns.sh"
[ "$APPS_LIBS" = ours ] || { apps_skip all "only ours has udp" && apps_finish; }
netns_need || { apps_skip all "$netns_why" && apps_finish; }
causeway=$apps_build/causeway
: >"$apps_work/report"

# check NAME COMMAND...
check() {
    local name="$1"
    shift
    if "$@"; then
        apps_ok "$name"
    else
        apps_notok "$name" "see the output"
        # what was chosen comes first, and why it ended last
        { head -n 40 "$apps_work/client" && tail -n 20 "$apps_work/client" &&
            tail -n 20 "$apps_work/server"; } | sed 's/^/#| /'
    fi
}

# pair ADDRESS VARIABLES1 VARIABLES2 OPTION...: causeway perf between the hosts;
# its client on host 1 meets a server on host 2 there. Words of env(1) each.
pair() {
    local address="$1" client="$2" server="$3" code=0
    local seconds=$((20 * APPS_TIMEOUT)) end
    shift 3
    end=$(($(date +%s) + seconds))
    # shellcheck disable=SC2046,SC2086
    netns_run 2 timeout -k 5 $seconds env $(apps_environment) UCX_TLS=udp,self \
        $server "$causeway" perf --listen "$address:17337" \
        >"$apps_work/server" 2>&1 &
    apps_child=$!
    while [ "$(date +%s)" -lt $end ] && kill -0 $apps_child 2>/dev/null &&
        ! ip netns exec "$(netns_of 2)" ss -Hltn | grep -q 17337; do
        sleep 0.01
    done
    # shellcheck disable=SC2046,SC2086
    netns_run 1 timeout -k 5 $seconds env $(apps_environment) UCX_TLS=udp,self \
        $client "$causeway" perf --connect "$address:17337" "$@" \
        >"$apps_work/client" 2>&1 || code=$?
    [ $code -eq 0 ] || kill $apps_child 2>/dev/null
    wait $apps_child || code=$?
    apps_child=''
    [ $code -eq 0 ] || echo "perf: exit status $code" >>"$apps_work/client"
    return $code
}

says() { grep -Eq "$2" "$apps_work/$1"; }

# reasons PREFIX: which network is taken, and why each other one is not
reasons() {
    check "$1the good one is taken" says client '^.* taken *udp/eth0:'
    check "$1lo is not" says client 'refused *udp/lo: lo reaches only this host'
    check "$1docker0 is not" says client \
        'refused *udp/docker0: 172.17.0.1:[0-9]+ is an address of this host too'
    check "$1the black hole is not" says client \
        'refused *udp/hole0: the route to 10.99.2.1:[0-9]+ drops everything'
    check "$1the link-local one is not" says client \
        'left out udp/ll0: its addresses are link-local.*UCX_NET_DEVICES'
    check "$1nor another one by a wrong way" says client \
        'refused *udp/docker0: to 10.77.0.2:[0-9]+ the kernel sends by eth0'
}

# bytes HOST DEVICE: that it has sent
bytes() {
    ip netns exec "$(netns_of "$1")" cat "/sys/class/net/$2/statistics/tx_bytes"
}

# extra HOST DEVICE ADDRESS: a device with a carrier that leads nowhere
extra() {
    local space switch
    space=$(netns_of "$1")
    switch=$(netns_of switch)
    ip link add "$2" netns "$space" type veth peer name "h$1-$2" \
        netns "$switch" &&
        ip -n "$switch" link set "h$1-$2" up &&
        ip -n "$space" addr add "$3" dev "$2" &&
        ip -n "$space" link set "$2" up
}

# bad_networks HOST OTHER
bad_networks() {
    extra "$1" docker0 172.17.0.1/16 &&
        extra "$1" ll0 "169.254.7.$1/16" &&
        extra "$1" hole0 "10.99.$1.1/24" &&
        ip -n "$(netns_of "$1")" route add blackhole "10.99.$2.0/24"
}

netns_up 2 && bad_networks 1 2 && bad_networks 2 1 || {
    apps_notok "two hosts" "they could not be made"
    apps_finish
}

# ---- one good network ----

one='--test lat --sizes 8 --iterations 10 --repeat 1'
# shellcheck disable=SC2086
check "one good network: connected" pair 10.77.0.2 UCX_PROTO_INFO=y '' $one
reasons ''

# The same from the address of a worker there, before there is an endpoint.
netns_run 2 env UCX_TLS=udp,self "$causeway" explain --own-address \
    >"$apps_work/address"
netns_run 1 env UCX_TLS=udp,self "$causeway" explain --size 8 \
    --address "$apps_work/address" >"$apps_work/client" 2>&1
reasons 'explain: '

# Processes start on a busy machine; the connection itself has one second.
begun=$(date +%s%N)
# shellcheck disable=SC2086
pair 10.77.0.2 '' '' $one
took=$((($(date +%s%N) - begun) / 1000000))
begun=$(date +%s%N)
# shellcheck disable=SC2086
pair 10.77.0.2 UCX_NET_DEVICES=eth0 UCX_NET_DEVICES=eth0 $one
alone=$((($(date +%s%N) - begun) / 1000000))
echo "# up and down again: $took ms, with eth0 alone $alone ms"
check "up within a second" [ $took -le $((alone + 1000 * APPS_TIMEOUT)) ]

# ---- by name ----

netns_names "$apps_work/hosts" || apps_notok "names" "they could not be given"
# shellcheck disable=SC2086
check "by name" pair host2 '' '' --test lat,bw --sizes 8,64k --verify \
    --iterations 3 --repeat 1
check "by name: as it is" says server 'waiting at 10.77.0.2 port 17337'
# shellcheck disable=SC2086
! timeout 60 "$causeway" perf --connect host2.invalid:17337 $one \
    >"$apps_work/client" 2>&1
check "a name that nobody has" says client "connect 'host2.invalid:17337': "

# ---- bare sockets on the same way ----

limits='--test lat,bw --sizes 8,64k --limits --iterations 10 --repeat 2'
# shellcheck disable=SC2086
check "limits" pair host2 '' '' $limits
check "limits: of a ping-pong" says client 'raw: udp packets .* x .*, tcp .* x'
check "limits: of a stream" says client \
    'raw: udp packets .* x .*, udp segments .* x .*, tcp .* x'
check "limits: of no memory" [ "$(grep -c 'x limit' "$apps_work/client")" = 0 ]
netns_loss 1
# shellcheck disable=SC2086
check "limits: datagrams are lost" pair host2 '' '' $limits
check "limits: and go again" says client 'raw: udp packets .* x .*, tcp .* x'
netns_loss 0
ip netns exec "$(netns_of 1)" nft -f - <<'SHUT'
table inet bare {
    chain arrives {
        type filter hook input priority 0;
        tcp flags & (syn | ack) == syn reject with tcp reset;
    }
}
SHUT
# shellcheck disable=SC2086
check "limits: a firewall" pair host2 '' '' $limits
check "limits: it is told" says client \
    'no bare sockets: the other process cannot connect'
ip netns exec "$(netns_of 1)" nft delete table inet bare

# ---- an address behind a router: host 2 itself is it ----

extra 2 far0 10.88.0.2/24
ip -n "$(netns_of 1)" route add 10.88.0.0/24 via 10.77.0.2
# shellcheck disable=SC2086
check "two addresses: connected" pair 10.77.0.2 UCX_PROTO_INFO=y '' $one
check "the one on the link is taken" says client \
    'taken *udp/eth0: .* 10.77.0.2:[0-9]+ is on the link'
check "the one behind a router is not" says client \
    'dearer *udp/eth0: .* 10.88.0.2:[0-9]+ is behind a router'
ip -n "$(netns_of 1)" route del 10.88.0.0/24
ip -n "$(netns_of 2)" link del far0

# ---- settings ----

# shellcheck disable=SC2086
pair 10.77.0.2 UCX_NET_DEVICES=eht0,eth0 '' $one
check "a misspelt device is named" says client \
    "no interface 'eht0' here; there are: .*eth0"
# shellcheck disable=SC2086
check "ports of a range" pair 10.77.0.2 UCX_UDP_PORT_RANGE=7000-7100 '' $one
# shellcheck disable=SC2086
check "both encrypt" pair 10.77.0.2 UCX_NET_ENCRYPT=y UCX_NET_ENCRYPT=y \
    --test lat,bw --sizes 8,64k --verify --iterations 3 --repeat 1
# shellcheck disable=SC2086
! pair 10.77.0.2 UCX_NET_ENCRYPT=y '' $one
check "one alone does not encrypt" says client \
    'does not encrypt its packets, this end does: UCX_NET_ENCRYPT'

# ---- sizes around the thresholds, and the other family ----

sizes=0,1,767,768,769,1024,1025,1168,1169,8192,8193,65535,65536,65537,1m
check "every size over IPv4" pair 10.77.0.2 '' '' --test lat --sizes $sizes \
    --iterations 3 --repeat 1
check "IPv6 by its side of the device" pair '[fd77:0::2]' \
    UCX_NET_DEVICES=eth0/ipv6 '' --test lat --sizes $sizes \
    --iterations 3 --repeat 1
netns_only_ipv6
# shellcheck disable=SC2086
check "IPv6 only" pair '[fd77:0::2]' UCX_PROTO_INFO=y '' $one
check "IPv6 only: over eth0" says client '^.* taken *udp/eth0:'

# fe80:: means something on one link only: whoever uses it names the device.
netns_flush_all() {
    ip -n "$(netns_of 1)" -6 addr flush dev eth0 scope global
    ip -n "$(netns_of 2)" -6 addr flush dev eth0 scope global
}
netns_flush_all
link_local() {
    ip -n "$(netns_of "$1")" -6 -o addr show dev eth0 scope link |
        sed -n 's/.*inet6 \([^/]*\).*/\1/p'
}
# Nobody may use an address that the kernel still asks the others about.
is_asked_about() {
    [ -n "$(ip -n "$(netns_of "$1")" -6 -o addr show dev eth0 tentative)" ]
}
tries=100
while [ $tries -gt 0 ] && { is_asked_about 1 || is_asked_about 2; }; do
    tries=$((tries - 1))
    sleep 0.1
done
there=$(link_local 2)
# shellcheck disable=SC2086
check "IPv6 link-local" pair "[$there%eth0]" UCX_NET_DEVICES=eth0 \
    UCX_NET_DEVICES=eth0 $one
netns_down

# ---- two rails ----

netns_up 2 2 || { apps_notok "two rails" "they could not be made"; apps_finish; }
before0=$(bytes 1 eth0) before1=$(bytes 1 eth1)
check "two rails" pair 10.77.0.2 UCX_PROTO_INFO=y '' --test bw --sizes 1m \
    --verify --time 0.2 --repeat 2
sent0=$(($(bytes 1 eth0) - before0)) sent1=$(($(bytes 1 eth1) - before1))
echo "# host 1 sent $sent0 bytes over eth0, $sent1 over eth1"
share() {
    [ "$1" -gt 1000000 ] && [ $((3 * $1)) -ge "$2" ] && [ $((3 * $2)) -ge "$1" ]
}
check "both carry a third at least" share "$sent0" "$sent1"
check "each family is no rail of its own" \
    sh -c "[ \"\$(grep -c ' lane [0-9] ' '$apps_work/client')\" -eq 2 ]"
apps_finish
