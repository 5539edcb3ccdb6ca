/* SPDX-License-Identifier: BSD-3-Clause */
/* example.h - private types of the example transport.
 *
 *   sender's interface                        receiver's interface
 *     ep --- SOCK_SEQPACKET connection ----------- source
 *      |       8-byte head, then data  -->           |
 *      '-- ops: zcopies that did not complete        '-- handler(data)
 *
 * One packet is one message. Each side says BYE before it closes; a
 * connection that ends without was cut. */
#ifndef EXAMPLE_H_
#define EXAMPLE_H_

#include <ucs/assert.h>
#include <ucs/config.h>
#include <ucs/list.h>
#include <ucs/log.h>
#include <uct/api/module.h>
#include <uct/base/am.h>
#include <uct/base/ep.h>
#include <uct/base/iface.h>
#include <uct/base/iov.h>
#include <uct/base/md.h>
#include <uct/base/pending.h>

enum example_limit {
    EXAMPLE_BCOPY_BYTES_MAX  = 8 << 10,
    EXAMPLE_ZCOPY_BYTES_MAX  = 32 << 10,
    EXAMPLE_HEADER_BYTES_MAX = 64,
    EXAMPLE_IOV_COUNT_MAX    = 4,
    EXAMPLE_OP_COUNT_MAX     = 64, /* zcopies in progress, per interface */
    EXAMPLE_KEPT_COUNT_MAX   = 64,
    EXAMPLE_EVENT_COUNT_MAX  = 32, /* handled in one progress */
    EXAMPLE_NAME_BYTES       = 16,
    EXAMPLE_DEVICE_COUNT_MAX = 8,
    EXAMPLE_VERSION          = 1,
};

struct example_config {
    struct ucs_config_base base;
    unsigned               refuse_percent;
    unsigned               delay;
    unsigned               devices;
    unsigned               seed;
};

/* Where an interface listens: an abstract unix address made of `name`, which
 * only this network namespace knows. Packed: a wire format. */
struct example_address {
    uint8_t version;
    uint8_t net_namespace[8];
    uint8_t name[EXAMPLE_NAME_BYTES];
};

enum example_packet_type { EXAMPLE_PACKET_AM = 1, EXAMPLE_PACKET_BYE = 2 };

/* Before the data of each packet; 8 bytes, so that data stays aligned. */
struct example_head {
    uint8_t type;
    uint8_t am_id;
    uint8_t unused[6];
};

/* What a descriptor in the epoll set belongs to: the first member of each. */
enum example_watch { EXAMPLE_LISTENER, EXAMPLE_SOURCE, EXAMPLE_EP };

/* A connection that came in. has_source: a message was handed up. */
struct example_source {
    enum example_watch watch;
    int                fd;
    bool               has_source;
    struct uct_source  base;
    struct ucs_list    link;
};

/* A zcopy in progress: the bytes are with the kernel already, but the caller
 * may not touch the buffers before it is told, and that comes late and, among
 * operations, in random order. sum tells whether he did.
 * own  stands for a request that the caller did not give */
struct example_op {
    struct uct_req    *req;
    struct uct_req     own;
    struct example_ep *ep;
    struct uct_iov     iov[EXAMPLE_IOV_COUNT_MAX];
    unsigned           iov_count;
    uint64_t           sum;
    bool               is_used;
};

struct example_buffer {
    struct example_head head;
    uint8_t             data[EXAMPLE_ZCOPY_BYTES_MAX];
};

/* running      ops that did not finish, in no order
 * packet       the buffer that the next packet is read into
 * scratch      where bcopy packs
 * kept_count   buffers that handlers kept */
struct example_iface {
    struct uct_iface       base;
    enum example_watch     watch; /* EXAMPLE_LISTENER */
    struct example_config  config;
    struct example_address address;
    int                    listener;
    int                    epoll;
    uint64_t               random;
    struct ucs_list        sources;
    struct ucs_list        eps;
    struct example_op      ops[EXAMPLE_OP_COUNT_MAX];
    struct example_op     *running[EXAMPLE_OP_COUNT_MAX];
    unsigned               running_count;
    unsigned               kept_count;
    struct example_buffer *packet;
    struct example_buffer  scratch;
};

/* fd            -1: not connected yet, the peer's queue of connections is full
 * is_full       refused for lack of room: EPOLLOUT is watched
 * is_gone       the peer closed in order: sends fail, nothing is reported */
struct example_ep {
    struct uct_ep          base;
    enum example_watch     watch;
    int                    fd;
    bool                   is_full;
    bool                   is_gone;
    struct example_address address;
    struct uct_inflight    inflight;
    struct ucs_list        link;
};

static inline struct example_iface *
example_iface_of(const struct uct_iface *iface)
{
    return ucs_container_of(iface, struct example_iface, base);
}

static inline struct example_ep *example_ep_of(const struct uct_ep *ep)
{
    return ucs_container_of(ep, struct example_ep, base);
}

extern const struct ucs_config_table example_config_table;

/* example_iface.c */
ucs_status_t example_iface_open(struct uct_md                 *md,
                                const struct uct_iface_params *params,
                                struct uct_iface             **iface_p);
void         example_iface_close(struct uct_iface *iface);
void         example_iface_query(const struct uct_iface *iface,
                                 struct uct_iface_attr  *attr_p);
void example_iface_address(const struct uct_iface *iface, uint8_t *bytes);
ucs_status_t example_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                                 size_t size_bytes, char *reason);
unsigned     example_progress(struct uct_iface *iface);
int          example_event_fd(struct uct_iface *iface);
ucs_status_t example_arm(struct uct_iface *iface);
uint64_t     example_random(struct example_iface *self);
ucs_status_t example_watch(struct example_iface *self, int fd,
                           enum example_watch *watch, uint32_t events);

/* example_receive.c */
void     example_accept(struct example_iface *self);
unsigned example_receive(struct example_iface  *self,
                         struct example_source *source);
void     example_am_release(struct uct_iface *iface, void *data);
void     example_source_close(struct example_source *source);

/* example_ep.c */
ucs_status_t example_ep_create(struct uct_iface           *iface,
                               const struct uct_ep_params *params,
                               struct uct_ep             **ep_p);
void         example_ep_destroy(struct uct_ep *ep);
/* Its socket has something to say. */
unsigned example_ep_event(struct example_ep *ep, uint32_t events);
/* Connect, or find that it must be tried again. */
ucs_status_t      example_ep_connect(struct example_ep *ep);
enum uct_may_send example_may_send(struct uct_ep *ep);
bool              example_has_room(const struct example_ep *ep);

/* example_send.c */
ssize_t example_am_bcopy(struct uct_ep *ep, uint8_t am_id, uct_pack_fn pack,
                         void *arg, size_t length_max, unsigned flags);
ucs_status_t example_am_zcopy(struct uct_ep *ep, uint8_t am_id,
                              const void *header, size_t header_length,
                              const struct uct_iov *iov, unsigned iov_count,
                              struct uct_req *req, unsigned flags);
ucs_status_t example_ep_flush(struct uct_ep *ep, struct uct_req *req,
                              unsigned flags);
/* Finish one operation, maybe. @return 1 if it did. */
unsigned example_ops_progress(struct example_iface *self);
/* Forget the operations of an endpoint that ends. */
void example_ops_remove(struct example_ep *ep);

#endif
