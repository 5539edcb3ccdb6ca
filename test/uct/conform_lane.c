/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_lane.c - one endpoint that sends a load of random messages, and
 * checks what its transport promises the sender: refusals do nothing,
 * completions come once and in order, lent bytes are left alone. */
#include "uct/conform.h"

bool lane_has(const struct lane *lane, enum lane_kind kind)
{
    const struct uct_transport *tl = lane->host->tl;

    switch (kind) {
    case LANE_SHORT:
        return tl->am_short != NULL;
    case LANE_BCOPY:
        return true;
    case LANE_ZCOPY:
        return tl->am_zcopy != NULL;
    }
    return false;
}

size_t lane_payload_max(const struct lane *lane, enum lane_kind kind)
{
    const struct uct_op_limits *limits = &lane->host->attr.am;
    size_t                      bytes  = 0;

    switch (kind) {
    case LANE_SHORT:
        bytes = limits->short_bytes_max;
        break;
    case LANE_BCOPY:
        bytes = limits->bcopy_bytes_max - CONFORM_HEADER_BYTES;
        break;
    case LANE_ZCOPY:
        bytes = limits->zcopy_bytes_max - CONFORM_HEADER_BYTES;
        break;
    }
    return ucs_min(bytes, (size_t)CONFORM_MESSAGE_BYTES - CONFORM_HEADER_BYTES);
}

/* ---- zcopy ---- */

static void slot_done(struct uct_req *req)
{
    struct slot *slot = ucs_container_of(req, struct slot, req);
    struct lane *lane = slot->lane;

    if (!slot->is_used) {
        host_bad(lane->host, "a request completed twice");
        return;
    }
    if (slot->number != lane->done_number) {
        host_bad(lane->host, "zcopy %llu completed, %llu was next",
                 (unsigned long long)slot->number,
                 (unsigned long long)lane->done_number);
    }
    if ((req->status == UCS_OK) && (lane->done_failed > 0)) {
        /* Allowed: it had finished. Counted as done all the same. */
    } else if (req->status != UCS_OK) {
        ++lane->done_failed;
    }
    lane->done_number = slot->number + 1;
    slot->is_used     = false;
    --lane->slots_used;
    /* The bytes are ours again: whoever reads them now sends rubbish. */
    memset(slot->bytes, 0xee, lane->slot_bytes);
}

static struct slot *lane_slot(struct lane *lane)
{
    unsigned index;

    for (index = 0; index < CONFORM_SLOT_COUNT; ++index) {
        if (!lane->slots[index].is_used) {
            return &lane->slots[index];
        }
    }
    return NULL;
}

static ucs_status_t lane_open_slots(struct lane *lane)
{
    struct host *host = lane->host;
    struct slot *slot;
    unsigned     index;
    ucs_status_t status;

    lane->slot_bytes =
        lane_payload_max(lane, LANE_ZCOPY) + CONFORM_HEADER_BYTES;
    for (index = 0; index < CONFORM_SLOT_COUNT; ++index) {
        slot         = &lane->slots[index];
        slot->lane   = lane;
        slot->req.cb = slot_done;
        slot->bytes  = malloc(lane->slot_bytes);
        if (slot->bytes == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        if (host->tl->mem_register != NULL) {
            status =
                host->tl->mem_register(host->md, slot->bytes, lane->slot_bytes,
                                       UCT_ACCESS_LOCAL, &slot->mem);
            if (status != UCS_OK) {
                return status;
            }
        }
    }
    return UCS_OK;
}

static void lane_close_slots(struct lane *lane)
{
    unsigned index;

    for (index = 0; index < CONFORM_SLOT_COUNT; ++index) {
        if (lane->slots[index].mem != NULL) {
            lane->host->tl->mem_release(lane->slots[index].mem);
        }
        free(lane->slots[index].bytes);
    }
}

/* Cut [bytes, bytes + length) into pieces, some of them empty. */
static unsigned lane_cut(struct lane *lane, struct slot *slot, size_t offset,
                         size_t length, struct uct_iov *iov)
{
    unsigned count_max =
        ucs_min(lane->host->attr.am.iov_count_max, (unsigned)CONFORM_IOV_COUNT);
    unsigned count = 0;
    size_t   piece;

    while (count < count_max) {
        piece = (count + 1 == count_max)
                    ? length
                    : host_random(lane->host) % (length + 1);
        if ((host_random(lane->host) % 4 == 0) && (count + 1 < count_max)) {
            piece = 0;
        }
        iov[count].length = piece;
        iov[count].buffer = (piece == 0) ? NULL : slot->bytes + offset;
        iov[count].mem    = slot->mem;
        offset += piece;
        length -= piece;
        ++count;
        if ((length == 0) && (host_random(lane->host) % 2 == 0)) {
            break;
        }
    }
    return count;
}

static ucs_status_t lane_send_zcopy(struct lane *lane, unsigned am_id,
                                    uint64_t header, size_t payload,
                                    unsigned flags)
{
    struct slot   *slot   = lane_slot(lane);
    size_t         length = payload + CONFORM_HEADER_BYTES;
    struct uct_iov iov[CONFORM_IOV_COUNT];
    uint8_t        head[4096];
    size_t         head_bytes;
    unsigned       count;
    ucs_status_t   status;

    if (slot == NULL) {
        return UCS_ERR_BUSY; /* ours, not the transport's */
    }
    memcpy(slot->bytes, &header, sizeof(header));
    message_fill(slot->bytes + CONFORM_HEADER_BYTES, header, payload);
    head_bytes = ucs_min(length, lane->host->attr.am_zcopy_header_bytes_max);
    head_bytes = ucs_min(head_bytes, sizeof(head));
    head_bytes = host_random(lane->host) % (head_bytes + 1);
    memcpy(head, slot->bytes, head_bytes);
    count         = lane_cut(lane, slot, head_bytes, length - head_bytes, iov);
    slot->number  = lane->zcopy_number;
    slot->is_used = true;
    ++lane->slots_used;
    status =
        lane->host->tl->am_zcopy(lane->ep, (uint8_t)am_id, head, head_bytes,
                                 iov, count, &slot->req, flags);
    memset(head, 0xdd, head_bytes); /* header and iov were only borrowed */
    memset(iov, 0xdd, sizeof(iov));
    if (status == UCS_INPROGRESS) {
        ++lane->zcopy_number;
        return UCS_OK;
    }
    slot->is_used = false;
    --lane->slots_used;
    if (status == UCS_OK) {
        if (lane->slots_used > 0) {
            host_bad(lane->host, "zcopy is done while %u earlier are not",
                     lane->slots_used);
        }
        memset(slot->bytes, 0xee, length);
        lane->done_number = ++lane->zcopy_number;
    }
    return status;
}

/* ---- short and bcopy ---- */

struct pack {
    uint64_t header;
    size_t   payload;
    unsigned calls;
};

static size_t lane_pack(void *dest, void *arg)
{
    struct pack *pack = (struct pack *)arg;

    ++pack->calls;
    memcpy(dest, &pack->header, sizeof(pack->header));
    message_fill((uint8_t *)dest + CONFORM_HEADER_BYTES, pack->header,
                 pack->payload);
    return pack->payload + CONFORM_HEADER_BYTES;
}

static ucs_status_t lane_send_bcopy(struct lane *lane, unsigned am_id,
                                    uint64_t header, size_t payload,
                                    unsigned flags)
{
    struct pack pack   = {.header = header, .payload = payload};
    size_t      length = payload + CONFORM_HEADER_BYTES;
    size_t      bound  = length;
    ssize_t     packed;

    if (host_random(lane->host) % 4 == 0) { /* less may come than announced */
        bound = ucs_min(length + 100, lane->host->attr.am.bcopy_bytes_max);
    }
    packed = lane->host->tl->am_bcopy(lane->ep, (uint8_t)am_id, lane_pack,
                                      &pack, bound, flags);
    if ((packed >= 0) && (((size_t)packed != length) || (pack.calls != 1))) {
        host_bad(lane->host, "bcopy says %zd of %zu bytes, %u packs", packed,
                 length, pack.calls);
    }
    if ((packed < 0) && (pack.calls != 0)) {
        host_bad(lane->host, "pack was called, but bcopy said %zd", packed);
    }
    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

static ucs_status_t lane_send_short(struct lane *lane, unsigned am_id,
                                    uint64_t header, size_t payload,
                                    unsigned flags)
{
    uint8_t     *bytes = malloc(payload + 1);
    ucs_status_t status;

    message_fill(bytes, header, payload);
    status = lane->host->tl->am_short(lane->ep, (uint8_t)am_id, header, bytes,
                                      payload, flags);
    memset(bytes, 0xdd, payload);
    free(bytes);
    return status;
}

ucs_status_t lane_send(struct lane *lane, enum lane_kind kind, unsigned am_id,
                       size_t payload, unsigned flags)
{
    bool         is_any = (am_id == AM_ANY);
    uint32_t    *next   = is_any ? &lane->any_sequence : &lane->sequence;
    uint64_t     header = message_header(lane->stream, *next, payload);
    ucs_status_t status = UCS_ERR_UNSUPPORTED;

    /* Before the call: self hands up inside it, and the handler may send. */
    ++*next;
    ++lane->sent;
    switch (kind) {
    case LANE_SHORT:
        status = lane_send_short(lane, am_id, header, payload, flags);
        break;
    case LANE_BCOPY:
        status = lane_send_bcopy(lane, am_id, header, payload, flags);
        break;
    case LANE_ZCOPY:
        status = lane_send_zcopy(lane, am_id, header, payload, flags);
        break;
    }
    if (status != UCS_OK) {
        --*next;
        --lane->sent;
    }
    return status;
}

/* ---- loads ---- */

static enum lane_kind lane_pick_kind(struct lane *lane)
{
    enum lane_kind kind;

    do {
        kind = (enum lane_kind)(1u << (host_random(lane->host) % 3));
    } while (!(lane->load.kinds & kind));
    return kind;
}

/* Small ones are more frequent: sizes are even by their logarithm. */
static size_t lane_pick_payload(struct lane *lane, enum lane_kind kind)
{
    size_t bytes_max =
        ucs_min((size_t)lane->load.bytes_max, lane_payload_max(lane, kind));
    size_t bytes_min = ucs_min((size_t)lane->load.bytes_min, bytes_max);
    size_t span      = bytes_max - bytes_min;

    if (span == 0) {
        return bytes_max;
    }
    span >>= host_random(lane->host) % (64 - (unsigned)__builtin_clzl(span));
    return bytes_min + host_random(lane->host) % (span + 1);
}

static ucs_status_t lane_send_next(struct lane *lane)
{
    enum lane_kind kind    = lane_pick_kind(lane);
    size_t         payload = lane_pick_payload(lane, kind);
    unsigned       am_id   = lane->load.am_id;
    unsigned       flags   = lane->load.is_polling ? 0 : UCT_FLAG_PENDING;

    if (host_random(lane->host) % 100 < lane->load.any_percent) {
        am_id = AM_ANY;
        flags |= UCT_FLAG_ANY_ORDER;
    }
    return lane_send(lane, kind, am_id, payload, flags);
}

/* @return true when it sent something. */
bool lane_step(struct lane *lane)
{
    unsigned     budget = 64;
    bool         did    = false;
    ucs_status_t status;

    while ((lane->load.count > 0) && !lane->is_waiting && (budget-- > 0)) {
        --lane->load.count;
        status = lane_send_next(lane);
        if (status == UCS_OK) {
            did = true;
            continue;
        }
        ++lane->load.count;
        if (status == UCS_ERR_WOULD_BLOCK) {
            ++lane->refused;
            lane->is_waiting = !lane->load.is_polling;
        } else if (status != UCS_ERR_BUSY) {
            lane->send_status = status;
            lane->load.count  = 0;
        }
        break;
    }
    return did;
}

void lane_load(struct lane *lane, const struct lane_load *load)
{
    uint32_t kinds = load->kinds;

    lane->load = *load;
    if (!lane_has(lane, LANE_SHORT) ||
        (lane_payload_max(lane, LANE_SHORT) < load->bytes_min)) {
        kinds &= ~(uint32_t)LANE_SHORT;
    }
    if (!lane_has(lane, LANE_ZCOPY)) {
        kinds &= ~(uint32_t)LANE_ZCOPY;
    }
    lane->load.kinds = (kinds == 0) ? (uint32_t)LANE_BCOPY : kinds;
}

bool lane_is_done(const struct lane *lane)
{
    return (lane->load.count == 0) && (lane->slots_used == 0);
}

/* ---- endpoints ---- */

static void on_pending(struct uct_ep *ep)
{
    struct lane *lane = (struct lane *)ep->user;

    if (lane->ep != ep) {
        host_bad(lane->host, "pending callback of an endpoint that is gone");
        return;
    }
    ++lane->pending_calls;
    lane->is_waiting = false;
    if (lane->on_pending != NULL) {
        lane->on_pending(lane);
    } else {
        (void)lane_step(lane);
    }
}

static void on_error(struct uct_ep *ep, ucs_status_t status)
{
    struct lane *lane = (struct lane *)ep->user;

    ++lane->errors;
    ++lane->host->inbox.ep_errors;
    lane->host->inbox.ep_error_status = (uint64_t)(int64_t)status;
    lane->error_status                = status;
    lane->load.count                  = 0;
    if (lane->errors > 1) {
        host_bad(lane->host, "an endpoint failed twice");
    }
    if (lane->slots_used > 0) {
        host_bad(lane->host, "an endpoint failed with %u requests in flight",
                 lane->slots_used);
    }
    if (status >= 0) {
        host_bad(lane->host, "an endpoint failed with status %d", status);
    }
}

ucs_status_t lane_open(struct host *host, const uint8_t *address,
                       size_t address_bytes, struct lane **lane_p)
{
    struct lane         *lane   = &host->lanes[host->lane_count];
    struct uct_ep_params params = {.address       = address,
                                   .address_bytes = address_bytes,
                                   .pending       = on_pending,
                                   .error         = on_error,
                                   .user          = lane};
    ucs_status_t         status;

    if (host->lane_count == CONFORM_LANE_COUNT) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    memset(lane, 0, sizeof(*lane));
    lane->host   = host;
    lane->stream = (uint8_t)(host->lane_count + 100 * (host->shared != NULL));
    if (lane_has(lane, LANE_ZCOPY)) {
        status = lane_open_slots(lane);
        if (status != UCS_OK) {
            lane_close_slots(lane);
            return status;
        }
    }
    status = ucti_ep_create(host->iface, &params, &lane->ep);
    if (status != UCS_OK) {
        lane_close_slots(lane);
        return status;
    }
    ++host->lane_count;
    *lane_p = lane;
    return UCS_OK;
}

/* The lane stays in its place, without endpoint. */
void lane_close(struct lane *lane)
{
    struct uct_ep *ep = lane->ep;

    if (ep == NULL) {
        return;
    }
    lane->ep         = NULL;
    lane->load.count = 0;
    ucti_ep_destroy(ep);
    if (lane->slots_used > 0) {
        host_bad(lane->host, "an endpoint was destroyed, %u requests remain",
                 lane->slots_used);
    }
    lane_close_slots(lane);
}
