#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every function that the reference declares, declared again behind our
# header: the compiler says if the types differ.
. "$(dirname "$0")/common.sh"

need_reference
echo '#include <ucp/api/ucp.h>' >"$work/reference.c"
reference_cc -aux-info "$work/all" -c "$work/reference.c" -o "$work/reference.o"
sed -n 's|^/\* [^*]*ucp/api/[^*]*\*/ \(extern .*\)$|\1|p' "$work/all" \
    >"$work/prototypes"
count=$(wc -l <"$work/prototypes")
[ "$count" -ge 110 ] || fail "only $count prototypes found"

{
    echo '#include <ucp/api/ucp.h>'
    cat "$work/prototypes"
} >"$work/ours.c"
our_cc -fsyntax-only -Wall -Wextra -Werror "$work/ours.c" ||
    fail "prototypes differ"

# Declared behind nothing of ours, a function would pass: each must be there.
sed 's/.*[ *]\(uc[ps]_[a-z0-9_]*\) (.*/\1/' "$work/prototypes" |
    while read -r function; do
        printf '#include <ucp/api/ucp.h>\nvoid *p = (void *)%s;\n' "$function"
    done | sed 's/^void \*p/void *p_LINE/' |
    awk '/^#/ { if (!seen++) print; next }
         { sub(/p_LINE/, "p" NR); print }' >"$work/present.c"
our_cc -fsyntax-only -Wall -Werror "$work/present.c" ||
    fail "a function is not declared"

# The test can fail.
sed '2s/ (/ (int, /' "$work/ours.c" >"$work/wrong.c"
our_cc -fsyntax-only "$work/wrong.c" 2>/dev/null &&
    fail "a wrong prototype is not noticed"
echo "$name: $count prototypes agree"
