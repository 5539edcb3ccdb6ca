#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every malloc fails once: a status and a word, no crash. See ucp_no_memory.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
if [ "$APPS_LIBS" != ours ]; then
    apps_skip "no memory" "of our libraries only"
    apps_finish
fi
apps_compile_ucp ucp_no_memory || apps_finish
apps_ucp_run "no memory" 120 1 "$apps_bin/ucp_no_memory"
apps_finish
