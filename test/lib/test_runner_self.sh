#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of the test runner: what must fail does fail, and says why.
# Usage: test_runner_self.sh (in the build folder; make check runs it).
set -u
unset TEST_OPTIONS
samples=${RUNNER_SAMPLES:-test/lib/runner_samples}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

# expect NAME STATUS TEXT [ARGUMENT...]: run the samples; the exit status must
# be STATUS and the output must have a line that matches the regex TEXT.
expect() {
    local name=$1 status=$2 text=$3 got
    shift 3
    "$samples" "$@" >"$work/out" 2>&1
    got=$?
    if [ "$got" -eq "$status" ] && grep -Eq -- "$text" "$work/out"; then
        result "$name" 0
    else
        echo "  status $got, expected $status and /$text/:"
        sed 's/^/  | /' "$work/out"
        result "$name" 1
    fi
}

result() {
    if [ "$2" -eq 0 ]; then
        echo "ok    $1"
        passed=$((passed + 1))
    else
        echo "FAIL  $1"
        failed=$((failed + 1))
    fi
}

# same NAME A B: the two texts are equal and not empty.
same() { [ -n "$2" ] && [ "$2" = "$3" ]; result "$1" $?; }
differ() { [ -n "$2" ] && [ "$2" != "$3" ]; result "$1" $?; }

export UCX_SAMPLE=1
expect run__good_passes 0 '^6 passed, 0 failed, 0 skipped$' --filter='good.*'
same run__summary_is_last_line "$(tail -n 1 "$work/out")" \
     '6 passed, 0 failed, 0 skipped'
expect env__kept_on_request 1 '^0 passed, 1 failed' --keep-env \
       --filter='good.*ucx_env'
expect run__parameters 0 '^ok    colour.param__is_given/green ' \
       --filter='colour.*'
expect run__assertion_fails 1 'runner_samples.c:[0-9]+: a <reason>' \
       --filter='bad.bad__assertion' --seed=5
same run__says_how_to_repeat "$(grep -c "again: .*bad__assertion' --seed=5" \
     "$work/out")" 2
mkdir "$work/.libs" && cp "$samples" "$work/.libs/wrapped"
samples_before=$samples
samples=$work/.libs/wrapped
expect run__says_the_wrapper 1 "again: $work/wrapped --filter" \
       --filter='bad.bad__assertion'
samples=$samples_before
expect run__fd_leak_fails 1 'leaves descriptors open: [0-9]+ ./dev/null' \
       --filter='bad.bad__leaks_fd'
expect run__child_left_fails 1 'leaves a child process' \
       --filter='bad.bad__leaves_child'
expect run__exit_is_no_pass 1 'ended before the test did' \
       --filter='bad.bad__exits'
expect run__crash_fails 1 'signal 6' --filter='bad.bad__crashes'
expect run__assertion_in_thread_fails 1 'from a thread' \
       --filter='bad.bad__in_thread'
expect run__teardown_can_fail 1 '^0 passed, 1 failed' --filter='torn.*'
if [ "${LEAK_CHECK:-yes}" = yes ]; then
    expect run__memory_leak_fails 1 'leaks memory' \
           --filter='bad.bad__leaks_memory'
else
    echo "skip  run__memory_leak_fails: this build has no LeakSanitizer"
    skipped=$((skipped + 1))
fi

expect timeout__fails 1 'timeout' --filter='bad.bad__hangs_with_child'
child=$(sed -n 's/^grandchild //p' "$work/out")
for _ in $(seq 200); do # killed, and then reaped by init
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' \
            "/proc/$child/status" 2>/dev/null)
    case $state in '' | Z) break ;; esac
    sleep 0.02
done
[ -n "$child" ] && { [ -z "$state" ] || [ "$state" = Z ]; }
result timeout__kills_the_group $?
expect timeout__multiplier_refused 2 'cannot use' --timeout-multiplier=0

expect skip__is_no_pass 1 'every test was skipped' --filter='skip.*'
expect skip__has_reason 0 '^skip  skip.skip__says_why: no hardware here$' \
       --filter='skip.*:good.good__passes'
expect skip__is_counted 0 '^1 passed, 0 failed, 1 skipped$' \
       --filter='skip.*:good.good__passes'
expect skip__without_fork 0 '^1 passed, 0 failed, 1 skipped$' --no-fork \
       --filter='skip.*:good.good__passes'

expect filter__nothing_fails 2 'no test matches' --filter='no_such*'
expect filter__empty_fails 2 'no test matches' --filter='*-*'
expect filter__nothing_to_list_fails 2 'no test matches' --list --filter='x'
expect filter__negative 0 '^5 passed, 0' --filter='good.*-*fixture'
expect filter__only_negative 0 '^6 passed, 0' \
       --filter='-bad.*:torn.*:skip.*:pair.*:colour.*'
expect filter__question_mark 0 '^1 passed, 0' --filter='good.good__p?sses'
expect filter__is_exact 2 'no test matches' --filter='good'
expect option__unknown_fails 2 "cannot use argument '--shufle'" --shufle
expect option__bad_number_fails 2 'cannot use' --repeat=3x
expect option__zero_repeat_fails 2 'cannot use' --repeat=0
same list__names "$("$samples" --list --filter='colour.*' | tr '\n' ' ')" \
     'colour.param__is_given/red colour.param__is_given/green '

expect repeat__runs_again 0 '^6 passed, 0 failed' --repeat=3 \
       --filter='colour.*'
expect jobs__all_are_counted 0 '^120 passed, 0 failed' --repeat=20 --jobs=3 \
       --filter='good.*'
same jobs__each_is_said_once "$(grep '^ok ' "$work/out" | wc -l)" 120
expect jobs__failures_are_failures 1 '^6 passed, 3 failed, 0 skipped$' \
       --jobs=3 --filter='good.*:bad.bad__assertion:bad.bad__exits:torn.*'
expect jobs__none_is_refused 2 'cannot use' --jobs=0
# The first waits for the second, which would come after it.
expect jobs__are_at_the_same_time 0 '^2 passed, 0 failed' --jobs=2 \
       --filter='pair.*'
"$samples" --jobs=2 --filter='pair.*first' >/dev/null 2>&1 &
runner=$!
children=''
for _ in $(seq 500); do
    children=$(pgrep -P "$runner" | tr '\n' ' ')
    [ -z "$children" ] || break
    sleep 0.02
done
kill -9 "$runner"
wait "$runner" 2>/dev/null
for _ in $(seq 500); do
    # shellcheck disable=SC2086
    kill -0 $children 2>/dev/null || break
    sleep 0.02
done
# shellcheck disable=SC2086
! kill -0 $children 2>/dev/null && [ -n "$children" ]
result jobs__end_with_the_runner $?
order() { "$samples" --filter='good.*:colour.*' "$@" | grep '^run '; }
same shuffle__same_seed "$(order --shuffle --seed=3)" \
     "$(order --shuffle --seed=3)"
differ shuffle__other_seed "$(order --shuffle --seed=3)" \
       "$(order --shuffle --seed=4)"
random() { "$samples" "$@" | grep '^random '; }
alone=$(random --filter='*random' --seed=9)
same seed__alone_as_among_others "$alone" \
     "$(random --filter='good.*' --shuffle --seed=9)"
same seed__second_round_again "$(random --filter='*random' --seed=10)" \
     "$(random --filter='*random' --seed=9 --repeat=2 | tail -n 1)"
differ seed__matters "$alone" "$(random --filter='*random' --seed=10)"
same options__from_environment "$alone" \
     "$(TEST_OPTIONS='--seed=9 --filter=*random' random)"

expect junit__written 1 '^1 passed, 1 failed, 1 skipped$' \
       --junit="$work/junit.xml" --tap="$work/tap" \
       --filter='good.good__passes:bad.bad__assertion:skip.*'
python3 - "$work/junit.xml" <<'PYTHON'
import sys, xml.etree.ElementTree as xml
root = xml.parse(sys.argv[1]).getroot()
assert root.get("tests") == "3" and root.get("failures") == "1", root.attrib
assert root.get("skipped") == "1", root.attrib
message = root.find("testcase/failure").get("message")
assert 'a <reason> with "quotes" & more' in message, message
assert root.find("testcase/skipped").get("message") == "no hardware here"
PYTHON
result junit__parses $?
[ "$(grep -Ec '^(ok|not ok) [123] - ' "$work/tap")" = 3 ] &&
    grep -q '^1\.\.3$' "$work/tap" && grep -q '^not ok .*bad__' "$work/tap" &&
    grep -q '# SKIP no hardware here$' "$work/tap"
result tap__is_tap $?
expect junit__unwritable_fails 1 'cannot write' --filter='good.good__passes' \
       --junit="$work/no/such"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
