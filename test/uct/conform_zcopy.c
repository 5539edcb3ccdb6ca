/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_zcopy.c - zcopy: pieces, empty and too many; completions once, in
 * order, with and without a request. */

#include "uct/conform.h"

static void open_or_skip(struct world *world, const struct test_param *param,
                         struct lane **lane_p)
{
    world_need(param, UCT_CAP_AM_ZCOPY);
    world_open(world, param, false);
    *lane_p = world_lane(world);
}

static void zcopy__random_pieces(const struct test_param *param)
{
    struct lane_load load = {.count     = test_rounds(5000, 50000),
                             .bytes_max = CONFORM_MESSAGE_BYTES,
                             .kinds     = LANE_ZCOPY,
                             .am_id     = AM_ORDERED};
    struct world     world;
    struct lane     *lane;

    open_or_skip(&world, param, &lane);
    lane_load(lane, &load);
    world_wait_sent(&world);
    world_wait_ordered(&world, load.count);
    ck_assert_uint_eq(lane->zcopy_number, load.count);
    ck_assert_uint_eq(lane->done_number, load.count);
    ck_assert_uint_eq(lane->done_failed, 0);
    world_close(&world);
}

/* A request and the bytes it borrows, registered where that is needed. */
struct piece {
    struct uct_req  req;
    struct uct_mem *mem;
    uint8_t         bytes[2048];
    unsigned        done;
    ucs_status_t    status;
};

static void on_piece(struct uct_req *req)
{
    struct piece *piece = ucs_container_of(req, struct piece, req);

    ++piece->done;
    piece->status = req->status;
}

static void piece_open(struct world *world, struct piece *piece)
{
    struct host *here = world->here;

    memset(piece, 0, sizeof(*piece));
    piece->req.cb = on_piece;
    if (here->tl->mem_register != NULL) {
        conform_must(here->tl->mem_register(here->md, piece->bytes,
                                            sizeof(piece->bytes),
                                            UCT_ACCESS_LOCAL, &piece->mem),
                     "register");
    }
}

static void piece_close(struct world *world, struct piece *piece)
{
    if (piece->mem != NULL) {
        world->here->tl->mem_release(piece->mem);
    }
}

static ucs_status_t send_iov(struct world *world, struct lane *lane,
                             const struct uct_iov *iov, unsigned count,
                             struct uct_req *req)
{
    ucs_status_t status;

    do {
        status =
            uct_ep_am_zcopy(lane->ep, AM_ORDERED, NULL, 0, iov, count, req, 0);
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    return status;
}

/* A message of the lane's order, cut so that every entry holds something but
 * each third is empty. @return entries used. */
static unsigned cut_message(struct lane *lane, struct piece *piece,
                            struct uct_iov *iov, unsigned count)
{
    size_t   payload = 1000, length = payload + CONFORM_HEADER_BYTES;
    uint64_t header = message_header(lane->stream, lane->sequence++, payload);
    size_t   offset = 0, part;
    unsigned index;

    memcpy(piece->bytes, &header, sizeof(header));
    message_fill(piece->bytes + CONFORM_HEADER_BYTES, header, payload);
    for (index = 0; index < count; ++index) {
        part              = (index + 1 == count) ? length - offset
                            : (index % 3 == 1)   ? 0
                                               : (length - offset) / (count - index);
        iov[index].buffer = (part == 0) ? NULL : piece->bytes + offset;
        iov[index].length = part;
        iov[index].mem    = piece->mem;
        offset += part;
    }
    return count;
}

static void wait_piece(struct world *world, struct piece *piece)
{
    while (piece->done == 0) {
        world_step(world);
    }
}

static void iov__every_count_up_to_the_limit(const struct test_param *param)
{
    struct uct_iov iov[CONFORM_IOV_COUNT];
    struct piece   piece;
    struct world   world;
    struct lane   *lane;
    unsigned       count, count_max;
    ucs_status_t   status;

    open_or_skip(&world, param, &lane);
    piece_open(&world, &piece);
    count_max =
        ucs_min(world.here->attr.am.iov_count_max, (unsigned)CONFORM_IOV_COUNT);
    for (count = 1; count <= count_max; ++count) {
        piece.done = 0;
        status     = send_iov(&world, lane, iov,
                              cut_message(lane, &piece, iov, count), &piece.req);
        if (status == UCS_INPROGRESS) {
            wait_piece(&world, &piece);
            status = piece.status;
        }
        conform_must(status, "zcopy");
    }
    world_wait_ordered(&world, count_max);
    piece_close(&world, &piece);
    world_close(&world);
}

static void iov__all_empty_or_none(const struct test_param *param)
{
    struct uct_iov iov[CONFORM_IOV_COUNT] = {{0}};
    struct world   world;
    struct lane   *lane;
    unsigned       count, count_max;
    ucs_status_t   status;

    open_or_skip(&world, param, &lane);
    count_max =
        ucs_min(world.here->attr.am.iov_count_max, (unsigned)CONFORM_IOV_COUNT);
    for (count = 0; count <= count_max; ++count) {
        do {
            status = uct_ep_am_zcopy(lane->ep, AM_COUNT, NULL, 0, iov, count,
                                     NULL, 0);
            world_step(&world);
        } while (status == UCS_ERR_WOULD_BLOCK);
        ck_assert(!UCS_STATUS_IS_ERR(status));
    }
    world_wait_count(&world, count_max + 1);
    ck_assert_uint_eq(world.seen.count_bytes, 0);
    world_close(&world);
}

static void iov__more_than_the_limit_is_refused(const struct test_param *param)
{
    struct uct_iov iov[CONFORM_IOV_COUNT + 1] = {{0}};
    struct world   world;
    struct lane   *lane;
    unsigned       count_max;

    open_or_skip(&world, param, &lane);
    count_max = world.here->attr.am.iov_count_max;
    if (count_max > CONFORM_IOV_COUNT) {
        count_max = UINT32_MAX - 1; /* never read: the count alone is wrong */
    }
    if (count_max < UINT32_MAX - 1) {
        ck_assert_int_eq(uct_ep_am_zcopy(lane->ep, AM_COUNT, NULL, 0, iov,
                                         count_max + 1, NULL, 0),
                         UCS_ERR_INVALID_PARAM);
    }
    world_close(&world);
}

/* The header goes with the call; only iov's buffers are lent. */
static void header__is_borrowed_for_the_call(const struct test_param *param)
{
    uint8_t        head[CONFORM_HEADER_BYTES];
    struct uct_iov iov = {0};
    struct piece   piece;
    struct world   world;
    struct lane   *lane;
    uint64_t       header;
    ucs_status_t   status;

    open_or_skip(&world, param, &lane);
    if (world.here->attr.am_zcopy_header_bytes_max < sizeof(head)) {
        world_close(&world);
        test_skip("am_zcopy header");
    }
    piece_open(&world, &piece);
    header = message_header(lane->stream, lane->sequence++, 500);
    message_fill(piece.bytes, header, 500);
    iov.buffer = piece.bytes;
    iov.length = 500;
    iov.mem    = piece.mem;
    do {
        memcpy(head, &header, sizeof(head));
        status = uct_ep_am_zcopy(lane->ep, AM_ORDERED, head, sizeof(head), &iov,
                                 1, &piece.req, 0);
        memset(head, 0xff, sizeof(head));
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(&world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    if (status == UCS_INPROGRESS) {
        wait_piece(&world, &piece);
    }
    world_wait_ordered(&world, 1);
    piece_close(&world, &piece);
    world_close(&world);
}

enum { SILENT_COUNT = 6 };

/* Without a request nothing tells, except that a later one completed. */
static void request__none_is_told_by_the_next(const struct test_param *param)
{
    static struct piece pieces[SILENT_COUNT];
    struct uct_iov      iov[4];
    struct world        world;
    struct lane        *lane;
    unsigned            round, index, count;
    ucs_status_t        status = UCS_OK;

    open_or_skip(&world, param, &lane);
    count = ucs_min(world.here->attr.am.iov_count_max, 4u);
    for (index = 0; index < SILENT_COUNT; ++index) {
        piece_open(&world, &pieces[index]);
    }
    for (round = 0; round < 200; ++round) {
        for (index = 0; index < SILENT_COUNT; ++index) {
            pieces[index].done = 0;
            status             = send_iov(&world, lane, iov,
                                          cut_message(lane, &pieces[index], iov, count),
                              (index + 1 == SILENT_COUNT) ? &pieces[index].req
                                                                      : NULL);
            ck_assert(!UCS_STATUS_IS_ERR(status));
        }
        if (status == UCS_INPROGRESS) {
            wait_piece(&world, &pieces[SILENT_COUNT - 1]);
        }
        for (index = 0; index < SILENT_COUNT; ++index) {
            memset(pieces[index].bytes, 0xee, sizeof(pieces[index].bytes));
        }
    }
    world_wait_ordered(&world, 200 * SILENT_COUNT);
    for (index = 0; index < SILENT_COUNT; ++index) {
        piece_close(&world, &pieces[index]);
    }
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST_TIMEOUT(zcopy__random_pieces, 300),
    TEST(iov__every_count_up_to_the_limit),
    TEST(iov__all_empty_or_none),
    TEST(iov__more_than_the_limit_is_refused),
    TEST(header__is_borrowed_for_the_call),
    TEST(request__none_is_told_by_the_next),
    {0}};

struct test_suite conform_zcopy_suite = {.name  = "conform_zcopy",
                                         .cases = cases};
