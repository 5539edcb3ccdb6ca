/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_loops.c - the measured loops.
 *
 * 8 bytes take about 100 ns, so a loop holds nothing but the calls under
 * test: parameters are prepared before it, the clock is read outside, and
 * every choice (first or second, synchronous, asleep) is a constant of an
 * inlined body, so that the compiler makes one loop for each. */
#include "tools/perf_node.h"
#include "tools/tool.h"

#include <time.h>

enum perf_loop_tag {
    PERF_TAG_DATA = 1,
    PERF_TAG_END  = 2, /* the receiver has everything */
};

#define PERF_INLINE               static inline __attribute__((always_inline))
#define perf_unlikely(_condition) __builtin_expect(!!(_condition), 0)

/* The state of a stream; callbacks reach it by user_data. */
struct perf_stream {
    struct perf_node *node;
    uint64_t          pending; /* posted, not done */
    uint64_t          done;
    ucs_status_t      status; /* first error */
};

PERF_INLINE void loop_progress(struct perf_node *node, const bool asleep)
{
    if ((ucp_worker_progress(node->worker) == 0) && asleep) {
        perf_node_sleep(node);
    }
}

/* Wait for a request that the caller owns. */
PERF_INLINE ucs_status_t loop_await(struct perf_node *node,
                                    ucs_status_ptr_t request, const bool asleep)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        loop_progress(node, asleep);
    }
    return status;
}

/* Wait for a request that the library owns. */
PERF_INLINE ucs_status_t loop_finish(struct perf_node *node,
                                     ucs_status_ptr_t  request,
                                     const bool        asleep)
{
    ucs_status_t status = loop_await(node, request, asleep);

    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
    return status;
}

/* What a call is told of a message that begins at the buffers' beginning. */
struct perf_message_ends {
    const uint8_t *out;
    uint8_t       *in;
    size_t         count;
    uint32_t       mask;
    ucp_datatype_t datatype;
};

static struct perf_message_ends loop_ends(const struct perf_node *node,
                                          const struct perf_job  *job)
{
    if (job->piece_count > 0) {
        return (struct perf_message_ends){
            (const uint8_t *)node->send_pieces, (uint8_t *)node->recv_pieces,
            job->piece_count, UCP_OP_ATTR_FIELD_DATATYPE, UCP_DATATYPE_IOV};
    }
    return (struct perf_message_ends){.out   = node->send_buffer,
                                      .in    = node->recv_buffer,
                                      .count = job->size_bytes};
}

/* Where the next message lies in the buffers: always at the beginning, or one
 * behind the other, each in pages of its own. */
struct perf_walk {
    uint64_t offset;
    uint64_t step;
    uint64_t last;
};

PERF_INLINE struct perf_walk walk_begin(const struct perf_job *job)
{
    struct perf_walk walk = {.step =
                                 (job->size_bytes + 4095) & ~UINT64_C(4095)};

    walk.last = (job->walk_bytes > job->size_bytes)
                    ? job->walk_bytes - job->size_bytes
                    : 0;
    return walk;
}

PERF_INLINE uint64_t walk_next(struct perf_walk *walk, const bool walks)
{
    uint64_t offset = walk->offset;

    if (walks) {
        walk->offset =
            (offset + walk->step > walk->last) ? 0 : offset + walk->step;
    }
    return offset;
}

PERF_INLINE ucs_status_ptr_t loop_send(struct perf_node               *node,
                                       const struct perf_message_ends *ends,
                                       const ucp_request_param_t      *param,
                                       uint64_t offset, const bool sync)
{
    return sync ? ucp_tag_send_sync_nbx(node->ep, ends->out + offset,
                                        ends->count, PERF_TAG_DATA, param)
                : ucp_tag_send_nbx(node->ep, ends->out + offset, ends->count,
                                   PERF_TAG_DATA, param);
}

/* One side of the ping-pong. The first sends, then posts its receive while
 * the message travels; the second's receive waits already. */
PERF_INLINE ucs_status_t loop_pingpong(struct perf_node      *node,
                                       const struct perf_job *job,
                                       const bool first, const bool sync,
                                       const bool asleep, const bool walks)
{
    const struct perf_message_ends ends = loop_ends(node, job);

    struct perf_walk    walk = walk_begin(job);
    uint64_t            offset;
    ucp_request_param_t send = {.op_attr_mask = ends.mask,
                                .datatype     = ends.datatype};
    ucp_request_param_t recv = {.op_attr_mask =
                                    ends.mask | UCP_OP_ATTR_FIELD_REQUEST,
                                .datatype = ends.datatype,
                                .request  = node->recv_request};
    ucs_status_ptr_t    sent = NULL;
    ucs_status_ptr_t    received;
    ucs_status_t        status;
    uint64_t            left;

    for (left = job->iterations; left > 0; left--) {
        offset = walk_next(&walk, walks);
        if (first) {
            sent = loop_send(node, &ends, &send, offset, sync);
            if (perf_unlikely(UCS_PTR_IS_ERR(sent))) {
                return UCS_PTR_STATUS(sent);
            }
        }
        received = ucp_tag_recv_nbx(node->worker, ends.in + offset, ends.count,
                                    PERF_TAG_DATA, UINT64_MAX, &recv);
        status   = loop_await(node, received, asleep);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (!first) {
            sent = loop_send(node, &ends, &send, offset, sync);
        }
        status = loop_finish(node, sent, asleep);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

static void stream_note(struct perf_stream *stream, ucs_status_t status)
{
    stream->pending--;
    stream->done++;
    if (perf_unlikely(status != UCS_OK) && (stream->status == UCS_OK)) {
        stream->status = status;
    }
}

static void stream_sent(void *request, ucs_status_t status, void *arg)
{
    stream_note(arg, status);
    ucp_request_free(request);
}

static void stream_received(void *request, ucs_status_t status,
                            const ucp_tag_recv_info_t *info, void *arg)
{
    (void)info;
    stream_note(arg, status);
    ucp_request_free(request);
}

/* Count one posted operation. */
PERF_INLINE void stream_post(struct perf_stream *stream,
                             ucs_status_ptr_t    request)
{
    if (request == NULL) {
        stream->done++;
    } else if (perf_unlikely(UCS_PTR_IS_ERR(request))) {
        stream->done++;
        stream->status = UCS_PTR_STATUS(request);
    } else {
        stream->pending++;
    }
}

/* Send all, at most window at a time, then wait for the receiver's word. */
PERF_INLINE ucs_status_t loop_stream_out(struct perf_node      *node,
                                         const struct perf_job *job,
                                         const bool asleep, const bool walks)
{
    const struct perf_message_ends ends = loop_ends(node, job);

    struct perf_walk    walk   = walk_begin(job);
    struct perf_stream  stream = {.node = node, .status = UCS_OK};
    ucp_request_param_t param  = {.op_attr_mask = ends.mask |
                                                  UCP_OP_ATTR_FIELD_CALLBACK |
                                                  UCP_OP_ATTR_FIELD_USER_DATA,
                                  .datatype  = ends.datatype,
                                  .cb.send   = stream_sent,
                                  .user_data = &stream};
    ucp_request_param_t plain  = {.op_attr_mask = 0};
    uint64_t            left;

    for (left = job->iterations; left > 0; left--) {
        while (perf_unlikely(stream.pending >= job->window)) {
            loop_progress(node, asleep);
        }
        stream_post(&stream, loop_send(node, &ends, &param,
                                       walk_next(&walk, walks), false));
    }
    while (stream.pending > 0) {
        loop_progress(node, asleep);
    }
    if (stream.status != UCS_OK) {
        return stream.status;
    }
    return loop_finish(node,
                       ucp_tag_recv_nbx(node->worker, NULL, 0, PERF_TAG_END,
                                        UINT64_MAX, &plain),
                       asleep);
}

/* Keep a window of receives posted until all have come. */
PERF_INLINE ucs_status_t loop_stream_in(struct perf_node      *node,
                                        const struct perf_job *job,
                                        const bool asleep, const bool walks)
{
    const struct perf_message_ends ends = loop_ends(node, job);

    struct perf_walk    walk   = walk_begin(job);
    struct perf_stream  stream = {.node = node, .status = UCS_OK};
    ucp_request_param_t param  = {.op_attr_mask = ends.mask |
                                                  UCP_OP_ATTR_FIELD_CALLBACK |
                                                  UCP_OP_ATTR_FIELD_USER_DATA,
                                  .datatype  = ends.datatype,
                                  .cb.recv   = stream_received,
                                  .user_data = &stream};
    ucp_request_param_t plain  = {.op_attr_mask = 0};
    uint64_t            left   = job->iterations;

    while (stream.done < job->iterations) {
        while ((left > 0) && (stream.pending < job->window)) {
            stream_post(&stream,
                        ucp_tag_recv_nbx(
                            node->worker, ends.in + walk_next(&walk, walks),
                            ends.count, PERF_TAG_DATA, UINT64_MAX, &param));
            left--;
        }
        if (stream.pending > 0) {
            loop_progress(node, asleep);
        }
    }
    if (stream.status != UCS_OK) {
        return stream.status;
    }
    return loop_finish(
        node, ucp_tag_send_nbx(node->ep, NULL, 0, PERF_TAG_END, &plain),
        asleep);
}

/* The server waits for a message that comes late; what it used of a
 * processor meanwhile is the result. */
static ucs_status_t loop_idle(struct perf_node      *node,
                              const struct perf_job *job, bool first)
{
    ucp_request_param_t plain  = {.op_attr_mask = 0};
    struct timespec     late   = {.tv_nsec = 500000000};
    bool                asleep = node->sleep != PERF_SLEEP_NEVER;

    (void)job;
    if (first) {
        nanosleep(&late, NULL);
        return loop_finish(
            node, ucp_tag_send_nbx(node->ep, NULL, 0, PERF_TAG_END, &plain),
            asleep);
    }
    return loop_finish(node,
                       ucp_tag_recv_nbx(node->worker, NULL, 0, PERF_TAG_END,
                                        UINT64_MAX, &plain),
                       asleep);
}

/* Split the constants until none is left. */
PERF_INLINE ucs_status_t loop_measure(struct perf_node      *node,
                                      const struct perf_job *job,
                                      const bool first, const bool asleep,
                                      const bool walks)
{
    switch ((enum perf_test)job->test) {
    case PERF_TEST_LATENCY:
        return loop_pingpong(node, job, first, false, asleep, walks);
    case PERF_TEST_SYNC:
        return loop_pingpong(node, job, first, true, asleep, walks);
    case PERF_TEST_BANDWIDTH:
    case PERF_TEST_RATE:
        return first ? loop_stream_out(node, job, asleep, walks)
                     : loop_stream_in(node, job, asleep, walks);
    case PERF_TEST_COUNT:
        break;
    }
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t perf_loop_run(struct perf_node *node, const struct perf_job *job,
                           bool first)
{
    if (job->kind == PERF_JOB_IDLE) {
        return loop_idle(node, job, first);
    }
    if (job->walk_bytes > 0) {
        return loop_measure(node, job, first, node->sleep != PERF_SLEEP_NEVER,
                            true);
    }
    if (node->sleep != PERF_SLEEP_NEVER) {
        return first ? loop_measure(node, job, true, true, false)
                     : loop_measure(node, job, false, true, false);
    }
    return first ? loop_measure(node, job, true, false, false)
                 : loop_measure(node, job, false, false, false);
}
