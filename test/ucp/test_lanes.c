/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - src/ucp/wireup/lanes.c: the cheapest interface that reaches
 * the peer, and what is said when none does. The interfaces are made up. */
#include "ucp/wireup/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

enum { IFACE_COUNT = 3 };

/* Interfaces reach addresses whose first byte is their own letter. */
static ucs_status_t fake_reach(struct uct_iface *iface, const uint8_t *bytes,
                               size_t size_bytes, char *reason)
{
    if ((size_bytes == 1) && (bytes[0] == (uint8_t)iface->transport->name[0])) {
        return UCS_OK;
    }
    (void)snprintf(reason, UCT_REASON_BYTES_MAX, "too far for %s",
                   iface->transport->name);
    return UCS_ERR_UNREACHABLE;
}

static const struct uct_transport fakes[IFACE_COUNT] = {
    {.name = "slow", .iface_reach = fake_reach},
    {.name = "fast", .iface_reach = fake_reach},
    {.name = "middle", .iface_reach = fake_reach},
};
static const double fake_latency_s[IFACE_COUNT] = {3e-6, 1e-6, 2e-6};

static struct ucp_worker *worker;
static struct uct_iface   ifaces[IFACE_COUNT];

static void lanes_setup(const struct test_param *param)
{
    (void)param;
    worker = calloc(1, sizeof(*worker));
    ck_assert_ptr_nonnull(worker);
    worker->iface_count = IFACE_COUNT;
    for (unsigned i = 0; i < IFACE_COUNT; ++i) {
        ifaces[i].transport                    = &fakes[i];
        worker->ifaces[i].iface                = &ifaces[i];
        worker->ifaces[i].attr.cost.latency_s  = fake_latency_s[i];
        worker->ifaces[i].attr.cost.overhead_s = 1e-7;
    }
}

static void lanes_teardown(const struct test_param *param)
{
    (void)param;
    free(worker);
}

/* The peer offers: "slow fast !middle", the last one cannot be reached. */
static void offer(struct ucp_address_view *view, const char *const *names)
{
    static const uint8_t wrong = '?';

    memset(view, 0, sizeof(*view));
    for (; *names != NULL; ++names) {
        struct ucp_address_entry *entry  = &view->entries[view->entry_count++];
        bool                      is_far = (**names == '!');

        (void)snprintf(entry->transport, sizeof(entry->transport), "%s",
                       *names + is_far);
        entry->bytes      = is_far ? &wrong : (const uint8_t *)entry->transport;
        entry->size_bytes = 1;
    }
}

struct lanes_row {
    const char *names[6];
    const char *chosen; /* NULL: none */
    const char *said;   /* in the reasons then */
};

static void lanes__choose(const struct test_param *param)
{
    static const struct lanes_row rows[] = {
        {{"slow", "fast", "middle"}, "fast", NULL},
        {{"middle", "slow"}, "middle", NULL},
        {{"slow"}, "slow", NULL},
        {{"slow", "!fast", "middle"}, "middle", NULL},
        {{"!fast", "fast"}, "fast", NULL}, /* the second address of it */
        {{"foreign", "slow"}, "slow", NULL},
        {{"!slow", "!fast"}, NULL, "too far for fast"},
        {{"foreign"}, NULL, "foreign"},
        {{NULL}, NULL, "none"},
    };

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucp_lane_choice  choice = {.iface_index = 99};
        struct ucp_address_view view;
        char                    reasons[512];
        ucs_status_t            status;

        offer(&view, rows[i].names);
        status =
            ucp_lanes_choose(worker, &view, &choice, reasons, sizeof(reasons));
        if (rows[i].chosen != NULL) {
            ck_assert_int_eq(status, UCS_OK);
            ck_assert_str_eq(fakes[choice.iface_index].name, rows[i].chosen);
            ck_assert_str_eq(choice.entry->transport, rows[i].chosen);
            ck_assert_int_eq(choice.entry->bytes[0], rows[i].chosen[0]);
        } else {
            ck_assert_int_eq(status, UCS_ERR_UNREACHABLE);
            ck_assert_uint_eq(choice.iface_index, 99);
            ck_assert_msg(strstr(reasons, rows[i].said) != NULL,
                          "row %u says: %s", i, reasons);
        }
    }
}

/* More reasons than room: cut, not written behind. */
static void lanes__reasons_are_bounded(const struct test_param *param)
{
    static const char *const names[] = {"!slow", "!fast", "!middle", NULL};
    struct ucp_lane_choice   choice;
    struct ucp_address_view  view;
    char                     reasons[12];

    (void)param;
    offer(&view, names);
    memset(reasons, 'x', sizeof(reasons));
    ck_assert_int_eq(ucp_lanes_choose(worker, &view, &choice, reasons, 10),
                     UCS_ERR_UNREACHABLE);
    ck_assert_uint_lt(strnlen(reasons, 10), 10);
    ck_assert_int_eq(reasons[10], 'x');
}

/* The second byte of an address. */
static uint64_t fake_rank(struct uct_iface *iface, const uint8_t *bytes,
                          size_t size_bytes, char *why)
{
    (void)iface;
    ck_assert_uint_eq(size_bytes, 2);
    (void)snprintf(why, UCT_REASON_BYTES_MAX, "rank %u", bytes[1]);
    return bytes[1];
}

static ucs_status_t fake_reach_letter(struct uct_iface *iface,
                                      const uint8_t *bytes, size_t size_bytes,
                                      char *reason)
{
    return fake_reach(iface, bytes, size_bytes - 1, reason);
}

/* Addresses 'n', rank, and '?', 0, which nobody reaches. */
static const uint8_t ranked_bytes[][2] = {
    {'?', 0}, {'n', 5}, {'n', 2}, {'n', 3}, {'n', 2}};

/* Of what costs the same, the lowest rank; of equal ones the first. */
static void lanes__rank_decides(const struct test_param *param)
{
    static const struct uct_transport near = {.name        = "near",
                                              .iface_reach = fake_reach_letter,
                                              .iface_rank  = fake_rank};
    struct ucp_lane_candidate         candidates[UCP_LANE_CANDIDATE_COUNT_MAX];
    struct ucp_lane_choice            choice;
    struct ucp_address_view           view = {.entry_count = 5};
    char                              reasons[64];

    (void)param;
    for (unsigned i = 0; i < IFACE_COUNT; ++i) {
        ifaces[i].transport                   = &near;
        worker->ifaces[i].attr.cost.latency_s = (i == 2) ? 2e-6 : 1e-6;
    }
    for (unsigned i = 0; i < view.entry_count; ++i) {
        (void)snprintf(view.entries[i].transport,
                       sizeof(view.entries[i].transport), "near");
        view.entries[i].bytes      = ranked_bytes[i];
        view.entries[i].size_bytes = 2;
    }
    ck_assert_int_eq(
        ucp_lanes_choose(worker, &view, &choice, reasons, sizeof(reasons)),
        UCS_OK);
    ck_assert_uint_eq(choice.iface_index, 0);
    ck_assert_ptr_eq(choice.entry, &view.entries[2]);
    ck_assert_uint_eq(ucp_lanes_candidates(worker, &view, candidates), 15);
    ck_assert_str_eq(candidates[1].reason, "rank 5");
    ck_assert_str_eq(candidates[0].reason, "too far for near");
}

static const struct test_case lanes_cases[] = {
    TEST(lanes__rank_decides),
    TEST(lanes__choose),
    TEST(lanes__reasons_are_bounded),
    {0},
};

const struct test_suite lanes_suite = {.name     = "lanes",
                                       .cases    = lanes_cases,
                                       .setup    = lanes_setup,
                                       .teardown = lanes_teardown};
