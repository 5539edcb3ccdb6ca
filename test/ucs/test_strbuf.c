/* SPDX-License-Identifier: BSD-3-Clause */
/* test_strbuf.c - bounded string builder. */
#include "ucs/strbuf.h"

#include <string.h>

#include "ucs/suites.h"

enum { GUARD = '#' };

static char              array[16];
static struct ucs_strbuf strbuf;

/* The builder gets all of the array but the last 6 bytes. */
static void setup(const struct test_param *param)
{
    (void)param;
    memset(array, GUARD, sizeof(array));
    ucs_strbuf_init(&strbuf, array, 10);
}

static void expect(const char *text, bool truncated)
{
    size_t i;

    ck_assert_str_eq(strbuf.text, text);
    ck_assert_uint_eq(strbuf.length, strlen(text));
    ck_assert(strbuf.truncated == truncated);
    for (i = 10; i < sizeof(array); ++i) {
        ck_assert_int_eq(array[i], GUARD);
    }
}

static void init__is_empty(const struct test_param *param)
{
    (void)param;
    expect("", false);
}

static void append__cuts_what_does_not_fit(const struct test_param *param)
{
    (void)param;
    ucsi_strbuf_append(&strbuf, "abcd");
    expect("abcd", false);
    ucsi_strbuf_append(&strbuf, "");
    ucsi_strbuf_append(&strbuf, "efghi");
    expect("abcdefghi", false);
    ucsi_strbuf_append(&strbuf, "");
    expect("abcdefghi", false);
    ucsi_strbuf_append(&strbuf, "j");
    expect("abcdefghi", true);
}

static void append__cuts_in_the_middle(const struct test_param *param)
{
    (void)param;
    ucsi_strbuf_append(&strbuf, "0123456789abcdef");
    expect("012345678", true);
}

static void append__array_of_one(const struct test_param *param)
{
    (void)param;
    ucs_strbuf_init(&strbuf, array, 1);
    ucsi_strbuf_append(&strbuf, "");
    expect("", false);
    ucsi_strbuf_append(&strbuf, "a");
    ucsi_strbuf_appendf(&strbuf, "%d", 1);
    ucsi_strbuf_append_hex(&strbuf, "a", 1);
    expect("", true);
    ck_assert_int_eq(array[1], GUARD);
}

static void appendf__fits_exactly(const struct test_param *param)
{
    (void)param;
    ucsi_strbuf_appendf(&strbuf, "%d-%s", 1234, "abcd");
    expect("1234-abcd", false);
    ucsi_strbuf_appendf(&strbuf, "%s", "");
    expect("1234-abcd", false);
    ucsi_strbuf_appendf(&strbuf, "%c", 'x');
    expect("1234-abcd", true);
}

static void appendf__cuts_what_does_not_fit(const struct test_param *param)
{
    (void)param;
    ucsi_strbuf_append(&strbuf, "abc");
    ucsi_strbuf_appendf(&strbuf, "%d", 12345678);
    expect("abc123456", true);
}

static void append_hex__whole_bytes(const struct test_param *param)
{
    static const uint8_t bytes[] = {0x00, 0x0f, 0xa5, 0xff, 0x12};

    (void)param;
    ucsi_strbuf_append_hex(&strbuf, bytes, 0);
    expect("", false);
    ucsi_strbuf_append_hex(&strbuf, bytes, 4);
    expect("000fa5ff", false);
    ucsi_strbuf_append_hex(&strbuf, bytes + 4, 1);
    expect("000fa5ff", true);
}

static void rtrim__set_at_the_end(const struct test_param *param)
{
    (void)param;
    ucsi_strbuf_append(&strbuf, "a, b, ,");
    ucsi_strbuf_rtrim(&strbuf, " ,");
    expect("a, b", false);
    ucsi_strbuf_rtrim(&strbuf, "");
    expect("a, b", false);
    ucsi_strbuf_rtrim(&strbuf, "ab ,");
    expect("", false);
    ucsi_strbuf_rtrim(&strbuf, "ab ,");
    expect("", false);
}

/* Like the front of the whole text, whatever is added. */
static void random__like_a_longer_text(const struct test_param *param)
{
    enum { ROUNDS = 2000, PIECES_MAX = 12, PIECE_MAX = 20, SIZE = 64 };
    char              small[SIZE], whole[PIECES_MAX * PIECE_MAX + SIZE];
    char              piece[PIECE_MAX + 1];
    struct ucs_strbuf text;
    size_t            size, length, total;

    (void)param;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        size  = 1 + test_random_below(SIZE);
        total = 0;
        ucs_strbuf_init(&text, small, size);
        for (uint64_t i = test_random_below(PIECES_MAX); i > 0; --i) {
            length = test_random_below(PIECE_MAX);
            memset(piece, 'a' + (int)test_random_below(26), length);
            piece[length] = '\0';
            memcpy(whole + total, piece, length);
            total += length;
            if (test_random_below(2) == 0) {
                ucsi_strbuf_append(&text, piece);
            } else {
                ucsi_strbuf_appendf(&text, "%s", piece);
            }
        }
        ck_assert(text.truncated == (total >= size));
        whole[ucs_min(total, size - 1)] = '\0';
        ck_assert_str_eq(small, whole);
        ck_assert_uint_eq(text.length, strlen(whole));
    }
}

static const struct test_case cases[] = {TEST(init__is_empty),
                                         TEST(append__cuts_what_does_not_fit),
                                         TEST(append__cuts_in_the_middle),
                                         TEST(append__array_of_one),
                                         TEST(appendf__fits_exactly),
                                         TEST(appendf__cuts_what_does_not_fit),
                                         TEST(append_hex__whole_bytes),
                                         TEST(rtrim__set_at_the_end),
                                         TEST(random__like_a_longer_text),
                                         {0}};

const struct test_suite strbuf_suite = {"strbuf", cases, NULL, setup, NULL};
