/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_watch.c - end the program when it would spin for ever.
 *
 * The measured loops look at nothing but the worker. A timer signal, once a
 * second, looks at the control socket for them: a dead peer or a hung library
 * ends in a message, not in a hung terminal. */
#include "tools/perf.h"
#include "tools/perf_control.h"
#include "tools/tool.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Written by the program, read by the handler in the same thread. */
static _Atomic(const char *) watch_what;
static _Atomic int           watch_seconds_left;
static int                   watch_fd = -1;
static int                   watch_seconds;

static void watch_die(const char *why)
{
    const char *what = atomic_load_explicit(&watch_what, memory_order_relaxed);
    const char *texts[] = {"causeway perf: ", why, " during ", what, "\n"};
    size_t      i;

    for (i = 0; i < TOOL_ARRAY_COUNT(texts); i++) {
        if (write(STDERR_FILENO, texts[i], strlen(texts[i])) < 0) {
            break;
        }
    }
    _exit(TOOL_EXIT_FAILED);
}

/* A FAIL message waits in the socket: type, length, text. */
static void watch_die_of_message(char *bytes, size_t count)
{
    size_t i;

    for (i = PERF_CONTROL_HEAD_BYTES; i < count; i++) {
        if ((bytes[i] < ' ') || (bytes[i] > '~')) {
            bytes[i] = '?';
        }
    }
    bytes[count] = '\0';
    watch_die(count > PERF_CONTROL_HEAD_BYTES ? bytes + PERF_CONTROL_HEAD_BYTES
                                              : "the other process failed");
}

static void watch_handler(int signal_number)
{
    char    bytes[PERF_CONTROL_HEAD_BYTES + PERF_CONTROL_TEXT_MAX];
    ssize_t count;

    (void)signal_number;
    if (atomic_load_explicit(&watch_what, memory_order_relaxed) == NULL) {
        return;
    }
    count = recv(watch_fd, bytes, sizeof(bytes) - 1, MSG_PEEK | MSG_DONTWAIT);
    if (count == 0) {
        watch_die("the other process is gone");
    }
    if ((count > 0) && (bytes[0] == PERF_MESSAGE_FAIL)) {
        watch_die_of_message(bytes, (size_t)count);
    }
    if (atomic_fetch_sub_explicit(&watch_seconds_left, 1,
                                  memory_order_relaxed) <= 0) {
        watch_die("no end (see --timeout)");
    }
}

void perf_watch_open(int fd, double seconds)
{
    struct sigaction action = {.sa_handler = watch_handler,
                               .sa_flags   = SA_RESTART};
    struct itimerval every  = {.it_interval = {.tv_sec = 1},
                               .it_value    = {.tv_sec = 1}};

    watch_fd      = fd;
    watch_seconds = (int)seconds + 1;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

void perf_watch_begin(const char *what)
{
    atomic_store_explicit(&watch_seconds_left, watch_seconds,
                          memory_order_relaxed);
    atomic_store_explicit(&watch_what, what, memory_order_relaxed);
}

void perf_watch_end(void)
{
    atomic_store_explicit(&watch_what, NULL, memory_order_relaxed);
}
