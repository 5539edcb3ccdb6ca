/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/explain.h - a selection in words: which protocol for which size,
 * what it costs, and why each other one lost.
 *
 *   tag send, standard, contiguous, host memory
 *     0..504      eager/immediate   0.31 us + 0.200 ns/B; inline, ...
 *         then rndv/pipeline_send the peer may not read our memory
 *         not eager/allocated    dearer by 0.06 us at 0 B, 0.11 us at 504 B
 *         not rndv/pipeline_send refused: ...
 *
 * It prints what ucp_select_all() found, and decides nothing itself. Lines are
 * for people, or JSON objects. Pure. */
#ifndef UCP_PROTO_EXPLAIN_H_
#define UCP_PROTO_EXPLAIN_H_

#include "ucp/proto/selection.h"
#include "ucs/strbuf.h"

enum {
    UCP_EXPLAIN_LINE_BYTES_MAX = 1024,
    /* Of data in pieces, where nobody says: a page. */
    UCP_EXPLAIN_PIECE_BYTES = 4096,
};

/* What can be explained.
 * name    as tools and users write it
 * title   how an explanation begins
 * protos  who may carry it, NULL at the end; NULL: libucp does not do it yet */
struct ucp_operation {
    const char                    *name;
    const char                    *title;
    const struct ucp_proto *const *protos;
};

/* Memory of the buffers.
 * remark  what the choice does not say, or NULL */
struct ucp_explain_memory {
    const char *name;
    const char *remark;
};

/* NULL as name at the end. */
extern const struct ucp_operation      ucp_operations[];
extern const struct ucp_explain_memory ucp_explain_memories[];

/* What is wanted, and who gets it.
 * line   called with each line, without newline, lent for the call
 * arg    for line
 * json   one object a line
 * operation, memory  rows of their tables
 * mode, dt_kind  only these; negative: all
 * recv_class  the receiver's datatype, negative: not said
 * ep     whose messages these are, or NULL: what the peer allows and refused
 * piece_bytes  of data in pieces, on average
 * bytes  only this size, with has_bytes
 * title  only operations whose title this pattern (glob) matches; NULL: all
 * text   the line that is being made */
struct ucp_explain {
    void (*line)(void *arg, const char *text);
    void                            *arg;
    bool                             json;
    int                              mode;
    int                              dt_kind;
    int                              recv_class;
    const struct ucp_operation      *operation;
    const struct ucp_explain_memory *memory;
    const struct ucp_ep             *ep;
    size_t                           piece_bytes;
    bool                             has_bytes;
    size_t                           bytes;
    const char                      *title;
    struct ucs_strbuf                text;
    char                             text_bytes[UCP_EXPLAIN_LINE_BYTES_MAX];
};

/* Names of modes and kinds of data, as tools and patterns use them, NULL at
 * the end. */
extern const char *const ucp_mode_names[];
extern const char *const ucp_dt_kind_names[];

/* Explain everything about lines, for all that is wanted. */
static inline void ucp_explain_init(struct ucp_explain *explain,
                                    void (*line)(void *arg, const char *text),
                                    void *arg)
{
    *explain = (struct ucp_explain){
        .line       = line,
        .arg        = arg,
        .mode       = -1,
        .dt_kind    = -1,
        .recv_class = -1,
        .operation  = &ucp_operations[0],
        .memory     = &ucp_explain_memories[0],

        .piece_bytes = UCP_EXPLAIN_PIECE_BYTES,
    };
}

/* Begin a line, and hand it over. With json: begin an object of that kind. */
void ucp_explain_begin(struct ucp_explain *explain, const char *record);
void ucp_explain_end(struct ucp_explain *explain);

/* Explain one selection. */
void ucp_explain_query(struct ucp_explain            *explain,
                       const struct ucp_proto *const *protos,
                       const struct ucp_query        *query);

/* The same for every mode and datatype that is wanted, those of base are set
 * here; when all are, the same answer is written once. */
void ucp_explain_queries(struct ucp_explain            *explain,
                         const struct ucp_proto *const *protos,
                         const struct ucp_query        *base);

#endif
