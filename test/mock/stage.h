/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.h - two hosts of the mock, without libucp: an interface each, an
 * endpoint from the first to the second, a registration each. */
#ifndef TEST_MOCK_STAGE_H_
#define TEST_MOCK_STAGE_H_

#include "lib/test.h"
#include "mock/mock.h"
#include "uct/api/uct.h"

enum { STAGE_AM_ID = 3, STAGE_BYTES = 1000 };

/* text  the messages that arrived, a letter each */
struct stage {
    const struct mock_control  *mock;
    const struct uct_transport *tl;
    struct uct_md              *mds[2];
    struct uct_iface           *ifaces[2];
    struct uct_ep              *ep;
    struct uct_mem             *local;
    struct uct_mem             *remote;
    struct uct_rkey            *rkey;
    char                        text[32];
    unsigned                    ended;
    unsigned                    errors;
    unsigned                    pending;
    unsigned                    done;
    ucs_status_t                done_status;
    struct uct_req              req;
    uint8_t                     here[STAGE_BYTES];
    uint8_t                     there[STAGE_BYTES];
};

extern struct stage *on_stage;

/* The callback of on_stage->req: counts. */
void stage_on_done(struct uct_req *req);

/* The wire is held; the journal is empty. */
void stage_open(struct stage *stage);
void stage_close(struct stage *stage);
void stage_progress(struct stage *stage);
/* Register here and there, and make the key. */
void stage_expose(struct stage *stage);

/* Send a message; put all of here to there. */
ucs_status_t stage_send(struct stage *stage, char letter, unsigned flags);
ucs_status_t stage_put(struct stage *stage);

/* The next thing on the wire arrives. */
void stage_deliver(struct stage *stage, enum mock_order order);

/* test_mock_memory.c */
extern const struct test_suite mock_memory_suite;

#endif
