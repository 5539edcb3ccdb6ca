#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests netns.sh itself: the hosts reach one another, lose what they should
# lose, and nothing of it is left.
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/test/apps/netns.sh"
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
apps_work=$work # netns.sh removes it with its hosts

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ] || exit 1
    [ $passed -gt 0 ] || exit 77
    exit 0
}

# check NAME COMMAND...
check() {
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
        echo "ok netns: $name"
    else
        failed=$((failed + 1))
        echo "not ok netns: $name"
        sed 's/^/#| /' "$work/out"
    fi
}

if ! netns_need; then
    echo "skip netns: all - $netns_why"
    skipped=1
    finish
fi

cat >"$work/udp.py" <<'PY'
# udp.py listen ADDRESS COUNT | send ADDRESS COUNT BYTES: datagrams of which
# none is cut; the listener prints how many came within two quiet seconds.
import socket, sys
verb, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
six = ":" in address
s = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                  socket.SOCK_DGRAM)
if verb == "listen":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    s.bind((address, 7777))
    print("ready", flush=True)
    s.settimeout(10)
    got = 0
    try:
        while got < count:
            s.recv(65536)
            got += 1
            s.settimeout(2)
    except TimeoutError:
        pass
    print(got)
else:
    s.setsockopt(socket.IPPROTO_IPV6 if six else socket.IPPROTO_IP,
                 23 if six else 10, 2)  # MTU_DISCOVER: DO
    for number in range(count):
        s.sendto(bytes(int(sys.argv[4])), (address, 7777))
PY

# arrives FROM TO ADDRESS COUNT BYTES LEAST MOST: how many must arrive
arrives() {
    rm -f "$work/got"
    netns_run "$2" timeout 60 python3 "$work/udp.py" listen "$3" "$4" \
        >"$work/got" &
    listener=$!
    while ! grep -q ready "$work/got" 2>/dev/null; do
        kill -0 $listener 2>/dev/null || return 1
    done
    netns_run "$1" timeout 60 python3 "$work/udp.py" send "$3" "$4" "$5"
    sent=$?
    wait $listener
    got=$(tail -n 1 "$work/got")
    echo "sent $4 (status $sent), arrived $got, expected $6 to $7"
    [ "$got" -ge "$6" ] && [ "$got" -le "$7" ]
}

not() { ! "$@"; }
leftovers() { ip netns list | grep -c "^$1-" | grep -qx 0; }

before=$(ip -o link | wc -l)
check "four hosts, two rails" netns_up 4 2
check "IPv4 over rail 0" arrives 1 4 10.77.0.4 3 100 3 3
check "IPv4 over rail 1" arrives 2 3 10.77.1.3 3 100 3 3
check "IPv6 over rail 1" arrives 4 1 fd77:1::1 3 100 3 3
check "the host's name" sh -c "[ \"$(netns_run 3 hostname)\" = host3 ]"

netns_mtu 1280
check "MTU 1280 carries 1252 bytes" arrives 1 2 10.77.0.2 1 1252 1 1
check "MTU 1280 carries no 1253 bytes" arrives 1 2 10.77.0.2 1 1253 0 0
netns_mtu 9000
check "MTU 9000 carries 8972 bytes" arrives 1 2 10.77.0.2 1 8972 1 1
netns_mtu 1500

netns_loss 10 # 4000: 3600, six deviations of 19
check "10 % are lost" arrives 1 2 10.77.0.2 4000 100 3486 3714
netns_loss 0
check "nothing is lost any more" arrives 1 2 10.77.0.2 1000 100 1000 1000

netns_cable 2 0 down
check "a cable that is out" arrives 1 2 10.77.0.2 1 100 0 0
check "leaves the other rail" arrives 1 2 10.77.1.2 1 100 1 1
netns_cable 2 0 up
check "and is put back" arrives 1 2 10.77.0.2 1 100 1 1
netns_link 1 0 down
check "a device that is off" not netns_run 1 timeout 20 \
    python3 "$work/udp.py" send 10.77.0.2 1 100
netns_link 1 0 up
check "on again" arrives 1 2 fd77:0::2 1 100 1 1

netns_rsh "$work/rsh"
check "the agent of Open MPI" sh -c "'$work/rsh' -x 10.77.0.3 \
    'a=x; test \"\$(hostname)\$a\" = host3x && ip addr' | grep -q 10.77.0.3/24"
if command -v mpirun >/dev/null 2>&1; then
    hosts=10.77.0.1:1,10.77.0.2:1,10.77.0.3:1,10.77.0.4:1
    check "four processes on four hosts" sh -c "
        ip netns exec $(netns_of 1) unshare --uts sh -c 'hostname host1 &&
            exec timeout 90 mpirun --allow-run-as-root --host $hosts -np 4 \
            --mca plm_rsh_agent $work/rsh hostname' >$work/names &&
        test \"\$(sort $work/names | tr '\\n' ' ')\" = \
            'host1 host2 host3 host4 '"
else
    skipped=$((skipped + 1))
    echo "skip netns: four processes on four hosts - no mpirun"
fi

netns_only_ipv6
check "IPv6 only: it arrives" arrives 1 2 fd77:0::2 1 100 1 1
check "IPv6 only: no IPv4" not netns_run 1 timeout 20 \
    python3 "$work/udp.py" send 10.77.0.2 1 100
netns_down
check "nothing is left" leftovers "$netns_prefix"
check "and nothing was here" sh -c "[ $(ip -o link | wc -l) -eq $before ]"

# Two at once, and ends of every kind: each holds its hosts until it is told.
cat >"$work/child.sh" <<CHILD
. "$top/test/apps/netns.sh"
netns_up 2 || exit 1
netns_run 1 sleep 100 &
echo "\$netns_prefix" >"$work/child.\$1.new"
mv "$work/child.\$1.new" "$work/child.\$1"
[ "\$1" != exit ] || exit 3
wait
CHILD
for how in exit TERM KILL; do
    sh "$work/child.sh" $how &
    eval "child_$how=\$!"
done
for how in exit TERM KILL; do
    eval "child=\$child_$how"
    while ! [ -e "$work/child.$how" ]; do
        kill -0 "$child" 2>/dev/null || break
    done
    [ $how = exit ] || kill -$how "$child"
    wait "$child" 2>/dev/null
    prefix=$(cat "$work/child.$how")
    [ $how != KILL ] || netns_sweep
    check "nothing is left after $how" leftovers "$prefix"
done
finish
