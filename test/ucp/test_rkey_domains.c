/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rkey_domains.c - keys of several domains of one transport, on the mock:
 * a lane uses that of the domain at its other end. */
#include <stdlib.h>
#include <string.h>

#include "ucp/core/rkey.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/play.h"
#include "ucp/suites.h"

enum { BYTES = 1000 };

static char                       memory[BYTES];
static struct pair                rails;
static const struct mock_control *mock;

static void open_rails(unsigned count)
{
    static const struct pair_setup over_mock = {.tls = "mock"};

    (void)setenv("UCX_MAX_RNDV_RAILS", "4", 1);
    mock = play_mock();
    mock->reset();
    mock->setup->device_count = count;
    pair_open_setup(&rails, &over_mock, UCP_FEATURE_RMA,
                    UCP_ERR_HANDLING_MODE_NONE);
    pair_meet(&rails);
    ck_assert_uint_eq(rails.eps[0]->config->lane_count, count);
}

static void close_rails(void)
{
    ck_assert_str_eq(mock->bad(), "");
    pair_close(&rails);
    mock->reset();
}

/* The key of R's memory as bytes. */
static size_t key_bytes(uint8_t *bytes, ucp_mem_h *mem_p)
{
    const ucp_mem_map_params_t params = {
        .field_mask =
            UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = memory,
        .length  = BYTES,
    };

    ck_assert_int_eq(ucp_mem_map(rails.contexts[1], &params, mem_p), UCS_OK);
    return ucp_rkey_write(*mem_p, bytes);
}

static ucs_status_t put_over(unsigned lane, const struct uct_rkey *key,
                             char letter)
{
    struct uct_ep *ep = rails.eps[0]->lanes[lane].uct_ep;

    return ep->transport->put_short(ep, &letter, 1, (uintptr_t)memory, key, 0);
}

/* Each lane has the key of the device that it leads to; a key of another one
 * does not open anything there. */
static void domains__each_lane_has_its_own(const struct test_param *param)
{
    enum { COUNT = 3 };
    uint8_t                bytes[UCP_RKEY_BYTES_MAX];
    const struct uct_rkey *keys[COUNT];
    ucp_rkey_h             rkey;
    ucp_mem_h              mem;

    (void)param;
    open_rails(COUNT);
    (void)key_bytes(bytes, &mem);
    ck_assert_int_eq(ucp_ep_rkey_unpack(rails.eps[0], bytes, &rkey), UCS_OK);
    ck_assert_uint_eq(rkey->key_count, COUNT);
    for (unsigned lane = 0; lane < COUNT; ++lane) {
        keys[lane] = ucp_rkey_for(rkey, rails.eps[0], lane);
        ck_assert_ptr_nonnull(keys[lane]);
        ck_assert_int_eq(put_over(lane, keys[lane], (char)('a' + lane)),
                         UCS_OK);
        pair_settle(&rails);
        ck_assert_int_eq(memory[0], 'a' + (int)lane);
    }
    for (unsigned lane = 0; lane < COUNT; ++lane) {
        ck_assert_int_eq(put_over(lane, keys[(lane + 1) % COUNT], 'z'),
                         UCS_ERR_INVALID_ADDR);
    }
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(rails.contexts[1], mem), UCS_OK);
    close_rails();
}

/* The owner could not register with one device; or has more of them than we
 * reach: the other lanes have their keys. */
static void domains__some_are_missing(const struct test_param *param)
{
    uint8_t              bytes[UCP_RKEY_BYTES_MAX], changed[UCP_RKEY_BYTES_MAX];
    char                 reason[UCT_REASON_BYTES_MAX];
    struct ucp_rkey_view view;
    ucp_rkey_h           rkey = NULL;
    ucp_mem_h            mem;
    size_t               length;

    (void)param;
    open_rails(2);
    length = key_bytes(bytes, &mem);
    ck_assert_int_eq(ucp_rkey_decode(bytes, length, &view, reason), UCS_OK);
    ck_assert_uint_eq(view.key_count, 2);
    for (unsigned left = 0; left < 2; ++left) {
        struct ucp_rkey_view part = view;

        part.keys[1 - left].domain = 7; /* nobody's */
        (void)ucp_rkey_encode(&part, changed);
        ck_assert_int_eq(ucp_ep_rkey_unpack(rails.eps[0], changed, &rkey),
                         UCS_OK);
        for (unsigned lane = 0; lane < 2; ++lane) {
            bool is_left = (rails.eps[0]->lanes[lane].peer_domain ==
                            part.keys[left].domain);

            ck_assert_int_eq(ucp_rkey_for(rkey, rails.eps[0], lane) != NULL,
                             is_left);
        }
        ucp_rkey_destroy(rkey);
    }
    /* Each under the other's name: the devices do not take them. */
    view.keys[0].domain ^= 1;
    view.keys[1].domain ^= 1;
    (void)ucp_rkey_encode(&view, changed);
    ck_assert_int_eq(ucp_ep_rkey_unpack(rails.eps[0], changed, &rkey),
                     UCS_ERR_UNREACHABLE);
    ck_assert_int_eq(ucp_mem_unmap(rails.contexts[1], mem), UCS_OK);
    close_rails();
}

static const struct test_case rkey_domains_cases[] = {
    TEST(domains__each_lane_has_its_own),
    TEST(domains__some_are_missing),
    {0},
};

const struct test_suite rkey_domains_suite = {.name  = "rkey_domains",
                                              .cases = rkey_domains_cases};
