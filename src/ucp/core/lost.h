/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/lost.h - a peer that is gone without a word, and a program that
 * asked for no error handling (docs/adr/0033). */
#ifndef UCP_CORE_LOST_H_
#define UCP_CORE_LOST_H_

#include "ucp/core/ep.h"

/* UCX_LOST_PEER; what a program in error mode NONE does. */
enum ucp_lost_action {
    UCP_LOST_ABORT,
    UCP_LOST_ERROR, /* one line, and it goes on */
};

/* The peer of a user's endpoint in mode NONE, which [text] describes, is
 * silent: unless it left in order, that is said, and the process ends if
 * UCX_LOST_PEER is not error. Once for an endpoint: it fails by this. */
void ucp_ep_lost(struct ucp_ep *ep, ucs_status_t status, const char *text);

#endif
