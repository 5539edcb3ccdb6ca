/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings with absurd values, one at a time, each in a process of its own
 * that opens two workers and exchanges messages. It may work, and then the data
 * is right; or a call says no, with a line that names the setting. Nothing
 * crashes, hangs, or fails without a word.
 *
 * ucp_settings NAME...     every value for each of these
 * ucp_settings --exchange  the process that this one starts
 */
#include "ucp_util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_FINE    = 0,
    EXIT_REFUSED = 1, /* a call answered with an error */
    EXIT_WRONG   = 3, /* wrong bytes */
    EXIT_LATE    = 4, /* a message did not come */
    SECONDS_MAX  = 30,
    LINES_MAX    = 2, /* one for each context */
    SAID_MAX     = 1 << 16
};

static const char *const values[] = {
    "",     "-1", "xyz",        "99999999999999999999999",
    "0",    "1",  "3",          "inf",
    "auto", "y",  "4294967296", "1e30",
    ",",    "^",  " ",          "/nonexistent/dir/x"};
enum { VALUE_COUNT = sizeof(values) / sizeof(values[0]) };

/* ---- the process with the setting ---- */

static int exchange(struct uu_node *from, struct uu_node *to,
                    struct uu_link *link, size_t length)
{
    uint8_t     *out = malloc(length), *in = calloc(1, length);
    void        *receive, *send;
    ucs_status_t received, sent;
    int          result = EXIT_FINE;

    uu_fill(out, length, length);
    receive  = uu_receive(to, in, length, 1);
    send     = uu_send(link, out, length, 1);
    received = uu_wait_two(to, from, receive);
    sent     = uu_wait_two(from, to, send);
    if ((received == UCS_INPROGRESS) || (sent == UCS_INPROGRESS)) {
        result = EXIT_LATE;
    } else if ((received != UCS_OK) || (sent != UCS_OK)) {
        result = EXIT_REFUSED;
    } else if (uu_differs(in, length, length)) {
        result = EXIT_WRONG;
    }
    free(out);
    free(in);
    return result;
}

static int exchange_all(void)
{
    static const size_t lengths[] = {8, 4000, 100000, 1 << 20};
    struct uu_node      here, there;
    struct uu_link      link;
    int                 result = EXIT_FINE;

    if (uu_open(&here, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP) != 0) {
        return EXIT_REFUSED;
    }
    if (uu_open(&there, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP) != 0) {
        return EXIT_REFUSED;
    }
    if (uu_connect(&here, there.address, 1, &link) != UCS_OK) {
        return EXIT_REFUSED;
    }
    for (size_t i = 0; (i < 4) && (result == EXIT_FINE); i++) {
        result = exchange(&here, &there, &link, lengths[i]);
    }
    if (result == EXIT_FINE) {
        uu_disconnect(&here, &link, 0);
        uu_close(&here);
        uu_close(&there);
    }
    return result;
}

/* ---- the one that starts it ---- */

/* Run it with NAME=VALUE; what it says is for `said`. Its wait status. */
static int run(const char *name, const char *value, char *said)
{
    char    program[] = "/proc/self/exe", word[] = "--exchange";
    char   *arguments[] = {program, word, NULL};
    int     terminal = memfd_create("said", MFD_CLOEXEC), status = -1;
    ssize_t length;
    pid_t   child = fork();

    if (child == 0) {
        dup2(terminal, STDERR_FILENO);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        setenv(name, value, 1);
        alarm(SECONDS_MAX);
        execv(program, arguments);
        _exit(127);
    }
    while ((waitpid(child, &status, 0) < 0) && (errno == EINTR)) {
    }
    length       = pread(terminal, said, SAID_MAX - 1, 0);
    said[length] = '\0';
    close(terminal);
    return status;
}

/* Lines that say that something is wrong: not those of uu_fail, nor what the
 * setting asked for. */
static int count_lines(const char *said)
{
    int         count = 0;
    const char *line;

    for (line = strstr(said, " UCX "); line != NULL;
         line = strstr(line + 1, " UCX ")) {
        count += (strncmp(line, " UCX WARN", 9) == 0) ||
                 (strncmp(line, " UCX ERROR", 10) == 0) ||
                 (strncmp(line, " UCX FATAL", 10) == 0);
    }
    return count;
}

static void try_value(const char *name, const char *value)
{
    char said[SAID_MAX];
    int  status = run(name, value, said), lines = count_lines(said);

    if (!WIFEXITED(status)) {
        uu_fail(__LINE__, "%s='%s': signal %d: %s", name, value,
                WTERMSIG(status), said);
        return;
    }
    status = WEXITSTATUS(status);
    uu_check((status == EXIT_FINE) || (status == EXIT_REFUSED),
             "%s='%s': ends with %d: %s", name, value, status, said);
    uu_check((status == EXIT_FINE) || (strstr(said, name) != NULL),
             "%s='%s': refused, and no line names it: %s", name, value, said);
    uu_check(lines <= LINES_MAX, "%s='%s': %d lines: %s", name, value, lines,
             said);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("SETTINGS_FOLDER");

    if ((argc == 2) && (strcmp(argv[1], "--exchange") == 0)) {
        return exchange_all();
    }
    /* Some settings are names of files. */
    if ((folder == NULL) || (chdir(folder) != 0)) {
        uu_notok("folder", "SETTINGS_FOLDER: %m");
        return uu_end();
    }
    for (int i = 1; i < argc; i++) {
        for (int j = 0; j < VALUE_COUNT; j++) {
            try_value(argv[i], values[j]);
        }
        uu_result(argv[i]);
    }
    return uu_end();
}
