/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_key.h - the memory of a process, named for others.
 *
 *   0 version  1 rights  2..9 name  10..17 address  18..25 length
 *   26..33 process start  34..37 pid  38..41 PID namespace  42..45 check
 *   little endian, 46 bytes
 *
 * Nobody at the target looks a name up: the kernel lets a process of the same
 * user read and write all of it anyway (docs/transports/sm.md, "Trust"). So
 * the key itself says what it opens, and the end that reads or writes holds to
 * it. The check finds damage, not ill will.
 *
 * Pure, but for the memory of the objects. Thread: any. */
#ifndef UCT_SM_KEY_H_
#define UCT_SM_KEY_H_

#include "uct/api/transport.h"
#include "uct/sm/sm_address.h"

enum {
    UCT_SM_KEY_VERSION = 1,
    UCT_SM_KEY_BYTES   = 46,
};
_Static_assert((int)UCT_SM_KEY_BYTES <= (int)UCT_RKEY_BYTES_MAX,
               "a key is not longer than keys may be");

/* access  enum uct_access
 * name    no other region of this host has it, as far as chance goes */
struct uct_sm_key {
    uint8_t  access;
    uint64_t name;
    uint64_t address;
    uint64_t length;
    uint64_t process_start;
    int32_t  pid;
    uint32_t pid_namespace;
};

/* @param bytes  [UCT_SM_KEY_BYTES]. */
void uct_sm_key_encode(const struct uct_sm_key *key, uint8_t *bytes);

/* @return UCS_OK; UCS_ERR_INVALID_PARAM: not a key of this version, or
 *         damaged. */
UCS_MUST_USE ucs_status_t uct_sm_key_decode(const uint8_t     *bytes,
                                            size_t             size_bytes,
                                            struct uct_sm_key *key_p);

/* Does the key open [address, address + length) for that access? */
bool uct_sm_key_allows(const struct uct_sm_key *key, uint64_t address,
                       size_t length, unsigned access);

/* Is it a key of that process, not of another one or of one that had the same
 * number before? */
bool uct_sm_key_is_of(const struct uct_sm_key     *key,
                      const struct uct_sm_address *address);

/* The key of an unpacked one. */
const struct uct_sm_key *uct_sm_key_of(const struct uct_rkey *rkey);

/* The memory domain: who we are, and the next name. */
ucs_status_t uct_sm_md_open(const struct uct_device *device,
                            struct uct_md          **md_p);
void         uct_sm_md_close(struct uct_md *md);
ucs_status_t uct_sm_mem_register(struct uct_md *md, void *address,
                                 size_t length, unsigned access,
                                 struct uct_mem **mem_p);
void         uct_sm_mem_release(struct uct_mem *mem);
size_t       uct_sm_rkey_pack(const struct uct_mem *mem, uint8_t *bytes);
ucs_status_t uct_sm_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                                size_t size_bytes, struct uct_rkey **rkey_p);
void         uct_sm_rkey_release(struct uct_rkey *rkey);

#endif
