/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/unexpected.h - storing messages that came before their receive. */
#ifndef UCP_TAG_UNEXPECTED_H_
#define UCP_TAG_UNEXPECTED_H_

#include "ucp/tag/recv.h"

/* Store a message or its start behind those that wait already.
 * @return UCS_OK: copied. UCS_INPROGRESS: the transport's buffer is kept.
 *         Without memory the message is lost: its endpoint fails with
 *         UCS_ERR_NO_MEMORY and one line says so; UCS_OK. */
ucs_status_t ucp_unexpected_store(const struct ucp_arrival *arrival,
                                  enum ucp_unexpected_kind  kind);

/* The sender of that RNDV will not go on: forget the message, or let its
 * receive fail if a probe has taken it already. */
void ucp_unexpected_forget(struct ucp_ep *ep, uint64_t id, ucs_status_t status);

#endif
