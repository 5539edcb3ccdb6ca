/* SPDX-License-Identifier: BSD-3-Clause */
/* test_iface.c - opening an interface checks its arguments; handlers. */
#include "uct/base/iface.h"

#include "uct/api/uct.h"
#include "uct/base/am.h"
#include "uct/mock.h"
#include "uct/suites.h"

static unsigned received;

static ucs_status_t count_message(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    ck_assert_ptr_eq(arg, &received);
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    ++received;
    return UCS_OK;
}

static void
am__unknown_ids_are_dropped_and_counted(const struct test_param *param)
{
    struct mock       mock;
    struct uct_source source = {0};

    (void)param;
    mock_init(&mock);
    ucti_iface_set_am(&mock.iface, 3, count_message, &received);
    (void)uct_iface_deliver(&mock.iface, 3, &source, NULL, 0, 0);
    (void)uct_iface_deliver(&mock.iface, 4, &source, NULL, 0, 0);
    (void)uct_iface_deliver(&mock.iface, UCT_AM_ID_COUNT, &source, NULL, 0, 0);
    (void)uct_iface_deliver(&mock.iface, UINT32_MAX, &source, NULL, 0, 0);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(mock.iface.am_dropped_count, 3);
    ucti_iface_set_am(&mock.iface, 3, NULL, NULL);
    (void)uct_iface_deliver(&mock.iface, 3, &source, NULL, 0, 0);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(mock.iface.am_dropped_count, 4);
    mock_cleanup(&mock);
}

static void open__checks_its_arguments(const struct test_param *param)
{
    struct uct_iface_params params = {0};
    struct uct_iface       *iface;
    struct mock             mock;

    (void)param;
    mock_init(&mock);
    ck_assert_int_eq(ucti_iface_open(NULL, &params, &iface),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucti_iface_open(&mock.md, NULL, &iface),
                     UCS_ERR_INVALID_PARAM);
    params.wakeup = true; /* mock cannot */
    ck_assert_int_eq(ucti_iface_open(&mock.md, &params, &iface),
                     UCS_ERR_UNSUPPORTED);
    mock_cleanup(&mock);
}

static void init__failure_bound_has_a_default(const struct test_param *param)
{
    struct mock mock;

    (void)param;
    mock_init(&mock);
    ck_assert_uint_eq(mock.iface.params.failure_bound_ns, 60000000000ull);
    mock_cleanup(&mock);
}

static const struct test_case cases[] = {
    TEST(open__checks_its_arguments),
    TEST(init__failure_bound_has_a_default),
    TEST(am__unknown_ids_are_dropped_and_counted),
    {0}};

const struct test_suite iface_suite = {.name = "iface", .cases = cases};
