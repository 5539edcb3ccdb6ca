# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# test/apps/tool_lib.sh - what the tests of the causeway command share.
#
# Runs from the build folder, as `make check` does. TOOL_CAUSEWAY names another
# command to test, TOOL_LIBS=debian says that it runs on UCX's libraries.
: "${srcdir:=$(dirname "$0")/../..}"
: "${CC:=cc}"
tool_causeway=${TOOL_CAUSEWAY:-./causeway}
tool_src=$(cd "$srcdir/test/apps" && pwd) || exit 99
tool_name=$(basename "$0" .sh)
tool_work=$(mktemp -d "${TMPDIR:-/tmp}/causeway-tool.XXXXXX") || exit 99
tool_passed=0 tool_failed=0 tool_skipped=0
tool_background=''
trap 'rm -rf "$tool_work"' EXIT
trap 'exit 99' INT TERM HUP

# ok NAME / notok NAME WHY / skip NAME WHY
ok() {
    tool_passed=$((tool_passed + 1))
    echo "ok $tool_name: $1"
}

notok() {
    tool_failed=$((tool_failed + 1))
    echo "not ok $tool_name: $1 - $2"
    sed 's/^/#| /' "$tool_work/out" "$tool_work/err" 2>/dev/null | head -n 20
}

skip() {
    tool_skipped=$((tool_skipped + 1))
    echo "skip $tool_name: $1 - $2"
}

finish() {
    echo "$tool_passed passed, $tool_failed failed, $tool_skipped skipped"
    [ "$tool_failed" -eq 0 ] || exit 1
    [ "$tool_passed" -gt 0 ] || exit 77
    exit 0
}

# run COMMAND...: output in out and err, exit code in $code; bounded.
run() {
    code=0
    timeout -k 5 "${TOOL_TIMEOUT:-300}" "$@" >"$tool_work/out" \
        2>"$tool_work/err" </dev/null || code=$?
}

# expect NAME CODE FILE REGEX: of the last run, if REGEX is not empty.
expect() {
    if [ "$code" -ne "$2" ]; then
        notok "$1" "exit code $code, expected $2"
    elif [ -n "$4" ] && ! grep -Eq -- "$4" "$tool_work/$3"; then
        notok "$1" "standard $3 has no '$4'"
    else
        ok "$1"
    fi
}

# compile OUTPUT FLAG...: into the scratch folder. Nothing without a compiler.
compile() {
    output=$tool_work/$1
    shift
    # shellcheck disable=SC2086
    if ! $CC -O1 -g -D_GNU_SOURCE -Wall -Wextra "$@" -o "$output" \
        2>"$tool_work/err"; then
        notok "compile" "see below"
        finish
    fi
}

# What an LD_PRELOAD or a program without it needs under a sanitizer.
ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}"
export ASAN_OPTIONS
