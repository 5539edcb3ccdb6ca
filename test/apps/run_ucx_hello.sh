#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# UCX's own example, as Debian's libucx-dev ships it: compiled against our
# installed headers, run in each of its wake-up modes, and with one side
# killed. Nothing of it is kept in this tree.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
. "$apps_src/install.sh"
apps_need "${CC%% *}" pkg-config python3
[ "$APPS_LIBS" != ob1 ] || { apps_skip ucx_hello "no libucp"; apps_finish; }

source=${UCX_EXAMPLES:-/usr/share/doc/libucx-dev/examples}/ucp_hello_world.c
if [ ! -r "$source" ]; then
    [ "${CI:-}" != true ] ||
        apps_notok "example" "$source is missing, and this is CI"
    apps_skip "example" "no $source: install libucx-dev"
    apps_finish
fi

[ "$APPS_LIBS" != ours ] || apps_install
flags="-Wl,--no-as-needed $(pkg-config --cflags --libs ucx)"
[ "$APPS_LIBS" != ours ] || flags="$flags -Wl,-rpath-link,$apps_path"
# shellcheck disable=SC2086
if ! $CC -Wall -Werror "$source" -o "$apps_work/example" $flags \
    >"$apps_work/out" 2>&1; then
    sed 's/^/#| /' "$apps_work/out"
    apps_notok "example" "does not compile"
    apps_finish
fi
apps_ok "compiles against our headers"
cd "$apps_work" || exit 99

# both NAME OPTIONS: run the two sides; how they ended is the last line of out
both() {
    port=$(apps_port)
    # shellcheck disable=SC2046
    apps_exec "$1" 30 2 env $(apps_environment) "$apps_src/two_ends.sh" \
        "$port" "./example -p $port $2" \
        "./example -n 127.0.0.1 -p $port $2" >shown
}

# hello NAME OPTIONS: the client got the server's string
hello() {
    if ! both "$1" "$2"; then
        cat shown
        apps_notok "$1" "$(tail -n 1 out)"
    elif [ "$(grep -c 'UCP TEST SUCCESS' out)" -ne 1 ]; then
        apps_notok "$1" "the string did not arrive"
        apps_show
    else
        apps_ok "$1"
    fi
}

# killed NAME WHAT END: one side ends by a signal, the other one sees it
killed() {
    both "$1" "-e $2" # which ends with an error, as it has to
    grep '^not ok' shown
    if [ "$(tail -n 1 out)" = "ends $3" ]; then
        apps_ok "$1"
    else
        apps_notok "$1" "$(tail -n 1 out), not $3"
        apps_show
    fi
}

for size in 13 100000 3000000; do
    hello "polls, $size B" "-s $size"
    hello "probes, $size B" "-b -s $size"
    hello "ucp_worker_wait, $size B" "-w -s $size"
    hello "event descriptor, $size B" "-f -s $size"
done
hello "prints its settings" -c
# Its exit codes; UCX has error mode PEER over tcp only.
[ "$APPS_LIBS" != debian ] || export UCX_TLS=tcp,self
killed "the receiver is killed" recv "server 255 client 137"
killed "the sender is killed" send "server 137 client 255"
killed "the peer is killed when all is done" keepalive "server 0 client 137"
apps_finish
