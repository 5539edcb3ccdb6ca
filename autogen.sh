#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make configure and friends from configure.ac; needs autoconf, automake, libtool.
set -e
cd "$(dirname "$0")"
autoreconf --install --force --warnings=all,no-obsolete,no-portability
