/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_server.c - the process that follows: it does what the client
 * says, after checking that it can. */
#include "tools/perf_launch.h"
#include "tools/perf_node.h"
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <string.h>
#include <unistd.h>

/* Not on the stack: an address may be large. */
static uint8_t server_bytes[PERF_CONTROL_BYTES_MAX];

static bool server_run(struct perf_node          *node,
                       const struct perf_control *control, size_t size_bytes)
{
    uint64_t           words[PERF_JOB_WORDS];
    struct perf_job    job;
    struct perf_result result = {0};

    if (!perf_control_words(server_bytes, size_bytes, words,
                            TOOL_ARRAY_COUNT(words))) {
        return false;
    }
    memcpy(&job, words, sizeof(job));
    if (!perf_job_is_valid(node, &job)) {
        tool_error("the client asks for a job that was not agreed on");
        perf_control_fail(control, "refuses a job that was not agreed on");
        return false;
    }
    if (!perf_control_send(control, PERF_MESSAGE_READY, "", 0)) {
        return false;
    }
    perf_watch_begin("a measurement");
    if (!perf_job_run(node, &job, false, &result)) {
        perf_watch_end();
        perf_control_fail(control, node->failure);
        return false;
    }
    perf_watch_end();
    words[0] = result.wall_ns;
    words[1] = result.cpu_ns;
    return perf_control_send_words(control, PERF_MESSAGE_DONE, words, 2);
}

static bool server_join(struct perf_node          *node,
                        const struct perf_control *control, size_t size_bytes)
{
    return perf_node_join(node, server_bytes, size_bytes) &&
           perf_control_send(control, PERF_MESSAGE_JOINED, "", 0);
}

/* Until the client says bye. */
static bool server_loop(struct perf_node          *node,
                        const struct perf_control *control)
{
    enum perf_message type;
    size_t            size_bytes;
    bool              ok = true;

    while (ok) {
        if (!perf_control_recv(control, server_bytes, sizeof(server_bytes),
                               &type, &size_bytes)) {
            return false;
        }
        switch (type) {
        case PERF_MESSAGE_RUN:
            ok = server_run(node, control, size_bytes);
            break;
        case PERF_MESSAGE_PEER:
            ok = server_join(node, control, size_bytes);
            break;
        case PERF_MESSAGE_SOCKETS:
            ok = perf_sockets_answer(node, control, server_bytes, size_bytes);
            break;
        case PERF_MESSAGE_BYE:
            return true;
        default:
            tool_error("the client sent message %d", (int)type);
            ok = false;
            break;
        }
    }
    return false;
}

/* Say which library, swap addresses. */
static bool server_greet(struct perf_node          *node,
                         const struct perf_control *control)
{
    char   library[PERF_CONTROL_TEXT_MAX];
    size_t size_bytes;

    snprintf(library, sizeof(library), "%s %s", ucp_get_version_string(),
             tool_library_of("ucp_get_version_string"));
    return perf_control_send(control, PERF_MESSAGE_LIBRARY, library,
                             strlen(library)) &&
           perf_control_send(control, PERF_MESSAGE_ADDRESS, node->address,
                             node->address_bytes) &&
           perf_control_expect(control, PERF_MESSAGE_ADDRESS, server_bytes,
                               sizeof(server_bytes), &size_bytes) &&
           perf_node_connect(node, server_bytes, size_bytes, &node->ep);
}

/* The client closes the socket when it has closed its endpoints. */
static bool server_leave(struct perf_node          *node,
                         const struct perf_control *control)
{
    enum perf_message type;
    size_t            size_bytes;

    perf_node_close_eps(node);
    return perf_control_send(control, PERF_MESSAGE_BYE, "", 0) &&
           perf_control_recv(control, server_bytes, sizeof(server_bytes), &type,
                             &size_bytes) &&
           (type == PERF_MESSAGE_BYE);
}

int perf_server_main(const struct perf_options *options, int fd)
{
    struct perf_control control = {.fd = fd};
    struct perf_hello   hello;
    struct perf_node    node;
    bool                ok;

    if (!perf_control_recv_hello(&control, &hello)) {
        return TOOL_EXIT_FAILED;
    }
    if (!perf_node_open(&node, &hello)) {
        perf_control_fail(&control, "cannot open its worker");
        return TOOL_EXIT_FAILED;
    }
    control.wait     = perf_node_wait;
    control.wait_arg = &node;
    if (options->limits_fd != 0) {
        node.limits = perf_limits_map((int)options->limits_fd);
    }
    perf_watch_open(fd, options->timeout_seconds);
    ok = server_greet(&node, &control) && server_loop(&node, &control) &&
         server_leave(&node, &control);
    if (!ok) {
        return TOOL_EXIT_FAILED; /* operations may be under way */
    }
    perf_node_close(&node);
    close(fd);
    return TOOL_EXIT_OK;
}
