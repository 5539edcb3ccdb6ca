/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/perf_client.h"
#include "tools/perf_sockets.h"

#include "tools/tool.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum perf_client_private { CLIENT_LAST_WORDS_MS = 500 };

static uint8_t client_bytes[PERF_CONTROL_BYTES_MAX];

/* This side failed, perhaps because the other one did: let it say why. */
static void client_last_words(struct perf_client *client)
{
    struct pollfd     entry = {.fd = client->control.fd, .events = POLLIN};
    enum perf_message type;
    size_t            size_bytes;

    if (poll(&entry, 1, CLIENT_LAST_WORDS_MS) > 0) {
        (void)perf_control_recv(&client->control, client_bytes,
                                sizeof(client_bytes), &type, &size_bytes);
    }
    tool_error("%s", client->node.failure);
}

bool perf_client_job(struct perf_client *client, const struct perf_job *job,
                     struct perf_result *mine, struct perf_result *theirs)
{
    uint64_t words[PERF_JOB_WORDS];
    size_t   size_bytes;

    memcpy(words, job, sizeof(words));
    if (!perf_control_send_words(&client->control, PERF_MESSAGE_RUN, words,
                                 TOOL_ARRAY_COUNT(words)) ||
        !perf_control_expect(&client->control, PERF_MESSAGE_READY, client_bytes,
                             sizeof(client_bytes), &size_bytes)) {
        return false;
    }
    perf_watch_begin("a measurement");
    if (!perf_job_run(&client->node, job, true, mine)) {
        perf_watch_end();
        client_last_words(client);
        return false;
    }
    perf_watch_end();
    if (!perf_control_expect_words(&client->control, PERF_MESSAGE_DONE, words,
                                   2)) {
        return false;
    }
    if (theirs != NULL) {
        theirs->wall_ns = words[0];
        theirs->cpu_ns  = words[1];
    }
    return true;
}

static void client_report_library(struct perf_report *report)
{
    snprintf(report->version, sizeof(report->version), "%s",
             ucp_get_version_string());
    snprintf(report->library, sizeof(report->library), "%s",
             tool_library_of("ucp_get_version_string"));
}

/* A measurement between two libraries is possible, but say so. */
static void client_compare_library(const struct perf_client *client,
                                   const uint8_t *theirs, size_t size_bytes)
{
    char mine[PERF_CONTROL_TEXT_MAX];

    snprintf(mine, sizeof(mine), "%s %s", client->report.version,
             client->report.library);
    if ((strlen(mine) != size_bytes) ||
        (memcmp(mine, theirs, size_bytes) != 0)) {
        tool_note("the other process has libucp %.*s", (int)size_bytes,
                  (const char *)theirs);
    }
}

/* Start the server here, or find it. */
static bool client_reach_server(struct perf_client *client)
{
    const struct perf_options *options = client->options;

    perf_launch_choose_cpus(&options->cpus, client->report.cpus);
    if (options->connect != NULL) {
        /* The other one may be on this host, on the processor that we would
         * choose: each pins itself when asked. */
        client->report.cpus[0] =
            options->cpus.given ? options->cpus.index[0] : -1;
        client->report.cpus[1] = -1;
        client->control.fd     = perf_control_connect(options->connect);
        return client->control.fd >= 0;
    }
    if (options->limits) {
        client->limits_fd = perf_limits_create_fd();
        if (client->limits_fd < 0) {
            tool_error("no shared memory for --limits");
            return false;
        }
    }
    if (!perf_launch_child("peer", client->report.cpus[1], client->limits_fd,
                           NULL, &client->server)) {
        return false;
    }
    client->control.fd = client->server.fd;
    return true;
}

/* Open the worker, swap addresses, connect. */
static bool client_open(struct perf_client *client)
{
    struct perf_node *node  = &client->node;
    struct perf_hello hello = {.sleep        = client->options->sleep,
                               .buffer_bytes = perf_rows_buffer_bytes(client)};
    size_t            size_bytes;

    if (!perf_control_send_hello(&client->control, &hello) ||
        !perf_launch_pin(client->report.cpus[0]) ||
        !perf_node_open(node, &hello)) {
        return false;
    }
    client->control.wait     = perf_node_wait;
    client->control.wait_arg = node;
    if (client->limits_fd >= 0) {
        node->limits = perf_limits_map(client->limits_fd);
        if (node->limits == NULL) {
            tool_error("no shared memory for --limits");
            return false;
        }
    }
    if (!perf_control_expect(&client->control, PERF_MESSAGE_LIBRARY,
                             client_bytes, PERF_CONTROL_TEXT_MAX,
                             &size_bytes)) {
        return false;
    }
    client_compare_library(client, client_bytes, size_bytes);
    return perf_control_expect(
               &client->control, PERF_MESSAGE_ADDRESS, client->server_address,
               sizeof(client->server_address), &client->server_address_bytes) &&
           perf_node_connect(node, client->server_address,
                             client->server_address_bytes, &node->ep) &&
           perf_control_send(&client->control, PERF_MESSAGE_ADDRESS,
                             node->address, node->address_bytes) &&
           (!client->options->limits ||
            perf_sockets_offer(node, &client->control));
}

/* Connect one idle process with this one and the server. */
static bool client_join_idle(struct perf_client        *client,
                             const struct perf_control *idle)
{
    struct perf_node *node = &client->node;
    size_t            size_bytes;

    return perf_control_expect(idle, PERF_MESSAGE_ADDRESS, client_bytes,
                               sizeof(client_bytes), &size_bytes) &&
           perf_control_send(idle, PERF_MESSAGE_PEER, node->address,
                             node->address_bytes) &&
           perf_node_join(node, client_bytes, size_bytes) &&
           perf_control_send(idle, PERF_MESSAGE_PEER, client->server_address,
                             client->server_address_bytes) &&
           perf_control_send(&client->control, PERF_MESSAGE_PEER, client_bytes,
                             size_bytes) &&
           perf_control_expect(&client->control, PERF_MESSAGE_JOINED,
                               client_bytes, sizeof(client_bytes),
                               &size_bytes) &&
           perf_control_expect(idle, PERF_MESSAGE_JOINED, client_bytes,
                               sizeof(client_bytes), &size_bytes);
}

static bool client_start_idle(struct perf_client *client)
{
    struct perf_control control = {.wait     = perf_node_wait,
                                   .wait_arg = &client->node};
    size_t              count   = client->options->procs - 2;
    struct perf_child  *child;

    client->idle = tool_calloc(count, sizeof(*client->idle));
    while (client->idle_count < count) {
        child = &client->idle[client->idle_count];
        if (!perf_launch_child("idle", -1, -1, client->options->idle_tls,
                               child)) {
            return false;
        }
        client->idle_count++;
        control.fd = child->fd;
        if (!client_join_idle(client, &control)) {
            return false;
        }
    }
    return true;
}

static bool client_measure(struct perf_client *client)
{
    struct perf_report *report = &client->report;
    struct perf_row    *row;

    perf_print_begin(client->options, report);
    while (report->row_done < report->row_count) {
        row = &report->rows[report->row_done];
        perf_print_progress(report, row);
        if (!perf_row_measure(client, row)) {
            perf_print_progress(report, NULL);
            return false;
        }
        perf_print_progress(report, NULL);
        perf_print_row(client->options, report, row);
        report->row_done++;
    }
    if ((client->options->sleep != PERF_SLEEP_NEVER) &&
        !perf_rows_measure_idle(client)) {
        return false;
    }
    perf_print_end(client->options, report);
    return true;
}

/* Everybody closes at the same time, driving its worker meanwhile. */
static bool client_leave(struct perf_client *client)
{
    struct perf_control idle = {.fd = -1};
    bool                ok;
    size_t              i, size_bytes;

    for (i = 0; i < client->idle_count; i++) {
        idle.fd = client->idle[i].fd;
        (void)perf_control_send(&idle, PERF_MESSAGE_BYE, "", 0);
    }
    ok = perf_control_send(&client->control, PERF_MESSAGE_BYE, "", 0);
    perf_node_close_eps(&client->node);
    ok = ok &&
         perf_control_expect(&client->control, PERF_MESSAGE_BYE, client_bytes,
                             sizeof(client_bytes), &size_bytes) &&
         perf_control_send(&client->control, PERF_MESSAGE_BYE, "", 0);
    for (i = 0; i < client->idle_count; i++) {
        ok = perf_launch_wait(&client->idle[i], false) && ok;
        close(client->idle[i].fd);
    }
    perf_node_close(&client->node);
    return ok;
}

/* After a failure: the server says why, and has the last word. */
static void client_abandon(struct perf_client *client)
{
    close(client->control.fd);
    if (client->server.pid != 0) {
        (void)perf_launch_wait(&client->server, false);
    }
}

int perf_client_main(const struct perf_options *options)
{
    static struct perf_client client; /* zero; too large for a stack frame */
    bool                      ok;

    client.options     = options;
    client.limits_fd   = -1;
    client.report.seed = options->seed != 0 ? options->seed : tool_clock_ns();
    client.report.idle_cpu_percent = -1;
    perf_rows_plan(&client);
    client_report_library(&client.report);
    if (!client_reach_server(&client)) {
        return TOOL_EXIT_FAILED;
    }
    perf_watch_open(client.control.fd, options->timeout_seconds);
    ok = client_open(&client) && client_start_idle(&client) &&
         client_measure(&client) && client_leave(&client);
    if (!ok) {
        client_abandon(&client);
        return TOOL_EXIT_FAILED;
    }
    close(client.control.fd);
    if ((client.server.pid != 0) && !perf_launch_wait(&client.server, false)) {
        return TOOL_EXIT_FAILED;
    }
    free(client.report.rows);
    free(client.idle);
    return TOOL_EXIT_OK;
}
