/* SPDX-License-Identifier: BSD-3-Clause */
/* test_random.c - all bytes are filled, none beside them, and they differ. */
#include "ucs/random.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/log_capture.h"
#include "ucs/suites.h"

enum { ROOM = 4096, MARGIN = 16 };

/* A byte that stays the same in 16 draws was not drawn: 2^-120. */
static void random_bytes__every_one_and_no_other(const struct test_param *param)
{
    static const size_t sizes[] = {0, 1, 7, 8, 255, 256, 257, ROOM};
    uint8_t             bytes[ROOM + 2 * MARGIN];
    uint8_t             seen[ROOM];
    size_t              row, i;
    unsigned            turn;

    (void)param;
    for (row = 0; row < UCS_ARRAY_COUNT(sizes); ++row) {
        memset(seen, 0, sizeof(seen));
        memset(bytes, 0, sizeof(bytes));
        for (turn = 0; turn < 16; ++turn) {
            ck_assert_int_eq(ucsi_random_bytes(bytes + MARGIN, sizes[row]),
                             UCS_OK);
            for (i = 0; i < sizes[row]; ++i) {
                seen[i] |= bytes[MARGIN + i];
            }
        }
        for (i = 0; i < sizeof(bytes); ++i) {
            bool is_ours = (i >= MARGIN) && (i < MARGIN + sizes[row]);

            if (is_ours ? (seen[i - MARGIN] == 0) : (bytes[i] != 0)) {
                ck_abort_msg("%zu bytes: byte %zd", sizes[row],
                             (ssize_t)i - MARGIN);
            }
        }
    }
}

/* More than the kernel gives at once (32 MiB - 1). */
static void random_bytes__many(const struct test_param *param)
{
    size_t   size_bytes = 33u << 20;
    uint8_t *bytes      = calloc(1, size_bytes);
    uint8_t  last       = 0;
    size_t   i;

    (void)param;
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(ucsi_random_bytes(bytes, size_bytes), UCS_OK);
    for (i = size_bytes - 64; i < size_bytes; ++i) {
        last |= bytes[i];
    }
    ck_assert_uint_ne(last, 0);
    free(bytes);
}

static void random_u64__differs(const struct test_param *param)
{
    uint64_t a = 0, b = 0;

    (void)param;
    ck_assert_int_eq(ucsi_random_u64(&a), UCS_OK);
    ck_assert_int_eq(ucsi_random_u64(&b), UCS_OK);
    ck_assert_uint_ne(a, b);
}

static void random_bytes__bad_memory_is_told(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_random_bytes((void *)16, 8), UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "getrandom of 8 bytes"));
}

static const struct test_case cases[] = {
    TEST(random_bytes__every_one_and_no_other),
    TEST(random_bytes__many),
    TEST(random_u64__differs),
    TEST(random_bytes__bad_memory_is_told),
    {0},
};

const struct test_suite random_suite = {"random", cases, NULL, NULL, NULL};
