#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What our four libraries have in their symbol tables: all that the API and
# causeway.h have and all that Debian's programs look up, and nothing else of
# UCX's names.
. "$(dirname "$0")/common.sh"

need_reference
need_our_libraries

exports() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TDBRVWi]/ { print $3 }'
}
# Objects that the program holds a copy of.
copies() {
    readelf -rW "$1" | awk '/R_[A-Z0-9_]*_COPY/ { print $5 }' |
        sed 's/@.*//' | grep -E '^uc[pstm]_' || true
}
imports() {
    nm -D --undefined-only "$1" | awk '{ print $2 }' |
        grep -E '^uc[pstm]_' || true
    copies "$1"
}
size() { # of the object in the libraries of a folder
    for layer in ucp uct ucs ucm; do
        nm -DS --defined-only "$1/lib$layer.so.0" |
            awk -v name="$object" '$4 == name { print $2 }'
    done
}

# The API: what the reference declares, and what came after it.
echo '#include <ucp/api/ucp.h>' >"$work/reference.c"
reference_cc -aux-info "$work/all" -c "$work/reference.c" -o "$work/reference.o"
{
    sed -n 's|^/\* [^*]*ucp/api/[^*]*\*/ extern .*[ *]\(ucp_[a-z0-9_]*\) (.*|\1|p' \
        "$work/all"
    allowed newer
} | sort -u >"$work/api"
[ "$(wc -l <"$work/api")" -eq 120 ] ||
    fail "the API has 120 names, found $(wc -l <"$work/api")"
# And our additions (docs/adr/0015), which have a header of their own.
grep -oE '\bcauseway_[a-z0-9_]+\(' "$top/src/ucp/api/causeway.h" |
    tr -d '(' | sort -u >"$work/additions"
sort -u "$work/additions" -o "$work/api" "$work/api"
exports "$build/src/ucp/.libs/libucp.so.0" | sort -u >"$work/ucp"
diff "$work/api" "$work/ucp" >"$work/diff" ||
    fail "libucp and the API (<) differ: $(grep '^[<>]' "$work/diff" |
        tr '\n' ' ')"

mkdir "$work/lib"
for layer in ucp uct ucs ucm; do
    library=$build/src/$layer/.libs/lib$layer.so.0
    readelf -dW "$library" | grep -q "SONAME.*\[lib$layer\.so\.0\]" ||
        fail "lib$layer: wrong soname"
    ! readelf -VW "$library" | grep -q 'Version definition' ||
        fail "lib$layer has symbol versions"
    exports "$library" >>"$work/all_ours"
    ln -s "$library" "$work/lib/"
done
sort -u "$work/all_ours" >"$work/ours"
for layer in ucp uct ucs ucm; do
    exports "$reference_libdir/lib$layer.so.0"
done | sort -u >"$work/theirs"

# Debian's programs.
libdir=$reference_libdir
clients=
for file in /usr/bin/ucx_perftest /usr/bin/ucx_info /usr/bin/io_demo \
    "$libdir"/openmpi/lib/openmpi3/mca_*_ucx.so \
    "$libdir"/libmca_common_ucx.so.40 "$libdir"/libmpich.so.12; do
    [ -e "$file" ] && clients="$clients $file"
done
[ -n "$clients" ] || fail "no client found: install ucx-utils openmpi-bin"
for file in $clients; do
    imports "$file" | sort -u >"$work/wanted"
    cat "$work/wanted" >>"$work/all_wanted"
    comm -23 "$work/wanted" "$work/ours" >"$work/missing"
    [ ! -s "$work/missing" ] ||
        fail "$file needs:" $(cat "$work/missing")

    for object in $(copies "$file"); do
        [ "$(size "$libdir")" = "$(size "$work/lib")" ] ||
            fail "$object in $file: $(size "$libdir") bytes there," \
                "$(size "$work/lib") here"
    done

    LD_BIND_NOW=1 LD_LIBRARY_PATH=$ours ldd -r "$file" >"$work/ldd" 2>&1 ||
        true
    ! grep -E 'undefined symbol: *uc[pstm]_' "$work/ldd" ||
        fail "$file does not load"
    ! grep -E 'libuc[pstm]\.so\.0 => ' "$work/ldd" | grep -vF "$build" ||
        fail "$file does not load our libraries"
done

# Names that both have, but nobody asked for.
allowed export | sort -u >"$work/allowed"
sort -u "$work/all_wanted" "$work/api" "$work/allowed" >"$work/explained"
comm -12 "$work/ours" "$work/theirs" | comm -23 - "$work/explained" \
    >"$work/clash"
[ ! -s "$work/clash" ] || fail "names of UCX's, not for compatibility:" \
    $(cat "$work/clash")
# And our own names say whose they are.
comm -23 "$work/ours" "$work/explained" | grep -vE '^(ucsi|ucti)_' \
    >"$work/stray" || true
[ ! -s "$work/stray" ] || fail "exported without ucsi_ or ucti_:" \
    $(cat "$work/stray")
comm -23 "$work/allowed" "$work/ours" >"$work/stale"
[ ! -s "$work/stale" ] || fail "allowed.txt: not exported:" \
    $(cat "$work/stale")
echo "$name: $(wc -l <"$work/ours") names," \
    "$(sort -u "$work/all_wanted" | wc -l) wanted by" \
    "$(echo $clients | wc -w) clients"
