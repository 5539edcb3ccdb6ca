/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy.c - a few bytes without a call. */
#include "ucs/copy.h"

#include "ucs/suites.h"

enum { MARGIN = 8, ROOM = UCS_COPY_SMALL_BYTES_MAX + 2 * MARGIN };

/* Every length, at every alignment of both sides: the bytes arrive and their
 * neighbours stay. */
static void copy__every_length_and_alignment(const struct test_param *param)
{
    uint8_t source[ROOM], dest[ROOM];
    size_t  length, from, to, i;

    (void)param;
    for (length = 0; length <= UCS_COPY_SMALL_BYTES_MAX; ++length) {
        for (from = 0; from < MARGIN; ++from) {
            to = (from * 5 + length) % MARGIN;
            for (i = 0; i < ROOM; ++i) {
                source[i] = (uint8_t)(i + 1);
                dest[i]   = 0xee;
            }
            ucs_copy_small(dest + to, source + from, length);
            for (i = 0; i < ROOM; ++i) {
                ck_assert_uint_eq(dest[i], ((i < to) || (i >= to + length))
                                               ? 0xee
                                               : source[from + i - to]);
            }
        }
    }
}

static void copy__nothing_from_nowhere(const struct test_param *param)
{
    (void)param;
    ucs_copy_small(NULL, NULL, 0);
}

static const struct test_case cases[] = {TEST(copy__every_length_and_alignment),
                                         TEST(copy__nothing_from_nowhere),
                                         {0}};

const struct test_suite copy_suite = {"copy", cases, NULL, NULL, NULL};
