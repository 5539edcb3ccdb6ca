/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/netif.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/suites.h"

static struct ucs_netif_list list;

static void setup(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(ucsi_netif_list_init(&list), UCS_OK);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    ucsi_netif_list_cleanup(&list);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_ptr_null(ucsi_netif_find(&list, "lo"));
}

static void netif_list__loopback(const struct test_param *param)
{
    const struct ucs_netif *lo = ucsi_netif_find(&list, "lo");
    struct ucs_sockaddr     address;
    unsigned                i;

    (void)param;
    if (lo == NULL) {
        test_skip("this host has no lo");
    }
    ck_assert(lo->is_loopback);
    ck_assert(lo->is_virtual);
    ck_assert_uint_eq(lo->index, if_nametoindex("lo"));
    ck_assert_uint_ge(lo->mtu_bytes, 1280);
    if (!lo->is_up) {
        test_skip("lo is down");
    }
    ck_assert_int_eq(ucsi_sockaddr_parse("127.0.0.1:777", 0, &address), UCS_OK);
    ck_assert_ptr_eq(ucsi_netif_find_address(&list, &address), lo);
    for (i = 0; i < lo->address_count; ++i) {
        if (ntohl(lo->addresses[i].address.inet.sin_addr.s_addr) ==
            INADDR_LOOPBACK) {
            ck_assert_uint_eq(lo->addresses[i].prefix_bits, 8);
        }
    }
    ck_assert_int_eq(ucsi_sockaddr_parse("192.0.2.77", 0, &address), UCS_OK);
    ck_assert_ptr_null(ucsi_netif_find_address(&list, &address));
    ck_assert_ptr_null(ucsi_netif_find(&list, "nonesuch"));
    ck_assert_ptr_null(ucsi_netif_find(&list, ""));
}

/* The same interfaces, in the same order, as if_nameindex(3) has. */
static void netif_list__is_that_of_the_kernel(const struct test_param *param)
{
    struct if_nameindex *kernel = if_nameindex();
    unsigned             i;

    (void)param;
    ck_assert_ptr_nonnull(kernel);
    for (i = 0; kernel[i].if_index != 0; ++i) {
        const struct ucs_netif *netif =
            ucsi_netif_find(&list, kernel[i].if_name);

        ck_assert_msg(netif != NULL, "%s", kernel[i].if_name);
        ck_assert_uint_eq(netif->index, kernel[i].if_index);
    }
    ck_assert_uint_eq(list.count, i);
    for (i = 1; i < list.count; ++i) {
        ck_assert_uint_lt(list.netifs[i - 1].index, list.netifs[i].index);
    }
    if_freenameindex(kernel);
}

/* mtu and speed against what sysfs says. */
static void netif_list__agrees_with_sysfs(const struct test_param *param)
{
    unsigned i;
    unsigned checked_count = 0;

    (void)param;
    for (i = 0; i < list.count; ++i) {
        const struct ucs_netif *netif = &list.netifs[i];
        char                    path[128];
        FILE                   *file;
        unsigned                mtu;

        (void)snprintf(path, sizeof(path), "/sys/class/net/%s/mtu",
                       netif->name);
        file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        ck_assert_int_eq(fscanf(file, "%u", &mtu), 1);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_uint_eq(netif->mtu_bytes, mtu);
        ck_assert_uint_lt(netif->speed_mbits, UINT32_MAX); /* never -1 */
        ++checked_count;
    }
    if (checked_count == 0) {
        test_skip("no sysfs here");
    }
}

static const struct test_case cases[] = {
    TEST(netif_list__loopback),
    TEST(netif_list__is_that_of_the_kernel),
    TEST(netif_list__agrees_with_sysfs),
    {0},
};

const struct test_suite netif_suite = {"netif", cases, NULL, setup, teardown};
