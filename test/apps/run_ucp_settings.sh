#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every setting with absurd values: it works, or a line names the setting. See
# ucp_settings.c.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
if [ "$APPS_LIBS" != ours ]; then
    apps_skip "settings" "of our libraries only"
    apps_finish
fi
apps_compile_ucp ucp_settings ucp_node.c || apps_finish
apps_settings=$(./causeway info --config | sed -nE 's/^#? ?(UCX_[A-Z0-9_]+)=.*/\1/p')
mkdir "$apps_work/files" || exit 99
apps_extra="SETTINGS_FOLDER=$apps_work/files"
apps_ucp_run "settings" 900 1 "$apps_bin/ucp_settings" $apps_settings
apps_finish
