/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_devices.c - interfaces by table: which is a device, with which
 * address, and the words for the others. */
#include "uct/udp/udp_devices.h"

#include <stdio.h>
#include <string.h>

#include "uct/suites.h"

static struct ucs_netif make_netif(const char *name, const char *addresses)
{
    struct ucs_netif netif = {
        .index = 7, .mtu_bytes = 1500, .speed_mbits = 100, .is_up = true};
    char  copy[256];
    char *save = NULL;
    char *word;

    (void)snprintf(netif.name, sizeof(netif.name), "%s", name);
    netif.is_loopback = strcmp(name, "lo") == 0;
    (void)snprintf(copy, sizeof(copy), "%s", addresses);
    for (word = strtok_r(copy, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save)) {
        struct ucs_netif_address *slot =
            &netif.addresses[netif.address_count++];

        ck_assert_int_eq(ucsi_sockaddr_parse(word, 0, &slot->address), UCS_OK);
        slot->prefix_bits = 24;
    }
    return netif;
}

static void udp_address_is_link_local__edges(const struct test_param *param)
{
    static const struct {
        const char *text;
        bool        is;
    } rows[] = {{"169.254.0.0", true},
                {"169.254.255.255", true},
                {"169.253.1.1", false},
                {"169.255.0.0", false},
                {"127.0.0.1", false},
                {"10.0.0.1", false},
                {"fe80::1", true},
                {"febf::1", true},
                {"fec0::1", false},
                {"fe7f::1", false},
                {"::1", false},
                {"fd00::1", false},
                {"::ffff:169.254.1.1", false}};
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucs_sockaddr address;

        ck_assert_int_eq(ucsi_sockaddr_parse(rows[i].text, 0, &address),
                         UCS_OK);
        ck_assert_msg(udp_address_is_link_local(&address) == rows[i].is, "%s",
                      rows[i].text);
    }
}

static void udp_device_judge__best_address(const struct test_param *param)
{
    static const struct {
        const char *addresses, *best;
    } rows[] = {
        {"10.0.0.1", "10.0.0.1"},
        {"fe80::1 10.0.0.1", "10.0.0.1"},
        {"fd00::1 10.0.0.1 10.0.0.2", "10.0.0.1"},
        {"fe80::1 fd00::1", "fd00::1"},
        {"169.254.1.1 fd00::1", "fd00::1"},
        {"169.254.1.1 2001:db8::1 fe80::1", "2001:db8::1"},
        {"169.254.1.1 192.168.1.1", "192.168.1.1"},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucs_netif  netif = make_netif("eth0", rows[i].addresses);
        struct udp_device device;
        char              text[UCS_SOCKADDR_TEXT_BYTES_MAX];

        udp_device_judge(&netif, NULL, &device);
        ck_assert_int_eq(device.status, UCS_OK);
        (void)snprintf(text, sizeof(text), "%s", rows[i].best);
        ck_assert_int_eq(
            ucsi_sockaddr_parse(text, 0, &netif.addresses[0].address), UCS_OK);
        ck_assert_msg(ucsi_sockaddr_compare(&device.local,
                                            &netif.addresses[0].address) == 0,
                      "%s", rows[i].addresses);
        ck_assert(!device.is_link_local);
        ck_assert_str_eq(device.reason, "");
        ck_assert_str_eq(device.name, "eth0");
        ck_assert_uint_eq(device.index, 7);
        ck_assert_uint_eq(device.prefix_bits, 24);
        ck_assert_uint_eq(device.mtu_bytes, 1500);
        ck_assert_uint_eq(device.speed_mbits, 100);
    }
}

static void udp_device_judge__refusals(const struct test_param *param)
{
    char                  *eth0[] = {(char *)(uintptr_t) "eth0"};
    struct ucs_config_list named  = {.names = eth0, .count = 1};
    struct ucs_netif       netif  = make_netif("eth0", "10.0.0.1");
    struct udp_device      device;

    (void)param;
    netif.is_up = false;
    udp_device_judge(&netif, NULL, &device);
    ck_assert_int_eq(device.status, UCS_ERR_NO_DEVICE);
    ck_assert_ptr_nonnull(strstr(device.reason, "down"));

    netif = make_netif("eth0", "");
    udp_device_judge(&netif, NULL, &device);
    ck_assert_int_eq(device.status, UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_nonnull(strstr(device.reason, "neither"));

    /* Link-local ones are used by who knows what is on that link. */
    netif = make_netif("eth0", "169.254.3.4 fe80::1");
    udp_device_judge(&netif, NULL, &device);
    ck_assert_int_eq(device.status, UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_nonnull(strstr(device.reason, "UCX_NET_DEVICES"));
    ck_assert(device.is_link_local);
    udp_device_judge(&netif, &named, &device);
    ck_assert_int_eq(device.status, UCS_OK);
    ck_assert_int_eq(device.local.base.sa_family, AF_INET6);
    ck_assert(device.is_named);

    /* Naming makes no dead one alive. */
    netif.is_up = false;
    udp_device_judge(&netif, &named, &device);
    ck_assert_int_eq(device.status, UCS_ERR_NO_DEVICE);
}

struct wanted_row {
    const char *names[3];
    bool        is_excluded;
    bool        eth0, eth1, lo;
};

static void udp_device_judge__setting(const struct test_param *param)
{
    static const struct wanted_row rows[] = {
        {{NULL}, false, true, true, true},
        {{"all"}, false, true, true, true},
        {{"eth0"}, false, true, false, false},
        {{"eth1", "eth0"}, false, true, true, false},
        {{"eth"}, false, false, false, false},
        {{"eth0"}, true, false, true, true},
        {{"lo", "eth1"}, true, true, false, false},
        {{"nosuch"}, true, true, true, true},
        {{"all", "eth0"}, false, true, false, false},
    };
    static const char *const names[] = {"eth0", "eth1", "lo"};
    size_t                   row, i;

    (void)param;
    for (row = 0; row < UCS_ARRAY_COUNT(rows); ++row) {
        const bool expected[] = {rows[row].eth0, rows[row].eth1, rows[row].lo};
        char      *words[3];
        struct ucs_config_list wanted = {.names       = words,
                                         .is_excluded = rows[row].is_excluded};

        for (i = 0; (i < 3) && (rows[row].names[i] != NULL); ++i) {
            words[i] = (char *)(uintptr_t)rows[row].names[i];
            ++wanted.count;
        }
        for (i = 0; i < 3; ++i) {
            struct ucs_netif  netif = make_netif(names[i], "10.0.0.1");
            struct udp_device device;

            udp_device_judge(&netif, &wanted, &device);
            ck_assert_msg((device.status == UCS_OK) == expected[i],
                          "row %zu %s", row, names[i]);
            if (!expected[i]) {
                ck_assert_str_eq(device.reason, "not in UCX_NET_DEVICES");
            }
        }
    }
}

static void udp_devices_unknown__names_each(const struct test_param *param)
{
    struct ucs_netif      netif  = make_netif("eth0", "10.0.0.1");
    struct ucs_netif_list netifs = {&netif, 1};
    char *words[] = {(char *)(uintptr_t) "eht0", (char *)(uintptr_t) "eth0",
                     (char *)(uintptr_t) "ib0"};
    struct ucs_config_list wanted   = {.names = words, .count = 3};
    unsigned               position = 0;

    (void)param;
    ck_assert_str_eq(udp_devices_unknown(&netifs, &wanted, &position), "eht0");
    ck_assert_str_eq(udp_devices_unknown(&netifs, &wanted, &position), "ib0");
    ck_assert_ptr_null(udp_devices_unknown(&netifs, &wanted, &position));
    position = 0;
    ck_assert_ptr_null(udp_devices_unknown(&netifs, NULL, &position));
    words[0]     = (char *)(uintptr_t) "all";
    wanted.count = 1;
    ck_assert_ptr_null(udp_devices_unknown(&netifs, &wanted, &position));
}

static void udp_device_judge_other__needs_both(const struct test_param *param)
{
    static const struct {
        const char *addresses;
        const char *other; /* NULL: one side is enough */
    } rows[] = {{"10.0.0.1 fd00::1", "fd00::1"},
                {"fe80::1 fd00::1 10.0.0.1", "fd00::1"},
                {"10.0.0.1", NULL},
                {"fd00::1", NULL},
                {"10.0.0.1 fe80::1", NULL},
                {"169.254.1.1 fd00::1", NULL},
                {"", NULL}};
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucs_netif  netif = make_netif("eth0", rows[i].addresses);
        struct udp_device device;
        bool              is = udp_device_judge_other(&netif, NULL, &device);

        ck_assert_msg(is == (rows[i].other != NULL), "%s", rows[i].addresses);
        if (is) {
            ck_assert_str_eq(device.name, "eth0/ipv6");
            ck_assert_int_eq(device.status, UCS_OK);
            ck_assert_int_eq(device.local.base.sa_family, AF_INET6);
        }
    }
}

/* eth0 down, lo, a slow and a fast one, the fast one with both families. */
static void udp_devices_judge__best_first(const struct test_param *param)
{
    static const char *const order[] = {"lo", "eth2", "eth2/ipv6", "eth1",
                                        "eth0"};
    struct ucs_netif         list[]  = {
                 make_netif("eth0", "10.0.0.1"), make_netif("lo", "127.0.0.1 ::1"),
                 make_netif("eth1", "10.0.1.1"), make_netif("eth2", "10.0.2.1 fd00::1")};
    struct ucs_netif_list netifs = {list, UCS_ARRAY_COUNT(list)};
    struct udp_device     devices[2 * UCS_ARRAY_COUNT(list)];
    unsigned              i;

    (void)param;
    list[0].is_up       = false;
    list[3].speed_mbits = 100000;
    ck_assert_uint_eq(udp_devices_judge(&netifs, NULL, devices),
                      UCS_ARRAY_COUNT(order));
    for (i = 0; i < UCS_ARRAY_COUNT(order); ++i) {
        ck_assert_str_eq(devices[i].name, order[i]);
        ck_assert((devices[i].status == UCS_OK) ==
                  (i + 1 < UCS_ARRAY_COUNT(order)));
    }
}

static void udp_devices_find__each_side(const struct test_param *param)
{
    char                  *words[] = {(char *)(uintptr_t) "eth0/ipv6"};
    struct ucs_config_list wanted  = {.names = words, .count = 1};
    struct ucs_netif       netif   = make_netif("eth0", "10.0.0.1 fd00::1");
    struct ucs_netif_list  netifs  = {&netif, 1};
    struct udp_device      device;
    unsigned               position = 0;

    (void)param;
    ck_assert_int_eq(udp_devices_find(&netifs, &wanted, "eth0", &device),
                     UCS_OK);
    ck_assert_int_eq(device.status, UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(udp_devices_find(&netifs, &wanted, "eth0/ipv6", &device),
                     UCS_OK);
    ck_assert_int_eq(device.status, UCS_OK);
    ck_assert_int_eq(udp_devices_find(&netifs, &wanted, "eth1", &device),
                     UCS_ERR_NO_DEVICE);
    ck_assert_ptr_null(udp_devices_unknown(&netifs, &wanted, &position));
    /* The interface means both sides. */
    words[0] = (char *)(uintptr_t) "eth0";
    ck_assert_int_eq(udp_devices_find(&netifs, &wanted, "eth0/ipv6", &device),
                     UCS_OK);
    ck_assert_int_eq(device.status, UCS_OK);
}

static const struct test_case cases[] = {
    TEST(udp_address_is_link_local__edges),
    TEST(udp_device_judge__best_address),
    TEST(udp_device_judge__refusals),
    TEST(udp_device_judge__setting),
    TEST(udp_device_judge_other__needs_both),
    TEST(udp_devices_judge__best_first),
    TEST(udp_devices_find__each_side),
    TEST(udp_devices_unknown__names_each),
    {0},
};

const struct test_suite udp_devices_suite = {"udp_devices", cases, NULL, NULL,
                                             NULL};
