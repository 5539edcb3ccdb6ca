/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_am.c - endpoints and active messages.
 *
 * A handler may destroy the endpoint that is sending: after a message was
 * handed up, its endpoint is not touched. */
#include "uct/self/self.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/assert.h"
#include "uct/base/am.h"
#include "uct/base/ep.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"

ucs_status_t self_ep_create(struct uct_iface           *iface,
                            const struct uct_ep_params *params,
                            struct uct_ep             **ep_p)
{
    struct self_ep *ep;
    ucs_status_t    status;

    status =
        self_iface_reach(iface, params->address, params->address_bytes, NULL);
    if (status != UCS_OK) {
        return status;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    /* Now, so that neither the first message nor the end needs memory. */
    ep->source = calloc(1, sizeof(*ep->source));
    if (ep->source == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    ep->has_sent = false;
    ucti_ep_init(&ep->base, iface, params);
    *ep_p = &ep->base;
    return UCS_OK;
}

void self_ep_destroy(struct uct_ep *base)
{
    struct self_ep     *ep     = self_ep_of(base);
    struct self_iface  *self   = self_iface_of(base->iface);
    struct self_source *source = ep->source;

    ucti_ep_cleanup(base);
    if (ep->has_sent) {
        /* Behind its messages; progress reports it and frees the source. */
        source->end.source = source;
        source->end.am_id  = UCT_AM_ID_COUNT;
        ucs_queue_push(&self->queue, &source->end.queue);
        self->base.is_idle = false;
        self_wake(self);
    } else {
        free(source);
    }
    free(ep);
}

/* Hand up without a buffer: nobody is in a handler, nobody waits. */
static void self_am_short_now(struct self_iface *self, uint8_t am_id,
                              struct self_source *source, uint64_t header,
                              const void *payload, size_t length)
{
    struct {
        uint64_t header;
        uint8_t  payload[SELF_SHORT_BYTES_MAX];
    } data;

    data.header = header;
    if (length != 0) {
        memcpy(data.payload, payload, length);
    }
    self->is_delivering = true;
    (void)uct_iface_deliver(&self->base, am_id, &source->base, &data,
                            sizeof(header) + length, 0);
    self->is_delivering = false;
    self_wake(self);
}

/* A buffer for a message of this endpoint. @return NULL: refused. */
static struct self_message *self_am_begin(struct self_ep *ep, uint8_t am_id,
                                          unsigned flags)
{
    struct self_message *message = NULL;

    if (!uct_ep_must_wait(&ep->base, flags)) {
        message = self_buffer_get(self_iface_of(ep->base.iface));
    }
    if (message == NULL) {
        (void)uct_ep_refuse(&ep->base, flags);
        return NULL;
    }
    ep->has_sent    = true;
    message->source = ep->source;
    message->am_id  = am_id;
    return message;
}

ucs_status_t self_am_short(struct uct_ep *base, uint8_t am_id, uint64_t header,
                           const void *payload, size_t length, unsigned flags)
{
    struct self_ep      *ep   = self_ep_of(base);
    struct self_iface   *self = self_iface_of(base->iface);
    struct self_message *message;

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (ucs_unlikely(length > SELF_SHORT_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (ucs_likely(!self_must_queue(self, flags) &&
                   (base->pending_state == UCT_PENDING_NONE))) {
        ep->has_sent = true;
        self_am_short_now(self, am_id, ep->source, header, payload, length);
        return UCS_OK;
    }
    message = self_am_begin(ep, am_id, flags);
    if (message == NULL) {
        return UCS_ERR_WOULD_BLOCK;
    }
    memcpy(message->data, &header, sizeof(header));
    if (length != 0) {
        memcpy(message->data + sizeof(header), payload, length);
    }
    message->length = (uint32_t)(sizeof(header) + length);
    self_send(self, message, flags);
    return UCS_OK;
}

ssize_t self_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                      void *arg, size_t length_max, unsigned flags)
{
    struct self_iface   *self = self_iface_of(base->iface);
    struct self_message *message;
    size_t               length;

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (ucs_unlikely(length_max > self->config.seg_bytes)) {
        return UCS_ERR_INVALID_PARAM;
    }
    message = self_am_begin(self_ep_of(base), am_id, flags);
    if (message == NULL) {
        return UCS_ERR_WOULD_BLOCK;
    }
    length = pack(message->data, arg);
    ucs_assert(length <= length_max);
    message->length = (uint32_t)length;
    self_send(self, message, flags);
    return (ssize_t)length;
}

ucs_status_t self_am_zcopy(struct uct_ep *base, uint8_t am_id,
                           const void *header, size_t header_length,
                           const struct uct_iov *iov, unsigned iov_count,
                           struct uct_req *req, unsigned flags)
{
    struct self_iface   *self = self_iface_of(base->iface);
    struct self_message *message;
    size_t               length;

    (void)req; /* done inside the call */
    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (iov_count > SELF_IOV_COUNT_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    length = uct_iov_bytes(iov, iov_count);
    if ((header_length > self->config.seg_bytes) ||
        (length > self->config.seg_bytes - header_length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    message = self_am_begin(self_ep_of(base), am_id, flags);
    if (message == NULL) {
        return UCS_ERR_WOULD_BLOCK;
    }
    if (header_length != 0) {
        memcpy(message->data, header, header_length);
    }
    (void)uct_iov_gather(message->data + header_length, iov, iov_count);
    message->length = (uint32_t)(header_length + length);
    self_send(self, message, flags);
    return UCS_OK;
}

/* What was accepted lies at the receiver already. */
ucs_status_t self_ep_flush(struct uct_ep *ep, struct uct_req *req,
                           unsigned flags)
{
    (void)ep;
    (void)req;
    (void)flags;
    return UCS_OK;
}
