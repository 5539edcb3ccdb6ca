#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's ucx_perftest, unmodified, on our four libraries: its tag tests,
# contiguous and iov. Its buffers come from ucp_mem_map; the two processes find
# one another by TCP, which is the program's own.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need ucx_perftest python3
[ "$APPS_LIBS" != ob1 ] || { apps_skip perftest "no libucp"; apps_finish; }

cd "$apps_work" || exit 99
count=2000
[ "$APPS_TIER" != campaign ] || count=100000

# perftest NAME OPTION...: both ends end well, and all messages were counted
perftest() {
    name=$1
    shift
    port=$(apps_port)
    # shellcheck disable=SC2046
    if ! apps_exec "$name" 60 2 env $(apps_environment) \
        "$apps_src/two_ends.sh" "$port" "ucx_perftest -p $port" \
        "ucx_perftest 127.0.0.1 -p $port -w 10 -n $count $*"; then
        apps_notok "$name" "$(tail -n 1 out)"
    elif ! grep -Eq "^Final: +$count " out; then
        apps_notok "$name" "no figures for $count messages"
        apps_show
    else
        apps_ok "$name"
    fi
}

for test in tag_lat tag_bw tag_sync_lat; do
    for size in 8 5000 100000 1000000; do
        perftest "$test, $size B" -t $test -s $size
    done
    perftest "$test, iov" -t $test -D iov -s 8,3000,1,20000
    perftest "$test, iov to contiguous" -t $test -D iov,contig -s 100,200,3000
    perftest "$test, large iov" -t $test -D iov -s 300000,1,200000
done
perftest "tag_lat, asleep while it waits" -t tag_lat -E sleep
perftest "tag_bw, many outstanding" -t tag_bw -O 256 -s 4096
perftest "tag_lat, wild receives" -t tag_lat -C
perftest "tag_lat, unexpected messages" -t tag_lat -U
apps_finish
