/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_wire.c - what moves: which thing may arrive before which, arriving, and
 * completing.
 *
 *   one endpoint:   [AM 1][PUT 2][AM 3, any order][AM 4]
 *   AM 4 waits for AM 1, and for PUT 2 if the device says PUT_BEFORE_AM;
 *   AM 3 waits for PUT 2 only then; PUT 2 waits for nobody.
 *
 * A callback may change the wire, so after each the search begins anew; what
 * was accepted meanwhile waits for the next progress. */
#include "mock/mock_private.h"

#include "uct/base/am.h"

static bool mock_puts_come_first(const struct mock_item *item)
{
    unsigned device = item->source->iface->device;

    return mock_world.setup.devices[device].flags & UCT_IFACE_PUT_BEFORE_AM;
}

/* Does an earlier thing of the same endpoint hold this one back? */
static bool mock_item_waits_for(const struct mock_item *item,
                                const struct mock_item *earlier)
{
    if (item->kind == MOCK_ITEM_END) {
        return true;
    }
    if (item->kind != MOCK_ITEM_AM) {
        return false;
    }
    if (earlier->kind == MOCK_ITEM_PUT) {
        return mock_puts_come_first(item);
    }
    return (earlier->kind == MOCK_ITEM_AM) && !item->is_any_order &&
           !earlier->is_any_order;
}

bool mock_item_may_go(const struct mock_item *item)
{
    const struct mock_item *earlier;

    if (item->has_arrived || (item->to == NULL) || item->to->is_dead) {
        return false;
    }
    ucs_list_for_each (earlier, &mock_world.wire, link) {
        if (earlier == item) {
            return true;
        }
        if ((earlier->source == item->source) && !earlier->has_arrived &&
            mock_item_waits_for(item, earlier)) {
            return false;
        }
    }
    return true;
}

/* Is it held back until the test says so? */
static bool mock_item_is_held(const struct mock_item *item)
{
    return mock_world.setup.is_held && !item->is_released &&
           (item->kind != MOCK_ITEM_END);
}

static bool mock_item_concerns(const struct mock_item  *item,
                               const struct mock_iface *self)
{
    bool is_rma =
        (item->kind == MOCK_ITEM_PUT) || (item->kind == MOCK_ITEM_GET);

    return (item->to == self) || (is_rma && (item->from == self));
}

/* Finished with on both sides? Then free it. */
static void mock_item_settle(struct mock_item *item)
{
    if (item->has_arrived && (item->req == NULL) && !item->is_own_used) {
        mock_item_free(item);
    }
}

static void mock_item_set_arrived(struct mock_item *item)
{
    item->has_arrived = true;
    if (item->ep != NULL) {
        --item->ep->on_way;
    }
}

/* Is it read into pages of registrations that nobody has any more? */
static bool mock_iov_is_stale(const struct mock_item *item)
{
    unsigned index;

    for (index = 0; index < item->iov_count; ++index) {
        const struct uct_mem *mem = item->iov[index].mem;

        if ((mem != NULL) &&
            mock_mem_is_stale(ucs_container_of(mem, struct mock_mem, base))) {
            return true;
        }
    }
    return false;
}

/* Copy between the item's bytes and the target's pieces. */
static void mock_item_move(struct mock_item *item)
{
    uint8_t *bytes = item->data;
    unsigned index;

    for (index = 0; index < item->remote_count; ++index) {
        size_t length = item->remote[index].length;
        void  *there  = (void *)(uintptr_t)item->remote[index].address;

        if (length > 0) {
            (item->kind == MOCK_ITEM_PUT) ? memcpy(there, bytes, length)
                                          : memcpy(bytes, there, length);
        }
        bytes += length;
    }
}

void mock_item_execute(struct mock_item *item)
{
    bool is_put = (item->kind == MOCK_ITEM_PUT);
    bool is_stale; /* old pages: nobody sees what is done to them */

    if ((item->status == UCS_OK) && !mock_item_is_allowed(item, item->to)) {
        item->status = UCS_ERR_INVALID_ADDR;
    }
    if (is_put) {
        mock_item_gather(item);
    }
    is_stale =
        (item->status == UCS_OK) && (mock_item_stale(item, item->to) != NULL);
    if ((item->status == UCS_OK) && !is_stale && (is_put || item->is_lent)) {
        mock_item_move(item);
    }
    if ((item->status == UCS_OK) && !is_stale && !is_put && item->is_lent &&
        !mock_iov_is_stale(item)) {
        uct_iov_scatter(item->iov, item->iov_count, item->data);
    }
    item->is_lent = false;
    if (item->event >= 0) {
        mock_world.events[item->event].status = item->status;
    }
    mock_item_set_arrived(item);
    mock_item_settle(item);
}

static void mock_item_hand_up(struct mock_iface *self, struct mock_item *item)
{
    struct mock_source *source = item->source;
    uint8_t            *data;
    size_t              length = item->length;
    uint8_t             am_id  = item->am_id;
    bool may_keep = (self->kept_count < mock_world.setup.kept_max) &&
                    (self->base.transport->am_release != NULL);

    mock_item_gather(item);
    mock_clock_hand_up(item);
    data       = item->data;
    item->data = NULL;
    mock_item_set_arrived(item);
    mock_item_settle(item);
    if (uct_iface_deliver(&self->base, am_id, &source->base, data, length,
                          may_keep ? UCT_AM_MAY_KEEP : 0) == UCS_INPROGRESS) {
        ++self->kept_count;
    } else {
        free(data);
    }
}

static void mock_item_arrive(struct mock_iface *self, struct mock_item *item)
{
    struct mock_source *source = item->source;

    switch (item->kind) {
    case MOCK_ITEM_AM:
        mock_item_hand_up(self, item);
        break;
    case MOCK_ITEM_PUT:
    case MOCK_ITEM_GET:
        mock_item_execute(item);
        break;
    case MOCK_ITEM_END:
        mock_item_free(item);
        uct_iface_end_source(&self->base, &source->base, UCS_OK);
        mock_source_free(source);
        break;
    case MOCK_ITEM_FLUSH:
        break;
    }
}

/* The next that may arrive here; with a seed, any of them. */
static struct mock_item *mock_wire_pick(const struct mock_iface *self,
                                        uint64_t                 number_max)
{
    struct mock_item *item;
    struct mock_item *picked = NULL;
    uint64_t          count  = 0;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->number > number_max) || !mock_item_concerns(item, self) ||
            mock_item_is_held(item) || !mock_item_may_go(item)) {
            continue;
        }
        if (mock_world.setup.seed == 0) {
            return item;
        }
        if (mock_random() % ++count == 0) {
            picked = item;
        }
    }
    return picked;
}

unsigned mock_wire_arrive(struct mock_iface *self)
{
    uint64_t          number_max = mock_world.number;
    unsigned          count      = 0;
    struct mock_item *item;

    while (!self->is_dead) {
        if ((mock_world.setup.seed != 0) && (mock_random() % 4 == 0)) {
            break; /* it takes its time */
        }
        item = mock_wire_pick(self, number_max);
        if (item == NULL) {
            break;
        }
        mock_item_arrive(self, item);
        ++count;
    }
    return count;
}

/* Is everything before it done at the target? */
static bool mock_flush_is_done(const struct mock_item *flush)
{
    const struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->ep == flush->ep) && (item->number < flush->number) &&
            !item->has_arrived &&
            ((item->kind == MOCK_ITEM_PUT) || (item->kind == MOCK_ITEM_GET))) {
            return false;
        }
    }
    return true;
}

static bool mock_item_is_complete(const struct mock_item *item)
{
    switch (item->kind) {
    case MOCK_ITEM_AM:
    case MOCK_ITEM_PUT:
        return item->has_arrived || (!mock_world.setup.completes_late &&
                                     (item->from->steps > item->accepted_step));
    case MOCK_ITEM_GET:
        return item->has_arrived;
    case MOCK_ITEM_FLUSH:
        return mock_flush_is_done(item);
    case MOCK_ITEM_END:
        break;
    }
    return false;
}

static struct mock_item *mock_wire_completed(const struct mock_iface *self)
{
    struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->ep != NULL) && (item->from == self) && (item->req != NULL) &&
            mock_item_is_complete(item)) {
            return item;
        }
    }
    return NULL;
}

unsigned mock_wire_complete(struct mock_iface *self)
{
    unsigned          count = 0;
    struct mock_item *item;
    struct mock_ep   *ep;
    struct uct_req   *req;
    ucs_status_t      status;

    while ((item = mock_wire_completed(self)) != NULL) {
        ep        = item->ep;
        req       = item->req;
        status    = item->status;
        item->req = NULL;
        mock_clock_complete(item);
        mock_item_gather(item);
        mock_item_settle(item); /* an item of its own request stays */
        (void)ucti_inflight_finish(&ep->inflight, req, status);
        ++count;
    }
    return count;
}

void mock_wire_lose(struct mock_ep *ep)
{
    struct mock_item *item, *next;

    ucs_list_for_each_safe (item, next, &mock_world.wire, link) {
        if (item->ep == ep) {
            if (!item->has_arrived) {
                mock_item_set_arrived(item);
            }
            item->req     = NULL;
            item->is_lent = false;
            item->source  = NULL;
            mock_item_settle(item);
        }
    }
}
