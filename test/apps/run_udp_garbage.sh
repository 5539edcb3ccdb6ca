#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Garbage at the ports of two processes that work over udp: it is counted, the
# data is right, nobody fails. 20,000 packets; a million with TEST_LONG=1 and in a
# campaign. (That each single packet is counted: test/uct/test_udp_peers.c.)
#
#   run_udp_garbage.sh --bench [RUNS]   what it costs: bandwidth without garbage,
#       with garbage to another port, with garbage to ours; the median ratio of
#       the last two must be 0.9 at least (docs/perf/garbage.md)
: "${srcdir:=$(dirname "$0")/../..}"
garbage=$(cd "$srcdir" && pwd)/test/apps/udp_garbage.py
work=$(mktemp -d) || exit 99
sender=''
trap '[ -z "$sender" ] || kill $sender 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 99' INT TERM HUP
first=$((20000 + $$ % 20000))
ports="$first $((first + 1)) $((first + 2)) $((first + 3))"
export UCX_TLS=udp,self UCX_NET_DEVICES=lo
export UCX_UDP_PORT_RANGE=$first-$((first + 3))

skip() {
    echo "skip udp_garbage: all - $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
}
command -v python3 >/dev/null 2>&1 || skip "no python3"
[ -x ./causeway ] || skip "causeway is not built"
./causeway info 2>/dev/null | grep -q udp || skip "built without udp"

# perf WORD...
perf() {
    timeout 300 ./causeway perf --test bw --sizes 64k "$@"
}

# throw WORD...: a sender in the background
throw() {
    # shellcheck disable=SC2086
    python3 "$garbage" "$@" $ports >"$work/sent" &
    sender=$!
}

megabytes() {
    perf --time 1 --repeat 3 | awk '$1 == "64k" { print $2 }'
}

if [ "$1" = --bench ]; then
    run=0
    while [ $run -lt "${2:-5}" ]; do
        none=$(megabytes)
        throw --aside 100000000 "${RATE:-10000}"
        aside=$(megabytes)
        kill $sender
        wait $sender 2>/dev/null
        throw 100000000 "${RATE:-10000}"
        ours=$(megabytes)
        kill $sender
        wait $sender 2>/dev/null
        echo "$none $aside $ours"
        run=$((run + 1))
    done | awk '{ print "MB/s: none", $1, "aside", $2, "at our ports", $3,
                      "ratio to aside", $3 / $2; ratio[NR] = $3 / $2 }
        END { for (i = 2; i <= NR; ++i)
                  for (j = i; j > 1 && ratio[j - 1] > ratio[j]; --j) {
                      t = ratio[j]; ratio[j] = ratio[j - 1]; ratio[j - 1] = t }
              median = ratio[int((NR + 1) / 2)]
              print "median ratio", median ", at least 0.9:",
                  (median >= 0.9) ? "met" : "missed"
              exit (median < 0.9) }'
    exit # as awk did
fi

passed=0 failed=0
count=20000 rate=5000
if [ -n "$TEST_LONG" ] || [ "$TEST_TIER" = campaign ]; then
    count=1000000 rate=20000
fi
throw $count $rate
export UCX_STATS_DEST="file:$work/stats"
runs=0
while kill -0 $sender 2>/dev/null || [ $runs -eq 0 ]; do
    runs=$((runs + 1))
    if ! perf --time 0.5 --repeat 2 --cpus none --verify >"$work/out" 2>&1; then
        failed=$((failed + 1))
        echo "not ok udp_garbage: run $runs"
        sed 's/^/#| /' "$work/out" | head -n 20
        break
    fi
done
wait $sender
counted=$(awk '$4 ~ /^bad_(packet|tag|connection)$/ { n += $5 }
               END { print n + 0 }' "$work/stats")
if [ $failed -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok udp_garbage: $runs runs, all data verified, none failed"
fi
text="of $(cat "$work/sent") packets $counted came while somebody was there"
if [ "$counted" -gt 0 ]; then
    passed=$((passed + 1))
    echo "ok udp_garbage: $text, counted and dropped"
else
    failed=$((failed + 1))
    echo "not ok udp_garbage: $text"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
