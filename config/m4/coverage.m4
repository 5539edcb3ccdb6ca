# --enable-coverage: gcov counters in every object.
AC_DEFUN([CAUSEWAY_COVERAGE], [
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage], [build with gcov counters])],
    [], [enable_coverage=no])
  AS_IF([test "x$enable_coverage" = xyes],
        [CFLAGS="$CFLAGS -O0 -g --coverage"
         LDFLAGS="$LDFLAGS --coverage"])
])
