/* SPDX-License-Identifier: BSD-3-Clause */
/* test_protos.c - src/ucp/proto/protos.c: the list of protocols is whole, and
 * every message between two libucp has one handler. */
#include "ucp/proto/proto.h"

#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

static void protos__each_is_whole(const struct test_param *param)
{
    unsigned count = 0;

    (void)param;
    for (const struct ucp_proto *const *proto = ucp_protos; *proto != NULL;
         ++proto, ++count) {
        ck_assert_uint_gt(strlen((*proto)->name), 0);
        ck_assert_uint_gt(strlen((*proto)->summary), 0);
        ck_assert((*proto)->offer != NULL);
        ck_assert((*proto)->step != NULL);
        ck_assert((*proto)->abort != NULL);
        for (const struct ucp_proto *const *other = ucp_protos;
             *other != *proto; ++other) {
            ck_assert_str_ne((*other)->name, (*proto)->name);
        }
    }
    ck_assert_uint_eq(count, 9); /* the eight, and the shared form of 6 */
}

/* No id has two handlers among the protocols. */
static void protos__handlers_are_distinct(const struct test_param *param)
{
    bool seen[256] = {false};

    (void)param;
    for (const struct ucp_proto *const *proto = ucp_protos; *proto != NULL;
         ++proto) {
        const struct ucp_handler *handler = (*proto)->handlers;

        for (; (handler != NULL) && (handler->fn != NULL); ++handler) {
            ck_assert_msg(!seen[handler->am_id], "message %u of %s has two",
                          handler->am_id, (*proto)->name);
            seen[handler->am_id] = true;
        }
    }
}

static void protos__every_message_is_heard(const struct test_param *param)
{
    static const struct pair_setup setup = {.tls = "self"};
    static const enum ucp_am_id    ids[] = {
           UCP_AM_ANNOUNCE, UCP_AM_EAGER, UCP_AM_EAGER_FIRST, UCP_AM_EAGER_MORE,
           UCP_AM_RNDV,     UCP_AM_ACK,   UCP_AM_FRAG,        UCP_AM_ABORT,
           UCP_AM_RGET,     UCP_AM_PUT,   UCP_AM_FIN};
    struct pair pair;

    (void)param;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(ids); ++i) {
        const struct uct_am_entry *entry =
            &pair.workers[0]->ifaces[0].iface->am[ids[i]];

        ck_assert_ptr_eq(entry->arg, &pair.workers[0]->ifaces[0]);
        ck_assert(entry->fn != NULL);
    }
    pair_close(&pair);
}

static const struct test_case protos_cases[] = {
    TEST(protos__each_is_whole),
    TEST(protos__handlers_are_distinct),
    TEST(protos__every_message_is_heard),
    {0},
};

const struct test_suite protos_suite = {.name  = "protos",
                                        .cases = protos_cases};
