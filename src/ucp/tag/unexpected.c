/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/unexpected.c - messages that came before their receive.
 *
 * Where the bytes lie: small ones behind the struct, in pools by size; larger
 * ones in the transport's buffer if it may be kept, else in a block of their
 * own. A multi-fragment eager message gets room for all of it at once. */
#include "ucp/tag/unexpected.h"

#include <stdlib.h>

#include "ucp/core/worker.h"
#include "ucs/log.h"

/* Longest message that is stored whole; the length comes from the peer. No
 * address space has more. */
static const size_t unexpected_bytes_max = (size_t)1 << 47;

/* Data bytes that fit an element of each pool. Guess: a control-sized, a
 * kilobyte and a page-sized message cover what MPI programs leave waiting. */
static const size_t pool_data_bytes[UCP_UNEXPECTED_POOL_COUNT] = {64, 1024,
                                                                  8192};

ucs_status_t ucp_tag_queues_init(struct ucp_worker *worker)
{
    struct ucp_tag_queues  *tag    = &worker->tag;
    struct ucs_mpool_params params = {.name = "unexpected messages"};
    ucs_status_t            status;
    unsigned                count;

    status = ucp_tag_match_init(&tag->match,
                                worker->context->options.tag_sender_mask);
    if (status != UCS_OK) {
        return status;
    }
    for (count = 0; count < UCP_UNEXPECTED_POOL_COUNT; ++count) {
        params.element_bytes =
            sizeof(struct ucp_unexpected) + pool_data_bytes[count];
        params.chunk_count = 32;
        status             = ucsi_mpool_init(&tag->pools[count], &params);
        if (status != UCS_OK) {
            goto cleanup_pools;
        }
    }
    return UCS_OK;

cleanup_pools:
    while (count-- > 0) {
        ucsi_mpool_cleanup(&tag->pools[count], false);
    }
    ucp_tag_match_cleanup(&tag->match);
    return status;
}

void ucp_unexpected_drop_all(struct ucp_worker *worker)
{
    struct ucp_tag_match      *match = &worker->tag.match;
    struct ucp_tag_unexpected *waiting, *next;

    ucs_list_for_each_safe (waiting, next, &match->arrivals, arrival) {
        ucp_tag_match_remove(match, waiting);
        ucp_unexpected_free(
            ucs_container_of(waiting, struct ucp_unexpected, match));
    }
}

void ucp_tag_queues_cleanup(struct ucp_worker *worker)
{
    struct ucp_tag_queues *tag = &worker->tag;

    for (unsigned i = 0; i < UCP_UNEXPECTED_POOL_COUNT; ++i) {
        ucsi_mpool_cleanup(&tag->pools[i], false);
    }
    ucp_tag_match_cleanup(&tag->match);
}

/* An object with room for size_bytes of data behind it. */
static struct ucp_unexpected *unexpected_alloc(struct ucp_worker *worker,
                                               size_t             size_bytes)
{
    struct ucp_unexpected *unexpected = NULL;

    for (unsigned i = 0; i < UCP_UNEXPECTED_POOL_COUNT; ++i) {
        if (size_bytes <= pool_data_bytes[i]) {
            unexpected = ucs_mpool_get(&worker->tag.pools[i]);
            if (unexpected != NULL) {
                unexpected->is_pooled = true;
            }
            return unexpected;
        }
    }
    if (size_bytes > unexpected_bytes_max) {
        return NULL; /* the sum below would be small again */
    }
    unexpected = malloc(sizeof(*unexpected) + size_bytes);
    if (unexpected != NULL) {
        unexpected->is_pooled = false;
    }
    return unexpected;
}

static void unexpected_lost(const struct ucp_arrival *arrival)
{
    char text[128];

    ucs_error("no memory to keep a message of %zu bytes, tag 0x%lx, from %s; "
              "post receives earlier or lower UCX_RNDV_THRESH",
              arrival->length, (unsigned long)arrival->tag,
              ucp_ep_describe(arrival->ep, text, sizeof(text)));
    ucp_ep_fail(arrival->ep, UCS_ERR_NO_MEMORY);
}

/* Should the transport's buffer be kept rather than copied? */
static bool unexpected_keeps(const struct ucp_arrival *arrival,
                             enum ucp_unexpected_kind  kind)
{
    return (arrival->am_flags & UCT_AM_MAY_KEEP) &&
           (kind != UCP_UNEXPECTED_EAGER) &&
           (arrival->data_length > pool_data_bytes[0]);
}

ucs_status_t ucp_unexpected_store(const struct ucp_arrival *arrival,
                                  enum ucp_unexpected_kind  kind)
{
    struct ucp_worker     *worker = arrival->worker;
    bool                   keeps  = unexpected_keeps(arrival, kind);
    size_t                 room;
    struct ucp_unexpected *unexpected;

    room       = (kind == UCP_UNEXPECTED_EAGER)
                     ? arrival->length
                     : arrival->head_length + arrival->data_length;
    unexpected = unexpected_alloc(worker, keeps ? 0 : room);
    if (unexpected == NULL) {
        unexpected_lost(arrival);
        return UCS_OK;
    }

    unexpected->kind        = kind;
    unexpected->failed      = UCS_OK;
    unexpected->is_probed   = false;
    unexpected->id          = arrival->id;
    unexpected->length      = arrival->length;
    unexpected->data_length = arrival->data_length;
    unexpected->candidate   = arrival->candidate;
    unexpected->head_length = arrival->head_length;
    unexpected->kept_iface  = NULL;
    unexpected->ep = (kind == UCP_UNEXPECTED_WHOLE) ? NULL : arrival->ep;
    if (unexpected->ep != NULL) {
        ucs_list_add_tail(&arrival->ep->unexpected, &unexpected->ep_link);
        if (kind == UCP_UNEXPECTED_EAGER) {
            arrival->ep->eager.unexpected = unexpected;
        }
    }
    if (keeps) {
        unexpected->data       = (uint8_t *)(uintptr_t)arrival->data;
        unexpected->kept_iface = arrival->iface;
        unexpected->kept_data  = arrival->base;
    } else {
        unexpected->data = (uint8_t *)(unexpected + 1) + arrival->head_length;
        memcpy(unexpected + 1, arrival->data - arrival->head_length,
               arrival->head_length + arrival->data_length);
    }
    ucp_tag_match_store(&worker->tag.match, &unexpected->match, arrival->tag);
    return keeps ? UCS_INPROGRESS : UCS_OK;
}

void ucp_unexpected_free(struct ucp_unexpected *unexpected)
{
    if (unexpected->ep != NULL) {
        if (unexpected->ep->eager.unexpected == unexpected) {
            unexpected->ep->eager.unexpected = NULL;
        }
        ucs_list_remove(&unexpected->ep_link);
    }
    if (unexpected->kept_iface != NULL) {
        uct_iface_release(unexpected->kept_iface, unexpected->kept_data);
    }
    if (unexpected->is_pooled) {
        ucs_mpool_put(unexpected);
    } else {
        free(unexpected);
    }
}

void ucp_unexpected_orphan(struct ucp_ep *ep, ucs_status_t status)
{
    struct ucp_unexpected *unexpected, *next;

    ucs_list_for_each_safe (unexpected, next, &ep->unexpected, ep_link) {
        ucs_list_remove(&unexpected->ep_link);
        unexpected->ep = NULL;
        if (unexpected->data_length < unexpected->length) {
            unexpected->failed = status;
        }
    }
    ep->eager.unexpected = NULL;
}

void ucp_unexpected_forget(struct ucp_ep *ep, uint64_t id, ucs_status_t status)
{
    struct ucp_unexpected *unexpected;

    ucs_list_for_each (unexpected, &ep->unexpected, ep_link) {
        if ((unexpected->kind != UCP_UNEXPECTED_RNDV) ||
            (unexpected->id != id)) {
            continue;
        }
        if (unexpected->is_probed) {
            unexpected->failed = status;
        } else {
            ucp_tag_match_remove(&ep->worker->tag.match, &unexpected->match);
            ucp_unexpected_free(unexpected);
        }
        return;
    }
}
