/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_transport.c - names, device, capabilities. */
#include <string.h>

#include "lib/test.h"
#include "uct/base/caps.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static void transport__has_the_names_of_ucx(const struct test_param *param)
{
    static const char *const names[] = {"sm",    "shm",  "mm",
                                        "posix", "sysv", "all"};
    unsigned                 index;

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(names); ++index) {
        ck_assert(ucti_transport_has_name(&uct_sm_transport, names[index]));
    }
    ck_assert(!ucti_transport_has_name(&uct_sm_transport, "cma"));
    ck_assert(ucti_transport_knows_name(&uct_sm_transport, "cma"));
    ck_assert(!ucti_transport_has_name(&uct_sm_transport, "self"));
}

static void transport__has_one_device(const struct test_param *param)
{
    char              reason[UCT_REASON_BYTES_MAX];
    struct uct_device devices[2];
    unsigned          count = 2;

    (void)param;
    uct_sm_transport.devices(NULL, devices, &count, reason);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(devices[0].name, "memory");
    ck_assert_ptr_eq(devices[0].transport, &uct_sm_transport);
    count = 0;
    uct_sm_transport.devices(NULL, NULL, &count, reason);
    ck_assert_uint_eq(count, 1);
}

static void transport__says_what_it_can(const struct test_param *param)
{
    (void)param;
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_AM_SHORT));
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_AM_ZCOPY));
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_KEEP));
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_WAKEUP));
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_PUT_ZCOPY));
    ck_assert(ucti_transport_can(&uct_sm_transport, UCT_CAP_GET_ZCOPY));
    ck_assert(!ucti_transport_can(&uct_sm_transport, UCT_CAP_ATOMIC));
}

static const struct test_case transport_cases[] = {
    TEST(transport__has_the_names_of_ucx),
    TEST(transport__has_one_device),
    TEST(transport__says_what_it_can),
    {0},
};

const struct test_suite sm_transport_suite = {
    .name  = "sm_transport",
    .cases = transport_cases,
};
