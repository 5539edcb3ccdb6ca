/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_segment.c - the memory itself: sealed, allocated, claimed
 * by one sender at a time. */
#include "uct/sm/sm_segment.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct uct_sm_segment        segment;
static const struct uct_sm_identity own = {
    .segment_id = 99, .pid = 1, .chunk_count = 16, .chunk_bytes = 4096};
static const struct uct_sm_sender sender = {.segment_id = 5, .pid = 77};

static void segment_setup(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(uct_sm_segment_open(&segment, &own), UCS_OK);
}

static void segment_teardown(const struct test_param *param)
{
    (void)param;
    uct_sm_segment_close(&segment);
}

static void segment__its_size_cannot_change(const struct test_param *param)
{
    int seals = fcntl(segment.fd, F_GET_SEALS);

    (void)param;
    ck_assert_int_eq(seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    ck_assert_int_eq(ftruncate(segment.fd, 4096), -1);
    ck_assert_int_eq(ftruncate(segment.fd, (off_t)segment.layout.end + 4096),
                     -1);
}

static void segment__is_closed_to_others(const struct test_param *param)
{
    struct stat status;

    (void)param;
    ck_assert_int_eq(fstat(segment.fd, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ck_assert_int_eq(fcntl(segment.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void segment__unused_is_small(const struct test_param *param)
{
    struct stat status;

    (void)param;
    ck_assert_int_eq(fstat(segment.fd, &status), 0);
    ck_assert_uint_le(status.st_blocks * 512, 16384);
}

static void
segment__a_channel_costs_16_KiB_at_most(const struct test_param *param)
{
    struct uct_sm_mapping  first, second;
    struct uct_sm_identity identity;
    struct stat            before, after;

    (void)param;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    ck_assert_int_eq(
        uct_sm_mapping_open(&first, segment.fd, &identity, &sender), UCS_OK);
    ck_assert_int_eq(fstat(segment.fd, &before), 0);
    ck_assert_int_eq(
        uct_sm_mapping_open(&second, segment.fd, &identity, &sender), UCS_OK);
    ck_assert_int_eq(fstat(segment.fd, &after), 0);
    ck_assert_uint_le((after.st_blocks - before.st_blocks) * 512, 16384);
    uct_sm_mapping_close(&first);
    uct_sm_mapping_close(&second);
}

static uint64_t memory_bytes(void)
{
    struct stat status;

    ck_assert_int_eq(fstat(segment.fd, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static void chunk__has_memory_when_it_is_used(const struct test_param *param)
{
    struct uct_sm_identity identity;
    struct uct_sm_mapping  mapping;
    uint64_t               before_bytes;

    (void)param;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    ck_assert_int_eq(
        uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender), UCS_OK);
    if (mapping.pool.backed[0] != 0) {
        test_skip("before Linux 5.14");
    }
    before_bytes = memory_bytes();
    ck_assert(uct_sm_chunk_back(&mapping.pool, 3));
    ck_assert_uint_gt(memory_bytes(), before_bytes);
    ck_assert_uint_le(memory_bytes(),
                      before_bytes + 3 * (uint64_t)UCT_SM_PAGE_BYTES);
    before_bytes = memory_bytes();
    ck_assert(uct_sm_chunk_back(&segment.pool, 3)); /* the reader's bit */
    ck_assert(uct_sm_chunk_back(&mapping.pool, 3));
    ck_assert_uint_eq(memory_bytes(), before_bytes);
    ck_assert_uint_eq(mapping.pool.backed[0], 1 << 3);
    uct_sm_mapping_close(&mapping);
}

static void chunk__all_at_once_by_an_old_kernel(const struct test_param *param)
{
    struct uct_sm_identity identity;
    struct uct_sm_mapping  mapping;

    (void)param;
    sm_stage_forbid(SYS_madvise, SYS_madvise);
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    ck_assert_int_eq(
        uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender), UCS_OK);
    ck_assert_uint_ge(memory_bytes(), 16 * (uint64_t)UCT_SM_PAGE_BYTES);
    ck_assert(uct_sm_chunk_back(&mapping.pool, 15));
    uct_sm_mapping_close(&mapping);
}

static void segment__the_views_agree(const struct test_param *param)
{
    struct uct_sm_mapping  mapping;
    struct uct_sm_identity identity;

    (void)param;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    ck_assert_uint_eq(identity.segment_id, 99);
    ck_assert_int_eq(
        uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender), UCS_OK);
    mapping.ring[100] = 42;
    ck_assert_uint_eq(uct_sm_segment_ring(&segment, mapping.channel_index)[100],
                      42);
    ck_assert_uint_eq(segment.entries[mapping.channel_index].sender.segment_id,
                      5);
    memset(uct_sm_chunk_data(&mapping.pool, 15), 9, 4096);
    ck_assert_uint_eq(((uint8_t *)uct_sm_chunk_data(&segment.pool, 15))[4095],
                      9);
    uct_sm_mapping_close(&mapping);
}

static void
segment__all_channels_can_be_claimed_once(const struct test_param *param)
{
    struct uct_sm_identity identity;
    struct uct_sm_mapping  mapping;
    unsigned               index;

    (void)param;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    for (index = 0; index < UCT_SM_CHANNEL_COUNT_MAX; ++index) {
        if (uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender) !=
            UCS_OK) {
            ck_abort_msg("channel %u", index);
        }
        ck_assert_uint_eq(mapping.channel_index, index);
        uct_sm_mapping_close(&mapping);
        /* Free one now and then: it is found again. */
        if (index % 1000 == 500) {
            atomic_store(&segment.entries[7].state, UCT_SM_CHANNEL_FREE);
            ck_assert_int_eq(
                uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender),
                UCS_OK);
            ck_assert_uint_eq(mapping.channel_index, 7);
            uct_sm_mapping_close(&mapping);
        }
    }
    ck_assert_int_eq(
        uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender),
        UCS_ERR_EXCEEDS_LIMIT);
}

static void
segment__one_that_was_left_is_not_mapped(const struct test_param *param)
{
    struct uct_sm_identity identity;
    struct uct_sm_mapping  mapping;

    (void)param;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    atomic_store(&segment.header->alive, UCT_SM_CLOSED);
    ck_assert_int_eq(
        uct_sm_mapping_open(&mapping, segment.fd, &identity, &sender),
        UCS_ERR_CONNECTION_RESET);
}

static void segment__only_our_own_are_known(const struct test_param *param)
{
    struct uct_sm_identity identity;
    int                    fd;

    (void)param;
    segment.header->identity.layout_version ^= 1;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity),
                     UCS_ERR_INVALID_ADDR);
    segment.header->identity.layout_version ^= 1;
    segment.header->identity.chunk_count = UCT_SM_CHUNK_COUNT_MAX + 1;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity),
                     UCS_ERR_INVALID_ADDR);
    segment.header->identity.chunk_count = 17; /* not its size */
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity),
                     UCS_ERR_INVALID_ADDR);
    segment.header->identity.chunk_count = 16;
    segment.header->identity.chunk_bytes = 4095;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity),
                     UCS_ERR_INVALID_ADDR);
    segment.header->identity.chunk_bytes = 4096;
    ck_assert_int_eq(uct_sm_segment_identify(segment.fd, &identity), UCS_OK);
    ck_assert_int_eq(uct_sm_segment_identify(STDERR_FILENO, &identity),
                     UCS_ERR_INVALID_ADDR);
    /* The same bytes without seals. */
    fd = memfd_create("unsealed", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)segment.layout.end), 0);
    ck_assert_int_eq(pwrite(fd, &segment.header->identity, sizeof(identity), 0),
                     sizeof(identity));
    ck_assert_int_eq(uct_sm_segment_identify(fd, &identity),
                     UCS_ERR_INVALID_ADDR);
    (void)close(fd);
}

static void segment__limits_are_an_answer(const struct test_param *param)
{
    struct rlimit         files, used, size;
    struct uct_sm_segment other;

    (void)param;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    used          = files;
    used.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &used), 0);
    ck_assert_int_eq(uct_sm_segment_open(&other, &own), UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &size), 0);
    used          = size;
    used.rlim_cur = 1 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &used), 0);
    ck_assert_int_eq(uct_sm_segment_open(&other, &own), UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &size), 0);
}

static const struct test_case segment_cases[] = {
    TEST(segment__its_size_cannot_change),
    TEST(segment__is_closed_to_others),
    TEST(segment__unused_is_small),
    TEST(segment__a_channel_costs_16_KiB_at_most),
    TEST(chunk__has_memory_when_it_is_used),
    TEST(chunk__all_at_once_by_an_old_kernel),
    TEST(segment__the_views_agree),
    TEST(segment__all_channels_can_be_claimed_once),
    TEST(segment__one_that_was_left_is_not_mapped),
    TEST(segment__only_our_own_are_known),
    TEST(segment__limits_are_an_answer),
    {0},
};

const struct test_suite sm_segment_suite = {
    .name     = "sm_segment",
    .cases    = segment_cases,
    .setup    = segment_setup,
    .teardown = segment_teardown,
};
