#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run each behave_* program, compiled with the reference's headers, on the
# reference's libraries and on ours, and compare the facts that it prints.
# BEHAVE="match dt" runs only those; BEHAVE_KEEP=1 leaves the output.
. "$(dirname "$0")/common.sh"

need_reference
need_our_libraries
[ -e "$reference_libdir/libucp.so" ] || skip "no libucp.so to link with"

programs=${BEHAVE:-$(cd "$abi_dir" && ls behave_*.c |
    sed 's/behave_\(.*\)\.c/\1/')}
for variable in $(env | sed -n 's/^\([A-Z]*_*UCX_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$variable"
done

# Libraries with a sanitizer inside need its runtime to be first.
preload=
if nm -D "$build/src/ucs/.libs/libucs.so.0" | grep -q __asan_init; then
    preload=$("$cc" -print-file-name=libasan.so)
elif nm -D "$build/src/ucs/.libs/libucs.so.0" | grep -q __tsan_init; then
    preload=$("$cc" -print-file-name=libtsan.so)
fi

run() { # program output [NAME=value...]
    program=$1
    output=$2
    shift 2
    # UCX's shared memory has no error mode PEER.
    case $program in
        peer) tls=tcp,sm,self ;;
        config) tls=all ;;
        *) tls=sm,self ;;
    esac
    env UCX_TLS=$tls UCX_KEEPALIVE_INTERVAL=1s "$@" \
        timeout 120 "$work/behave_$program" >"$output" 2>"$output.err" ||
        echo "exit.status: $?" >>"$output"
}

compare() { # program theirs...
    program=$1
    shift
    python3 "$abi_dir/compare_facts.py" "$program" "$work/$program.ours" \
        "$abi_dir/allowed.txt" "$@"
}

failed=
for program in $programs; do
    "$cc" -std=gnu11 -O1 -g -Wall -Wextra -Werror -I"$reference_include" \
        -I"$abi_dir" "$abi_dir/behave_$program.c" "$abi_dir/behave.c" \
        -o "$work/behave_$program" -L"$reference_libdir" -lucp -lucs -lpthread
    run "$program" "$work/$program.theirs"
    run "$program" "$work/$program.ours" LD_LIBRARY_PATH="$ours" \
        ${preload:+LD_PRELOAD="$preload"}
    if ! compare "$program" "$work/$program.theirs"; then
        # Is it the reference that was disturbed by other load? Ours gets no
        # second chance.
        run "$program" "$work/$program.theirs2"
        run "$program" "$work/$program.theirs3"
        if compare "$program" "$work/$program.theirs" \
            "$work/$program.theirs2" "$work/$program.theirs3"; then
            continue
        fi
        failed="$failed $program"
        sed 's/^/  ours: /' "$work/$program.ours.err" | tail -n 20
    fi
    if [ -n "${BEHAVE_KEEP:-}" ]; then
        cp "$work/$program".* "$work/behave_$program" .
    fi
done

# COVERAGE.md names facts that there are.
if [ -z "${BEHAVE:-}" ]; then
    python3 "$abi_dir/check_coverage.py" "$abi_dir/COVERAGE.md" "$work" ||
        failed="$failed COVERAGE.md"
fi

# It is our library that was run.
LD_LIBRARY_PATH=$ours ldd "$work/behave_$program" |
    grep 'libuc[pstm]\.so' | grep -vF "$build" >"$work/foreign" || true
[ ! -s "$work/foreign" ] || fail "not our library: $(cat "$work/foreign")"
[ -z "$failed" ] || fail "different behaviour:$failed"
