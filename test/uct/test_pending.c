/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pending.c - the queue of endpoints that wait. */
#include "uct/base/pending.h"

#include <stdlib.h>

#include "uct/api/uct.h"
#include "uct/mock.h"
#include "uct/suites.h"

enum { EP_COUNT = 4, LOG_COUNT_MAX = 4096 };

/* An endpoint that takes what there is of `tokens` when it may send.
 * wanted   messages that it still wants to send
 * needs    tokens that one message takes
 * on_turn  what its callback does, or NULL: send until refused */
struct sender {
    struct uct_ep ep;
    unsigned      index;
    unsigned      wanted;
    unsigned      needs;
    unsigned      sent;
    unsigned      called;
    void (*on_turn)(struct sender *sender);
};

static struct mock   mock;
static struct sender senders[EP_COUNT];
static unsigned      tokens;
static char          called_log[LOG_COUNT_MAX];
static unsigned      called_count;

static ucs_status_t sender_send(struct sender *sender, unsigned flags)
{
    if (uct_ep_must_wait(&sender->ep, flags) || (tokens < sender->needs)) {
        return uct_ep_refuse(&sender->ep, flags);
    }
    tokens -= sender->needs;
    ++sender->sent;
    return UCS_OK;
}

static void sender_drain(struct sender *sender)
{
    while ((sender->wanted > 0) &&
           (sender_send(sender, UCT_FLAG_PENDING) == UCS_OK)) {
        --sender->wanted;
    }
}

static void on_pending(struct uct_ep *ep)
{
    struct sender *sender = ucs_container_of(ep, struct sender, ep);

    ++sender->called;
    ck_assert_uint_lt(called_count, LOG_COUNT_MAX - 1);
    called_log[called_count++] = (char)('A' + sender->index);
    if (sender->on_turn != NULL) {
        sender->on_turn(sender);
    } else {
        sender_drain(sender);
    }
}

static enum uct_may_send has_token(struct uct_ep *ep)
{
    (void)ep;
    return (tokens > 0) ? UCT_MAY_SEND_NOW : UCT_MAY_SEND_LATER;
}

static enum uct_may_send never(struct uct_ep *ep)
{
    (void)ep;
    return UCT_MAY_SEND_LATER;
}

static unsigned asked_count;

static enum uct_may_send has_token_of_all(struct uct_ep *ep)
{
    (void)ep;
    ++asked_count;
    return (tokens > 0) ? UCT_MAY_SEND_NOW : UCT_MAY_SEND_NOBODY;
}

static struct ucs_list elsewhere;

/* B waits for something of its own. */
static enum uct_may_send moves_b(struct uct_ep *ep)
{
    if (ep == &senders[1].ep) {
        uct_pending_move(ep, &elsewhere);
        return UCT_MAY_SEND_LATER;
    }
    return has_token(ep);
}

static void setup(const struct test_param *param)
{
    unsigned index;

    (void)param;
    tokens       = 0;
    called_count = 0;
    memset(called_log, 0, sizeof(called_log));
    memset(senders, 0, sizeof(senders));
    mock_init(&mock);
    for (index = 0; index < EP_COUNT; ++index) {
        senders[index].index = index;
        senders[index].needs = 1;
        mock_ep_init(&mock, &senders[index].ep, on_pending, NULL, NULL);
    }
}

static void teardown(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < EP_COUNT; ++index) {
        if (senders[index].ep.pending != NULL) {
            ucti_ep_cleanup(&senders[index].ep);
        }
    }
    mock_cleanup(&mock);
}

static void all_wait(unsigned wanted)
{
    unsigned index;

    for (index = 0; index < EP_COUNT; ++index) {
        senders[index].wanted = wanted;
        ck_assert_int_eq(sender_send(&senders[index], UCT_FLAG_PENDING),
                         UCS_ERR_WOULD_BLOCK);
    }
}

static void refuse__without_flag_enters_nothing(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(sender_send(&senders[0], 0), UCS_ERR_WOULD_BLOCK);
    ck_assert(!uct_iface_has_pending(&mock.iface));
    ck_assert_int_eq(senders[0].ep.pending_state, UCT_PENDING_NONE);
}

static void refuse__twice_enters_once(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(sender_send(&senders[0], UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(sender_send(&senders[0], UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(ucs_list_count(&mock.iface.pending), 1);
    tokens = 1;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 0);
}

static void
wait__holds_ordered_and_lets_any_order(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(sender_send(&senders[0], UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    tokens = 5;
    ck_assert_int_eq(sender_send(&senders[0], 0), UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(sender_send(&senders[0], UCT_FLAG_ANY_ORDER), UCS_OK);
    ck_assert_int_eq(sender_send(&senders[1], 0), UCS_OK);
    ck_assert_uint_eq(ucs_list_count(&mock.iface.pending), 1);
}

static void serve__first_come_first_called(const struct test_param *param)
{
    (void)param;
    all_wait(1);
    tokens = EP_COUNT;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), EP_COUNT);
    ck_assert_str_eq(called_log, "ABCD");
    ck_assert(!uct_iface_has_pending(&mock.iface));
}

static void serve__asks_no_further_than_nobody(const struct test_param *param)
{
    (void)param;
    all_wait(1);
    asked_count = 0;
    tokens      = 2;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token_of_all), 2);
    ck_assert_str_eq(called_log, "AB");
    ck_assert_uint_eq(asked_count, 3);
    ck_assert_uint_eq(ucs_list_count(&mock.iface.pending), EP_COUNT - 2);
    tokens = EP_COUNT;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token_of_all),
                      EP_COUNT - 2);
    ck_assert_str_eq(called_log, "ABCD");
}

static void serve__one_waits_elsewhere(const struct test_param *param)
{
    (void)param;
    ucs_list_init(&elsewhere);
    all_wait(1);
    tokens = EP_COUNT;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, moves_b), EP_COUNT - 1);
    ck_assert_str_eq(called_log, "ACD");
    ck_assert(!uct_iface_has_pending(&mock.iface));
    uct_pending_move(&senders[0].ep, &mock.iface.pending); /* waits no more */
    uct_pending_move(&senders[1].ep, &mock.iface.pending);
    ck_assert(ucs_list_is_empty(&elsewhere));
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_str_eq(called_log, "ACDB");
}

static void serve__calls_nobody_who_may_not(const struct test_param *param)
{
    (void)param;
    all_wait(1);
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, never), 0);
    ck_assert_uint_eq(ucs_list_count(&mock.iface.pending), EP_COUNT);
    tokens = EP_COUNT;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), EP_COUNT);
    ck_assert_str_eq(called_log, "ABCD");
}

static void serve__each_at_most_once(const struct test_param *param)
{
    (void)param;
    all_wait(100);
    tokens = 10;
    /* A takes all ten, is refused and goes to the end. */
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_uint_eq(senders[0].called, 1);
    ck_assert_uint_eq(senders[0].sent, 10);
    ck_assert_int_eq(senders[0].ep.pending_state, UCT_PENDING_WAITS);
}

static void serve__who_sent_goes_to_the_end(const struct test_param *param)
{
    unsigned round;

    (void)param;
    all_wait(1000);
    for (round = 0; round < 8; ++round) {
        tokens = 1;
        ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    }
    ck_assert_str_eq(called_log, "ABCDABCD");
}

/* B needs three tokens at once; the others take one each. */
static void
serve__who_could_not_send_keeps_its_turn(const struct test_param *param)
{
    unsigned round;

    (void)param;
    senders[1].needs = 3;
    all_wait(1000);
    tokens = 1;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    /* B is asked first each time; what is too little for it, C or D take. */
    for (round = 0; round < 2; ++round) {
        tokens = 1;
        (void)ucti_pending_serve(&mock.iface, has_token);
        ck_assert_int_eq(called_log[called_count - 2], 'B');
    }
    tokens = 3;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_uint_eq(senders[1].sent, 1);
}

static void try_without_flag_first(struct sender *sender)
{
    ck_assert_int_eq(sender_send(sender, 0), UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(sender_send(sender, UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
}

static void
serve__refused_without_flag_keeps_its_turn(const struct test_param *param)
{
    (void)param;
    senders[0].needs   = 2;
    senders[0].on_turn = try_without_flag_first;
    all_wait(1);
    tokens = 1;
    (void)ucti_pending_serve(&mock.iface, has_token);
    senders[0].on_turn = NULL;
    tokens             = 2;
    (void)ucti_pending_serve(&mock.iface, has_token);
    /* A was refused, B sent with the token; then A was first again. */
    ck_assert_str_eq(called_log, "ABA");
}

static void ignore_turn(struct sender *sender)
{
    (void)sender;
}

static void serve__is_one_shot(const struct test_param *param)
{
    (void)param;
    senders[0].on_turn = ignore_turn;
    all_wait(1);
    tokens = 4;
    (void)ucti_pending_serve(&mock.iface, has_token);
    ck_assert_int_eq(senders[0].ep.pending_state, UCT_PENDING_NONE);
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 0);
    ck_assert_uint_eq(senders[0].called, 1);
}

static void destroy_all_others(struct sender *sender)
{
    unsigned index;

    for (index = 0; index < EP_COUNT; ++index) {
        if (&senders[index] != sender) {
            ucti_ep_cleanup(&senders[index].ep);
        }
    }
}

static void destroy__others_inside_a_callback(const struct test_param *param)
{
    (void)param;
    senders[1].on_turn = destroy_all_others;
    all_wait(1);
    tokens = 4;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 2);
    ck_assert_str_eq(called_log, "AB");
    ck_assert_uint_eq(mock.iface.ep_count, 1);
}

static void destroy_self(struct sender *sender)
{
    ucti_ep_cleanup(&sender->ep);
    memset(&sender->ep, 0x5a, sizeof(sender->ep));
    sender->ep.pending = NULL;
}

static void refuse_then_destroy_self(struct sender *sender)
{
    sender->needs = 100;
    ck_assert_int_eq(sender_send(sender, UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    destroy_self(sender);
}

static void destroy__itself_inside_its_callback(const struct test_param *param)
{
    (void)param;
    senders[0].on_turn = destroy_self;
    senders[2].on_turn = refuse_then_destroy_self;
    all_wait(1);
    tokens = 8;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 4);
    ck_assert_str_eq(called_log, "ABCD");
    ck_assert_uint_eq(mock.iface.ep_count, 2);
}

static void destroy__then_no_callback(const struct test_param *param)
{
    (void)param;
    all_wait(1);
    ucti_ep_cleanup(&senders[0].ep);
    tokens = 8;
    (void)ucti_pending_serve(&mock.iface, has_token);
    ck_assert_str_eq(called_log, "BCD");
}

static void make_another_wait(struct sender *sender)
{
    struct sender *other = &senders[(sender->index + 3) % EP_COUNT];
    unsigned       had   = tokens;

    tokens = 0;
    ck_assert_int_eq(sender_send(other, UCT_FLAG_PENDING), UCS_ERR_WOULD_BLOCK);
    tokens = had;
}

/* One that is refused while others are served waits for the next time. */
static void serve__newcomers_come_next_time(const struct test_param *param)
{
    (void)param;
    senders[0].on_turn = make_another_wait; /* D */
    ck_assert_int_eq(sender_send(&senders[0], UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    tokens = 8;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 1);
    ck_assert_str_eq(called_log, "AD");
}

/* Whatever happens, nobody waits longer than one round of the others. */
static void serve__random_is_fair(const struct test_param *param)
{
    unsigned waited[EP_COUNT] = {0};
    unsigned round, index;

    (void)param;
    all_wait(UINT32_MAX);
    for (round = 0; round < 2000; ++round) {
        unsigned called_before = called_count;

        tokens = (unsigned)test_random_below(3);
        (void)ucti_pending_serve(&mock.iface, has_token);
        if (called_count == called_before) {
            continue;
        }
        for (index = 0; index < EP_COUNT; ++index) {
            ++waited[index];
        }
        for (; called_before < called_count; ++called_before) {
            waited[called_log[called_before] - 'A'] = 0;
        }
        for (index = 0; index < EP_COUNT; ++index) {
            if (waited[index] > EP_COUNT) {
                ck_abort_msg("%u waited %u rounds", index, waited[index]);
            }
        }
        if (called_count > LOG_COUNT_MAX / 2) {
            called_count = 0;
        }
    }
}

static void yield_early(struct sender *sender)
{
    ck_assert_int_eq(sender_send(sender, UCT_FLAG_PENDING), UCS_OK);
    ucti_ep_yield(&sender->ep);
    ucti_ep_yield(&sender->ep); /* once more is no more */
}

/* There is room for all, and A lets the others go first each time. */
static void yield__comes_again_behind_the_others(const struct test_param *param)
{
    (void)param;
    ucti_ep_yield(&senders[3].ep); /* outside of any turn */
    ck_assert_int_eq(sender_send(&senders[3], 0), UCS_ERR_WOULD_BLOCK);
    all_wait(1);
    senders[0].on_turn = yield_early;
    tokens             = 10;
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), EP_COUNT);
    ck_assert_str_eq(called_log, "DABC");
    senders[1].wanted = 1;
    ucti_ep_yield(&senders[1].ep);
    ck_assert_uint_eq(ucti_pending_serve(&mock.iface, has_token), 2);
    ck_assert_str_eq(called_log, "DABCAB");
    ck_assert_uint_eq(ucs_list_count(&mock.iface.pending), 1);
}

static const struct test_case cases[] = {
    TEST(refuse__without_flag_enters_nothing),
    TEST(refuse__twice_enters_once),
    TEST(wait__holds_ordered_and_lets_any_order),
    TEST(serve__first_come_first_called),
    TEST(serve__asks_no_further_than_nobody),
    TEST(serve__one_waits_elsewhere),
    TEST(serve__calls_nobody_who_may_not),
    TEST(serve__each_at_most_once),
    TEST(serve__who_sent_goes_to_the_end),
    TEST(serve__who_could_not_send_keeps_its_turn),
    TEST(serve__refused_without_flag_keeps_its_turn),
    TEST(serve__is_one_shot),
    TEST(serve__newcomers_come_next_time),
    TEST(serve__random_is_fair),
    TEST(yield__comes_again_behind_the_others),
    TEST(destroy__others_inside_a_callback),
    TEST(destroy__itself_inside_its_callback),
    TEST(destroy__then_no_callback),
    {0}};

const struct test_suite pending_suite = {
    .name = "pending", .cases = cases, .setup = setup, .teardown = teardown};
