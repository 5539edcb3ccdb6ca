/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/layout.c - what the peer has shown of its memory: understood with
 * every number checked, and walked over. */
#include "ucp/proto/layout.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rdma.h"

ucs_status_t ucp_layout_pools_init(struct ucp_worker *worker)
{
    struct ucs_mpool_params params = {
        .name          = "layouts",
        .element_bytes = sizeof(struct ucp_layout),
        .chunk_count   = 8,
    };
    ucs_status_t status = ucsi_mpool_init(&worker->layouts, &params);

    if (status != UCS_OK) {
        return status;
    }
    params.name          = "registrations of lists";
    params.element_bytes = sizeof(struct ucp_regs);
    status               = ucsi_mpool_init(&worker->regs, &params);
    if (status != UCS_OK) {
        ucsi_mpool_cleanup(&worker->layouts, false);
    }
    return status;
}

void ucp_layout_pools_cleanup(struct ucp_worker *worker)
{
    ucsi_mpool_cleanup(&worker->regs, false);
    ucsi_mpool_cleanup(&worker->layouts, false);
}

/* A layout that is read.
 * names  [slot_count] of lanes, as the peer wrote them */
struct layout_read {
    const struct ucp_shown *shown;
    struct ucs_reader       reader;
    struct ucp_layout      *layout;
    unsigned                run_count;
    int                     lane_of[UCP_LANE_COUNT_MAX]; /* slot -> lane, -1 */
};

/* The lanes that it has keys for, and which of them we can use. */
static bool read_lanes(struct layout_read *read)
{
    const struct ucp_shown *shown  = read->shown;
    struct ucp_layout      *layout = read->layout;

    if ((layout->slot_count == 0) ||
        (layout->slot_count > UCP_LANE_COUNT_MAX)) {
        return false;
    }
    for (unsigned slot = 0; slot < layout->slot_count; ++slot) {
        int lane = ucp_rdma_find_lane(shown->ep, shown->lanes & ~layout->lanes,
                                      ucs_read_le32(&read->reader));

        read->lane_of[slot] = lane;
        if (lane >= 0) {
            layout->slots[lane] = (uint8_t)slot;
            layout->lanes |= UINT32_C(1) << lane;
        }
    }
    return ucs_read_ok(&read->reader);
}

/* A lane lacks a key: it cannot be used. */
static void read_lose(struct layout_read *read, unsigned slot)
{
    read->layout->lanes &= ~(UINT32_C(1) << read->lane_of[slot]);
    read->lane_of[slot] = -1;
}

/* The key of a run for a lane. @return false: nonsense. */
static bool read_key(struct layout_read *read, unsigned run, unsigned slot)
{
    struct ucp_layout *layout = read->layout;
    unsigned           index  = run * layout->slot_count + slot;
    size_t             length = ucs_read_u8(&read->reader);
    const uint8_t     *bytes  = ucs_read_view(&read->reader, length);

    if ((bytes == NULL) || ((length == 0) && (run == 0))) {
        return false;
    }
    if (length == 0) {
        layout->key_of[index] = layout->key_of[index - layout->slot_count];
    } else if (read->lane_of[slot] >= 0) {
        layout->key_of[index] = (uint16_t)layout->key_count;
        if (ucp_rdma_unpack_key(read->shown->ep, (unsigned)read->lane_of[slot],
                                bytes, length,
                                &layout->rkeys[layout->key_count]) == UCS_OK) {
            ++layout->key_count;
        } else {
            read_lose(read, slot);
        }
    }
    return true;
}

static bool read_keys(struct layout_read *read, unsigned run)
{
    for (unsigned slot = 0; slot < read->layout->slot_count; ++slot) {
        if (!read_key(read, run, slot)) {
            return false;
        }
    }
    return true;
}

static bool read_list(struct layout_read *read)
{
    struct ucp_layout *layout = read->layout;
    size_t             left   = layout->range.end - layout->range.offset;
    size_t             done   = 0;

    if ((read->run_count == 0) ||
        (read->run_count > UCP_LAYOUT_RUN_COUNT_MAX) ||
        (read->run_count * layout->slot_count > UCP_LAYOUT_KEY_COUNT_MAX)) {
        return false;
    }
    for (unsigned run = 0; run < read->run_count; ++run) {
        uint64_t address = ucs_read_le64(&read->reader);
        uint64_t length  = ucs_read_le64(&read->reader);

        if ((address == 0) || (length == 0) || (length > left - done) ||
            (length > UINTPTR_MAX - address) || !read_keys(read, run)) {
            return false;
        }
        layout->runs[run] =
            (ucp_dt_iov_t){(void *)(uintptr_t)address, (size_t)length};
        done += (size_t)length;
    }
    layout->range.end = layout->range.offset + done;
    layout->iter      = (struct ucp_dt_iter){
             .dt_class = UCP_DT_IOV,
             .length   = done,
             .iov      = {.entries = layout->runs, .count = read->run_count}};
    return true;
}

static bool read_strided(struct layout_read *read)
{
    struct ucp_layout     *layout = read->layout;
    struct ucp_dt_strided *dt     = &layout->strided;
    uint64_t               base   = ucs_read_le64(&read->reader);

    dt->block_bytes  = ucs_read_le64(&read->reader);
    dt->extent_bytes = ucs_read_le64(&read->reader);
    for (unsigned i = 0; i < UCP_DT_STRIDED_LEVEL_COUNT; ++i) {
        dt->levels[i].count        = ucs_read_le64(&read->reader);
        dt->levels[i].stride_bytes = ucs_read_le64(&read->reader);
    }
    layout->iter = (struct ucp_dt_iter){
        .dt_class = UCP_DT_STRIDED,
        .length   = layout->range.end,
        .strided  = {.dt = dt, .base = (void *)(uintptr_t)base}};
    return ucs_read_ok(&read->reader) && (read->run_count == 0) &&
           ucp_dt_strided_adopt(dt, base, layout->range.end) &&
           read_keys(read, 0);
}

static ucs_status_t read_all(struct layout_read *read)
{
    uint8_t kind = ucs_read_u8(&read->reader);
    bool    is_sound;

    read->layout->slot_count = ucs_read_u8(&read->reader);
    read->run_count          = ucs_read_le16(&read->reader);
    is_sound =
        read_lanes(read) && ((kind == UCP_LAYOUT_LIST)      ? read_list(read)
                             : (kind == UCP_LAYOUT_STRIDED) ? read_strided(read)
                                                            : false);
    if (!is_sound || !ucs_read_ok(&read->reader) ||
        (ucs_read_left(&read->reader) > 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return (read->layout->lanes != 0) ? UCS_OK : UCS_ERR_UNREACHABLE;
}

ucs_status_t ucp_layout_read(const struct ucp_shown *shown,
                             struct ucp_layout     **layout_p)
{
    struct layout_read read = {
        .shown = shown, .layout = ucs_mpool_get(&shown->ep->worker->layouts)};
    ucs_status_t status;

    if (read.layout == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    read.layout->range     = shown->range;
    read.layout->lanes     = 0;
    read.layout->key_count = 0;
    ucs_reader_init(&read.reader, shown->bytes, shown->size_bytes);
    status = read_all(&read);
    if (status != UCS_OK) {
        ucp_layout_destroy(read.layout);
        return status;
    }
    *layout_p = read.layout;
    return UCS_OK;
}

void ucp_layout_destroy(struct ucp_layout *layout)
{
    if (layout == NULL) {
        return;
    }
    for (unsigned i = 0; i < layout->key_count; ++i) {
        struct uct_rkey *rkey = layout->rkeys[i];

        rkey->md->transport->rkey_release(rkey);
    }
    ucs_mpool_put(layout);
}

/* ---- walking ---- */

/* The next piece of the range. */
static struct uct_remote layout_next(struct ucp_layout *layout, unsigned slot,
                                     size_t length_max)
{
    struct ucp_dt_iter *iter  = &layout->iter;
    unsigned            count = 1;
    size_t              run   = 0;
    struct uct_iov      piece;

    (void)ucp_dt_iter_pieces(iter, length_max, &piece, &count);
    if (iter->dt_class == UCP_DT_IOV) {
        run = iter->iov.index; /* it stays with a run until the next is asked */
    }
    return (struct uct_remote){
        .address = (uintptr_t)piece.buffer,
        .length  = piece.length,
        .rkey = layout->rkeys[layout->key_of[run * layout->slot_count + slot]],
    };
}

size_t ucp_layout_pieces(struct ucp_layout *layout, unsigned lane,
                         struct ucp_range range, struct uct_remote *remote,
                         unsigned *count_p)
{
    size_t   done = 0, length = range.end - range.offset;
    unsigned used = 0;

    ucp_dt_iter_seek(&layout->iter, (layout->iter.dt_class == UCP_DT_IOV)
                                        ? range.offset - layout->range.offset
                                        : range.offset);
    for (; (done < length) && (used < *count_p); ++used) {
        remote[used] = layout_next(layout, layout->slots[lane], length - done);
        done += remote[used].length;
    }
    *count_p = used;
    return done;
}
