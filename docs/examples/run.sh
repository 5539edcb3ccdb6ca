#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples do what they say.
set -e
said=$(docs/examples/modes)
expected='column 10: 0.01 to 499.01
row 20: 20 to 20.099'
[ "$said" = "$expected" ] || {
    echo "modes said: $said"
    exit 1
}
