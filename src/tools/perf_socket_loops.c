/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_socket_loops.c - the loops over bare sockets. They spin, as the
 * measured loops do; a loop that returns false has found a socket unusable. */
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum perf_socket_loops_private {
    LOOPS_DATAGRAM_BYTES = 65536,
    LOOPS_SEGMENT_COUNT  = 44,   /* packets of one call */
    LOOPS_OVERHEAD       = 1024, /* the kernel's, per packet: at least */
    LOOPS_TELLS          = 8,    /* of the receiver, in a full buffer */
    LOOPS_SPINS          = 64,   /* without news, then look elsewhere */
    LOOPS_QUIET_NS       = 1000000,
    LOOPS_LOST_NS        = 20000000, /* without an answer */
    LOOPS_TRIES          = 25,
    LOOPS_PING_NS        = 500000000,
};

#define LOOPS_FINAL                                                            \
    (UINT64_C(1) << 63) /* in a word: no more will be counted                  \
                         */

static size_t loops_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* After a call that did nothing: may it be made again? */
static bool loops_again(void)
{
    return (errno == EAGAIN) || (errno == EINTR) || (errno == ENOBUFS);
}

/* ---------------------------------------------------------------------- TCP */

static bool tcp_send(int fd, const void *data, size_t bytes)
{
    const uint8_t *next = data;

    while (bytes > 0) {
        ssize_t sent = send(fd, next, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent > 0) {
            next += sent;
            bytes -= (size_t)sent;
        } else if (!loops_again()) {
            return false;
        }
    }
    return true;
}

static bool tcp_recv(int fd, void *data, size_t bytes)
{
    uint8_t *next = data;

    while (bytes > 0) {
        ssize_t got = recv(fd, next, bytes, MSG_DONTWAIT);

        if (got > 0) {
            next += got;
            bytes -= (size_t)got;
        } else if ((got == 0) || !loops_again()) {
            errno = (got == 0) ? ECONNRESET : errno;
            return false;
        }
    }
    return true;
}

static bool tcp_send_word(int fd, uint64_t word)
{
    word = htobe64(word);
    return tcp_send(fd, &word, sizeof(word));
}

/* The next word of the other side, if there is one; else *word_p stays. */
static bool tcp_look_word(int fd, uint64_t *word_p, bool *there_p)
{
    uint8_t  first;
    uint64_t word;
    ssize_t  got = recv(fd, &first, 1, MSG_DONTWAIT | MSG_PEEK);

    *there_p = got >= 0; /* 0: that there will be none */
    if (got < 0) {
        return loops_again();
    }
    if (!tcp_recv(fd, &word, sizeof(word))) {
        return false;
    }
    *word_p = be64toh(word);
    return true;
}

/* A ping-pong ends early where turns take long. */
static bool ping_is_last(const struct perf_job *job, uint64_t turn,
                         uint64_t begin_ns)
{
    return (turn + 1 >= job->iterations) ||
           (tool_clock_ns() - begin_ns > LOOPS_PING_NS);
}

/* The first byte says whether this turn is the last one. */
static bool tcp_ping(struct perf_node *node, const struct perf_job *job)
{
    struct perf_sockets *sockets  = node->sockets;
    uint64_t             begin_ns = tool_clock_ns();
    uint64_t             turn     = 0;

    do {
        node->send_buffer[0] = ping_is_last(job, turn, begin_ns);
        if (!tcp_send(sockets->tcp, node->send_buffer, job->size_bytes) ||
            !tcp_recv(sockets->tcp, node->recv_buffer, job->size_bytes)) {
            return false;
        }
        ++turn;
    } while (node->send_buffer[0] == 0);
    sockets->arrived_bytes = turn * job->size_bytes;
    return true;
}

static bool tcp_pong(struct perf_node *node, const struct perf_job *job)
{
    int fd = node->sockets->tcp;

    do {
        if (!tcp_recv(fd, node->recv_buffer, job->size_bytes) ||
            !tcp_send(fd, node->send_buffer, job->size_bytes)) {
            return false;
        }
    } while (node->recv_buffer[0] == 0);
    return true;
}

static bool tcp_stream_out(struct perf_node *node, const struct perf_job *job)
{
    int      fd = node->sockets->tcp;
    uint8_t  done;
    uint64_t i;

    for (i = 0; i < job->iterations; i++) {
        if (!tcp_send(fd, node->send_buffer, job->size_bytes)) {
            return false;
        }
    }
    node->sockets->arrived_bytes = job->iterations * job->size_bytes;
    return tcp_recv(fd, &done, sizeof(done));
}

static bool tcp_stream_in(struct perf_node *node, const struct perf_job *job)
{
    int      fd   = node->sockets->tcp;
    uint8_t  done = 1;
    uint64_t i;

    for (i = 0; i < job->iterations; i++) {
        if (!tcp_recv(fd, node->recv_buffer, job->size_bytes)) {
            return false;
        }
    }
    return tcp_send(fd, &done, sizeof(done));
}

/* ------------------------------------------------------------ UDP ping-pong */

/* What this host's own firewall drops (EPERM) is lost as on the way. */
static bool udp_send(int fd, const uint8_t *data, size_t bytes)
{
    while (send(fd, data, bytes, MSG_DONTWAIT) < 0) {
        if (!loops_again()) {
            return errno == EPERM;
        }
    }
    return true;
}

/* @param is_lost_p  Nothing came for too long. */
static bool udp_await_answer(struct perf_node *node, uint8_t number,
                             bool *is_lost_p)
{
    uint64_t begin_ns = 0, now_ns;
    unsigned spins    = 0;

    *is_lost_p = false;
    while (!*is_lost_p) {
        ssize_t got = recv(node->sockets->udp, node->recv_buffer,
                           node->buffer_bytes, MSG_DONTWAIT);

        if ((got > 0) && (node->recv_buffer[0] == number)) {
            return true;
        }
        if ((got < 0) && !loops_again()) {
            return false;
        }
        if (++spins % LOOPS_SPINS == 0) {
            now_ns     = tool_clock_ns();
            begin_ns   = (begin_ns == 0) ? now_ns : begin_ns;
            *is_lost_p = now_ns - begin_ns > LOOPS_LOST_NS;
        }
    }
    return true;
}

/* One turn; a lost datagram goes again. @param is_lost_p  All of them are. */
static bool udp_turn(struct perf_node *node, size_t bytes, uint8_t number,
                     bool *is_lost_p)
{
    unsigned tries = LOOPS_TRIES;

    node->send_buffer[0] = number;
    do {
        if (!udp_send(node->sockets->udp, node->send_buffer, bytes) ||
            !udp_await_answer(node, number, is_lost_p)) {
            return false;
        }
    } while (*is_lost_p && (--tries > 0));
    return true;
}

/* The first byte is the turn's number: the answer to an earlier one counts for
 * nothing. Where none gets through (a large one is many packets, and each may
 * be lost), nothing has arrived. */
static bool udp_ping(struct perf_node *node, const struct perf_job *job)
{
    struct perf_sockets *sockets  = node->sockets;
    uint64_t             begin_ns = tool_clock_ns();
    uint64_t             turn     = 0;
    bool                 is_lost, is_last;

    do {
        is_last = ping_is_last(job, turn, begin_ns);
        if (!udp_turn(node, job->size_bytes, (uint8_t)turn, &is_lost)) {
            return false;
        }
        ++turn;
    } while (!is_last && !is_lost);
    sockets->arrived_bytes = is_lost ? 0 : turn * job->size_bytes;
    return tcp_send_word(sockets->tcp, LOOPS_FINAL);
}

/* Answers until the other side says that it has all answers. */
static bool udp_pong(struct perf_node *node, const struct perf_job *job)
{
    struct perf_sockets *sockets = node->sockets;
    unsigned             spins   = 0;
    bool                 is_over = false;
    uint64_t             word;

    while (!is_over) {
        ssize_t got = recv(sockets->udp, node->recv_buffer, node->buffer_bytes,
                           MSG_DONTWAIT);

        if (got > 0) {
            node->send_buffer[0] = node->recv_buffer[0];
            if (!udp_send(sockets->udp, node->send_buffer, job->size_bytes)) {
                return false;
            }
        } else if (((got < 0) && !loops_again()) ||
                   ((++spins % LOOPS_SPINS == 0) &&
                    !tcp_look_word(sockets->tcp, &word, &is_over))) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- UDP stream
 */

/* The sender's view of a stream.
 * told      the receiver's count, when it last said it
 * forgiven  was lost on the way: room for others */
struct udp_out {
    struct perf_sockets *sockets;
    uint64_t             sent, told, forgiven;
};

/* Wait until no more than that are under way. */
static bool udp_await_room(struct udp_out *out, uint64_t room)
{
    uint64_t news_ns = tool_clock_ns(), now_ns;
    bool     is_told;

    while (out->sent - out->told > room + out->forgiven) {
        if (!tcp_look_word(out->sockets->tcp, &out->told, &is_told)) {
            return false;
        }
        now_ns = tool_clock_ns();
        if (is_told) {
            news_ns = now_ns;
        } else if (now_ns - news_ns > LOOPS_LOST_NS) {
            out->forgiven = out->sent - out->told;
        }
    }
    return true;
}

/* It ends with the receiver's last word. */
static bool udp_out_end(struct udp_out *out)
{
    bool is_told;

    if (!tcp_send_word(out->sockets->tcp, out->sent)) {
        return false;
    }
    while ((out->told & LOOPS_FINAL) == 0) {
        if (!tcp_look_word(out->sockets->tcp, &out->told, &is_told)) {
            return false;
        }
    }
    out->sockets->arrived_bytes = out->told & ~LOOPS_FINAL;
    return true;
}

/* @return whether the kernel cuts what is sent from now on; 0: not at all. */
static bool udp_cut(const struct perf_sockets *sockets, int packet_bytes)
{
    return setsockopt(sockets->udp, IPPROTO_UDP, UDP_SEGMENT, &packet_bytes,
                      sizeof(packet_bytes)) == 0;
}

/* @param piece_bytes  Of one call; the kernel cuts it into packets, unless the
 *                     device turns out not to take it so. */
static bool udp_stream_out(struct perf_node *node, const struct perf_job *job,
                           size_t piece_bytes)
{
    struct udp_out out    = {.sockets = node->sockets};
    size_t         packet = out.sockets->packet_bytes;
    uint64_t       room =
        out.sockets->room_bytes * packet / (packet + LOOPS_OVERHEAD);
    uint64_t i;
    size_t   offset, bytes;

    for (i = 0; i < job->iterations; i++) {
        for (offset = 0; offset < job->size_bytes; offset += bytes) {
            bytes = loops_min(piece_bytes, job->size_bytes - offset);
            if (!udp_await_room(&out, room)) {
                return false;
            }
            if (udp_send(out.sockets->udp, node->send_buffer + offset, bytes)) {
                out.sent += bytes;
            } else if ((errno == EIO) && (piece_bytes > packet) &&
                       udp_cut(out.sockets, 0)) {
                piece_bytes = packet;
                bytes       = 0;
            } else {
                return false;
            }
        }
    }
    return udp_out_end(&out);
}

/* The receiver's view of a stream. */
struct udp_in {
    struct perf_sockets *sockets;
    uint64_t             arrived, told;
    uint64_t             end;      /* all that was sent; UINT64_MAX: more */
    uint64_t             quiet_ns; /* since then; 0: packets come */
};

static bool udp_tell(struct udp_in *in, uint64_t word)
{
    in->told = in->arrived;
    return tcp_send_word(in->sockets->tcp, word);
}

/* Nothing has come for some calls. @param is_lost_p  The rest will not. */
static bool udp_in_quiet(struct udp_in *in, bool *is_lost_p)
{
    uint64_t now_ns = tool_clock_ns();
    bool     is_told;

    in->quiet_ns = (in->quiet_ns == 0) ? now_ns : in->quiet_ns;
    *is_lost_p =
        (in->end != UINT64_MAX) && (now_ns - in->quiet_ns > LOOPS_LOST_NS);
    if ((now_ns - in->quiet_ns > LOOPS_QUIET_NS) && (in->arrived > in->told) &&
        !udp_tell(in, in->arrived)) {
        return false;
    }
    return tcp_look_word(in->sockets->tcp, &in->end, &is_told);
}

/* Into one part of the buffer after the other, as messages are. */
static bool udp_stream_in(struct perf_node *node)
{
    struct udp_in in      = {.sockets = node->sockets, .end = UINT64_MAX};
    uint64_t      step    = in.sockets->room_bytes / LOOPS_TELLS;
    size_t        offset  = 0;
    unsigned      spins   = 0;
    bool          is_lost = false;

    while ((in.arrived < in.end) && !is_lost) {
        ssize_t got =
            recv(in.sockets->udp, node->recv_buffer + offset,
                 node->buffer_bytes - offset, MSG_DONTWAIT | MSG_TRUNC);

        if (got > 0) {
            in.arrived += (uint64_t)got;
            in.quiet_ns = 0;
            offset += (size_t)got;
            offset = (offset + LOOPS_DATAGRAM_BYTES > node->buffer_bytes)
                         ? 0
                         : offset;
            if ((in.arrived - in.told > step) && !udp_tell(&in, in.arrived)) {
                return false;
            }
        } else if (((got < 0) && !loops_again()) ||
                   ((++spins % LOOPS_SPINS == 0) &&
                    !udp_in_quiet(&in, &is_lost))) {
            return false;
        }
    }
    return udp_tell(&in, loops_min(in.arrived, in.end) | LOOPS_FINAL);
}

static bool udp_stream(struct perf_node *node, const struct perf_job *job,
                       bool first)
{
    size_t piece = node->sockets->packet_bytes;
    bool   ok;

    if (!first) {
        return udp_stream_in(node);
    }
    if ((job->kind == PERF_JOB_UDP_SEGMENTS) &&
        udp_cut(node->sockets, (int)piece)) {
        piece *= LOOPS_SEGMENT_COUNT;
    }
    ok = udp_stream_out(node, job, piece);
    (void)udp_cut(node->sockets, 0);
    return ok;
}

/* --------------------------------------------------------------------------*/

static bool loops_run(struct perf_node *node, const struct perf_job *job,
                      bool first)
{
    switch ((enum perf_job_kind)job->kind) {
    case PERF_JOB_UDP_PING:
        return first ? udp_ping(node, job) : udp_pong(node, job);
    case PERF_JOB_TCP_PING:
        return first ? tcp_ping(node, job) : tcp_pong(node, job);
    case PERF_JOB_TCP_STREAM:
        return first ? tcp_stream_out(node, job) : tcp_stream_in(node, job);
    default:
        return udp_stream(node, job, first);
    }
}

void perf_sockets_run(struct perf_node *node, const struct perf_job *job,
                      bool first)
{
    struct perf_sockets *sockets = node->sockets;

    if ((sockets->tcp >= 0) && !loops_run(node, job, first)) {
        /* The other side finds out by the end of the stream. */
        tool_note("bare sockets are given up: %s", strerror(errno));
        close(sockets->tcp);
        sockets->tcp = -1;
    }
}
