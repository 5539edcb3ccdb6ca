/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_ep.c - endpoints: made without a word, connected by the first
 * message, destroyed while everything accepted goes on. */
#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"
#include "uct/base/ep.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"
#include "uct/udp/udp.h"
#include "uct/udp/udp_conn_parts.h"
#include "uct/udp/udp_detour.h"

static struct udp_iface *ep_iface(const struct udp_ep *ep)
{
    return udp_iface_of(ep->base.iface);
}

static struct udp_conn *ep_conn_new(struct udp_iface         *iface,
                                    const struct udp_address *address)
{
    struct udp_conn *conn = udp_peers_new(iface);

    if (conn != NULL) {
        conn->handshake             = address->secret;
        conn->address[UDP_PRIORITY] = address->channels[UDP_PRIORITY];
        conn->address[UDP_DATA]     = address->channels[UDP_DATA];
        conn->peer_incarnation      = address->incarnation;
    }
    return conn;
}

/* Each is the other's detour. */
static void ep_pair(const struct udp_ep *ep, const struct uct_ep *spare)
{
    struct udp_conn  *conn = ep->conn, *other = udp_ep_of(spare)->conn;
    struct udp_iface *iface       = ep_iface(ep);
    struct udp_iface *other_iface = ep_iface(udp_ep_of(spare));

    udp_enter(iface);
    udp_enter(other_iface);
    udp_detour_learn(conn, other->env, &other->address[UDP_PRIORITY]);
    udp_detour_learn(other, conn->env, &conn->address[UDP_PRIORITY]);
    udp_leave(other_iface);
    udp_leave(iface);
}

ucs_status_t udp_ep_create(struct uct_iface           *base,
                           const struct uct_ep_params *params,
                           struct uct_ep             **ep_p)
{
    struct udp_iface  *iface = udp_iface_of(base);
    struct udp_address address;
    struct udp_ep     *ep;
    char               reason[UCT_REASON_BYTES_MAX];
    ucs_status_t       status;

    status = udp_iface_decode(iface, params->address, params->address_bytes,
                              &address);
    if (status == UCS_OK) {
        status = udp_iface_check(iface, &address, reason);
    }
    if (status != UCS_OK) {
        return status;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    udp_enter(iface);
    ep->conn = ep_conn_new(iface, &address);
    if (ep->conn != NULL) {
        ep->conn->user = ep;
    }
    udp_leave(iface);
    if (ep->conn == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    ep->is_opening = false;
    uct_inflight_init(&ep->inflight);
    ucti_ep_init(&ep->base, base, params);
    if ((params->spare != NULL) && (params->spare->iface != base) &&
        (params->spare->iface->transport == base->transport)) {
        ep_pair(ep, params->spare);
    }
    *ep_p = &ep->base;
    return UCS_OK;
}

/* ------------------------------------------------ fragments of the caller */

static void ep_own_done(struct uct_req *req)
{
    udp_fragment_free(ucs_container_of(req, struct udp_fragment, own));
}

static void ep_own_forgotten(struct uct_req *req)
{
    (void)req; /* the connection still uses the fragment */
}

void udp_ep_lend(struct udp_ep *ep, struct udp_fragment *fragment,
                 struct uct_req *req)
{
    fragment->own.cb = ep_own_done;
    fragment->req    = (req != NULL) ? req : &fragment->own;
    ucs_list_add_tail(&ep->conn->operations, &fragment->link);
    uct_inflight_add(&ep->inflight, fragment->req);
}

bool udp_ep_finished(struct udp_ep *ep, struct udp_fragment *fragment)
{
    struct uct_req *req    = fragment->req;
    ucs_status_t    status = (ucs_status_t)fragment->status;

    if (req != &fragment->own) {
        udp_fragment_free(fragment);
    }
    return ucti_inflight_finish(&ep->inflight, req, status);
}

void udp_fragment_take_iov(struct udp_fragment  *fragment,
                           const struct uct_iov *iov, unsigned count)
{
    unsigned index;

    for (index = 0; index < count; ++index) {
        if (iov[index].length > 0) {
            fragment->iov[fragment->iov_count].iov_base = iov[index].buffer;
            fragment->iov[fragment->iov_count].iov_len  = iov[index].length;
            ++fragment->iov_count;
        }
    }
}

/* ------------------------------------------------------------ operations */

/* An endpoint that was destroyed and one made after it are two connections, and
 * the peer hears the end of the first before the second says anything. */
static bool ep_may_connect(const struct udp_ep *ep)
{
    return !udp_peers_is_ending(ep_iface(ep), ep->conn->peer_incarnation);
}

/* The first message: over the connection that the peer has made to us, or our
 * own. */
static void ep_connect(struct udp_ep *ep)
{
    struct udp_iface *iface = ep_iface(ep);
    struct udp_conn  *own   = ep->conn;
    struct udp_conn  *conn  = udp_peers_adopt(iface, own->peer_incarnation);

    if (conn == NULL) {
        udp_peers_ask(iface, own);
        return;
    }
    udp_detour_inherit(conn, own);
    ep->conn   = conn;
    conn->user = ep;
    own->user  = NULL;
    udp_peers_free(iface, own);
}

enum uct_may_send udp_ep_may_send(struct uct_ep *base)
{
    struct udp_ep *ep = udp_ep_of(base);
    bool           may;

    if (ep->conn->state == UDP_CONN_NEW) {
        may = ep_may_connect(ep);
    } else if (!udp_env_may_send(ep->conn->env)) {
        return UCT_MAY_SEND_NOBODY;
    } else {
        may = udp_conn_may_send(ep->conn);
    }
    return may ? UCT_MAY_SEND_NOW : UCT_MAY_SEND_LATER;
}

ucs_status_t udp_ep_begin(struct udp_ep *ep, unsigned flags, bool may_queue)
{
    struct udp_conn *conn;
    bool             may_go;

    if (ucs_unlikely(ep->base.failed != UCS_OK)) {
        return ep->base.failed;
    }
    if (uct_ep_must_wait(&ep->base, flags)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    ep->conn->env->now_ns = ucsi_clock_ns();
    if (ucs_unlikely(ep->conn->state == UDP_CONN_NEW)) {
        if (!ep_may_connect(ep)) {
            return uct_ep_refuse(&ep->base, flags);
        }
        ep_connect(ep);
    }
    conn   = ep->conn;
    may_go = may_queue ? udp_conn_is_open(conn) &&
                             (conn->fragment_count < UDP_FRAGMENT_COUNT_MAX)
             : (flags & UCT_FLAG_ANY_ORDER)
                 ? udp_conn_is_open(conn) && udp_conn_has_window(conn)
                 : udp_conn_may_send(conn);
    return ucs_likely(may_go) ? UCS_OK : uct_ep_refuse(&ep->base, flags);
}

/* -------------------------------------------------------------------- end */

/* The caller's memory is the caller's again: what must still go is copied.
 * @return false: no memory. */
static bool ep_copy_out(struct udp_fragment *fragment)
{
    size_t   total = 0;
    unsigned index;
    uint8_t *copy, *next;

    for (index = 0; index < fragment->iov_count; ++index) {
        total += fragment->iov[index].iov_len;
    }
    copy = malloc(total + (total == 0));
    if (copy == NULL) {
        return false;
    }
    next = copy;
    for (index = 0; index < fragment->iov_count; ++index) {
        memcpy(next, fragment->iov[index].iov_base,
               fragment->iov[index].iov_len);
        next += fragment->iov[index].iov_len;
    }
    fragment->copy      = copy;
    fragment->iov[0]    = (struct iovec){copy, total};
    fragment->iov_count = 1;
    return true;
}

/* @return false: it cannot be delivered any more. */
static bool ep_take_back(struct udp_conn *conn, struct udp_fragment *fragment)
{
    bool may_free;

    ucs_list_remove(&fragment->link);
    ucs_list_init(&fragment->link);
    fragment->own.cb = ep_own_forgotten;
    fragment->req    = NULL;
    if (fragment->waits_answer) {
        fragment->waits_answer = false;
        --conn->operation_count;
    }
    if (fragment->kind == UDP_FRAGMENT_FLUSH) {
        return true;
    }
    may_free = fragment->is_sent && (fragment->open_count == 0);
    if (may_free) {
        ucs_queue_push(&conn->canceled, &fragment->queue);
        return true;
    }
    return (fragment->kind == UDP_KIND_GET) || ep_copy_out(fragment);
}

/* Those that went through and were not told yet. */
static void ep_drop_finished(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_pull(&conn->finished)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        if (fragment->req != &fragment->own) {
            udp_fragment_free(fragment);
        }
    }
}

/* Nothing of the caller's remains in the connection. */
static void ep_detach(struct udp_conn *conn)
{
    struct udp_fragment *fragment;

    ep_drop_finished(conn);
    while (!ucs_list_is_empty(&conn->operations)) {
        fragment = ucs_list_first(&conn->operations, struct udp_fragment, link);
        if (!ep_take_back(conn, fragment)) {
            udp_conn_fail(conn, UCS_ERR_NO_MEMORY);
            ep_drop_finished(conn);
        }
    }
}

static void ep_free_canceled(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(&conn->canceled)) != NULL) {
        udp_fragment_free(ucs_container_of(elem, struct udp_fragment, queue));
    }
}

void udp_ep_destroy(struct uct_ep *base)
{
    struct udp_ep    *ep    = udp_ep_of(base);
    struct udp_iface *iface = ep_iface(ep);
    struct udp_conn  *conn  = ep->conn;

    udp_enter(iface);
    iface->env.now_ns = ucsi_clock_ns();
    udp_env_catch_up(&iface->env);
    ucti_ep_cleanup(base);
    ep_detach(conn);
    ucti_inflight_cleanup(&ep->inflight);
    ep_free_canceled(conn);
    conn->user = NULL;
    if (conn->state == UDP_CONN_OPEN) {
        udp_connect_close(conn);
    } else if (conn->state == UDP_CONN_CONNECT) {
        /* The peer may use it already: once it is open it ends as others do. */
        conn->is_left = true;
    } else if (conn->state != UDP_CONN_CLOSED) {
        /* Nothing was accepted, or nothing is left; nobody is answered. */
        conn->state   = UDP_CONN_FAILED;
        conn->is_over = true;
        udp_conn_notify(conn);
    }
    free(ep);
    udp_leave(iface);
}
