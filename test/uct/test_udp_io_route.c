/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_io_route.c - what the kernel answers, for every kind of route. */
#include <net/if.h>
#include <string.h>
#include <sys/resource.h>

#include "ucs/log_capture.h"
#include "uct/suites.h"
#include "uct/udp/udp_route.h"
#include "uct/udp_stage.h"

static struct ucs_sockaddr parse(const char *text)
{
    struct ucs_sockaddr address;

    ck_assert_int_eq(ucsi_sockaddr_parse(text, 0, &address), UCS_OK);
    return address;
}

static const char *const routes =
    "ip link add v0 type veth peer name v1 && ip link set v0 up && "
    "ip link set v1 up && "
    "ip addr add 10.1.0.1/24 dev v0 && ip addr add fd01::1/64 dev v0 nodad && "
    "ip addr add fe80::77/64 dev v0 nodad && "
    "ip route add 10.2.0.0/16 via 10.1.0.254 mtu 1400 && "
    "ip -6 route add fd02::/64 via fd01::ff mtu 1380 && "
    "ip route add blackhole 10.3.0.0/16 && ip route add prohibit 10.4.0.0/16 "
    "&& ip route add unreachable 10.5.0.0/16 && "
    "ip -6 route add blackhole fd03::/64 && "
    "ip -6 route add prohibit fd04::/64 && "
    "ip -6 route add unreachable fd05::/64";

static void udp_route_ask__every_kind(const struct test_param *param)
{
    static const struct {
        const char    *local, *peer;
        struct udp_way way; /* index 1: v0's */
    } rows[] = {
        {"10.1.0.1", "10.1.0.2", {UDP_WAY_LINK, 1, 0}},
        {"10.1.0.1", "10.2.3.4", {UDP_WAY_GATEWAY, 1, 1400}},
        {"10.1.0.1", "10.1.0.1", {UDP_WAY_HERE, 0, 0}},
        {"127.0.0.1", "127.0.0.1", {UDP_WAY_HERE, 0, 0}},
        {"10.1.0.1", "10.3.0.1", {UDP_WAY_BLACK_HOLE, 0, 0}},
        {"10.1.0.1", "10.4.0.1", {UDP_WAY_BLACK_HOLE, 0, 0}},
        {"10.1.0.1", "10.5.0.1", {UDP_WAY_NONE, 0, 0}},
        {"10.1.0.1", "192.0.2.1", {UDP_WAY_NONE, 0, 0}},
        {"fd01::1", "fd01::2", {UDP_WAY_LINK, 1, 0}},
        {"fd01::1", "fd02::2", {UDP_WAY_GATEWAY, 1, 1380}},
        {"fd01::1", "fd01::1", {UDP_WAY_HERE, 0, 0}},
        {"fd01::1", "fd03::1", {UDP_WAY_BLACK_HOLE, 0, 0}},
        {"fd01::1", "fd04::1", {UDP_WAY_BLACK_HOLE, 0, 0}},
        {"fd01::1", "fd05::1", {UDP_WAY_NONE, 0, 0}},
        {"fd01::1", "2001:db8::1", {UDP_WAY_NONE, 0, 0}},
        {"fe80::77%v0", "fe80::88", {UDP_WAY_LINK, 1, 0}},
    };
    size_t i;

    (void)param;
    test_netns();
    test_netns_run(routes);
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucs_sockaddr local = parse(rows[i].local);
        struct ucs_sockaddr peer  = parse(rows[i].peer);
        struct udp_way      way   = {UDP_WAY_NONE, 99, 99};

        ck_assert_int_eq(udp_route_ask(&local, &peer, &way), UCS_OK);
        ck_assert_msg(way.kind == rows[i].way.kind, "%s: kind %d", rows[i].peer,
                      way.kind);
        if (rows[i].way.index != 0) {
            ck_assert_msg(way.index == if_nametoindex("v0"), "%s: device %u",
                          rows[i].peer, way.index);
            ck_assert_msg(way.mtu_bytes == rows[i].way.mtu_bytes, "%s: mtu %zu",
                          rows[i].peer, way.mtu_bytes);
        }
    }
}

/* A rule may send by another device for our address alone: that is what
 * decides, not the main table. */
static void udp_route_ask__by_source(const struct test_param *param)
{
    struct ucs_sockaddr peer = parse("10.7.0.1");
    struct ucs_sockaddr first, second;
    struct udp_way      way;

    (void)param;
    test_netns();
    test_netns_run("set -e; for i in v0 v1; do "
                   "ip link add $i type veth peer name p$i; "
                   "ip link set $i up; ip link set p$i up; done; "
                   "ip addr add 10.1.0.1/24 dev v0; "
                   "ip addr add 10.2.0.1/24 dev v1; "
                   "ip route add 10.7.0.0/16 via 10.1.0.254; "
                   "ip route add 10.7.0.0/16 via 10.2.0.254 table 7; "
                   "ip rule add from 10.2.0.1 table 7");
    first  = parse("10.1.0.1");
    second = parse("10.2.0.1");
    ck_assert_int_eq(udp_route_ask(&first, &peer, &way), UCS_OK);
    ck_assert_int_eq(way.kind, UDP_WAY_GATEWAY);
    ck_assert_uint_eq(way.index, if_nametoindex("v0"));
    ck_assert_int_eq(udp_route_ask(&second, &peer, &way), UCS_OK);
    ck_assert_uint_eq(way.index, if_nametoindex("v1"));
}

static void udp_route_ask__no_descriptor(const struct test_param *param)
{
    struct ucs_sockaddr here = parse("127.0.0.1");
    struct udp_way      way;
    struct rlimit       limit = {0, 0};

    (void)param;
    log_capture_start();
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_ne(udp_route_ask(&here, &here, &way), UCS_OK);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "routes"));
}

static const struct test_case cases[] = {
    TEST(udp_route_ask__every_kind),
    TEST(udp_route_ask__by_source),
    TEST(udp_route_ask__no_descriptor),
    {0},
};

const struct test_suite udp_io_route_suite = {"udp_io_route", cases, NULL, NULL,
                                              NULL};
