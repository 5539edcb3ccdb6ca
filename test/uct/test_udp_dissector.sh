#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Wireshark dissector tells what the encoders were given (a capture that
# udp_pcap writes), and finds nothing malformed in a capture of a real run.
: "${srcdir:=$(dirname "$0")/../..}"
lua=$(cd "$srcdir" && pwd)/contrib/wireshark/causeway_udp.lua
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ] || exit 1
    [ $passed -gt 0 ] || exit 77
    exit 0
}
ok() { passed=$((passed + 1)); echo "ok udp_dissector: $1"; }
notok() {
    failed=$((failed + 1))
    echo "not ok udp_dissector: $1"
    sed 's/^/#| /' "$work/out" | head -n 30
}
skip() { skipped=$((skipped + 1)); echo "skip udp_dissector: $1 - $2"; }

[ -x test/uct/udp_pcap ] || { skip all "built without udp"; finish; }

# The document's tables: extensions as long as the encoder's, a head without
# holes. A range is not an extension of fixed length.
doc=$srcdir/docs/transports/udp.md
awk -F'|' '$2 ~ /^ [0-9]+(-[0-9]+)? $/ {
        split($2, kind, /[ -]+/); last = (kind[3] == "") ? kind[2] : kind[3]
        bytes = 0; count = split($4, part, ",")
        if ($4 !~ /^ ranges:/)
            for (i = 1; i <= count; ++i) bytes += part[i]
        for (i = kind[2]; i <= last; ++i) print i, bytes }' "$doc" \
    >"$work/doc.kinds"
test/uct/udp_pcap --kinds >"$work/code.kinds"
if diff "$work/doc.kinds" "$work/code.kinds" >"$work/out"; then
    ok "the document knows how long each kind is"
else
    notok "the kinds of the document"
fi
awk '/^    offset  bytes/ { on = 1; next }
     on && /extension, then payload/ { exit $1 != at }
     on && $1 != at { print "a hole before", $0; exit 1 }
     on { at += $2 }' "$doc" >"$work/out" &&
    ok "the head of the document has no holes" || notok "the head's map"

command -v tshark >/dev/null 2>&1 || { skip "the rest" "no tshark"; finish; }

# shark ARGUMENT...: with our dissector first, since a port may be known as
# another protocol's, and with no files of the user's
shark() {
    HOME=$work XDG_CONFIG_HOME=$work timeout 120 tshark -n \
        -X "lua_script:$lua" --enable-heuristic causeway_udp_udp \
        -o udp.try_heuristic_first:TRUE \
        "$@" 2>"$work/err"
}

# clean FILE NAME: all that is ours is decoded, nothing is malformed
clean() {
    shark -r "$1" -Y '_ws.malformed || _ws.lua.error || cw.short ||
        cw.bad_range' >"$work/out"
    cat "$work/err" >>"$work/out"
    grep -v -i -e 'running as' -e '^$' "$work/out" >"$work/bad"
    if [ -s "$work/bad" ]; then notok "$2"; else ok "$2"; fi
}

names='kind to number ack window flags am_id attempt newest_attempt newest
    delay_us tag message offset total key address operation length atomic size
    operand compare status value ping ping_bytes piece end id buffer
    incarnation nonce cookie largest data_port ciphers range payload_bytes'

# fields FILE: what tshark sees, in the form that udp_pcap prints: sorted,
# since the two have them in different orders
fields() {
    for name in $names; do printf -- '-e cw.%s ' "$name"; done >"$work/args"
    # shellcheck disable=SC2046
    shark -r "$1" -T fields -E separator=\; -E occurrence=a -E aggregator=, \
        $(cat "$work/args") |
        awk -F\; -v names="$names" 'BEGIN { count = split(names, name, " ") }
            { line = ""
              for (i = 1; i <= count; ++i)
                  if ($i != "") line = line " " name[i] "=" $i
              print line }'
}
sorted() {
    awk '{ n = split($0, w, " ")
           for (i = 2; i <= n; ++i)
               for (j = i; j > 1 && w[j - 1] > w[j]; --j) {
                   t = w[j]; w[j] = w[j - 1]; w[j - 1] = t }
           line = w[1]
           for (i = 2; i <= n; ++i) line = line " " w[i]
           print line }' "$1"
}

test/uct/udp_pcap "$work/made.pcap" >"$work/expected" || exit 99
clean "$work/made.pcap" "packets of udp_wire.c: nothing is malformed"
fields "$work/made.pcap" >"$work/seen"
sorted "$work/expected" >"$work/expected.sorted"
sorted "$work/seen" >"$work/seen.sorted"
if [ -s "$work/seen" ] &&
    diff "$work/expected.sorted" "$work/seen.sorted" >"$work/out"; then
    ok "$(wc -l <"$work/seen") packets: all fields are what was encoded"
else
    cat "$work/err" >>"$work/out"
    notok "fields"
fi

# A real run: two processes over lo, with ports of their own: others may speak
# there, too.
first_port=$((20000 + $$ % 2000 * 8))
last_port=$((first_port + 7))
record() {
    tcpdump -i lo -B 65536 -s 0 -U -w "$1" \
        "udp portrange $first_port-$last_port" 2>"$work/dump" &
    dump=$!
    tries=0
    until grep -q 'listening on' "$work/dump"; do
        kill -0 $dump 2>/dev/null || return 1
        tries=$((tries + 1))
        [ $tries -lt 100 ] || break
        sleep 0.1 # a poll with a deadline
    done
    # What UDP_SEGMENT cuts is not cut yet where tcpdump looks.
    UCX_TLS=udp,self UCX_NET_DEVICES=lo UCX_NET_ENCRYPT=$2 \
        UCX_UDP_SEGMENTATION=n UCX_UDP_PORT_RANGE=$first_port-$last_port \
        timeout 120 \
        ./causeway perf --test lat --sizes 8,2000,100000 --iterations 20 \
        --verify >"$work/out" 2>&1
    status=$?
    kill $dump
    wait $dump 2>/dev/null
    return $status
}

# kinds FILE FILTER KIND...: each of them is there
kinds() {
    file=$1 filter=$2
    shift 2
    shark -r "$file" -Y "$filter" -T fields -e cw.kind | sort | uniq -c \
        >"$work/out"
    for kind in "$@"; do
        grep -Eq " $kind\$" "$work/out" || return 1
    done
}

if ! command -v tcpdump >/dev/null 2>&1; then
    skip "a real run" "no tcpdump"
elif [ ! -x ./causeway ]; then
    skip "a real run" "causeway is not built"
elif ! record "$work/run.pcap" n; then
    if grep -q -i -e permission -e permitted "$work/dump"; then
        skip "a real run" "no right to capture"
    else
        notok "a real run"
    fi
else
    clean "$work/run.pcap" "a real run: nothing is malformed"
    if kinds "$work/run.pcap" causeway_udp 0 8 13 14 15 16; then
        ok "a real run: messages, acknowledgements, handshake"
    else
        notok "a real run: kinds"
    fi
    if record "$work/sealed.pcap" y &&
        kinds "$work/sealed.pcap" 'cw.encrypted && cw.counter' 0 &&
        ! kinds "$work/sealed.pcap" 'cw.kind < 13 && !cw.counter' 0; then
        clean "$work/sealed.pcap" "an encrypted run: shown as such"
    elif ! grep -q '^0 packets dropped by kernel' "$work/dump"; then
        # Without the ACCEPT nobody can know.
        skip "an encrypted run" "the capture has holes on this busy machine"
    else
        notok "an encrypted run"
    fi
fi
finish
