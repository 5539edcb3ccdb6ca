/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_crypt.c - known answers, and everything that must not open. */
#include "uct/udp/udp_crypt.h"

#include <stdlib.h>
#include <string.h>

#include "uct/suites.h"

enum { HEAD = 32, BODY = 27, ROOM = 4096 };

static const struct test_param algorithms[] = {
    {"chacha20", &(const enum udp_crypt_algorithm){UDP_CRYPT_CHACHA20}},
    {"aes256", &(const enum udp_crypt_algorithm){UDP_CRYPT_AES256}},
    {NULL, NULL}};

static struct udp_crypt client, server;

static struct udp_crypt_params params_of(const struct test_param *param)
{
    const enum udp_crypt_algorithm *algorithm = param->value;
    struct udp_crypt_params params = {.client_nonce = 0x1122334455667788,
                                      .server_nonce = 0x99aabbccddeeff00,
                                      .algorithm    = *algorithm};
    unsigned                i;

    for (i = 0; i < UDP_CRYPT_SECRET_BYTES; ++i) {
        params.secret[i] = (uint8_t)i;
    }
    return params;
}

static void crypt_setup(const struct test_param *param)
{
    struct udp_crypt_params params = params_of(param);

    if ((udp_crypt_algorithms() & params.algorithm) == 0) {
        test_skip("this processor has no AES");
    }
    params.is_client = true;
    ck_assert_int_eq(udp_crypt_init(&client, &params), UCS_OK);
    params.is_client = false;
    ck_assert_int_eq(udp_crypt_init(&server, &params), UCS_OK);
}

/* A head, 27 bytes of text. @return length. */
static size_t make_packet(uint8_t *packet)
{
    unsigned i;

    for (i = 0; i < HEAD; ++i) {
        packet[i] = (uint8_t)(0x40 + i);
    }
    memcpy(packet + HEAD, "a message of 27 bytes, this", BODY);
    return HEAD + BODY;
}

/* Computed by another implementation: Python's hashlib and cryptography. */
static void udp_crypt__known_answers(const struct test_param *param)
{
    static const uint8_t answers[2][2][BODY + UDP_CRYPT_TRAILER_BYTES] = {
        {{0xef, 0xdc, 0xf3, 0xf2, 0x4a, 0x5d, 0xdb, 0x14, 0x10, 0xfe, 0x26,
          0x2b, 0x7b, 0x2d, 0x94, 0x4f, 0x50, 0xb7, 0x0c, 0x42, 0xca, 0x48,
          0xb2, 0x2b, 0x47, 0x6c, 0x51, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
          0x00, 0x00, 0x3c, 0xb2, 0xd4, 0xfb, 0x00, 0x12, 0xbb, 0x11, 0xdb,
          0x4d, 0x28, 0x31, 0x36, 0xa7, 0xd5, 0x44},
         {0xb0, 0x85, 0xbd, 0xff, 0xc6, 0x1c, 0x01, 0x0e, 0x7d, 0x27, 0xb5,
          0x8f, 0x62, 0x25, 0x19, 0x76, 0xcb, 0x00, 0x95, 0xbd, 0xba, 0xf6,
          0xf6, 0xa7, 0x85, 0x58, 0x58, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
          0x00, 0x00, 0xb7, 0x7e, 0x53, 0xd4, 0x4f, 0x94, 0x90, 0xe7, 0x59,
          0xac, 0x52, 0x75, 0xa5, 0x85, 0xa5, 0x89}},
        {{0x0d, 0x22, 0x17, 0xa1, 0xa8, 0xc3, 0xd2, 0x58, 0x19, 0x44, 0x7c,
          0x8b, 0xfe, 0xa7, 0x34, 0xea, 0xc5, 0x4a, 0x4c, 0x4c, 0x5f, 0x70,
          0x28, 0x42, 0x31, 0xa2, 0x47, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
          0x00, 0x00, 0xbf, 0x6d, 0x91, 0x04, 0xee, 0x89, 0x43, 0x3d, 0x60,
          0x66, 0x56, 0x3c, 0x97, 0xc5, 0xaf, 0xe5},
         {0x14, 0xba, 0x4f, 0x8b, 0xae, 0x38, 0x9c, 0xc7, 0x44, 0xf1, 0xf0,
          0x2e, 0x73, 0x9a, 0xee, 0x58, 0xc2, 0x0f, 0x1a, 0xa1, 0x31, 0x17,
          0xde, 0xca, 0xde, 0x1b, 0x87, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
          0x00, 0x00, 0xff, 0xf3, 0x3b, 0x4f, 0xd2, 0x60, 0x34, 0x3f, 0x97,
          0x51, 0x76, 0x31, 0x06, 0x15, 0x33, 0x88}}};
    bool    is_aes = (client.algorithm == UDP_CRYPT_AES256);
    uint8_t packet[ROOM];
    size_t  length;

    (void)param;
    length = udp_crypt_seal(&client, packet, HEAD, make_packet(packet));
    ck_assert_uint_eq(length, HEAD + BODY + UDP_CRYPT_TRAILER_BYTES);
    ck_assert_mem_eq(packet + HEAD, answers[is_aes][0], length - HEAD);
    length = udp_crypt_seal(&server, packet, HEAD, make_packet(packet));
    ck_assert_mem_eq(packet + HEAD, answers[is_aes][1], length - HEAD);
}

/* Both ways, all lengths, the head in the clear, never twice the same. */
static void udp_crypt__opens_what_was_sealed(const struct test_param *param)
{
    uint8_t plain[ROOM], packet[ROOM], last[16];
    size_t  body, length, opened;

    (void)param;
    memset(last, 0, sizeof(last));
    for (body = 0; body < 200; ++body) {
        bool              is_up = (body & 1) != 0;
        struct udp_crypt *from  = is_up ? &client : &server;
        struct udp_crypt *to    = is_up ? &server : &client;

        memset(plain, 'p', HEAD + body);
        memcpy(packet, plain, HEAD + body);
        length = udp_crypt_seal(from, packet, HEAD, HEAD + body);
        ck_assert_uint_eq(length, HEAD + body + UDP_CRYPT_TRAILER_BYTES);
        ck_assert_mem_eq(packet, plain, HEAD);
        ck_assert(memcmp(packet + length - 16, last, 16) != 0);
        memcpy(last, packet + length - 16, 16);
        if (body >= 16) {
            ck_assert(memcmp(packet + HEAD, plain + HEAD, body) != 0);
        }
        ck_assert_int_eq(udp_crypt_open(to, packet, HEAD, length, &opened),
                         UCS_OK);
        ck_assert_uint_eq(opened, HEAD + body);
        ck_assert_mem_eq(packet, plain, HEAD + body);
    }
}

/* Each bit of the packet counts, those of the head too. */
static void udp_crypt__any_flipped_bit_is_seen(const struct test_param *param)
{
    uint8_t sealed[ROOM], packet[ROOM];
    size_t  length = udp_crypt_seal(&client, sealed, HEAD, make_packet(sealed));
    size_t  opened = 0;
    size_t  bit;

    (void)param;
    for (bit = 0; bit < length * 8; ++bit) {
        memcpy(packet, sealed, length);
        packet[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (udp_crypt_open(&server, packet, HEAD, length, &opened) == UCS_OK) {
            ck_abort_msg("bit %zu", bit);
        }
    }
    /* None of them moved the window. */
    ck_assert_int_eq(udp_crypt_open(&server, sealed, HEAD, length, &opened),
                     UCS_OK);
}

static void udp_crypt__shorter_or_longer(const struct test_param *param)
{
    uint8_t sealed[ROOM];
    size_t  length = udp_crypt_seal(&client, sealed, HEAD, make_packet(sealed));
    size_t  opened = 77;
    size_t  cut;

    (void)param;
    for (cut = 0; cut < length; ++cut) {
        /* Exactly so much memory: a read beyond it is found. */
        uint8_t *packet = malloc(cut + 1);

        ck_assert_ptr_nonnull(packet);
        memcpy(packet, sealed, cut);
        ck_assert_int_ne(udp_crypt_open(&server, packet, HEAD, cut, &opened),
                         UCS_OK);
        free(packet);
    }
    sealed[length] = 0;
    ck_assert_int_ne(udp_crypt_open(&server, sealed, HEAD, length + 1, &opened),
                     UCS_OK);
    ck_assert_uint_eq(opened, 77);
}

static void udp_crypt__random_bytes_never_open(const struct test_param *param)
{
    uint8_t  packet[128];
    size_t   opened;
    uint64_t turn;
    size_t   i;

    (void)param;
    for (turn = 0; turn < test_rounds(20000, 1000000); ++turn) {
        size_t length = test_random_below(sizeof(packet));

        for (i = 0; i < length; ++i) {
            packet[i] = (uint8_t)test_random();
        }
        if (udp_crypt_open(&server, packet, HEAD, length, &opened) == UCS_OK) {
            ck_abort_msg("turn %llu", (unsigned long long)turn);
        }
    }
}

static void udp_crypt__our_own_packet_reflected(const struct test_param *param)
{
    uint8_t packet[ROOM];
    size_t  length = udp_crypt_seal(&client, packet, HEAD, make_packet(packet));
    size_t  opened;

    (void)param;
    ck_assert_int_eq(udp_crypt_open(&client, packet, HEAD, length, &opened),
                     UCS_ERR_INVALID_PARAM);
}

/* Every thing that goes into the keys makes another connection. */
static void udp_crypt__another_connection(const struct test_param *param)
{
    unsigned what;

    for (what = 0; what < 3; ++what) {
        struct udp_crypt_params params = params_of(param);
        struct udp_crypt        other;
        uint8_t                 packet[ROOM];
        size_t                  length, opened;

        params.client_nonce ^= (what == 0);
        params.server_nonce ^= (what == 1) ? 1ull << 63 : 0;
        params.secret[15] ^= (what == 2);
        ck_assert_int_eq(udp_crypt_init(&other, &params), UCS_OK);
        length = udp_crypt_seal(&client, packet, HEAD, make_packet(packet));
        ck_assert_int_eq(udp_crypt_open(&other, packet, HEAD, length, &opened),
                         UCS_ERR_INVALID_PARAM);
        udp_crypt_cleanup(&other);
    }
}

/* ------------------------------------------------------------------- replay */

static ucs_status_t open_number(uint64_t counter)
{
    uint8_t packet[ROOM];
    size_t  length, opened;

    client.counter = counter - 1;
    length         = udp_crypt_seal(&client, packet, HEAD, make_packet(packet));
    return udp_crypt_open(&server, packet, HEAD, length, &opened);
}

static void udp_crypt__replay_window(const struct test_param *param)
{
    enum { W = UDP_CRYPT_WINDOW };
    static const struct {
        uint64_t counter;
        bool     is_new;
    } rows[] = {{1, true},
                {1, false},
                {2, true},
                {W, true},
                {3, true},
                {3, false},
                {W + 1, true},
                {2, false},
                {1, false},
                {W + 3, true},
                {W + 2, true},
                {W + 2, false},
                {4, true},
                {3, false},
                {2 * W + 2, true},
                {W + 3, false},
                {W + 2, false},
                {W + 4, true},
                {2 * W + 1, true},
                {2 * W + 2, false},
                {10 * W, true},
                {2 * W + 3, false},
                {9 * W, false},
                {9 * W + 1, true},
                {9 * W + 1, false},
                {10 * W - 1, true},
                {UINT64_MAX, true},
                {UINT64_MAX, false},
                {UINT64_MAX - W + 1, true}};
    size_t i;

    (void)param;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        ck_assert_msg(open_number(rows[i].counter) ==
                          (rows[i].is_new ? UCS_OK : UCS_ERR_ALREADY_EXISTS),
                      "row %zu", i);
    }
}

/* Against a list of what was seen. */
static void udp_crypt__replay_against_a_model(const struct test_param *param)
{
    enum { RANGE = 5 * UDP_CRYPT_WINDOW };
    static bool seen[RANGE + 1];
    uint64_t    newest = 0;
    unsigned    i;

    (void)param;
    for (i = 0; i < 20000; ++i) {
        uint64_t counter =
            1 + test_random_below(RANGE * (uint64_t)(i + 1) / 20000 + 1);
        bool is_new;

        counter = (counter > RANGE) ? RANGE : counter;
        is_new  = !seen[counter] &&
                 ((counter > newest) || (newest - counter < UDP_CRYPT_WINDOW));
        if ((open_number(counter) == UCS_OK) != is_new) {
            ck_abort_msg("counter %llu, newest %llu",
                         (unsigned long long)counter,
                         (unsigned long long)newest);
        }
        seen[counter] = true;
        newest        = (counter > newest) ? counter : newest;
    }
}

static void udp_crypt__counter_never_wraps(const struct test_param *param)
{
    uint8_t packet[ROOM];

    (void)param;
    client.counter = UINT64_MAX;
    ck_assert_uint_eq(
        udp_crypt_seal(&client, packet, HEAD, make_packet(packet)), 0);
}

static void udp_crypt__keys_are_wiped(const struct test_param *param)
{
    const uint8_t *bytes = (const uint8_t *)&client;
    size_t         i;

    (void)param;
    udp_crypt_cleanup(&client);
    for (i = 0; i < sizeof(client); ++i) {
        if (bytes[i] != 0) {
            ck_abort_msg("byte %zu", i);
        }
    }
}

static void udp_crypt_choose__the_best_of_both(const struct test_param *param)
{
    enum { C = UDP_CRYPT_CHACHA20, A = UDP_CRYPT_AES256 };
    static const struct {
        unsigned ours, theirs, chosen;
    } rows[] = {{C, C, C},     {C | A, C, C},
                {C, C | A, C}, {C | A, C | A, A},
                {C | A, A, A}, {C, A, 0},
                {0, C | A, 0}, {C | A, 0, 0},
                {C | A, 4, 0}, {C | A, 0xffffffff, A}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        enum udp_crypt_algorithm chosen = 0;
        ucs_status_t             status =
            udp_crypt_choose(rows[i].ours, rows[i].theirs, &chosen);

        ck_assert_int_eq(status,
                         (rows[i].chosen != 0) ? UCS_OK : UCS_ERR_UNSUPPORTED);
        ck_assert_uint_eq(chosen, rows[i].chosen);
    }
    /* And no other word makes keys. */
    for (i = 0; i < 8; ++i) {
        struct udp_crypt_params params = params_of(param);

        params.algorithm = (enum udp_crypt_algorithm)i;
        if ((i != C) && (i != A)) {
            ck_assert_int_eq(udp_crypt_init(&client, &params),
                             UCS_ERR_UNSUPPORTED);
        }
    }
}

static const struct test_case cases[] = {
    TEST(udp_crypt__known_answers),
    TEST(udp_crypt__opens_what_was_sealed),
    TEST(udp_crypt__any_flipped_bit_is_seen),
    TEST(udp_crypt__shorter_or_longer),
    TEST(udp_crypt__random_bytes_never_open),
    TEST(udp_crypt__our_own_packet_reflected),
    TEST(udp_crypt__another_connection),
    TEST(udp_crypt__replay_window),
    TEST(udp_crypt__replay_against_a_model),
    TEST(udp_crypt__counter_never_wraps),
    TEST(udp_crypt__keys_are_wiped),
    TEST(udp_crypt_choose__the_best_of_both),
    {0},
};

const struct test_suite udp_crypt_suite = {"udp_crypt", cases, algorithms,
                                           crypt_setup, NULL};
