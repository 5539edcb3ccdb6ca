/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_parts.h - what udp_io.c, udp_io_send.c and udp_io_receive.c
 * share, and nobody else sees. */
#ifndef UCT_UDP_IO_PARTS_H_
#define UCT_UDP_IO_PARTS_H_

#include <sys/socket.h>

#include "ucs/fd.h"
#include "uct/udp/udp_io.h"
#include "uct/udp/udp_socket.h"

enum {
    /* Any packet fits. The rest puts the slots' first lines, where the
     * headers are, into different sets of the caches. */
    IO_SLOT_BYTES    = 65536 + 3 * UCS_CACHE_LINE_BYTES,
    IO_CONTROL_BYTES = CMSG_SPACE(sizeof(int)) * 2, /* segment size, TOS */
    IO_SEND_MAX      = 32, /* packets of one sendmmsg; guess */
    IO_ATTEMPTS      = 2,  /* of one call that may tell another's error */
};

union io_control {
    struct cmsghdr header; /* for its alignment */
    char           bytes[IO_CONTROL_BYTES];
};

/* One socket.
 * dont_fragment  as the socket is set
 * is_full        the last send found no room
 * is_watched     the event set waits for room
 * is_busy        the last receive found something
 * has_hints      there may be something in the error queue
 * slots          [UDP_IO_RECEIVE_COUNT_MAX][IO_SLOT_BYTES] */
struct io_channel {
    struct udp_socket   socket;
    bool                dont_fragment;
    bool                is_full;
    bool                is_watched;
    bool                is_busy;
    bool                has_hints;
    uint8_t            *slots;
    struct mmsghdr      messages[UDP_IO_RECEIVE_COUNT_MAX];
    struct iovec        parts[UDP_IO_RECEIVE_COUNT_MAX];
    union io_control    controls[UDP_IO_RECEIVE_COUNT_MAX];
    struct ucs_sockaddr addresses[UDP_IO_RECEIVE_COUNT_MAX];
};

struct udp_io {
    struct io_channel    channels[UDP_CHANNEL_COUNT];
    struct ucs_event_set events;
    int                  timer_fd;
    uint64_t             timer_ns; /* as it is set */
    size_t               mtu_bytes;
    uint64_t             dropped_count;
    struct mmsghdr       batch[IO_SEND_MAX];
    union io_control     batch_controls[IO_SEND_MAX];
};

/* The kernel writes over both with each packet. */
static inline void io_slot_reset(struct io_channel *channel, unsigned index)
{
    struct msghdr *message = &channel->messages[index].msg_hdr;

    message->msg_namelen    = offsetof(struct ucs_sockaddr, size_bytes);
    message->msg_controllen = IO_CONTROL_BYTES;
}

#endif
