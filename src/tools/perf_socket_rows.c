/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_socket_rows.c - which bare sockets a row is compared with, and one
 * short trial of each: some milliseconds on a fast network. */
#include "tools/perf_client.h"
#include "tools/perf_sockets.h"

enum perf_socket_rows_private {
    SOCKET_ROWS_DATAGRAM_MAX   = 65507,
    SOCKET_ROWS_PING_BYTES     = 16 << 20, /* and at most so many turns: */
    SOCKET_ROWS_PINGS          = 1000,
    SOCKET_ROWS_STREAM_BYTES   = 16 << 20,
    SOCKET_ROWS_PACKETS        = 4000, /* that are sent one by one */
    SOCKET_ROWS_STREAM_PACKETS = 20000,
    SOCKET_ROWS_STREAM_NS      = 50000000, /* on a slow network, less */
    SOCKET_ROWS_PROBE_BYTES    = 64 << 10, /* tells how slow */
};

static uint64_t rows_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How often, so that a trial is short and long enough.
 * @param byte_ns  What a byte of the last stream took; 0: there was none. */
static uint64_t rows_iterations(enum perf_job_kind kind, uint64_t size_bytes,
                                double byte_ns)
{
    bool     ping  = (kind == PERF_JOB_UDP_PING) || (kind == PERF_JOB_TCP_PING);
    uint64_t bytes = ping ? SOCKET_ROWS_PING_BYTES : SOCKET_ROWS_STREAM_BYTES;
    uint64_t most  = ping ? SOCKET_ROWS_PINGS : SOCKET_ROWS_STREAM_PACKETS;
    uint64_t count;

    if (kind == PERF_JOB_UDP_STREAM) {
        bytes = (uint64_t)SOCKET_ROWS_PACKETS * PERF_SOCKETS_PACKET_BYTES;
        most  = SOCKET_ROWS_PACKETS;
    }
    if (!ping) {
        bytes = rows_least(
            bytes, (byte_ns > 0) ? (uint64_t)(SOCKET_ROWS_STREAM_NS / byte_ns)
                                 : SOCKET_ROWS_PROBE_BYTES);
    }
    count = rows_least(bytes / size_bytes, most);
    return count > 0 ? count : 1;
}

/* @return false: the peer failed. 0 in *byte_ns_p: nothing arrived. */
static bool rows_trial(struct perf_client *client, const struct perf_row *row,
                       enum perf_job_kind kind, double *byte_ns_p)
{
    const struct perf_sockets *sockets = client->node.sockets;
    struct perf_job            job     = {.kind       = kind,
                                          .test       = row->test,
                                          .size_bytes = row->size_bytes,
                                          .window     = 1};
    struct perf_result         mine;

    job.iterations = rows_iterations(kind, row->size_bytes, *byte_ns_p);
    if (!perf_client_job(client, &job, &mine, NULL)) {
        return false;
    }
    *byte_ns_p = 0;
    if ((sockets->tcp >= 0) && (sockets->arrived_bytes > 0)) {
        *byte_ns_p =
            ((double)mine.wall_ns + 1) / (double)sockets->arrived_bytes;
    }
    return true;
}

/* Half of a round trip in us. */
static bool rows_ping(struct perf_client *client, const struct perf_row *row,
                      enum perf_job_kind kind, double *value_p)
{
    double byte_ns = 0;
    bool   ok      = rows_trial(client, row, kind, &byte_ns);

    *value_p = byte_ns * (double)row->size_bytes / 2 / 1e3;
    return ok;
}

/* MB/s. */
static bool rows_stream(struct perf_client *client, const struct perf_row *row,
                        enum perf_job_kind kind, enum perf_raw raw,
                        double *values)
{
    double *byte_ns_p = &client->raw_ns[raw];
    bool    ok = (*byte_ns_p > 0) || rows_trial(client, row, kind, byte_ns_p);

    ok          = ok && rows_trial(client, row, kind, byte_ns_p);
    values[raw] = (*byte_ns_p > 0) ? 1e3 / *byte_ns_p : 0;
    return ok;
}

bool perf_socket_rows_trial(struct perf_client    *client,
                            const struct perf_row *row, double *values)
{
    if ((client->node.sockets == NULL) || (row->size_bytes == 0) ||
        (row->test == PERF_TEST_RATE)) {
        return true;
    }
    if (row->test != PERF_TEST_BANDWIDTH) {
        return ((row->size_bytes > SOCKET_ROWS_DATAGRAM_MAX) ||
                rows_ping(client, row, PERF_JOB_UDP_PING,
                          &values[PERF_RAW_UDP])) &&
               rows_ping(client, row, PERF_JOB_TCP_PING, &values[PERF_RAW_TCP]);
    }
    return rows_stream(client, row, PERF_JOB_UDP_STREAM, PERF_RAW_UDP,
                       values) &&
           ((row->size_bytes <= PERF_SOCKETS_PACKET_BYTES) ||
            rows_stream(client, row, PERF_JOB_UDP_SEGMENTS, PERF_RAW_SEGMENTS,
                        values)) &&
           rows_stream(client, row, PERF_JOB_TCP_STREAM, PERF_RAW_TCP, values);
}
