/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_socket_rows.c - which bare sockets a row is compared with, and one
 * short trial of each, of a few milliseconds. */
#include "tools/perf_client.h"
#include "tools/perf_sockets.h"

enum perf_socket_rows_private {
    SOCKET_ROWS_DATAGRAM_MAX   = 65507,
    SOCKET_ROWS_PING_BYTES     = 16 << 20, /* and at most so many turns: */
    SOCKET_ROWS_PINGS          = 1000,
    SOCKET_ROWS_STREAM_BYTES   = 16 << 20,
    SOCKET_ROWS_PACKETS        = 4000, /* that are sent one by one */
    SOCKET_ROWS_STREAM_PACKETS = 20000,
};

static uint64_t rows_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How often, so that a trial is short and long enough. */
static uint64_t rows_iterations(enum perf_job_kind kind, uint64_t size_bytes)
{
    bool     ping  = (kind == PERF_JOB_UDP_PING) || (kind == PERF_JOB_TCP_PING);
    uint64_t bytes = ping ? SOCKET_ROWS_PING_BYTES : SOCKET_ROWS_STREAM_BYTES;
    uint64_t most  = ping ? SOCKET_ROWS_PINGS : SOCKET_ROWS_STREAM_PACKETS;
    uint64_t count;

    if (kind == PERF_JOB_UDP_STREAM) {
        bytes = (uint64_t)SOCKET_ROWS_PACKETS * PERF_SOCKETS_PACKET_BYTES;
        most  = SOCKET_ROWS_PACKETS;
    }
    count = rows_least(bytes / size_bytes, most);
    return count > 0 ? count : 1;
}

/* @return false: the peer failed. 0 in *value_p: no sockets here. */
static bool rows_trial(struct perf_client *client, const struct perf_row *row,
                       enum perf_job_kind kind, double *value_p)
{
    struct perf_job             job = {.kind       = kind,
                                       .test       = row->test,
                                       .size_bytes = row->size_bytes,
                                       .iterations = rows_iterations(kind, row->size_bytes),
                                       .window = 1};
    struct perf_sockets_shared *shared =
        perf_limits_sockets(client->node.limits);
    struct perf_result mine;
    double             each_ns;

    if (!perf_client_job(client, &job, &mine, NULL)) {
        return false;
    }
    if (atomic_load_explicit(&shared->failed, memory_order_acquire) == 0) {
        each_ns  = ((double)mine.wall_ns + 1) / (double)job.iterations;
        *value_p = (row->test == PERF_TEST_BANDWIDTH)
                       ? (double)row->size_bytes * 1e3 / each_ns
                       : each_ns / 2 / 1e3;
    }
    return true;
}

bool perf_socket_rows_trial(struct perf_client    *client,
                            const struct perf_row *row, double *values)
{
    bool stream = (row->test == PERF_TEST_BANDWIDTH);

    if ((row->size_bytes == 0) || (row->test == PERF_TEST_RATE)) {
        return true;
    }
    if ((stream || (row->size_bytes <= SOCKET_ROWS_DATAGRAM_MAX)) &&
        !rows_trial(client, row,
                    stream ? PERF_JOB_UDP_STREAM : PERF_JOB_UDP_PING,
                    &values[PERF_RAW_UDP])) {
        return false;
    }
    if (stream && (row->size_bytes > PERF_SOCKETS_PACKET_BYTES) &&
        !rows_trial(client, row, PERF_JOB_UDP_SEGMENTS,
                    &values[PERF_RAW_SEGMENTS])) {
        return false;
    }
    return rows_trial(client, row,
                      stream ? PERF_JOB_TCP_STREAM : PERF_JOB_TCP_PING,
                      &values[PERF_RAW_TCP]);
}
