/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_node.h - the UCP objects of one process, and its jobs. */
#ifndef CAUSEWAY_TOOL_PERF_NODE_H_
#define CAUSEWAY_TOOL_PERF_NODE_H_

#include "tools/perf.h"
#include "tools/perf_control.h"

#include <ucp/api/ucp.h>

struct perf_limits_area;
struct perf_sockets;

struct perf_node {
    ucp_context_h   context;
    ucp_worker_h    worker;
    ucp_ep_h        ep;       /* to the other measuring process */
    ucp_ep_h       *more_eps; /* to idle processes */
    size_t          more_count;
    ucp_address_t  *address;
    size_t          address_bytes;
    enum perf_sleep sleep;
    int             event_fd; /* -1 without sleep */
    uint8_t        *send_buffer;
    uint8_t        *recv_buffer;
    size_t          buffer_bytes; /* of each */
    ucp_dt_iov_t   *send_pieces;  /* of the job, in the buffers */
    ucp_dt_iov_t   *recv_pieces;
    void           *request_memory; /* holds recv_request */
    void *recv_request; /* the caller-owned request of latency loops */
    struct perf_limits_area *limits;  /* shared memory; NULL: no raw limits */
    struct perf_sockets     *sockets; /* NULL: none */
    char failure[PERF_CONTROL_TEXT_MAX]; /* why a job failed */
};

/* Open everything. All functions here print their errors.
 * @return false, and *node needs no close. */
bool perf_node_open(struct perf_node *node, const struct perf_hello *hello);
/* Connect with a worker address that came over the control socket. */
bool perf_node_connect(struct perf_node *node, const void *address,
                       size_t address_bytes, ucp_ep_h *ep_p);
/* One more endpoint, which the node closes; and a message each way. */
bool perf_node_join(struct perf_node *node, const void *address,
                    size_t address_bytes);
/* Send 8 bytes on ep and wait for 8 from anyone. */
bool perf_node_greet(struct perf_node *node, ucp_ep_h ep);
/* Close all endpoints, driving the worker, at most a few seconds. */
void perf_node_close_eps(struct perf_node *node);
void perf_node_close(struct perf_node *node);

/* Sleep until the worker has something to do. */
void perf_node_sleep(struct perf_node *node);
/* A perf_control_wait_fn. */
void perf_node_wait(void *node);

/* Is the job one that this node can do? Jobs come over the network. */
bool perf_job_is_valid(const struct perf_node *node,
                       const struct perf_job  *job);
/* Do this side's half. @param first this side is the client.
 * @return false with node->failure written. */
bool perf_job_run(struct perf_node *node, const struct perf_job *job,
                  bool first, struct perf_result *result_p);

/* perf_loops.c, perf_verify.c: one half each; a job was checked before. */
ucs_status_t perf_loop_run(struct perf_node *node, const struct perf_job *job,
                           bool first);
bool         perf_verify_run(struct perf_node *node, const struct perf_job *job,
                             bool first);
/* How many checked messages may be under way at once. */
uint64_t perf_verify_window(uint64_t size_bytes, uint64_t window);
/* How large both buffers must be to send and check this row. */
uint64_t perf_verify_buffer_bytes(uint64_t size_bytes, uint64_t window);
/* The pattern of one message. @param message its number in a VERIFY job; the
 * complement of the turn for what a MEASURE job sends all the time
 * @param first made by the client */
void perf_pattern_fill(const struct perf_job *job, uint64_t message, bool first,
                       uint8_t *data);
/* @return true, or false with what differs in node->failure. */
bool perf_pattern_check(struct perf_node *node, const struct perf_job *job,
                        uint64_t message, bool first, const uint8_t *data);

/* perf_pieces.c: make the pieces of a job with piece_count > 0. */
void perf_pieces_make(struct perf_node *node, const struct perf_job *job);

/* perf_limits.c */
struct perf_limits_area *perf_limits_map(int fd);
int                      perf_limits_create_fd(void);
void perf_limits_line(struct perf_limits_area *area, uint64_t iterations,
                      bool first);
void perf_limits_ring(struct perf_limits_area *area, uint64_t iterations,
                      bool first);
/* Nanoseconds for one copy of size_bytes between the node's buffers. */
double perf_limits_copy_ns(struct perf_node *node, uint64_t size_bytes);

#endif
