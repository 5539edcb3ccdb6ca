/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/layout_show.c - show the peer where bytes of ours lie: see
 * layout.h.
 *
 *   iterator --> run --> registered for each lane --> address, length, keys
 *        '<------------------- as long as it fits -------------------'
 */
#include "ucp/proto/layout.h"

#include "ucp/proto/rdma.h"

struct ucp_regs *ucp_regs_create(struct ucp_worker *worker)
{
    struct ucp_regs *regs = ucs_mpool_get(&worker->regs);

    if (regs != NULL) {
        regs->count = 0;
    }
    return regs;
}

static void regs_cut(struct ucp_regs *regs, unsigned count)
{
    while (regs->count > count) {
        ucp_reg_put(regs->regs[--regs->count]);
    }
}

void ucp_regs_destroy(struct ucp_regs *regs)
{
    if (regs != NULL) {
        regs_cut(regs, 0);
        ucs_mpool_put(regs);
    }
}

/* A layout that is written.
 * last  the registration of the run before, by lane */
struct layout_show {
    const struct ucp_showing *showing;
    struct ucs_writer         writer;
    struct ucp_regs          *regs;
    unsigned                  run_count;
    const struct ucp_reg     *last[UCP_LANE_COUNT_MAX];
};

/* The registration of a span for a lane. @return NULL: there is none. */
static struct ucp_reg *show_register(struct layout_show *show, unsigned lane,
                                     const struct uct_iov *span)
{
    const struct ucp_rndv *rndv = show->showing->rndv;
    struct ucp_reg        *reg  = rndv->by_rdma.regs[lane];

    if (reg != NULL) {
        return reg;
    }
    if ((show->regs->count == UCP_LAYOUT_KEY_COUNT_MAX) ||
        (ucp_rdma_register(rndv->ep, lane, span->buffer, span->length,
                           show->showing->access, &reg) != UCS_OK)) {
        return NULL;
    }
    show->regs->regs[show->regs->count++] = reg;
    return reg;
}

static bool show_keys(struct layout_show *show, const struct uct_iov *span)
{
    const struct ucp_ep *ep = show->showing->rndv->ep;
    uint8_t              key[UCT_RKEY_BYTES_MAX];
    size_t               key_bytes;

    for (unsigned i = 0; i < ep->config->lane_count; ++i) {
        const struct ucp_reg *reg;

        if (!(show->showing->lanes & (UINT32_C(1) << i))) {
            continue;
        }
        reg = show_register(show, i, span);
        if (reg == NULL) {
            return false;
        }
        key_bytes = (reg == show->last[i]) ? 0 : ucp_rdma_pack_key(reg, key);
        ucs_write_u8(&show->writer, (uint8_t)key_bytes);
        ucs_write_bytes(&show->writer, key, key_bytes);
        show->last[i] = reg;
    }
    return ucs_write_ok(&show->writer);
}

/* Write one more run, or nothing. */
static bool show_run(struct layout_show *show, const struct uct_iov *run)
{
    struct layout_show before    = *show;
    unsigned           reg_count = show->regs->count;
    unsigned lane_count = (unsigned)__builtin_popcount(show->showing->lanes);

    if ((show->run_count == UCP_LAYOUT_RUN_COUNT_MAX) ||
        ((show->run_count + 1) * lane_count > UCP_LAYOUT_KEY_COUNT_MAX)) {
        return false;
    }
    ucs_write_le64(&show->writer, (uintptr_t)run->buffer);
    ucs_write_le64(&show->writer, run->length);
    if (show_keys(show, run)) {
        ++show->run_count;
        return true;
    }
    regs_cut(show->regs, reg_count);
    *show = before;
    return false;
}

/* The next run of a walk: pieces that touch are one. Moves on. */
static struct uct_iov show_next(struct ucp_dt_iter *iter, size_t end)
{
    unsigned       count = 1;
    struct uct_iov run, next;

    (void)ucp_dt_iter_pieces(iter, end - iter->offset, &run, &count);
    while (iter->offset < end) {
        struct ucp_dt_iter ahead = *iter;

        (void)ucp_dt_iter_pieces(&ahead, end - ahead.offset, &next, &count);
        if ((char *)run.buffer + run.length != next.buffer) {
            break;
        }
        run.length += next.length;
        *iter = ahead;
    }
    return run;
}

/* @return so far the range is shown. */
static size_t show_list(struct layout_show *show)
{
    const struct ucp_range *range = &show->showing->range;
    struct ucp_dt_iter      iter  = show->showing->rndv->req->dt;
    size_t                  end   = range->offset;
    struct uct_iov          run;

    ucp_dt_iter_seek(&iter, range->offset);
    while (end < range->end) {
        run = show_next(&iter, range->end);
        if (!show_run(show, &run)) {
            break;
        }
        end += run.length;
    }
    return end;
}

static size_t show_strided(struct layout_show *show)
{
    const struct ucp_range      *range = &show->showing->range;
    const struct ucp_dt_iter    *iter  = &show->showing->rndv->req->dt;
    const struct ucp_dt_strided *dt    = iter->strided.dt;
    struct uct_iov               span =
        ucp_dt_iter_span(iter, range->offset, range->end - range->offset);

    ucs_write_le64(&show->writer, (uintptr_t)iter->strided.base);
    ucs_write_le64(&show->writer, dt->block_bytes);
    ucs_write_le64(&show->writer, dt->extent_bytes);
    for (unsigned i = 0; i < UCP_DT_STRIDED_LEVEL_COUNT; ++i) {
        ucs_write_le64(&show->writer, dt->levels[i].count);
        ucs_write_le64(&show->writer, dt->levels[i].stride_bytes);
    }
    return show_keys(show, &span) ? range->end : range->offset;
}

size_t ucp_layout_show(const struct ucp_showing *showing, uint8_t *bytes,
                       size_t size_bytes, struct ucp_regs *regs, size_t *end_p)
{
    const struct ucp_ep *ep   = showing->rndv->ep;
    struct layout_show   show = {.showing = showing, .regs = regs};
    bool is_strided = (showing->rndv->req->dt.dt_class == UCP_DT_STRIDED);

    ucs_writer_init(&show.writer, bytes, size_bytes);
    ucs_write_u8(&show.writer,
                 is_strided ? UCP_LAYOUT_STRIDED : UCP_LAYOUT_LIST);
    ucs_write_u8(&show.writer, (uint8_t)__builtin_popcount(showing->lanes));
    ucs_write_le16(&show.writer, 0);
    for (unsigned i = 0; i < ep->config->lane_count; ++i) {
        if (showing->lanes & (UINT32_C(1) << i)) {
            ucs_write_le32(&show.writer, ucp_ep_lane_name(ep, i));
        }
    }
    *end_p = is_strided ? show_strided(&show) : show_list(&show);
    if (*end_p == showing->range.offset) {
        return 0;
    }
    ucs_put_le16(bytes + 2, (uint16_t)show.run_count);
    return ucs_write_length(&show.writer);
}
