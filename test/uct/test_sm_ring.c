/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_ring.c - order, room, the end of a round, and payload that
 * looks like control words. */
#include "uct/sm/sm_ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "lib/test.h"
#include "uct/suites.h"

struct ring_stage {
    UCS_ALIGNED(UCT_SM_LINE_BYTES) uint8_t lines[UCT_SM_RING_BYTES];
    _Atomic uint64_t          read_position;
    struct uct_sm_ring_writer writer;
    struct uct_sm_ring_reader reader;
};

static struct ring_stage stage;

static void ring_setup(const struct test_param *param)
{
    (void)param;
    memset(&stage, 0, sizeof(stage));
    uct_sm_ring_writer_init(&stage.writer, stage.lines, &stage.read_position);
    uct_sm_ring_reader_init(&stage.reader, stage.lines, &stage.read_position);
}

/* What message `number` holds: words that are valid control words of any
 * turn, so a reader that looks at old payload would believe them. */
static uint64_t ring_word(uint64_t number, size_t index)
{
    return uct_sm_control(UCT_SM_KIND_INLINE, 1, 1, 8) |
           (0x80 | ((number + index) & 0x7f)) | ((number & 0xffff) << 16);
}

static size_t ring_length(uint64_t number)
{
    /* Mixes short and long ones; up to the longest record. */
    uint64_t mixed = number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    size_t   words = (mixed & 3) ? mixed % 7 : mixed % 256;

    return (words * 8 > UCT_SM_RECORD_BYTES_MAX) ? UCT_SM_RECORD_BYTES_MAX
                                                 : words * 8;
}

static bool ring_send(uint64_t number)
{
    size_t   length     = ring_length(number);
    unsigned line_count = uct_sm_record_lines(length);
    uint8_t *data       = uct_sm_ring_reserve(&stage.writer, line_count);
    size_t   index;
    uint64_t word;

    if (data == NULL) {
        return false;
    }
    for (index = 0; index < length / 8; ++index) {
        word = ring_word(number, index);
        memcpy(data + index * 8, &word, sizeof(word));
    }
    uct_sm_ring_commit(&stage.writer,
                       uct_sm_control(UCT_SM_KIND_INLINE, number % 32,
                                      (uint32_t)(number & 0xffffff), length),
                       line_count);
    return true;
}

/* Read one record. @return false: none there; padding is stepped over. */
static bool ring_receive(uint64_t number)
{
    uint64_t       control = uct_sm_ring_look(&stage.reader);
    const uint8_t *data;
    uint64_t       word;
    size_t         index;

    if (control == 0) {
        return false;
    }
    if (uct_sm_control_kind(control) == UCT_SM_KIND_PADDING) {
        (void)uct_sm_ring_advance(&stage.reader,
                                  uct_sm_ring_lines_left(&stage.reader));
        return false;
    }
    if ((uct_sm_control_kind(control) != UCT_SM_KIND_INLINE) ||
        (uct_sm_control_am_id(control) != number % 32) ||
        (uct_sm_control_source(control) != (number & 0xffffff)) ||
        (uct_sm_control_length(control) != ring_length(number))) {
        ck_abort_msg("message %llu: control word %llx",
                     (unsigned long long)number, (unsigned long long)control);
    }
    data = uct_sm_ring_payload(&stage.reader);
    for (index = 0; index < ring_length(number) / 8; ++index) {
        memcpy(&word, data + index * 8, sizeof(word));
        if (word != ring_word(number, index)) {
            ck_abort_msg("message %llu: word %zu", (unsigned long long)number,
                         index);
        }
    }
    (void)uct_sm_ring_advance(
        &stage.reader, uct_sm_record_lines(uct_sm_control_length(control)));
    return true;
}

static void ring__control_word_keeps_its_parts(const struct test_param *param)
{
    uint64_t control = uct_sm_control(
        UCT_SM_KIND_CHUNK, 31, UCT_SM_SOURCE_INDEX_MAX, UCT_SM_LENGTH_MAX);

    (void)param;
    ck_assert_uint_eq(control & 0xff, 0);
    ck_assert_uint_eq(uct_sm_control_kind(control), UCT_SM_KIND_CHUNK);
    ck_assert_uint_eq(uct_sm_control_am_id(control), 31);
    ck_assert_uint_eq(uct_sm_control_source(control), UCT_SM_SOURCE_INDEX_MAX);
    ck_assert_uint_eq(uct_sm_control_length(control), UCT_SM_LENGTH_MAX);
}

static void ring__lines_of_a_record(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(uct_sm_record_lines(0), 1);
    ck_assert_uint_eq(uct_sm_record_lines(56), 1);
    ck_assert_uint_eq(uct_sm_record_lines(57), 2);
    ck_assert_uint_eq(uct_sm_record_lines(120), 2);
    ck_assert_uint_eq(uct_sm_record_lines(UCT_SM_RECORD_BYTES_MAX),
                      UCT_SM_RECORD_LINE_COUNT_MAX);
}

static void ring__empty_has_nothing(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(uct_sm_ring_look(&stage.reader), 0);
}

static void ring__full_refuses_and_recovers(const struct test_param *param)
{
    unsigned sent = 0;
    unsigned got  = 0;

    (void)param;
    while (uct_sm_ring_reserve(&stage.writer, 1) != NULL) {
        uct_sm_ring_commit(&stage.writer,
                           uct_sm_control(UCT_SM_KIND_INLINE, 0, 0, 0), 1);
        ++sent;
    }
    ck_assert_uint_eq(sent, UCT_SM_RING_LINE_COUNT - 1);
    while (uct_sm_ring_look(&stage.reader) != 0) {
        (void)uct_sm_ring_advance(&stage.reader, 1);
        ++got;
    }
    ck_assert_uint_eq(got, sent);
    uct_sm_ring_publish(&stage.reader);
    ck_assert_ptr_nonnull(uct_sm_ring_reserve(&stage.writer, 1));
}

static void ring__reader_publishes_each_quarter(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index + 1 < UCT_SM_PUBLISH_LINE_COUNT; ++index) {
        ck_assert(!uct_sm_ring_advance(&stage.reader, 1));
        ck_assert_uint_eq(atomic_load(&stage.read_position), 0);
    }
    ck_assert(uct_sm_ring_advance(&stage.reader, 1));
    ck_assert_uint_eq(atomic_load(&stage.read_position),
                      UCT_SM_PUBLISH_LINE_COUNT);
}

static void ring__shorter_than_reserved_is_fine(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < 1000; ++index) {
        ck_assert_ptr_nonnull(
            uct_sm_ring_reserve(&stage.writer, UCT_SM_RECORD_LINE_COUNT_MAX));
        uct_sm_ring_commit(&stage.writer,
                           uct_sm_control(UCT_SM_KIND_INLINE, 1, index, 8), 1);
        while (uct_sm_control_kind(uct_sm_ring_look(&stage.reader)) ==
               UCT_SM_KIND_PADDING) {
            (void)uct_sm_ring_advance(&stage.reader,
                                      uct_sm_ring_lines_left(&stage.reader));
        }
        ck_assert_uint_eq(
            uct_sm_control_source(uct_sm_ring_look(&stage.reader)), index);
        (void)uct_sm_ring_advance(&stage.reader, 1);
        ck_assert_uint_eq(uct_sm_ring_look(&stage.reader), 0);
    }
}

static void ring__nonsense_of_the_reader_is_seen(const struct test_param *param)
{
    (void)param;
    while (ring_send(0)) {
    }
    ck_assert(!uct_sm_ring_is_broken(&stage.writer));
    atomic_store(&stage.read_position, stage.writer.position + 1);
    ck_assert_ptr_null(uct_sm_ring_reserve(&stage.writer, 1));
    ck_assert(uct_sm_ring_is_broken(&stage.writer));
    /* For good, whatever it says next. */
    atomic_store(&stage.read_position, stage.writer.position);
    ck_assert_ptr_null(uct_sm_ring_reserve(&stage.writer, 1));
}

static void
ring__going_back_of_the_reader_is_seen(const struct test_param *param)
{
    unsigned index;

    (void)param;
    atomic_store(&stage.read_position, 0);
    for (index = 0; index < 100; ++index) {
        ck_assert(ring_send(0) && ring_receive(0));
    }
    uct_sm_ring_publish(&stage.reader);
    while (uct_sm_ring_reserve(&stage.writer, 1) != NULL) {
        uct_sm_ring_commit(&stage.writer, 0, 1);
    }
    ck_assert(!uct_sm_ring_is_broken(&stage.writer));
    atomic_store(&stage.read_position, 1);
    ck_assert_ptr_null(uct_sm_ring_reserve(&stage.writer, 1));
    ck_assert(uct_sm_ring_is_broken(&stage.writer));
}

/* One thread, random steps of both sides: 128 turns many times over. */
static void ring__random_steps_keep_order(const struct test_param *param)
{
    uint64_t sent = 0, received = 0;
    unsigned step;

    (void)param;
    for (step = 0; step < 400000; ++step) {
        if (test_random_below(2) == 0) {
            sent += ring_send(sent);
        } else {
            if (received == sent) {
                ck_assert_uint_eq(
                    uct_sm_control_kind(uct_sm_ring_look(&stage.reader)), 0);
            }
            received += ring_receive(received);
        }
    }
    ck_assert_uint_ge(stage.writer.position / UCT_SM_RING_LINE_COUNT, 1000);
}

/* total  how many are sent in the end; UINT64_MAX: not known yet */
struct ring_race {
    uint64_t         count;
    _Atomic uint64_t total;
};

static void *ring_send_all(void *arg)
{
    struct ring_race *race = arg;
    uint64_t          number;

    for (number = 0; number < race->count; ++number) {
        if ((number % 1024 == 1023) && !test_has_time(10)) {
            break;
        }
        while (!ring_send(number)) {
            (void)sched_yield();
        }
    }
    atomic_store(&race->total, number);
    return NULL;
}

static void ring__two_threads(const struct test_param *param)
{
    struct ring_race race   = {.count = 300000, .total = UINT64_MAX};
    uint64_t         number = 0;
    pthread_t        thread;

    (void)param;
    ck_assert_int_eq(pthread_create(&thread, NULL, ring_send_all, &race), 0);
    while (number < atomic_load(&race.total)) {
        if (ring_receive(number)) {
            ++number;
        } else {
            uct_sm_ring_publish(&stage.reader);
            (void)sched_yield();
        }
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static const struct test_case ring_cases[] = {
    TEST(ring__control_word_keeps_its_parts),
    TEST(ring__lines_of_a_record),
    TEST(ring__empty_has_nothing),
    TEST(ring__full_refuses_and_recovers),
    TEST(ring__reader_publishes_each_quarter),
    TEST(ring__shorter_than_reserved_is_fine),
    TEST(ring__nonsense_of_the_reader_is_seen),
    TEST(ring__going_back_of_the_reader_is_seen),
    TEST(ring__random_steps_keep_order),
    TEST(ring__two_threads),
    {0},
};

const struct test_suite sm_ring_suite = {
    .name  = "sm_ring",
    .cases = ring_cases,
    .setup = ring_setup,
};
