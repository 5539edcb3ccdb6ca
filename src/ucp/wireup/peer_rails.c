/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/peer_rails.c - fragments of an endpoint over other lanes than its
 * message lane.
 *
 *     A                                          B
 *     |---- ANNOUNCE{number, rail k, A} --rail-->| these fragments are A's
 *     |---- ANNOUNCE{rail k is used} -message--->| its end counts
 *     |==== FRAG ============================rail>|
 *     |---- the lanes end, in any order -------->| A's end when all have ended
 *
 * So what A sent over a rail before it closed is heard before A's end. */
#include <stdlib.h>

#include "ucp/wireup/peer.h"
#include "ucs/bytes.h"
#include "ucs/log.h"

/* ---- A ---- */

/* What rail_pack needs. */
struct rail_announcement {
    const struct ucp_ep *ep;
    unsigned             lane;
    uint32_t             flag;
};

static size_t rail_pack(void *dest, void *arg)
{
    const struct rail_announcement *rail   = arg;
    const struct ucp_worker        *worker = rail->ep->worker;
    uint8_t                        *bytes  = dest;

    ucs_put_le32(bytes, rail->ep->index);
    ucs_put_le32(bytes + 4, rail->flag | (rail->lane << UCP_ANNOUNCE_SHIFT));
    if (rail->flag == UCP_ANNOUNCE_USED) {
        return UCP_ANNOUNCE_HEAD_BYTES;
    }
    ucs_put_le64(bytes + 8, worker->id);
    memcpy(bytes + 16, worker->secret, sizeof(worker->secret));
    return UCP_ANNOUNCE_RAIL_BYTES;
}

static ucs_status_t rail_say(const struct ucp_ep *ep, unsigned lane,
                             uint32_t flag)
{
    struct rail_announcement rail    = {.ep = ep, .lane = lane, .flag = flag};
    bool                     is_used = (flag == UCP_ANNOUNCE_USED);
    struct uct_ep *uct_ep = is_used ? ep->message_ep : ep->lanes[lane].uct_ep;
    ssize_t        packed;

    packed = uct_ep_am_bcopy(uct_ep, UCP_AM_ANNOUNCE, rail_pack, &rail,
                             UCP_ANNOUNCE_RAIL_BYTES, UCT_FLAG_PENDING);
    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

ucs_status_t ucp_peer_announce_rail(struct ucp_ep *ep, unsigned lane)
{
    struct ucp_ep_lane *rail = &ep->lanes[lane];
    ucs_status_t        status;

    if ((lane == 0) || rail->is_used) {
        return UCS_OK;
    }
    if (!rail->is_announced) {
        status = rail_say(ep, lane, UCP_ANNOUNCE_RAIL);
        if (status != UCS_OK) {
            return status;
        }
        rail->is_announced = true;
    }
    status        = rail_say(ep, lane, UCP_ANNOUNCE_USED);
    rail->is_used = (status == UCS_OK);
    return status;
}

/* ---- B ---- */

/* The rails of an endpoint, made when they are heard of first. */
static struct ucp_peer_rails *rails_of(struct ucp_ep *ep)
{
    if (ep->rails == NULL) {
        ep->rails = calloc(1, sizeof(*ep->rails));
    }
    if (ep->rails == NULL) {
        ucp_ep_fail(ep, ucsi_no_memory("rails", sizeof(*ep->rails)));
    }
    return ep->rails;
}

/* @return the endpoint that such a message is about; NULL: none. */
static struct ucp_ep *rail_ep(struct ucp_worker *worker, const uint8_t *bytes)
{
    struct ucp_peer *peer =
        ucsi_hash_get(&worker->peers, ucs_get_le64(bytes + 8));

    if ((peer == NULL) || (memcmp(peer->view.secret, bytes + 16,
                                  sizeof(peer->view.secret)) != 0)) {
        return NULL;
    }
    return ucp_peer_find_ep(worker, peer, ucs_get_le32(bytes));
}

bool ucp_peer_rail_announced(struct ucp_worker *worker,
                             struct uct_source *source, const uint8_t *bytes)
{
    unsigned               lane = ucs_get_le32(bytes + 4) >> UCP_ANNOUNCE_SHIFT;
    struct ucp_ep         *ep   = rail_ep(worker, bytes);
    struct ucp_peer_rails *rails = (ep == NULL) ? NULL : rails_of(ep);

    if ((rails == NULL) || (lane == 0) || (lane >= UCP_LANE_COUNT_MAX) ||
        (rails->sources[lane] != NULL)) {
        return false;
    }
    rails->sources[lane] = source;
    source->user         = ep;
    return true;
}

bool ucp_peer_rail_used(struct ucp_ep *ep, const uint8_t *bytes)
{
    unsigned               lane = ucs_get_le32(bytes + 4) >> UCP_ANNOUNCE_SHIFT;
    struct ucp_peer_rails *rails = rails_of(ep);

    if ((rails == NULL) || (lane == 0) || (lane >= UCP_LANE_COUNT_MAX)) {
        return false;
    }
    rails->used |= 1u << lane;
    return true;
}

bool ucp_peer_rails_wait(struct ucp_ep *ep, const struct uct_source *source)
{
    struct ucp_peer_rails *rails     = ep->rails;
    bool                   has_ended = true; /* the message lane */

    if (rails == NULL) {
        return false;
    }
    for (unsigned i = 1; i < UCP_LANE_COUNT_MAX; ++i) {
        if (rails->sources[i] == source) {
            rails->sources[i] = NULL;
            rails->ended |= 1u << i;
            has_ended = rails->has_ended;
        }
    }
    rails->has_ended = has_ended;
    return (ep->failed == UCS_OK) &&
           (!has_ended || ((rails->used & ~rails->ended) != 0));
}

void ucp_peer_rails_drop(struct ucp_ep *ep)
{
    for (unsigned i = 1; (ep->rails != NULL) && (i < UCP_LANE_COUNT_MAX); ++i) {
        if (ep->rails->sources[i] != NULL) {
            ep->rails->sources[i]->user = NULL;
        }
    }
    free(ep->rails);
    ep->rails = NULL;
}

void ucp_peer_rails_move(struct ucp_ep *from, struct ucp_ep *to)
{
    to->rails   = from->rails;
    from->rails = NULL;
    for (unsigned i = 1; (to->rails != NULL) && (i < UCP_LANE_COUNT_MAX); ++i) {
        if (to->rails->sources[i] != NULL) {
            to->rails->sources[i]->user = to;
        }
    }
}
