#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Damaged addresses, another user, no descriptors, no memory: a status and a
# line each, and the others go on. See ucp_bad_input.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
if [ "$APPS_LIBS" != ours ]; then
    apps_skip "bad input" "of our libraries only"
    apps_finish
fi
apps_compile_ucp ucp_bad_input ucp_node.c || apps_finish
# memory of a peer is reached through /proc, or over a socket
for way in proc socket; do
    for scene in flipped cut random version user descriptors memory; do
        apps_extra="UCX_TLS=sm UCX_SM_ATTACH=$way" \
            apps_ucp_run "$scene, $way" 60 1 "$apps_bin/ucp_bad_input" $scene
    done
done
apps_finish
