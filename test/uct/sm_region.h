/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/sm_region.h - we, and another process with memory that we put to
 * and get from. It waits in read() for what it is told, so nothing works only
 * because it helps. */
#ifndef TEST_UCT_SM_REGION_H_
#define TEST_UCT_SM_REGION_H_

#include "uct/sm/sm_key.h"
#include "uct/sm/sm_rma.h"
#include "uct/sm_stage.h"

enum {
    PIECE              = UCT_SM_PIECE_BYTES,
    REGION_BYTES       = 8 * PIECE,
    REGION_TRACKED_MAX = 256
};

/* What the other process tells of its region. */
struct region {
    uint64_t address;
    uint8_t  bytes[UCT_SM_KEY_BYTES];
};

/* local  [REGION_BYTES] */
struct region_pair {
    struct sm_end     end;
    struct sm_process process;
    struct region     region;
    struct uct_rkey  *rkey;
    uint8_t          *local;
};

/* Requests that completed, in their order. */
struct region_done {
    unsigned     count;
    unsigned     number[REGION_TRACKED_MAX];
    ucs_status_t status[REGION_TRACKED_MAX];
};
extern struct region_done region_done;

/* The region has pattern 1 (sm_stage_fill). Skips the test where the calls
 * are forbidden. */
void region_pair_open(struct region_pair *pair, bool wakeup);
void region_pair_close(struct region_pair *pair);
/* The same when the process has ended. */
void region_pair_free(struct region_pair *pair);
/* c check that the region has pattern 2, u unmap the upper half, l leave in
 * order and wait for a step, q quit. */
void region_tell(struct region_pair *pair, char command);
/* Get into the same place of local. */
ucs_status_t    region_pair_get(struct region_pair *pair, size_t offset,
                                size_t length, struct uct_req *req);
struct uct_req *region_track(unsigned number);
void            region_until_done(struct region_pair *pair, unsigned count);

#endif
