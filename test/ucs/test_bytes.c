/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bytes.c - wire integers, reader and writer. */
#include "ucs/bytes.h"

#include "ucs/random_model.h"
#include "ucs/suites.h"

static const uint8_t digits[] = {0x01, 0x23, 0x45, 0x67, 0x89,
                                 0xab, 0xcd, 0xef, 0xfe};

static void get__little_endian_unaligned(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(ucs_get_le16(digits), 0x2301);
    ck_assert_uint_eq(ucs_get_le16(digits + 1), 0x4523);
    ck_assert_uint_eq(ucs_get_le32(digits), 0x67452301);
    ck_assert_uint_eq(ucs_get_le32(digits + 1), 0x89674523);
    ck_assert_uint_eq(ucs_get_le64(digits), 0xefcdab8967452301);
    ck_assert_uint_eq(ucs_get_le64(digits + 1), 0xfeefcdab89674523);
}

static void put__is_undone_by_get(const struct test_param *param)
{
    uint8_t bytes[9] = {0};

    (void)param;
    ucs_put_le16(bytes + 1, 0x2301);
    ck_assert_mem_eq(bytes + 1, digits, 2);
    ck_assert_uint_eq(bytes[3], 0);
    ucs_put_le32(bytes + 1, 0x67452301);
    ck_assert_mem_eq(bytes + 1, digits, 4);
    ck_assert_uint_eq(bytes[5], 0);
    ucs_put_le64(bytes + 1, 0xefcdab8967452301);
    ck_assert_mem_eq(bytes + 1, digits, 8);
    ck_assert_uint_eq(bytes[0], 0);
}

static void reader__reads_all_kinds(const struct test_param *param)
{
    uint8_t           bytes[32];
    uint8_t           copy[3];
    struct ucs_writer writer;
    struct ucs_reader reader;
    size_t            size;

    (void)param;
    ucs_writer_init(&writer, bytes, sizeof(bytes));
    ucs_write_u8(&writer, 0xfe);
    ucs_write_le16(&writer, 0xfedc);
    ucs_write_le32(&writer, 0xfedcba98);
    ucs_write_le64(&writer, 0xfedcba9876543210);
    ucs_write_bytes(&writer, "abcdef", 6);
    ck_assert(ucs_write_ok(&writer));
    size = ucs_write_length(&writer);
    ck_assert_uint_eq(size, 21);

    ucs_reader_init(&reader, bytes, size);
    ck_assert_uint_eq(ucs_read_u8(&reader), 0xfe);
    ck_assert_uint_eq(ucs_read_le16(&reader), 0xfedc);
    ck_assert_uint_eq(ucs_read_le32(&reader), 0xfedcba98);
    ck_assert_uint_eq(ucs_read_le64(&reader), 0xfedcba9876543210);
    ucs_read_skip(&reader, 1);
    ck_assert_uint_eq(ucs_read_left(&reader), 5);
    ck_assert_ptr_eq(ucs_read_view(&reader, 2), bytes + 16);
    ucs_read_bytes(&reader, copy, 3);
    ck_assert_mem_eq(copy, "def", 3);
    ck_assert(ucs_read_ok(&reader));
    ck_assert_uint_eq(ucs_read_left(&reader), 0);
}

static void reader__failure_stays(const struct test_param *param)
{
    uint8_t           copy[3] = {1, 2, 3};
    struct ucs_reader reader;

    (void)param;
    ucs_reader_init(&reader, digits, 3);
    ck_assert_uint_eq(ucs_read_le32(&reader), 0);
    ck_assert(!ucs_read_ok(&reader));
    ck_assert_uint_eq(ucs_read_left(&reader), 0);
    ck_assert_uint_eq(ucs_read_u8(&reader), 0); /* would have fitted */
    ucs_read_bytes(&reader, copy, 3);
    ck_assert_mem_eq(copy, "\0\0\0", 3);
    ck_assert_ptr_null(ucs_read_view(&reader, 0));
}

static void reader__nothing_to_read(const struct test_param *param)
{
    struct ucs_reader reader;

    (void)param;
    ucs_reader_init(&reader, NULL, 0);
    ucs_read_skip(&reader, 0);
    ucs_read_bytes(&reader, NULL, 0);
    ck_assert_ptr_nonnull(ucs_read_view(&reader, 0));
    ck_assert(ucs_read_ok(&reader));
    ck_assert_uint_eq(ucs_read_u8(&reader), 0);
    ck_assert(!ucs_read_ok(&reader));
}

static void reader__absurd_length(const struct test_param *param)
{
    struct ucs_reader reader;

    (void)param;
    ucs_reader_init(&reader, digits, sizeof(digits));
    ucs_read_skip(&reader, 1);
    ucs_read_skip(&reader, SIZE_MAX); /* a sum with the offset would wrap */
    ck_assert(!ucs_read_ok(&reader));
}

static void writer__does_not_fit(const struct test_param *param)
{
    uint8_t           bytes[5] = {0};
    struct ucs_writer writer;

    (void)param;
    ucs_writer_init(&writer, bytes, 4);
    ucs_write_u8(&writer, 1);
    ucs_write_le32(&writer, UINT32_MAX);
    ck_assert(!ucs_write_ok(&writer));
    ucs_write_u8(&writer, 2); /* would have fitted */
    ck_assert_ptr_null(ucs_write_reserve(&writer, 0));
    ck_assert_uint_eq(ucs_write_length(&writer), 1);
    ck_assert_mem_eq(bytes, "\1\0\0\0", 5);
}

static void writer__counts_without_memory(const struct test_param *param)
{
    struct ucs_writer writer;

    (void)param;
    ucs_writer_init(&writer, NULL, 0);
    ucs_write_le64(&writer, 1);
    ucs_write_bytes(&writer, "abc", 3);
    ck_assert_ptr_null(ucs_write_reserve(&writer, 5));
    ck_assert(ucs_write_ok(&writer));
    ck_assert_uint_eq(ucs_write_length(&writer), 16);
    ck_assert_ptr_null(ucs_write_reserve(&writer, SIZE_MAX - 15));
    ck_assert(!ucs_write_ok(&writer)); /* beyond what can be counted */
}

static void writer__reserve_is_filled_later(const struct test_param *param)
{
    uint8_t           bytes[4];
    struct ucs_writer writer;
    void             *length;

    (void)param;
    ucs_writer_init(&writer, bytes, sizeof(bytes));
    length = ucs_write_reserve(&writer, 2);
    ck_assert_ptr_eq(length, bytes);
    ucs_write_le16(&writer, 0x0403);
    ucs_put_le16(length, 0x0201);
    ck_assert(ucs_write_ok(&writer));
    ck_assert_mem_eq(bytes, "\1\2\3\4", 4);
}

static void random__like_index_arithmetic(const struct test_param *param)
{
    (void)param;
    run_random_model(model_bytes, 2000);
}

static const struct test_case cases[] = {TEST(get__little_endian_unaligned),
                                         TEST(put__is_undone_by_get),
                                         TEST(reader__reads_all_kinds),
                                         TEST(reader__failure_stays),
                                         TEST(reader__nothing_to_read),
                                         TEST(reader__absurd_length),
                                         TEST(writer__does_not_fit),
                                         TEST(writer__counts_without_memory),
                                         TEST(writer__reserve_is_filled_later),
                                         TEST(random__like_index_arithmetic),
                                         {0}};

const struct test_suite bytes_suite = {"bytes", cases, NULL, NULL, NULL};
