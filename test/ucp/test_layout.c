/* SPDX-License-Identifier: BSD-3-Clause */
/* test_layout.c - src/ucp/proto/layout.c: what a peer shows, walked over from
 * any place; and what it says wrong. */
#include "ucp/proto/layout.h"

#include <stdlib.h>
#include <string.h>

#include "ucp/core/worker.h"
#include "ucp/layout.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { BYTES_MAX = 8192 };

static const struct pair_setup over_self = {.tls = "self"};

/* A message of ours, shown to ourselves. */
struct stage {
    struct pair        pair;
    struct layout      layout;
    struct ucp_request req;
    struct ucp_rndv    rndv;
    struct ucp_regs   *regs;
    uint8_t            bytes[BYTES_MAX];
    size_t             size_bytes;
    size_t             end;
};

static void stage_open(struct stage *stage)
{
    memset(stage, 0, sizeof(*stage));
    pair_open_setup(&stage->pair, &over_self, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&stage->pair);
    stage->rndv.ep  = stage->pair.eps[0];
    stage->rndv.req = &stage->req;
}

static void stage_show(struct stage *stage, size_t size_bytes)
{
    struct ucp_showing showing = {
        .rndv = &stage->rndv, .lanes = 1, .access = UCT_ACCESS_ALL};

    ck_assert_int_eq(ucp_dt_iter_init_send(&stage->req.dt, stage->layout.buffer,
                                           stage->layout.count,
                                           stage->layout.datatype),
                     UCS_OK);
    showing.range.end = stage->layout.length;
    stage->regs       = ucp_regs_create(stage->pair.workers[0]);
    stage->size_bytes = ucp_layout_show(&showing, stage->bytes, size_bytes,
                                        stage->regs, &stage->end);
}

static void stage_hide(struct stage *stage)
{
    ucp_regs_destroy(stage->regs);
    layout_free(&stage->layout);
}

static ucs_status_t stage_read(const struct stage *stage, const uint8_t *bytes,
                               size_t size_bytes, struct ucp_layout **layout_p)
{
    const struct ucp_shown shown = {.ep         = stage->pair.eps[0],
                                    .bytes      = bytes,
                                    .size_bytes = size_bytes,
                                    .lanes      = 1,
                                    .range = {.end = stage->layout.length}};

    return ucp_layout_read(&shown, layout_p);
}

/* Walk over [offset, end): each byte lies where the model says. */
static void check_walk(const struct stage *stage, struct ucp_layout *layout,
                       struct ucp_range range)
{
    struct uct_remote remote[3];

    while (range.offset < range.end) {
        unsigned count = UCS_ARRAY_COUNT(remote);
        size_t   done  = ucp_layout_pieces(layout, 0, range, remote, &count);

        ck_assert_uint_gt(done, 0);
        for (unsigned i = 0; i < count; ++i) {
            ck_assert_ptr_nonnull(remote[i].rkey);
            /* A piece is in one block: its ends say it. */
            ck_assert_uint_eq(remote[i].address,
                              (uintptr_t)stage->layout.memory +
                                  stage->layout.where[range.offset]);
            range.offset += remote[i].length;
            ck_assert_uint_eq(remote[i].address + remote[i].length - 1,
                              (uintptr_t)stage->layout.memory +
                                  stage->layout.where[range.offset - 1]);
        }
    }
    ck_assert_uint_eq(range.offset, range.end);
}

static void walk__from_any_place(const struct test_param *param)
{
    static const enum ucp_dt_class classes[] = {UCP_DT_CONTIG, UCP_DT_IOV,
                                                UCP_DT_STRIDED};
    struct ucp_layout             *layout;
    struct stage                   stage;

    (void)param;
    stage_open(&stage);
    for (int round = 0; round < 30; ++round) {
        layout_draw(&stage.layout, classes[round % 3],
                    1 + test_random_below(3000));
        stage_show(&stage, BYTES_MAX);
        ck_assert_uint_gt(stage.size_bytes, 0);
        ck_assert_int_eq(
            stage_read(&stage, stage.bytes, stage.size_bytes, &layout), UCS_OK);
        ck_assert_uint_eq(layout->range.end, stage.end);
        ck_assert_uint_eq(layout->lanes, 1);
        for (int walk = 0; walk < 5; ++walk) {
            struct ucp_range range = {.offset = test_random_below(stage.end)};

            range.end =
                range.offset + test_random_below(stage.end - range.offset + 1);
            check_walk(&stage, layout, range);
        }
        ucp_layout_destroy(layout);
        stage_hide(&stage);
    }
    pair_close(&stage.pair);
}

/* Every length that is too short, and every bit: refused, or understood as
 * something that is as long as it says. */
static void read__damaged_bytes(const struct test_param *param)
{
    struct uct_remote  remote[8];
    struct ucp_layout *layout;
    struct stage       stage;
    uint8_t           *exact;
    size_t             length;

    (void)param;
    stage_open(&stage);
    for (int is_strided = 0; is_strided < 2; ++is_strided) {
        if (is_strided) {
            layout_of_strided(
                &stage.layout, 100,
                &(const causeway_dt_level_t){.count = 5, .stride_bytes = 150},
                1, 0, 3);
        } else {
            layout_of_iov(&stage.layout, 3000, 4);
        }
        stage_show(&stage, BYTES_MAX);
        length = stage.size_bytes;
        exact  = malloc(length);
        ck_assert_ptr_nonnull(exact);
        for (size_t cut = 0; cut < length; ++cut) {
            memcpy(exact + length - cut, stage.bytes, cut);
            ck_assert_int_eq(
                stage_read(&stage, exact + length - cut, cut, &layout),
                UCS_ERR_INVALID_PARAM);
        }
        for (size_t bit = 0; bit < 8 * length; ++bit) {
            memcpy(exact, stage.bytes, length);
            exact[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (stage_read(&stage, exact, length, &layout) == UCS_OK) {
                unsigned count = UCS_ARRAY_COUNT(remote);

                ck_assert_uint_le(layout->range.end, stage.layout.length);
                ck_assert_uint_gt(
                    ucp_layout_pieces(layout, 0, layout->range, remote, &count),
                    0);
                ucp_layout_destroy(layout);
            }
        }
        free(exact);
        stage_hide(&stage);
    }
    pair_close(&stage.pair);
}

static const struct test_case cases[] = {
    TEST(walk__from_any_place), TEST(read__damaged_bytes), {0}};

const struct test_suite layout_suite = {.name = "layout", .cases = cases};
