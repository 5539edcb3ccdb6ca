#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each public header compiles alone, as C99, C11 and C++11, without a warning.
. "$(dirname "$0")/common.sh"

command -v "$cc" >/dev/null || skip "no $cc"
count=0
for header in $(cd "$top/src" && ls ucp/api/*.h ucp/api/device/*.h \
    ucm/api/*.h ucs/memory/*.h ucs/config/types.h ucs/sys/compiler_def.h \
    ucs/type/*.h); do
    # Twice, and with something of its own behind: guards, and no empty file.
    printf '#include <%s>\n#include <%s>\nextern int alone;\n' "$header" \
        "$header" >"$work/alone.c"
    for compiler in "$cc" clang; do
        command -v "$compiler" >/dev/null || continue
        for language in c:c99 c:c11 c++:c++11; do
            "$compiler" -x "${language%:*}" -std="${language#*:}" -Wall \
                -Wextra -Wpedantic -Wundef -Werror -I"$top/src" \
                -fsyntax-only "$work/alone.c" ||
                fail "$header: $compiler, ${language#*:}"
        done
    done
    count=$((count + 1))
done
[ "$count" -gt 20 ] || fail "only $count headers found"
echo "$name: $count headers"
