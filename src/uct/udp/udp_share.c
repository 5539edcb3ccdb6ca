/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_share.c - count what waits. */
#include "uct/udp/udp_share.h"

static const uint32_t share_room[UDP_SHARE_COUNT] = {
    [UDP_SHARE_SMALL]  = UDP_SHARE_SMALL_MAX,
    [UDP_SHARE_LARGE]  = UDP_SHARE_LARGE_MAX,
    [UDP_SHARE_HUGE]   = UDP_SHARE_HUGE_MAX,
    [UDP_SHARE_RING]   = UDP_SHARE_RING_MAX,
    [UDP_SHARE_ANSWER] = UDP_SHARE_ANSWER_MAX,
};

bool udp_share_has(const struct udp_conn *conn, enum udp_share share)
{
    uint32_t used = ucs_min(conn->env->shares[share], share_room[share]);

    return conn->shares[share] < (share_room[share] - used) / UDP_SHARE_PART;
}

struct udp_held *udp_share_hold(struct udp_conn *conn, size_t length)
{
    struct udp_held *held = NULL;

    if (udp_share_has(conn, udp_held_share(length))) {
        held = udp_env_hold(conn->env, length);
    }
    if (held != NULL) {
        udp_share_add(conn, (enum udp_share)held->share);
    }
    return held;
}

void udp_share_release(struct udp_conn *conn, const struct udp_held *held)
{
    udp_share_remove(conn, (enum udp_share)held->share);
}

static void share_put_ring(struct udp_conn *conn, void **ring, uint32_t count)
{
    if (count == UDP_WINDOW_COUNT) {
        udp_share_remove(conn, UDP_SHARE_RING);
    }
    ucs_mpool_put(ring);
}

static void **share_ring(struct udp_conn *conn, uint32_t count)
{
    void **ring = NULL;

    if ((count == UDP_RING_COUNT) || udp_share_has(conn, UDP_SHARE_RING)) {
        ring = udp_env_ring(conn->env, count);
    }
    if ((ring != NULL) && (count == UDP_WINDOW_COUNT)) {
        udp_share_add(conn, UDP_SHARE_RING);
    }
    return ring;
}

bool udp_share_place(struct udp_conn *conn, uint32_t number)
{
    struct udp_receive *receive      = &conn->receive;
    uint32_t            count_before = receive->ring_count;
    uint32_t            count = (number - receive->expected < UDP_RING_COUNT)
                                    ? UDP_RING_COUNT
                                    : UDP_WINDOW_COUNT;
    void              **ring, **before;

    if (udp_receive_fits(receive, number)) {
        return true;
    }
    ring = share_ring(conn, count);
    if (ring == NULL) {
        return false;
    }
    before = udp_receive_lend(receive, ring, count);
    if (before != NULL) {
        share_put_ring(conn, before, count_before);
    }
    return true;
}

void udp_share_return(struct udp_conn *conn)
{
    uint32_t count = conn->receive.ring_count;
    void   **ring  = udp_receive_return(&conn->receive);

    if (ring != NULL) {
        share_put_ring(conn, ring, count);
    }
}
