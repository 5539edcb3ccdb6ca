#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# causeway explain: a pair of processes, an address, the options, the JSON.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"

if [ "${TOOL_LIBS:-ours}" = debian ]; then
    run "$tool_causeway" explain
    expect "not on UCX's libraries" 1 err "not Causeway's"
    finish
fi

run "$tool_causeway" explain
expect "both by name" 0 out "^worker 'parent' to worker 'child'"
expect "a lane" 0 out '^  lane 0 +sm/'
expect "taken, with the setting" 0 out '^  taken +sm/.*\[UCX_TLS=\^sm\]'
expect "self is refused between two" 0 out '^  refused +self/.*: '
expect "our rights" 0 out '^  rights +we to the peer'"'"'s memory: '
expect "its rights" 0 out '^  rights +the peer to ours: '
expect "every mode" 0 out '^tag send, buffered, strided in pieces of 4096 bytes, host memory'
expect "a winner" 0 out '^  0\.\.[0-9]+ +eager/immediate +[0-9.]+ us \+ '
expect "a loser" 0 out '^      not eager/allocated +dearer by .*\[UCX_'

run "$tool_causeway" explain --mode sync --datatype iov --size 1m
expect "one question" 0 out '^tag send, sync, iov in pieces of 4096 bytes, host memory$'
[ "$(grep -c '^tag send' "$tool_work/out")" -eq 1 ] &&
    ok "only that" || notok "only that" "more than one operation"
expect "one size" 0 out '^  1048576 +rndv/'
expect "a reason" 0 out 'not eager/immediate +refused: .*synchronous'
run "$tool_causeway" explain --mode standard --datatype strided --size 1m \
    --piece-size 64
expect "short pieces" 0 out 'rndv/pipeline_send .* us a piece in it; '

run env UCX_RNDV_THRESH=100 "$tool_causeway" explain --size 100 \
    --mode standard --datatype contig
expect "a threshold is obeyed" 0 out '^  100 +rndv/'
run env UCX_RNDV_THRESH=100 "$tool_causeway" explain --size 99 \
    --mode standard --datatype contig
expect "and below it" 0 out '^  99 +eager/'

run env UCX_TLS=self "$tool_causeway" explain
expect "no lane" 1 err 'ucp_ep_create: '

# An address, in each form. Nobody is asked, so nobody need be there.
"$tool_causeway" explain --own-address >"$tool_work/address"
run "$tool_causeway" explain --address "$(cat "$tool_work/address")"
expect "an address as digits" 0 out '^  taken +sm/.*: '
grep -q '^  rights' "$tool_work/out" &&
    notok "no rights are known" "some are" || ok "no rights are known"
run "$tool_causeway" explain --address "$tool_work/address" --json
expect "an address in a file" 0 out '"verdict":"refused"'
xxd -r -p "$tool_work/address" >"$tool_work/blob" 2>/dev/null ||
    python3 -c 'import sys; sys.stdout.buffer.write(
        bytes.fromhex(open(sys.argv[1]).read()))' "$tool_work/address" \
        >"$tool_work/blob"
run "$tool_causeway" explain --address "$tool_work/blob" --size 8
expect "an address as it is" 0 out '^  taken +sm/'
run env UCX_TLS=self "$tool_causeway" explain --address "$tool_work/address"
expect "why there is no lane" 1 out '^  refused +sm: .*not open here'
expect "and what was left out" 1 out '^  left out sm: not in UCX_TLS'
printf 'xyz' >"$tool_work/bad"
run "$tool_causeway" explain --address "$tool_work/bad"
expect "no address" 1 err 'address'
run "$tool_causeway" explain --address "$tool_work/none"
expect "no file" 1 err 'no file'

run "$tool_causeway" explain --mode quick
expect "a mode that is none" 1 err "no mode 'quick'"
run "$tool_causeway" explain --op teleport
expect "an operation that is none" 1 err 'known: tag, am'
run "$tool_causeway" explain --op am
expect "an operation that is not built" 1 err 'cannot do this operation yet: am'
run "$tool_causeway" explain --memory moon
expect "a memory that is none" 1 err 'known: host, mapped'
run "$tool_causeway" explain --memory mapped --mode standard --datatype contig
expect "mapped memory" 0 out '^tag send, standard, contig, mapped memory'
expect "and what it means" 0 out '^  memory +mapped by ucp_mem_map'
run env UCX_TLS=self UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=0 \
    "$tool_causeway" explain --address "$(UCX_TLS=self \
    "$tool_causeway" explain --own-address)" --mode standard --size 64k
expect "no lane to another self" 1 out '^  refused +self/'
run env UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=0 "$tool_causeway" explain \
    --mode standard --datatype contig --receiver-datatype generic --size 64k
if grep -Eq '^  65536 +rndv/rdma_get' "$tool_work/out"; then
    expect "the receiver's word" 0 out '^      then rndv/pipeline_send +receiver: '
else
    skip "the receiver's word" "CMA is forbidden here"
fi
run "$tool_causeway" explain --receiver-datatype round
expect "a receiver's datatype that is none" 1 err "no datatype 'round'"
run "$tool_causeway" explain --size 5x
expect "a size that is none" 2 err 'a size'
run "$tool_causeway" explain --help
expect "help" 0 out '^Usage: causeway explain'

if command -v python3 >/dev/null; then
    "$tool_causeway" explain --json >"$tool_work/json"
    run python3 "$tool_src/tool_explain.py" "$tool_work/json"
    expect "the JSON is right" 0 out 'protocols'
else
    skip "the JSON is right" "no python3"
fi

# At run time: both processes say it once, before the first message.
run env UCX_PROTO_INFO='*standard, contig*' "$tool_causeway" perf \
    --test lat --sizes 8 --iterations 10 --repeat 1
expect "UCX_PROTO_INFO" 0 err 'UCX PRINT tag send, standard, contig'
[ "$(grep -c 'UCX PRINT tag send' "$tool_work/err")" -eq 2 ] &&
    ok "once a process" || notok "once a process" "another count"
finish
