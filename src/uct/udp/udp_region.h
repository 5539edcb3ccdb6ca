/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_region.h - registered memory: regions by a random 64-bit key.
 *
 *     mem_register --> key --rkey_pack--> peer --PUT, GET, ATOMIC--> key?
 * bounds? right?
 *
 * A key is a secret: who has not got it cannot guess it. The table of a domain
 * is looked at for every packet that touches a region, under a lock that a
 * release waits for, so nothing touches memory that was released. */
#ifndef UCT_UDP_REGION_H_
#define UCT_UDP_REGION_H_

#include <pthread.h>

#include "ucs/hash.h"
#include "uct/api/transport.h"
#include "uct/udp/udp_wire.h"

enum { UDP_RKEY_VERSION = 1, UDP_RKEY_BYTES = 26 };

/* regions  key -> struct udp_mem, guarded by lock: any thread */
struct udp_md {
    struct uct_md   base;
    pthread_mutex_t lock;
    struct ucs_hash regions;
};

/* What a key says, so that the asker can refuse by itself. */
struct udp_rkey {
    struct uct_rkey base;
    uint64_t        key, address, length;
    uint8_t         access;
};

ucs_status_t udp_md_open(const struct uct_device *device, struct uct_md **md_p);
void         udp_md_close(struct uct_md *md);
ucs_status_t udp_mem_register(struct uct_md *md, void *address, size_t length,
                              unsigned access, struct uct_mem **mem_p);
void         udp_mem_release(struct uct_mem *mem);
size_t       udp_rkey_pack(const struct uct_mem *mem, uint8_t *bytes);
ucs_status_t udp_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                             size_t size_bytes, struct uct_rkey **rkey_p);
void         udp_rkey_release(struct uct_rkey *rkey);

/* The asker's check. @return UCS_OK, or UCS_ERR_INVALID_ADDR. */
ucs_status_t udp_rkey_check(const struct uct_rkey *rkey, uint64_t address,
                            size_t length, unsigned right);

/* The target's check: find the bytes and hold them until leave.
 * @return NULL, and nothing is held: no such key, bounds, or right. */
void *udp_region_enter(struct udp_md *md, const struct udp_access *access,
                       size_t length, unsigned right);
void  udp_region_leave(struct udp_md *md);

#endif
