# SPDX-License-Identifier: BSD-3-Clause
# test/abi/common.sh - sourced by the tests of this folder.
#
# The reference is the libucx-dev of Debian (UCX 1.13.1), read at test time:
# nothing of it is kept in this tree. Another one can be given with
# UCX_REFERENCE_INCLUDE and UCX_REFERENCE_LIBDIR.

set -eu
LC_ALL=C
export LC_ALL

abi_dir=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$abi_dir/../.." && pwd)
name=$(basename "$0" .sh)
# Keep the compiler's own settings (sanitizers) out of the reference.
cc=${ABI_CC:-gcc}
reference_include=${UCX_REFERENCE_INCLUDE:-/usr/include}
reference_libdir=${UCX_REFERENCE_LIBDIR:-$(dirname \
    "$("$cc" -print-file-name=libucp.so)")}
work=$(mktemp -d "${TMPDIR:-/tmp}/abi.XXXXXX")
trap 'rm -rf "$work"' EXIT

skip() {
    echo "$name: skipped: $*"
    exit 77
}

fail() {
    echo "$name: FAILED: $*"
    exit 1
}

# The words of the second column of allowed.txt in lines of this kind.
allowed() {
    awk -v kind="$1" '$1 == kind { print $2 }' "$abi_dir/allowed.txt"
}

# Compile, without linking, a file that includes the reference's headers.
reference_cc() {
    "$cc" -std=gnu11 -I"$reference_include" "$@"
}

# The same with the headers of this tree.
our_cc() {
    "$cc" -std=gnu11 -I"$top/src" "$@"
}

need_reference() {
    [ -r "$reference_include/ucp/api/ucp.h" ] ||
        skip "no $reference_include/ucp/api/ucp.h: install libucx-dev"
    command -v "$cc" >/dev/null || skip "no $cc"
}

# Set ours to the library path of this build.
need_our_libraries() {
    build=$(pwd)
    ours=
    for layer in ucp uct ucs ucm; do
        [ -e "$build/src/$layer/.libs/lib$layer.so.0" ] ||
            skip "lib$layer is not built as a shared library"
        ours="$ours${ours:+:}$build/src/$layer/.libs"
    done
}
