/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/address.h - a worker's address as bytes.
 *
 *    0  magic 'C' 'w'      2  version 3     3  check of bytes 0-7 (CRC-8)
 *    4  length of all:2    6  entries:1     7  length of the name:1
 *    8  worker id:8       16  secret:16    32  name
 *       then for each entry
 *          length of the transport's name:1, name, domain:1, length:1,
 *          address
 *       at the end a checksum:4 (FNV-1a) over everything before
 *
 * Little endian, any alignment. Pure. What comes from outside is decoded with
 * bounds checks; a blob with any byte changed or missing is refused. The API
 * takes blobs without their length: the first 8 bytes have a check of their
 * own, so that a damaged length is never followed. */
#ifndef UCP_WIREUP_ADDRESS_H_
#define UCP_WIREUP_ADDRESS_H_

#include "ucp/api/ucp.h"
#include "uct/api/uct_def.h"

enum ucp_address_limit {
    UCP_ADDRESS_ENTRY_COUNT_MAX = 32,
    UCP_ADDRESS_BYTES_MAX       = 4096, /* MPICH's limit for one blob */
    UCP_ADDRESS_HEAD_BYTES      = 8,    /* up to where its own check goes */
    UCP_ADDRESS_HEADER_BYTES    = 32,
    UCP_ADDRESS_SECRET_BYTES    = 16,
};

/* One way to reach a worker. bytes is lent by whoever has the blob.
 * domain  which of the owner's domains of that transport: whose remote keys
 *         (core/rkey_wire.h) are good over it */
struct ucp_address_entry {
    char           transport[UCT_NAME_BYTES_MAX];
    uint8_t        domain;
    const uint8_t *bytes;
    size_t         size_bytes;
};

struct ucp_address_view {
    uint64_t                 worker_id;
    uint8_t                  secret[UCP_ADDRESS_SECRET_BYTES];
    char                     name[UCP_ENTITY_NAME_MAX];
    unsigned                 entry_count;
    struct ucp_address_entry entries[UCP_ADDRESS_ENTRY_COUNT_MAX];
};

/* Write an address. bytes NULL: only count.
 * @return its length; 0 when it does not fit in size_bytes or in a blob. */
size_t ucp_address_encode(const struct ucp_address_view *view, uint8_t *bytes,
                          size_t size_bytes);

/* How many bytes of a blob of unknown length may be read: its length, at most
 * UCP_ADDRESS_BYTES_MAX; only the head if it is damaged or of another version.
 * Reads the head only. */
size_t ucp_address_length(const uint8_t *bytes);

/* Read an address; the view lends from bytes.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR: no address, cut, or changed, with a
 *         sentence in reason [UCT_REASON_BYTES_MAX]. */
UCS_MUST_USE ucs_status_t ucp_address_decode(const uint8_t *bytes,
                                             size_t         size_bytes,
                                             struct ucp_address_view *view_p,
                                             char                    *reason);

#endif
