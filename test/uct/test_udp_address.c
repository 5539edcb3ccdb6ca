/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_address.c - addresses come back; nonsense is refused. */
#include "uct/udp/udp_address.h"

#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uct/suites.h"

static void make(struct udp_address *address, const char *host)
{
    memset(address, 0, sizeof(*address));
    ck_assert_int_eq(
        ucsi_sockaddr_parse(host, 0, &address->channels[UDP_PRIORITY]), UCS_OK);
    address->channels[UDP_DATA] = address->channels[UDP_PRIORITY];
    ucsi_sockaddr_set_port(&address->channels[UDP_PRIORITY], 1111);
    ucsi_sockaddr_set_port(&address->channels[UDP_DATA], 2222);
    address->host_id       = ~1ull;
    address->incarnation   = ~2ull;
    address->secret.key[0] = ~3ull;
    address->secret.key[1] = ~4ull;
    address->prefix_bits   = 24;
    address->ciphers       = 3;
}

static void code__both_families_come_back(const struct test_param *param)
{
    static const char *const hosts[] = {"10.1.2.3", "fd00::1234"};
    uint8_t                  bytes[UDP_ADDRESS_BYTES];
    struct udp_address       in, out;
    unsigned                 index;

    (void)param;
    for (index = 0; index < 2; ++index) {
        make(&in, hosts[index]);
        udp_address_encode(&in, bytes);
        ck_assert_int_eq(udp_address_decode(bytes, sizeof(bytes), &out),
                         UCS_OK);
        ck_assert_int_eq(
            ucsi_sockaddr_compare(&in.channels[0], &out.channels[0]), 0);
        ck_assert_int_eq(
            ucsi_sockaddr_compare(&in.channels[1], &out.channels[1]), 0);
        ck_assert_uint_eq(out.incarnation, in.incarnation);
        ck_assert_uint_eq(out.host_id, in.host_id);
        ck_assert_mem_eq(&out.secret, &in.secret, sizeof(in.secret));
        ck_assert_uint_eq(out.prefix_bits, 24);
        ck_assert_uint_eq(out.ciphers, 3);
    }
}

static void code__nonsense_is_refused(const struct test_param *param)
{
    uint8_t            bytes[UDP_ADDRESS_BYTES + 1] = {0};
    struct udp_address in, out;
    size_t             length;

    (void)param;
    make(&in, "10.1.2.3");
    udp_address_encode(&in, bytes);
    for (length = 0; length < UDP_ADDRESS_BYTES; ++length) {
        ck_assert_int_eq(udp_address_decode(bytes, length, &out),
                         UCS_ERR_INVALID_ADDR);
    }
    ck_assert_int_eq(udp_address_decode(bytes, sizeof(bytes), &out),
                     UCS_ERR_INVALID_ADDR);
    bytes[1] = 5; /* no such family */
    ck_assert_int_eq(udp_address_decode(bytes, UDP_ADDRESS_BYTES, &out),
                     UCS_ERR_INVALID_ADDR);
    bytes[1] = 4;
    bytes[4] = bytes[5] = 0; /* no port */
    ck_assert_int_eq(udp_address_decode(bytes, UDP_ADDRESS_BYTES, &out),
                     UCS_ERR_INVALID_ADDR);
}

static void loopback__of_both_families(const struct test_param *param)
{
    struct udp_address address;

    (void)param;
    make(&address, "127.3.2.1");
    ck_assert(udp_address_is_loopback(&address.channels[0]));
    make(&address, "::1");
    ck_assert(udp_address_is_loopback(&address.channels[0]));
    make(&address, "128.0.0.1");
    ck_assert(!udp_address_is_loopback(&address.channels[0]));
}

static void host__is_the_same_twice(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(udp_address_host_id(), udp_address_host_id());
}

/* The id of a network of its own, which lives until [stay] is closed. */
static void own_network(int said, int stay)
{
    uint64_t id = (unshare(CLONE_NEWNET) == 0) ? udp_address_host_id() : 0;
    char     byte;

    if (write(said, &id, sizeof(id)) == sizeof(id)) {
        (void)read(stay, &byte, 1);
    }
    _exit(0);
}

/* Their numbers differ little: each bit of them has to count. */
static void host__differs_in_each_network(const struct test_param *param)
{
    enum { NETWORK_COUNT = 12 };
    uint64_t ids[NETWORK_COUNT + 1];
    int      said[2], stay[2], i, k;

    (void)param;
    ck_assert_int_eq(pipe(said), 0);
    ck_assert_int_eq(pipe(stay), 0);
    ids[NETWORK_COUNT] = udp_address_host_id();
    for (i = 0; i < NETWORK_COUNT; ++i) {
        if (fork() == 0) {
            (void)close(stay[1]);
            own_network(said[1], stay[0]);
        }
        ck_assert_int_eq(read(said[0], &ids[i], sizeof(ids[i])),
                         sizeof(ids[i]));
    }
    (void)close(stay[1]);
    while (wait(NULL) > 0) {
    }
    (void)close(stay[0]);
    (void)close(said[0]);
    (void)close(said[1]);
    if (ids[0] == 0) {
        test_skip("no right to make network namespaces");
    }
    for (i = 0; i < NETWORK_COUNT; ++i) {
        for (k = i + 1; k <= NETWORK_COUNT; ++k) {
            ck_assert_uint_ne(ids[i], ids[k]);
        }
    }
}

static const struct test_case cases[] = {
    TEST(code__both_families_come_back), TEST(code__nonsense_is_refused),
    TEST(loopback__of_both_families),    TEST(host__is_the_same_twice),
    TEST(host__differs_in_each_network), {0}};

const struct test_suite udp_address_suite = {.name  = "udp_address",
                                             .cases = cases};
