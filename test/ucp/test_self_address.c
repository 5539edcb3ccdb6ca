/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_address.c - src/ucp/wireup/self_address.c: what a worker says of
 * itself. */
#include "ucp/wireup/self_address.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/wireup/address.h"

static void self_address__names_every_interface(const struct test_param *param)
{
    uint8_t                 bytes[UCP_ADDRESS_BYTES_MAX];
    char                    reason[UCT_REASON_BYTES_MAX] = "";
    struct ucp_address_view view;
    struct ucp_worker      *worker;
    struct pair             pair;
    size_t                  length;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    worker = pair.workers[0];
    length = ucp_worker_address_encode(worker, false, bytes, sizeof(bytes));
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_eq(ucp_worker_address_encode(worker, false, NULL, 0),
                      length);
    ck_assert_int_eq(ucp_address_decode(bytes, length, &view, reason), UCS_OK);
    ck_assert_uint_eq(view.worker_id, worker->id);
    ck_assert_int_eq(memcmp(view.secret, worker->secret, sizeof(view.secret)),
                     0);
    ck_assert_str_eq(view.name, worker->options.name);
    ck_assert_uint_eq(view.entry_count, worker->iface_count);
    for (unsigned i = 0; i < view.entry_count; ++i) {
        ck_assert_str_eq(view.entries[i].transport,
                         worker->ifaces[i].iface->transport->name);
        ck_assert_uint_eq(view.entries[i].size_bytes,
                          worker->ifaces[i].attr.address_bytes);
    }
    pair_close(&pair);
}

/* For peers elsewhere: what reaches only this host is left out, and what is
 * left is an address all the same. */
static void self_address__net_only(const struct test_param *param)
{
    uint8_t                 bytes[UCP_ADDRESS_BYTES_MAX];
    char                    reason[UCT_REASON_BYTES_MAX] = "";
    struct ucp_address_view view;
    unsigned                expected = 0;
    struct pair             pair;
    size_t                  length;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < pair.workers[0]->iface_count; ++i) {
        expected +=
            !(pair.workers[0]->ifaces[i].attr.flags & UCT_IFACE_INTRA_NODE);
    }
    length =
        ucp_worker_address_encode(pair.workers[0], true, bytes, sizeof(bytes));
    ck_assert_int_eq(ucp_address_decode(bytes, length, &view, reason), UCS_OK);
    ck_assert_uint_eq(view.entry_count, expected);
    pair_close(&pair);
}

static void self_address__no_room(const struct test_param *param)
{
    struct pair pair;
    size_t      length;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    length = ucp_worker_address_encode(pair.workers[0], false, NULL, 0);
    for (size_t room = 0; room <= length; ++room) {
        uint8_t *bytes = malloc((room == 0) ? 1 : room);

        ck_assert_uint_eq(
            ucp_worker_address_encode(pair.workers[0], false, bytes, room),
            (room < length) ? 0 : length);
        free(bytes);
    }
    pair_close(&pair);
}

static const struct test_case self_address_cases[] = {
    TEST(self_address__names_every_interface),
    TEST(self_address__net_only),
    TEST(self_address__no_room),
    {0},
};

const struct test_suite self_address_suite = {.name   = "self_address",
                                              .cases  = self_address_cases,
                                              .params = pair_transports};
