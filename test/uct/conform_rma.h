/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/conform_rma.h - a remote region with its key, for the tests of put,
 * get and atomics. */
#ifndef TEST_UCT_CONFORM_RMA_H_
#define TEST_UCT_CONFORM_RMA_H_

#include "uct/conform.h"

enum { TARGET_LOCAL_BYTES = 1 << 16 };

struct target {
    struct world     world;
    struct lane     *lane;
    struct uct_rkey *rkey;
    uint64_t         address; /* of there's region */
    uint8_t          rkey_packed[UCT_RKEY_BYTES_MAX];
    size_t           rkey_bytes;
    struct uct_req   req;
    unsigned         done;
    ucs_status_t     status;
    struct uct_mem  *local_mem;
    uint8_t          local[TARGET_LOCAL_BYTES] UCS_ALIGNED(8);
};

/* Open a world whose there exposes its region; skip without `cap`. */
void target_open(struct target *target, const struct test_param *param,
                 enum uct_cap cap, unsigned access);
void target_close(struct target *target);
/* Look at and change there's region, not through the transport. */
void target_read(struct target *target, uint64_t offset, void *bytes,
                 size_t size_bytes);
void target_write(struct target *target, uint64_t offset, const void *bytes,
                  size_t size_bytes);
/* A request for one operation, and its end: the operation's status. */
struct uct_req *target_req(struct target *target);
ucs_status_t    target_wait(struct target *target, ucs_status_t status);
void            target_flush(struct target *target);

#endif
