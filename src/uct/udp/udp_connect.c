/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_connect.c - how a connection begins, stays and ends.
 *
 *    client                           server
 *    HELLO id, nonce         ------->   keeps nothing
 *            <-------         COOKIE made of address, id, nonce, second
 *    CONNECT id, nonce, cookie ----->   a connection, or the one it has
 *            <-------         ACCEPT id, nonce
 *    key = derive(secret of the server's address, both nonces)
 *
 * All four are sealed with the secret of the server's address: who has not
 * got it cannot even ask. The cookie proves that the client receives where it
 * says, so that nobody's name can be misused to fill memory.
 *
 * Silence: after a sixth of the bound a PING, and again. Dead is who did not
 * answer several of them for the whole bound; time in which we did not look
 * ourselves does not count, because we did not ask either. */
#include "uct/udp/udp_connect.h"

#include "uct/udp/udp_detour.h"

#include "ucs/bytes.h"
#include "ucs/clock.h"
#include "uct/udp/udp_conn_parts.h"

enum {
    CONNECT_RETRY_FIRST_NS = 5 * 1000 * 1000,
    CONNECT_RETRY_MAX_NS   = 100 * 1000 * 1000,
    CONNECT_RETRY_SHIFT    = 7,
    CONNECT_DETOUR_NS      = 200 * 1000 * 1000, /* guess: then by both ways */
    CONNECT_BLOCKED_NS     = 1000 * 1000,
    CONNECT_PING_COUNT_MIN = 3,
    CONNECT_PING_PARTS     = 6,  /* of the bound */
    CONNECT_URGENT_PARTS   = 50, /* once so many were not answered: */
    CONNECT_SHUT_MAX_NS    = 50 * 1000 * 1000,
    CONNECT_SHUT_SHIFT     = 5,
};

#define CONNECT_LINGER_NS ((uint64_t)UCS_NS_PER_S)

/* ------------------------------------------------------------ client */

/* What we can, and then what was taken of it. */
static uint16_t connect_ciphers(const struct udp_conn *conn)
{
    return (conn->crypt != NULL) ? (uint16_t)conn->crypt->algorithm
                                 : conn->env->ciphers;
}

/* @return false: the socket is full. */
static bool connect_send(struct udp_conn *conn, unsigned kind)
{
    uint8_t          bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES];
    struct udp_hello hello = {.id            = conn->id,
                              .incarnation   = conn->env->incarnation,
                              .nonce         = conn->nonce,
                              .cookie        = conn->cookie,
                              .buffer_bytes  = conn->env->buffer_bytes,
                              .largest_bytes = conn->env->largest_bytes,
                              .data_port     = conn->data_port,
                              .ciphers       = connect_ciphers(conn)};
    size_t length          = udp_wire_put_hello(bytes + UDP_HEAD_BYTES, &hello);

    return udp_conn_send_control(conn, bytes, kind, length, length);
}

static void connect_ask(struct udp_conn *conn)
{
    uint64_t wait_ns = CONNECT_RETRY_FIRST_NS;

    wait_ns <<= ucs_min(udp_loss_shift(conn->retry_count),
                        (unsigned)CONNECT_RETRY_SHIFT);
    ++conn->retry_count;
    conn->asked_ns      = conn->env->now_ns;
    conn->env->asked_ns = conn->env->now_ns;
    conn->env->asking_count += !conn->is_asking;
    conn->is_asking = true;
    conn->retry_ns =
        conn->env->now_ns + ucs_min(wait_ns, (uint64_t)CONNECT_RETRY_MAX_NS);
    if (!connect_send(conn, (conn->state == UDP_CONN_HELLO)
                                ? UDP_KIND_HELLO
                                : UDP_KIND_CONNECT)) {
        conn->retry_ns = conn->env->now_ns + CONNECT_BLOCKED_NS;
    }
    udp_conn_rearm(conn);
}

void udp_connect_begin(struct udp_conn *conn, uint16_t data_port)
{
    conn->state        = UDP_CONN_HELLO;
    conn->is_initiator = true;
    conn->begun_ns     = conn->env->now_ns;
    conn->heard_ns     = conn->env->now_ns;
    conn->data_port    = data_port;
    conn->client_nonce = conn->nonce;
    connect_ask(conn);
}

/* From now on there is a path: measure it. */
void udp_connect_answered(struct udp_conn *conn)
{
    conn->env->asking_count -= conn->is_asking;
    conn->is_asking = false;
}

static void connect_open(struct udp_conn *conn, const struct udp_hello *hello)
{
    struct udp_env *env = conn->env;

    udp_connect_answered(conn);
    conn->state             = UDP_CONN_OPEN;
    conn->peer_id           = hello->id;
    conn->peer_incarnation  = hello->incarnation;
    conn->peer_buffer_bytes = hello->buffer_bytes;
    conn->begun_ns          = env->now_ns;
    conn->heard_ns          = env->now_ns;
    conn->retry_ns          = UINT64_MAX;
    conn->retry_count       = 0;
    udp_mtu_init(&conn->mtu,
                 ucs_min(env->largest_bytes, hello->largest_bytes) -
                     ((conn->crypt != NULL) ? UDP_CRYPT_TRAILER_BYTES : 0),
                 env->now_ns);
    udp_send_allow(&conn->send, UDP_WINDOW_COUNT);
    udp_conn_make_busy(conn);
    udp_conn_notify(conn);
    udp_conn_rearm(conn);
    if (conn->is_left) {
        udp_connect_close(conn);
    }
}

void udp_connect_packet(struct udp_conn *conn, const struct udp_head *head,
                        const uint8_t *bytes, size_t length)
{
    struct udp_hello hello;

    if (!udp_seal_check(&conn->handshake, bytes,
                        UDP_HEAD_BYTES + udp_wire_extension_bytes(head->kind),
                        length)) {
        udp_count(conn->env, UDP_COUNT_BAD_TAG);
        return;
    }
    udp_wire_get_hello(bytes + UDP_HEAD_BYTES, &hello);
    if ((conn->state == UDP_CONN_HELLO) || (conn->state == UDP_CONN_CONNECT)) {
        udp_detour_follow(conn);
    }
    if ((head->kind == UDP_KIND_COOKIE) &&
        ((conn->state == UDP_CONN_HELLO) ||
         ((conn->state == UDP_CONN_CONNECT) &&
          (conn->cookie != hello.cookie)))) {
        conn->cookie      = hello.cookie;
        conn->state       = UDP_CONN_CONNECT;
        conn->retry_count = 0;
        connect_ask(conn);
    } else if ((head->kind == UDP_KIND_ACCEPT) &&
               /* HELLO: we asked for another cookie meanwhile */
               ((conn->state == UDP_CONN_CONNECT) ||
                (conn->state == UDP_CONN_HELLO)) &&
               (hello.cookie == conn->nonce) &&
               udp_connect_agrees(conn->env, hello.ciphers) &&
               (udp_conn_encrypt(conn, hello.ciphers, hello.nonce) == UCS_OK)) {
        conn->seal =
            udp_seal_derive(&conn->handshake, conn->nonce, hello.nonce);
        if ((conn->state == UDP_CONN_CONNECT) &&
            (conn->retry_count == 1)) { /* it answers the one that we sent */
            udp_rtt_sample(&conn->rtt, conn->env->now_ns - conn->asked_ns, 0);
        }
        connect_open(conn, &hello);
    }
}

/* ------------------------------------------------------------ server */

uint64_t udp_connect_cookie(const struct udp_connect_self *self,
                            const struct ucs_sockaddr     *from,
                            const struct udp_hello *hello, uint64_t second)
{
    struct udp_seal key =
        udp_seal_derive(&self->cookie_key, hello->nonce,
                        hello->incarnation ^ ((uint64_t)hello->id << 32));

    return udp_seal_hash(&key, (const uint8_t *)&from->base, from->size_bytes,
                         second << 32);
}

void udp_connect_send_cookie(struct udp_conn               *stranger,
                             const struct udp_connect_self *self,
                             const struct ucs_sockaddr     *from,
                             const struct udp_hello        *hello)
{
    udp_detour_follow(stranger);
    stranger->handshake             = self->secret;
    stranger->address[UDP_PRIORITY] = *from;
    stranger->peer_id               = hello->id;
    stranger->nonce                 = hello->nonce;
    stranger->cookie                = udp_connect_cookie(self, from, hello,
                                                         stranger->env->now_ns / UCS_NS_PER_S);
    (void)connect_send(stranger, UDP_KIND_COOKIE); /* it asks again */
}

bool udp_connect_is_ours(const struct udp_connect_self *self,
                         const struct ucs_sockaddr     *from,
                         const struct udp_hello *hello, uint64_t now_ns)
{
    uint64_t second = now_ns / UCS_NS_PER_S;

    return (hello->cookie == udp_connect_cookie(self, from, hello, second)) ||
           (hello->cookie == udp_connect_cookie(self, from, hello, second - 1));
}

ucs_status_t udp_connect_accept(struct udp_conn               *conn,
                                const struct udp_connect_self *self,
                                const struct ucs_sockaddr     *from,
                                const struct udp_hello        *hello)
{
    ucs_status_t status;

    conn->handshake             = self->secret;
    conn->address[UDP_PRIORITY] = *from;
    conn->address[UDP_DATA]     = *from;
    ucsi_sockaddr_set_port(&conn->address[UDP_DATA], hello->data_port);
    conn->client_nonce = hello->nonce;
    conn->data_port    = self->data_port;
    conn->seal = udp_seal_derive(&self->secret, hello->nonce, conn->nonce);
    status     = udp_conn_encrypt(conn, hello->ciphers, conn->nonce);
    if (status == UCS_OK) {
        connect_open(conn, hello);
    }
    return status;
}

void udp_connect_send_accept(struct udp_conn *conn, uint16_t data_port)
{
    if (conn->env->came_by != NULL) {
        udp_detour_follow(conn);
    }
    conn->data_port = data_port;
    conn->cookie    = conn->client_nonce;
    (void)connect_send(conn, UDP_KIND_ACCEPT); /* it asks again */
}

/* ------------------------------------------------------- keep-alive */

/* The peer takes nothing now, and nothing of ours makes it speak. */
static bool connect_is_shut(const struct udp_conn *conn)
{
    return !udp_send_is_open(&conn->send, 0) && udp_send_is_idle(&conn->send);
}

static uint64_t connect_ping_interval_ns(const struct udp_conn *conn)
{
    uint64_t shut_ns;

    if (connect_is_shut(conn)) {
        shut_ns = udp_rtt_timeout_ns(&conn->rtt)
                  << ucs_min(conn->retry_count, (unsigned)CONNECT_SHUT_SHIFT);
        return ucs_min(shut_ns, (uint64_t)CONNECT_SHUT_MAX_NS);
    }
    return conn->env->bound_ns / ((conn->pinged_count < UDP_CONN_PING_URGENT)
                                      ? CONNECT_PING_PARTS
                                      : CONNECT_URGENT_PARTS);
}

/* When the next question is due, or silence has lasted long enough. */
static uint64_t connect_ping_ns(const struct udp_conn *conn)
{
    uint64_t ping_ns = ucs_max(conn->heard_ns, conn->pinged_ns) +
                       connect_ping_interval_ns(conn);

    return (conn->pinged_count < CONNECT_PING_COUNT_MIN)
               ? ping_ns
               : ucs_min(ping_ns, conn->heard_ns + conn->env->bound_ns);
}

/* Behind the last segment; the FIN does not count, RESET says the same. */
static uint32_t connect_end_number(const struct udp_conn *conn)
{
    bool has_fin = conn->is_fin_queued && ucs_queue_is_empty(&conn->fragments);

    return conn->send.next - (has_fin ? 1 : 0);
}

bool udp_connect_is_last_word(const struct udp_conn *conn)
{
    return conn->has_peer_fin && conn->is_fin_queued &&
           ucs_queue_is_empty(&conn->fragments) && (conn->bundle == NULL) &&
           (conn->send.first == connect_end_number(conn));
}

/* Say that it is over. */
static void connect_reset(struct udp_conn *conn, ucs_status_t status)
{
    uint8_t           bytes[UDP_HEAD_BYTES + 8];
    struct udp_answer answer = {.operation = connect_end_number(conn),
                                .status    = status};
    size_t length = udp_wire_put_pong(bytes + UDP_HEAD_BYTES, &answer);

    (void)udp_conn_send_control(conn, bytes, UDP_KIND_RESET, length, length);
}

static void connect_keep_alive(struct udp_conn *conn)
{
    uint64_t now_ns = conn->env->now_ns;

    if ((now_ns - conn->heard_ns >= conn->env->bound_ns) &&
        (conn->pinged_count >= CONNECT_PING_COUNT_MIN)) {
        /* It may hear us, and think that all is well. */
        connect_reset(conn, UCS_ERR_ENDPOINT_TIMEOUT);
        udp_conn_fail(conn, UCS_ERR_ENDPOINT_TIMEOUT);
        return;
    }
    if (!connect_is_shut(conn)) {
        conn->retry_count = 0;
    }
    if (now_ns >= connect_ping_ns(conn)) {
        if (conn->pinged_count > 0) {
            udp_detour_silent(conn);
        }
        ++conn->pinged_count;
        ++conn->retry_count;
        conn->pinged_ns = now_ns;
        udp_conn_send_ping(conn, 0);
    }
}

/* Time in which we did not run is nobody's silence. */
static void connect_was_away(struct udp_conn *conn)
{
    uint64_t now_ns = conn->env->now_ns;

    if (now_ns > conn->retry_ns + CONNECT_RETRY_MAX_NS) {
        conn->begun_ns += now_ns - conn->retry_ns;
        conn->retry_count = 0;
    }
}

void udp_connect_step(struct udp_conn *conn)
{
    uint64_t now_ns = conn->env->now_ns;

    switch ((enum udp_conn_state)conn->state) {
    case UDP_CONN_HELLO:
    case UDP_CONN_CONNECT:
        connect_was_away(conn);
        if (now_ns - conn->begun_ns >= conn->env->bound_ns) {
            udp_conn_fail(conn, UCS_ERR_UNREACHABLE);
        } else if (now_ns >= conn->retry_ns) {
            if (conn->retry_count > CONNECT_RETRY_SHIFT) {
                conn->state = UDP_CONN_HELLO; /* the cookie may be old */
            }
            if (now_ns - conn->begun_ns >= CONNECT_DETOUR_NS) {
                udp_detour_try(conn);
            }
            connect_ask(conn);
        }
        break;
    case UDP_CONN_OPEN:
        connect_keep_alive(conn);
        break;
    case UDP_CONN_CLOSED:
        if (now_ns >= conn->linger_ns) {
            conn->is_over = true;
            udp_conn_notify(conn);
        }
        break;
    case UDP_CONN_NEW:
    case UDP_CONN_FAILED:
        break;
    }
}

uint64_t udp_connect_deadline_ns(const struct udp_conn *conn)
{
    switch ((enum udp_conn_state)conn->state) {
    case UDP_CONN_HELLO:
    case UDP_CONN_CONNECT:
        return conn->retry_ns;
    case UDP_CONN_OPEN:
        return connect_ping_ns(conn);
    case UDP_CONN_CLOSED:
        return conn->is_over ? UINT64_MAX : conn->linger_ns;
    case UDP_CONN_NEW:
    case UDP_CONN_FAILED:
        break;
    }
    return UINT64_MAX;
}

/* -------------------------------------------------------------- end */

void udp_connect_close(struct udp_conn *conn)
{
    struct udp_fragment *fin;

    if (conn->is_fin_queued || (conn->state != UDP_CONN_OPEN)) {
        return;
    }
    fin = udp_fragment_new(conn, UDP_KIND_FIN);
    if (fin == NULL) {
        udp_conn_fail(conn, UCS_ERR_NO_MEMORY);
        return;
    }
    conn->is_fin_queued = true;
    conn->is_ending     = true;
    ++conn->env->ending_count;
    fin->flags = UDP_FLAG_ACK_NOW;
    udp_conn_queue_answer(conn, fin);
}

void udp_connect_ended(struct udp_conn *conn)
{
    if (conn->is_ending) {
        conn->is_ending = false;
        --conn->env->ending_count;
    }
}

void udp_connect_closed(struct udp_conn *conn)
{
    /* The FIN may be there before what was sent before it. */
    if (!conn->is_fin_acked || !udp_send_is_idle(&conn->send)) {
        return;
    }
    udp_connect_ended(conn);
    if ((conn->state != UDP_CONN_OPEN) || !conn->has_peer_fin) {
        return;
    }
    conn->state = UDP_CONN_CLOSED;
    conn->linger_ns =
        conn->env->now_ns + ucs_min(CONNECT_LINGER_NS, conn->env->bound_ns);
    udp_conn_rearm(conn);
}

void udp_connect_leave(struct udp_conn *conn)
{
    if (conn->state == UDP_CONN_OPEN) {
        connect_reset(conn, UCS_OK);
    }
}
