#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# causeway perf: the three outputs, checked data, and what happens when data
# is damaged or a process ends or hangs.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"
python=$(command -v python3 || true)
short='--time 0.01 --repeat 3'

# perf WORD...: a short run
perf() {
    # shellcheck disable=SC2086
    run "$tool_causeway" perf $short "$@"
}

perf --sizes 8 --test lat
expect "first line names the library" 0 out \
    '^causeway perf [^ ]+ on libucp .* \(/.*libucp\.so\.0'
expect "one row" 0 out '^ +8 +[0-9.]+ '
perf --sizes 0,8,1k,64k-128k --test lat,sync,bw,rate --verify --seed 42
expect "checked data, all tests" 0 out '^data is checked, seed 42'
perf --sizes 0-4m --test lat,bw --verify --window 7 --repeat 1
expect "checked data, all sizes" 0 out '^ +4m '
perf --sizes 8,1k --test lat,bw,rate --limits
expect "limits and ratios" 0 out 'limit +x limit'
expect "raw sockets beside them" 0 out 'raw: udp .* x [0-9.]+, tcp .* x'
perf --sizes 8 --test lat --cpus none
expect "not pinned" 0 out 'not pinned'
perf --sizes 8,256k --test lat,bw --sleep wait --verify
expect "asleep in ucp_worker_wait" 0 out 'half a second .* [0-9.]+ %'
perf --sizes 8,256k --test sync,rate --sleep efd --verify
expect "asleep in poll" 0 out 'half a second .* [0-9.]+ %'
perf --sizes 8,64k --test lat,bw --walk 4
expect "walking through memory" 0 out '^ +64k '
perf --sizes 8m --test bw --walk 4
expect "messages longer than the walk" 0 out '^ +8m '
perf --sizes 0,8,1m --test lat,sync,bw,rate --pieces 64 --gap 4096
expect "an iov of 64 pieces" 0 out '^ +1m '
perf --sizes 8 --pieces 2 --verify
expect "pieces and verify" 2 err 'excludes --verify'
perf --sizes 8 --gap 2
expect "a gap of nothing" 2 err 'needs --pieces'
perf --sizes 8 --walk 4 --verify
expect "walk and verify" 2 err 'exclude'
perf --sizes 8 --test lat --procs 6
expect "six processes" 0 out '4 more processes asleep'
UCX_TLS=sm,self perf --sizes 8 --test lat --procs 3 --idle-tls nonsense
expect "those asleep have settings of their own" 1 err nonsense
perf --sizes 8 --test lat --procs 3 --idle-tls posix,self
expect "asleep over one transport" 0 out '1 more processes asleep'
perf --sizes 8 --test lat --idle-tls posix,self
expect "settings of nobody" 2 err 'needs --procs'

# a progress line for who looks on, not into files; on a terminal made here
if [ -n "$python" ]; then
    # shellcheck disable=SC2086
    run "$python" -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$tool_causeway" perf $short \
        --sizes 1,2,4,8,16 --test lat
    expect "progress on a terminal" 0 out '\[5 of 5\] lat 16'
    perf --sizes 1,2,4,8,16 --test lat
    expect "no progress into a file" 0 out '^ +16 '
    ! grep -q ' of 5\]' "$tool_work/err" || notok "no progress" "there is"
fi

# what other programs read
if [ -z "$python" ]; then
    skip "CSV and JSON" "no python3"
else
    perf --sizes 8,1k --test lat,bw --csv --limits --verify
    cp "$tool_work/out" "$tool_work/csv"
    run "$python" "$tool_src/tool_output.py" csv "$tool_work/csv"
    expect "CSV" 0 out '^4 rows'
    perf --sizes 8,1k --test lat,bw --json --limits --verify --sleep efd
    cp "$tool_work/out" "$tool_work/json"
    run "$python" "$tool_src/tool_output.py" json "$tool_work/json"
    expect "JSON" 0 out '^4 rows'
fi

# only the public API: the same program runs on Debian's UCX
standard=$(/sbin/ldconfig -p 2>/dev/null |
    sed -n 's/^[[:space:]]*libucp\.so\.0 .*=> //p' | head -n 1)
program=$(dirname "$tool_causeway")/.libs/causeway
if [ -z "$standard" ] || [ ! -x "$program" ]; then
    skip "the same program on UCX" "no libucp.so.0 of the system, or installed"
elif [ -n "${CAUSEWAY_SANITIZER#no}" ]; then
    skip "the same program on UCX" "a sanitizer would judge UCX"
else
    # shellcheck disable=SC2086
    run env LD_LIBRARY_PATH="${standard%/*}" "$program" perf $short \
        --sizes 8,64k --test lat,bw --verify
    expect "the same program on UCX" 0 out \
        "^causeway perf .* \((/usr)?${standard%/*}/libucp"
    expect "the same program on UCX, data" 0 out '^ +64k '
fi

# two commands, over TCP, by name
: >"$tool_work/server"
"$tool_causeway" perf --listen localhost:0 --timeout 200 \
    2>"$tool_work/server" &
server=$!
tries=0
until port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$tool_work/server") &&
    [ -n "$port" ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || break
    sleep 0.05 # a poll with a deadline
done
perf --connect "localhost:$port" --sizes 8,64k --test lat,bw --verify
expect "client and server" 0 out '^ +64k '
code=0
wait $server || code=$?
expect "the server ends with its client" 0 out ''

# a stranger at the port
if [ -n "$python" ]; then
    run "$python" "$tool_src/tool_stranger.py" "$tool_causeway"
    expect "strangers at the port" 0 out '^strangers: [1-9]'
fi

# damaged messages; UCP_HEADERS may name those of another UCP
compile corrupt.so -shared -fPIC "${UCP_HEADERS:--I$srcdir/src}" \
    "$tool_src/tool_corrupt.c" -ldl
preload=$tool_work/corrupt.so
# damage HOW NAME REGEX WORD...: a busy machine is no hanging process
patience=100
damage() {
    how=$1 name=$2 regex=$3
    shift 3
    # shellcheck disable=SC2086
    run env TOOL_CORRUPT="$how" LD_PRELOAD="$preload" \
        "$tool_causeway" perf $short --timeout $patience "$@"
    expect "$name" 1 err "$regex"
}
damage flip:1000:100 "a flipped bit" \
    'corrupt data: .* of 1000 bytes, byte 999 is ' \
    --sizes 1000 --test lat --verify
damage flip:65536:9 "a flipped bit in a large message" \
    'corrupt data: .* of 65536 bytes, byte 65535 is ' \
    --sizes 64k --test bw --verify
damage swap:512:40 "a doubled and a lost message" 'corrupt data' \
    --sizes 512 --test bw --verify
damage past:300:5 "a byte behind the end" \
    'written past its end, at byte 303' --sizes 300 --test lat --verify
# 2000 checked messages, 16 to warm up, then 3 repetitions of 5000: the last
# message of the second
damage flip:8:12016 "a flipped bit in the measured loop" \
    'corrupt data: lat, last message of repetition 1 of 8 bytes, byte 7 is' \
    --sizes 8 --test lat --verify --iterations 5000
damage kill:8:500 "the other process ends" 'is gone' --sizes 8 --test lat \
    --iterations 2000
patience=2
damage hang:8:500 "a process hangs" 'no end .see --timeout' \
    --sizes 8 --test lat --iterations 2000
# the same without --verify is not noticed: so it is --verify that did
# shellcheck disable=SC2086
run env TOOL_CORRUPT=flip:1000:100 LD_PRELOAD="$preload" \
    "$tool_causeway" perf $short --sizes 1000 --test lat
expect "not asked, not checked" 0 out '^ +1000 '
finish
