#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   isolate.sh WORK SHM_SIZE COMMAND...
#
# Runs a command in a /dev/shm of its own of that size and over a /tmp where
# all it writes can be told from what was there; then lists in WORK/left what
# it left: files, System V segments, processes. WORK itself stays shared.
# Called by apps_isolate as the first process of new namespaces.
work=$1 size=$2
shift 2

set -e
ip link set lo up
mount -t tmpfs -o size=256m none /mnt
mkdir /mnt/upper /mnt/scratch /mnt/work
mount --bind "$work" /mnt/work
mount -t overlay -o lowerdir=/tmp,upperdir=/mnt/upper,workdir=/mnt/scratch \
    none /tmp
mount --bind /mnt/work "$work"
mount -t tmpfs -o "size=$size" none /dev/shm
set +e

"$@"
code=$?

{
    find /dev/shm -mindepth 1
    find /mnt/upper -mindepth 1 -not -type d | sed 's|^/mnt/upper|/tmp|'
    tail -n +2 /proc/sysvipc/shm | sed 's/^/System V segment: /'
    for process in /proc/[0-9]*; do
        [ "$process" != /proc/1 ] || continue
        state=$(sed -n 's/^State:[[:space:]]*//p' "$process/status" 2>/dev/null)
        case $state in
        '' | Z* | X*) ;;
        *)
            # the commands of this very pipeline have PID 1 as their parent's
            # parent at most; they have no libucp
            grep -q libucp "$process/maps" 2>/dev/null &&
                echo "process $(tr '\0' ' ' <"$process/cmdline")"
            ;;
        esac
    done
} >"$work/left"
exit $code
