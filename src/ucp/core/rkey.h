/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/rkey.h - the right to reach a peer's memory.
 *
 *   owner:  handle --> bytes (core/rkey_wire.h): one key per domain
 *   user:   bytes + endpoint --> struct ucp_rkey: for each lane the key of
 *           the owner's domain that it leads to
 *
 * A key is good with endpoints to its owner only; the transports check it
 * against bounds and rights at each use. It may outlive the endpoint that it
 * was made with. Thread: any, with the worker held for open. */
#ifndef UCP_CORE_RKEY_H_
#define UCP_CORE_RKEY_H_

#include "ucp/core/ep.h"
#include "ucp/core/mem.h"
#include "ucp/core/rkey_wire.h"

/* A key of one of the owner's domains, for one of ours. */
struct ucp_rkey_key {
    struct uct_rkey *uct; /* uct->md: ours */
    uint8_t          domain;
};

/* name  of the memory; 0: a key to nothing (length 0)
 * keys  [key_count] in no order */
struct ucp_rkey {
    struct ucp_context *context;
    uint64_t            name;
    unsigned            key_count;
    struct ucp_rkey_key keys[];
};

/* Write the key of a handle.
 * @param bytes  [UCP_RKEY_BYTES_MAX]. @return its length. */
size_t ucp_rkey_write(const struct ucp_mem *mem, uint8_t *bytes);

/* Make a key of bytes from outside, for use with ep.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: the bytes are no key; the log says
 *         why. UCS_ERR_UNREACHABLE: no lane of ep understands any of its keys.
 *         UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_rkey_open(struct ucp_ep *ep, const uint8_t *bytes,
                                        size_t            size_bytes,
                                        struct ucp_rkey **rkey_p);
void                      ucp_rkey_close(struct ucp_rkey *rkey);

/* The key for operations over that lane of an endpoint to its owner; NULL:
 * there is none. */
const struct uct_rkey *ucp_rkey_for(const struct ucp_rkey *rkey,
                                    const struct ucp_ep *ep, unsigned lane);

/* Where this process can load and store the owner's `address`.
 * @return UCS_OK; UCS_ERR_UNREACHABLE: it cannot; UCS_ERR_INVALID_ADDR: it
 *         could, but the memory does not have that address. */
UCS_MUST_USE ucs_status_t ucp_rkey_pointer(const struct ucp_rkey *rkey,
                                           uint64_t address, void **pointer_p);

#endif
