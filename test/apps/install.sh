# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# Sourced behind lib.sh by scripts that compile a program as a user does.

# Install this build into a folder of its own and use that from here on. Sets
# include, lib and pc, the folders with ucp/api/ucp.h, libucp and ucx.pc.
apps_install() {
    unset MAKEFLAGS MFLAGS MAKELEVEL
    if ! make -C "$apps_build" install "DESTDIR=$apps_work/root" \
        >"$apps_work/out" 2>&1; then
        tail -n 20 "$apps_work/out" | sed 's/^/#| /'
        apps_notok "make install" "see above"
        apps_finish
    fi
    apps_ok "make install"
    pc=$(find "$apps_work/root" -name ucx.pc -printf '%h\n' | head -n 1)
    lib=$(find "$apps_work/root" -name libucp.so.0 -printf '%h\n' | head -n 1)
    include=$(find "$apps_work/root" -path '*/ucp/api/ucp.h' | head -n 1)
    include=${include%/ucp/api/ucp.h}
    if [ -z "$pc" ] || [ -z "$lib" ] || [ -z "$include" ]; then
        apps_notok "make install" "ucx.pc, libucp.so.0 or ucp.h is missing"
        apps_finish
    fi
    PKG_CONFIG_LIBDIR=$pc
    PKG_CONFIG_SYSROOT_DIR=$apps_work/root
    export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
    # from here on the installed library is the right one
    apps_path=$lib
    apps_ucp=$(readlink -f "$lib/libucp.so.0")
}
