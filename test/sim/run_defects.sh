#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# test/sim/run_defects.sh - does the simulator find what it is for? Each row
# plants one defect in a copy of the sources; within 10,000 seeds, of which none
# fails without it, one must fail. A campaign's test: it builds as often as
# there are rows.
#
# usage: [CC=.. CXX=..] srcdir=DIR test/sim/run_defects.sh [ROW...]
#   ROW     numbers of rows; none: all
# A row: name | file | a line's part | what stands there instead; no | in them
set -u
if [ $# -eq 0 ] && [ "${TEST_TIER:-}" != campaign ] &&
    [ "${TEST_LONG:-0}" != 1 ]; then
    echo "skip sim.defects: only in a campaign (TEST_TIER=campaign)"
    exit 77
fi
defects=$(cat <<'ROWS'
an early duplicate is taken again|udp_receive.c|if (udp_receive_fits(receive, number) &&|if (false &&
an old duplicate is handed up again|udp_receive.c|if (ucs_likely(distance == 0)) {|if (distance <= 0) {
ranges end one too late|udp_receive.c|ranges_p[count - 1].end = number + 1;|ranges_p[count - 1].end = number + 2;
a larger ring forgets the last place|udp_receive.c|for (index = 0; index < before_count; ++index) {|for (index = 0; index + 1 < before_count; ++index) {
an answer overtakes the first message|udp_conn_receive.c|*head     = conn->has_first ? from : &in_order;|*head     = from;
what timed out is not sent again|udp_conn.c|    udp_send_lose(&conn->send, segment);|    (void)segment;
no acknowledgement goes alone|udp_receive.c|: receive->owed_ns + UDP_ACK_DELAY_NS;|: UINT64_MAX;
complete when one segment has arrived|udp_conn_pump.c|(--fragment->open_count == 0) &&|(--fragment->open_count, true) &&
stale incarnation: all are the same|udp_iface.c|if (status == UCS_OK) {\n        iface->address.secret|drawn.incarnation = 1;\n    if (status == UCS_OK) {\n        iface->address.secret
silence is never death|udp_connect.c|(now_ns - conn->heard_ns >= conn->env->bound_ns)|(now_ns - conn->heard_ns >= UINT64_MAX)
a pace that was too low is waited for|udp_conn_pump.c|        send_forgive_pace(conn);|        (void)send_forgive_pace;
a copy may be longer than a packet|udp_am.c|(zcopy.total > udp_conn_payload_bytes(ep->conn, UDP_KIND_AM))|(zcopy.total > 60000)
a path that became narrow is not noticed|udp_conn.c|(conn->timeout_count > 3)|(conn->timeout_count > 1000000)
a lost question is not asked again|udp_connect.c|        } else if (now_ns >= conn->retry_ns) {|        } else if (now_ns == 0) {
the slow are sent everything twice|udp_conn_pump.c|} else if (head->newest_attempt == 0) {|} else if (false) {
a put that is refused has arrived|udp_rma.c|        rma_refuse(conn, access.operation);\n        return false;|        rma_refuse(conn, access.operation);\n        return true;
a get is whole when a part of it came|udp_rma.c|fragment->got += (uint32_t)length;|fragment->got = fragment->total;
who closed speaks again before the end is heard|udp_peers.c|if (iface->env.ending_count == 0) {|if (true) {
the helper hands messages up|udp_progress.c|    if (ucs_unlikely(!iface->is_direct)) {|    if (false) {
a packet on a detour is for nobody|udp_peers.c|!peers_detoured(iface, from, &head, bytes, length)|(true)
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
passed=0 failed=0 row=0
while IFS='|' read -r name file from to; do
    row=$((row + 1))
    [ $# -eq 0 ] || [[ " $* " == *" $row "* ]] || continue
    path=$work/source/src/uct/udp/$file
    cp "$path" "$work/kept"
    FROM=$from TO=$to python3 - "$path" <<'PY' || { echo "FAIL  sim.defects: $name: no such line in $file"; failed=$((failed + 1)); continue; }
import os
import sys
text = open(sys.argv[1]).read()
before, after = (os.environ[name].replace("\\n", "\n") for name in ("FROM", "TO"))
if text.count(before) != 1:
    sys.exit(1)
open(sys.argv[1], "w").write(text.replace(before, after))
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
