/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes from outside is wrong, or the system gives nothing more: each
 * failing call answers with an error status and one line on standard error,
 * and two workers of this process go on exchanging messages.
 *
 * ucp_bad_input flipped|cut|random|version|user|descriptors|memory
 */
#include "ucp_util.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ADDRESS_MAX  = 4096,
    NOBODY       = 65534,
    OPEN_SECONDS = 2 /* a peer without descriptors is waited for */
};

static struct uu_node here, there;
static struct uu_link link_there;
static int            said = -1; /* where standard error goes meanwhile */
static int            terminal;

static int open_both(void)
{
    return uu_open(&here, UCP_FEATURE_TAG) != 0 ||
           uu_open(&there, UCP_FEATURE_TAG) != 0 ||
           uu_connect(&here, there.address, 1, &link_there) != UCS_OK;
}

/* The two go on, and nobody was called. */
static void check_goes_on(void)
{
    uint64_t out = 4711, in = 0;
    void    *receive = uu_receive(&there, &in, sizeof(in), 1);
    void    *send    = uu_send(&link_there, &out, sizeof(out), 1);

    uu_check(uu_wait_two(&there, &here, receive) == UCS_OK && in == out,
             "no message");
    uu_check(uu_wait_two(&here, &there, send) == UCS_OK, "no end of a send");
    uu_check(link_there.errors == 0, "the error handler was called");
}

/* From here on lines are counted; lines_end() gives their number. */
static void lines_begin(void)
{
    fflush(stderr);
    uu_check(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0,
             "truncate");
    dup2(said, STDERR_FILENO);
}

static int lines_end(char *first, size_t size)
{
    char    text[16384];
    ssize_t length;
    int     count = 0;

    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    length       = pread(said, text, sizeof(text) - 1, 0);
    length       = length < 0 ? 0 : length;
    text[length] = '\0';
    for (ssize_t i = 0; i < length; i++) {
        count += text[i] == '\n';
    }
    text[strcspn(text, "\n")] = '\0';
    snprintf(first, size, "%.1000s", text);
    return count;
}

static char line[1024]; /* the first of the last refusal */

/* An endpoint to these bytes is refused, with one line. */
static void check_refused(const void *address, const char *what, size_t index)
{
    struct uu_link link;
    ucs_status_t   status;
    int            count;

    lines_begin();
    status = uu_connect(&here, address, 1, &link);
    count  = lines_end(line, sizeof(line));
    uu_check(UCS_STATUS_IS_ERR(status), "%s %zu: ucp_ep_create says %s", what,
             index, ucs_status_string(status));
    uu_check(count == 1 && strstr(line, "UCX ERROR") != NULL,
             "%s %zu: %d lines: %s", what, index, count, line);
    if (index == 0) {
        fprintf(stderr, "# %s: %s: %s\n", what, ucs_status_string(status),
                line);
    }
}

static void scene_flipped(void)
{
    char bytes[ADDRESS_MAX];

    memcpy(bytes, there.address, there.length);
    for (size_t bit = 0; bit < 8 * there.length; bit++) {
        bytes[bit / 8] ^= (char)(1 << (bit % 8));
        check_refused(bytes, "flipped bit", bit);
        bytes[bit / 8] ^= (char)(1 << (bit % 8));
        if (bit % 64 == 0) {
            check_goes_on();
        }
    }
}

/* A peer of another release; the byte is the address's version. */
static void scene_version(void)
{
    char bytes[ADDRESS_MAX];

    memcpy(bytes, there.address, there.length);
    for (size_t more = 1; more < 256; more++) {
        bytes[2] = (char)(((const char *)there.address)[2] + (int)more);
        check_refused(bytes, "another version", more - 1);
        uu_check(strstr(line, "version") != NULL, "it says: %s", line);
    }
    check_goes_on();
}

/* The call takes no length: what was cut off reads as zeros. */
static void scene_cut(void)
{
    for (size_t cut = 0; cut < there.length; cut++) {
        char bytes[ADDRESS_MAX] = {0};

        memcpy(bytes, there.address, cut);
        if (memcmp(bytes, there.address, there.length) != 0) {
            check_refused(bytes, "cut at", cut);
        }
    }
    check_goes_on();
}

static void scene_random(void)
{
    const char *seed = getenv("APPS_SEED");
    char        bytes[ADDRESS_MAX];

    srandom((unsigned)strtoul(seed == NULL ? "1" : seed, NULL, 10));
    for (size_t round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (char)random();
        }
        if (round % 2 == 0) { /* a head that can be, at least */
            memcpy(bytes, there.address, 8);
        }
        check_refused(bytes, "random", round);
    }
    check_goes_on();
}

/* ---- another user cannot reach us, nor we it, unless by the rights that root
 * has in /proc ---- */

static int another_user(int channel, void *arg)
{
    char           address[ADDRESS_MAX];
    struct uu_node node;
    struct uu_link link;
    ucs_status_t   status;
    int            answer[2];

    (void)arg;
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 ||
        uu_open(&node, UCP_FEATURE_TAG) != 0 ||
        uu_put(channel, node.address, node.length) != 0 ||
        uu_get(channel, address, sizeof(address)) <= 0) {
        return 3;
    }
    lines_begin();
    status    = uu_connect(&node, address, 1, &link);
    answer[1] = lines_end(line, sizeof(line));
    answer[0] = status;
    fprintf(stderr, "# the other user: %s: %s\n", ucs_status_string(status),
            line);
    (void)uu_put(channel, answer, sizeof(answer));
    (void)uu_get(channel, address, sizeof(address)); /* the end */
    uu_close(&node);
    return 0;
}

static struct uu_child stranger;

static void scene_user(void)
{
    char address[ADDRESS_MAX];
    int  answer[2] = {UCS_OK, 0};

    uu_check(uu_get(stranger.channel, address, sizeof(address)) > 0,
             "the other user has no address");
    uu_put(stranger.channel, there.address, there.length);
    uu_check(uu_get(stranger.channel, answer, sizeof(answer)) ==
                 (ssize_t)sizeof(answer),
             "the other user does not answer");
    uu_check(answer[0] == UCS_ERR_UNREACHABLE && answer[1] == 1,
             "the other user: status %d, %d lines", answer[0], answer[1]);
    check_goes_on();
    if (strcmp(getenv("UCX_SM_ATTACH"), "socket") == 0) {
        check_refused(address, "endpoint to another user", 0);
        check_goes_on();
    }
    uu_put(stranger.channel, answer, sizeof(answer));
    uu_check(uu_join(&stranger) == 0, "the other user's exit status");
}

/* ---- the system gives nothing more ---- */

/* What opens a worker and an endpoint, under a limit. *is_begun_p: both were
 * opened, what fails is the way to the peer. @return its status. */
static ucs_status_t open_more(bool *is_begun_p)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_ep_params_t     ep   = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                .address    = there.address};
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_worker_h        worker;
    ucp_ep_h            handle;
    void               *send;
    ucs_status_t        status;
    uint64_t            word  = 1;
    double              until = uu_now() + OPEN_SECONDS;

    *is_begun_p = false;
    status      = ucp_worker_create(here.context, &params, &worker);
    if (status != UCS_OK) {
        return status;
    }
    status      = ucp_ep_create(worker, &ep, &handle);
    *is_begun_p = status == UCS_OK;
    if (status == UCS_OK) {
        send = ucp_tag_send_nbx(handle, &word, sizeof(word), 2, &none);
        status =
            UCS_PTR_IS_PTR(send) ? UCS_INPROGRESS : UCS_PTR_RAW_STATUS(send);
        while (status == UCS_INPROGRESS && uu_now() < until) {
            ucp_worker_progress(worker);
            ucp_worker_progress(there.worker);
            status = ucp_request_check_status(send);
        }
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    }
    ucp_worker_destroy(worker);
    return status;
}

/* Raise a limit from nothing until all works; before that each try is an
 * answer with a line. When the way to the peer fails, the transport, the
 * endpoint and the peer say it, and again every second. */
static void raise_limit(int resource, rlim_t from, rlim_t step, int tries)
{
    struct rlimit before, limit;
    ucs_status_t  status  = UCS_ERR_NO_MEMORY;
    int           refused = 0;
    int           count, most;
    double        begin;
    bool          is_begun;

    getrlimit(resource, &before);
    limit = before;
    for (int i = 0; i < tries && status != UCS_OK; i++) {
        limit.rlim_cur = from + (rlim_t)i * step;
        uu_check(setrlimit(resource, &limit) == 0, "setrlimit");
        lines_begin();
        begin  = uu_now();
        status = open_more(&is_begun);
        most   = is_begun ? 3 + (int)(uu_now() - begin + 0.5) : 1;
        count  = lines_end(line, sizeof(line));
        setrlimit(resource, &before);
        uu_check(status == UCS_OK || count >= 1, "limit %lu: %s and no line",
                 (unsigned long)limit.rlim_cur, ucs_status_string(status));
        uu_check(count <= most, "limit %lu: %s, %d lines: %s",
                 (unsigned long)limit.rlim_cur, ucs_status_string(status),
                 count, line);
        if (refused++ == 0) {
            fprintf(stderr, "# %s: %s\n", ucs_status_string(status), line);
        }
        check_goes_on();
    }
    uu_check(refused > 1, "the limit was never met");
    uu_check(status == UCS_OK, "it never works: %s", ucs_status_string(status));
}

static void scene_descriptors(void)
{
    int first = dup(0); /* the lowest that is free */

    close(first);
    raise_limit(RLIMIT_NOFILE, (rlim_t)first, 1, 64);
}

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE         *file  = fopen("/proc/self/statm", "r");

    if (file != NULL) {
        if (fscanf(file, "%lu", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void scene_memory(void)
{
    raise_limit(RLIMIT_AS, address_space(), (rlim_t)4 << 20, 64);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[]         = {{"flipped", scene_flipped},
                          {"cut", scene_cut},
                          {"random", scene_random},
                          {"version", scene_version},
                          {"user", scene_user},
                          {"memory", scene_memory},
                          {"descriptors", scene_descriptors}};
    const char *wanted = argc > 1 ? argv[1] : "";
    char        path[] = "/tmp/ucp_bad_input_XXXXXX", name[64];

    terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    said     = mkstemp(path);
    unlink(path);
    snprintf(name, sizeof(name), "bad_input__%s", wanted);
    if (strcmp(wanted, "user") == 0) {
        if (geteuid() != 0) {
            uu_skip(name, "not root");
            return uu_end();
        }
        stranger = uu_fork(another_user, NULL);
    }
    if (open_both() != 0) {
        uu_notok(name, "cannot open");
        return uu_end();
    }
    check_goes_on();
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        if (strcmp(scenes[i].name, wanted) == 0) {
            scenes[i].run();
            uu_result(name);
        }
    }
    uu_disconnect(&here, &link_there, 1);
    uu_close(&here);
    uu_close(&there);
    return uu_end();
}
