/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run_child.c - start the program, pass signals on, see it end. */
#include "tools/run.h"

#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Signals that a user sends to us and means for the program. */
static const int child_forwarded[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                      SIGUSR1, SIGUSR2, SIGWINCH};

enum run_child_private {
    CHILD_LOOK_MS_FIRST = 30,    /* then after twice as long, and so on */
    CHILD_LOOK_MS_MAX   = 30000, /* a look costs about a millisecond */
};

/* In the child; does not return. */
static void child_exec(char **words, const sigset_t *mask, int pipe_fd)
{
    int     code;
    ssize_t count;

    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(words[0], words);
    code  = errno;
    count = write(pipe_fd, &code, sizeof(code));
    _exit(count == (ssize_t)sizeof(code) ? RUN_EXIT_ABSENT : RUN_EXIT_TOOL);
}

/* Wait for the exec. @return 0 or its errno. */
static int child_exec_error(int pipe_fd)
{
    int     code = 0;
    ssize_t count;

    do {
        count = read(pipe_fd, &code, sizeof(code));
    } while ((count < 0) && (errno == EINTR));
    return count == (ssize_t)sizeof(code) ? code : 0;
}

/* One signal has come, or time is up. @return true when the child ended. */
static bool child_handle(pid_t pid, const siginfo_t *info, int signal_number,
                         int *status_p)
{
    if (signal_number == SIGCHLD) {
        return waitpid(pid, status_p, WNOHANG) == pid;
    }
    /* What the terminal sends reaches the whole group without us. */
    if ((signal_number > 0) && (info->si_code <= 0)) {
        (void)kill(pid, signal_number);
    }
    return false;
}

static void child_wait(pid_t pid, struct run_seen *seen, const sigset_t *set,
                       int *status_p)
{
    uint64_t look_ns =
        tool_clock_ns() + UINT64_C(1000000) * CHILD_LOOK_MS_FIRST;
    uint64_t        step_ms = CHILD_LOOK_MS_FIRST;
    uint64_t        now_ns, left_ns;
    struct timespec left;
    siginfo_t       info;
    int             signal_number;

    if (waitpid(pid, status_p, WNOHANG) == pid) {
        return;
    }
    for (;;) {
        now_ns  = tool_clock_ns();
        left_ns = look_ns > now_ns ? look_ns - now_ns : 0;
        left    = (struct timespec){.tv_sec  = (time_t)(left_ns / 1000000000),
                                    .tv_nsec = (long)(left_ns % 1000000000)};
        signal_number = sigtimedwait(set, &info, &left);
        if (child_handle(pid, &info, signal_number, status_p)) {
            return;
        }
        if ((signal_number < 0) && (errno == EAGAIN)) {
            run_seen_sample(seen, pid);
            step_ms = step_ms < CHILD_LOOK_MS_MAX / 2 ? 2 * step_ms
                                                      : CHILD_LOOK_MS_MAX;
            look_ns = tool_clock_ns() + 1000000 * step_ms;
        }
    }
}

/* Say why the program cannot be started. */
static int child_report_exec(const char *name, int code)
{
    tool_error("%s: %s", name, strerror(code));
    return code == ENOENT ? RUN_EXIT_ABSENT : RUN_EXIT_NOEXEC;
}

int run_child(char **words, struct run_seen *seen, int *status_p)
{
    sigset_t set, old;
    int      pair[2];
    pid_t    pid;
    size_t   i;
    int      code;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (i = 0; i < TOOL_ARRAY_COUNT(child_forwarded); i++) {
        sigaddset(&set, child_forwarded[i]);
    }
    /* A parent that ignores SIGCHLD would leave us nothing to wait for. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &old);
    pid = pipe2(pair, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid < 0) {
        tool_error("cannot start a process: %s", strerror(errno));
        return RUN_EXIT_TOOL;
    }
    if (pid == 0) {
        child_exec(words, &old, pair[1]);
    }
    close(pair[1]);
    code = child_exec_error(pair[0]);
    close(pair[0]);
    if (code != 0) {
        (void)waitpid(pid, status_p, 0);
        return child_report_exec(words[0], code);
    }
    child_wait(pid, seen, &set, status_p);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return 0;
}

int run_child_exit(int status)
{
    struct rlimit no_core = {0, 0};
    sigset_t      set;

    if (!WIFSIGNALED(status)) {
        return WEXITSTATUS(status);
    }
    /* Die of the same signal, so that the shell sees what happened; the
     * program has written its core already. */
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
