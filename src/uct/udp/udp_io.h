/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io.h - the rim: the two sockets that serve all peers of a worker
 * on one device. All system calls of the transport are behind this header.
 *
 *   struct udp_out [ ] --> sendmsg, sendmmsg --> priority socket ))) network
 *                          UDP_SEGMENT      '--> data socket     )))
 *   struct udp_in  [ ] <-- recvmsg, recvmmsg, UDP_GRO <-----------'
 *
 * It knows packets and addresses, nothing of what is in them. Nothing is
 * allocated after opening, nothing is logged after opening: statuses and
 * counters say what happened. A simulation replaces udp_io.c by its own.
 *
 * The network may lose a packet, and so may the kernel on the way out: what
 * it drops there (a full queue of the device, a firewall's rule) counts as
 * sent.
 *
 * Thread: the worker's. */
#ifndef UCT_UDP_IO_H_
#define UCT_UDP_IO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ucs/socket.h"
#include "ucs/type/status.h"

enum udp_io_limit {
    /* What one udp_out may be: the kernel's bound of UDP_SEGMENT, and the
     * bytes of an IPv4 packet of 64 KiB behind IP and UDP header. */
    UDP_IO_SEGMENT_COUNT_MAX = 64,
    UDP_IO_OUT_BYTES_MAX     = 65507,
    UDP_IO_IOV_COUNT_MAX     = 160,
    /* What one udp_io_receive() hands out at most. */
    UDP_IO_RECEIVE_COUNT_MAX = 16,
};

/* Two channels, so that bulk can neither delay nor drop what is urgent. */
enum udp_channel { UDP_PRIORITY, UDP_DATA, UDP_CHANNEL_COUNT };

struct udp_io;

/* local           address of the device, port 0, with the scope if it is a
 *                 link-local one; the family of all peers
 * port_min/max    both ports are from this range; 0, 0: the kernel's choice
 * receive_bytes   socket buffers as setsockopt takes them; 0: the kernel's
 * send_bytes      default. The kernel may give less: udp_io_query()
 * segmentation    use UDP_SEGMENT and UDP_GRO where the kernel has them
 * ecn             tell the network that marks are understood (RFC 3168), on
 *                 the data channel; and read them
 * direct          a socket of its own for the peer that gets most packets of a
 *                 channel */
struct udp_io_params {
    struct ucs_sockaddr local;
    uint16_t            port_min, port_max;
    size_t              receive_bytes, send_bytes;
    bool                segmentation;
    bool                ecn;
    bool                direct;
};

/* addresses        with the ports that peers send to
 * fds              the sockets, for tests and messages
 * direct_fds       those of one peer; -1: none
 * send_segments    UDP_SEGMENT is used; may become false later
 * receive_segments UDP_GRO is used
 * receive_bytes    socket buffer of each channel, as the kernel counts it: the
 * send_bytes       double of what was given, since it counts its own headers
 * mtu_bytes        of the device, IP header included; 0: not known
 * header_bytes     of IP and UDP: mtu_bytes - header_bytes is the longest
 *                  packet of ours
 * dropped_count    packets that the kernel dropped before they left */
struct udp_io_attr {
    struct ucs_sockaddr addresses[UDP_CHANNEL_COUNT];
    int                 fds[UDP_CHANNEL_COUNT];
    int                 direct_fds[UDP_CHANNEL_COUNT];
    bool                send_segments, receive_segments;
    size_t              receive_bytes, send_bytes;
    size_t              mtu_bytes, header_bytes;
    uint64_t            dropped_count;
};

/* @return UCS_OK; UCS_ERR_BUSY: no two ports of the range are free;
 *         UCS_ERR_INVALID_ADDR: no address of this host, or neither IPv4 nor
 *         IPv6; UCS_ERR_INVALID_PARAM: no range of ports;
 *         UCS_ERR_EXCEEDS_LIMIT: descriptors; UCS_ERR_NO_MEMORY; others.
 *         Logged; nothing is open. */
UCS_MUST_USE ucs_status_t udp_io_open(const struct udp_io_params *params,
                                      struct udp_io             **io_p);

void udp_io_close(struct udp_io *io);

void udp_io_query(const struct udp_io *io, struct udp_io_attr *attr_p);

/* ------------------------------------------------------------------ sending */

/* One send: iov gathers header and payload from where they are.
 * to             the family of the sockets; lent for the call
 * iov            [iov_count], at most UDP_IO_OUT_BYTES_MAX together
 * segment_bytes  0: one packet. Else the bytes are cut into packets of that
 *                size, UDP_IO_SEGMENT_COUNT_MAX at most; the last may be
 *                shorter
 * dont_fragment  no router cuts the packet, nor do we: its way must be wide
 *                enough. Changing it between sends costs a system call
 * sent_bytes     0 when it is new. Set to what went: less than all only where
 *                packets go one by one; sent again, it goes on there */
struct udp_out {
    const struct ucs_sockaddr *to;
    enum udp_channel           channel;
    const struct iovec        *iov;
    unsigned                   iov_count;
    size_t                     segment_bytes;
    bool                       dont_fragment;
    size_t                     sent_bytes;
};

/* Send [count] in order, each channel for itself as the kernel does.
 *
 * @param status_p  UCS_OK when all went; else why the next one did not:
 *        UCS_ERR_WOULD_BLOCK: the socket is full, ask udp_io_arm() for room;
 *        UCS_ERR_EXCEEDS_LIMIT: longer than a device or the way carries;
 *        UCS_ERR_UNREACHABLE: no route, or the device is down;
 *        UCS_ERR_INVALID_PARAM: more bytes, pieces or packets than the limits,
 *        or no address one can send to; others of ucsi_status_from_errno().
 * @return how many went. */
unsigned udp_io_send(struct udp_io *io, struct udp_out *out, unsigned count,
                     ucs_status_t *status_p);

/* ---------------------------------------------------------------- receiving */

/* What came: a packet, or several of one sender that the kernel joined.
 * from               lent, as is data, until the next receive on the channel
 * data               [length], starts at a multiple of 8
 * segment_bytes      of each packet in it, the last may be shorter; the length
 *                    itself when it is one packet
 * congestion_marked  a router set ECN's CE on it; never on the priority
 *                    channel */
struct udp_in {
    const struct ucs_sockaddr *from;
    uint8_t                   *data;
    size_t                     length;
    size_t                     segment_bytes;
    bool                       congestion_marked;
};

/* Take up to `room` of what waits on a channel: by recvmsg() while it is
 * quiet, by recvmmsg() after a call that found something.
 * @return how many; 0: nothing waits. */
unsigned udp_io_receive(struct udp_io *io, enum udp_channel channel,
                        struct udp_in *in, unsigned room);

/* What the network says about packets sent before (IP_RECVERR). Anybody who
 * sees or guesses our ports can forge it: a hint, never a proof.
 * to         where the packet was sent to; the port may be 0 if is_local
 * status     UCS_ERR_EXCEEDS_LIMIT: too long for the way; UCS_ERR_REJECTED: no
 *            socket there; UCS_ERR_UNREACHABLE; others
 * mtu_bytes  with EXCEEDS_LIMIT: of the way, IP header included; else 0
 * is_local   this host says it, and not a router or the peer */
struct udp_hint {
    struct ucs_sockaddr to;
    ucs_status_t        status;
    size_t              mtu_bytes;
    bool                is_local;
};

/* Take the next hint. Costs a load while there was no sign of one.
 * @return false: none. */
bool udp_io_next_hint(struct udp_io *io, struct udp_hint *hint_p);

/* ------------------------------------------------------------------- waking */

/* Readable when an armed sleeper must wake. */
int udp_io_event_fd(const struct udp_io *io);

/* Make the descriptor readable at a packet, at a hint, at `deadline_ns` (of
 * ucsi_clock_ns; UCS_NS_INFINITE), and, if `want_writable`, when a channel
 * that was full has room again. Nothing is lost between the last look and
 * this call.
 * @return UCS_OK: sleep. UCS_ERR_BUSY: something is there already. Errors of
 *         the kernel, logged: do not sleep. */
UCS_MUST_USE ucs_status_t udp_io_arm(struct udp_io *io, uint64_t deadline_ns,
                                     bool want_writable);

/* Leave the event set until the next udp_io_arm(): who polls all the time does
 * without, and no sender's packet asks whom it wakes (docs/adr/0036). */
void udp_io_detach(struct udp_io *io);

/* Sleep until one of [count] that are armed must wake, or so long.
 * @return false: one cannot sleep here: time does not pass in a simulation
 *         while somebody waits for it. */
UCS_MUST_USE bool udp_io_sleep(struct udp_io *const *ios, unsigned count,
                               uint64_t timeout_ns);

#endif
