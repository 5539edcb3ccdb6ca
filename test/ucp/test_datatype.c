/* SPDX-License-Identifier: BSD-3-Clause */
/* test_datatype.c - src/ucp/dt/datatype.c: all classes give the same bytes. */
#include "ucp/dt/datatype.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

enum { DATA_BYTES = 1000, IOV_COUNT_MAX = 40 };

/* A generic datatype over [DATA_BYTES] that is stored backwards, and counts
 * its calls. */
struct reversed {
    uint8_t *buffer;
    int      start_count;
    int      finish_count;
    size_t   pack_bytes_max; /* pack gives no more than this at a time */
};

static void *reversed_start_pack(void *context, const void *buffer,
                                 size_t count)
{
    (void)buffer;
    (void)count;
    ++((struct reversed *)context)->start_count;
    return context;
}

static void *reversed_start_unpack(void *context, void *buffer, size_t count)
{
    return reversed_start_pack(context, buffer, count);
}

static size_t reversed_packed_size(void *state)
{
    (void)state;
    return DATA_BYTES;
}

static size_t reversed_pack(void *state, size_t offset, void *dest,
                            size_t length)
{
    struct reversed *reversed = state;

    if (length > reversed->pack_bytes_max) {
        length = reversed->pack_bytes_max;
    }
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)dest)[i] = reversed->buffer[DATA_BYTES - 1 - offset - i];
    }
    return length;
}

static ucs_status_t reversed_unpack(void *state, size_t offset,
                                    const void *source, size_t length)
{
    struct reversed *reversed = state;

    for (size_t i = 0; i < length; ++i) {
        reversed->buffer[DATA_BYTES - 1 - offset - i] =
            ((const uint8_t *)source)[i];
    }
    return UCS_OK;
}

static void reversed_finish(void *state)
{
    ++((struct reversed *)state)->finish_count;
}

static void data_fill(uint8_t *data)
{
    for (int i = 0; i < DATA_BYTES; ++i) {
        data[i] = (uint8_t)test_random();
    }
}

/* Cut [DATA_BYTES] into random entries, some of them empty. */
static size_t iov_cut(uint8_t *data, ucp_dt_iov_t *iov)
{
    size_t offset = 0, count = 0, length;

    while ((offset < DATA_BYTES) && (count < IOV_COUNT_MAX - 1)) {
        length = test_random_below(80);
        length = (length > DATA_BYTES - offset) ? DATA_BYTES - offset : length;
        length = (test_random_below(4) == 0) ? 0 : length;
        iov[count].buffer = (length == 0) ? NULL : data + offset;
        iov[count].length = length;
        ++count;
        offset += length;
    }
    iov[count].buffer = data + offset;
    iov[count].length = DATA_BYTES - offset;
    return count + 1;
}

static void pack_in_parts(struct ucp_dt_iter *iter, uint8_t *packed)
{
    size_t done = 0, part;

    while (iter->offset < iter->length) {
        part =
            ucp_dt_iter_pack(iter, packed + done, 1 + test_random_below(200));
        ck_assert_uint_gt(part, 0);
        done += part;
    }
    ck_assert_uint_eq(done, DATA_BYTES);
    ck_assert_uint_eq(ucp_dt_iter_pack(iter, packed, 10), 0);
}

static void pack__contig_and_iov_agree(const struct test_param *param)
{
    uint8_t            data[DATA_BYTES], packed[DATA_BYTES];
    ucp_dt_iov_t       iov[IOV_COUNT_MAX];
    struct ucp_dt_iter iter;

    (void)param;
    data_fill(data);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, data, DATA_BYTES / 4,
                                           ucp_dt_make_contig(4)),
                     UCS_OK);
    pack_in_parts(&iter, packed);
    ck_assert_mem_eq(packed, data, DATA_BYTES);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, iov, iov_cut(data, iov),
                                           ucp_dt_make_iov()),
                     UCS_OK);
    pack_in_parts(&iter, packed);
    ck_assert_mem_eq(packed, data, DATA_BYTES);
    ucp_dt_iter_cleanup(&iter);
}

/* Unpack a message in random pieces in random order. */
static void unpack_shuffled(struct ucp_dt_iter *iter, const uint8_t *packed)
{
    size_t starts[DATA_BYTES], ends[DATA_BYTES];
    size_t count = 0, offset = 0;

    while (offset < DATA_BYTES) {
        starts[count] = offset;
        offset += 1 + test_random_below(100);
        offset      = (offset > DATA_BYTES) ? DATA_BYTES : offset;
        ends[count] = offset;
        ++count;
    }
    while (count > 0) {
        size_t i = test_random_below(count);

        ck_assert_int_eq(ucp_dt_iter_unpack(iter, starts[i], packed + starts[i],
                                            ends[i] - starts[i]),
                         UCS_OK);
        --count;
        starts[i] = starts[count];
        ends[i]   = ends[count];
    }
}

static void unpack__pieces_in_any_order(const struct test_param *param)
{
    uint8_t            packed[DATA_BYTES], data[DATA_BYTES] = {0};
    ucp_dt_iov_t       iov[IOV_COUNT_MAX];
    struct ucp_dt_iter iter;

    (void)param;
    data_fill(packed);
    ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, iov, iov_cut(data, iov),
                                           ucp_dt_make_iov()),
                     UCS_OK);
    unpack_shuffled(&iter, packed);
    ck_assert_mem_eq(packed, data, DATA_BYTES);
}

static const ucp_generic_dt_ops_t reversed_ops = {
    .start_pack   = reversed_start_pack,
    .start_unpack = reversed_start_unpack,
    .packed_size  = reversed_packed_size,
    .pack         = reversed_pack,
    .unpack       = reversed_unpack,
    .finish       = reversed_finish,
};

static void generic__called_as_promised(const struct test_param *param)
{
    uint8_t            data[DATA_BYTES], packed[DATA_BYTES];
    struct reversed    reversed = {.buffer = data, .pack_bytes_max = 33};
    struct ucp_dt_iter iter;
    ucp_datatype_t     datatype;

    (void)param;
    data_fill(data);
    ck_assert_int_eq(ucp_dt_create_generic(&reversed_ops, &reversed, &datatype),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, NULL, 1, datatype), UCS_OK);
    pack_in_parts(&iter, packed);
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_iter_cleanup(&iter);
    ck_assert_int_eq(reversed.start_count, 1);
    ck_assert_int_eq(reversed.finish_count, 1);
    for (int i = 0; i < DATA_BYTES; ++i) {
        ck_assert_uint_eq(packed[i], data[DATA_BYTES - 1 - i]);
    }
    memset(data, 0, sizeof(data));
    ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, NULL, 1, datatype), UCS_OK);
    unpack_shuffled(&iter, packed);
    ucp_dt_iter_cleanup(&iter);
    ck_assert_uint_eq(data[0], packed[DATA_BYTES - 1]);
    ck_assert_int_eq(reversed.finish_count, 2);
    ucp_dt_destroy(datatype);
}

/* Elements of 6 bytes that are never split, as Open MPI's. */
static size_t whole_pack(void *state, size_t offset, void *dest, size_t length)
{
    size_t whole = length / 6 * 6;

    for (size_t i = 0; i < whole; ++i) {
        ((uint8_t *)dest)[i] = (uint8_t)(offset + i);
    }
    (void)state;
    return whole;
}

static size_t whole_size(void *state)
{
    (void)state;
    return 600;
}

static void *whole_start(void *context, const void *buffer, size_t count)
{
    (void)buffer;
    (void)count;
    return context;
}

static void whole_finish(void *state)
{
    (void)state;
}

static const ucp_generic_dt_ops_t whole_ops = {.start_pack  = whole_start,
                                               .packed_size = whole_size,
                                               .pack        = whole_pack,
                                               .finish      = whole_finish};

/* Bytes of such an element from `offset` on. */
static void check_packed(const uint8_t *packed, size_t offset, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        ck_assert_uint_eq(packed[i], (uint8_t)(offset + i));
    }
}

static ucp_datatype_t whole_open(struct ucp_dt_iter *iter, void *context)
{
    ucp_datatype_t datatype;

    ck_assert_int_eq(ucp_dt_create_generic(&whole_ops, context, &datatype),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init_send(iter, NULL, 1, datatype), UCS_OK);
    return datatype;
}

/* Room for less than an element, again and again, as at the end of a
 * receiver's window: elements are split, and nothing is lost. */
static void generic__elements_are_split_at_need(const struct test_param *param)
{
    uint8_t            packed[40];
    struct ucp_dt_iter iter;
    ucp_datatype_t     datatype;
    size_t             offset = 0, length;

    (void)param;
    datatype = whole_open(&iter, packed);
    while (offset < 600) {
        length = ucp_dt_iter_pack(&iter, packed, 1 + test_random_below(40));
        ck_assert_uint_gt(length, 0);
        check_packed(packed, offset, length);
        offset += length;
    }
    ck_assert_uint_eq(offset, 600);
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_destroy(datatype);
}

/* What a fragment has no room for begins the next one; no zeros. */
static void generic__elements_are_not_split(const struct test_param *param)
{
    uint8_t            packed[100];
    struct ucp_dt_iter iter;
    ucp_datatype_t     datatype;
    size_t             offset = 0, length;

    (void)param;
    datatype = whole_open(&iter, packed);
    while (offset < 600) {
        length = ucp_dt_iter_pack(&iter, packed, sizeof(packed));
        ck_assert_uint_eq(length, ucs_min((size_t)96, 600 - offset));
        check_packed(packed, offset, length);
        offset += length;
        ck_assert_uint_eq(iter.offset, offset);
    }
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_destroy(datatype);
}

/* A pack function that gives a byte at a time fills what was asked for; one
 * that stops makes nobody wait: zeros, and a word. */
static void generic__pack_may_give_less(const struct test_param *param)
{
    uint8_t            data[DATA_BYTES], packed[DATA_BYTES];
    struct reversed    reversed = {.buffer = data, .pack_bytes_max = 1};
    struct ucp_dt_iter iter;
    ucp_datatype_t     datatype;

    (void)param;
    data_fill(data);
    memset(packed, 1, sizeof(packed));
    ck_assert_int_eq(ucp_dt_create_generic(&reversed_ops, &reversed, &datatype),
                     UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, NULL, 1, datatype), UCS_OK);
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 700), 700);
    ck_assert_uint_eq(packed[699], data[DATA_BYTES - 700]);
    reversed.pack_bytes_max = 0;
    log_capture_start();
    ck_assert_uint_eq(ucp_dt_iter_pack(&iter, packed, 700), DATA_BYTES - 700);
    (void)ucsi_log_set_handler(NULL);
    ck_assert(strstr(log_captured.text, "gave 0 of 300 bytes") != NULL);
    for (int i = 0; i < DATA_BYTES - 700; ++i) {
        ck_assert_uint_eq(packed[i], 0);
    }
    ucp_dt_iter_cleanup(&iter);
    ucp_dt_destroy(datatype);
}

/* Wherever packing goes on, the bytes are those that lie there. */
static void seek__any_offset(const struct test_param *param)
{
    uint8_t            data[DATA_BYTES], packed[DATA_BYTES];
    ucp_dt_iov_t       entries[IOV_COUNT_MAX];
    struct ucp_dt_iter iters[2];
    size_t             count = iov_cut(data, entries);

    (void)param;
    data_fill(data);
    ucp_dt_iter_init_contig(&iters[0], data, DATA_BYTES);
    ck_assert_int_eq(
        ucp_dt_iter_init_send(&iters[1], entries, count, ucp_dt_make_iov()),
        UCS_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert(ucp_dt_iter_can_seek(&iters[i]));
        for (unsigned times = 0; times < 200; ++times) {
            size_t offset = test_random_below(DATA_BYTES);
            size_t length = test_random_below(DATA_BYTES);

            ucp_dt_iter_seek(&iters[i], offset);
            length = ucp_dt_iter_pack(&iters[i], packed, length);
            ck_assert_mem_eq(packed, data + offset, length);
            ck_assert_uint_eq(iters[i].offset, offset + length);
        }
    }
}

static void pieces__cover_the_data(const struct test_param *param)
{
    uint8_t            data[DATA_BYTES];
    ucp_dt_iov_t       entries[IOV_COUNT_MAX];
    struct uct_iov     pieces[4];
    struct ucp_dt_iter iter;
    size_t             done = 0;

    (void)param;
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, entries,
                                           iov_cut(data, entries),
                                           ucp_dt_make_iov()),
                     UCS_OK);
    while (done < DATA_BYTES) {
        unsigned count = 4;
        size_t   bytes = ucp_dt_iter_pieces(&iter, 150, pieces, &count);

        ck_assert_uint_gt(bytes, 0);
        for (unsigned i = 0; i < count; ++i) {
            ck_assert_ptr_eq(pieces[i].buffer, data + done);
            done += pieces[i].length;
        }
    }
    ck_assert_uint_eq(done, DATA_BYTES);
}

static void init__refuses_bad_input(const struct test_param *param)
{
    char               byte;
    ucp_dt_iov_t       iov[2]  = {{&byte, SIZE_MAX}, {&byte, 2}};
    ucp_dt_iov_t       null[2] = {{NULL, 0}, {NULL, 1}};
    struct ucp_dt_iter iter;

    (void)param;
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, null, 2, ucp_dt_make_iov()),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, null, 1, ucp_dt_make_iov()),
                     UCS_OK);
    ck_assert_int_eq(
        ucp_dt_iter_init_send(&iter, NULL, SIZE_MAX / 2, ucp_dt_make_contig(8)),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, NULL, 1, ucp_dt_make_iov()),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, iov, 2, ucp_dt_make_iov()),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, iov, 2, 4), /* no class */
                     UCS_ERR_INVALID_PARAM);
}

static void *lame_start_pack(void *context, const void *buffer, size_t count)
{
    (void)buffer;
    (void)count;
    return context;
}

static size_t lame_size(void *state)
{
    (void)state;
    return 0;
}

static size_t lame_pack(void *state, size_t offset, void *dest, size_t length)
{
    (void)state;
    (void)offset;
    (void)dest;
    return length;
}

static void lame_finish(void *state)
{
    (void)state;
}

/* One that can only pack is good for sending, one that has less for nothing,
 * and a handle of no object for nothing either. */
static void generic__functions_that_are_missing(const struct test_param *param)
{
    ucp_generic_dt_ops_t ops = {.start_pack  = lame_start_pack,
                                .packed_size = lame_size,
                                .pack        = lame_pack,
                                .finish      = lame_finish};
    struct ucp_dt_iter   iter;
    ucp_datatype_t       datatype;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &datatype), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, NULL, 1, datatype), UCS_OK);
    ucp_dt_iter_cleanup(&iter);
    ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, NULL, 1, datatype),
                     UCS_ERR_INVALID_PARAM);
    ucp_dt_destroy(datatype);
    ops.finish = NULL;
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &datatype), UCS_OK);
    ck_assert_int_eq(ucp_dt_iter_init_send(&iter, NULL, 1, datatype),
                     UCS_ERR_INVALID_PARAM);
    ucp_dt_destroy(datatype);
    ck_assert_int_eq(
        ucp_dt_iter_init_send(&iter, NULL, 1, UCP_DATATYPE_GENERIC),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        ucp_dt_iter_init_recv(&iter, NULL, 1, UCP_DATATYPE_STRIDED),
        UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 4);
    ucp_dt_destroy(UCP_DATATYPE_GENERIC);
}

static const struct test_case datatype_cases[] = {
    TEST(pack__contig_and_iov_agree),
    TEST(unpack__pieces_in_any_order),
    TEST(generic__called_as_promised),
    TEST(generic__elements_are_not_split),
    TEST(generic__elements_are_split_at_need),
    TEST(generic__pack_may_give_less),
    TEST(seek__any_offset),
    TEST(pieces__cover_the_data),
    TEST(generic__functions_that_are_missing),
    TEST(init__refuses_bad_input),
    {0},
};

const struct test_suite datatype_suite = {.name  = "datatype",
                                          .cases = datatype_cases};
