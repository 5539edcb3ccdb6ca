#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/sim/run_sim.sh - seeds of the simulator: a few hundred; in a
# campaign (TEST_TIER=campaign, TEST_LONG=1) ten thousand. A seed that fails says how to replay it.
set -u
sim=test/sim/sim
[ -x "$sim" ] || { echo "skip sim.seeds: built without udp"; exit 77; }
seeds=500
if [ "${TEST_TIER:-}" = campaign ] || [ "${TEST_LONG:-0}" = 1 ]; then
    seeds=10000
fi
if out=$(UCX_LOG_LEVEL=fatal "$sim" --seeds "$seeds" 2>&1); then
    echo "ok    sim.seeds: $out"
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "$out" | tail -n 40
    echo "FAIL  sim.seeds"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
