/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_socket.c - one socket: its port, its options, what goes wrong. */
#include "uct/udp/udp_socket.h"

#include <netinet/in.h>
#include <string.h>

#include "ucs/fd.h"
#include "ucs/log_capture.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

static int option(int fd, int level, int name)
{
    int       value = -1;
    socklen_t bytes = sizeof(value);

    ck_assert_int_eq(getsockopt(fd, level, name, &value, &bytes), 0);
    return value;
}

static void udp_socket__is_set_up(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    bool                 is_4   = params.local.base.sa_family == AF_INET;
    int                  level  = is_4 ? IPPROTO_IP : IPPROTO_IPV6;
    enum udp_channel     channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        struct udp_socket socket;

        ck_assert_int_eq(udp_socket_open(&params, channel, &socket), UCS_OK);
        ck_assert_uint_ne(ucsi_sockaddr_port(&socket.address), 0);
        ck_assert_uint_gt(socket.send_bytes, 0);
        ck_assert_uint_gt(socket.receive_bytes, 0);
        ck_assert_int_eq(
            option(socket.fd, level, is_4 ? IP_RECVERR : IPV6_RECVERR), 1);
        ck_assert_int_eq(option(socket.fd, level,
                                is_4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER),
                         IP_PMTUDISC_PROBE);
        /* Only bulk is marked. */
        ck_assert_int_eq(option(socket.fd, level, is_4 ? IP_TOS : IPV6_TCLASS),
                         (channel == UDP_DATA) ? 2 : 0);
        if (!is_4) {
            ck_assert_int_eq(option(socket.fd, level, IPV6_V6ONLY), 1);
        }
        ucsi_fd_close(&socket.fd);
    }
}

static void udp_socket__cutting_follows_the_flag(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    bool                 is_4   = params.local.base.sa_family == AF_INET;
    int                  level  = is_4 ? IPPROTO_IP : IPPROTO_IPV6;
    int                  name   = is_4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER;
    struct udp_socket    socket;

    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket), UCS_OK);
    ck_assert_int_eq(udp_socket_set_dont_fragment(
                         socket.fd, params.local.base.sa_family, false),
                     UCS_OK);
    ck_assert_int_eq(option(socket.fd, level, name), IP_PMTUDISC_DONT);
    ck_assert_int_eq(udp_socket_set_dont_fragment(
                         socket.fd, params.local.base.sa_family, true),
                     UCS_OK);
    ck_assert_int_eq(option(socket.fd, level, name), IP_PMTUDISC_PROBE);
    ucsi_fd_close(&socket.fd);
    ck_assert_int_eq(udp_socket_set_dont_fragment(-1, AF_INET, true),
                     UCS_ERR_INVALID_PARAM);
}

static void udp_socket__ports_of_a_range(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_socket    sockets[3];
    struct udp_socket    one_more;
    unsigned             seen = 0;
    unsigned             i;

    /* A range that was free a moment ago: its neighbours may be taken. */
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &sockets[0]), UCS_OK);
    params.port_min = ucsi_sockaddr_port(&sockets[0].address);
    if (params.port_min > 65000) {
        params.port_min = 65000;
    }
    ucsi_fd_close(&sockets[0].fd);
    params.port_max = (uint16_t)(params.port_min + 2);
    log_capture_start();
    for (i = 0; i < 3; ++i) {
        ucs_status_t status = udp_socket_open(&params, UDP_DATA, &sockets[i]);

        if (status != UCS_OK) {
            test_skip("another process has a port of %u to %u", params.port_min,
                      params.port_max);
        }
        seen |=
            1u << (ucsi_sockaddr_port(&sockets[i].address) - params.port_min);
    }
    ck_assert_uint_eq(seen, 7);
    ck_assert_uint_eq(log_captured.count, 0);
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &one_more),
                     UCS_ERR_BUSY);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "Address already in use"));
    for (i = 0; i < 3; ++i) {
        ucsi_fd_close(&sockets[i].fd);
    }
}

static void udp_socket__wrong_parameters(const struct test_param *param)
{
    static const struct {
        uint16_t min, max;
    } ranges[]                  = {{2, 1}, {0, 1}, {65535, 65534}};
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_socket    socket;
    size_t               i;

    log_capture_start();
    for (i = 0; i < UCS_ARRAY_COUNT(ranges); ++i) {
        params.port_min = ranges[i].min;
        params.port_max = ranges[i].max;
        ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket),
                         UCS_ERR_INVALID_PARAM);
        ck_assert_uint_eq(log_captured.count, i + 1);
    }
    params.port_min = params.port_max = 0;
    params.local.base.sa_family       = AF_UNIX;
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket),
                     UCS_ERR_INVALID_ADDR);
    /* Addresses for documents (RFC 5737, 3849): nobody has them. */
    params = udp_stage_params("192.0.2.1");
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "192.0.2.1"));
    params = udp_stage_params("2001:db8::1");
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(log_captured.count, UCS_ARRAY_COUNT(ranges) + 3);
}

static void udp_socket__buffers(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_socket    usual, small;

    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &usual), UCS_OK);
    params.receive_bytes = 20000;
    params.send_bytes    = 30000;
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &small), UCS_OK);
    ck_assert_uint_eq(small.receive_bytes, 40000);
    ck_assert_uint_eq(small.send_bytes, 60000);
    ck_assert_uint_ne(usual.receive_bytes, 40000);
    ucsi_fd_close(&usual.fd);
    ucsi_fd_close(&small.fd);

    /* More than there is: what the kernel gives. */
    params.receive_bytes = SIZE_MAX;
    params.send_bytes    = SIZE_MAX;
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &small), UCS_OK);
    ck_assert_uint_ge(small.receive_bytes, usual.receive_bytes);
    ucsi_fd_close(&small.fd);
}

static void udp_socket__without_offload(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_socket    socket;

    params.segmentation = false;
    params.ecn          = false;
    ck_assert_int_eq(udp_socket_open(&params, UDP_DATA, &socket), UCS_OK);
    ck_assert(!socket.send_segments);
    ck_assert(!socket.receive_segments);
    ck_assert_int_eq(option(socket.fd, IPPROTO_UDP, 104), 0); /* UDP_GRO */
    ucsi_fd_close(&socket.fd);
}

static const struct test_case cases[] = {
    TEST(udp_socket__is_set_up),
    TEST(udp_socket__cutting_follows_the_flag),
    TEST(udp_socket__ports_of_a_range),
    TEST(udp_socket__wrong_parameters),
    TEST(udp_socket__buffers),
    TEST(udp_socket__without_offload),
    {0},
};

const struct test_suite udp_socket_suite = {"udp_socket", cases,
                                            udp_stage_families, NULL, NULL};
