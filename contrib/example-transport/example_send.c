/* SPDX-License-Identifier: BSD-3-Clause */
/* example_send.c - active messages, and completions that come late and out of
 * order, put in order by base/complete.h. */
#include "example.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* What every operation asks first. Refuses without need, too. */
static ucs_status_t example_begin(struct example_ep *ep, unsigned flags)
{
    struct example_iface *self = example_iface_of(ep->base.iface);

    if (ep->base.failed != UCS_OK) {
        return ep->base.failed;
    }
    if (ep->is_gone) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (uct_ep_must_wait(&ep->base, flags) ||
        (example_random(self) % 100 < self->config.refuse_percent)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    if (!example_has_room(ep)) {
        if ((ep->fd >= 0) && !ep->is_full) {
            ep->is_full = true;
            (void)example_watch(self, ep->fd, &ep->watch, EPOLLIN | EPOLLOUT);
        }
        return uct_ep_refuse(&ep->base, flags);
    }
    return UCS_OK;
}

/* Send one packet for which there is room. If the peer is gone, the message
 * is lost as if it had been on the way; progress finds the connection cut. */
static void example_transmit(const struct example_ep *ep, uint8_t am_id,
                             struct iovec *vector, unsigned vector_count)
{
    struct example_head head = {.type = EXAMPLE_PACKET_AM, .am_id = am_id};
    struct msghdr message    = {.msg_iov = vector, .msg_iovlen = vector_count};
    ssize_t       bytes;

    vector[0].iov_base = &head;
    vector[0].iov_len  = sizeof(head);
    do {
        bytes = sendmsg(ep->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while ((bytes < 0) && (errno == EINTR));
    if ((bytes < 0) && (errno != EPIPE) && (errno != ECONNRESET)) {
        ucs_error_limited("example: sendmsg: %m");
        /* Not what we were promised; make it a failure that is seen. */
        (void)shutdown(ep->fd, SHUT_RDWR);
    }
}

ssize_t example_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                         void *arg, size_t length_max, unsigned flags)
{
    struct example_ep    *ep   = example_ep_of(base);
    struct example_iface *self = example_iface_of(base->iface);
    struct iovec          vector[2];
    ucs_status_t          status;
    size_t                length;

    if (length_max > EXAMPLE_BCOPY_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = example_begin(ep, flags);
    if (status != UCS_OK) {
        return status;
    }
    length = pack(self->scratch.data, arg);
    ucs_assert(length <= length_max);
    vector[1].iov_base = self->scratch.data;
    vector[1].iov_len  = length;
    example_transmit(ep, am_id, vector, 2);
    return (ssize_t)length;
}

/* ---- zcopy ---- */

static uint64_t example_sum(const struct uct_iov *iov, unsigned iov_count)
{
    uint64_t       sum = 0xcbf29ce484222325ull; /* FNV-1a */
    const uint8_t *bytes;
    unsigned       index;
    size_t         offset;

    for (index = 0; index < iov_count; ++index) {
        bytes = (const uint8_t *)iov[index].buffer;
        for (offset = 0; offset < iov[index].length; ++offset) {
            sum = (sum ^ bytes[offset]) * 0x100000001b3ull;
        }
    }
    return sum;
}

/* The request of an operation whose caller gave none: its memory. */
static void example_op_done(struct uct_req *req)
{
    ucs_container_of(req, struct example_op, own)->is_used = false;
}

static struct example_op *example_op_get(struct example_iface *self)
{
    unsigned index;

    for (index = 0; index < EXAMPLE_OP_COUNT_MAX; ++index) {
        if (!self->ops[index].is_used) {
            return &self->ops[index];
        }
    }
    return NULL;
}

static void example_op_start(struct example_op *op, struct example_ep *ep,
                             const struct uct_iov *iov, unsigned iov_count,
                             struct uct_req *req)
{
    struct example_iface *self = example_iface_of(ep->base.iface);

    op->is_used = true;
    op->own.cb  = example_op_done;
    op->req     = (req != NULL) ? req : &op->own;
    op->ep      = ep;
    if (iov_count > 0) {
        memcpy(op->iov, iov, iov_count * sizeof(*iov));
    }
    op->iov_count                        = iov_count;
    op->sum                              = example_sum(iov, iov_count);
    self->running[self->running_count++] = op;
    uct_inflight_add(&ep->inflight, op->req);
}

/* It does not run any more; @return its request, which is still in flight. */
static struct uct_req *example_op_stop(struct example_iface *self,
                                       unsigned              running_index)
{
    struct example_op *op  = self->running[running_index];
    struct uct_req    *req = op->req;

    self->running[running_index] = self->running[--self->running_count];
    if (example_sum(op->iov, op->iov_count) != op->sum) {
        ucs_error("example: a lent buffer was changed before its operation "
                  "completed");
        ucs_check(!"lent buffer changed");
    }
    if (req != &op->own) {
        op->is_used = false;
    }
    return req;
}

unsigned example_ops_progress(struct example_iface *self)
{
    struct example_ep *ep;
    struct uct_req    *req;
    unsigned           index;

    if ((self->running_count == 0) ||
        (example_random(self) % (self->config.delay + 1) != 0)) {
        return 0;
    }
    index = (unsigned)(example_random(self) % self->running_count);
    ep    = self->running[index]->ep;
    req   = example_op_stop(self, index);
    (void)ucti_inflight_finish(&ep->inflight, req, UCS_OK);
    return 1;
}

void example_ops_remove(struct example_ep *ep)
{
    struct example_iface *self  = example_iface_of(ep->base.iface);
    unsigned              index = 0;

    while (index < self->running_count) {
        if (self->running[index]->ep == ep) {
            (void)example_op_stop(self, index);
        } else {
            ++index;
        }
    }
}

ucs_status_t example_am_zcopy(struct uct_ep *base, uint8_t am_id,
                              const void *header, size_t header_length,
                              const struct uct_iov *iov, unsigned iov_count,
                              struct uct_req *req, unsigned flags)
{
    struct example_ep    *ep   = example_ep_of(base);
    struct example_iface *self = example_iface_of(base->iface);
    struct iovec          vector[2 + EXAMPLE_IOV_COUNT_MAX];
    struct example_op    *op;
    ucs_status_t          status;
    unsigned              index;

    if ((iov_count > EXAMPLE_IOV_COUNT_MAX) ||
        (header_length > EXAMPLE_HEADER_BYTES_MAX) ||
        (uct_iov_bytes(iov, iov_count) >
         EXAMPLE_ZCOPY_BYTES_MAX - header_length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    op     = example_op_get(self);
    status = example_begin(ep, flags);
    if (status != UCS_OK) {
        return status;
    }
    if (op == NULL) {
        return uct_ep_refuse(base, flags);
    }
    vector[1] = (struct iovec){(void *)(uintptr_t)header, header_length};
    for (index = 0; index < iov_count; ++index) {
        vector[2 + index] =
            (struct iovec){iov[index].buffer, iov[index].length};
    }
    example_transmit(ep, am_id, vector, 2 + iov_count);
    if (uct_inflight_is_empty(&ep->inflight) &&
        (example_random(self) % 4 == 0)) {
        return UCS_OK; /* done, and nothing earlier is in flight */
    }
    example_op_start(op, ep, iov, iov_count, req);
    return UCS_INPROGRESS;
}

/* Messages are with the kernel when they were accepted: a flush waits only
 * for completions that come before its own. */
ucs_status_t example_ep_flush(struct uct_ep *base, struct uct_req *req,
                              unsigned flags)
{
    struct example_ep *ep = example_ep_of(base);

    (void)flags;
    if (base->failed != UCS_OK) {
        return base->failed;
    }
    if (uct_inflight_is_empty(&ep->inflight)) {
        return UCS_OK;
    }
    if (req != NULL) {
        uct_inflight_add_finished(&ep->inflight, req);
    }
    return UCS_INPROGRESS;
}
