/* SPDX-License-Identifier: BSD-3-Clause */
/* Results and processes of the plain UCP programs: nothing that calls UCP. */
#include "ucp_util.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    int  results;
    int  failed;     /* result lines */
    int  failures;   /* of uu_check since the last result */
    char first[200]; /* the first one's words */
} uu_state;

void uu_ok(const char *name)
{
    printf("ok %s\n", name);
    fflush(stdout);
    uu_state.results++;
}

void uu_skip(const char *name, const char *why)
{
    printf("skip %s - %s\n", name, why);
    fflush(stdout);
    uu_state.results++;
}

void uu_notok(const char *name, const char *format, ...)
{
    va_list args;

    printf("not ok %s - ", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    uu_state.results++;
    uu_state.failed++;
}

int uu_end(void)
{
    printf("end %d\n", uu_state.results);
    fflush(stdout);
    return uu_state.failed != 0;
}

void uu_result(const char *name)
{
    if (uu_state.failures == 0) {
        uu_ok(name);
    } else {
        uu_notok(name, "%s", uu_state.first);
    }
    uu_state.failures = 0;
}

void uu_fail(int line, const char *format, ...)
{
    char    text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "# line %d: %s\n", line, text);
    if (uu_state.failures++ == 0) {
        snprintf(uu_state.first, sizeof(uu_state.first), "%s (line %d)", text,
                 line);
    }
}

double uu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- processes ---- */

struct uu_child uu_fork(int (*body)(int channel, void *arg), void *arg)
{
    struct uu_child child;
    int             pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        perror("socketpair");
        exit(2);
    }
    fflush(NULL);
    child.pid = fork();
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing of a test outlives it */
        close(pair[0]);
        exit(body(pair[1], arg));
    }
    close(pair[1]);
    child.channel = pair[0];
    return child;
}

void uu_kill(struct uu_child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    close(child->channel);
}

int uu_join(struct uu_child *child)
{
    int    status = 0;
    double until  = uu_now() + UU_SECONDS;

    close(child->channel);
    while (waitpid(child->pid, &status, WNOHANG) == 0) {
        if (uu_now() > until) {
            kill(child->pid, SIGKILL);
            waitpid(child->pid, &status, 0);
            return -1;
        }
        usleep(1000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int uu_move(const char *variable)
{
    const char *name = getenv(variable);
    int         fd, result = 0;

    if (name != NULL) {
        fd     = open(name, O_RDONLY | O_CLOEXEC);
        result = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
        close(fd);
    }
    return result;
}

double uu_seconds(const char *variable, double otherwise)
{
    const char *text = getenv(variable);

    return text == NULL ? otherwise : strtod(text, NULL);
}

int uu_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int  count  = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static int uu_all(int channel, void *data, size_t length, int sending)
{
    char   *at = data;
    ssize_t part;

    while (length > 0) {
        part = sending ? send(channel, at, length, MSG_NOSIGNAL)
                       : recv(channel, at, length, 0);
        if (part <= 0) {
            return -1;
        }
        at += part;
        length -= (size_t)part;
    }
    return 0;
}

int uu_put(int channel, const void *data, size_t length)
{
    uint64_t size = length;

    if (uu_all(channel, &size, sizeof(size), 1) != 0) {
        return -1;
    }
    return uu_all(channel, (void *)(uintptr_t)data, length, 1);
}

ssize_t uu_get(int channel, void *data, size_t room)
{
    uint64_t size;

    if (uu_all(channel, &size, sizeof(size), 0) != 0 || size > room ||
        uu_all(channel, data, size, 0) != 0) {
        return -1;
    }
    return (ssize_t)size;
}

void uu_fill(void *buffer, size_t length, uint64_t seed)
{
    unsigned char *at = buffer;
    size_t         i;

    for (i = 0; i < length; i++) {
        at[i] = (unsigned char)((seed + i / 251) * 131 + i);
    }
}

int uu_differs(const void *buffer, size_t length, uint64_t seed)
{
    const unsigned char *at = buffer;
    size_t               i;

    for (i = 0; i < length; i++) {
        if (at[i] != (unsigned char)((seed + i / 251) * 131 + i)) {
            return 1;
        }
    }
    return 0;
}
