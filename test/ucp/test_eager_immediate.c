/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eager_immediate.c - src/ucp/proto/eager_immediate.c: the smallest
 * messages, straight from the call or packed first, and the receiver of MATCH
 * for all eager protocols. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { TAG = 11, BYTES = 4096 };

static const struct pair_setup sm   = {.tls = "sm"};
static const struct pair_setup self = {.tls = "self"};

static const struct test_param immediate_params[] = {
    {.name = "self", .value = &self},
    {.name = "sm", .value = &sm},
    {0},
};

static uint8_t in[BYTES], out[BYTES];

static const struct ucp_proto *
proto_of(struct ucp_ep *ep, enum ucp_dt_class dt_class, size_t bytes)
{
    return ucp_select_lookup(
        &ep->config->select[UCP_MODE_STANDARD][dt_class][0], bytes);
}

/* Every size up to the last one that goes inline, and the next. */
static void immediate__every_size(const struct test_param *param)
{
    struct pair pair;
    size_t      end;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    end = pair.eps[0]->short_bytes_end;
    ck_assert_uint_gt(end, 8);
    ck_assert_uint_lt(end, BYTES);
    pattern_fill(out, sizeof(out), 3);
    for (size_t length = 0; length <= end; ++length) {
        void *receive;

        ck_assert_int_eq(proto_of(pair.eps[0], UCP_DT_CONTIG, length)->direct ==
                             UCP_DIRECT_SHORT,
                         length < end);
        memset(in, 0, sizeof(in));
        receive = pair_receive(&pair, 1, in, length, TAG);
        ck_assert_ptr_null(pair_send(&pair, 0, out, length, TAG));
        out[0] ^= 1; /* the buffer is ours again at once */
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        out[0] ^= 1;
        pattern_check(in, length, 3);
        ck_assert_uint_eq(in[length], 0);
    }
    pair_close(&pair);
}

/* The fast path is closed while something waits: nothing overtakes. */
static void immediate__nothing_overtakes(const struct test_param *param)
{
    enum { COUNT = 5000 };
    static uint32_t numbers[COUNT];
    static void    *sends[COUNT];
    struct pair     pair;
    uint32_t        number;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (uint32_t i = 0; i < COUNT; ++i) {
        size_t length = (i % 3 == 0) ? 3000 : 4;

        numbers[i] = i;
        memcpy(out, &i, 4);
        sends[i] = pair_send(&pair, 0,
                             (length == 4) ? (void *)&numbers[i] : (void *)out,
                             length, TAG);
        if ((length > 4) && UCS_PTR_IS_PTR(sends[i])) {
            ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
            sends[i] = NULL;
        }
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)),
            UCS_OK);
        memcpy(&number, in, 4);
        if (number != i) {
            ck_abort_msg("message %u came as number %u", number, i);
        }
        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
    }
    pair_close(&pair);
}

/* A datatype of the user's that counts what is asked of it. */
struct counted {
    unsigned packs;
    unsigned finishes;
    size_t   length;
};

static void *counted_start(void *context, const void *buffer, size_t count)
{
    (void)context;
    (void)count;
    return (void *)(uintptr_t)buffer;
}

static size_t counted_size(void *state)
{
    return ((struct counted *)state)->length;
}

static size_t counted_pack(void *state, size_t offset, void *dest,
                           size_t length)
{
    struct counted *counted = state;

    ++counted->packs;
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)dest)[i] = out[offset + i];
    }
    return length;
}

static void counted_finish(void *state)
{
    ++((struct counted *)state)->finishes;
}

static const ucp_generic_dt_ops_t counted_ops = {
    .start_pack  = counted_start,
    .packed_size = counted_size,
    .pack        = counted_pack,
    .finish      = counted_finish,
};

/* Packed on the stack, finished once; iov and generic alike. */
static void immediate__packs_other_datatypes(const struct test_param *param)
{
    ucp_request_param_t how    = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    ucp_dt_iov_t        iov[3] = {{out, 5}, {out + 5, 0}, {out + 5, 20}};
    ucp_datatype_t      generic;
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_dt_create_generic(&counted_ops, NULL, &generic),
                     UCS_OK);
    pattern_fill(out, sizeof(out), 5);
    for (size_t length = 0; length < 100; ++length) {
        struct counted counted = {.length = length};

        how.datatype = generic;
        ck_assert_int_eq(proto_of(pair.eps[0], UCP_DT_GENERIC, length)->direct,
                         UCP_DIRECT_SHORT);
        ck_assert_int_eq(
            pair_wait(&pair,
                      ucp_tag_send_nbx(pair.eps[0], &counted, 1, TAG, &how)),
            UCS_OK);
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, length, TAG)), UCS_OK);
        pattern_check(in, length, 5);
        ck_assert_uint_eq(counted.finishes, 1);
        ck_assert_uint_le(counted.packs, 1);
    }
    how.datatype = ucp_dt_make_iov();
    ck_assert_int_eq(
        pair_wait(&pair, ucp_tag_send_nbx(pair.eps[0], iov, 3, TAG, &how)),
        UCS_OK);
    ck_assert_int_eq(
        pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)), UCS_OK);
    pattern_check(in, 25, 5);
    ucp_dt_destroy(generic);
    pair_close(&pair);
}

/* A pack function that gives one byte a call: all of it goes all the same. */
static size_t one_byte_pack(void *state, size_t offset, void *dest,
                            size_t length)
{
    (void)state;
    if (length == 0) {
        return 0;
    }
    *(uint8_t *)dest = out[offset];
    return 1;
}

static void immediate__packs_in_parts(const struct test_param *param)
{
    ucp_request_param_t  how     = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    ucp_generic_dt_ops_t ops     = counted_ops;
    struct counted       counted = {.length = 50};
    struct pair          pair;

    ops.pack = one_byte_pack;
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &how.datatype), UCS_OK);
    pattern_fill(out, sizeof(out), 8);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_tag_send_nbx(pair.eps[0], &counted, 1, TAG, &how)),
        UCS_OK);
    memset(in, 0, sizeof(in));
    ck_assert_int_eq(
        pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)), UCS_OK);
    pattern_check(in, 50, 8);
    ck_assert_uint_eq(in[50], 0);
    ucp_dt_destroy(how.datatype);
    pair_close(&pair);
}

/* What found no room is packed again, from the beginning. */
static void immediate__packs_again_after_no_room(const struct test_param *param)
{
    enum { COUNT_MAX = 100000, QUEUED = 20 };
    static void        *sends[COUNT_MAX];
    ucp_request_param_t how    = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                  .datatype     = ucp_dt_make_iov()};
    ucp_dt_iov_t        iov[3] = {{out, 5}, {out + 5, 0}, {out + 5, 20}};
    unsigned            count  = 0;
    unsigned            queued = 0;
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pattern_fill(out, sizeof(out), 6);
    /* self hands short messages up at once: it never has no room */
    while ((queued < QUEUED) && (count < (pair.is_loop ? 10 : COUNT_MAX))) {
        sends[count] = ucp_tag_send_nbx(pair.eps[0], iov, 3, TAG, &how);
        queued += UCS_PTR_IS_PTR(sends[count]);
        ++count;
    }
    ck_assert_uint_eq(queued, pair.is_loop ? 0 : QUEUED);
    for (unsigned i = 0; i < count; ++i) {
        memset(in, 0, 25);
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)),
            UCS_OK);
        pattern_check(in, 25, 6);
        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
    }
    pair_close(&pair);
}

/* Shorter than its header, or of nobody: dropped and counted. */
static void immediate__bad_messages_are_dropped(const struct test_param *param)
{
    uint8_t     zeros[16] = {0};
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (size_t length = 0; length < UCP_WIRE_EAGER_BYTES; ++length) {
        (void)inject(pair.workers[1], pair.eps[1], UCP_AM_EAGER, zeros, length);
        ck_assert_uint_eq(pair.workers[1]->bad_ids, length + 1);
    }
    (void)inject(pair.workers[1], NULL, UCP_AM_EAGER, zeros, 16);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, UCP_WIRE_EAGER_BYTES + 1);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 0);
    pair_close(&pair);
}

static const struct test_case immediate_cases[] = {
    TEST(immediate__every_size),
    TEST(immediate__nothing_overtakes),
    TEST(immediate__packs_other_datatypes),
    TEST(immediate__packs_in_parts),
    TEST(immediate__packs_again_after_no_room),
    TEST(immediate__bad_messages_are_dropped),
    {0},
};

const struct test_suite eager_immediate_suite = {.name   = "eager_immediate",
                                                 .cases  = immediate_cases,
                                                 .params = immediate_params};
