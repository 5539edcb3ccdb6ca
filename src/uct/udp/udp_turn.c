/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_turn.c - one turn of all connections of an environment: what
 * timed out, what is due, who has something to send, who owes an answer. */
#include "uct/udp/udp_bundle.h"

/* Everybody who waits gets one turn; who is not through comes again. */
static unsigned turn_busy(struct udp_env *env)
{
    struct ucs_list  round;
    struct udp_conn *conn;
    unsigned         count = 0;

    ucs_list_init(&round);
    ucs_list_splice_tail(&round, &env->busy);
    while (!ucs_list_is_empty(&round)) {
        conn = ucs_list_first(&round, struct udp_conn, busy_link);
        ucs_list_remove(&conn->busy_link);
        conn->is_busy = false;
        count += (udp_conn_pump(conn, UDP_CREDIT_BYTES) > 0);
    }
    return count;
}

void udp_env_catch_up(struct udp_env *env)
{
    struct udp_conn *conn   = env->deferred;
    uint64_t         now_ns = env->now_ns;

    if (conn != NULL) {
        env->deferred = NULL;
        env->now_ns   = env->deferred_ns; /* it measures the path */
        udp_conn_take_ack(conn, &env->deferred_head, NULL, 0);
        env->now_ns = now_ns;
    }
}

void udp_env_send_bundles(struct udp_env *env)
{
    ++env->turn;
    while (!ucs_list_is_empty(&env->bundles)) {
        udp_bundle_send(
            ucs_list_first(&env->bundles, struct udp_conn, bundle_link));
    }
}

unsigned udp_env_acknowledge(struct udp_env *env)
{
    struct udp_conn *conn;
    uint64_t         deadline_ns;
    unsigned         count = 0;

    while (!ucs_list_is_empty(&env->owing)) {
        conn        = ucs_list_first(&env->owing, struct udp_conn, owing_link);
        deadline_ns = udp_receive_deadline_ns(&conn->receive);
        if ((deadline_ns != UINT64_MAX) && (deadline_ns > env->now_ns)) {
            break; /* those behind it owe for a shorter time */
        }
        ucs_list_remove(&conn->owing_link);
        conn->is_owing = false;
        if (deadline_ns != UINT64_MAX) {
            udp_conn_send_ack(conn);
            ++count;
        }
    }
    return count;
}

unsigned udp_env_settle(struct udp_env *env)
{
    struct udp_conn *conn;
    unsigned         count = 0;

    while (!ucs_list_is_empty(&env->owing)) {
        conn = ucs_list_first(&env->owing, struct udp_conn, owing_link);
        ucs_list_remove(&conn->owing_link);
        conn->is_owing = false;
        if (udp_receive_deadline_ns(&conn->receive) != UINT64_MAX) {
            udp_conn_send_ack(conn);
            ++count;
        }
    }
    return count;
}

void udp_env_reopen(struct udp_env *env, struct udp_conn *conn)
{
    (void)env;
    if (conn->was_shut && (conn->state == UDP_CONN_OPEN)) {
        udp_conn_send_ack(conn);
    }
}

unsigned udp_env_turn(struct udp_env *env)
{
    unsigned count;

    env->is_blocked = false; /* ask the socket again */
    udp_env_catch_up(env);
    udp_env_send_bundles(env);
    count = ucsi_hotel_run(&env->hotel, env->now_ns);
    count += ucsi_timer_queue_run(&env->timers, env->now_ns);
    if (!ucs_list_is_empty(&env->busy)) {
        count += turn_busy(env);
    }
    if (ucs_unlikely(env->now_ns >= env->rest_ns)) {
        udp_env_rest(env);
    }
    return count + udp_env_acknowledge(env);
}

uint64_t udp_env_deadline_ns(const struct udp_env *env)
{
    uint64_t         deadline_ns = ucs_timer_queue_deadline_ns(&env->timers);
    struct udp_conn *conn;

    if ((!ucs_list_is_empty(&env->busy) && !env->is_blocked) ||
        !ucs_list_is_empty(&env->bundles)) {
        return 0;
    }
    deadline_ns = ucs_min(deadline_ns, ucsi_hotel_deadline_ns(&env->hotel));
    if (!ucs_list_is_empty(&env->owing)) {
        conn = ucs_list_first(&env->owing, struct udp_conn, owing_link);
        deadline_ns =
            ucs_min(deadline_ns, udp_receive_deadline_ns(&conn->receive));
    }
    return deadline_ns;
}
