# --enable-fuzzer: build test/fuzz as libFuzzer programs. Needs clang; goes
# well with --with-sanitizer=address,undefined.
AC_DEFUN([CAUSEWAY_FUZZER], [
  AC_ARG_ENABLE([fuzzer],
    [AS_HELP_STRING([--enable-fuzzer], [fuzz targets for libFuzzer (clang)])],
    [], [enable_fuzzer=no])
  AS_IF([test "x$enable_fuzzer" != xno], [
    CFLAGS="$CFLAGS -fsanitize=fuzzer-no-link"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
      [AC_MSG_ERROR([--enable-fuzzer: $CC does not know -fsanitize=fuzzer-no-link, try CC=clang])])])
  AM_CONDITIONAL([ENABLE_FUZZER], [test "x$enable_fuzzer" != xno])
])
