#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# contrib/bench-vs-ucx: that it measures both sides and tells them apart. The
# figures themselves are for quiet machines: nothing here depends on them.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"
bench=$tool_src/../../contrib/bench-vs-ucx

run "$bench" --rows 'no such figure'
expect "an unknown figure" 2 err 'no figure matches'
expect "the figures there are" 2 err 'Open MPI 8 B latency / ob1'
run "$bench" --build "$tool_work"
expect "nothing is built" 1 err 'are not in .*: run make'
if ! /sbin/ldconfig -p | grep -q 'libucp\.so\.0'; then
    skip "measuring" "no UCX here"
    finish
fi
# bench NAME REGEX ROWS: one short run
bench() {
    run "$bench" --build . --runs 1 --time 0.005 --rows "$3" \
        --csv "$tool_work/csv"
    expect "$1" 0 out "$2"
}
if [ -n "${CAUSEWAY_SANITIZER#no}" ]; then
    skip "measuring" "a sanitizer's build is not for measuring"
    finish
fi
bench "a ratio to UCX" '^\| tag latency 8 B / UCX .*\| <= 1 x' \
    'tag latency 8 B / UCX'
expect "the libraries are named" 0 out '^UCX: /'
expect "one verdict" 0 out '^1 met, 0 missed|^0 met, 1 missed'
bench "a ratio within the run" '^\| tag latency 8 B / cache line ' '*cache line'
bench "pieces" '^\| 1 MiB in 64 pieces / contiguous .* >= 0.9 x' '*64 pieces /*'
bench "a value alone" '^\| ucp_init and ucp_worker_create ' 'ucp_init*'
grep -q '^ucp_init' "$tool_work/csv" || notok "CSV" "no row"
finish
