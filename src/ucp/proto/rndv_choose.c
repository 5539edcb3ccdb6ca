/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv_choose.c - which rendezvous the settings allow, and what is
 * left when an endpoint cannot do it. */
#include "ucp/proto/rndv.h"

#include "ucp/core/trace.h"
#include "ucp/core/worker.h"
#include "ucp/proto/eager.h"

bool ucp_rndv_bytes_first(const struct ucp_query *query, size_t *first_p)
{
    size_t threshold = ucp_rndv_threshold(query);

    if ((query->mode == UCP_MODE_SYNC) || (threshold == UCS_UNITS_AUTO)) {
        threshold = 0;
    }
    *first_p = threshold;
    return threshold != SIZE_MAX;
}

const struct ucp_proto *ucp_rndv_proto_of(uint8_t kind)
{
    for (const struct ucp_proto *const *proto = ucp_protos; *proto != NULL;
         ++proto) {
        if (((*proto)->answer != NULL) && ((*proto)->kind == kind)) {
            return *proto;
        }
    }
    return NULL;
}

/* The kind that a scheme asks for; UCP_RNDV_KIND_COUNT: any. */
static enum ucp_rndv_kind rndv_scheme_kind(int scheme)
{
    switch ((enum ucp_rndv_scheme)scheme) {
    case UCP_RNDV_SCHEME_PUT:
        return UCP_RNDV_PUT;
    case UCP_RNDV_SCHEME_GET:
    case UCP_RNDV_SCHEME_GET_PIPELINE:
    case UCP_RNDV_SCHEME_RKEY_PTR:
        return UCP_RNDV_GET;
    case UCP_RNDV_SCHEME_PIPELINE:
        return UCP_RNDV_PIPELINE;
    case UCP_RNDV_SCHEME_SEND:
        return UCP_RNDV_SEND;
    case UCP_RNDV_SCHEME_SHARED:
        return UCP_RNDV_SHARED;
    case UCP_RNDV_SCHEME_AUTO:
        break;
    }
    return UCP_RNDV_KIND_COUNT;
}

bool ucp_rndv_is_wanted(const struct ucp_query *query, enum ucp_rndv_kind kind)
{
    enum ucp_rndv_kind wanted = rndv_scheme_kind(query->scheme);

    return (wanted == UCP_RNDV_KIND_COUNT) || (wanted == kind);
}

const struct ucp_proto *ucp_rndv_scheme_proto(int scheme)
{
    enum ucp_rndv_kind kind = rndv_scheme_kind(scheme);

    return (kind == UCP_RNDV_SEND) ? &ucp_pipeline_send_proto
                                   : ucp_rndv_proto_of((uint8_t)kind);
}

const struct ucp_proto *ucp_rndv_settle_scheme(struct ucp_query *query,
                                               struct ucp_offer *offer_p)
{
    const struct ucp_proto *proto = ucp_rndv_scheme_proto(query->scheme);

    offer_p->reason = "no reason";
    if ((proto == NULL) || (proto->offer(query, offer_p) == UCS_OK)) {
        return NULL;
    }
    query->scheme = UCP_RNDV_SCHEME_AUTO;
    return proto;
}

ucs_status_t ucp_rndv_fall_back(struct ucp_request *req)
{
    ucp_worker_count(req->worker, UCP_COUNT_FALL_BACK, 1);
    ucp_trace_change(req, &ucp_pipeline_send_proto);
    return ucp_trace_step(req);
}
