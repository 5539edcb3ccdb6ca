/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self.h - the private types of self.
 *
 *   ep --first message--> source ----------.
 *    |                                      v
 *    '-- am_* --> message --> queue --> handler(source, data)
 *   ep destroyed --> source's own entry at the end of the queue: its end */
#ifndef UCT_SELF_SELF_H_
#define UCT_SELF_SELF_H_

#include <pthread.h>

#include "ucs/config.h"
#include "ucs/hash.h"
#include "ucs/mpool.h"
#include "uct/api/transport.h"

enum self_limit {
    SELF_SHORT_BYTES_MAX  = 256, /* on the stack of the send call; guess */
    SELF_ADDRESS_VERSION  = 1,
    SELF_ADDRESS_BYTES    = 1 + 8, /* version, id */
    SELF_RKEY_VERSION     = 1,
    SELF_RKEY_BYTES       = 1 + 8, /* version, key */
    SELF_SEG_BYTES_MIN    = 512,
    SELF_SEG_BYTES_MAX    = 1 << 26,
    SELF_IOV_COUNT_MAX    = 64, /* any number would do */
    SELF_BUFFER_COUNT_MIN = 4,
    SELF_BUFFER_COUNT_MAX = 1 << 20,
    SELF_PROGRESS_MAX     = 64, /* messages of one call: handlers add some */
};

struct self_config {
    struct ucs_config_base base;
    size_t                 seg_bytes;
    unsigned               buffer_count;
};

/* regions  key -> struct self_mem; lock guards it: domains are used by any
 *          thread */
struct self_md {
    struct uct_md   base;
    pthread_mutex_t lock;
    struct ucs_hash regions;
};

struct self_mem {
    struct uct_mem base;
    uint64_t       key;
};

struct self_rkey {
    struct uct_rkey base;
    uint64_t        key;
};

/* The head of a buffer, or a source's entry in the queue.
 * am_id  UCT_AM_ID_COUNT: the source ends here, there is no data */
struct self_message {
    struct ucs_queue_elem queue;
    struct self_source   *source;
    uint32_t              length;
    uint8_t               am_id;
    uint8_t               data[] UCS_ALIGNED(8);
};

struct self_source {
    struct uct_source   base;
    struct self_message end;
};

/* queue          messages and ends that wait for progress
 * buffers        struct self_message with data[config.seg_bytes]
 * buffers_used   taken from the pool: queued, kept or in use
 * kept_count     with handlers that kept them
 * is_delivering  a handler runs: what is sent now goes into the queue
 * event_fd       -1: no wakeup
 * is_armed       the next thing that happens writes event_fd */
struct self_iface {
    struct uct_iface   base;
    struct self_config config;
    uint64_t           id;
    struct ucs_queue   queue;
    struct ucs_mpool   buffers;
    unsigned           buffers_used;
    unsigned           kept_count;
    bool               is_delivering;
    bool               is_armed;
    int                event_fd;
};

/* source    what its messages are handed up with
 * has_sent  the source is known to the receiver: its end is reported */
struct self_ep {
    struct uct_ep       base;
    struct self_source *source;
    bool                has_sent;
};

extern const struct ucs_config_table self_config_table;

static inline struct self_iface *self_iface_of(const struct uct_iface *iface)
{
    return ucs_container_of(iface, struct self_iface, base);
}

static inline struct self_ep *self_ep_of(const struct uct_ep *ep)
{
    return ucs_container_of(ep, struct self_ep, base);
}

/* self_md.c */
ucs_status_t self_md_open(const struct uct_device *device,
                          struct uct_md          **md_p);
void         self_md_close(struct uct_md *md);
ucs_status_t self_mem_register(struct uct_md *md, void *address, size_t length,
                               unsigned access, struct uct_mem **mem_p);
void         self_mem_release(struct uct_mem *mem);
size_t       self_rkey_pack(const struct uct_mem *mem, uint8_t *bytes);
ucs_status_t self_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                              size_t size_bytes, struct uct_rkey **rkey_p);
void         self_rkey_release(struct uct_rkey *rkey);
/* May [address, address + length) be accessed with this key?
 * @return UCS_OK, or UCS_ERR_INVALID_ADDR. Thread: any. */
ucs_status_t self_region_check(const struct uct_rkey *rkey, uint64_t address,
                               size_t length, unsigned access);

/* self_iface.c */
ucs_status_t self_iface_open(struct uct_md                 *md,
                             const struct uct_iface_params *params,
                             struct uct_iface             **iface_p);
void         self_iface_close(struct uct_iface *iface);
void         self_iface_query(const struct uct_iface *iface,
                              struct uct_iface_attr  *attr_p);
void         self_iface_address(const struct uct_iface *iface, uint8_t *bytes);
ucs_status_t self_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                              size_t size_bytes, char *reason);
unsigned     self_progress(struct uct_iface *iface);
int          self_event_fd(struct uct_iface *iface);
ucs_status_t self_arm(struct uct_iface *iface);
void         self_am_release(struct uct_iface *iface, void *data);
/* Something happened: wake the sleeper, if there is one. */
void self_wake(struct self_iface *self);
/* Take a buffer. @return NULL: none is left. */
struct self_message *self_buffer_get(struct self_iface *self);
void self_buffer_put(struct self_iface *self, struct self_message *message);
/* Hand a message up, now or later; owns it. */
void self_send(struct self_iface *self, struct self_message *message,
               unsigned flags);
/* Must a message wait in the queue, because a handler runs, older ones wait,
 * or its sender wishes it? */
bool self_must_queue(const struct self_iface *self, unsigned flags);

/* self_am.c */
ucs_status_t self_ep_create(struct uct_iface           *iface,
                            const struct uct_ep_params *params,
                            struct uct_ep             **ep_p);
void         self_ep_destroy(struct uct_ep *ep);
ucs_status_t self_am_short(struct uct_ep *ep, uint8_t am_id, uint64_t header,
                           const void *payload, size_t length, unsigned flags);
ssize_t      self_am_bcopy(struct uct_ep *ep, uint8_t am_id, uct_pack_fn pack,
                           void *arg, size_t length_max, unsigned flags);
ucs_status_t self_am_zcopy(struct uct_ep *ep, uint8_t am_id, const void *header,
                           size_t header_length, const struct uct_iov *iov,
                           unsigned iov_count, struct uct_req *req,
                           unsigned flags);
ucs_status_t self_ep_flush(struct uct_ep *ep, struct uct_req *req,
                           unsigned flags);

/* self_rma.c */
uct_put_short_proc self_put_short;
uct_put_bcopy_proc self_put_bcopy;
uct_get_bcopy_proc self_get_bcopy;
uct_zcopy_proc     self_put_zcopy;
uct_zcopy_proc     self_get_zcopy;
uct_atomic_proc    self_atomic;

#endif
