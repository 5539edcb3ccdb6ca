#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# UCX_TRACE_FILE and causeway trace merge: two processes, read as Perfetto reads
# them (tool_import.py), checked for sense; another clock; files that are cut or
# something else.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"

[ "${TOOL_LIBS:-ours}" = debian ] && { skip "trace" "UCX has none"; finish; }
command -v python3 >/dev/null || { skip "trace" "no python3"; finish; }
check=$tool_src/tool_trace.py
export PYTHONDONTWRITEBYTECODE=1

run python3 "$tool_src/tool_import.py" --test
expect "what Perfetto loses is noticed" 0 out ' 0 not'

for setting in UCX_RNDV_THRESH=8k UCX_RNDV_THRESH=inf UCX_ZCOPY_THRESH=inf \
    UCX_TLS=posix,self; do
    rm -f "$tool_work"/t.*
    run env "$setting" UCX_TRACE_FILE="$tool_work/t.%p.json" \
        "$tool_causeway" perf --test lat,bw --sizes 0,8,4k,100k \
        --iterations 20 --repeat 2
    expect "$setting: a run" 0
    for file in "$tool_work"/t.*.json; do
        run python3 "$check" check 1 "$file"
        expect "$setting: one process" 0 out 'events'
    done
    run "$tool_causeway" trace merge "$tool_work"/t.*.json \
        -o "$tool_work/all.json"
    expect "$setting: merge" 0 err '2 processes on 1 host, .* 0 without'
    run python3 "$check" check 2 "$tool_work/all.json"
    expect "$setting: both" 0 out 'messages'
done

# A clock that is 1234 s ahead is put in line by the messages.
set -- "$tool_work"/t.*.json
python3 "$check" move 1234 "$2" "$tool_work/moved.json"
run "$tool_causeway" trace merge "$1" "$tool_work/moved.json" \
    --output "$tool_work/all.json"
expect "two clocks" 0 err 'on 2 hosts'
run python3 "$check" shift "$tool_work/all.json"
expect "in line" 0 out 'us at least'
run python3 "$tool_src/tool_import.py" "$tool_work/all.json"
expect "two clocks are read whole" 0
# The same process twice is two processes.
run "$tool_causeway" trace merge --quiet "$1" "$1" -o "$tool_work/all.json"
expect "the same twice" 0
run python3 -c 'import json, sys
print(len({e["pid"] for e in json.load(open(sys.argv[1]))}), "processes")' \
    "$tool_work/all.json"
expect "are two" 0 out '^2 processes'

# A process killed in the middle of a write.
size=$(wc -c <"$2")
head -c $((size - 25)) "$2" >"$tool_work/cut.json"
run "$tool_causeway" trace merge "$1" "$tool_work/cut.json" \
    -o "$tool_work/all.json"
expect "a file that is cut" 0 err 'cut off'
run python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \
    "$tool_work/all.json"
expect "its result is whole" 0

printf '{"traceEvents":[]}' >"$tool_work/other.json"
run "$tool_causeway" trace merge "$1" "$tool_work/other.json"
expect "another kind of file" 1 err 'no trace of Causeway'
: >"$tool_work/empty.json"
run "$tool_causeway" trace merge "$tool_work/empty.json"
expect "an empty file" 1 err 'no trace of Causeway'
run "$tool_causeway" trace merge "$tool_work/none.json"
expect "no file" 1 err 'No such file'
run "$tool_causeway" trace merge "$1" -o "$tool_work/none/all.json"
expect "nowhere to write" 1 err 'No such file'
run "$tool_causeway" trace merge
expect "no words" 2 err 'no files'
run "$tool_causeway" trace split "$1"
expect "another word" 2 err "is 'merge'"
run "$tool_causeway" trace --help
expect "help" 0 out '^Usage: causeway trace merge'
finish
