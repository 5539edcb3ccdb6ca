#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The two example programs, built as a user would: make install, pkg-config or
# plain -I and -L, C and C++, shared and static library, two compilers.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/install.sh"
: "${CXX:=c++}"
apps_need "${CC%% *}" "${CXX%% *}" pkg-config

# hello NAME SOURCE COMPILER FLAGS: compile, run, check
hello() {
    name=$1
    # shellcheck disable=SC2086
    if ! $3 -Wall -Wextra -Werror "$apps_src/$2" -o "$apps_work/hello" $4 \
        >"$apps_work/out" 2>&1; then
        sed 's/^/#| /' "$apps_work/out"
        apps_notok "$name" "does not compile"
        return
    fi
    run_hello
}

run_hello() {
    # shellcheck disable=SC2046
    if ! apps_exec "$name" 30 "${count:-1}" env $(apps_environment) \
        "$apps_work/hello"; then
        apps_notok "$name" "exit status $apps_code"
    elif [ "$(grep -c 'received: Hello from the parent$' "$apps_work/out")" \
        -eq 1 ] && [ "$(grep -c 'received: and hello from the child$' \
        "$apps_work/out")" -eq 1 ]; then
        apps_ok "$name"
    else
        apps_notok "$name" "$(head -n 3 "$apps_work/out")"
    fi
}

[ "$APPS_LIBS" != ob1 ] || { apps_skip hello "no libucp"; apps_finish; }
[ "$APPS_LIBS" != ours ] || apps_install

# libraries follow what needs them, and stay though one is used through another
flags=$(pkg-config --cflags --libs ucx)
flags="-Wl,--no-as-needed $flags"
[ "$APPS_LIBS" != ours ] || flags="$flags -Wl,-rpath-link,$apps_path"

hello "C, pkg-config" hello.c "$CC -std=gnu11" "$flags"
hello "C++, pkg-config" hello.cc "$CXX -std=gnu++14" "$flags"
for compiler in gcc clang; do
    ! command -v $compiler >/dev/null ||
        hello "C, $compiler" hello.c $compiler "$flags"
done
for compiler in g++ clang++; do
    ! command -v $compiler >/dev/null ||
        hello "C++, $compiler" hello.cc $compiler "$flags"
done
# strict C11 and the newest C++ accept the headers too
hello "C, -std=c11 -pedantic" hello.c \
    "$CC -std=c11 -D_GNU_SOURCE -pedantic" "$flags"
hello "C++20" hello.cc "$CXX -std=c++20" "$flags"

if [ "$APPS_LIBS" = ours ]; then
    hello "C, plain -I and -L" hello.c "$CC -I$include" \
        "-L$lib -Wl,-rpath-link,$lib -Wl,--no-as-needed -lucp -lucs"
    if [ -z "$apps_sanitizer" ] && [ -f "$lib/libucp.a" ]; then
        # all of the library in the program: nothing to load
        apps_ucp='' count=0
        static=$(pkg-config --static --cflags --libs ucx)
        # shellcheck disable=SC2086
        if $CC "$apps_src/hello.c" -o "$apps_work/hello" -Wl,-Bstatic \
            $static -Wl,-Bdynamic >"$apps_work/out" 2>&1; then
            name="C, static library"
            run_hello
        else
            sed 's/^/#| /' "$apps_work/out"
            apps_notok "C, static library" "does not link"
        fi
    fi
fi
apps_finish
