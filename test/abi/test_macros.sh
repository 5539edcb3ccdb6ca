#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Macros of the reference: ours has each one, and the same values.
. "$(dirname "$0")/common.sh"

need_reference
echo '#include <ucp/api/ucp.h>' >"$work/include.c"
macros() {
    "$@" -E -dM "$work/include.c" |
        sed -n 's/^#define \(\(UC[PS]\|uc[ps]\)_[A-Za-z0-9_]*\).*/\1/p' |
        grep -v '_H_*$' | sort -u
}
macros reference_cc >"$work/theirs"
macros our_cc >"$work/ours"
allowed macro | sort >"$work/allowed"
comm -23 "$work/theirs" "$work/ours" >"$work/missing"
comm -23 "$work/missing" "$work/allowed" >"$work/unexplained"
[ ! -s "$work/unexplained" ] ||
    fail "macros that are not there:" $(cat "$work/unexplained")
comm -13 "$work/missing" "$work/allowed" >"$work/stale"
[ ! -s "$work/stale" ] ||
    fail "allowed.txt: not missing any more:" $(cat "$work/stale")
[ "$(wc -l <"$work/theirs")" -gt 60 ] || fail "the harvest is broken"

# Values, once with each header.
reference_cc -I"$abi_dir" "$abi_dir/macro_values.c" -o "$work/v1" \
    -Wl,--unresolved-symbols=ignore-all
our_cc -I"$abi_dir" "$abi_dir/macro_values.c" -o "$work/v2" \
    -Wl,--unresolved-symbols=ignore-all
"$work/v1" >"$work/v1.out"
"$work/v2" >"$work/v2.out"
diff "$work/v1.out" "$work/v2.out" || fail "values differ"
echo "$name: $(wc -l <"$work/theirs") macros, $(wc -l <"$work/v1.out") values"
