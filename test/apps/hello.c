/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest program with two processes: each opens a worker, they exchange
 * addresses through pipes, and then a greeting goes there and an answer back.
 *
 *     cc hello.c $(pkg-config --cflags --libs ucx) -o hello && ./hello
 */
#include <ucp/api/ucp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAG_GREETING 0x1234
#define TAG_ANSWER   0x1235
#define ROOM         64

static const char greeting[] = "Hello from the parent";
static const char answer[]   = "and hello from the child";

static ucp_context_h context;
static ucp_worker_h  worker;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "hello: %s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void open_worker(void)
{
    ucp_params_t        params        = {0};
    ucp_worker_params_t worker_params = {0};

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features   = UCP_FEATURE_TAG;
    must(ucp_init(&params, NULL, &context), "ucp_init");

    worker_params.field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
    must(ucp_worker_create(context, &worker_params, &worker),
         "ucp_worker_create");
}

/* Give our address to the peer and take its address; connect to it. */
static ucp_ep_h connect_peer(int in, int out)
{
    ucp_ep_params_t params = {0};
    ucp_address_t  *mine;
    void           *theirs;
    size_t          length;
    ucp_ep_h        ep;

    must(ucp_worker_get_address(worker, &mine, &length),
         "ucp_worker_get_address");
    if (write(out, &length, sizeof(length)) != sizeof(length) ||
        write(out, mine, length) != (ssize_t)length ||
        read(in, &length, sizeof(length)) != sizeof(length) ||
        (theirs = malloc(length)) == NULL ||
        read(in, theirs, length) != (ssize_t)length) {
        fprintf(stderr, "hello: the addresses were not exchanged\n");
        exit(1);
    }
    ucp_worker_release_address(worker, mine);

    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address    = theirs;
    must(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    free(theirs);
    return ep;
}

/* Every operation returns NULL if it is done, an error, or a request. */
static void finish(ucs_status_ptr_t request, const char *what)
{
    ucs_status_t status;

    if (request == NULL) {
        return;
    } else if (UCS_PTR_IS_ERR(request)) {
        must(UCS_PTR_STATUS(request), what);
    }
    do {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS);
    ucp_request_free(request);
    must(status, what);
}

static void send_text(ucp_ep_h ep, ucp_tag_t tag, const char *text)
{
    ucp_request_param_t param = {0};

    finish(ucp_tag_send_nbx(ep, text, strlen(text) + 1, tag, &param), "send");
}

static void expect_text(ucp_tag_t tag, const char *expected)
{
    ucp_request_param_t param      = {0};
    char                text[ROOM] = "";

    finish(ucp_tag_recv_nbx(worker, text, sizeof(text), tag, ~(ucp_tag_t)0,
                            &param),
           "receive");
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "hello: got '%s', not '%s'\n", text, expected);
        exit(1);
    }
    printf("%d received: %s\n", (int)getpid(), text);
    fflush(stdout);
}

int main(void)
{
    ucp_request_param_t param = {0};
    int                 down[2], up[2], status = 0;
    pid_t               child;
    ucp_ep_h            ep;

    if (pipe(down) != 0 || pipe(up) != 0 || (child = fork()) < 0) {
        perror("hello");
        return 1;
    }
    open_worker();
    if (child == 0) {
        ep = connect_peer(down[0], up[1]);
        expect_text(TAG_GREETING, greeting);
        send_text(ep, TAG_ANSWER, answer);
    } else {
        ep = connect_peer(up[0], down[1]);
        send_text(ep, TAG_GREETING, greeting);
        expect_text(TAG_ANSWER, answer);
    }
    finish(ucp_ep_close_nbx(ep, &param), "close");
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        fprintf(stderr, "hello: the child has failed\n");
        return 1;
    }
    return 0;
}
