/* SPDX-License-Identifier: BSD-3-Clause */
/* test_caps.c - capabilities in words. */
#include "uct/base/caps.h"

#include <string.h>

#include "uct/api/uct.h"
#include "uct/suites.h"

static void caps__text_is_whole_or_cut(const struct test_param *param)
{
    const struct uct_transport *self = ucti_transports()[0];
    struct uct_iface_attr       attr = {
              .am    = {.short_bytes_max = 7, .zcopy_bytes_max = SIZE_MAX},
              .flags = UCT_IFACE_INTRA_NODE | UCT_IFACE_POLL_IS_SYSCALL,
              .cost  = {.latency_s = 170e-9, .bandwidth_Bps = 10e9}};
    char   text[4096], small[16];
    size_t bytes = ucti_caps_text(self, &attr, text, sizeof(text));

    (void)param;
    ck_assert_uint_eq(bytes, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "transport: self\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "am: short 7, bcopy 0, zcopy unlimited"));
    ck_assert_ptr_nonnull(strstr(text, "flags: intra_node poll_is_syscall\n"));
    ck_assert_ptr_nonnull(strstr(text, "latency: 170 ns\n"));
    ck_assert_uint_eq(ucti_caps_text(self, &attr, small, sizeof(small)), bytes);
    ck_assert_uint_eq(strlen(small), sizeof(small) - 1);
    ck_assert_uint_eq(ucti_caps_text(self, &attr, NULL, 0), bytes);
}

static void caps__absent_functions_are_named(const struct test_param *param)
{
    const struct uct_transport none = {.name = "none"};
    unsigned                   cap;

    (void)param;
    for (cap = 0; cap < UCT_CAP_COUNT; ++cap) {
        ck_assert_ptr_nonnull(ucti_cap_name((enum uct_cap)cap));
        ck_assert(!ucti_transport_can(&none, (enum uct_cap)cap));
        ck_assert(ucti_transport_can(ucti_transports()[0], (enum uct_cap)cap));
    }
}

static const struct test_case cases[] = {TEST(caps__text_is_whole_or_cut),
                                         TEST(caps__absent_functions_are_named),
                                         {0}};

const struct test_suite caps_suite = {.name = "caps", .cases = cases};
