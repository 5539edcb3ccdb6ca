/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.h - one way to break a conversation.
 *
 * It is applied while an arrow is on the wire and has not arrived, or after
 * the last. What is allowed afterwards:
 *
 *   WHOLE   nothing was lost: both ends as drawn
 *   LIE     as WHOLE, and the receiver of the lie has counted a bad id
 *   CUT     each end completes as drawn, or with what its way says; or with
 *           UCS_ERR_CANCELED if the test took back what nothing had matched */
#ifndef TEST_UCP_WAYS_H_
#define TEST_UCP_WAYS_H_

#include "ucp/play.h"

enum outcome { WHOLE, LIE, CUT };

/* The message that a way is about; bytes [length]. */
struct copy {
    uint64_t channel;
    unsigned to;
    uint8_t  am_id;
    size_t   length;
    uint8_t *bytes;
};

struct way {
    const char  *name;
    enum outcome outcome;
    /* Before the arrow arrives; NULL: nothing. @return false: this way means
     * nothing here. */
    bool (*before)(struct play *play, struct copy *copy);
    /* After it arrived. */
    void (*after)(struct play *play, const struct copy *copy);
    /* After both are complete. */
    void (*late)(struct play *play, const struct copy *copy);
    /* CUT: the errors that S, and that R, may end with. UCS_OK: none. */
    ucs_status_t errors[2];
    /* CUT: whose error handlers are told, once for each endpoint. */
    bool tells[2];
    bool is_orderly;   /* CUT: if S ends as drawn, R does too */
    bool needs_answer; /* only messages that name a request */
    bool leaves_peer;  /* S may have to close too, to be rid of its send */
    /* Or a fault at the k-th operation. */
    struct mock_fault fault;
};

/* The last has no name. */
extern const struct way ways[];

/* Cancel the request of a side. @return false: there is none. */
bool way_cancel_side(struct play *play, int side);
/* Close a side's endpoint. */
bool way_close_side(struct play *play, int side,
                    const ucp_request_param_t *param);

#endif
