/* SPDX-License-Identifier: BSD-3-Clause */
/* test_recv.c - src/ucp/tag/recv.c: a message becomes a receive's, whole or in
 * pieces; what does not fit writes nothing. */
#include "ucp/tag/recv.h"

#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

enum { ROOM = 100 };

static uint8_t           data[2 * ROOM], buffer[ROOM];
static struct ucp_worker worker;
/* In the pool's place: the word before it is read when it is put back. */
static struct {
    uintptr_t          link;
    struct ucp_request req;
} element;

/* Hidden from the compiler, which would warn of that word. */
static UCS_NOINLINE struct ucp_request *request(void)
{
    return &element.req;
}

static struct ucp_request *req;

static void begin(size_t room)
{
    memset(buffer, 0xee, sizeof(buffer));
    for (size_t i = 0; i < sizeof(data); ++i) {
        data[i] = (uint8_t)i;
    }
    req = request();
    memset(req, 0, sizeof(*req));
    ucp_request_begin(req, UCP_REQUEST_TAG_RECV | UCP_REQUEST_EXTERNAL);
    req->worker = &worker;
    ucp_dt_iter_init_contig(&req->dt, buffer, room);
}

static void check_end(ucs_status_t status, size_t length)
{
    ck_assert_int_eq(ucp_request_status(req), status);
    ck_assert_uint_eq(req->recv.info.sender_tag, 7);
    ck_assert_uint_eq(req->recv.info.length, length);
}

/* Every length, also those that are copied without a call. */
static void recv__whole(const struct test_param *param)
{
    (void)param;
    for (size_t length = 0; length <= ROOM; ++length) {
        begin(ROOM);
        ucp_tag_recv_whole(req, 7, data, length);
        check_end(UCS_OK, length);
        ck_assert_int_eq(memcmp(buffer, data, length), 0);
        ck_assert((length == ROOM) || (buffer[length] == 0xee));
    }
}

static void recv__whole_too_long_writes_nothing(const struct test_param *param)
{
    (void)param;
    for (size_t room = 0; room < 20; ++room) {
        begin(room);
        ucp_tag_recv_whole(req, 7, data, room + 1);
        check_end(UCS_ERR_MESSAGE_TRUNCATED, room + 1);
        ck_assert_uint_eq(buffer[0], 0xee);
    }
}

/* Pieces in any order; complete with the last one only. */
static void recv__pieces(const struct test_param *param)
{
    static const size_t offsets[] = {60, 0, 90, 30};

    (void)param;
    begin(ROOM);
    ck_assert_int_eq(ucp_tag_recv_begin(req, 7, ROOM), UCS_OK);
    for (unsigned i = 0; i < 4; ++i) {
        size_t length = (offsets[i] == 90) ? 10 : 30;

        ck_assert_int_eq(
            ucp_tag_recv_piece(req, offsets[i], data + offsets[i], length),
            i == 3);
        ck_assert_int_eq(ucp_request_status(req), UCS_INPROGRESS);
    }
    ucp_tag_recv_end(req, req->recv.status);
    check_end(UCS_OK, ROOM);
    ck_assert_int_eq(memcmp(buffer, data, ROOM), 0);
}

static void recv__begin_says_truncated(const struct test_param *param)
{
    (void)param;
    begin(10);
    ck_assert_int_eq(ucp_tag_recv_begin(req, 7, 11), UCS_ERR_MESSAGE_TRUNCATED);
    req->recv.status = UCS_ERR_MESSAGE_TRUNCATED;
    ck_assert(ucp_tag_recv_piece(req, 0, data, 11)); /* passed over */
    ucp_tag_recv_end(req, req->recv.status);
    check_end(UCS_ERR_MESSAGE_TRUNCATED, 11);
    ck_assert_uint_eq(buffer[0], 0xee);
}

static const struct test_case recv_cases[] = {
    TEST(recv__whole),
    TEST(recv__whole_too_long_writes_nothing),
    TEST(recv__pieces),
    TEST(recv__begin_says_truncated),
    {0},
};

const struct test_suite recv_suite = {.name = "recv", .cases = recv_cases};
