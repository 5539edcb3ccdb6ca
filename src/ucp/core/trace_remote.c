/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_remote.c - operations on remote memory, and flush, while a
 * trace is written: see trace_lane.c. */
#include "ucp/core/trace_lane.h"

/* One operation from its call to its answer, and to its completion if the
 * transport goes on with it alone. */
struct trace_remote {
    struct ucp_trace_op      op;
    struct ucp_trace_flight *flight;
};

/* @return what to pass to the transport instead of req. */
static struct uct_req *remote_begin(struct trace_remote *remote,
                                    struct uct_ep *lane, const char *name,
                                    size_t bytes, struct uct_req *req)
{
    ucp_trace_op_begin(&remote->op, lane, name);
    remote->op.event.bytes = bytes;
    return ucp_trace_flight_get(&remote->op, req, &remote->flight);
}

/* @return what the transport answered. */
static ucs_status_t remote_end(struct trace_remote *remote, ucs_status_t status)
{
    ucp_trace_op_end(&remote->op, status);
    ucp_trace_flight_leave(&remote->op, remote->flight, status);
    return status;
}

static ucs_status_t trace_put_short(struct uct_ep *lane, const void *buffer,
                                    size_t length, uint64_t remote_address,
                                    const struct uct_rkey *rkey, unsigned flags)
{
    struct trace_remote remote;

    (void)remote_begin(&remote, lane, "put_short", length, NULL);
    return remote_end(&remote,
                      remote.op.real->put_short(lane, buffer, length,
                                                remote_address, rkey, flags));
}

static ssize_t trace_put_bcopy(struct uct_ep *lane, uct_pack_fn pack, void *arg,
                               size_t length_max, uint64_t remote_address,
                               const struct uct_rkey *rkey, unsigned flags)
{
    struct trace_remote remote;
    ssize_t             packed;

    (void)remote_begin(&remote, lane, "put_bcopy", 0, NULL);
    packed = remote.op.real->put_bcopy(lane, pack, arg, length_max,
                                       remote_address, rkey, flags);
    remote.op.event.bytes = (packed < 0) ? 0 : (size_t)packed;
    (void)remote_end(&remote, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return packed;
}

static ucs_status_t trace_put_zcopy(struct uct_ep        *lane,
                                    const struct uct_rma *rma,
                                    struct uct_req *req, unsigned flags)
{
    struct trace_remote remote;

    req = remote_begin(&remote, lane, "put_zcopy",
                       ucp_trace_iov_bytes(rma->iov, rma->iov_count), req);
    return remote_end(&remote,
                      remote.op.real->put_zcopy(lane, rma, req, flags));
}

static ucs_status_t trace_get_bcopy(struct uct_ep *lane, void *buffer,
                                    size_t length, uint64_t remote_address,
                                    const struct uct_rkey *rkey,
                                    struct uct_req *req, unsigned flags)
{
    struct trace_remote remote;

    req = remote_begin(&remote, lane, "get_bcopy", length, req);
    return remote_end(&remote, remote.op.real->get_bcopy(lane, buffer, length,
                                                         remote_address, rkey,
                                                         req, flags));
}

static ucs_status_t trace_get_zcopy(struct uct_ep        *lane,
                                    const struct uct_rma *rma,
                                    struct uct_req *req, unsigned flags)
{
    struct trace_remote remote;

    req = remote_begin(&remote, lane, "get_zcopy",
                       ucp_trace_iov_bytes(rma->iov, rma->iov_count), req);
    return remote_end(&remote,
                      remote.op.real->get_zcopy(lane, rma, req, flags));
}

static ucs_status_t trace_atomic(struct uct_ep           *lane,
                                 const struct uct_atomic *atomic,
                                 uint64_t                 remote_address,
                                 const struct uct_rkey   *rkey,
                                 struct uct_req *req, unsigned flags)
{
    struct trace_remote remote;

    req = remote_begin(&remote, lane, "atomic", atomic->size_bytes, req);
    return remote_end(
        &remote,
        remote.op.real->atomic(lane, atomic, remote_address, rkey, req, flags));
}

static ucs_status_t trace_ep_flush(struct uct_ep *lane, struct uct_req *req,
                                   unsigned flags)
{
    struct trace_remote remote;

    req = remote_begin(&remote, lane, "flush", 0, req);
    return remote_end(&remote, remote.op.real->ep_flush(lane, req, flags));
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
