/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ep.c - creating an endpoint checks its arguments; one failure report. */
#include "uct/base/ep.h"

#include "uct/api/uct.h"
#include "uct/mock.h"
#include "uct/suites.h"
#include "uct/tracked.h"

static struct mock   mock;
static struct uct_ep ep;
static unsigned      error_count;

static void setup(const struct test_param *param)
{
    (void)param;
    tracked_open();
    error_count = 0;
    mock_init(&mock);
}

static void on_error(struct uct_ep *failed, ucs_status_t status)
{
    ck_assert_ptr_eq(failed, &ep);
    ck_assert_int_eq(status, UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert(uct_inflight_is_empty(&inflight));
    order[order_count++] = '!';
    ++error_count;
}

static void never_called(struct uct_ep *waiting)
{
    (void)waiting;
    ck_abort_msg("pending callback of a failed endpoint");
}

static void
ep_fail__reports_once_after_completions(const struct test_param *param)
{
    (void)param;
    mock_ep_init(&mock, &ep, never_called, on_error, NULL);
    (void)uct_ep_refuse(&ep, UCT_FLAG_PENDING);
    add(2);
    ck_assert(ucti_ep_fail(&ep, &inflight, UCS_ERR_ENDPOINT_TIMEOUT));
    ck_assert_str_eq(order, "ab!");
    ck_assert(!uct_iface_has_pending(&mock.iface));
    ck_assert(ucti_ep_fail(&ep, &inflight, UCS_ERR_CONNECTION_RESET));
    ck_assert_uint_eq(error_count, 1);
    ck_assert_int_eq(ep.failed, UCS_ERR_ENDPOINT_TIMEOUT);
    ucti_ep_cleanup(&ep);
    mock_cleanup(&mock);
}

static void destroy_ep(struct tracked *one)
{
    (void)one;
    ucti_ep_cleanup(&ep);
    ucti_inflight_cleanup(&inflight);
    memset(&ep, 0x5a, sizeof(ep));
    memset(&inflight, 0x5a, sizeof(inflight));
}

static void ep_fail__destroyed_by_a_completion(const struct test_param *param)
{
    (void)param;
    mock_ep_init(&mock, &ep, never_called, on_error, NULL);
    add(3);
    tracked[0].also = destroy_ep;
    ck_assert(!ucti_ep_fail(&ep, &inflight, UCS_ERR_ENDPOINT_TIMEOUT));
    ck_assert_str_eq(order, "abc");
    ck_assert_uint_eq(error_count, 0);
    mock_cleanup(&mock);
}

static void on_error_destroy(struct uct_ep *failed, ucs_status_t status)
{
    (void)failed;
    (void)status;
    destroy_ep(NULL);
}

static void ep_fail__destroyed_by_the_report(const struct test_param *param)
{
    (void)param;
    mock_ep_init(&mock, &ep, never_called, on_error_destroy, NULL);
    add(1);
    ck_assert(!ucti_ep_fail(&ep, &inflight, UCS_ERR_ENDPOINT_TIMEOUT));
    ck_assert_str_eq(order, "a");
    mock_cleanup(&mock);
}

static void create__checks_its_arguments(const struct test_param *param)
{
    uint8_t              bytes[1] = {0};
    struct uct_ep_params params   = {0};
    struct uct_ep       *created;

    (void)param;
    ck_assert_int_eq(ucti_ep_create(NULL, &params, &created),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucti_ep_create(&mock.iface, &params, &created),
                     UCS_ERR_INVALID_PARAM);
    params.address       = bytes;
    params.address_bytes = UCT_ADDRESS_BYTES_MAX + 1;
    ck_assert_int_eq(ucti_ep_create(&mock.iface, &params, &created),
                     UCS_ERR_INVALID_PARAM);
    mock_cleanup(&mock);
}

static ucs_status_t any_get(struct uct_ep *any, void *buffer, size_t length,
                            uint64_t               remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    (void)any;
    (void)buffer;
    (void)length;
    (void)remote_address;
    (void)rkey;
    (void)req;
    (void)flags;
    return UCS_ERR_UNSUPPORTED;
}

static void init__rights_are_those_of_the_functions(const struct test_param *p)
{
    (void)p;
    mock_ep_init(&mock, &ep, never_called, NULL, NULL);
    ck_assert_uint_eq(ep.rights, UCT_RIGHT_KNOWN);
    ck_assert_uint_eq(ep.peer_rights, UCT_RIGHT_KNOWN);
    ck_assert_uint_gt(strlen(ep.rights_reason), 0);
    ck_assert_ptr_null(ep.claims);
    ucti_ep_cleanup(&ep);
    mock.transport.get_bcopy = any_get;
    mock_ep_init(&mock, &ep, never_called, NULL, NULL);
    ck_assert_uint_eq(ep.rights, UCT_RIGHT_KNOWN | UCT_RIGHT_GET);
    ck_assert_uint_eq(ep.peer_rights, ep.rights);
    ucti_ep_cleanup(&ep);
    mock_cleanup(&mock);
}

static const struct test_case cases[] = {
    TEST(init__rights_are_those_of_the_functions),
    TEST(create__checks_its_arguments),
    TEST(ep_fail__reports_once_after_completions),
    TEST(ep_fail__destroyed_by_a_completion),
    TEST(ep_fail__destroyed_by_the_report),
    {0}};

const struct test_suite ep_suite = {
    .name = "ep", .cases = cases, .setup = setup};
