/* SPDX-License-Identifier: BSD-3-Clause */
/* test_layout_show.c - src/ucp/proto/layout_show.c: what is shown of a
 * message, byte by byte; what does not fit, or cannot be registered. */
#include "ucp/proto/layout.h"

#include <string.h>

#include "ucp/core/worker.h"
#include "ucp/play.h"
#include "ucp/suites.h"

enum { BYTES_MAX = 8192, HEAD_BYTES = 8, RUN_BYTES = 8 + 8 + 1 + 40 };

static const struct pair_setup over_mock = {.tls = "mock"};

static uint8_t memory[100000];
static uint8_t bytes[BYTES_MAX];

/* An iov of ours over the mock, whose keys have 40 bytes.
 * @return bytes written. */
static size_t show(struct pair *pair, const ucp_dt_iov_t *iov, size_t count,
                   size_t room, struct ucp_range *range)
{
    struct ucp_request req     = {.flags = 0};
    struct ucp_rndv    rndv    = {.req = &req, .ep = pair->eps[0]};
    struct ucp_showing showing = {
        .rndv = &rndv, .lanes = 1, .access = UCT_ACCESS_REMOTE_READ};
    struct ucp_regs *regs = ucp_regs_create(pair->workers[0]);
    size_t           written;

    ck_assert_int_eq(
        ucp_dt_iter_init_send(&req.dt, iov, count, ucp_dt_make_iov()), UCS_OK);
    showing.range = *range;
    written       = ucp_layout_show(&showing, bytes, room, regs, &range->end);
    ck_assert_uint_eq(regs->count, play_mock()->mem_count(0));
    ucp_regs_destroy(regs);
    ck_assert_uint_eq(play_mock()->mem_count(0), 0);
    return written;
}

static void open_mock(struct pair *pair)
{
    play_mock()->reset();
    pair_open_setup(pair, &over_mock, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
}

/* Empty entries are passed over, neighbours that touch are one run. */
static void list__runs_not_entries(const struct test_param *param)
{
    const ucp_dt_iov_t iov[] = {
        {NULL, 0}, {memory, 1000},      {memory + 1000, 500},
        {NULL, 0}, {memory + 1500, 10}, {memory + 2000, 7}};
    struct ucp_range range = {.offset = 200, .end = 1517};
    struct pair      pair;

    (void)param;
    open_mock(&pair);
    ck_assert_uint_eq(show(&pair, iov, 6, BYTES_MAX, &range),
                      HEAD_BYTES + 2 * RUN_BYTES);
    ck_assert_uint_eq(range.end, 1517);
    ck_assert_uint_eq(bytes[0], UCP_LAYOUT_LIST);
    ck_assert_uint_eq(bytes[1], 1);
    ck_assert_uint_eq(ucs_get_le16(bytes + 2), 2);
    ck_assert_uint_eq(ucs_get_le64(bytes + 8), (uintptr_t)memory + 200);
    ck_assert_uint_eq(ucs_get_le64(bytes + 16), 1310);
    ck_assert_uint_eq(ucs_get_le64(bytes + 8 + RUN_BYTES),
                      (uintptr_t)memory + 2000);
    pair_close(&pair);
}

/* As much as fits, and what was registered for more is given back. */
static void list__as_much_as_fits(const struct test_param *param)
{
    ucp_dt_iov_t iov[200];
    struct pair  pair;

    (void)param;
    open_mock(&pair);
    for (size_t i = 0; i < 200; ++i) {
        iov[i] = (ucp_dt_iov_t){memory + 300 * i, 100};
    }
    for (size_t room = 0; room < 20 * RUN_BYTES; room += 13) {
        struct ucp_range range = {.offset = 50, .end = 20000};
        size_t runs = (room < HEAD_BYTES) ? 0 : (room - HEAD_BYTES) / RUN_BYTES;
        size_t written = show(&pair, iov, 200, room, &range);

        ck_assert_uint_eq(written,
                          (runs == 0) ? 0 : HEAD_BYTES + runs * RUN_BYTES);
        ck_assert_uint_eq(range.end, (runs == 0) ? 50 : 100 * runs);
    }
    {
        struct ucp_range range = {.offset = 0, .end = 20000};

        (void)show(&pair, iov, 200, BYTES_MAX, &range);
        ck_assert_uint_eq(range.end, 100 * UCP_LAYOUT_RUN_COUNT_MAX);
    }
    pair_close(&pair);
}

/* The third run cannot be registered: two are shown. */
static void
list__up_to_what_cannot_be_registered(const struct test_param *param)
{
    const struct mock_fault fault = {.op     = MOCK_REGISTER,
                                     .first  = 3,
                                     .count  = 1,
                                     .status = UCS_ERR_IO_ERROR};
    ucp_dt_iov_t            iov[5];
    struct ucp_range        range = {.offset = 0, .end = 500};
    struct pair             pair;

    (void)param;
    open_mock(&pair);
    for (size_t i = 0; i < 5; ++i) {
        iov[i] = (ucp_dt_iov_t){memory + 300 * i, 100};
    }
    (void)play_mock()->fault(&fault);
    ck_assert_uint_eq(show(&pair, iov, 5, BYTES_MAX, &range),
                      HEAD_BYTES + 2 * RUN_BYTES);
    ck_assert_uint_eq(range.end, 200);
    pair_close(&pair);
}

static const struct test_case cases[] = {
    TEST(list__runs_not_entries),
    TEST(list__as_much_as_fits),
    TEST(list__up_to_what_cannot_be_registered),
    {0}};

const struct test_suite layout_show_suite = {.name  = "layout_show",
                                             .cases = cases};
