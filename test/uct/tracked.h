/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/tracked.h - requests in flight, 'a' to 'h', that write down in which
 * order they end. */
#ifndef TEST_UCT_TRACKED_H_
#define TEST_UCT_TRACKED_H_

#include <string.h>

#include "uct/base/complete.h"
#include "uct/suites.h"

enum { REQ_COUNT = 8, ORDER_COUNT_MAX = 64 };

/* also  called in its completion; NULL: nothing */
struct tracked {
    struct uct_req req;
    char           name;
    void (*also)(struct tracked *tracked);
};

static struct uct_inflight inflight;
static struct tracked      tracked[REQ_COUNT];
static char                order[ORDER_COUNT_MAX];
static unsigned            order_count;

static inline void on_done(struct uct_req *req)
{
    struct tracked *one = ucs_container_of(req, struct tracked, req);

    order[order_count++] = one->name;
    ck_assert_int_ne(req->status, UCS_INPROGRESS);
    if (one->also != NULL) {
        one->also(one);
    }
}

static inline void tracked_open(void)
{
    unsigned index;

    uct_inflight_init(&inflight);
    memset(order, 0, sizeof(order));
    order_count = 0;
    for (index = 0; index < REQ_COUNT; ++index) {
        tracked[index].req.cb = on_done;
        tracked[index].name   = (char)('a' + index);
        tracked[index].also   = NULL;
    }
}

static inline void add(unsigned count)
{
    unsigned index;

    for (index = 0; index < count; ++index) {
        uct_inflight_add(&inflight, &tracked[index].req);
    }
}

#endif
