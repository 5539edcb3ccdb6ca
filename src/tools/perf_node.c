/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/perf_node.h"
#include "tools/perf_sockets.h"

#include "tools/tool.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum perf_node_private {
    PERF_NODE_CLOSE_NS_MAX = 1000000000, /* then the peer is left alone */
    PERF_NODE_TAG_GREET    = 9,
};

/* Fails with a line that names the call. */
static bool node_ok(ucs_status_t status, const char *what)
{
    if (status == UCS_OK) {
        return true;
    }
    tool_error("%s: %s", what, ucs_status_string(status));
    return false;
}

static bool node_open_worker(struct perf_node *node)
{
    ucp_params_t        params  = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                   .features   = UCP_FEATURE_TAG};
    ucp_context_attr_t  attr    = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_worker_params_t request = {.field_mask =
                                       UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                   .thread_mode = UCS_THREAD_MODE_SINGLE};

    if (node->sleep != PERF_SLEEP_NEVER) {
        params.features |= UCP_FEATURE_WAKEUP;
    }
    if (!node_ok(ucp_init_version(TOOL_UCP_API_MAJOR, TOOL_UCP_API_MINOR,
                                  &params, NULL, &node->context),
                 "ucp_init")) {
        return false;
    }
    if (!node_ok(ucp_context_query(node->context, &attr),
                 "ucp_context_query") ||
        !node_ok(ucp_worker_create(node->context, &request, &node->worker),
                 "ucp_worker_create")) {
        return false;
    }
    node->request_memory = tool_calloc(1, attr.request_size + 64);
    node->recv_request   = (char *)node->request_memory + attr.request_size;
    return node_ok(ucp_worker_get_address(node->worker, &node->address,
                                          &node->address_bytes),
                   "ucp_worker_get_address") &&
           ((node->sleep == PERF_SLEEP_NEVER) ||
            node_ok(ucp_worker_get_efd(node->worker, &node->event_fd),
                    "ucp_worker_get_efd"));
}

/* Anonymous pages, touched now so that no loop meets a page fault. */
static uint8_t *node_map(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        tool_error("no memory for a buffer of %zu bytes", size_bytes);
        return NULL;
    }
    memset(memory, 0x5a, size_bytes);
    return memory;
}

bool perf_node_open(struct perf_node *node, const struct perf_hello *hello)
{
    memset(node, 0, sizeof(*node));
    node->sleep        = (enum perf_sleep)hello->sleep;
    node->event_fd     = -1;
    node->buffer_bytes = hello->buffer_bytes > 0 ? hello->buffer_bytes : 1;
    node->send_buffer  = node_map(node->buffer_bytes);
    node->recv_buffer  = node_map(node->buffer_bytes);
    if ((node->send_buffer == NULL) || (node->recv_buffer == NULL) ||
        !node_open_worker(node)) {
        perf_node_close(node);
        return false;
    }
    return true;
}

bool perf_node_connect(struct perf_node *node, const void *address,
                       size_t address_bytes, ucp_ep_h *ep_p)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address    = address};

    (void)address_bytes; /* an address knows its own length */
    return node_ok(ucp_ep_create(node->worker, &params, ep_p), "ucp_ep_create");
}

/* Drive the worker until the request is done, and free it. */
static bool node_finish(struct perf_node *node, ucs_status_ptr_t request,
                        const char *what)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return node_ok(UCS_PTR_STATUS(request), what);
    }
    do {
        ucp_worker_progress(node->worker);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS);
    ucp_request_free(request);
    return node_ok(status, what);
}

bool perf_node_greet(struct perf_node *node, ucp_ep_h ep)
{
    ucp_request_param_t param    = {.op_attr_mask = 0};
    uint64_t            out      = PERF_NODE_TAG_GREET;
    uint64_t            in       = 0;
    ucs_status_ptr_t    received = ucp_tag_recv_nbx(
           node->worker, &in, sizeof(in), PERF_NODE_TAG_GREET, UINT64_MAX, &param);
    ucs_status_ptr_t sent =
        ucp_tag_send_nbx(ep, &out, sizeof(out), PERF_NODE_TAG_GREET, &param);

    return node_finish(node, sent, "first send") &&
           node_finish(node, received, "first receive");
}

bool perf_node_join(struct perf_node *node, const void *address,
                    size_t address_bytes)
{
    ucp_ep_h ep;

    if (!perf_node_connect(node, address, address_bytes, &ep)) {
        return false;
    }
    node->more_eps =
        realloc(node->more_eps, (node->more_count + 1) * sizeof(ep));
    if (node->more_eps == NULL) {
        tool_error("out of memory");
        exit(TOOL_EXIT_FAILED);
    }
    node->more_eps[node->more_count++] = ep;
    return perf_node_greet(node, ep);
}

static void node_close_ep(struct perf_node *node, ucp_ep_h ep)
{
    ucp_request_param_t param       = {.op_attr_mask = 0};
    uint64_t            deadline_ns = tool_clock_ns() + PERF_NODE_CLOSE_NS_MAX;
    ucs_status_ptr_t    request     = ucp_ep_close_nbx(ep, &param);

    if (!UCS_PTR_IS_PTR(request)) {
        return;
    }
    while ((ucp_request_check_status(request) == UCS_INPROGRESS) &&
           (tool_clock_ns() < deadline_ns)) {
        ucp_worker_progress(node->worker);
    }
    ucp_request_free(request);
}

void perf_node_close_eps(struct perf_node *node)
{
    size_t i;

    for (i = 0; i < node->more_count; i++) {
        node_close_ep(node, node->more_eps[i]);
    }
    node->more_count = 0;
    if (node->ep != NULL) {
        node_close_ep(node, node->ep);
        node->ep = NULL;
    }
}

void perf_node_close(struct perf_node *node)
{
    perf_sockets_close(node);
    if (node->address != NULL) {
        ucp_worker_release_address(node->worker, node->address);
    }
    if (node->worker != NULL) {
        ucp_worker_destroy(node->worker);
    }
    if (node->context != NULL) {
        ucp_cleanup(node->context);
    }
    if (node->send_buffer != NULL) {
        munmap(node->send_buffer, node->buffer_bytes);
    }
    if (node->recv_buffer != NULL) {
        munmap(node->recv_buffer, node->buffer_bytes);
    }
    free(node->request_memory);
    free(node->send_pieces);
    free(node->recv_pieces);
    free(node->more_eps);
    memset(node, 0, sizeof(*node));
}

void perf_node_sleep(struct perf_node *node)
{
    struct pollfd entry = {.fd = node->event_fd, .events = POLLIN};

    if (node->sleep == PERF_SLEEP_WAIT) {
        (void)ucp_worker_wait(node->worker);
    } else if (ucp_worker_arm(node->worker) == UCS_OK) {
        (void)poll(&entry, 1, -1);
    }
}

void perf_node_wait(void *arg)
{
    struct perf_node *node = arg;

    while (ucp_worker_progress(node->worker) != 0) {
        /* until nothing is left to do */
    }
}
