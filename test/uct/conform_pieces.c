/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_pieces.c - put_zcopy and get_zcopy of pieces on both sides: each is
 * cut as it likes, every piece is checked. */

#include "uct/conform_rma.h"

static const struct uct_op_limits *zcopy_limits(const struct target *target,
                                                enum uct_cap         cap)
{
    const struct uct_iface_attr *attr = &target->world.here->attr;

    return (cap == UCT_CAP_PUT_ZCOPY) ? &attr->put : &attr->get;
}

enum {
    GUARD           = 64,
    PIECE_COUNT_MAX = 8,
    PIECE_BYTES_MAX = 700,
    /* Room for the pieces and their gaps, at the end of the region. */
    WINDOW_BYTES = PIECE_COUNT_MAX * (PIECE_BYTES_MAX + GUARD),
    WINDOW_START = CONFORM_REGION_BYTES - WINDOW_BYTES,
};

/* An operation whose sides are cut by chance, with gaps, some pieces empty.
 * here, there  where its bytes lie: [length] offsets in target->local, in the
 *              window */
struct cut {
    struct uct_iov    iov[PIECE_COUNT_MAX];
    struct uct_remote remote[PIECE_COUNT_MAX];
    struct uct_rma    rma;
    size_t            here[PIECE_COUNT_MAX * PIECE_BYTES_MAX];
    size_t            there[PIECE_COUNT_MAX * PIECE_BYTES_MAX];
    size_t            length;
};

/* The length of the next piece: the last takes the rest. */
static size_t cut_length(size_t rest, bool is_last)
{
    return is_last ? rest : test_random_below(2 * rest / 3 + 1);
}

static void cut_draw(struct cut *cut, struct target *target,
                     const struct uct_op_limits *limits)
{
    unsigned iov_count = 1 + test_random_below(ucs_min(limits->iov_count_max,
                                                       PIECE_COUNT_MAX + 0u));
    unsigned remote_count =
        1 + test_random_below(
                ucs_min(limits->remote_count_max, PIECE_COUNT_MAX + 0u));
    size_t at = 0, done = 0, bytes, i;

    cut->length = test_random_below(PIECE_COUNT_MAX * PIECE_BYTES_MAX + 1);
    cut->rma = (struct uct_rma){cut->iov, cut->remote, iov_count, remote_count};
    for (unsigned index = 0; index < iov_count; ++index) {
        bytes = cut_length(cut->length - done, index + 1 == iov_count);
        at += test_random_below(GUARD);
        cut->iov[index] =
            (struct uct_iov){target->local + at, bytes, target->local_mem};
        for (i = 0; i < bytes; ++i) {
            cut->here[done++] = at++;
        }
    }
    at = done = 0;
    for (unsigned index = 0; index < remote_count; ++index) {
        bytes = cut_length(cut->length - done, index + 1 == remote_count);
        at += test_random_below(GUARD);
        cut->remote[index] = (struct uct_remote){
            target->address + WINDOW_START + at, bytes, target->rkey};
        for (i = 0; i < bytes; ++i) {
            cut->there[done++] = at++;
        }
    }
}

static ucs_status_t cut_do(struct target *target, enum uct_cap cap,
                           const struct cut *cut)
{
    const struct uct_transport *tl = target->world.here->tl;
    ucs_status_t                status;

    do {
        status = ((cap == UCT_CAP_PUT_ZCOPY) ? tl->put_zcopy : tl->get_zcopy)(
            target->lane->ep, &cut->rma, target_req(target), 0);
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(&target->world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    status = target_wait(target, status);
    if (status == UCS_OK) {
        target_flush(target);
    }
    return status;
}

static void cut_transfers(const struct test_param *param, enum uct_cap cap)
{
    static uint8_t    window[WINDOW_BYTES], after[WINDOW_BYTES];
    static uint8_t    local[TARGET_LOCAL_BYTES];
    static struct cut cut;
    struct target     target;

    target_open(&target, param, cap, UCT_ACCESS_ALL);
    for (unsigned round = 0; round < 60; ++round) {
        cut_draw(&cut, &target, zcopy_limits(&target, cap));
        message_fill(window, round, sizeof(window));
        message_fill(local, ~(uint64_t)round, sizeof(local));
        target_write(&target, WINDOW_START, window, sizeof(window));
        memcpy(target.local, local, sizeof(local));
        conform_must(cut_do(&target, cap, &cut), "transfer");
        for (size_t i = 0; i < cut.length; ++i) {
            if (cap == UCT_CAP_PUT_ZCOPY) {
                window[cut.there[i]] = local[cut.here[i]];
            } else {
                local[cut.here[i]] = window[cut.there[i]];
            }
        }
        target_read(&target, WINDOW_START, after, sizeof(after));
        ck_assert_mem_eq(after, window, sizeof(window));
        ck_assert_mem_eq(target.local, local, sizeof(local));
    }
    target_close(&target);
}

static void
put_zcopy__sides_are_cut_as_they_like(const struct test_param *param)
{
    cut_transfers(param, UCT_CAP_PUT_ZCOPY);
}

static void
get_zcopy__sides_are_cut_as_they_like(const struct test_param *param)
{
    cut_transfers(param, UCT_CAP_GET_ZCOPY);
}

/* One piece beside the region, and nothing moves; sides of different length
 * and too many pieces are refused. */
static void zcopy__every_piece_is_checked(const struct test_param *param)
{
    static uint8_t    window[WINDOW_BYTES], after[WINDOW_BYTES];
    static struct cut cut;
    struct target     target;
    unsigned          count_max;

    target_open(&target, param, UCT_CAP_PUT_ZCOPY, UCT_ACCESS_ALL);
    count_max = zcopy_limits(&target, UCT_CAP_PUT_ZCOPY)->remote_count_max;
    message_fill(window, 1, sizeof(window));
    target_write(&target, WINDOW_START, window, sizeof(window));
    memset(target.local, 0x33, TARGET_LOCAL_BYTES);
    do {
        cut_draw(&cut, &target, zcopy_limits(&target, UCT_CAP_PUT_ZCOPY));
    } while ((cut.length == 0) ||
             (cut.remote[cut.rma.remote_count - 1].length == 0));
    cut.remote[cut.rma.remote_count - 1].address =
        target.address + CONFORM_REGION_BYTES;
    ck_assert_int_eq(cut_do(&target, UCT_CAP_PUT_ZCOPY, &cut),
                     UCS_ERR_INVALID_ADDR);
    cut.remote[cut.rma.remote_count - 1].address = target.address;
    ++cut.remote[cut.rma.remote_count - 1].length;
    ck_assert_int_eq(cut_do(&target, UCT_CAP_PUT_ZCOPY, &cut),
                     UCS_ERR_INVALID_PARAM);
    --cut.remote[cut.rma.remote_count - 1].length;
    cut.rma.remote_count = count_max + 1; /* nobody looks at them */
    ck_assert_int_eq(cut_do(&target, UCT_CAP_PUT_ZCOPY, &cut),
                     UCS_ERR_INVALID_PARAM);
    target_read(&target, WINDOW_START, after, sizeof(after));
    ck_assert_mem_eq(after, window, sizeof(window));
    target_close(&target);
}

static const struct test_case cases[] = {
    TEST(put_zcopy__sides_are_cut_as_they_like),
    TEST(get_zcopy__sides_are_cut_as_they_like),
    TEST(zcopy__every_piece_is_checked),
    {0}};

struct test_suite conform_pieces_suite = {.name  = "conform_pieces",
                                          .cases = cases};
