/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_private.h - what the files of the mock transport call of one another. */
#ifndef TEST_MOCK_MOCK_PRIVATE_H_
#define TEST_MOCK_MOCK_PRIVATE_H_

#include "mock/mock_types.h"

/* mock_control.c */
uint64_t mock_random(void);

/* mock_memory.c */
ucs_status_t mock_mem_register(struct uct_md *md, void *address, size_t length,
                               unsigned access, struct uct_mem **mem_p);
void         mock_mem_release(struct uct_mem *mem);
size_t       mock_rkey_pack(const struct uct_mem *mem, uint8_t *bytes);
ucs_status_t mock_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                              size_t size_bytes, struct uct_rkey **rkey_p);
void         mock_rkey_release(struct uct_rkey *rkey);
/* The registration of that host under which its memory may be reached there;
 * NULL: there is none. */
const struct mock_mem *mock_mem_allows(uint64_t                 key,
                                       const struct mock_iface *owner,
                                       uint64_t address, size_t length,
                                       unsigned access);
/* Was its memory unmapped, or mapped again, since it was registered? */
bool mock_mem_is_stale(const struct mock_mem *mem);
/* Is the iov registered with that interface's domain, and the memory still
 * the same? */
bool mock_mem_covers(const struct mock_iface *self, const struct uct_iov *iov,
                     unsigned iov_count);

/* mock_iface.c */
ucs_status_t mock_iface_open(struct uct_md                 *md,
                             const struct uct_iface_params *params,
                             struct uct_iface             **iface_p);
void         mock_iface_close(struct uct_iface *iface);
void         mock_iface_query(const struct uct_iface *iface,
                              struct uct_iface_attr  *attr_p);
void         mock_iface_address(const struct uct_iface *iface, uint8_t *bytes);
ucs_status_t mock_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                              size_t size_bytes, char *reason);
unsigned     mock_progress(struct uct_iface *iface);
void         mock_am_release(struct uct_iface *iface, void *data);
void         mock_iface_kill(struct mock_iface *self);

/* mock_ep.c */
ucs_status_t      mock_ep_create(struct uct_iface           *iface,
                                 const struct uct_ep_params *params,
                                 struct uct_ep             **ep_p);
void              mock_ep_destroy(struct uct_ep *ep);
enum uct_may_send mock_may_send(struct uct_ep *ep);
/* What every operation asks first. */
ucs_status_t mock_begin(struct mock_ep *ep, enum mock_op op, unsigned flags);
ucs_status_t mock_ep_flush(struct uct_ep *ep, struct uct_req *req,
                           unsigned flags);
void         mock_source_free(struct mock_source *source);

/* mock_am.c */
ucs_status_t mock_am_short(struct uct_ep *ep, uint8_t am_id, uint64_t header,
                           const void *payload, size_t length, unsigned flags);
ssize_t      mock_am_bcopy(struct uct_ep *ep, uint8_t am_id, uct_pack_fn pack,
                           void *arg, size_t length_max, unsigned flags);
ucs_status_t mock_am_zcopy(struct uct_ep *ep, uint8_t am_id, const void *header,
                           size_t header_length, const struct uct_iov *iov,
                           unsigned iov_count, struct uct_req *req,
                           unsigned flags);

/* mock_rma.c */
uct_put_short_proc mock_put_short;
uct_put_bcopy_proc mock_put_bcopy;
uct_get_bcopy_proc mock_get_bcopy;
uct_zcopy_proc     mock_put_zcopy;
uct_zcopy_proc     mock_get_zcopy;

/* mock_item.c: one thing on the wire */
struct mock_item *mock_item_new(struct mock_ep *ep, enum mock_kind kind);
/* Lend the caller's buffers to it. */
void mock_item_lend(struct mock_item *item, const struct uct_iov *iov,
                    unsigned iov_count);
/* Accept it; with a request, or without. @return what the caller is told. */
ucs_status_t mock_item_accept(struct mock_item *item, struct uct_req *req,
                              bool is_lending);
/* May a put or get touch all that it names of that interface's memory? */
bool mock_item_is_allowed(const struct mock_item  *item,
                          const struct mock_iface *owner);
/* A registration that it names of memory that is gone; NULL: none. */
const struct mock_mem *mock_item_stale(const struct mock_item  *item,
                                       const struct mock_iface *owner);
/* Read the lent bytes: they are the caller's again. */
void mock_item_gather(struct mock_item *item);
/* Nobody will complete it any more. */
void mock_item_detach(struct mock_item *item);
/* Remove it from the wire and free it. */
void mock_item_free(struct mock_item *item);

/* mock_wire.c: what moves */
/* May it arrive, as far as its order goes? */
bool mock_item_may_go(const struct mock_item *item);
/* Let what may arrive at that interface arrive. @return how many. */
unsigned mock_wire_arrive(struct mock_iface *self);
/* Complete what has finished of that interface. @return how many. */
unsigned mock_wire_complete(struct mock_iface *self);
/* A put or get changes memory now. */
void mock_item_execute(struct mock_item *item);
/* Those of the endpoint that are on the way are lost. */
void mock_wire_lose(struct mock_ep *ep);

/* mock_clock.c: what time it is at each host */
void mock_clock_spend(unsigned host, double time_s);
/* The sender gives it to its link. */
void mock_clock_accept(struct mock_item *item);
/* The receiver's processor takes it. */
void mock_clock_hand_up(const struct mock_item *item);
/* The sender's processor hears of it. */
void mock_clock_complete(const struct mock_item *item);
void mock_clock_register(unsigned host, unsigned device, size_t length);
void mock_clock_restart(void);

/* mock_journal.c */
int  mock_journal_add(const struct mock_event *event);
void mock_journal_item(struct mock_item *item, enum mock_op op);
void mock_bad(const char *format, ...) UCS_PRINTF(1, 2);
/* Does a fault hit this operation? @return it, or NULL. */
const struct mock_fault *mock_fault_hit(enum mock_op op, unsigned host);

#endif
