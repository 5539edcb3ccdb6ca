/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_io_send.c - the three ways out, and each reason not to go. What the
 * loopback device never does happens in a network namespace. */
#include "uct/udp/udp_io.h"

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

static void udp_io_send__one_of_any_size(const struct test_param *param)
{
    static const size_t  sizes[] = {1, 2, 7, 8, 1472, 1473, 8972, 65000, 65487};
    struct udp_io_params params  = udp_stage_params(param->value);
    struct udp_end       ends[2];
    struct iovec         parts[3];
    struct udp_out       out;
    size_t               i;

    udp_stage_fill();
    udp_stage_open(ends, &params);
    for (i = 0; i < UCS_ARRAY_COUNT(sizes); ++i) {
        out = udp_stage_out(&ends[1], sizes[i], 0, parts);
        udp_end_send(&ends[0], &out);
        ck_assert_uint_eq(out.sent_bytes, sizes[i]);
        ck_assert_uint_eq(udp_end_take(&ends[1], sizes[i], sizes[i]), 1);
    }
    udp_stage_close(ends);
}

struct cut_row {
    size_t   bytes, segment_bytes;
    unsigned packets;
};

static const struct cut_row cut_rows[] = {
    {1000, 1000, 1}, {1000, 2000, 1},   {1001, 1000, 2}, {64000, 1000, 64},
    {64, 1, 64},     {65487, 1472, 45}, {2000, 1999, 2},
};

static void send_cut(struct udp_end ends[2])
{
    struct iovec   parts[3];
    struct udp_out out;
    size_t         i;

    for (i = 0; i < UCS_ARRAY_COUNT(cut_rows); ++i) {
        const struct cut_row *row = &cut_rows[i];

        out = udp_stage_out(&ends[1], row->bytes, row->segment_bytes, parts);
        udp_end_send(&ends[0], &out);
        ck_assert_uint_eq(out.sent_bytes, row->bytes);
        ck_assert_uint_eq(
            udp_end_take(&ends[1], row->bytes, row->segment_bytes),
            row->packets);
    }
}

/* Cut by the kernel and here, joined by the kernel and not. */
static void udp_io_send__cut_into_packets(const struct test_param *param)
{
    struct udp_io_params with    = udp_stage_params(param->value);
    struct udp_io_params without = with;
    struct udp_end       ends[2];
    unsigned             way;

    udp_stage_fill();
    without.segmentation = false;
    for (way = 0; way < 4; ++way) {
        udp_end_open(&ends[0], (way & 1) ? &with : &without);
        udp_end_open(&ends[1], (way & 2) ? &with : &without);
        send_cut(ends);
        udp_stage_close(ends);
    }
}

/* The kernel cuts nothing on a socket that makes no checksums: EIO. */
static void udp_io_send__cutting_is_refused(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    int                  on = 1;

    if (params.local.base.sa_family == AF_INET6) {
        test_skip("IPv6 needs its checksums");
    }
    udp_stage_fill();
    udp_stage_open(ends, &params);
    if (!ends[0].attr.send_segments) {
        test_skip("this kernel has no UDP_SEGMENT");
    }
    ck_assert_int_eq(setsockopt(ends[0].attr.fds[UDP_DATA], SOL_SOCKET,
                                SO_NO_CHECK, &on, sizeof(on)),
                     0);
    send_cut(ends);
    udp_io_query(ends[0].io, &ends[0].attr);
    ck_assert(!ends[0].attr.send_segments);
    udp_stage_close(ends);
}

/* More than one sendmmsg takes, both channels, cut ones among them. */
static void udp_io_send__many_keep_their_order(const struct test_param *param)
{
    enum { COUNT = 80 };
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    struct udp_out       out[COUNT];
    struct iovec         parts[COUNT];
    uint8_t              bytes[COUNT][3];
    uint8_t              next[UDP_CHANNEL_COUNT];
    ucs_status_t         status;
    unsigned             i, segments;

    for (segments = 0; segments < 2; ++segments) {
        params.segmentation = (segments == 1);
        udp_stage_open(ends, &params);
        memset(out, 0, sizeof(out));
        for (i = 0; i < COUNT; ++i) {
            out[i].channel =
                ((i / 40) & 1) ? UDP_DATA : (enum udp_channel)(i & 1);
            out[i].to = &ends[1].attr.addresses[out[i].channel];
            memset(bytes[i], (int)i, sizeof(bytes[i]));
            parts[i].iov_base    = bytes[i];
            parts[i].iov_len     = sizeof(bytes[i]);
            out[i].iov           = &parts[i];
            out[i].iov_count     = 1;
            out[i].dont_fragment = (i > 60);
            out[i].segment_bytes = (i % 5 == 0) ? 2 : 0;
        }
        ck_assert_uint_eq(udp_io_send(ends[0].io, out, COUNT, &status), COUNT);
        ck_assert_int_eq(status, UCS_OK);
        memset(next, 0, sizeof(next));
        for (i = 0; i < COUNT; ++i) {
            uint8_t       seen[4];
            size_t        have = 0;
            struct udp_in in;

            ck_assert_uint_eq(out[i].sent_bytes, 3);
            while (have < 3) {
                (void)udp_end_receive(&ends[1], out[i].channel, &in, 1);
                ck_assert_uint_le(have + in.length, 3);
                memcpy(seen + have, in.data, in.length);
                have += in.length;
            }
            ck_assert(memcmp(seen, bytes[i], 3) == 0);
        }
        udp_stage_close(ends);
    }
}

static void udp_io_send__illegal_ones(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct iovec         parts[UDP_IO_IOV_COUNT_MAX + 1];
    struct iovec huge[2] = {{udp_stage_bytes, SIZE_MAX}, {udp_stage_bytes, 2}};
    struct iovec byte    = {udp_stage_bytes, 1};
    struct iovec full    = {udp_stage_bytes, UDP_IO_OUT_BYTES_MAX + 1};
    struct iovec cut     = {udp_stage_bytes, UDP_IO_SEGMENT_COUNT_MAX + 1};
    struct udp_end ends[2];
    struct udp_out out[3];
    struct udp_out bad[4];
    ucs_status_t   status;
    unsigned       i;

    udp_stage_open(ends, &params);
    for (i = 0; i < UCS_ARRAY_COUNT(parts); ++i) {
        parts[i] = byte;
    }
    memset(out, 0, sizeof(out));
    for (i = 0; i < 3; ++i) {
        out[i].to        = &ends[1].attr.addresses[UDP_PRIORITY];
        out[i].iov       = &byte;
        out[i].iov_count = 1;
    }
    for (i = 0; i < 4; ++i) {
        bad[i] = out[0];
    }
    bad[0].iov           = huge;
    bad[0].iov_count     = 2;
    bad[1].iov           = &full;
    bad[2].iov           = parts;
    bad[2].iov_count     = UDP_IO_IOV_COUNT_MAX + 1;
    bad[3].iov           = &cut;
    bad[3].segment_bytes = 1;
    for (i = 0; i < 12; ++i) {
        struct udp_out three[3] = {out[0], out[1], out[2]};

        three[i % 3] = bad[i / 3];
        ck_assert_uint_eq(udp_io_send(ends[0].io, three, 3, &status), i % 3);
        ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
    }
    ck_assert_uint_eq(udp_io_send(ends[0].io, out, 0, &status), 0);
    ck_assert_int_eq(status, UCS_OK);
    udp_stage_close(ends);
}

static void udp_io_send__no_address_to_send_to(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct iovec         byte   = {udp_stage_bytes, 1};
    struct udp_end       end;
    struct ucs_sockaddr  to;
    struct udp_out       out = {.to = &to, .iov = &byte, .iov_count = 1};
    ucs_status_t         status;

    udp_end_open(&end, &params);
    to = end.attr.addresses[UDP_DATA];
    ucsi_sockaddr_set_port(&to, 0);
    ck_assert_uint_eq(udp_io_send(end.io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
    to.size_bytes = 2;
    ck_assert_uint_eq(udp_io_send(end.io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
    /* The other family. */
    ck_assert_int_eq(
        ucsi_sockaddr_parse((params.local.base.sa_family == AF_INET)
                                ? "[::1]:9"
                                : "127.0.0.1:9",
                            0, &to),
        UCS_OK);
    ck_assert_uint_eq(udp_io_send(end.io, &out, 1, &status), 0);
    ck_assert_int_ne(status, UCS_OK);
    ck_assert_int_ne(status, UCS_ERR_WOULD_BLOCK);
    udp_end_close(&end);
}

/* ------------------------------------------- in a network of the test's own */

static void udp_io_send__too_long_for_the_device(const struct test_param *param)
{
    struct udp_io_params params;
    struct udp_end       ends[2];
    struct iovec         parts[3];
    struct udp_out       out;
    struct udp_hint      hint;
    ucs_status_t         status;
    size_t               limit;

    test_netns();
    test_netns_run("ip link set lo mtu 1500");
    params = udp_stage_params(param->value);
    udp_stage_fill();
    udp_stage_open(ends, &params);
    ck_assert_uint_eq(ends[0].attr.mtu_bytes, 1500);
    limit = ends[0].attr.mtu_bytes - ends[0].attr.header_bytes;

    out = udp_stage_out(&ends[1], limit, 0, parts);
    udp_end_send(&ends[0], &out);
    ck_assert_uint_eq(udp_end_take(&ends[1], limit, limit), 1);
    ck_assert(!udp_io_next_hint(ends[0].io, &hint));

    out = udp_stage_out(&ends[1], limit + 1, 0, parts);
    ck_assert_uint_eq(udp_io_send(ends[0].io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_EXCEEDS_LIMIT);
    ck_assert(udp_io_next_hint(ends[0].io, &hint));
    ck_assert_int_eq(hint.status, UCS_ERR_EXCEEDS_LIMIT);
    ck_assert(hint.is_local);
    ck_assert_uint_eq(hint.mtu_bytes, 1500);
    ucsi_sockaddr_set_port(&hint.to, ucsi_sockaddr_port(out.to));
    ck_assert_int_eq(ucsi_sockaddr_compare(&hint.to, out.to), 0);
    while (udp_io_next_hint(ends[0].io, &hint)) {
    }

    /* Cut into packets that are too long: cutting itself stays trusted. */
    out = udp_stage_out(&ends[1], 4 * (limit + 1), limit + 1, parts);
    ck_assert_uint_eq(udp_io_send(ends[0].io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(out.sent_bytes, 0);
    udp_io_query(ends[0].io, &ends[0].attr);
    ck_assert(ends[0].attr.send_segments);
    out = udp_stage_out(&ends[1], 4 * limit, limit, parts);
    udp_end_send(&ends[0], &out);
    ck_assert_uint_eq(udp_end_take(&ends[1], 4 * limit, limit), 4);

    /* And where it may be cut on its way, it arrives whole. */
    out               = udp_stage_out(&ends[1], 20000, 0, parts);
    out.dont_fragment = false;
    udp_end_send(&ends[0], &out);
    ck_assert_uint_eq(udp_end_take(&ends[1], 20000, 20000), 1);
    udp_stage_close(ends);
}

static void udp_io_send__no_route(const struct test_param *param)
{
    struct iovec         byte = {udp_stage_bytes, 1};
    struct udp_io_params params;
    struct udp_end       end;
    struct ucs_sockaddr  to;
    struct udp_out       out = {.to = &to, .iov = &byte, .iov_count = 1};
    ucs_status_t         status;

    test_netns();
    params = udp_stage_params(param->value);
    udp_end_open(&end, &params);
    ck_assert_int_eq(
        ucsi_sockaddr_parse((params.local.base.sa_family == AF_INET)
                                ? "192.0.2.1:9"
                                : "[2001:db8::1]:9",
                            0, &to),
        UCS_OK);
    ck_assert_uint_eq(udp_io_send(end.io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_UNREACHABLE);
    udp_end_close(&end);
}

static void udp_io_send__firewall_is_loss(const struct test_param *param)
{
    struct iovec         byte = {udp_stage_bytes, 1};
    struct udp_io_params params;
    struct udp_end       ends[2];
    struct udp_out       out[3];
    struct udp_in        in;
    ucs_status_t         status;
    unsigned             i;

    test_netns();
    test_netns_run("nft 'add table inet t; add chain inet t o { type filter "
                   "hook output priority 0; }; add rule inet t o meta l4proto "
                   "udp drop'");
    params = udp_stage_params(param->value);
    udp_stage_open(ends, &params);
    for (i = 0; i < 3; ++i) {
        out[i] = (struct udp_out){.to      = &ends[1].attr.addresses[UDP_DATA],
                                  .channel = UDP_DATA,
                                  .iov     = &byte,
                                  .iov_count = 1};
    }
    ck_assert_uint_eq(udp_io_send(ends[0].io, out, 3, &status), 3);
    ck_assert_int_eq(status, UCS_OK);
    udp_io_query(ends[0].io, &ends[0].attr);
    ck_assert_uint_eq(ends[0].attr.dropped_count, 3);
    test_netns_run("nft delete table inet t");
    ck_assert_uint_eq(udp_io_receive(ends[1].io, UDP_DATA, &in, 1), 0);
    ck_assert_uint_eq(udp_io_send(ends[0].io, out, 1, &status), 1);
    ck_assert_uint_eq(udp_end_receive(&ends[1], UDP_DATA, &in, 1), 1);
    udp_stage_close(ends);
}

/* A pair of devices whose far end nobody answers at: packets wait for the
 * neighbour's address in our socket's buffer. */
static void open_to_nobody(struct udp_end *end, struct ucs_sockaddr *nobody,
                           const struct test_param *param)
{
    bool                 is_4 = strcmp(param->name, "ipv4") == 0;
    struct udp_io_params params;

    test_netns();
    test_netns_run("ip link add v0 type veth peer name v1 && "
                   "ip link set v0 up && ip link set v1 up && "
                   "ip addr add 10.9.0.1/24 dev v0 && "
                   "ip addr add fd09::1/64 dev v0 nodad");
    params              = udp_stage_params(is_4 ? "10.9.0.1" : "fd09::1");
    params.send_bytes   = 4096;
    params.segmentation = false;
    ck_assert_int_eq(ucsi_sockaddr_parse(
                         is_4 ? "10.9.0.2:7777" : "[fd09::2]:7777", 0, nobody),
                     UCS_OK);
    udp_end_open(end, &params);
}

/* The wire of v1: what really left v0. */
static int open_wire(void)
{
    struct sockaddr_ll address = {.sll_family   = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex  = (int)if_nametoindex("v1")};
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    htons(ETH_P_ALL));

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void udp_io_send__full_socket_goes_on(const struct test_param *param)
{
    enum { COUNT = 60, PIECE = 500 };
    struct iovec        part = {udp_stage_bytes, COUNT * PIECE};
    struct udp_end      end;
    struct ucs_sockaddr nobody;
    struct udp_out      out = {.to            = &nobody,
                               .channel       = UDP_DATA,
                               .iov           = &part,
                               .iov_count     = 1,
                               .segment_bytes = PIECE};
    struct pollfd       poll_fd;
    ucs_status_t        status;
    unsigned            seen = 0;
    unsigned            i;
    int                 wire;

    open_to_nobody(&end, &nobody, param);
    wire = open_wire();
    for (i = 0; i < COUNT; ++i) {
        memset(udp_stage_bytes + i * PIECE, (int)i, PIECE);
    }
    ck_assert_uint_eq(udp_io_send(end.io, &out, 1, &status), 0);
    ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_gt(out.sent_bytes, 0);
    ck_assert_uint_lt(out.sent_bytes, part.iov_len);
    ck_assert_uint_eq(out.sent_bytes % PIECE, 0);

    /* Full, so there is something to sleep for; then somebody answers. */
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, true), UCS_OK);
    poll_fd.fd     = udp_io_event_fd(end.io);
    poll_fd.events = POLLIN;
    test_netns_run("ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0 "
                   "&& ip neigh replace fd09::2 lladdr 02:00:00:00:00:02 dev "
                   "v0");
    ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
    while (udp_io_send(end.io, &out, 1, &status) == 0) {
        ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
    }
    ck_assert_uint_eq(out.sent_bytes, part.iov_len);

    /* Every packet once, in order. */
    while (seen < COUNT) {
        uint8_t packet[2048];
        ssize_t bytes = recv(wire, packet, sizeof(packet), 0);

        if (bytes > PIECE) {
            ck_assert_uint_eq(packet[bytes - 1], seen);
            ++seen;
        }
        ck_assert(test_has_time(20));
    }
    ucsi_fd_close(&wire);
    udp_end_close(&end);
}

/* Nobody answers for good: the kernel says so, later, on whatever is called
 * next; that call does its own work all the same. */
static void
udp_io_send__late_error_spoils_nothing(const struct test_param *param)
{
    struct iovec         byte   = {udp_stage_bytes, 1};
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    struct udp_end       gone;
    struct udp_out       bad;
    struct udp_out       good;
    struct udp_in        in;
    struct udp_hint      hint;
    unsigned             round;

    udp_stage_open(ends, &params);
    udp_end_open(&gone, &params);
    udp_end_close(&gone);
    good = (struct udp_out){
        .to = &ends[1].attr.addresses[0], .iov = &byte, .iov_count = 1};
    bad    = good;
    bad.to = &gone.attr.addresses[UDP_PRIORITY];
    for (round = 0; round < 100; ++round) {
        udp_end_send(&ends[0], &bad);
        if (round & 1) {
            udp_end_send(&ends[1],
                         &(struct udp_out){.to  = &ends[0].attr.addresses[0],
                                           .iov = &byte,
                                           .iov_count = 1});
            ck_assert_uint_eq(udp_end_receive(&ends[0], UDP_PRIORITY, &in, 1),
                              1);
        } else {
            udp_end_send(&ends[0], &good);
            ck_assert_uint_eq(udp_end_receive(&ends[1], UDP_PRIORITY, &in, 1),
                              1);
        }
        ck_assert(udp_io_next_hint(ends[0].io, &hint));
        ck_assert_int_eq(hint.status, UCS_ERR_REJECTED);
        ck_assert(!hint.is_local);
        ck_assert_uint_eq(hint.mtu_bytes, 0);
        ck_assert_int_eq(ucsi_sockaddr_compare(&hint.to, bad.to), 0);
        ck_assert(!udp_io_next_hint(ends[0].io, &hint));
    }
    udp_stage_close(ends);
}

static const struct test_case cases[] = {
    TEST(udp_io_send__one_of_any_size),
    TEST(udp_io_send__cut_into_packets),
    TEST(udp_io_send__cutting_is_refused),
    TEST(udp_io_send__many_keep_their_order),
    TEST(udp_io_send__illegal_ones),
    TEST(udp_io_send__no_address_to_send_to),
    TEST(udp_io_send__too_long_for_the_device),
    TEST(udp_io_send__no_route),
    TEST(udp_io_send__firewall_is_loss),
    TEST(udp_io_send__full_socket_goes_on),
    TEST(udp_io_send__late_error_spoils_nothing),
    {0},
};

const struct test_suite udp_io_send_suite = {"udp_io_send", cases,
                                             udp_stage_families, NULL, NULL};
