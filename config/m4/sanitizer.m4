# --with-sanitizer=address|thread|undefined, or a comma list gcc accepts.
AC_DEFUN([CAUSEWAY_SANITIZER], [
  AC_ARG_WITH([sanitizer],
    [AS_HELP_STRING([--with-sanitizer=NAME], [address, thread or undefined])],
    [], [with_sanitizer=no])
  AS_CASE([$with_sanitizer],
    [no], [],
    [address|thread|undefined|address,undefined], [
      causeway_san="-fsanitize=$with_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"
      CFLAGS="$CFLAGS -O1 -g $causeway_san"
      CXXFLAGS="$CXXFLAGS -O1 -g $causeway_san"
      LDFLAGS="$LDFLAGS $causeway_san"
      CAUSEWAY_CPPFLAGS="-DUCS_ENABLE_ASSERT=1"
      # gcc sees less behind a sanitizer's calls: "may be used" is a guess.
      CAUSEWAY_TRY_CFLAG([-Wuse-after-free=1])
      AC_DEFINE([ENABLE_ASSERT], [1], [Check internal promises at run time])],
    [AC_MSG_ERROR([--with-sanitizer=$with_sanitizer: expected address, thread, undefined or address,undefined])])
  AC_SUBST([with_sanitizer])
])

# LeakSanitizer alone, linked into the test programs of a build that has no
# other sanitizer: a test that leaks fails in every build. LEAK_LDFLAGS gets
# the flag, LEAK_CHECK says yes if leaks are found by whatever sanitizer.
AC_DEFUN([CAUSEWAY_LEAK_CHECK], [
  AC_REQUIRE([CAUSEWAY_SANITIZER])
  LEAK_LDFLAGS=
  AS_CASE([$with_sanitizer],
    [*address*], [LEAK_CHECK=yes],
    [thread*], [LEAK_CHECK=no],
    [AC_CACHE_CHECK([whether $CC -fsanitize=leak finds leaks here],
       [causeway_cv_leak_check], [
       causeway_save_LDFLAGS="$LDFLAGS"
       LDFLAGS="$LDFLAGS -fsanitize=leak"
       AC_RUN_IFELSE([AC_LANG_PROGRAM([[
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void *volatile lost;
]], [[
int i, status = 0;
pid_t pid = fork();
if (pid == 0) {
    for (i = 0; i < 100; ++i) {
        lost = malloc(77);
        memset(lost, i, 77);
    }
    lost = NULL;
    return 0;
}
waitpid(pid, &status, 0);
/* The leaking child must have failed; the clean parent must not. */
return (WIFEXITED(status) && WEXITSTATUS(status) != 0) ? 0 : 1;
]])], [causeway_cv_leak_check=yes], [causeway_cv_leak_check=no],
         [causeway_cv_leak_check=no])
       LDFLAGS="$causeway_save_LDFLAGS"])
     LEAK_CHECK=$causeway_cv_leak_check
     AS_IF([test "x$LEAK_CHECK" = xyes], [LEAK_LDFLAGS=-fsanitize=leak])])
  AC_SUBST([LEAK_LDFLAGS])
  AC_SUBST([LEAK_CHECK])
])
