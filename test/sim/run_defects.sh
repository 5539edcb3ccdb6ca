#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/sim/run_defects.sh - does the simulator find what it is for? Each row
# plants one defect in a copy of the sources; seeds must fail that do not fail
# without it. By hand, for ten minutes; no test of the campaign yet, as one seed
# of the first 10,000 fails without a defect (2811).
#
# usage: srcdir=DIR test/sim/run_defects.sh
# A row: name | file | a line's part | what stands there instead; no | in them
set -u
defects=$(cat <<'ROWS'
an early duplicate is taken again|udp_receive.c|if ((receive->ring != NULL) && (*receive_slot(receive, number) != NULL)) {|if (false) {
ranges end one too late|udp_receive.c|ranges_p[count - 1].end = number + 1;|ranges_p[count - 1].end = number + 2;
an answer overtakes the first message|udp_conn_receive.c|*head     = conn->has_first ? from : &in_order;|*head     = from;
what timed out is not sent again|udp_conn.c|    udp_send_lose(&conn->send, segment);|    (void)segment;
no acknowledgement goes alone|udp_receive.c|: receive->owed_ns + UDP_ACK_DELAY_NS;|: UINT64_MAX;
complete when one segment has arrived|udp_conn_pump.c|(--fragment->open_count == 0) &&|(--fragment->open_count, true) &&
the window stops nobody|udp_send.h|           (send->next - send->first < UDP_WINDOW_COUNT);|           (send->next - send->first < 2 * UDP_WINDOW_COUNT);
the end is said before all has arrived|udp_connect.c| !udp_send_is_idle(&conn->send)) {| false) {
nobody asks a shut window|udp_connect.c|if (connect_is_shut(conn)) {|if (false) {
silence is never death|udp_connect.c|(now_ns - conn->heard_ns >= conn->env->bound_ns)|(now_ns - conn->heard_ns >= UINT64_MAX)
a pace that was too low is waited for|udp_conn_pump.c|        send_forgive_pace(conn);|        (void)send_forgive_pace;
a copy may be longer than a packet|udp_am.c|(zcopy.total > udp_conn_payload_bytes(ep->conn, UDP_KIND_AM))|(zcopy.total > 60000)
ROWS
)
source_dir=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/build"
cp -r "$source_dir" "$work/source" &&
    (cd "$work/build" && "$work/source/configure" CFLAGS="-O1 -g" \
        ${CC:+CC="$CC"} ${CXX:+CXX="$CXX"} && make -s -j2 test/sim/sim) \
        >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
"$work/build/test/sim/sim" --seeds 10000 >"$work/log" 2>&1 || {
    grep '^sim: seed' "$work/log"
    echo "FAIL  sim.defects: seeds fail without any defect"
    exit 1
}
passed=0 failed=0
while IFS='|' read -r name file from to; do
    path=$work/source/src/uct/udp/$file
    cp "$path" "$work/kept"
    FROM=$from TO=$to python3 - "$path" <<'PY' || { echo "FAIL  sim.defects: $name: no such line in $file"; failed=$((failed + 1)); continue; }
import os
import sys
text = open(sys.argv[1]).read()
if text.count(os.environ["FROM"]) != 1:
    sys.exit(1)
open(sys.argv[1], "w").write(text.replace(os.environ["FROM"], os.environ["TO"]))
PY
    if ! make -s -C "$work/build" test/sim/sim >"$work/log" 2>&1; then
        tail -n 5 "$work/log"
        echo "FAIL  sim.defects: $name: does not compile"
        failed=$((failed + 1))
    elif UCX_LOG_LEVEL=fatal "$work/build/test/sim/sim" --seeds 10000 \
        >"$work/log" 2>&1; then
        echo "FAIL  sim.defects: $name: not found in 10,000 seeds"
        failed=$((failed + 1))
    else
        echo "ok    sim.defects: $name: $(grep -m1 '^sim: seed' "$work/log")"
        passed=$((passed + 1))
    fi
    cp "$work/kept" "$path"
    touch "$path"
done <<<"$defects"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
