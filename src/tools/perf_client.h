/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_client.h - the process that leads a measurement. */
#ifndef CAUSEWAY_TOOL_PERF_CLIENT_H_
#define CAUSEWAY_TOOL_PERF_CLIENT_H_

#include "tools/perf_launch.h"
#include "tools/perf_node.h"

/* limits_fd  -1: none
 * raw_ns     of a byte of the last stream over bare sockets; 0: none */
struct perf_client {
    const struct perf_options *options;
    struct perf_report         report;
    struct perf_node           node;
    struct perf_control        control;
    struct perf_child          server; /* pid 0: somewhere else */
    struct perf_child         *idle;   /* [idle_count] */
    size_t                     idle_count;
    int                        limits_fd;
    double                     raw_ns[PERF_RAW_COUNT];
    size_t                     server_address_bytes;
    uint8_t                    server_address[PERF_CONTROL_BYTES_MAX];
};

/* perf_client.c: do one job on both sides.
 * @param theirs what the server measured; may be NULL */
bool perf_client_job(struct perf_client *client, const struct perf_job *job,
                     struct perf_result *mine, struct perf_result *theirs);

/* perf_rows.c: fill report.rows from the options; measure one of them. */
void perf_rows_plan(struct perf_client *client);
bool perf_row_measure(struct perf_client *client, struct perf_row *row);
/* The buffer that the largest row needs. */
uint64_t perf_rows_buffer_bytes(const struct perf_client *client);
bool     perf_rows_measure_idle(struct perf_client *client);

#endif
