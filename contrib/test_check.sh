#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of contrib/check: what it says and returns when builds and tests go
# well or badly. It runs on a pretended tree, whose configure makes a Makefile
# whose `make check` leaves the logs that each case asks for.
set -u
check=$(cd "$(dirname "$0")" && pwd)/check
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
unset MAKEFLAGS MAKELEVEL CHECK_DIR

mkdir -p "$work/contrib"
cp "$check" "$work/contrib/check"
printf '#!/bin/sh\nexit ${FAKE_AUTOGEN:-0}\n' >"$work/autogen.sh"
# `make check TESTS=` only compiles; plain `make check` runs.
cat >"$work/configure" <<'CONFIGURE'
#!/bin/sh
cat >Makefile <<MAKEFILE
all:
	@exit \$\${FAKE_BUILD:-0}
check:
	@if [ "\$(origin TESTS)" = "command line" ] && [ -z "\$(TESTS)" ]; \
	then exit 0; fi; . ${0%/*}/tests
print-suites:
	@echo one
distcheck:
	@true
MAKEFILE
CONFIGURE
chmod +x "$work/autogen.sh" "$work/configure"

# expect NAME STATUS LAST-LINE STEP...: the shell code that makes the logs
# comes from standard input.
expect() {
    local name=$1 status=$2 last=$3 got
    shift 3
    cat >"$work/tests"
    "$work/contrib/check" "$@" >"$work/out" 2>&1
    got=$?
    if [ $got -eq "$status" ] && [ "$(tail -n 1 "$work/out")" = "$last" ]; then
        echo "ok    $name"
        passed=$((passed + 1))
    else
        echo "FAIL  $name: status $got, expected $status and '$last'"
        sed 's/^/  | /' "$work/out"
        failed=$((failed + 1))
    fi
}

expect count__adds_programs 0 '7 passed, 0 failed' release <<'TESTS'
echo '3 passed, 0 failed, 1 skipped' >one.log; echo ':test-result: PASS' >one.trs
echo '2 passed, 0 failed' >two.log; echo ':test-result: PASS' >two.trs
echo 'no such line' >three.log; echo ':test-result: PASS' >three.trs
TESTS
grep -q skipped "$work/out" && { echo "FAIL  skips__none"; failed=$((failed + 1)); }
expect skips__do_not_count 0 '4 passed, 0 failed' release <<'TESTS'
printf '%s\n' 'skip  a.b/c: no room' 'skip net: all - no room' \
    'skip  a.d: no room' '3 passed, 0 failed, 3 skipped' >one.log
echo ':test-result: PASS' >one.trs
TESTS
if grep -q '^ *skipped 2: no room$' "$work/out" &&
    grep -q '^ *skipped 1: all - no room$' "$work/out"; then
    echo "ok    skips__reasons_are_said"
    passed=$((passed + 1))
else
    echo "FAIL  skips__reasons_are_said"
    sed 's/^/  | /' "$work/out"
    failed=$((failed + 1))
fi
expect count__failed_test 1 '4 passed, 1 failed' release <<'TESTS'
echo '3 passed, 1 failed, 0 skipped' >one.log; echo ':test-result: FAIL' >one.trs
exit 1
TESTS
expect count__crash_after_summary 1 '4 passed, 1 failed' release <<'TESTS'
echo '3 passed, 0 failed, 0 skipped' >one.log; echo ':test-result: FAIL' >one.trs
exit 1
TESTS
expect count__crash_without_summary 1 '1 passed, 1 failed' release <<'TESTS'
echo 'Segmentation fault' >one.log; echo ':test-result: ERROR' >one.trs
exit 1
TESTS
expect count__unnoticed_failure_of_make 1 '4 passed, 1 failed' release <<'TESTS'
echo '3 passed, 0 failed, 0 skipped' >one.log; echo ':test-result: PASS' >one.trs
exit 1
TESTS
expect count__no_test 1 '1 passed, 1 failed' release <<<'exit 0'
expect count__skipped_is_no_test 1 '1 passed, 1 failed' release <<'TESTS'
echo 'nothing' >one.log; echo ':test-result: SKIP' >one.trs
TESTS
FAKE_BUILD=1 expect build__fails 1 '0 passed, 1 failed' release <<<'exit 0'
FAKE_AUTOGEN=1 expect autogen__fails_and_stops 1 '0 passed, 1 failed' \
    autogen release <<<'exit 0'
grep -q build-release "$work/out" && { echo "FAIL  went on after autogen"
                                       failed=$((failed + 1)); }
expect need__builds_first 0 '2 passed, 0 failed' distcheck </dev/null
if ! grep -Eq '^build-release +1 +0 +[0-9]+$' "$work/out" ||
    ! grep -Eq '^distcheck +1 +0 +[0-9]+$' "$work/build-check/logs/summary.txt"
then
    echo "FAIL  summary__has_a_row_for_each_step"
    failed=$((failed + 1))
else
    echo "ok    summary__has_a_row_for_each_step"
    passed=$((passed + 1))
fi
expect argument__unknown 2 '                          ASan a sixth of them), FUZZ_SECONDS  of a target' \
    no_such_step </dev/null

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
