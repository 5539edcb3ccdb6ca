/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_pieces.c - a message in pieces: each as long as the next, but for
 * the rest, which the first ones share; a gap behind each. */
#include "tools/perf_node.h"
#include "tools/tool.h"

#include <stdlib.h>

static ucp_dt_iov_t *pieces_of(const struct perf_job *job, uint8_t *buffer)
{
    ucp_dt_iov_t *pieces = tool_calloc(job->piece_count, sizeof(*pieces));
    uint64_t      each   = job->size_bytes / job->piece_count;
    uint64_t      rest   = job->size_bytes % job->piece_count;

    for (uint64_t i = 0; i < job->piece_count; i++) {
        pieces[i].buffer = buffer;
        pieces[i].length = each + (i < rest ? 1 : 0);
        buffer += pieces[i].length + job->gap_bytes;
    }
    return pieces;
}

void perf_pieces_make(struct perf_node *node, const struct perf_job *job)
{
    free(node->send_pieces);
    free(node->recv_pieces);
    node->send_pieces = pieces_of(job, node->send_buffer);
    node->recv_pieces = pieces_of(job, node->recv_buffer);
}
