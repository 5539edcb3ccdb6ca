/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_route.c - judgements by table, then a host with one good device
 * among those that only look good. */
#include "uct/udp/udp_route.h"

#include <stdio.h>
#include <string.h>

#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

static struct ucs_sockaddr parse(const char *text)
{
    struct ucs_sockaddr address;

    ck_assert_int_eq(ucsi_sockaddr_parse(text, 0, &address), UCS_OK);
    return address;
}

static void udp_route_check__needs_no_kernel(const struct test_param *param)
{
    static const struct {
        const char *local, *peer;
        bool        is_here;
        const char *why; /* in the reason; NULL: fine */
    } rows[] = {
        {"10.0.0.1", "10.0.0.2", false, NULL},
        {"10.0.0.1", "fd00::2", false, "IPv4"},
        {"fd00::1", "10.0.0.2", true, "IPv6"},
        {"127.0.0.1", "10.0.0.2", false, "only this host"},
        {"127.0.0.1", "127.0.0.1", false, "only this host"},
        {"127.0.0.1", "127.0.0.1", true, NULL},
        {"127.0.0.1", "10.0.0.2", true, NULL},
        {"10.0.0.1", "127.0.0.1", false, "on every host"},
        {"10.0.0.1", "127.9.9.9", false, "on every host"},
        {"10.0.0.1", "127.0.0.1", true, NULL},
        {"fd00::1", "::1", false, "on every host"},
        {"10.0.0.1", "169.254.1.1", false, "link-local"},
        {"169.254.1.1", "10.0.0.1", false, "link-local"},
        {"169.254.1.1", "169.254.1.2", false, NULL},
        {"fe80::1", "fd00::1", false, "link-local"},
        {"fe80::1", "fe80::2", false, NULL},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct udp_device     device = {.name = "eth0"};
        struct udp_route_peer peer   = {.is_here = rows[i].is_here};
        char                  reason[UCT_REASON_BYTES_MAX] = "";
        ucs_status_t          status;

        device.local       = parse(rows[i].local);
        device.is_loopback = strncmp(rows[i].local, "127.", 4) == 0;
        peer.address       = parse(rows[i].peer);
        status             = udp_route_check(&device, &peer, reason);
        ck_assert_msg(
            status == ((rows[i].why == NULL) ? UCS_OK : UCS_ERR_UNREACHABLE),
            "row %zu: %s", i, reason);
        ck_assert_msg((rows[i].why == NULL) ||
                          (strstr(reason, rows[i].why) != NULL),
                      "row %zu: %s", i, reason);
    }
}

static void udp_route_judge__every_way(const struct test_param *param)
{
    static const struct {
        struct udp_way way;
        bool           is_here;
        const char    *why;
    } rows[] = {
        {{UDP_WAY_LINK, 7, 0}, false, NULL},
        {{UDP_WAY_GATEWAY, 7, 0}, false, NULL},
        {{UDP_WAY_LINK, 1, 0}, false, "by lo, not by eth0"},
        {{UDP_WAY_GATEWAY, 1, 0}, false, "by lo, not by eth0"},
        {{UDP_WAY_LINK, 999999, 0}, false, "another device"},
        {{UDP_WAY_HERE, 1, 0}, true, NULL},
        {{UDP_WAY_HERE, 1, 0}, false, "of this host too"},
        {{UDP_WAY_NONE, 0, 0}, false, "no route"},
        {{UDP_WAY_NONE, 0, 0}, true, "no route"},
        {{UDP_WAY_BLACK_HOLE, 0, 0}, false, "drops everything"},
    };
    struct udp_device device = {.name = "eth0", .index = 7};
    size_t            i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct udp_route_peer peer = {.is_here = rows[i].is_here};
        char                  reason[UCT_REASON_BYTES_MAX] = "";
        ucs_status_t          status;

        peer.address = parse("10.1.2.3");
        status       = udp_route_judge(&device, &peer, &rows[i].way, reason);
        ck_assert_msg(
            status == ((rows[i].why == NULL) ? UCS_OK : UCS_ERR_UNREACHABLE),
            "row %zu: %s", i, reason);
        if (rows[i].why != NULL) {
            ck_assert_msg(strstr(reason, rows[i].why) != NULL, "row %zu: %s", i,
                          reason);
            ck_assert_msg(strstr(reason, "10.1.2.3") != NULL, "row %zu: %s", i,
                          reason);
        }
    }
}

static void udp_route_rank__order(const struct test_param *param)
{
    /* Best first. */
    static const struct {
        enum udp_way_kind kind;
        uint64_t          speed_mbits;
    } rows[]      = {{UDP_WAY_HERE, 0},       {UDP_WAY_LINK, 100000},
                     {UDP_WAY_LINK, 10},      {UDP_WAY_LINK, 0},
                     {UDP_WAY_GATEWAY, 1000}, {UDP_WAY_GATEWAY, 0},
                     {UDP_WAY_NONE, 100000}};
    uint64_t last = 0;
    size_t   i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct udp_device device = {.speed_mbits = rows[i].speed_mbits};
        struct udp_way    way    = {.kind = rows[i].kind};
        uint64_t          rank   = udp_route_rank(&device, &way);

        ck_assert_msg((i == 0) || (rank > last), "row %zu", i);
        last = rank;
    }
}

/* ----------------------------------------------- a host as they really are */

static const char *const host_commands =
    "ip link add good type veth peer name g1 && "
    "ip link add docker0 type veth peer name d1 && "
    "ip link add auto0 type veth peer name a1 && "
    "ip link add hole0 type veth peer name h1 && "
    "ip link add down0 type veth peer name n1 && "
    "ip link add six0 type veth peer name s1 && "
    "for i in good g1 docker0 d1 auto0 a1 hole0 h1 six0 s1; do "
    "ip link set $i up || exit 1; done && "
    "ip addr add 10.1.0.1/24 dev good && "
    "ip addr add 172.17.0.1/16 dev docker0 && "
    "ip addr add 169.254.7.1/16 dev auto0 && "
    "ip addr add 10.3.0.1/24 dev hole0 && "
    "ip addr add 10.4.0.1/24 dev down0 && "
    "ip addr add fd05::1/64 dev six0 nodad && "
    "ip route add 10.9.0.0/16 via 10.1.0.254 mtu 1400 && "
    "ip route add blackhole 10.3.0.2/32";

/* Where the other host says it is, device by device. */
static const char *const peer_addresses[] = {
    "127.0.0.1", "172.17.0.1", "169.254.7.2", "10.3.0.2",
    "10.4.0.2",  "10.1.0.2",   "10.9.0.2",    "fd05::2"};

struct pair_row {
    const char *device, *peer;
};

static const struct pair_row reached[] = {
    {"good", "10.1.0.2"}, {"good", "10.9.0.2"}, {"six0", "fd05::2"}};

static bool is_reached(const char *device, const char *peer)
{
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(reached); ++i) {
        if ((strcmp(reached[i].device, device) == 0) &&
            (strcmp(reached[i].peer, peer) == 0)) {
            return true;
        }
    }
    return false;
}

/* What must be said of a device and a peer that look as if they could. */
static const struct {
    const char *device, *peer, *why;
} words[] = {
    {"lo", "127.0.0.1", "only this host"},
    {"docker0", "172.17.0.1", "of this host too"},
    {"hole0", "10.3.0.2", "drops everything"},
    {"hole0", "10.1.0.2", "by good, not by hole0"},
    {"good", "10.4.0.2", "no route"},
    {"six0", "10.1.0.2", "IPv6"},
    {"good", "169.254.7.2", "link-local"},
};

static void check_words(const struct udp_device *device, const char *peer,
                        const char *reason)
{
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(words); ++i) {
        if ((strcmp(words[i].device, device->name) == 0) &&
            (strcmp(words[i].peer, peer) == 0)) {
            ck_assert_msg(strstr(reason, words[i].why) != NULL, "%s %s: %s",
                          device->name, peer, reason);
        }
    }
}

static void check_device(const struct udp_device *device)
{
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(peer_addresses); ++i) {
        struct udp_route_peer peer = {.is_here = false};
        struct udp_way        way;
        char                  reason[UCT_REASON_BYTES_MAX] = "";
        ucs_status_t          status;

        peer.address = parse(peer_addresses[i]);
        status       = udp_route_reach(device, &peer, &way, reason);
        ck_assert_msg((status == UCS_OK) ==
                          is_reached(device->name, peer_addresses[i]),
                      "%s %s: %s", device->name, peer_addresses[i], reason);
        if (status != UCS_OK) {
            ck_assert_int_eq(status, UCS_ERR_UNREACHABLE);
            ck_assert_str_ne(reason, "");
            check_words(device, peer_addresses[i], reason);
        }
    }
}

static void udp_route_reach__one_good_among_bad(const struct test_param *param)
{
    struct ucs_netif_list list;
    unsigned              devices = 0;
    unsigned              i;

    (void)param;
    test_netns();
    test_netns_run(host_commands);
    ck_assert_int_eq(ucsi_netif_list_init(&list), UCS_OK);
    for (i = 0; i < list.count; ++i) {
        struct udp_device device;

        udp_device_judge(&list.netifs[i], NULL, &device);
        if (strcmp(device.name, "auto0") == 0) {
            ck_assert_int_eq(device.status, UCS_ERR_INVALID_ADDR);
        } else if (strcmp(device.name, "down0") == 0) {
            ck_assert_int_eq(device.status, UCS_ERR_NO_DEVICE);
        } else if (device.status == UCS_OK) {
            ++devices;
            check_device(&device);
        }
    }
    ck_assert_uint_eq(devices, 5); /* lo, good, docker0, hole0, six0 */
    ucsi_netif_list_cleanup(&list);
}

static void udp_route_reach__peer_on_this_host(const struct test_param *param)
{
    struct udp_device     device = {.name = "lo", .is_loopback = true};
    struct udp_route_peer peer   = {.is_here = true};
    struct udp_way        way;
    char                  reason[UCT_REASON_BYTES_MAX] = "";

    (void)param;
    device.local = parse("127.0.0.1");
    peer.address = parse("127.0.0.1");
    ck_assert_int_eq(udp_route_reach(&device, &peer, &way, reason), UCS_OK);
    ck_assert_int_eq(way.kind, UDP_WAY_HERE);
}

static const struct test_case cases[] = {
    TEST(udp_route_check__needs_no_kernel),
    TEST(udp_route_judge__every_way),
    TEST(udp_route_rank__order),
    TEST(udp_route_reach__one_good_among_bad),
    TEST(udp_route_reach__peer_on_this_host),
    {0},
};

const struct test_suite udp_route_suite = {"udp_route", cases, NULL, NULL,
                                           NULL};
