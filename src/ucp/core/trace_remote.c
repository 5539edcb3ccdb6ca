/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_remote.c - operations on remote memory, and flush, while a
 * trace is written: see trace_lane.c. */
#include "ucp/core/trace_lane.h"

static ucs_status_t trace_put_short(struct uct_ep *lane, const void *buffer,
                                    size_t length, uint64_t remote_address,
                                    const struct uct_rkey *rkey, unsigned flags)
{
    struct ucp_trace_op op;
    ucs_status_t        status;

    ucp_trace_op_begin(&op, lane, "put_short");
    op.event.bytes = length;
    status =
        op.real->put_short(lane, buffer, length, remote_address, rkey, flags);
    ucp_trace_op_end(&op, status);
    return status;
}

static ssize_t trace_put_bcopy(struct uct_ep *lane, uct_pack_fn pack, void *arg,
                               size_t length_max, uint64_t remote_address,
                               const struct uct_rkey *rkey, unsigned flags)
{
    struct ucp_trace_op op;
    ssize_t             packed;

    ucp_trace_op_begin(&op, lane, "put_bcopy");
    packed = op.real->put_bcopy(lane, pack, arg, length_max, remote_address,
                                rkey, flags);
    op.event.bytes = (packed < 0) ? 0 : (size_t)packed;
    ucp_trace_op_end(&op, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return packed;
}

static ucs_status_t trace_put_zcopy(struct uct_ep        *lane,
                                    const struct uct_rma *rma,
                                    struct uct_req *req, unsigned flags)
{
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    ucp_trace_op_begin(&op, lane, "put_zcopy");
    op.event.bytes = ucp_trace_iov_bytes(rma->iov, rma->iov_count);
    req            = ucp_trace_flight_get(&op, req, &flight);
    status         = op.real->put_zcopy(lane, rma, req, flags);
    ucp_trace_op_end(&op, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

static ucs_status_t trace_get_bcopy(struct uct_ep *lane, void *buffer,
                                    size_t length, uint64_t remote_address,
                                    const struct uct_rkey *rkey,
                                    struct uct_req *req, unsigned flags)
{
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    ucp_trace_op_begin(&op, lane, "get_bcopy");
    op.event.bytes = length;
    req            = ucp_trace_flight_get(&op, req, &flight);
    status = op.real->get_bcopy(lane, buffer, length, remote_address, rkey, req,
                                flags);
    ucp_trace_op_end(&op, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

static ucs_status_t trace_get_zcopy(struct uct_ep        *lane,
                                    const struct uct_rma *rma,
                                    struct uct_req *req, unsigned flags)
{
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    ucp_trace_op_begin(&op, lane, "get_zcopy");
    op.event.bytes = ucp_trace_iov_bytes(rma->iov, rma->iov_count);
    req            = ucp_trace_flight_get(&op, req, &flight);
    status         = op.real->get_zcopy(lane, rma, req, flags);
    ucp_trace_op_end(&op, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

static ucs_status_t trace_atomic(struct uct_ep           *lane,
                                 const struct uct_atomic *atomic,
                                 uint64_t                 remote_address,
                                 const struct uct_rkey   *rkey,
                                 struct uct_req *req, unsigned flags)
{
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    ucp_trace_op_begin(&op, lane, "atomic");
    op.event.bytes = atomic->size_bytes;
    req            = ucp_trace_flight_get(&op, req, &flight);
    status = op.real->atomic(lane, atomic, remote_address, rkey, req, flags);
    ucp_trace_op_end(&op, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

static ucs_status_t trace_ep_flush(struct uct_ep *lane, struct uct_req *req,
                                   unsigned flags)
{
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    ucp_trace_op_begin(&op, lane, "flush");
    req    = ucp_trace_flight_get(&op, req, &flight);
    status = op.real->ep_flush(lane, req, flags);
    ucp_trace_op_end(&op, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

void ucp_trace_remote_init(struct uct_transport       *traced,
                           const struct uct_transport *real)
{
    traced->put_short = (real->put_short == NULL) ? NULL : trace_put_short;
    traced->put_bcopy = (real->put_bcopy == NULL) ? NULL : trace_put_bcopy;
    traced->put_zcopy = (real->put_zcopy == NULL) ? NULL : trace_put_zcopy;
    traced->get_bcopy = (real->get_bcopy == NULL) ? NULL : trace_get_bcopy;
    traced->get_zcopy = (real->get_zcopy == NULL) ? NULL : trace_get_zcopy;
    traced->atomic    = (real->atomic == NULL) ? NULL : trace_atomic;
    traced->ep_flush  = (real->ep_flush == NULL) ? NULL : trace_ep_flush;
}
