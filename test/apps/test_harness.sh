#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests lib.sh and isolate.sh themselves: what has to fail does fail. The
# "programs" are shell lines; no MPI and no libucp is needed.
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect NAME STATUS LAST_LINE REGEX SCRIPT: what a script on lib.sh ends with
expect() {
    {
        echo ". '$top/test/apps/lib.sh'"
        echo "$5"
    } >"$work/run_fake.sh"
    (cd "$work" && srcdir=$top sh ./run_fake.sh) >"$work/output" 2>&1
    status=$?
    if [ $status -eq "$2" ] && [ "$(tail -n 1 "$work/output")" = "$3" ] &&
        grep -Eq "$4" "$work/output"; then
        passed=$((passed + 1))
        echo "ok harness: $1"
    else
        failed=$((failed + 1))
        echo "not ok harness: $1 - status $status"
        sed 's/^/#| /' "$work/output"
    fi
}

# program WORDS: the call of a shell line as a program that loads no libucp
program() { echo "apps_ucp_run fake 2 0 sh -c '$1'; apps_finish"; }

export APPS_LIBS=ob1 APPS_TIMEOUT=1 # no libucp is looked for
unset CI

expect "a good program passes" 0 '2 passed, 0 failed, 0 skipped' \
    '^ok run_fake: fake: b$' \
    "$(program 'echo ok a; echo "ok b # 3 s"; echo end 2')"
expect "a failure is counted" 1 '1 passed, 1 failed, 0 skipped' \
    '^not ok run_fake: fake: b - why$' \
    "$(program 'echo ok a; echo not ok b - why; echo end 2; exit 1')"
expect "a lost result is a failure" 1 '1 passed, 1 failed, 0 skipped' \
    'fake: complete - 1 results, announced 2' \
    "$(program 'echo ok a; echo end 2')"
expect "no announcement is a failure" 1 '1 passed, 1 failed, 0 skipped' \
    'announced none' "$(program 'echo ok a')"
expect "no result is a failure" 1 '0 passed, 1 failed, 0 skipped' \
    '0 results' "$(program 'echo end 0')"
expect "an unexplained status is a failure" 1 '1 passed, 1 failed, 0 skipped' \
    'exit status - it is 3' "$(program 'echo ok a; echo end 1; exit 3')"
expect "a crash is a failure" 1 '1 passed, 1 failed, 0 skipped' \
    'exit status - it is 139' \
    "$(program 'echo ok a; echo end 1; kill -SEGV $$')"
expect "a hang is a failure" 1 '1 passed, 1 failed, 0 skipped' \
    'in time - not done after 2 s' \
    "$(program 'echo ok a; echo end 1; exec sleep 60')"
expect "only skips is a skip" 77 '0 passed, 0 failed, 1 skipped' \
    '^skip .* - nothing to do' "$(program 'echo skip a - nothing to do; echo end 1')"
expect "a known difference is no failure" 77 '0 passed, 0 failed, 1 skipped' \
    '^skip .*known difference of ob1: why' \
    "apps_known ob1 'fake: a'; $(program 'echo not ok a - why; echo end 1; exit 1')"
expect "it is known by its whole name" 1 '0 passed, 1 failed, 0 skipped' \
    '^not ok' \
    "apps_known ob1 'fake: a'; $(program 'echo not ok ab - why; echo end 1; exit 1')"
expect "and on its own library only" 1 '0 passed, 1 failed, 0 skipped' \
    '^not ok' \
    "apps_known debian 'fake: a'; $(program 'echo not ok a - why; echo end 1; exit 1')"
expect "a missing tool is a skip" 77 '0 passed, 0 failed, 1 skipped' \
    'needs no-such-tool' 'apps_need sh no-such-tool; apps_ok x; apps_finish'
expect "but not in CI" 1 '0 passed, 1 failed, 0 skipped' \
    'this is CI' 'CI=true; apps_need sh no-such-tool; apps_ok x; apps_finish'
expect "a compiler error is a failure" 1 '0 passed, 1 failed, 0 skipped' \
    'not ok .*compile x' \
    "apps_src=\$apps_work; echo 'int main(void) { return 0 }' >\$apps_src/x.c
     apps_compile x cc x.c; apps_finish"

# which libucp was loaded, by what the dynamic linker says
mkdir "$work/right" "$work/wrong"
touch "$work/right/libucp.so.0" "$work/wrong/libucp.so.0"
right=$work/right/libucp.so.0 wrong=$work/wrong/libucp.so.0
loads() {
    echo "apps_ucp=$right; apps_ucp_run fake 2 $1 sh -c '
          for i in $2; do
              echo \"1: calling init: \$i\" >\"\${LD_DEBUG_OUTPUT}.\$(basename \$(dirname \$i))\"
          done; echo ok a; echo end 1'; apps_finish"
}
expect "the right libucp" 0 '1 passed, 0 failed, 0 skipped' '^ok' \
    "$(loads 1 "$right")"
expect "no libucp" 1 '1 passed, 1 failed, 0 skipped' \
    'right libucp - 0 of 1 processes' "$(loads 1 '')"
expect "too few processes with it" 1 '1 passed, 1 failed, 0 skipped' \
    'right libucp - 1 of 2 processes' "$(loads 2 "$right")"
expect "another libucp" 1 '1 passed, 1 failed, 0 skipped' \
    'a process loaded .*/wrong/libucp.so.0' \
    "$(loads 1 "$right $wrong")"
expect "not one that never called ucp_init" 1 '1 passed, 1 failed, 0 skipped' \
    'ucp_init was called in 0 of 1' \
    "APPS_LIBS=ours; $(loads 1 "$right")"

expect "a known fault of ours" 77 '0 passed, 0 failed, 1 skipped' \
    'skip .*known difference of ours: why' \
    "APPS_LIBS=ours; apps_known ours a; apps_notok a why; apps_finish"
expect "that is gone" 1 '1 passed, 1 failed, 0 skipped' 'remove its row' \
    "APPS_LIBS=ours; apps_known ours a; apps_ok a; apps_finish"

APPS_LIBS=ours
expect "no build, no test" 1 \
    "not ok run_fake: libucp.so.0 is not in $work: build first, or APPS_LIBS=debian" \
    'not ok' 'apps_ok x; apps_finish'
APPS_LIBS=ob1

# what is left behind, if namespaces can be had
isolated() {
    echo "apps_isolate 64k; apps_ucp_run fake 9 0 sh -c '$1'
          apps_left fake; apps_finish"
}
if [ "$(id -u)" -eq 0 ] && unshare -m -i -n -p -f true 2>/dev/null; then
    expect "nothing is left" 0 '2 passed, 0 failed, 0 skipped' \
        'ok .*nothing left' "$(isolated 'echo ok a; echo end 1')"
    expect "a file in /dev/shm" 1 '1 passed, 1 failed, 0 skipped' \
        'nothing left - /dev/shm/x' \
        "$(isolated 'echo ok a; echo end 1; echo >/dev/shm/x')"
    expect "a file in /tmp" 1 '1 passed, 1 failed, 0 skipped' \
        'nothing left - /tmp/x-of-harness' \
        "$(isolated 'echo ok a; echo end 1; echo >/tmp/x-of-harness')"
    expect "a segment" 1 '1 passed, 1 failed, 0 skipped' \
        'nothing left - System V segment' \
        "$(isolated 'echo ok a; echo end 1; ipcmk -M 4096 >/dev/null')"
    expect "the small /dev/shm is full early" 0 \
        '2 passed, 0 failed, 0 skipped' 'ok' \
        "$(isolated 'head -c 100000 /dev/zero >/dev/shm/x || echo ok a; rm /dev/shm/x; echo end 1')"
else
    echo "skip harness: isolation - not root"
fi

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
