#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's mpi4py on our libucp. Its Python is the system's: another one on the
# PATH does not know the module.
. "${srcdir:-$(dirname "$0")/../..}/test/apps/lib.sh"
python=/usr/bin/python3
apps_need mpirun $python
if ! $python -c 'import mpi4py' 2>/dev/null; then
    if [ "${CI:-}" = true ]; then
        apps_notok mpi4py "not installed, and this is CI"
    else
        apps_skip mpi4py "not installed"
    fi
    apps_finish
fi

for np in 2 4; do
    apps_mpi "np$np" 60 $np $python "$apps_src/mpi4py_check.py"
done
apps_finish
