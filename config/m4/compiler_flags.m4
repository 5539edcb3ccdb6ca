# Warnings, debug assertions and symbol visibility, for gcc and clang.
AC_DEFUN([CAUSEWAY_TRY_CFLAG], [
  AC_CACHE_CHECK([whether $CC accepts $1], AS_TR_SH([causeway_cv_flag_$1]), [
    causeway_save_CFLAGS="$CFLAGS"
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
                      [AS_VAR_SET(AS_TR_SH([causeway_cv_flag_$1]), [yes])],
                      [AS_VAR_SET(AS_TR_SH([causeway_cv_flag_$1]), [no])])
    CFLAGS="$causeway_save_CFLAGS"])
  AS_VAR_IF(AS_TR_SH([causeway_cv_flag_$1]), [yes],
            [CAUSEWAY_CFLAGS="$CAUSEWAY_CFLAGS $1"])
])

AC_DEFUN([CAUSEWAY_COMPILER_FLAGS], [
  AC_ARG_ENABLE([debug],
    [AS_HELP_STRING([--enable-debug], [no optimisation, all assertions on])],
    [], [enable_debug=no])
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [warnings are errors (used by CI)])],
    [], [enable_werror=no])

  CAUSEWAY_CPPFLAGS="" # ucs/assert.h: an installed header has no config.h
  CAUSEWAY_CFLAGS="-std=gnu11 -fvisibility=hidden -fno-strict-aliasing"
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes
      -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wcast-function-type
      -Wundef -Wvla -Wformat=2 -Wnull-dereference -Wdouble-promotion
      -Wimplicit-fallthrough -Wno-format-nonliteral],
      [CAUSEWAY_TRY_CFLAG(flag)])

  AS_IF([test "x$enable_debug" = xyes],
        [CFLAGS="$CFLAGS -O0 -g3"
         CAUSEWAY_CPPFLAGS="-DUCS_ENABLE_ASSERT=1"
         AC_DEFINE([ENABLE_ASSERT], [1], [Check internal promises at run time])])
  AS_IF([test "x$enable_werror" = xyes],
        [CAUSEWAY_CFLAGS="$CAUSEWAY_CFLAGS -Werror"])
  AC_SUBST([CAUSEWAY_CPPFLAGS])
  AC_SUBST([CAUSEWAY_CFLAGS])
])
