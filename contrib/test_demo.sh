#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests of contrib/demo: it measures with checked data beside the machine's
# limits; it builds first, and a build that fails is told with its log.
set -u
demo=$(cd "$(dirname "$0")" && pwd)/demo
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; rm -f demo-build.log' EXIT
passed=0
failed=0
unset MAKEFLAGS MAKELEVEL MFLAGS
DEMO_DIR=$work
export DEMO_DIR

# expect NAME STATUS REGEX...: of the demo that just ran
expect() {
    name=$1 status=$2
    shift 2
    for regex in "$@"; do
        if [ "$code" -ne "$status" ] || ! grep -Eq -e "$regex" "$work/out"; then
            echo "FAIL  $name: status $code, no '$regex'"
            sed 's/^/  | /' "$work/out"
            failed=$((failed + 1))
            return
        fi
    done
    echo "ok    $name"
    passed=$((passed + 1))
}

# run WORD...
run() {
    code=0
    timeout 300 "$demo" --no-setup "$@" >"$work/out" 2>&1 || code=$?
}

printf 'all:\n\t@echo made >made\n' >"$work/Makefile"
printf '#!/bin/sh\necho "$(cat made): $*"\n' >"$work/causeway"
chmod +x "$work/causeway"
run
expect demo__builds_then_measures 0 '^demo: build \.\.\. done' \
    '^made: perf --verify --limits --sizes 8,'
run --sizes 8
expect demo__takes_arguments 0 '^made: perf --sizes 8$'
printf 'all:\n\t@echo "no compiler" >&2; exit 1\n' >"$work/Makefile"
run
expect demo__a_failed_build_is_told 1 '^no compiler' 'build failed, see .*/demo-build.log'

# The real one, with the program of the build folder that we are in.
if [ -x ./causeway ] && [ -f Makefile ]; then
    DEMO_DIR=$PWD
    run --verify --limits --sizes 8,64k --time 0.01 --repeat 3
    expect demo__two_processes 0 '^data is checked' 'limit +x limit' \
        '^tag latency' '^tag bandwidth' '^tag message rate' \
        '^ +8 +[0-9.]+' '^ +64k +[0-9.]+'
else
    echo "skip  demo__two_processes: not in a build folder"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
