/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/udp_stage.c - see udp_stage.h. */
#include "uct/udp_stage.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "ucs/netif.h"

const struct test_param udp_stage_families[] = {
    {"ipv4", "127.0.0.1"}, {"ipv6", "::1"}, {NULL, NULL}};

static bool has_address(const struct ucs_sockaddr *address)
{
    struct ucs_netif_list list;
    bool                  has;

    ck_assert_int_eq(ucsi_netif_list_init(&list), UCS_OK);
    has = ucsi_netif_find_address(&list, address) != NULL;
    ucsi_netif_list_cleanup(&list);
    return has;
}

struct udp_io_params udp_stage_params(const char *local)
{
    struct udp_io_params params = {.segmentation = true, .ecn = true};

    ck_assert_int_eq(ucsi_sockaddr_parse(local, 0, &params.local), UCS_OK);
    if ((strcmp(local, "::1") == 0) && !has_address(&params.local)) {
        test_skip("lo has no ::1 here");
    }
    return params;
}

void udp_end_open(struct udp_end *end, const struct udp_io_params *params)
{
    ck_assert_int_eq(udp_io_open(params, &end->io), UCS_OK);
    udp_io_query(end->io, &end->attr);
}

void udp_end_close(struct udp_end *end)
{
    udp_io_close(end->io);
}

void udp_stage_open(struct udp_end ends[2], const struct udp_io_params *params)
{
    udp_end_open(&ends[0], params);
    udp_end_open(&ends[1], params);
}

void udp_stage_close(struct udp_end ends[2])
{
    udp_end_close(&ends[0]);
    udp_end_close(&ends[1]);
}

struct receive_call {
    struct udp_end  *end;
    enum udp_channel channel;
    struct udp_in   *in;
    unsigned         room;
    unsigned         count;
};

static bool receive_some(void *arg)
{
    struct receive_call *call = arg;

    call->count =
        udp_io_receive(call->end->io, call->channel, call->in, call->room);
    return call->count > 0;
}

unsigned udp_end_receive(struct udp_end *end, enum udp_channel channel,
                         struct udp_in *in, unsigned room)
{
    struct receive_call call = {end, channel, in, room, 0};

    ck_assert_msg(test_wait_until(receive_some, &call, 10), "nothing came");
    return call.count;
}

void udp_end_send(struct udp_end *end, struct udp_out *out)
{
    ucs_status_t status;

    ck_assert_uint_eq(udp_io_send(end->io, out, 1, &status), 1);
    ck_assert_int_eq(status, UCS_OK);
}

uint8_t        udp_stage_bytes[UDP_IO_OUT_BYTES_MAX + 1];
static uint8_t taken[UDP_IO_OUT_BYTES_MAX + 1];

void udp_stage_fill(void)
{
    size_t i;

    for (i = 0; i < sizeof(udp_stage_bytes); ++i) {
        udp_stage_bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
}

struct udp_out udp_stage_out(const struct udp_end *to, size_t bytes,
                             size_t segment_bytes, struct iovec parts[3])
{
    struct udp_out out = {.to            = &to->attr.addresses[UDP_DATA],
                          .channel       = UDP_DATA,
                          .iov           = parts,
                          .iov_count     = 3,
                          .segment_bytes = segment_bytes,
                          .dont_fragment = true};

    parts[0].iov_base = udp_stage_bytes;
    parts[0].iov_len  = bytes / 3;
    parts[1].iov_base = udp_stage_bytes;
    parts[1].iov_len  = 0;
    parts[2].iov_base = udp_stage_bytes + bytes / 3;
    parts[2].iov_len  = bytes - bytes / 3;
    return out;
}

unsigned udp_end_take(struct udp_end *end, size_t bytes, size_t segment_bytes)
{
    unsigned packets = 0;
    size_t   done    = 0;

    while (done < bytes) {
        struct udp_in in[UDP_IO_RECEIVE_COUNT_MAX];
        unsigned      count =
            udp_end_receive(end, UDP_DATA, in, UDP_IO_RECEIVE_COUNT_MAX);
        unsigned i;

        for (i = 0; i < count; ++i) {
            ck_assert_uint_le(done + in[i].length, bytes);
            memcpy(taken + done, in[i].data, in[i].length);
            done += in[i].length;
            packets +=
                (unsigned)((in[i].length + segment_bytes - 1) / segment_bytes);
            ck_assert_uint_eq(in[i].segment_bytes,
                              ucs_min(segment_bytes, in[i].length));
        }
    }
    ck_assert(memcmp(udp_stage_bytes, taken, bytes) == 0);
    return packets;
}
