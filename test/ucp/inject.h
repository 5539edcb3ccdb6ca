/* SPDX-License-Identifier: BSD-3-Clause */
/* inject.h - hand a message to a worker as if its peer had sent it: forged,
 * late, twice, cut. The bytes lie in a block of exactly their length, so that
 * AddressSanitizer sees a read behind them. */
#ifndef TEST_UCP_INJECT_H_
#define TEST_UCP_INJECT_H_

#include <stdlib.h>
#include <string.h>

#include "ucp/core/worker.h"
#include "ucp/proto/wire.h"
#include "ucs/assert.h"

/* @param ep  Whose message it is; NULL: of a source that was not announced.
 * @return what the handler answered; it never keeps the bytes. */
static inline ucs_status_t inject(struct ucp_worker *worker, struct ucp_ep *ep,
                                  uint8_t am_id, const void *bytes,
                                  size_t length)
{
    const struct uct_am_entry *entry  = &worker->ifaces[0].iface->am[am_id];
    struct uct_source          source = {.user = ep};
    void                      *copy   = malloc((length == 0) ? 1 : length);
    ucs_status_t               status;

    ucs_check((copy != NULL) && (entry->fn != NULL));
    memcpy(copy, bytes, length);
    status = entry->fn(entry->arg, &source, copy, length, 0);
    free(copy);
    if ((ep == NULL) && (source.user != NULL)) {
        /* An announcement was taken; this source ends with the call. */
        ((struct ucp_ep *)source.user)->source = NULL;
    }
    return status;
}

static inline void inject_ack(struct ucp_worker *worker, struct ucp_ep *ep,
                              struct ucp_wire_ack ack)
{
    uint8_t bytes[UCP_WIRE_ACK_BYTES];

    ucp_wire_ack_encode(bytes, &ack);
    (void)inject(worker, ep, UCP_AM_ACK, bytes, sizeof(bytes));
}

static inline void inject_abort(struct ucp_worker *worker, struct ucp_ep *ep,
                                struct ucp_wire_abort abort)
{
    uint8_t bytes[UCP_WIRE_ABORT_BYTES];

    ucp_wire_abort_encode(bytes, &abort);
    (void)inject(worker, ep, UCP_AM_ABORT, bytes, sizeof(bytes));
}

/* EAGER_FIRST; the data is zeros. */
static inline void inject_first(struct ucp_worker *worker, struct ucp_ep *ep,
                                struct ucp_wire_start start, size_t data_length)
{
    uint8_t *bytes = calloc(1, UCP_WIRE_FIRST_BYTES + data_length);

    ucs_check(bytes != NULL);
    ucp_wire_start_encode(bytes, &start);
    (void)inject(worker, ep, UCP_AM_EAGER_FIRST, bytes,
                 UCP_WIRE_FIRST_BYTES + data_length);
    free(bytes);
}

/* RNDV or RGET; head and data are zeros. */
static inline void inject_rndv(struct ucp_worker *worker, struct ucp_ep *ep,
                               uint8_t am_id, struct ucp_wire_rndv rndv,
                               size_t data_length)
{
    size_t   length = UCP_WIRE_RNDV_BYTES + rndv.head_length + data_length;
    uint8_t *bytes  = calloc(1, length);

    ucs_check(bytes != NULL);
    ucp_wire_rndv_encode(bytes, &rndv);
    (void)inject(worker, ep, am_id, bytes, length);
    free(bytes);
}

/* am_id UCP_AM_EAGER_MORE or UCP_AM_FRAG. */
static inline void inject_piece(struct ucp_worker *worker, struct ucp_ep *ep,
                                uint8_t am_id, struct ucp_wire_piece piece,
                                size_t data_length)
{
    uint8_t *bytes = calloc(1, UCP_WIRE_FRAG_BYTES + data_length);

    ucs_check(bytes != NULL);
    ucp_wire_piece_encode(bytes, &piece);
    (void)inject(worker, ep, am_id, bytes, UCP_WIRE_FRAG_BYTES + data_length);
    free(bytes);
}

#endif
