/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/scene.h - what fuzz_messages.c plays with, and what the user of the
 * worker does meanwhile (user.c). */
#ifndef TEST_FUZZ_SCENE_H_
#define TEST_FUZZ_SCENE_H_

#include "fuzz/tape.h"
#include "ucp/core/worker.h"
#include "ucp/wireup/address.h"

enum {
    EP_COUNT          = 2,
    STRANGER_COUNT    = 3,
    SPEAKER_COUNT     = STRANGER_COUNT + EP_COUNT,
    MESSAGE_COUNT_MAX = 4,
    POST_COUNT_MAX    = 32,
    CARRIER_AM_ID     = UCT_AM_ID_COUNT - 1,
};

/* An operation of the user that is not over; behind it in one block the
 * request, if it is ours, the buffer and its guard.
 * request      the user's pointer
 * own_request  where it is if it is ours; NULL: libucp has it
 * buffer       [length] */
struct post {
    void        *request;
    void        *own_request;
    uint8_t     *buffer;
    size_t       length;
    ucp_dt_iov_t iov[3];
};

/* The eager message in fragments that a speaker is at. */
struct forged_partial {
    uint64_t number;
    uint64_t offset;
};

/* strangers  lanes to ourselves of which libucp does not know
 * partials   of strangers, then of eps
 * messages   probed, not received
 * own        [own_bytes] the worker's address */
struct scene {
    struct tape           tape;
    ucp_worker_h          worker;
    struct uct_iface     *iface;
    ucp_datatype_t        generic;
    ucp_ep_h              eps[EP_COUNT];
    struct uct_ep        *strangers[STRANGER_COUNT];
    struct forged_partial partials[SPEAKER_COUNT];
    unsigned              message_count;
    ucp_tag_message_h     messages[MESSAGE_COUNT_MAX];
    unsigned              post_count;
    unsigned              post_count_max;
    struct post          *posts[POST_COUNT_MAX + MESSAGE_COUNT_MAX];
    size_t                request_bytes;
    size_t                own_bytes;
    uint8_t               own[UCP_ADDRESS_BYTES_MAX];
};

/* One of few tags, so that messages and receives meet. */
static inline uint64_t scene_tag(struct tape *tape)
{
    return tape_u8(tape) % 4;
}

/* The user's datatype; its states leak unless they are ended. */
void user_init(struct scene *scene);

/* One step each: what is asked for comes from the tape. */
void user_receive(struct scene *scene);
void user_send(struct scene *scene);
void user_probe(struct scene *scene);
void user_receive_probed(struct scene *scene);
void user_cancel(struct scene *scene);

/* Check and free what is complete. */
void user_sweep(struct scene *scene);

/* Nothing may hang: receive what was probed, cancel what waits. */
void user_give_up(struct scene *scene);

/* Destroy the worker; then everything must be complete. */
void user_end(struct scene *scene);

#endif
