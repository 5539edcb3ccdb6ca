#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The mock transport in its default setting does what every transport must.
# It lives in one process, so only the tests with one are run.
UCX_MODULE_DIR="$PWD/test/mock/.libs"
export UCX_MODULE_DIR
exec test/uct/uct_conform --filter='*/mock.1'
