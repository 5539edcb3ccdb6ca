# --with-udp: the udp transport, which asks the kernel for routes through
# libnl-route and encrypts through libsodium. Built where both are there; asked
# for and not possible is an error. docs/adr/0030.
AC_DEFUN([CAUSEWAY_UDP], [
  AC_ARG_WITH([udp],
    [AS_HELP_STRING([--without-udp],
      [build without the udp transport (needs libsodium, libnl-route-3;
       default: with it if both are there)])],
    [], [with_udp=check])
  have_udp=no
  udp_reason="asked for: --without-udp"
  AS_IF([test "x$with_udp" != xno],
        [PKG_CHECK_MODULES([UDP], [libsodium >= 1.0.18 libnl-route-3.0 >= 3.4],
           [have_udp=yes udp_reason=],
           [udp_reason="no libsodium or no libnl-route-3.0 (Debian: libsodium-dev libnl-route-3-dev)"])])
  AS_IF([test "x$with_udp$have_udp" = xyesno],
        [AC_MSG_ERROR([--with-udp: $udp_reason])])
  AS_IF([test "x$have_udp" = xyes],
        [AC_DEFINE([HAVE_UDP], [1], [the udp transport is built])])
  AM_CONDITIONAL([HAVE_UDP], [test "x$have_udp" = xyes])
])
