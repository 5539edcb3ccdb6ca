/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_wire.c - what is encoded is decoded; what is cut or made up is
 * refused. */
#include "uct/udp/udp_wire.h"

#include <string.h>

#include "ucs/bytes.h"
#include "uct/suites.h"

static const struct udp_head sample = {.to             = 0x01020304,
                                       .number         = 0x11121314,
                                       .ack            = 0x21222324,
                                       .window         = 0x3132,
                                       .kind           = UDP_KIND_AM,
                                       .flags          = UDP_FLAG_LAST,
                                       .am_id          = 17,
                                       .attempt        = 3,
                                       .newest_attempt = 2,
                                       .newest         = 0x4142,
                                       .delay_us       = 0x5152};

static void head__comes_back(const struct test_param *param)
{
    uint8_t         bytes[UDP_HEAD_BYTES] = {0};
    struct udp_head head;

    (void)param;
    udp_wire_put_head(bytes, &sample);
    ck_assert(udp_wire_get_head(bytes, sizeof(bytes), &head));
    ck_assert_mem_eq(&head, &sample, sizeof(head));
    /* The map of docs/transports/udp.md. */
    ck_assert_uint_eq(ucs_get_le32(bytes), sample.to);
    ck_assert_uint_eq(ucs_get_le32(bytes + 4), sample.number);
    ck_assert_uint_eq(ucs_get_le32(bytes + 8), sample.ack);
    ck_assert_uint_eq(ucs_get_le16(bytes + 12), sample.window);
    ck_assert_uint_eq(bytes[14], UDP_KIND_AM | (UDP_WIRE_VERSION << 5));
    ck_assert_uint_eq(bytes[16], 17);
}

static void head__of_a_segment_sent_again(const struct test_param *param)
{
    uint8_t         bytes[UDP_HEAD_BYTES] = {0};
    struct udp_head again = {.ack = 9, .window = 8, .attempt = 7, .newest = 6};
    struct udp_head head;

    (void)param;
    udp_wire_put_head(bytes, &sample);
    udp_wire_put_ack(bytes, &again);
    ck_assert(udp_wire_get_head(bytes, sizeof(bytes), &head));
    ck_assert_uint_eq(head.ack, 9);
    ck_assert_uint_eq(head.attempt, 7);
    ck_assert_uint_eq(head.number, sample.number);
    ck_assert_uint_eq(head.am_id, sample.am_id);
}

/* Every kind is refused when a byte of head or extension is missing. */
static void head__cut_is_refused(const struct test_param *param)
{
    uint8_t         bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES] = {0};
    struct udp_head head                                        = sample;
    size_t          needs;
    unsigned        kind;

    (void)param;
    for (kind = 0; kind < UDP_KIND_COUNT; ++kind) {
        head.kind = (uint8_t)kind;
        udp_wire_put_head(bytes, &head);
        needs = UDP_HEAD_BYTES + udp_wire_extension_bytes(kind);
        ck_assert(udp_wire_get_head(bytes, needs, &head));
        ck_assert(!udp_wire_get_head(bytes, needs - 1, &head));
    }
}

static void head__of_another_version_or_kind(const struct test_param *param)
{
    uint8_t         bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES] = {0};
    struct udp_head head;

    (void)param;
    udp_wire_put_head(bytes, &sample);
    bytes[14] = UDP_KIND_AM | ((UDP_WIRE_VERSION + 1) << 5);
    ck_assert(!udp_wire_get_head(bytes, sizeof(bytes), &head));
    bytes[14] = UDP_KIND_COUNT | (UDP_WIRE_VERSION << 5);
    ck_assert(!udp_wire_get_head(bytes, sizeof(bytes), &head));
}

static void extension__each_comes_back(const struct test_param *param)
{
    uint8_t                 bytes[UDP_EXTENSION_BYTES] = {0};
    const struct udp_chunk  chunk                      = {1, 2, 3};
    const struct udp_access access                     = {~1ull, ~2ull, 3, 0};
    const struct udp_word   word                       = {~4ull, ~5ull, 6, 8};
    const struct udp_answer answer                     = {7, -8, ~9ull};
    const struct udp_hello  hello = {~1ull, ~2ull, ~3ull, 4, 5, 6, 7, 8};
    struct udp_chunk        chunk_out;
    struct udp_access       access_out;
    struct udp_word         word_out;
    struct udp_answer       answer_out;
    struct udp_hello        hello_out;

    (void)param;
    ck_assert_uint_eq(udp_wire_put_chunk(bytes, &chunk),
                      udp_wire_extension_bytes(UDP_KIND_CHUNK));
    udp_wire_get_chunk(bytes, &chunk_out);
    ck_assert_mem_eq(&chunk_out, &chunk, sizeof(chunk));
    ck_assert_uint_eq(udp_wire_put_access(bytes, &access),
                      udp_wire_extension_bytes(UDP_KIND_PUT));
    ck_assert_uint_eq(udp_wire_put_word(bytes, &word),
                      udp_wire_extension_bytes(UDP_KIND_ATOMIC));
    udp_wire_get_word(bytes, &word_out);
    ck_assert_uint_eq(word_out.operand, word.operand);
    ck_assert_uint_eq(word_out.compare, word.compare);
    ck_assert_uint_eq(word_out.op, word.op);
    ck_assert_uint_eq(word_out.size_bytes, word.size_bytes);
    udp_wire_get_access(bytes, &access_out);
    ck_assert_uint_eq(access_out.key, access.key);
    ck_assert_uint_eq(access_out.address, access.address);
    ck_assert_uint_eq(access_out.operation, access.operation);
    ck_assert_uint_eq(udp_wire_put_answer(bytes, &answer),
                      udp_wire_extension_bytes(UDP_KIND_DATA));
    udp_wire_get_answer(bytes, &answer_out);
    ck_assert_mem_eq(&answer_out, &answer, sizeof(answer));
    ck_assert_uint_eq(udp_wire_put_pong(bytes, &answer),
                      udp_wire_extension_bytes(UDP_KIND_RESET));
    udp_wire_get_pong(bytes, &answer_out);
    ck_assert_int_eq(answer_out.status, -8);
    ck_assert_uint_eq(udp_wire_put_hello(bytes, &hello),
                      udp_wire_extension_bytes(UDP_KIND_HELLO));
    udp_wire_get_hello(bytes, &hello_out);
    ck_assert_uint_eq(hello_out.cookie, hello.cookie);
    ck_assert_uint_eq(hello_out.id, hello.id);
    ck_assert_uint_eq(hello_out.largest_bytes, hello.largest_bytes);
    ck_assert_uint_eq(hello_out.data_port, hello.data_port);
}

static void ranges__come_back_over_the_wrap(const struct test_param *param)
{
    uint8_t          bytes[UDP_RANGE_COUNT_MAX * UDP_RANGE_BYTES];
    struct udp_range in[UDP_RANGE_COUNT_MAX], out[UDP_RANGE_COUNT_MAX];
    uint32_t         ack = 0xfffffff0u, next = ack;
    unsigned         index;
    size_t           length;

    (void)param;
    for (index = 0; index < UDP_RANGE_COUNT_MAX; ++index) {
        in[index].first = next + 1 + (uint32_t)test_random_below(5);
        in[index].end   = in[index].first + 1 + (uint32_t)test_random_below(9);
        next            = in[index].end;
    }
    length = udp_wire_put_ranges(bytes, ack, in, UDP_RANGE_COUNT_MAX);
    ck_assert_uint_eq(length, sizeof(bytes));
    ck_assert_uint_eq(udp_wire_get_ranges(bytes, length, ack, out),
                      UDP_RANGE_COUNT_MAX);
    ck_assert_mem_eq(in, out, sizeof(in));
}

static void ranges__nonsense_ends_the_list(const struct test_param *param)
{
    uint8_t          bytes[12] = {2, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0};
    struct udp_range out[UDP_RANGE_COUNT_MAX];

    (void)param;
    ck_assert_uint_eq(udp_wire_get_ranges(bytes, 12, 10, out), 1);
    ck_assert_uint_eq(out[0].first, 12);
    ck_assert_uint_eq(out[0].end, 15);
    ck_assert_uint_eq(udp_wire_get_ranges(bytes, 3, 10, out), 0);
    ck_assert_uint_eq(udp_wire_get_ranges(bytes + 8, 4, 10, out), 0);
}

static const struct test_case cases[] = {TEST(head__comes_back),
                                         TEST(head__of_a_segment_sent_again),
                                         TEST(head__cut_is_refused),
                                         TEST(head__of_another_version_or_kind),
                                         TEST(extension__each_comes_back),
                                         TEST(ranges__come_back_over_the_wrap),
                                         TEST(ranges__nonsense_ends_the_list),
                                         {0}};

const struct test_suite udp_wire_suite = {.name = "udp_wire", .cases = cases};
