#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table in docs/transports/conformance.md is what uct_conform just printed.
# It runs after uct_conform: see Makefile.inc.
exec "${srcdir:-.}/contrib/update-conformance" --check test/uct/uct_conform.log
