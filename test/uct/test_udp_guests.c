/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_guests.c - whoever has the secret makes so many connections from an
 * address, and no more. */
#include "ucs/bytes.h"
#include "uct/suites.h"
#include "uct/udp_fixtures.h"

static struct wild *const      wild = &fixture_wild;
static struct wild_host *const host = &fixture_wild.hosts[1];

/* One more connection, under a new name; it is refused, or has been made. */
static void connect_once_more(void)
{
    uint64_t count =
        wild_conn_count(host) + wild_count(host, UDP_COUNT_REFUSED);
    struct udp_hello hello = wild_random_hello();

    wild_shake_hands(wild, host, &hello);
    while (wild_conn_count(host) + wild_count(host, UDP_COUNT_REFUSED) ==
           count) {
        wild_progress(wild);
    }
}

/* As often as an address may, under as many names as he likes; another address
 * is not touched by it, and what ends makes room. */
static void insider__connects_and_connects(const struct test_param *param)
{
    const struct ucs_sockaddr other = {
        .inet       = {.sin_family = AF_INET,
                       .sin_addr   = {htonl(INADDR_LOOPBACK + 1)}},
        .size_bytes = sizeof(struct sockaddr_in)};
    struct udp_iface *iface = wild_iface(host);
    struct udp_conn   guest = {.env = NULL};
    unsigned          index;

    (void)param;
    iface->options.conns_per_address = 3;
    for (index = 0; index < 5; ++index) {
        connect_once_more();
    }
    ck_assert_uint_eq(wild_conn_count(host), 3);
    ck_assert_uint_eq(wild_count(host, UDP_COUNT_REFUSED), 2);
    ck_assert(udp_guests_enter(iface, &guest, &other));
    ck_assert_uint_eq(iface->guests.count, 2);
    udp_guests_leave(iface, &guest);
    udp_guests_leave(iface, &guest); /* once */
    ck_assert_uint_eq(iface->guests.count, 1);
    udp_conn_fail(ucs_list_first(&iface->all, struct udp_conn, link),
                  UCS_ERR_CANCELED);
    while (wild_conn_count(host) > 2) {
        wild_progress(wild);
    }
    connect_once_more();
    ck_assert_uint_eq(wild_conn_count(host), 3);
    while (wild_conn_count(host) > 0) {
        udp_conn_fail(ucs_list_first(&iface->all, struct udp_conn, link),
                      UCS_ERR_CANCELED);
        wild_progress(wild);
    }
    ck_assert_uint_eq(iface->guests.count, 0);
}

static const struct test_case cases[] = {TEST(insider__connects_and_connects),
                                         {0}};

const struct test_suite udp_guests_suite = {.name     = "udp_guests",
                                            .cases    = cases,
                                            .setup    = fixture_wild_open,
                                            .teardown = fixture_wild_close};
