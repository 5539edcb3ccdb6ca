/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_doorbell.c - who is polled, who rings, who sleeps, and the
 * races between going to sleep and being sent to. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

enum { SENDER_COUNT = 24 };

static struct sm_end receiver;
static struct sm_end senders[SENDER_COUNT];

static void bell_open(unsigned sender_count, bool wakeup)
{
    unsigned index;

    sm_end_open(&receiver, wakeup);
    for (index = 0; index < sender_count; ++index) {
        sm_end_open(&senders[index], wakeup);
        senders[index].ep = sm_end_connect(&senders[index], &receiver);
    }
}

static void bell_close(unsigned sender_count)
{
    unsigned index;

    for (index = 0; index < sender_count; ++index) {
        sm_end_close(&senders[index]);
    }
    sm_end_close(&receiver);
}

static void poll__is_bounded_and_all_are_heard(const struct test_param *param)
{
    uint64_t round;
    unsigned index;

    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_POLL_CHANNELS", "3", 1), 0);
    bell_open(SENDER_COUNT, false);
    for (round = 0; round < 300; ++round) {
        for (index = 0; index < SENDER_COUNT; ++index) {
            sm_stage_send_all(&senders[index], senders[index].ep, SM_STAGE_AM,
                              round, 8 + round * 7);
        }
        sm_stage_until_received(&receiver, NULL, (round + 1) * SENDER_COUNT);
        ck_assert_uint_le(receiver.sm->polled_count, 3);
    }
    bell_close(SENDER_COUNT);
}

static void poll__quiet_ones_are_dropped(const struct test_param *param)
{
    uint64_t number = 0;
    unsigned index, round;

    (void)param;
    bell_open(8, false);
    for (index = 0; index < 8; ++index) {
        sm_stage_send_all(&senders[index], senders[index].ep, SM_STAGE_AM, 0,
                          8);
    }
    sm_stage_until_received(&receiver, NULL, 8);
    ck_assert_uint_eq(receiver.sm->polled_count, 8);
    /* One goes on: after some looks it is the only one. */
    for (round = 0; (round < 2000) && (receiver.sm->polled_count > 1);
         ++round) {
        sm_stage_send_all(&senders[5], senders[5].ep, SM_STAGE_AM, ++number, 8);
        sm_stage_progress_ms(&receiver, NULL, 1);
    }
    ck_assert_uint_eq(receiver.sm->polled_count, 1);
    ck_assert(receiver.sm->polled[0]->sender.segment_id ==
              senders[5].sm->address.segment_id);
    /* The others are heard again. */
    sm_stage_send_all(&senders[2], senders[2].ep, SM_STAGE_AM, 1, 8);
    sm_stage_until_received(&receiver, NULL, 8 + number + 1);
    ck_assert_uint_eq(receiver.sm->polled_count, 2);
    bell_close(8);
}

static void
poll__more_than_a_batch_is_read_to_its_end(const struct test_param *param)
{
    uint64_t number;
    unsigned index;

    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_POLL_CHANNELS", "1", 1), 0);
    bell_open(3, false);
    for (index = 0; index < 3; ++index) {
        for (number = 0; number < UCT_SM_BATCH_COUNT_MAX + 30; ++number) {
            ck_assert_int_eq(
                sm_stage_send(senders[index].ep, SM_STAGE_AM, number, 8, 0),
                UCS_OK);
        }
    }
    sm_stage_until_received(&receiver, NULL, 3 * (UCT_SM_BATCH_COUNT_MAX + 30));
    bell_close(3);
}

static int arm_until_ok(struct sm_end *end)
{
    struct pollfd wait  = {.fd     = uct_sm_transport.event_fd(end->iface),
                           .events = POLLIN};
    int           count = 0;

    while (uct_sm_transport.arm(end->iface) != UCS_OK) {
        (void)uct_iface_progress(end->iface);
        ck_assert_int_lt(++count, 1000);
    }
    return poll(&wait, 1, 0);
}

static void arm__sleeps_when_nothing_waits(const struct test_param *param)
{
    (void)param;
    bell_open(1, true);
    sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&receiver, NULL, 1);
    ck_assert_int_eq(arm_until_ok(&receiver), 0);
    /* And once more without progress between. */
    ck_assert_int_eq(uct_sm_transport.arm(receiver.iface), UCS_OK);
    ck_assert_int_eq(arm_until_ok(&receiver), 0);
    bell_close(1);
}

static void arm__is_busy_when_a_message_waits(const struct test_param *param)
{
    (void)param;
    bell_open(2, true);
    /* Not met yet: it rang. */
    sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, 0, 8);
    ck_assert_int_eq(uct_sm_transport.arm(receiver.iface), UCS_ERR_BUSY);
    sm_stage_until_received(&receiver, NULL, 1);
    (void)arm_until_ok(&receiver);
    (void)uct_iface_progress(receiver.iface);
    /* Polled: it did not ring. */
    sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, 1, 8);
    ck_assert_int_eq(uct_sm_transport.arm(receiver.iface), UCS_ERR_BUSY);
    sm_stage_until_received(&receiver, NULL, 2);
    bell_close(2);
}

static void arm__every_kind_of_message_wakes(const struct test_param *param)
{
    struct pollfd wait;
    uint64_t      number;

    (void)param;
    bell_open(1, true);
    wait = (struct pollfd){.fd     = uct_sm_transport.event_fd(receiver.iface),
                           .events = POLLIN};
    for (number = 0; number < 20; ++number) {
        ck_assert_int_eq(arm_until_ok(&receiver), 0);
        sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, number,
                          8 + number * 1000);
        ck_assert_int_eq(poll(&wait, 1, 1000), 1);
        /* A second one rings no more. */
        ck_assert_uint_eq(atomic_load(&receiver.sm->segment.header->asleep), 0);
        sm_stage_until_received(&receiver, NULL, number + 1);
    }
    ck_assert_int_eq(arm_until_ok(&receiver), 0);
    ucti_ep_destroy(senders[0].ep);
    senders[0].ep = NULL;
    ck_assert_int_eq(poll(&wait, 1, 1000), 1);
    bell_close(1);
}

static void arm__room_wakes_the_sender(const struct test_param *param)
{
    struct pollfd wait;
    uint64_t      number = 0;

    (void)param;
    bell_open(1, true);
    wait = (struct pollfd){.fd = uct_sm_transport.event_fd(senders[0].iface),
                           .events = POLLIN};
    while (sm_stage_send(senders[0].ep, SM_STAGE_AM, number, 8,
                         UCT_FLAG_PENDING) == UCS_OK) {
        ++number;
    }
    ck_assert_int_eq(arm_until_ok(&senders[0]), 0);
    sm_stage_until_received(&receiver, NULL, number);
    ck_assert_int_eq(poll(&wait, 1, 1000), 1);
    sm_stage_progress(&senders[0], NULL, 2);
    ck_assert_uint_eq(senders[0].pendings, 1);
    bell_close(1);
}

static void arm__needs_wakeup(const struct test_param *param)
{
    (void)param;
    bell_open(0, false);
    ck_assert_int_eq(uct_sm_transport.arm(receiver.iface), UCS_ERR_UNSUPPORTED);
    bell_close(0);
}

/* No descriptor is left: a bell that was opened before gives way. */
static void arm__bells_share_the_last_descriptor(const struct test_param *param)
{
    struct rlimit  files, few;
    struct uct_ep *back[2];
    struct pollfd  wait;
    unsigned       round;
    int            spare;

    (void)param;
    bell_open(2, true);
    for (round = 0; round < 2; ++round) {
        back[round] = sm_end_connect(&receiver, &senders[round]);
        sm_stage_send_all(&receiver, back[round], SM_STAGE_AM, 0, 8);
        sm_stage_until_received(&senders[round], NULL, 1);
    }
    spare = dup(0);
    (void)close(spare);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    few          = files;
    few.rlim_cur = (rlim_t)spare + 1;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (round = 0; round < 20; ++round) {
        struct sm_end *sleeper = &senders[round % 2];

        wait = (struct pollfd){.fd = uct_sm_transport.event_fd(sleeper->iface),
                               .events = POLLIN};
        ck_assert_int_eq(arm_until_ok(sleeper), 0);
        sm_stage_send_all(&receiver, back[round % 2], SM_STAGE_AM,
                          1 + round / 2, 8);
        ck_assert_int_eq(poll(&wait, 1, 1000), 1);
        sm_stage_until_received(sleeper, NULL, 2 + round / 2);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ucti_ep_destroy(back[0]);
    ucti_ep_destroy(back[1]);
    bell_close(2);
}

/* Its owner has left while it slept: no signal comes from its pipe. */
static void arm__a_bell_that_is_gone_is_quiet(const struct test_param *param)
{
    (void)param;
    bell_open(1, true);
    sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&receiver, NULL, 1);
    ck_assert_int_eq(arm_until_ok(&receiver), 0);
    sm_stage_send_all(&senders[0], senders[0].ep, SM_STAGE_AM, 1, 8);
    sm_end_close(&receiver);
    atomic_store(&ucs_container_of(senders[0].ep, struct uct_sm_ep, base)
                      ->peer->mapping.header->asleep,
                 1);
    ck_assert_int_eq(sm_stage_send(senders[0].ep, SM_STAGE_AM, 2, 8, 0),
                     UCS_OK);
    sm_end_close(&senders[0]);
}

/* Shared by the two processes of a race.
 * received  by the sleeper, as far as it says */
struct bell_race {
    _Atomic uint64_t received;
    _Atomic uint64_t rounds; /* less when the time is over */
    uint64_t         seed;
};

static void bell_spin(unsigned turns)
{
    for (; turns > 0; --turns) {
        ucs_cpu_relax();
    }
}

static unsigned bell_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static struct bell_race *bell_race_open(void)
{
    struct bell_race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(race, MAP_FAILED);
    race->rounds = test_rounds(30000, 1000000);
    race->seed   = test_random();
    return race;
}

/* A quick test ends by the clock, a campaign by the rounds. */
static bool bell_has_time(void)
{
    return test_has_time((double)test_rounds(15, 3600));
}

/* The reader's turn is over; one more message may be under way. */
static void bell_race_received(struct bell_race *race)
{
    atomic_store(&race->received, receiver.received);
    if ((receiver.received < race->rounds) && !bell_has_time()) {
        race->rounds = receiver.received + 1;
    }
}

/* Send one message each time the sleeper has read the one before, at a moment
 * that is near to the one where it goes to sleep. */
static void bell_race_send(struct sm_end *child, struct uct_ep *ep, int in_fd,
                           int out_fd, void *arg)
{
    struct bell_race *race = arg;
    uint64_t          number;

    (void)in_fd;
    (void)out_fd;
    for (number = 0; number < race->rounds; ++number) {
        sm_stage_send_all(child, ep, SM_STAGE_AM, number, 8);
        while (atomic_load(&race->received) <= number) {
            (void)sched_yield();
        }
        bell_spin(bell_next(&race->seed) % 200);
    }
    sm_step_wait(in_fd);
}

static void race__no_message_is_slept_over(const struct test_param *param)
{
    struct bell_race *race = bell_race_open();
    struct sm_process process;
    uint64_t          slept = 0, seed = race->seed + 1;

    (void)param;
    bell_open(0, true);
    sm_process_start(&process, &receiver, false, bell_race_send, race);
    while (receiver.received < race->rounds) {
        bell_spin(bell_next(&seed) % 200);
        ck_assert_msg(sm_stage_sleep(&receiver),
                      "a wake-up was lost after %llu messages",
                      (unsigned long long)receiver.received);
        bell_race_received(race);
        ++slept;
    }
    ck_assert_uint_gt(slept, 0);
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    bell_close(0);
    (void)munmap(race, sizeof(*race));
}

/* Read what comes, with pauses near to the moment at which the sender finds
 * its ring full and goes to sleep. */
static void bell_race_read(struct sm_end *child, struct uct_ep *ep, int in_fd,
                           int out_fd, void *arg)
{
    struct bell_race *race = arg;

    (void)ep;
    sm_step_wait(in_fd);
    while (child->received < race->rounds) {
        bell_spin(bell_next(&race->seed) % 400);
        if (bell_next(&race->seed) % 16 == 0) {
            (void)sched_yield();
        }
        (void)uct_iface_progress(child->iface);
    }
    sm_step_tell(out_fd);
}

static void race__no_room_is_slept_over(const struct test_param *param)
{
    struct bell_race *race = bell_race_open();
    struct sm_process process;
    uint64_t          number = 0, slept = 0;
    size_t            length;

    (void)param;
    race->rounds *= 10;
    bell_open(0, true);
    sm_process_start(&process, &receiver, false, bell_race_read, race);
    receiver.ep = sm_end_connect_bytes(&receiver, process.address);
    sm_step_tell(process.to_fd);
    while (number < race->rounds) {
        length = (number % 64 == 63) ? 5000 : 400;
        if (sm_stage_send(receiver.ep, SM_STAGE_AM, number, length,
                          UCT_FLAG_PENDING) == UCS_OK) {
            ++number;
            continue;
        }
        if (!bell_has_time()) {
            race->rounds = number;
            break;
        }
        while (receiver.pendings == 0) {
            ck_assert_msg(sm_stage_sleep(&receiver),
                          "a wake-up was lost after %llu messages",
                          (unsigned long long)number);
            ++slept;
        }
        receiver.pendings = 0;
    }
    ck_assert_uint_gt(slept, 0);
    sm_step_wait(process.from_fd);
    sm_process_join(&process);
    bell_close(0);
    (void)munmap(race, sizeof(*race));
}

/* Both, with fences in place of membarrier. */
static void race__with_fences_too(const struct test_param *param)
{
    struct bell_race *race = bell_race_open();
    struct sm_process process;

    (void)param;
    bell_open(0, true);
    receiver.sm->segment.header->identity.needs_fence = 1;
    sm_process_start(&process, &receiver, false, bell_race_send, race);
    while (receiver.received < race->rounds) {
        ck_assert_msg(sm_stage_sleep(&receiver), "lost");
        bell_race_received(race);
    }
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    bell_close(0);
    (void)munmap(race, sizeof(*race));
}

static const struct test_case bell_cases[] = {
    TEST(poll__is_bounded_and_all_are_heard),
    TEST(poll__quiet_ones_are_dropped),
    TEST(poll__more_than_a_batch_is_read_to_its_end),
    TEST(arm__sleeps_when_nothing_waits),
    TEST(arm__is_busy_when_a_message_waits),
    TEST(arm__every_kind_of_message_wakes),
    TEST(arm__room_wakes_the_sender),
    TEST(arm__needs_wakeup),
    TEST(arm__bells_share_the_last_descriptor),
    TEST(arm__a_bell_that_is_gone_is_quiet),
    TEST_TIMEOUT(race__no_message_is_slept_over, 300),
    TEST_TIMEOUT(race__no_room_is_slept_over, 300),
    TEST_TIMEOUT(race__with_fences_too, 300),
    {0},
};

const struct test_suite sm_doorbell_suite = {
    .name  = "sm_doorbell",
    .cases = bell_cases,
};
