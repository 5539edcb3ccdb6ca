/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_iface.c - settings, attributes, and what is left behind. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end end;

static ucs_status_t iface_try(const char *name, const char *value)
{
    struct uct_iface_params params = {.wakeup = true};
    struct uct_device       device;
    char                    reason[UCT_REASON_BYTES_MAX];
    unsigned                count = 1;
    struct uct_iface       *iface;
    struct uct_md          *md;
    ucs_status_t            status;

    ck_assert_int_eq(setenv(name, value, 1), 0);
    uct_sm_transport.devices(NULL, &device, &count, reason);
    ck_assert_int_eq(ucti_md_open(&device, &md), UCS_OK);
    status = ucti_iface_open(md, &params, &iface);
    if (status == UCS_OK) {
        ucti_iface_close(iface);
    }
    ucti_md_close(md);
    ck_assert_int_eq(unsetenv(name), 0);
    return status;
}

static void
iface__attributes_follow_the_settings(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_CHUNK_SIZE", "64k", 1), 0);
    ck_assert_int_eq(setenv("UCX_SM_CHUNK_COUNT", "20", 1), 0);
    ck_assert_int_eq(setenv("UCX_SM_POLL_CHANNELS", "5", 1), 0);
    ck_assert_int_eq(setenv("UCX_SM_CMA", "n", 1), 0);
    sm_end_open(&end, false);
    ck_assert_uint_eq(end.attr.am.bcopy_bytes_max, 65536);
    ck_assert_uint_eq(end.attr.am.zcopy_bytes_max, 65536);
    ck_assert_uint_eq(end.attr.address_bytes, UCT_SM_ADDRESS_BYTES);
    ck_assert_uint_eq(end.attr.put.bcopy_bytes_max, 0);
    ck_assert_uint_eq(end.attr.get.zcopy_bytes_max, 0);
    ck_assert_uint_eq(end.sm->options.poll_channels, 5);
    ck_assert_uint_eq(uct_sm_pool_free_count(&end.sm->segment.pool), 20);
    end.ep = sm_end_connect(&end, &end);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 65536);
    sm_stage_until_received(&end, NULL, 1);
    sm_end_close(&end);
}

static void
iface__settings_out_of_range_are_refused(const struct test_param *param)
{
    static const char *const bad[][2] = {
        {"UCX_SM_CHUNK_SIZE", "1"},       {"UCX_SM_CHUNK_SIZE", "33000"},
        {"UCX_SM_CHUNK_SIZE", "2m"},      {"UCX_SM_CHUNK_COUNT", "1"},
        {"UCX_SM_CHUNK_COUNT", "100000"}, {"UCX_SM_POLL_CHANNELS", "0"},
        {"UCX_SM_POLL_CHANNELS", "65"},   {"UCX_SM_ATTACH", "telepathy"},
    };
    unsigned index;

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(bad); ++index) {
        ck_assert_msg(iface_try(bad[index][0], bad[index][1]) ==
                          UCS_ERR_INVALID_PARAM,
                      "%s=%s", bad[index][0], bad[index][1]);
    }
    ck_assert_int_eq(iface_try("UCX_SM_ATTACH", "proc"), UCS_OK);
}

static void
iface__way_of_attach_is_in_the_address(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_ATTACH", "proc", 1), 0);
    sm_end_open(&end, false);
    ck_assert_uint_eq(end.sm->address.flags, UCT_SM_ADDRESS_PROC);
    sm_end_close(&end);
    ck_assert_int_eq(setenv("UCX_SM_ATTACH", "socket", 1), 0);
    sm_end_open(&end, false);
    ck_assert_uint_eq(end.sm->address.flags, UCT_SM_ADDRESS_SOCKET);
    sm_end_close(&end);
}

static void
iface__one_that_is_not_dumpable_uses_sockets(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
    sm_end_open(&end, false);
    ck_assert_uint_eq(end.sm->address.flags, UCT_SM_ADDRESS_SOCKET);
    sm_end_close(&end);
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

static void
iface__descriptor_limits_are_an_answer(const struct test_param *param)
{
    struct rlimit files, few;
    unsigned      limit, opened = 0;

    (void)param;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    for (limit = 0; limit < 32; ++limit) {
        few          = files;
        few.rlim_cur = limit;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        opened += (iface_try("UCX_SM_ATTACH", "auto") == UCS_OK);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_uint_gt(opened, 0);
    ck_assert_uint_lt(opened, 32);
}

static unsigned iface_count_files(const char *folder)
{
    DIR     *dir   = opendir(folder);
    unsigned count = 0;

    if (dir != NULL) {
        while (readdir(dir) != NULL) {
            ++count;
        }
        (void)closedir(dir);
    }
    return count;
}

static void iface__has_no_name_in_dev_shm(const struct test_param *param)
{
    unsigned before = iface_count_files("/dev/shm");

    (void)param;
    sm_end_open(&end, true);
    end.ep = sm_end_connect(&end, &end);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 20000);
    ck_assert_uint_eq(iface_count_files("/dev/shm"), before);
    sm_stage_until_received(&end, NULL, 1);
    sm_end_close(&end);
}

static void iface__opens_quickly(const struct test_param *param)
{
    double   start, took, best = 1e9;
    unsigned round;

    (void)param;
    for (round = 0; round < 20; ++round) {
        start = test_cpu_seconds();
        sm_end_open(&end, true);
        took = test_cpu_seconds() - start;
        sm_end_close(&end);
        best = ucs_min(best, took);
    }
    /* ucp_init and ucp_worker_create have 10 ms together. */
    ck_assert_double_lt(best, test_scaled_seconds(0.005));
}

static const struct test_case iface_cases[] = {
    TEST(iface__attributes_follow_the_settings),
    TEST(iface__settings_out_of_range_are_refused),
    TEST(iface__way_of_attach_is_in_the_address),
    TEST(iface__one_that_is_not_dumpable_uses_sockets),
    TEST(iface__descriptor_limits_are_an_answer),
    TEST(iface__has_no_name_in_dev_shm),
    TEST(iface__opens_quickly),
    {0},
};

const struct test_suite sm_iface_suite = {
    .name  = "sm_iface",
    .cases = iface_cases,
};
