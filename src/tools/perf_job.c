/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_job.c - check and do one side's half of a job. */
#include "tools/perf_node.h"
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <string.h>

enum perf_job_private {
    PERF_JOB_ITERATIONS_MAX = 1 << 30,
};

bool perf_job_is_valid(const struct perf_node *node, const struct perf_job *job)
{
    uint64_t needs_bytes = job->size_bytes;

    if ((job->kind >= PERF_JOB_KIND_COUNT) || (job->test >= PERF_TEST_COUNT) ||
        (job->size_bytes > PERF_SIZE_MAX) ||
        (job->iterations > PERF_JOB_ITERATIONS_MAX) || (job->window == 0) ||
        (job->window > PERF_WINDOW_MAX) ||
        (job->walk_bytes > node->buffer_bytes)) {
        return false;
    }
    if ((job->piece_count > PERF_PIECES_MAX) ||
        (job->gap_bytes > PERF_GAP_MAX)) {
        return false;
    }
    needs_bytes += job->piece_count * job->gap_bytes;
    if (job->kind == PERF_JOB_VERIFY) {
        needs_bytes = job->window * (job->size_bytes + PERF_CANARY_BYTES);
    }
    if (((job->kind == PERF_JOB_LINE) || (job->kind == PERF_JOB_RING)) &&
        (node->limits == NULL)) {
        return false;
    }
    if ((job->kind >= PERF_JOB_UDP_PING) &&
        ((node->sockets == NULL) || (job->size_bytes == 0))) {
        return false;
    }
    return needs_bytes <= node->buffer_bytes;
}

static bool job_do(struct perf_node *node, const struct perf_job *job,
                   bool first)
{
    ucs_status_t status;

    switch ((enum perf_job_kind)job->kind) {
    case PERF_JOB_VERIFY:
        return perf_verify_run(node, job, first);
    case PERF_JOB_LINE:
        perf_limits_line(node->limits, job->iterations, first);
        return true;
    case PERF_JOB_RING:
        perf_limits_ring(node->limits, job->iterations, first);
        return true;
    case PERF_JOB_UDP_PING:
    case PERF_JOB_TCP_PING:
    case PERF_JOB_UDP_STREAM:
    case PERF_JOB_UDP_SEGMENTS:
    case PERF_JOB_TCP_STREAM:
        perf_sockets_run(node, job, first);
        return true;
    case PERF_JOB_MEASURE:
    case PERF_JOB_IDLE:
    case PERF_JOB_KIND_COUNT:
        break;
    }
    status = perf_loop_run(node, job, first);
    if (status != UCS_OK) {
        snprintf(node->failure, sizeof(node->failure), "%s of %llu bytes: %s",
                 perf_test_title((enum perf_test)job->test),
                 (unsigned long long)job->size_bytes,
                 ucs_status_string(status));
    }
    return status == UCS_OK;
}

/* Does this side receive messages in a MEASURE job? */
static bool job_receives(const struct perf_job *job, bool first)
{
    return !first || (job->test == PERF_TEST_LATENCY) ||
           (job->test == PERF_TEST_SYNC);
}

bool perf_job_run(struct perf_node *node, const struct perf_job *job,
                  bool first, struct perf_result *result_p)
{
    bool check = (job->kind == PERF_JOB_MEASURE) && (job->check_buffers != 0) &&
                 (job->iterations > 0);
    uint64_t wall_ns, cpu_ns;

    if (check) {
        perf_pattern_fill(job, ~job->turn, first, node->send_buffer);
        memset(node->recv_buffer, 0, job->size_bytes);
    }
    if (job->piece_count > 0) {
        perf_pieces_make(node, job);
    }
    cpu_ns  = tool_cpu_ns();
    wall_ns = tool_clock_ns();
    if (!job_do(node, job, first)) {
        return false;
    }
    result_p->wall_ns = tool_clock_ns() - wall_ns;
    result_p->cpu_ns  = tool_cpu_ns() - cpu_ns;
    /* The measured loop leaves its last message in the buffer. */
    return !check || !job_receives(job, first) ||
           perf_pattern_check(node, job, ~job->turn, !first, node->recv_buffer);
}
