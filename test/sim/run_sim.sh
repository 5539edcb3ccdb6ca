#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/sim/run_sim.sh - ten thousand seeds of the simulator, in less than five
# minutes of processor time; goodput; crowds: a hundred hosts, a thousand; in a
# campaign (TEST_TIER=campaign, TEST_LONG=1) a thousand hosts that all speak
# with all, ten thousand with one. Then some seeds twice, packet by packet: the
# same seed is the same run. A seed that fails is run again, and the end of its
# trace is shown.
set -u
sim=${SIM:-test/sim/sim}
[ -x "$sim" ] || { echo "skip sim: built without udp"; exit 77; }
cpu_seconds_max=300 # of the ten thousand, user and system, in a plain build
trace_lines=60
tests=("seeds --seeds 10000" "goodput --goodput" "crowd --hosts 100"
    "star --star 1000")
if [ "${TEST_TIER:-}" = campaign ] || [ "${TEST_LONG:-0}" = 1 ]; then
    tests=("seeds --seeds 10000" "goodput --goodput" "crowd --hosts 1000"
        "star --star 10000")
fi
# Harsh ones: on two rails, encrypted, both; with puts; where somebody is
# stopped, computes, is killed, comes back; with and without polling.
replayed=(5 10 12 24 27 29 31 33 37 48 49 52 63 68 84 90 95 97 100 112 129 166)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export UCX_LOG_LEVEL=fatal
passed=0 failed=0

ok() { # name, what
    echo "ok    sim.$1: $2"
    passed=$((passed + 1))
}

bad() { # name, what
    echo "FAIL  sim.$1: $2"
    failed=$((failed + 1))
}

# The seed that the output names, once more, with all that happens.
show_trace() { # output
    local seed
    seed=$(sed -n 's/^sim: seed \([0-9]*\) failed.*/\1/p' "$1" | head -n 1)
    [ -n "$seed" ] || return
    "$sim" --seed "$seed" --trace >"$work/trace" 2>&1
    echo "the end of sim --seed $seed --trace:"
    tail -n "$trace_lines" "$work/trace"
}

TIMEFORMAT='%U %S'
for row in "${tests[@]}"; do
    read -ra words <<<"$row"
    { time "$sim" "${words[@]:1}" >"$work/out" 2>&1; } 2>"$work/time"
    status=$?
    cpu_seconds=$(awk '{ printf "%d", $1 + $2 }' "$work/time")
    said="$(head -n 1 "$work/out"), $cpu_seconds s of processor time"
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$work/out"
        [ "${words[0]}" != seeds ] || show_trace "$work/out"
        bad "${words[0]}" "status $status"
    elif [ "${words[0]}" = seeds ] &&
        [ "${CAUSEWAY_SANITIZER:-no}" = no ] &&
        [ "$cpu_seconds" -ge "$cpu_seconds_max" ]; then
        bad seeds "$said, at most $cpu_seconds_max"
    else
        ok "${words[0]}" "$said"
    fi
done

count=0 different=()
for seed in "${replayed[@]}"; do
    for run in 1 2; do
        "$sim" --seed "$seed" --packets >"$work/run$run" 2>&1
    done
    count=$((count + $(wc -l <"$work/run1")))
    cmp "$work/run1" "$work/run2" || different+=("$seed")
done
if [ ${#different[@]} -eq 0 ]; then
    ok replay "${#replayed[@]} seeds twice, $count lines the same"
else
    bad replay "seeds ${different[*]} do not run the same way twice"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
