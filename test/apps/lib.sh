# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC3013,SC3043,SC2154
#
# What the scripts that run real programs share. Sourced, from the top of the
# build folder (where automake runs tests); by hand:
#
#     cd build && srcdir=../causeway ../causeway/test/apps/run_mpi_check.sh
#
# APPS_LIBS     whose libucp the programs get:
#                 ours    the one of this build folder (default)
#                 debian  the system's, to tell a wrong test from a wrong library
#                 ob1     none: Open MPI's own pml (MPI programs only)
# APPS_TIER     quick or campaign: longer runs (default: TEST_TIER, or quick)
# APPS_SEED     seed of all data (default: random, printed)
# APPS_TIMEOUT  factor on all time limits (default 3: a limit says that something
#               hangs, not that it is slow on a busy machine)
# CC, MPICC     compilers
#
# Every run proves which libucp it loaded: the dynamic linker reports it
# (LD_DEBUG=libs) for every process. A run without that proof has failed.
#
# Programs print "ok NAME", "not ok NAME - why", "skip NAME - why", at last
# "end N". A script ends with "N passed, N failed, N skipped" and with 0, 1, or
# 77 if everything was skipped.

: "${APPS_LIBS:=ours}" # THE switch
: "${APPS_TIER:=${TEST_TIER:-quick}}"
: "${APPS_TIMEOUT:=3}"
: "${srcdir:=$(dirname "$0")/../..}"
: "${APPS_SEED:=$$}"
: "${CC:=cc}"
: "${MPICC:=mpicc}"
export APPS_SEED APPS_TIMEOUT

apps_src=$(cd "$srcdir/test/apps" && pwd) || exit 99
apps_top=$(cd "$srcdir" && pwd)
apps_build=$(pwd)
apps_name=$(basename "$0" .sh)
apps_bin=$apps_build/test/apps/bin-$APPS_LIBS
apps_work=$(mktemp -d "${TMPDIR:-/tmp}/causeway-apps.XXXXXX") || exit 99
apps_passed=0 apps_failed=0 apps_skipped=0
apps_differs=''
apps_child='' # of timeout(1), which passes a signal on to what it runs
mkdir -p "$apps_bin"
trap 'rm -rf "$apps_work"' EXIT
trap '[ -z "$apps_child" ] || kill "$apps_child"; exit 99' INT TERM HUP

# ---- results ----

apps_ok() {
    apps_passed=$((apps_passed + 1))
    echo "ok $apps_name: $1"
}

apps_skip() {
    apps_skipped=$((apps_skipped + 1))
    echo "skip $apps_name: $1 - $2"
}

# A failure, unless it is a known one of these libraries.
apps_notok() {
    local row
    while IFS= read -r row; do
        if [ -n "$row" ] && echo "$1" | grep -Eq "^($row)\$"; then
            echo "$row" >>"$apps_work/known.seen"
            apps_skip "$1" "known difference of $APPS_LIBS: $2"
            return
        fi
    done <<EOF
$apps_differs
EOF
    apps_failed=$((apps_failed + 1))
    echo "not ok $apps_name: $1 - $2"
}

# apps_known LIBS REGEX: results that fail on those libraries, each with its
# reason beside the call. A row for ours is a fault that is reported and not
# repaired yet: it has to go when the fault does, or the script fails.
apps_known() {
    [ "$APPS_LIBS" != "$1" ] || apps_differs="$apps_differs
$2"
}

apps_finish() {
    local row
    while IFS= read -r row; do
        if [ "$APPS_LIBS" = ours ] && [ -n "$row" ] &&
            ! grep -qxF "$row" "$apps_work/known.seen" 2>/dev/null; then
            apps_failed=$((apps_failed + 1))
            echo "not ok $apps_name: known fault '$row' - it does not occur:" \
                "remove its row"
        fi
    done <<EOF
$apps_differs
EOF
    echo "# $APPS_LIBS, $APPS_TIER, seed $APPS_SEED"
    echo "$apps_passed passed, $apps_failed failed, $apps_skipped skipped"
    [ "$apps_failed" -eq 0 ] || exit 1
    [ "$apps_passed" -gt 0 ] || exit 77
    exit 0
}

# Something the whole script needs is missing: no excuse in CI.
apps_need() {
    for apps_tool in "$@"; do
        command -v "${apps_tool%% *}" >/dev/null 2>&1 && continue
        if [ "${CI:-}" = true ]; then
            apps_notok "needs $apps_tool" "not installed, and this is CI"
        else
            apps_skip "needs $apps_tool" "not installed"
        fi
        apps_finish
    done
}

# ---- libraries ----

# The folder in the build tree that has lib$1.so.0.
apps_lib_folder() {
    find "$apps_build" -path '*/.libs/lib'"$1"'.so.0' -not -path '*/_inst/*' \
        -printf '%h\n' 2>/dev/null | head -n 1
}

# Sets apps_path (LD_LIBRARY_PATH of programs) and apps_ucp (the one to load).
apps_find_libs() {
    apps_path=''
    apps_sanitizer=''
    unset LD_LIBRARY_PATH
    case $APPS_LIBS in
    ours)
        for apps_lib in ucp uct ucs ucm; do
            apps_folder=$(apps_lib_folder $apps_lib)
            if [ -z "$apps_folder" ]; then
                echo "not ok $apps_name: lib$apps_lib.so.0 is not in" \
                    "$apps_build: build first, or APPS_LIBS=debian"
                exit 1
            fi
            apps_path=$apps_path${apps_path:+:}$apps_folder
            eval "apps_${apps_lib}_folder=\$apps_folder"
        done
        apps_ucp=$apps_ucp_folder/libucp.so.0
        apps_find_sanitizer
        ;;
    debian)
        apps_ucp=$(ldconfig -p | sed -n 's/.*libucp\.so\.0 .*=> //p' | head -n 1)
        ;;
    ob1)
        apps_ucp=''
        ;;
    *)
        echo "not ok $apps_name: APPS_LIBS=$APPS_LIBS: ours, debian or ob1"
        exit 1
        ;;
    esac
    apps_ucp=$([ -z "$apps_ucp" ] || readlink -f "$apps_ucp")
}

# A sanitized library needs its run time first in a program without it.
apps_find_sanitizer() {
    for apps_runtime in asan ubsan tsan; do
        if readelf -d "$apps_ucp" | grep -q "NEEDED.*lib$apps_runtime\\.so"; then
            apps_sanitizer=$apps_sanitizer${apps_sanitizer:+:}$(
                ldd "$apps_ucp" | sed -n "s/.*lib$apps_runtime.*=> \\([^ ]*\\).*/\\1/p"
            )
        fi
    done
}

# ---- compiling ----

# apps_compile PROGRAM COMPILER SOURCE... [-- FLAG...]: into $apps_bin, unless
# it is there and newer than its sources.
apps_compile() {
    local program="$1" compiler="$2" sources='' newest='' word
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        sources="$sources $apps_src/$1"
        shift
    done
    [ $# -gt 0 ] && shift
    if [ -x "$apps_bin/$program" ]; then
        for word in $sources "$apps_src"/*.h "$apps_src/lib.sh"; do
            [ "$word" -nt "$apps_bin/$program" ] && newest=$word
        done
        [ -z "$newest" ] && return 0
    fi
    # shellcheck disable=SC2086
    if ! $compiler -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
        -pthread -o "$apps_bin/$program.$$" $sources "$@" \
        >"$apps_work/compile" 2>&1; then
        sed 's/^/# /' "$apps_work/compile"
        apps_notok "compile $program" "see above"
        return 1
    fi
    mv "$apps_bin/$program.$$" "$apps_bin/$program"
}

# Where the headers of the UCP that is tested are.
apps_ucp_headers() {
    if [ "$APPS_LIBS" = ours ]; then
        echo "-I$apps_top/src"
    else
        pkg-config --cflags ucx
    fi
}

# apps_compile_ucp PROGRAM [SOURCE...]: the same for one that calls UCP itself.
apps_compile_ucp() {
    local program="$1" folders=''
    shift
    [ "$APPS_LIBS" != ours ] ||
        folders="-L$apps_ucp_folder -L$apps_ucs_folder
                 -Wl,-rpath-link,$apps_path"
    # shellcheck disable=SC2046,SC2086
    apps_compile "$program" "$CC" "$program.c" ucp_util.c "$@" -- \
        $(apps_ucp_headers) $folders -lucp -lucs
}

# ---- running ----

# A TCP port of 127.0.0.1 that nobody uses at the moment.
apps_port() {
    python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# Environment of the program itself, as words for env(1).
apps_environment() {
    printf '%s\n' LD_DEBUG=libs "LD_DEBUG_OUTPUT=$apps_work/ld"
    [ -z "$apps_path" ] || printf '%s\n' "LD_LIBRARY_PATH=$apps_path"
    [ "$APPS_LIBS" != ours ] ||
        printf '%s\n' "CAUSEWAY_RUN_REPORT=$apps_work/report"
    if [ -n "$apps_sanitizer" ]; then
        printf '%s\n' "LD_PRELOAD=$apps_sanitizer" \
            "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:${ASAN_OPTIONS:-}"
    fi
}

# apps_loaded NAME COUNT: at least COUNT processes loaded the right libucp, and
# none another one.
apps_loaded() {
    local good=0 path file report=0
    for file in "$apps_work"/ld.*; do
        path=$(sed -n 's/.*calling init: \(.*libucp\.so.*\)/\1/p' "$file" \
            2>/dev/null | head -n 1)
        [ -n "$path" ] || continue
        if [ "$(readlink -f "$path")" = "$apps_ucp" ]; then
            good=$((good + 1))
        else
            apps_notok "$1: right libucp" "a process loaded $path"
            return 1
        fi
    done
    if [ -z "$apps_ucp" ]; then
        return 0
    elif [ $good -lt "$2" ]; then
        apps_notok "$1: right libucp" "$good of $2 processes loaded $apps_ucp"
        return 1
    fi
    [ "$APPS_LIBS" = ours ] || return 0
    # and ucp_init of ours was really called in them
    report=$(cut -d' ' -f1 "$apps_work/report" | sort -u | wc -l)
    if [ "$report" -lt "$2" ]; then
        apps_notok "$1: right libucp" "ucp_init was called in $report of $2"
        return 1
    fi
}

# apps_results NAME: takes the program's lines over. Without "end N", or with
# another number of results, something was lost.
apps_results() {
    local line rest end='' count=0
    while IFS= read -r line; do
        rest=${line#* }
        case $line in
        'ok '*) apps_ok "$1: ${rest%% \#*}" ;;
        'not ok '*)
            rest=${rest#ok }
            apps_notok "$1: ${rest%% - *}" "${rest#* - }"
            ;;
        'skip '*) apps_skip "$1: ${rest%% - *}" "${rest#* - }" ;;
        'end '*)
            end=$rest
            continue
            ;;
        *) continue ;;
        esac
        count=$((count + 1))
    done <"$apps_work/out"
    if [ "$end" != "$count" ] || [ $count -eq 0 ]; then
        apps_notok "$1: complete" "$count results, announced ${end:-none}"
        return 1
    fi
}

# What an unsuccessful run said, except its successes.
apps_show() {
    grep -hv '^ok' "$apps_work/out" "$apps_work/err" | sed 's/^/#| /' |
        head -n 40
}

# apps_exec NAME SECONDS COUNT COMMAND...: run a command with our environment
# inside a time limit; COUNT processes must load libucp. Output in
# $apps_work/out and err. Fails (and says so) if the command does.
apps_exec() {
    local name="$1" seconds="$2" count="$3" code=0
    shift 3
    rm -f "$apps_work"/ld.*
    : >"$apps_work/report" # our ucp_init adds a line to a file that exists
    timeout -k 5 $((seconds * APPS_TIMEOUT)) "$@" \
        >"$apps_work/out" 2>"$apps_work/err" </dev/null &
    apps_child=$!
    wait $apps_child || code=$?
    apps_child=''
    apps_code=$code
    apps_loaded "$name" "$count" || code=98
    if [ $apps_code -eq 124 ] || [ $apps_code -eq 137 ]; then
        apps_notok "$name: in time" \
            "not done after $((seconds * APPS_TIMEOUT)) s"
    fi
    [ $code -eq 0 ] && return 0
    apps_show
    return 1
}

# apps_mpirun NAME SECONDS NP COMMAND...: mpirun with what selects pml ucx on
# any transport; Debian's own configuration switches ucx off. apps_extra holds
# more VARIABLE=VALUE words, apps_mca more options.
apps_mpirun() {
    local name="$1" seconds="$2" np="$3" select
    shift 3
    if [ "$APPS_LIBS" = ob1 ]; then
        # its copy between processes overruns buffers of truncated receives
        select='--mca pml ob1 --mca btl_vader_single_copy_mechanism none'
    else
        select='--mca pml ucx --mca opal_common_ucx_tls any
                --mca opal_common_ucx_devices any --mca osc ^ucx'
    fi
    # shellcheck disable=SC2046,SC2086
    apps_exec "$name" "$seconds" "$np" ${apps_wrap:-} mpirun -np "$np" $select \
        --allow-run-as-root --oversubscribe --bind-to none ${apps_mca:-} \
        env $(apps_environment) ${apps_extra:-} "$@"
}

# An exit status that no "not ok" explains is a failure of its own.
apps_explained() {
    case $apps_code in
    0 | 124 | 137) ;; # good, or reported as too late
    *)
        grep -q '^not ok' "$apps_work/out" ||
            apps_notok "$1: exit status" "it is $apps_code"
        ;;
    esac
}

# apps_mpi NAME SECONDS NP COMMAND...: an MPI program that reports its results.
apps_mpi() {
    apps_mpirun "$@"
    apps_results "$1"
    apps_explained "$1"
}

# apps_ucp_run NAME SECONDS COUNT COMMAND...: a plain UCP program that does.
apps_ucp_run() {
    local name="$1" seconds="$2" count="$3"
    shift 3
    # shellcheck disable=SC2046,SC2086
    apps_exec "$name" "$seconds" "$count" ${apps_wrap:-} \
        env $(apps_environment) ${apps_extra:-} "$@"
    apps_results "$name"
    apps_explained "$name"
}

# apps_isolate SHM_SIZE: runs that follow get namespaces of their own, with a
# /dev/shm of this size; what they leave there, in /tmp, as System V segments or
# as processes is then told by apps_left. Fails where that cannot be: not root,
# or in a chroot, whose root is no mount.
apps_spaces='unshare -m -i -n -p -f --kill-child --mount-proc'
apps_isolate() {
    apps_wrap=''
    $apps_spaces true 2>/dev/null || return 1
    apps_wrap="$apps_spaces $apps_src/isolate.sh $apps_work $1"
}

# apps_left NAME: nothing may be left of the last isolated run.
apps_left() {
    if [ ! -f "$apps_work/left" ]; then
        apps_notok "$1: isolated" "the namespaces could not be made"
        apps_show
    elif [ -s "$apps_work/left" ]; then
        apps_notok "$1: nothing left" "$(tr '\n' ' ' <"$apps_work/left")"
    else
        apps_ok "$1: nothing left"
    fi
    rm -f "$apps_work/left"
}

apps_find_libs
