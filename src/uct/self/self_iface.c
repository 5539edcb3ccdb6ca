/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_iface.c - the interface: address, queue, progress, sleep.
 *
 * A handler that sends to itself again must not grow the stack without end:
 * while one runs, messages go into the queue, and progress hands them up.
 * While the queue has entries, later messages go behind them: order. */
#include "uct/self/self.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ucs/log.h"
#include "ucs/random.h"
#include "uct/base/am.h"
#include "uct/base/iface.h"
#include "uct/base/md.h"
#include "uct/base/pending.h"

static ucs_status_t self_iface_set_config(struct self_iface             *self,
                                          const struct uct_iface_params *params)
{
    ucs_status_t status;

    if (params->config != NULL) {
        status =
            ucsi_config_copy(&self_config_table, params->config, &self->config);
    } else {
        status = ucsi_config_read(&self_config_table, NULL, &self->config);
    }
    return status;
}

static ucs_status_t self_iface_init_buffers(struct self_iface *self)
{
    struct ucs_mpool_params params = {
        .name          = "self buffers",
        .element_bytes = sizeof(struct self_message) + self->config.seg_bytes,
        .align_bytes   = UCS_CACHE_LINE_BYTES,
        .chunk_count   = SELF_BUFFER_COUNT_MIN,
        .element_count_max = self->config.buffer_count,
    };

    return ucsi_mpool_init(&self->buffers, &params);
}

ucs_status_t self_iface_open(struct uct_md                 *md,
                             const struct uct_iface_params *params,
                             struct uct_iface             **iface_p)
{
    struct self_iface *self = calloc(1, sizeof(*self));
    ucs_status_t       status;

    if (self == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = self_iface_set_config(self, params);
    if (status != UCS_OK) {
        goto err_free;
    }
    status = ucsi_random_u64(&self->id);
    if (status == UCS_OK) {
        status = self_iface_init_buffers(self);
    }
    if (status != UCS_OK) {
        goto err_config;
    }
    self->event_fd = -1;
    if (params->wakeup) {
        self->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (self->event_fd < 0) {
            ucs_error("self: eventfd: %m");
            status = UCS_ERR_IO_ERROR;
            goto err_buffers;
        }
    }
    ucti_iface_init(&self->base, md, params);
    ucs_queue_init(&self->queue);
    *iface_p = &self->base;
    return UCS_OK;

err_buffers:
    (void)ucsi_mpool_cleanup(&self->buffers, false);
err_config:
    ucsi_config_release(&self_config_table, &self->config);
err_free:
    free(self);
    return status;
}

void self_iface_close(struct uct_iface *iface)
{
    struct self_iface     *self = self_iface_of(iface);
    struct ucs_queue_elem *elem;
    struct self_message   *message;

    ucs_assert(!self->is_delivering);
    while ((elem = ucs_queue_pull(&self->queue)) != NULL) {
        message = ucs_container_of(elem, struct self_message, queue);
        if (message->am_id == UCT_AM_ID_COUNT) {
            free(message->source);
        } else {
            self_buffer_put(self, message);
        }
    }
    uct_iface_cleanup(iface);
    if (self->event_fd >= 0) {
        (void)close(self->event_fd);
    }
    (void)ucsi_mpool_cleanup(&self->buffers, true);
    ucsi_config_release(&self_config_table, &self->config);
    free(self);
}

void self_iface_query(const struct uct_iface *iface,
                      struct uct_iface_attr  *attr_p)
{
    const struct self_iface *self = self_iface_of(iface);
    struct uct_op_limits     rma  = {
             .short_bytes_max  = SELF_SHORT_BYTES_MAX,
             .bcopy_bytes_max  = SIZE_MAX,
             .zcopy_bytes_max  = SIZE_MAX,
             .iov_count_max    = SELF_IOV_COUNT_MAX,
             .remote_count_max = SELF_IOV_COUNT_MAX,
    };

    *attr_p = (struct uct_iface_attr){
        .am =
            {
                .short_bytes_max = SELF_SHORT_BYTES_MAX,
                .bcopy_bytes_max = self->config.seg_bytes,
                .zcopy_bytes_max = self->config.seg_bytes,
                .iov_count_max   = SELF_IOV_COUNT_MAX,
            },
        .am_zcopy_header_bytes_max = self->config.seg_bytes,
        .put                       = rma,
        .get                       = rma,
        /* Measured with test/bench on the development machine: an empty
         * message 20 ns, memcpy 13.7 GB/s (design/limits.md). */
        .cost =
            {
                .latency_s           = 0,
                .overhead_s          = 10e-9,
                .bandwidth_Bps       = 13.7e9,
                .register_base_s     = 100e-9,
                .register_per_byte_s = 0,
            },
        .put_cost = {.overhead_s = 20e-9, .bandwidth_Bps = 13.7e9},
        .get_cost = {.overhead_s = 20e-9, .bandwidth_Bps = 13.7e9},
        .flags    = UCT_IFACE_INTRA_NODE | UCT_IFACE_SELF_ONLY |
                 UCT_IFACE_PUT_BEFORE_AM | UCT_IFACE_PUT_DONE_AT_TARGET |
                 UCT_IFACE_ZCOPY_COPIES,
        .address_bytes = SELF_ADDRESS_BYTES,
    };
    attr_p->get.short_bytes_max = 0;
}

void self_iface_address(const struct uct_iface *iface, uint8_t *bytes)
{
    const struct self_iface *self = self_iface_of(iface);

    bytes[0] = SELF_ADDRESS_VERSION;
    memcpy(bytes + 1, &self->id, sizeof(self->id));
}

ucs_status_t self_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                              size_t size_bytes, char *reason)
{
    const struct self_iface *self = self_iface_of(iface);

    if ((size_bytes != SELF_ADDRESS_BYTES) ||
        (bytes[0] != SELF_ADDRESS_VERSION)) {
        ucti_reason(reason, "self: %zu bytes are no address of version %d",
                    size_bytes, (int)SELF_ADDRESS_VERSION);
        return UCS_ERR_INVALID_ADDR;
    }
    if (memcmp(bytes + 1, &self->id, sizeof(self->id)) != 0) {
        ucti_reason(reason, "self: the address is another interface's; "
                            "self reaches only its own");
        return UCS_ERR_UNREACHABLE;
    }
    return UCS_OK;
}

struct self_message *self_buffer_get(struct self_iface *self)
{
    struct self_message *message = NULL;

    if (self->buffers_used < self->config.buffer_count) {
        message = (struct self_message *)ucs_mpool_get(&self->buffers);
    }
    if (message != NULL) {
        ++self->buffers_used;
    }
    return message;
}

void self_buffer_put(struct self_iface *self, struct self_message *message)
{
    --self->buffers_used;
    ucs_mpool_put(message);
}

bool self_must_queue(const struct self_iface *self, unsigned flags)
{
    return self->is_delivering || !ucs_queue_is_empty(&self->queue) ||
           (flags & UCT_FLAG_LATER);
}

/* Run the handler of a message, and keep the buffer or give it back. */
static void self_deliver(struct self_iface *self, struct self_message *message)
{
    /* Half of the buffers always go on carrying messages. */
    unsigned flags = (self->kept_count < self->config.buffer_count / 2)
                         ? UCT_AM_MAY_KEEP
                         : 0;

    self->is_delivering = true;
    if (uct_iface_deliver(&self->base, message->am_id, &message->source->base,
                          message->data, message->length,
                          flags) == UCS_INPROGRESS) {
        ++self->kept_count;
    } else {
        self_buffer_put(self, message);
    }
    self->is_delivering = false;
}

void self_send(struct self_iface *self, struct self_message *message,
               unsigned flags)
{
    if (self_must_queue(self, flags)) {
        ucs_queue_push(&self->queue, &message->queue);
        self->base.is_idle = false;
    } else {
        self_deliver(self, message);
    }
    self_wake(self);
}

static void self_end_source(struct self_iface *self, struct self_source *source)
{
    self->is_delivering = true;
    uct_iface_end_source(&self->base, &source->base, UCS_OK);
    self->is_delivering = false;
    free(source);
}

/* What refused endpoints wait for. */
static enum uct_may_send self_may_send(struct uct_ep *ep)
{
    const struct self_iface *self = self_iface_of(ep->iface);

    return (self->buffers_used < self->config.buffer_count)
               ? UCT_MAY_SEND_NOW
               : UCT_MAY_SEND_NOBODY;
}

/* What handlers send meanwhile, too: who waits for a message that was answered
 * need not call again for the answer. */
unsigned self_progress(struct uct_iface *iface)
{
    struct self_iface     *self = self_iface_of(iface);
    struct ucs_queue_elem *elem;
    struct self_message   *message;
    unsigned               count = 0;

    ucs_assert(!self->is_delivering);
    while ((count < SELF_PROGRESS_MAX) &&
           ((elem = ucs_queue_pull(&self->queue)) != NULL)) {
        message = ucs_container_of(elem, struct self_message, queue);
        if (message->am_id == UCT_AM_ID_COUNT) {
            self_end_source(self, message->source);
        } else {
            self_deliver(self, message);
        }
        ++count;
    }
    if (ucs_unlikely(uct_iface_has_pending(iface))) {
        count += ucti_pending_serve(iface, self_may_send);
    }
    iface->is_idle =
        ucs_queue_is_empty(&self->queue) && !uct_iface_has_pending(iface);
    return count;
}

int self_event_fd(struct uct_iface *iface)
{
    return self_iface_of(iface)->event_fd;
}

void self_wake(struct self_iface *self)
{
    const uint64_t one = 1;

    if (ucs_unlikely(self->is_armed)) {
        self->is_armed = false;
        (void)!write(self->event_fd, &one, sizeof(one));
    }
}

ucs_status_t self_arm(struct uct_iface *iface)
{
    struct self_iface *self = self_iface_of(iface);
    uint64_t           ignored;

    if (!ucs_queue_is_empty(&self->queue) ||
        (uct_iface_has_pending(iface) &&
         (self->buffers_used < self->config.buffer_count))) {
        return UCS_ERR_BUSY;
    }
    if (!self->is_armed) {
        (void)!read(self->event_fd, &ignored, sizeof(ignored));
        self->is_armed = true;
    }
    return UCS_OK;
}

void self_am_release(struct uct_iface *iface, void *data)
{
    struct self_iface   *self = self_iface_of(iface);
    struct self_message *message =
        ucs_container_of(data, struct self_message, data);

    ucs_assert(self->kept_count > 0);
    --self->kept_count;
    self_buffer_put(self, message);
    if (uct_iface_has_pending(iface)) {
        self_wake(self);
    }
}
