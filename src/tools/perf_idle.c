/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_idle.c - one of the many that are connected and asleep.
 *
 * Connects to client and server, one message each way, then sleeps on the
 * control socket and its worker until the client says bye. */
#include "tools/perf_node.h"
#include "tools/tool.h"

#include <poll.h>
#include <unistd.h>

static uint8_t idle_bytes[PERF_CONTROL_BYTES_MAX];

/* The addresses of client and server come as two PEER messages. */
static bool idle_join(struct perf_node          *node,
                      const struct perf_control *control)
{
    size_t size_bytes;
    int    i;

    for (i = 0; i < 2; i++) {
        if (!perf_control_expect(control, PERF_MESSAGE_PEER, idle_bytes,
                                 sizeof(idle_bytes), &size_bytes) ||
            !perf_node_join(node, idle_bytes, size_bytes)) {
            return false;
        }
    }
    return perf_control_send(control, PERF_MESSAGE_JOINED, "", 0);
}

static void idle_sleep(struct perf_node          *node,
                       const struct perf_control *control)
{
    struct pollfd entries[2] = {{.fd = control->fd, .events = POLLIN},
                                {.fd = node->event_fd, .events = POLLIN}};

    while ((entries[0].revents & (POLLIN | POLLHUP)) == 0) {
        perf_node_wait(node);
        if (ucp_worker_arm(node->worker) == UCS_OK) {
            (void)poll(entries, 2, -1);
        } else {
            (void)poll(entries, 1, 0);
        }
    }
}

int perf_idle_main(int fd)
{
    struct perf_hello   hello   = {.sleep = PERF_SLEEP_EFD, .buffer_bytes = 1};
    struct perf_control control = {.fd = fd};
    enum perf_message   type;
    struct perf_node    node;
    size_t              size_bytes;

    if (!perf_node_open(&node, &hello)) {
        perf_control_fail(&control, "cannot open its worker");
        return TOOL_EXIT_FAILED;
    }
    control.wait     = perf_node_wait;
    control.wait_arg = &node;
    if (!perf_control_send(&control, PERF_MESSAGE_ADDRESS, node.address,
                           node.address_bytes) ||
        !idle_join(&node, &control)) {
        return TOOL_EXIT_FAILED;
    }
    idle_sleep(&node, &control);
    if (!perf_control_recv(&control, idle_bytes, sizeof(idle_bytes), &type,
                           &size_bytes)) {
        return TOOL_EXIT_FAILED;
    }
    perf_node_close_eps(&node);
    perf_node_close(&node);
    close(fd);
    return TOOL_EXIT_OK;
}
