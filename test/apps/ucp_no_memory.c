/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory runs out once, at every place in turn: the n-th malloc of a process
 * fails, for n = 1, 2, ... until a run needs no n-th. Each run, in a process
 * of its own, opens two workers, maps memory and gives a key away, makes a
 * datatype, exchanges messages of every protocol and closes. It must not crash;
 * and where the library answers with an error it must have said why.
 */
#include "ucp_util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LARGE      = 300000,
    RUNS_MAX   = 2000,
    POLLS      = 20000, /* of a wait: what is lost does not come */
    EXIT_FINE  = 0,     /* everything worked */
    EXIT_ERROR = 1,     /* a call answered with an error */
    EXIT_ENDED = 2      /* fine, and no malloc was left to fail */
};

/* Allocations until one fails; negative: none does. */
static long until_failure = -1;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static bool this_one_fails(void)
{
    if ((until_failure < 0) || (until_failure-- > 0)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return this_one_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return this_one_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return this_one_fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return this_one_fails() ? NULL : __libc_memalign(alignment, size);
}

static struct {
    ucp_context_h contexts[2];
    ucp_worker_h  workers[2];
    ucp_ep_h      eps[2];
} run;
static char out[LARGE], in[LARGE];

static const ucp_request_param_t no_param;

static void progress(void)
{
    ucp_worker_progress(run.workers[0]);
    ucp_worker_progress(run.workers[1]);
}

/* @return whether it ended well. */
static bool finish(void *request, bool is_receive)
{
    ucs_status_t status = UCS_INPROGRESS;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request) == UCS_OK;
    }
    for (int i = 0; (i < POLLS) && (status == UCS_INPROGRESS); ++i) {
        progress();
        status = ucp_request_check_status(request);
    }
    if (is_receive && (status == UCS_INPROGRESS)) {
        ucp_request_cancel(run.workers[1], request);
    }
    ucp_request_free(request);
    return status == UCS_OK;
}

static bool open_side(int side)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    return (ucp_init(&params, NULL, &run.contexts[side]) == UCS_OK) &&
           (ucp_worker_create(run.contexts[side], &worker_params,
                              &run.workers[side]) == UCS_OK);
}

static bool connect_side(int side)
{
    ucp_ep_params_t params = {.field_mask =
                                  UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER};
    ucp_address_t  *address;
    size_t          length;
    ucs_status_t    status;

    if (ucp_worker_get_address(run.workers[1 - side], &address, &length) !=
        UCS_OK) {
        return false;
    }
    params.address = address;
    status         = ucp_ep_create(run.workers[side], &params, &run.eps[side]);
    ucp_worker_release_address(run.workers[1 - side], address);
    return status == UCS_OK;
}

/* Small and large, known to the receiver before and not, synchronous. */
static bool exchange(int round)
{
    static const size_t lengths[] = {0, 8, 5000, LARGE};
    size_t              length    = lengths[round % 4];
    bool                is_early  = round < 8;
    void               *receive   = NULL;
    void               *send;
    bool                is_sent;

    if (is_early) {
        receive = ucp_tag_recv_nbx(run.workers[1], in, length, round, ~0ul,
                                   &no_param);
    }
    send =
        (round & 4)
            ? ucp_tag_send_sync_nbx(run.eps[0], out, length, round, &no_param)
            : ucp_tag_send_nbx(run.eps[0], out, length, round, &no_param);
    if (!is_early) {
        for (int i = 0; i < 100; ++i) {
            progress();
        }
        receive = ucp_tag_recv_nbx(run.workers[1], in, length, round, ~0ul,
                                   &no_param);
    }
    is_sent = finish(send, false);
    return finish(receive, true) && is_sent;
}

static void *start(void *context, const void *buffer, size_t count)
{
    (void)buffer;
    (void)count;
    return context;
}

/* Handles, a key from one side to the other, a datatype; what is left goes
 * with its context. */
static bool memory_and_types(void)
{
    ucp_mem_map_params_t params = {.field_mask =
                                       UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                       UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = sizeof(in),
                                   .flags  = UCP_MEM_MAP_ALLOCATE};
    ucp_generic_dt_ops_t ops    = {.start_pack = start};
    ucp_datatype_t       datatype;
    ucp_rkey_h           key;
    ucp_mem_h            mem;
    size_t               length;
    void                *bytes;
    ucs_status_t         status;

    if (ucp_mem_map(run.contexts[1], &params, &mem) != UCS_OK ||
        ucp_rkey_pack(run.contexts[1], mem, &bytes, &length) != UCS_OK) {
        return false;
    }
    status = ucp_ep_rkey_unpack(run.eps[0], bytes, &key);
    ucp_rkey_buffer_release(bytes);
    if (status != UCS_OK) {
        return false;
    }
    ucp_rkey_destroy(key);
    if (ucp_mem_unmap(run.contexts[1], mem) != UCS_OK ||
        ucp_dt_create_generic(&ops, NULL, &datatype) != UCS_OK) {
        return false;
    }
    ucp_dt_destroy(datatype);
    return true;
}

static bool everything(void)
{
    for (int side = 0; side < 2; ++side) {
        if (!open_side(side)) {
            return false;
        }
    }
    if (!connect_side(0) || !connect_side(1) || !memory_and_types()) {
        return false;
    }
    for (int round = 0; round < 12; ++round) {
        if (!exchange(round)) {
            return false;
        }
    }
    return finish(ucp_worker_flush_nbx(run.workers[0], &no_param), false);
}

static void clean_up(void)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags        = UCP_EP_CLOSE_FLAG_FORCE};

    for (int side = 0; side < 2; ++side) {
        if (run.eps[side] != NULL) {
            (void)finish(ucp_ep_close_nbx(run.eps[side], &force), false);
        }
    }
    for (int side = 0; side < 2; ++side) {
        if (run.workers[side] != NULL) {
            ucp_worker_destroy(run.workers[side]);
        }
        if (run.contexts[side] != NULL) {
            ucp_cleanup(run.contexts[side]);
        }
    }
}

static void child(long n, int fd)
{
    bool is_fine;

    dup2(fd, STDERR_FILENO);
    alarm(20);
    until_failure = n;
    is_fine       = everything();
    clean_up();
    _exit(!is_fine               ? EXIT_ERROR
          : (until_failure >= 0) ? EXIT_ENDED
                                 : EXIT_FINE);
}

/* @return whether to go on. */
static bool run_one(long n)
{
    char    said[4096];
    int     fds[2], status;
    ssize_t length;
    pid_t   pid;

    if (pipe(fds) != 0) {
        uu_fail(__LINE__, "pipe: %s", strerror(errno));
        return false;
    }
    fcntl(fds[1], F_SETFL, O_NONBLOCK); /* nobody reads while it runs */
    pid = fork();
    if (pid == 0) {
        child(n, fds[1]);
    }
    close(fds[1]);
    waitpid(pid, &status, 0);
    length = read(fds[0], said, sizeof(said) - 1);
    close(fds[0]);
    said[(length > 0) ? length : 0] = '\0';
    uu_check(WIFEXITED(status), "malloc %ld: signal %d: %s", n,
             WTERMSIG(status), said);
    uu_check(!WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_ERROR) ||
                 (strstr(said, "memory") != NULL),
             "malloc %ld: an error, and not a word of memory: \"%s\"", n, said);
    return !WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_ENDED);
}

int main(void)
{
    long n = 0;

    while ((n < RUNS_MAX) && run_one(n)) {
        ++n;
    }
    uu_check((n > 20) && (n < RUNS_MAX), "%ld runs", n);
    uu_result("every malloc fails once");
    return uu_end();
}
