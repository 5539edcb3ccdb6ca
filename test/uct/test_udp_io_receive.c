/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_io_receive.c - what came, from whom, in one piece or several. */
#include "uct/udp/udp_io.h"

#include <netinet/in.h>
#include <string.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

/* A socket that is not ours, on the same address. */
static int open_other(const struct udp_io_params *params,
                      struct ucs_sockaddr        *address_p)
{
    int fd;

    ck_assert_int_eq(
        ucsi_socket_open(params->local.base.sa_family, SOCK_DGRAM, &fd),
        UCS_OK);
    ck_assert_int_eq(ucsi_socket_bind(fd, &params->local), UCS_OK);
    ck_assert_int_eq(ucsi_socket_own_address(fd, address_p), UCS_OK);
    return fd;
}

static void other_sends(int fd, const struct udp_end *to,
                        enum udp_channel channel, const void *bytes,
                        size_t length)
{
    const struct ucs_sockaddr *address = &to->attr.addresses[channel];

    ck_assert_int_eq(
        sendto(fd, bytes, length, 0, &address->base, address->size_bytes),
        (ssize_t)length);
}

static void udp_io_receive__who_and_what(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       end;
    struct ucs_sockaddr  other;
    struct udp_in        in;
    enum udp_channel     channel;
    int                  fd = open_other(&params, &other);

    udp_end_open(&end, &params);
    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        ck_assert_uint_eq(udp_io_receive(end.io, channel, &in, 1), 0);
        ck_assert_uint_eq(udp_io_receive(end.io, channel, &in, 0), 0);
        other_sends(fd, &end, channel, "hello", 5);
        ck_assert_uint_eq(udp_end_receive(&end, channel, &in, 1), 1);
        ck_assert_uint_eq(in.length, 5);
        ck_assert_uint_eq(in.segment_bytes, 5);
        ck_assert_mem_eq(in.data, "hello", 5);
        ck_assert_uint_eq((uintptr_t)in.data % 8, 0);
        ck_assert_int_eq(ucsi_sockaddr_compare(in.from, &other), 0);
        ck_assert_uint_eq(in.from->size_bytes, other.size_bytes);
        ck_assert(!in.congestion_marked);
        /* Nothing is still something. */
        other_sends(fd, &end, channel, "", 0);
        ck_assert_uint_eq(udp_end_receive(&end, channel, &in, 1), 1);
        ck_assert_uint_eq(in.length, 0);
        ck_assert_uint_eq(in.segment_bytes, 0);
    }
    ucsi_fd_close(&fd);
    udp_end_close(&end);
}

/* The first call takes one, those after it many; all keep their bytes until
 * the next call. */
static void udp_io_receive__many_at_once(const struct test_param *param)
{
    enum { COUNT = 3 * UDP_IO_RECEIVE_COUNT_MAX };
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       end;
    struct ucs_sockaddr  other;
    struct udp_in        in[COUNT];
    unsigned             next  = 0;
    unsigned             calls = 0;
    int                  fd    = open_other(&params, &other);

    udp_end_open(&end, &params);
    for (next = 0; next < COUNT; ++next) {
        other_sends(fd, &end, UDP_PRIORITY, &(uint8_t){(uint8_t)next}, 1);
    }
    for (next = 0; next < COUNT; ++calls) {
        unsigned count = udp_end_receive(&end, UDP_PRIORITY, in, COUNT);
        unsigned i;

        ck_assert_uint_le(count, UDP_IO_RECEIVE_COUNT_MAX);
        for (i = 0; i < count; ++i, ++next) {
            ck_assert_uint_eq(in[i].length, 1);
            ck_assert_uint_eq(in[i].data[0], next);
            ck_assert_uint_eq((uintptr_t)in[i].data % 8, 0);
            ck_assert_int_eq(ucsi_sockaddr_compare(in[i].from, &other), 0);
        }
    }
    ck_assert_uint_le(calls, 5);
    ck_assert_uint_eq(udp_io_receive(end.io, UDP_PRIORITY, in, COUNT), 0);
    ucsi_fd_close(&fd);
    udp_end_close(&end);
}

static void udp_io_receive__joined_by_the_kernel(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    uint8_t              bytes[10000];
    struct iovec         part = {bytes, sizeof(bytes)};
    struct udp_end       ends[2];
    struct udp_out       out = {.channel       = UDP_DATA,
                                .iov           = &part,
                                .iov_count     = 1,
                                .segment_bytes = 1300};
    struct udp_in        in;

    memset(bytes, 7, sizeof(bytes));
    udp_stage_open(ends, &params);
    if (!ends[0].attr.send_segments || !ends[1].attr.receive_segments) {
        test_skip("no UDP_SEGMENT or UDP_GRO in this kernel");
    }
    out.to = &ends[1].attr.addresses[UDP_DATA];
    udp_end_send(&ends[0], &out);
    ck_assert_uint_eq(udp_end_receive(&ends[1], UDP_DATA, &in, 1), 1);
    ck_assert_uint_eq(in.length, sizeof(bytes));
    ck_assert_uint_eq(in.segment_bytes, 1300);
    ck_assert_mem_eq(in.data, bytes, sizeof(bytes));
    ck_assert(!in.congestion_marked);
    /* What one packet said is not said of the next. */
    part.iov_len = 9;
    udp_end_send(&ends[0], &out);
    ck_assert_uint_eq(udp_end_receive(&ends[1], UDP_DATA, &in, 1), 1);
    ck_assert_uint_eq(in.segment_bytes, 9);
    udp_stage_close(ends);
}

static void set_traffic_class(int fd, int family, int value)
{
    int level  = (family == AF_INET) ? IPPROTO_IP : IPPROTO_IPV6;
    int option = (family == AF_INET) ? IP_TOS : IPV6_TCLASS;

    ck_assert_int_eq(setsockopt(fd, level, option, &value, sizeof(value)), 0);
}

static void udp_io_receive__mark_of_congestion(const struct test_param *param)
{
    /* DSCP bits above it do not matter. */
    static const int     classes[] = {0, 1, 2, 3, 0xb8, 0xbb, 0xba};
    struct udp_io_params params    = udp_stage_params(param->value);
    int                  family    = params.local.base.sa_family;
    struct udp_end       end;
    struct ucs_sockaddr  other;
    struct udp_in        in;
    size_t               i;
    int                  fd = open_other(&params, &other);

    udp_end_open(&end, &params);
    for (i = 0; i < UCS_ARRAY_COUNT(classes); ++i) {
        set_traffic_class(fd, family, classes[i]);
        other_sends(fd, &end, UDP_DATA, "x", 1);
        ck_assert_uint_eq(udp_end_receive(&end, UDP_DATA, &in, 1), 1);
        ck_assert_int_eq(in.congestion_marked, (classes[i] & 3) == 3);
        other_sends(fd, &end, UDP_PRIORITY, "x", 1);
        ck_assert_uint_eq(udp_end_receive(&end, UDP_PRIORITY, &in, 1), 1);
        ck_assert(!in.congestion_marked);
    }
    ucsi_fd_close(&fd);
    udp_end_close(&end);
}

/* A hint alone wakes, once: a sleeper must not spin on it. */
static void udp_io_next_hint__wakes_a_sleeper(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct iovec         byte   = {(void *)(uintptr_t) "x", 1};
    struct udp_end       end;
    struct udp_end       gone;
    struct udp_in        in;
    struct udp_hint      hint;
    struct udp_out       out = {.channel   = UDP_DATA,
                                .to        = &gone.attr.addresses[UDP_DATA],
                                .iov       = &byte,
                                .iov_count = 1};

    udp_end_open(&end, &params);
    udp_end_open(&gone, &params);
    udp_end_close(&gone);
    ck_assert(!udp_io_next_hint(end.io, &hint));
    udp_end_send(&end, &out);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, false), UCS_ERR_BUSY);
    ck_assert(udp_io_next_hint(end.io, &hint));
    ck_assert_int_eq(hint.status, UCS_ERR_REJECTED);
    ck_assert(!udp_io_next_hint(end.io, &hint));
    ck_assert_uint_eq(udp_io_receive(end.io, UDP_DATA, &in, 1), 0);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, false), UCS_OK);
    udp_end_close(&end);
}

struct scoped {
    struct udp_end ends[2];
    struct udp_in  in;
};

/* A link that has just come up may lose a packet: once more, then. */
static bool scoped_arrives(void *arg)
{
    struct scoped *scoped = arg;
    struct iovec   byte   = {(void *)(uintptr_t) "x", 1};
    struct udp_out out = {.to  = &scoped->ends[1].attr.addresses[UDP_PRIORITY],
                          .iov = &byte,
                          .iov_count = 1};

    udp_end_send(&scoped->ends[0], &out);
    return udp_io_receive(scoped->ends[1].io, UDP_PRIORITY, &scoped->in, 1) ==
           1;
}

/* Addresses that mean something on one device only. */
static void udp_io_receive__link_local(const struct test_param *param)
{
    struct udp_io_params params;
    struct scoped        scoped;
    struct udp_in       *in = &scoped.in;

    if (strcmp(param->name, "ipv6") != 0) {
        test_skip("only IPv6 has scopes");
    }
    test_netns();
    test_netns_run("ip link add v0 type veth peer name v1 && "
                   "ip link set v0 up && ip link set v1 up && "
                   "ip addr add fe80::77/64 dev v0 nodad");
    params = udp_stage_params("fe80::77%v0");
    udp_stage_open(scoped.ends, &params);
    ck_assert(test_wait_until(scoped_arrives, &scoped, 10));
    ck_assert_int_eq(
        ucsi_sockaddr_compare(in->from,
                              &scoped.ends[0].attr.addresses[UDP_PRIORITY]),
        0);
    ck_assert_uint_ne(in->from->inet6.sin6_scope_id, 0);
    udp_stage_close(scoped.ends);
}

static const struct test_case cases[] = {
    TEST(udp_io_receive__who_and_what),
    TEST(udp_io_receive__many_at_once),
    TEST(udp_io_receive__joined_by_the_kernel),
    TEST(udp_io_receive__mark_of_congestion),
    TEST(udp_io_next_hint__wakes_a_sleeper),
    TEST(udp_io_receive__link_local),
    {0},
};

const struct test_suite udp_io_receive_suite = {"udp_io_receive", cases,
                                                udp_stage_families, NULL, NULL};
