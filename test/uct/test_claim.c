/* SPDX-License-Identifier: BSD-3-Clause */
/* test_claim.c - words are given once, found by name, and late ends miss. */
#include "uct/api/claim.h"

#include "uct/mock.h"
#include "uct/suites.h"

enum { CLAIM_COUNT = 5 };

static struct mock      mock;
static struct uct_claim words[UCT_CLAIM_COUNT_MAX];
static struct uct_ep    ep;

static void setup(const struct test_param *param)
{
    (void)param;
    mock_init(&mock);
    memset(words, 0, sizeof(words));
    memset(&ep, 0, sizeof(ep));
    mock.iface.claims.words = words;
    mock.iface.claims.count = CLAIM_COUNT;
    ep.claims               = words;
    ep.claim_count          = CLAIM_COUNT;
}

static void teardown(const struct test_param *param)
{
    (void)param;
    mock_cleanup(&mock);
}

static void get__each_once_until_none_is_left(const struct test_param *param)
{
    uint64_t names[CLAIM_COUNT], name;
    unsigned i, j;

    (void)param;
    for (i = 0; i < CLAIM_COUNT; ++i) {
        ck_assert(ucti_claim_get(&mock.iface, &names[i]));
        for (j = 0; j < i; ++j) {
            ck_assert_ptr_ne(ucti_iface_claim(&mock.iface, names[i]),
                             ucti_iface_claim(&mock.iface, names[j]));
        }
    }
    ck_assert(!ucti_claim_get(&mock.iface, &name));
    ucti_claim_put(&mock.iface, names[2]);
    ck_assert(ucti_claim_get(&mock.iface, &name));
    ck_assert_ptr_eq(ucti_iface_claim(&mock.iface, name),
                     ucti_iface_claim(&mock.iface, names[2]));
    ck_assert(name != names[2]);
}

static void get__none_where_there_are_none(const struct test_param *param)
{
    uint64_t name;

    (void)param;
    mock.iface.claims.count = 0;
    mock.iface.claims.words = NULL;
    ck_assert(!ucti_claim_get(&mock.iface, &name));
}

static void get__all_that_there_can_be(const struct test_param *param)
{
    uint64_t name;
    unsigned i;

    (void)param;
    mock.iface.claims.count = UCT_CLAIM_COUNT_MAX;
    for (i = 0; i < UCT_CLAIM_COUNT_MAX; ++i) {
        ck_assert(ucti_claim_get(&mock.iface, &name));
    }
    ck_assert(!ucti_claim_get(&mock.iface, &name));
}

static void find__the_same_word_from_both_ends(const struct test_param *param)
{
    uint64_t          name;
    _Atomic uint64_t *mine;

    (void)param;
    ck_assert(ucti_claim_get(&mock.iface, &name));
    mine = ucti_iface_claim(&mock.iface, name);
    ck_assert_ptr_eq(mine, ucti_ep_claim(&ep, name));
    ck_assert(uct_claim_is_current(name, atomic_load(mine)));
    ck_assert_uint_eq((uint32_t)atomic_load(mine), 0);
}

static void find__names_from_outside_are_checked(const struct test_param *param)
{
    (void)param;
    ck_assert_ptr_null(ucti_ep_claim(&ep, CLAIM_COUNT));
    ck_assert_ptr_null(ucti_ep_claim(&ep, UINT32_MAX));
    ck_assert_ptr_null(ucti_ep_claim(&ep, UINT64_MAX));
    ck_assert_ptr_nonnull(ucti_ep_claim(&ep, CLAIM_COUNT - 1));
    ep.claims = NULL;
    ck_assert_ptr_null(ucti_ep_claim(&ep, 0));
}

/* One that learned a name and comes late changes nothing of the next use. */
static void put__late_ends_miss(const struct test_param *param)
{
    uint64_t          first, second, seen;
    _Atomic uint64_t *word;

    (void)param;
    ck_assert(ucti_claim_get(&mock.iface, &first));
    word = ucti_ep_claim(&ep, first);
    seen = atomic_load(word);
    ucti_claim_put(&mock.iface, first);
    ck_assert(!uct_claim_is_current(first, atomic_load(word)));
    ck_assert(ucti_claim_get(&mock.iface, &second));
    ck_assert_ptr_eq(ucti_ep_claim(&ep, second), word);
    ck_assert(!atomic_compare_exchange_strong(word, &seen, seen + 1));
    ck_assert(uct_claim_is_current(second, atomic_load(word)));
    ck_assert(!uct_claim_is_current(first, atomic_load(word)));
}

static void generation__is_never_nobodys(const struct test_param *param)
{
    uint64_t name;

    (void)param;
    mock.iface.claims.generation = UINT32_MAX;
    ck_assert(ucti_claim_get(&mock.iface, &name));
    ck_assert_uint_ne(name >> 32, 0);
    ucti_claim_put(&mock.iface, name);
    ck_assert(!uct_claim_is_current(name, atomic_load(&words[0].word)));
}

static const struct test_case cases[] = {
    TEST(get__each_once_until_none_is_left),
    TEST(get__none_where_there_are_none),
    TEST(get__all_that_there_can_be),
    TEST(find__the_same_word_from_both_ends),
    TEST(find__names_from_outside_are_checked),
    TEST(put__late_ends_miss),
    TEST(generation__is_never_nobodys),
    {0}};

const struct test_suite claim_suite = {
    .name = "claim", .cases = cases, .setup = setup, .teardown = teardown};
