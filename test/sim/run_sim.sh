#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/sim/run_sim.sh - ten thousand seeds of the simulator, goodput, crowds: a
# few hundred hosts; in a campaign (TEST_TIER=campaign, TEST_LONG=1) a thousand
# hosts that all speak with all, ten thousand with one. A seed that fails says
# how to replay it.
set -u
sim=test/sim/sim
[ -x "$sim" ] || { echo "skip sim: built without udp"; exit 77; }
tests=("seeds --seeds 10000" "goodput --goodput" "crowd --hosts 100"
    "star --star 300")
if [ "${TEST_TIER:-}" = campaign ] || [ "${TEST_LONG:-0}" = 1 ]; then
    tests=("seeds --seeds 10000" "goodput --goodput" "crowd --hosts 1000"
        "star --star 10000")
fi
passed=0 failed=0
for row in "${tests[@]}"; do
    read -ra words <<<"$row"
    if out=$(UCX_LOG_LEVEL=fatal "$sim" "${words[@]:1}" 2>&1); then
        echo "ok    sim.${words[0]}: $(echo "$out" | head -n 1)"
        passed=$((passed + 1))
    else
        echo "$out" | tail -n 40
        echo "FAIL  sim.${words[0]}"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
