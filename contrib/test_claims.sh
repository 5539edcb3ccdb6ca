#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests of contrib/check-claims: each kind of proof is missed when it is not
# there, and the page of this tree names only what is.
set -u
folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect NAME STATUS TEXT CELL: a page with this cell beside a good row.
expect() {
    printf '| promise | shown by |\n|---|---|\n| good | `README.md` |\n| one | %s |\n' \
        "$4" >"$work/page.md"
    code=0
    "$folder/check-claims" "$work/page.md" >"$work/out" || code=$?
    result "$1" "$2" "$3"
}

result() {
    if [ "$code" -eq "$2" ] && grep -q "$3" "$work/out"; then
        echo "ok    $1"
        passed=$((passed + 1))
    else
        echo "FAIL  $1: status $code"
        sed 's/^/  | /' "$work/out"
        failed=$((failed + 1))
    fi
}

expect case__there 0 '2 proofs named, 0 wrong' '`list.random__like_an_array`'
expect case__missing 1 'there is no list__no_such' '`list__no_such`'
expect case__of_another_suite 1 'there is no heap.random__like_an_array' \
    '`heap.random__like_an_array`'
expect case__several 0 ' 0 wrong' '`p2p__*`'
expect case__several_missing 1 'there is no p3p__' '`p3p__*`'
expect words__there 0 ' 0 wrong' '`tool_perf.sh: JSON`'
expect words__missing 1 'there is no tool_perf.sh: YAML' '`tool_perf.sh: YAML`'
expect step__missing 1 'there is no check: nothing' '`check: nothing`'
expect figure__missing 1 'there is no figure: speed' '`figure: speed`'
expect file__missing 1 'there is no src/none.c' '`src/none.c`'
expect row__empty 1 'nothing shows it' 'trust us'
expect row__says_so 0 ' 0 wrong' '**Not shown**: no machine'

code=0
"$folder/check-claims" >"$work/out" || code=$?
result page__names_what_is_there 0 ' 0 wrong'

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
