/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sim.c - the simulated network itself: it does what its weather says,
 * and the same seed does the same again. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "sim_net.h"
#include "sim_plan.h"
#include "ucs/clock.h"

enum { PACKETS = 2000, BYTES = 1000 };

/* What a socket got. */
struct target {
    struct sim_socket sock;
    struct sim_net   *net;
    unsigned          count, early_count; /* early: after a later one */
    uint32_t          last;
    uint64_t          last_ns, sum;
};

static struct sim_net    net;
static struct sim_socket source;
static struct target     target;
static unsigned          too_long_count;
static bool              may_cut;

static void target_arrived(struct sim_socket *sock)
{
    struct target     *self   = ucs_container_of(sock, struct target, sock);
    struct sim_packet *packet = sim_socket_take(sock);
    uint32_t           number;

    memcpy(&number, packet->bytes, sizeof(number));
    self->early_count += (self->count > 0) && (number < self->last);
    self->last    = number;
    self->last_ns = self->net->now_ns;
    self->sum     = self->sum * 31 + number + self->net->now_ns;
    ++self->count;
    free(packet);
}

static void source_arrived(struct sim_socket *sock)
{
    (void)sock;
    ck_abort_msg("a packet for the sender");
}

static void source_too_long(struct sim_socket         *sock,
                            const struct ucs_sockaddr *to)
{
    (void)sock;
    (void)to;
    ++too_long_count;
}

static void begin(uint64_t seed, const struct sim_weather *weather)
{
    struct ucs_sockaddr local;

    memset(&target, 0, sizeof(target));
    too_long_count = 0;
    may_cut        = false;
    sim_net_init(&net, 2, seed);
    net.weather         = *weather;
    source.arrived      = source_arrived;
    source.too_long     = source_too_long;
    target.net          = &net;
    target.sock.arrived = target_arrived;
    local               = sim_net_address(0, 0);
    sim_socket_open(&net, &source, &local);
    local = sim_net_address(1, 0);
    ucsi_sockaddr_set_port(&local, 7000);
    sim_socket_open(&net, &target.sock, &local);
}

static void end(void)
{
    sim_socket_close(&net, &source);
    sim_socket_close(&net, &target.sock);
    sim_net_cleanup(&net);
}

static ucs_status_t send_one(uint32_t number, size_t length)
{
    uint8_t bytes[SIM_PACKET_BYTES_MAX] = {0};

    memcpy(bytes, &number, sizeof(number));
    return sim_net_send(&net, &source, &target.sock.address, bytes, length,
                        may_cut);
}

static void send_all(void)
{
    for (uint32_t i = 0; i < PACKETS; ++i) {
        ck_assert_int_eq(send_one(i, BYTES), UCS_OK);
        while (sim_net_step(&net, net.now_ns + 1000)) {
        }
    }
    while (sim_net_step(&net, net.now_ns + UCS_NS_PER_S)) {
    }
}

static const struct sim_weather fine = {
    .delay_ns      = 10000,
    .receive_bytes = 1 << 20,
    .device_mtu    = 1500,
    .path_mtu      = 1500,
};

static void net__fine_weather(const struct test_param *param)
{
    (void)param;
    begin(test_seed(), &fine);
    send_all();
    ck_assert_uint_eq(target.count, PACKETS);
    ck_assert_uint_eq(target.early_count, 0);
    ck_assert_uint_eq(net.flying_count, 0);
    end();
}

static void net__loses_as_often_as_it_should(const struct test_param *param)
{
    struct sim_weather weather = fine;

    (void)param;
    weather.loss_ppm = 200000;
    begin(test_seed(), &weather);
    send_all();
    ck_assert_uint_gt(target.count, PACKETS * 7 / 10);
    ck_assert_uint_lt(target.count, PACKETS * 9 / 10);
    ck_assert_uint_eq(net.lost_count, PACKETS - target.count);
    end();
}

static void net__duplicates_and_reorders(const struct test_param *param)
{
    struct sim_weather weather = fine;

    (void)param;
    weather.duplicate_ppm = 100000;
    weather.reorder_ppm   = 100000;
    weather.reorder_ns    = 40000;
    begin(test_seed(), &weather);
    send_all();
    ck_assert_uint_gt(target.count, PACKETS);
    ck_assert_uint_gt(target.early_count, 0);
    end();
}

/* 2,000 packets at once through a queue of 64 KiB: what fits is sent at the
 * rate, the rest is lost. */
static void net__rate_and_queue(const struct test_param *param)
{
    struct sim_weather weather = fine;
    uint64_t           begin_ns;

    (void)param;
    weather.rate_Bps    = 1000000;
    weather.queue_bytes = 64 * 1024;
    begin(test_seed(), &weather);
    begin_ns = net.now_ns;
    for (uint32_t i = 0; i < PACKETS; ++i) {
        ck_assert_int_eq(send_one(i, BYTES), UCS_OK);
    }
    while (sim_net_step(&net, net.now_ns + UCS_NS_PER_S)) {
    }
    ck_assert_uint_ge(target.count, 60);
    ck_assert_uint_le(target.count, 66);
    ck_assert_uint_ge(target.last_ns - begin_ns,
                      (uint64_t)target.count * BYTES * 1000);
    end();
}

static void net__long_packets(const struct test_param *param)
{
    struct sim_weather weather = fine;

    (void)param;
    weather.path_mtu  = 1280;
    weather.tells_mtu = true;
    begin(test_seed(), &weather);
    ck_assert_int_eq(send_one(0, 1500 - 28 + 1), UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(send_one(1, 1280 - 28 + 1), UCS_OK);
    ck_assert_uint_eq(too_long_count, 1);
    ck_assert_int_eq(send_one(2, 1280 - 28), UCS_OK);
    while (sim_net_step(&net, net.now_ns + UCS_NS_PER_S)) {
    }
    ck_assert_uint_eq(target.count, 1);
    ck_assert_uint_eq(target.last, 2);
    may_cut = true;
    ck_assert_int_eq(send_one(3, 1280 - 28 + 1), UCS_OK);
    while (sim_net_step(&net, net.now_ns + UCS_NS_PER_S)) {
    }
    ck_assert_uint_eq(target.count, 2);
    end();
}

static void net__cut_and_healed(const struct test_param *param)
{
    (void)param;
    begin(test_seed(), &fine);
    net.cuts[0]   = (struct sim_cut){.begin_ns = net.now_ns,
                                     .end_ns   = net.now_ns + 500 * 1000,
                                     .a        = 1,
                                     .b        = -1,
                                     .rail     = -1};
    net.cut_count = 1;
    send_all(); /* one each microsecond */
    ck_assert_uint_ge(target.count, PACKETS - 510);
    ck_assert_uint_le(target.count, PACKETS - 490);
    end();
}

static void net__rails_are_apart(const struct test_param *param)
{
    struct ucs_sockaddr other = sim_net_address(1, 1);

    (void)param;
    begin(test_seed(), &fine);
    ck_assert_int_eq(sim_net_host(&other), 1);
    ck_assert_uint_eq(sim_net_rail(&other), 1);
    ucsi_sockaddr_set_port(&other, 7000);
    ck_assert_int_eq(sim_net_send(&net, &source, &other, "", 1, false),
                     UCS_ERR_UNREACHABLE);
    net.cuts[0] = (struct sim_cut){
        .begin_ns = 0, .end_ns = UINT64_MAX, .a = 1, .b = -1, .rail = 1};
    net.cut_count = 1;
    ck_assert(sim_net_is_cut(&net, 0, 1, 1) && !sim_net_is_cut(&net, 0, 1, 0));
    send_all();
    ck_assert_uint_eq(target.count, PACKETS);
    end();
}

static void net__same_seed_same_run(const struct test_param *param)
{
    struct sim_weather weather = fine;
    uint64_t           sums[3];

    (void)param;
    weather.loss_ppm    = 100000;
    weather.reorder_ppm = 100000;
    weather.reorder_ns  = 50000;
    weather.jitter_ns   = 5000;
    for (unsigned i = 0; i < 3; ++i) {
        begin(test_seed() + (i == 2), &weather);
        send_all();
        sums[i] = target.sum;
        end();
    }
    ck_assert_uint_eq(sums[0], sums[1]);
    ck_assert_uint_ne(sums[0], sums[2]);
}

/* Over many seeds every kind of plan turns up, and mild ones are mild. */
static void plan__covers(const struct test_param *param)
{
    unsigned mild = 0, rails = 0, rmas = 0, kinds[SIM_REOPEN + 1] = {0},
             cuts = 0;
    struct sim_plan plan, again;

    (void)param;
    for (uint64_t seed = 1; seed <= 2000; ++seed) {
        sim_plan_make(&plan, seed);
        sim_plan_make(&again, seed);
        ck_assert_int_eq(memcmp(&plan, &again, sizeof(plan)), 0);
        mild += plan.is_mild;
        cuts += plan.cut_count;
        rails += plan.rail_count > 1;
        rmas += plan.rma_count > 0;
        for (unsigned i = 0; i < plan.fault_count; ++i) {
            ++kinds[plan.faults[i].kind];
            ck_assert(!plan.is_mild || ((plan.faults[i].kind != SIM_KILL) &&
                                        (plan.faults[i].kind != SIM_RESTART)));
        }
        ck_assert(!plan.is_mild || (plan.weather.loss_ppm <= 100000));
        ck_assert(!plan.is_mild || !sim_plan_may_fail(&plan, 0, 1));
    }
    ck_assert_uint_gt(mild, 500);
    ck_assert_uint_gt(cuts, 500);
    ck_assert_uint_gt(rails, 300);
    ck_assert_uint_gt(rmas, 500);
    for (unsigned i = 0; i <= SIM_REOPEN; ++i) {
        ck_assert_uint_gt(kinds[i], 50);
    }
}

static const struct test_case sim_cases[] = {
    TEST(net__fine_weather),
    TEST(net__loses_as_often_as_it_should),
    TEST(net__duplicates_and_reorders),
    TEST(net__rate_and_queue),
    TEST(net__long_packets),
    TEST(net__cut_and_healed),
    TEST(net__rails_are_apart),
    TEST(net__same_seed_same_run),
    TEST(plan__covers),
    {0},
};

static const struct test_suite sim_suite = {.name = "sim", .cases = sim_cases};

int main(int argc, char **argv)
{
    const struct test_suite *suites[] = {&sim_suite, NULL};

    return test_main(argc, argv, suites);
}
