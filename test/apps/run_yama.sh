#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CMA where the security module yama forbids it between processes that are not
# related: refused with the reason, everything works without it, and
# UCX_SM_CMA_PTRACER=y in a process opens that one. Two processes of a user
# without rights, because root may do all that. Raises
# /proc/sys/kernel/yama/ptrace_scope for a moment, never lowers it. Kernels of
# containers mostly have no yama: contrib/rxe-vm -n boots one that has.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
scope_file=/proc/sys/kernel/yama/ptrace_scope
[ "$APPS_LIBS" = ours ] || { apps_skip all "only ours is tested" && apps_finish; }
[ -e $scope_file ] || { apps_skip all "the kernel has no yama" && apps_finish; }
apps_need setpriv
scope_before=$(cat $scope_file)
as_user='setpriv --reuid 65534 --regid 65534 --clear-groups'
if [ "$scope_before" -gt 1 ]; then
    apps_skip all "ptrace_scope is $scope_before, and is not lowered here"
    apps_finish
elif ! echo "$scope_before" 2>/dev/null >$scope_file || ! $as_user true; then
    apps_skip all "not root"
    apps_finish
fi
trap 'echo "$scope_before" >$scope_file; rm -rf "$apps_work"' EXIT

# yama_pair CLIENT_SETTING SERVER_SETTING: two processes that the shell started,
# large messages forced to be read by the receiver
yama_pair() {
    local common port tries=0 code=0 seconds=$((30 * APPS_TIMEOUT))
    common="LD_LIBRARY_PATH=$apps_path UCX_TLS=sm,self UCX_LOG_LEVEL=debug
        UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_THRESH=64k UCX_STATS_DEST=stderr"
    # shellcheck disable=SC2086
    timeout -k 5 $seconds $as_user env $common $2 "$apps_build/.libs/causeway" \
        perf --listen 127.0.0.1:0 >"$apps_work/server" 2>&1 &
    apps_child=$!
    until port=$(sed -n 's/.*waiting at .* port \([0-9]*\)$/\1/p' \
        "$apps_work/server") && [ -n "$port" ]; do
        tries=$((tries + 1))
        [ $tries -lt $((20 * seconds)) ] && kill -0 $apps_child || break
        sleep 0.05 # a poll with a deadline
    done
    # shellcheck disable=SC2086
    timeout -k 5 $seconds $as_user env $common $1 "$apps_build/.libs/causeway" \
        perf --connect "127.0.0.1:$port" --test lat --sizes 8,1m --verify \
        --iterations 5 --repeat 1 >"$apps_work/client" 2>&1 || code=$?
    [ $code -eq 0 ] || kill $apps_child 2>/dev/null
    wait $apps_child || code=$?
    apps_child=''
    return $code
}

# yama_says NAME FILE REGEX
yama_says() {
    if grep -Eq "$3" "$apps_work/$2"; then
        apps_ok "$1"
    else
        apps_notok "$1" "no line of the $2 says: $3"
        grep -E 'CMA|_bytes' "$apps_work/client" "$apps_work/server" |
            sed 's/^/#| /'
    fi
}

# yama_right NAME FILE REASON: that end may reach the other one's memory
# (REASON is empty), or why not.
yama_right() {
    if [ -z "$3" ]; then
        yama_says "$1: the $2 may" "$2" 'CMA with process [0-9]+: put get$'
    else
        yama_says "$1: the $2 may not, and says why" "$2" \
            "CMA with process [0-9]+: .*Operation not permitted; $3"
    fi
}

# yama_case NAME SCOPE CLIENT_SETTING SERVER_SETTING CLIENT_REASON SERVER_REASON
yama_case() {
    local name="$1"
    echo "$2" >$scope_file
    if yama_pair "$3" "$4"; then
        yama_says "$name: the data is right" client '^ +1m .* [1-9][0-9]*$'
    else
        apps_notok "$name: the data is right" "an end of perf failed"
        grep -v DEBUG "$apps_work/client" "$apps_work/server" | sed 's/^/#| /'
    fi
    yama_right "$name" client "$5"
    yama_right "$name" server "$6"
    cat "$apps_work/client" "$apps_work/server" >"$apps_work/both"
    if [ -z "$5$6" ]; then
        yama_says "$name: CMA carries" both ' rndv_rdma_get_bytes [1-9]'
    elif [ -n "$5" ] && [ -n "$6" ]; then
        yama_says "$name: fragments carry" both \
            ' rndv_pipeline_send_bytes [1-9]'
        ! grep -q ' rndv_rdma_[a-z]*_bytes' "$apps_work/both" ||
            apps_notok "$name: CMA carries nothing" "it did"
    fi
}

yes=UCX_SM_CMA_PTRACER=y
one='yama/ptrace_scope is 1: UCX_SM_CMA_PTRACER=y in that process'
two='yama/ptrace_scope is above 1: the administrator forbids it'
if [ "$scope_before" = 0 ]; then
    yama_case "scope 0" 0 '' '' '' ''
else
    apps_skip "scope 0" "it is 1 here"
fi
yama_case "scope 1" 1 '' '' "$one" "$one"
yama_case "scope 1, the server opens itself" 1 '' $yes '' "$one"
yama_case "scope 1, both open themselves" 1 $yes $yes '' ''
yama_case "scope 2" 2 $yes $yes "$two" "$two"
apps_finish
