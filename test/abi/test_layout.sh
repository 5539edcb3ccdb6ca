#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sizes, offsets, field types and enumerators of our headers against the
# reference's, which its debug information tells.
. "$(dirname "$0")/common.sh"

need_reference
command -v gdb >/dev/null || skip "no gdb"

echo '#include <ucp/api/ucp.h>' >"$work/reference.c"
reference_cc -g -fno-eliminate-unused-debug-types -c "$work/reference.c" \
    -o "$work/reference.o"
reference_cc -E -P "$work/reference.c" |
    grep -oE '\b(ucp|ucs|UCP|UCS)_[A-Za-z0-9_]+' | sort -u >"$work/names"
ABI_NAMES=$work/names ABI_OUT=$work/asserts.c \
    ABI_ALLOWED=$(allowed layout | tr '\n' ' ') \
    gdb -nx -batch -x "$abi_dir/make_asserts.py" "$work/reference.o" \
    >"$work/gdb.out" 2>&1 || { cat "$work/gdb.out"; fail "gdb"; }

count=$(grep -c _Static_assert "$work/asserts.c")
[ "$count" -gt 600 ] || fail "only $count facts found: the harvest is broken"
for compiler in "$cc" clang; do
    command -v "$compiler" >/dev/null || continue
    "$compiler" -std=gnu11 -I"$top/src" -fsyntax-only "$work/asserts.c" ||
        fail "layouts differ ($compiler)"
done

# The test can fail: one number changed in each kind of fact.
for kind in 'offset of' 'size of' 'value of'; do
    sed "0,/== \([0-9]\+\)\(.*\"$kind\)/s//== 1\1\2/" "$work/asserts.c" \
        >"$work/wrong.c"
    cmp -s "$work/asserts.c" "$work/wrong.c" && fail "no '$kind' to change"
    our_cc -fsyntax-only "$work/wrong.c" 2>/dev/null &&
        fail "a wrong '$kind' is not noticed"
done
# A name on the list of differences has to differ.
ABI_NAMES=$work/names ABI_OUT=$work/all.c ABI_ALLOWED= \
    gdb -nx -batch -x "$abi_dir/make_asserts.py" "$work/reference.o" \
    >"$work/gdb.out" 2>&1
for word in $(allowed layout); do
    {
        echo '#include <ucp/api/ucp.h>'
        grep "\"value of $word\"" "$work/all.c" ||
            fail "allowed.txt: $word is not in the reference"
    } >"$work/allowed.c"
    ! our_cc -fsyntax-only "$work/allowed.c" 2>/dev/null ||
        fail "allowed.txt: $word does not differ"
done
echo "$name: $count facts hold"
