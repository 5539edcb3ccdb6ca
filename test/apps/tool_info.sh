#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# causeway info: version, libraries, transports, limits, settings with origins.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/tool_lib.sh"

run "$tool_causeway" info
expect "version" 0 out '^libucp +[0-9].*, API 1\.[0-9]+'
for library in ucp uct ucs ucm; do
    [ $library = ucm ] && [ "${TOOL_LIBS:-ours}" = ours ] && continue
    expect "library $library" 0 out "^library +/.*/lib$library\.so\.0"
done
if [ "${TOOL_LIBS:-ours}" = debian ]; then
    expect "UCX says so" 0 out "not Causeway's"
    expect "UCX's resources" 0 out 'resource 0'
    finish
fi
expect "transport self" 0 out '^transport +self: '
expect "transport sm" 0 out '^transport +sm: '
run "$tool_causeway" info --limits
expect "limits" 0 out '^ +am: short [0-9]+, bcopy'
run env UCX_RNDV_THRESH=12345 "$tool_causeway" info --config
expect "a value and its origin" 0 out 'UCX_RNDV_THRESH=12345'
expect "the origin" 0 out '[Ee]nvironment'
expect "a default" 0 out '[Dd]efault'
run env UCX_RNDV_THRESH=foo "$tool_causeway" info --config
expect "a bad value" 1 err 'configuration cannot be read'
run "$tool_causeway" info --all
expect "all" 0 out '^UCX_TLS='
finish
