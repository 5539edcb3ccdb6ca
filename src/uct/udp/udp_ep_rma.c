/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_ep_rma.c - put, get and atomics of an endpoint: checked against
 * the key here, done by udp_rma.c there. */
#include <string.h>

#include "uct/base/atomic.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"
#include "uct/udp/udp.h"

/* What an operation is about. */
struct rma_op {
    unsigned               kind;
    uint64_t               address;
    const struct uct_rkey *rkey;
    size_t                 length;
    unsigned               right;
    unsigned               flags;
};

static struct udp_iface *rma_iface(const struct uct_ep *ep)
{
    return udp_iface_of(ep->iface);
}

/* A fragment for an operation that may go. @return NULL: *status_p says why
 * not. */
static struct udp_fragment *
rma_begin(struct udp_ep *ep, const struct rma_op *op, ucs_status_t *status_p)
{
    const struct udp_rkey *rkey =
        ucs_container_of(op->rkey, struct udp_rkey, base);
    struct udp_conn     *conn;
    bool                 answers = (op->kind != UDP_KIND_PUT);
    struct udp_fragment *fragment;

    *status_p = udp_rkey_check(op->rkey, op->address, op->length, op->right);
    if (*status_p == UCS_OK) {
        *status_p = udp_ep_begin(ep, op->flags, true);
    }
    if (*status_p != UCS_OK) {
        return NULL;
    }
    conn     = ep->conn;
    fragment = (answers && (conn->operation_count >= UDP_OPERATION_MAX))
                   ? NULL
                   : udp_fragment_new(conn, op->kind);
    if (fragment == NULL) {
        *status_p = uct_ep_refuse(&ep->base, op->flags);
        return NULL;
    }
    fragment->key       = rkey->key;
    fragment->address   = op->address;
    fragment->operation = ++conn->operation;
    fragment->total     = (uint32_t)op->length;
    return fragment;
}

/* Off it goes, in flight of the endpoint. */
static void rma_go(struct udp_ep *ep, struct udp_fragment *fragment,
                   struct uct_req *req)
{
    if (fragment->kind != UDP_KIND_PUT) {
        fragment->waits_answer = true;
        ++ep->conn->operation_count;
    }
    udp_ep_lend(ep, fragment, req);
    udp_conn_queue(ep->conn, fragment);
}

/* ------------------------------------------------------------------- put */

/* A put from a copy of ours. @return NULL: *status_p. */
static struct udp_fragment *
rma_put_copy(struct udp_ep *ep, const struct rma_op *op, ucs_status_t *status_p)
{
    struct udp_fragment *fragment = rma_begin(ep, op, status_p);

    if (fragment == NULL) {
        return NULL;
    }
    fragment->buffer = udp_env_hold(ep->conn->env, op->length);
    if (fragment->buffer == NULL) {
        udp_fragment_free(fragment);
        *status_p = uct_ep_refuse(&ep->base, op->flags);
        return NULL;
    }
    return fragment;
}

static void rma_put_go(struct udp_ep *ep, struct udp_fragment *fragment,
                       size_t length)
{
    fragment->total     = (uint32_t)length;
    fragment->iov[0]    = (struct iovec){fragment->buffer->bytes, length};
    fragment->iov_count = 1;
    udp_conn_queue(ep->conn, fragment);
}

ucs_status_t udp_put_short(struct uct_ep *base, const void *buffer,
                           size_t length, uint64_t remote_address,
                           const struct uct_rkey *rkey, unsigned flags)
{
    struct udp_ep       *ep = udp_ep_of(base);
    struct rma_op        op = {UDP_KIND_PUT, remote_address,          rkey,
                               length,       UCT_ACCESS_REMOTE_WRITE, flags};
    struct udp_fragment *fragment;
    ucs_status_t         status;

    if (length > UDP_SHORT_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    udp_enter(rma_iface(base));
    fragment = rma_put_copy(ep, &op, &status);
    if (fragment != NULL) {
        if (length > 0) {
            memcpy(fragment->buffer->bytes, buffer, length);
        }
        rma_put_go(ep, fragment, length);
    }
    udp_leave(rma_iface(base));
    return status;
}

ssize_t udp_put_bcopy(struct uct_ep *base, uct_pack_fn pack, void *arg,
                      size_t length_max, uint64_t remote_address,
                      const struct uct_rkey *rkey, unsigned flags)
{
    struct udp_ep       *ep = udp_ep_of(base);
    struct rma_op        op = {UDP_KIND_PUT, remote_address,          rkey,
                               length_max,   UCT_ACCESS_REMOTE_WRITE, flags};
    struct udp_fragment *fragment;
    ucs_status_t         status;
    ssize_t              length;

    if (length_max > UDP_BCOPY_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    udp_enter(rma_iface(base));
    fragment = rma_put_copy(ep, &op, &status);
    length   = status;
    if (fragment != NULL) {
        length = (ssize_t)pack(fragment->buffer->bytes, arg);
        rma_put_go(ep, fragment, (size_t)length);
    }
    udp_leave(rma_iface(base));
    return length;
}

/* Put and get between pieces of the caller's and one of a region. */
static ucs_status_t rma_zcopy(struct udp_ep *ep, const struct rma_op *op,
                              const struct uct_iov *iov, unsigned iov_count,
                              struct uct_req *req)
{
    struct udp_fragment *fragment;
    ucs_status_t         status;

    if ((op->length == 0) && (op->kind == UDP_KIND_GET)) {
        return udp_rkey_check(op->rkey, op->address, 0, op->right);
    }
    udp_enter(rma_iface(&ep->base));
    fragment = rma_begin(ep, op, &status);
    if (fragment != NULL) {
        udp_fragment_take_iov(fragment, iov, iov_count);
        rma_go(ep, fragment, req);
        status = UCS_INPROGRESS;
    }
    udp_leave(rma_iface(&ep->base));
    return status;
}

static ucs_status_t rma_pieces(struct uct_ep *base, unsigned kind,
                               unsigned right, const struct uct_rma *rma,
                               struct uct_req *req, unsigned flags)
{
    size_t        length = uct_iov_bytes(rma->iov, rma->iov_count);
    struct rma_op op     = {
            .kind = kind, .length = length, .right = right, .flags = flags};

    if ((rma->iov_count > UDP_IOV_COUNT_MAX) || (rma->remote_count > 1) ||
        (length > UDP_RMA_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (rma->remote_count == 0) {
        return (length == 0) ? UCS_OK : UCS_ERR_INVALID_PARAM;
    }
    if (rma->remote[0].length != length) {
        return UCS_ERR_INVALID_PARAM;
    }
    op.address = rma->remote[0].address;
    op.rkey    = rma->remote[0].rkey;
    return rma_zcopy(udp_ep_of(base), &op, rma->iov, rma->iov_count, req);
}

ucs_status_t udp_put_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                           struct uct_req *req, unsigned flags)
{
    return rma_pieces(ep, UDP_KIND_PUT, UCT_ACCESS_REMOTE_WRITE, rma, req,
                      flags);
}

/* ------------------------------------------------------------------- get */

ucs_status_t udp_get_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                           struct uct_req *req, unsigned flags)
{
    return rma_pieces(ep, UDP_KIND_GET, UCT_ACCESS_REMOTE_READ, rma, req,
                      flags);
}

ucs_status_t udp_get_bcopy(struct uct_ep *ep, void *buffer, size_t length,
                           uint64_t remote_address, const struct uct_rkey *rkey,
                           struct uct_req *req, unsigned flags)
{
    const struct uct_iov iov = {.buffer = buffer, .length = length};
    struct rma_op        op  = {UDP_KIND_GET, remote_address,         rkey,
                                length,       UCT_ACCESS_REMOTE_READ, flags};

    if (length > UDP_BCOPY_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    return rma_zcopy(udp_ep_of(ep), &op, &iov, 1, req);
}

/* ---------------------------------------------------------------- atomic */

ucs_status_t udp_atomic(struct uct_ep *base, const struct uct_atomic *atomic,
                        uint64_t remote_address, const struct uct_rkey *rkey,
                        struct uct_req *req, unsigned flags)
{
    struct udp_ep *ep = udp_ep_of(base);
    struct rma_op  op = {UDP_KIND_ATOMIC,    remote_address,           rkey,
                         atomic->size_bytes, UCT_ACCESS_REMOTE_ATOMIC, flags};
    struct udp_fragment *fragment;
    ucs_status_t         status;

    if (!uct_atomic_is_valid(atomic->op, atomic->size_bytes, remote_address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    udp_enter(rma_iface(base));
    fragment = rma_begin(ep, &op, &status);
    if (fragment != NULL) {
        fragment->result = atomic->result;
        fragment->word   = (struct udp_word){
              .operand    = atomic->operand,
              .compare    = atomic->compare,
              .op         = (uint8_t)atomic->op,
              .size_bytes = (uint8_t)atomic->size_bytes,
        };
        rma_go(ep, fragment, req);
        status = UCS_INPROGRESS;
    }
    udp_leave(rma_iface(base));
    return status;
}
