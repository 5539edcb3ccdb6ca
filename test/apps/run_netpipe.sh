#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's NetPIPE on our libucp: its measuring modes, and the mode that checks
# the bytes of every message.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
apps_need mpirun NPopenmpi

cd "$apps_work" || exit 99

# netpipe NAME LINES OPTION...: at least LINES sizes were measured
netpipe() {
    name=$1 lines=$2
    shift 2
    if apps_mpirun "$name" 120 2 NPopenmpi -o np.out "$@"; then
        got=$(cat out err | grep -Ec '^ *[0-9]+: +[0-9]+ bytes .*-->.*Mbps')
        if [ "$got" -ge "$lines" ] && [ -s np.out ]; then
            apps_ok "$name: $got sizes"
        else
            apps_notok "$name: sizes" "$got lines of $lines"
        fi
    else
        apps_notok "$name" "exit status $apps_code"
    fi
    rm -f np.out
}

integrity() {
    name=$1
    shift
    if apps_mpirun "$name" 60 2 NPopenmpi -o np.out "$@"; then
        good=$(cat out err | grep -c 'Integrity check passed')
        all=$(cat out err | grep -c ' bytes .*-->')
        if [ "$good" -eq "$all" ] && [ "$good" -ge 15 ]; then
            apps_ok "$name: $good sizes"
        else
            apps_notok "$name" "$good of $all sizes have passed"
            apps_show
        fi
    else
        apps_notok "$name" "exit status $apps_code"
    fi
}

# NetPIPE measures every size several times: the quick tier goes through the
# protocols once to 2 MiB, and with the other modes to 64 KiB.
small=65536 large=2097152
[ "$APPS_TIER" != campaign ] || small=4194304 large=67108864

netpipe ping-pong 90 -n 10 -u $large
netpipe "preposted receives" 60 -n 10 -a -u $small
netpipe "any source" 60 -n 10 -z -u $small
netpipe "synchronous sends" 60 -n 10 -S -u $small
netpipe "both directions" 60 -n 10 -2 -a -u $small
netpipe "one direction" 60 -n 10 -s -u $small
netpipe "unaligned buffers" 60 -n 10 -O 1,3 -u $small
integrity integrity -i -n 30 -u 1000000
integrity "integrity, any source" -i -n 30 -z -u 100000
apps_finish
