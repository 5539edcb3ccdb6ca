/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_rma.c - put, get and atomics without hardware: the target's
 * transport does them, its application knows nothing.
 *
 *    here                                   there
 *    PUT key, address, bytes  ------------> region? copy
 *    GET key, address, length ------------> region? DATA, bytes copied as they
 *        user memory <---- DATA offset ---- go, since the region may vanish
 *    ATOMIC key, address, op  ------------> region? do it once
 *        result <---------- RESULT value --
 *                 <-------- RESULT error -- if the key says no
 *
 * The asker checks bounds and rights against its key before it asks, so a
 * refusal here means a key that is made up or was taken back. A put has no
 * other answer than that it arrived, so one that is refused does not arrive
 * before its asker has heard why:
 *
 *    PUT ---------------------------------> refused: dropped
 *        <------------------ RESULT error --
 *    PUT, UDP_FLAG_REFUSED ---------------> taken, and forgotten
 *
 * The refusal overtakes all else, past a full window: what fills it may be puts
 * that the other one refuses in turn, and whose end waits for this word. */
#include "uct/udp/udp_conn_parts.h"
#include "uct/udp/udp_share.h"

#include <string.h>

#include "ucs/assert.h"
#include "uct/base/atomic.h"

/* An answer to a peer, which waits for a bounded number at a time: one that
 * takes none of them makes us keep no more. @return NULL: not now. */
static struct udp_fragment *rma_answer(struct udp_conn *conn, unsigned kind,
                                       uint32_t operation)
{
    struct udp_fragment *answer = NULL;

    if ((conn->shares[UDP_SHARE_ANSWER] < UDP_ANSWER_COUNT_MAX) &&
        udp_share_has(conn, UDP_SHARE_ANSWER)) {
        answer = udp_fragment_new(conn, kind);
    }
    if (answer != NULL) {
        udp_share_add(conn, UDP_SHARE_ANSWER);
        answer->operation = operation;
    }
    return answer;
}

/* Tell the asker, unless he is being told. */
static void rma_refuse(struct udp_conn *conn, uint32_t operation)
{
    struct udp_fragment *result;

    if ((conn->refusal != NULL) && (conn->refusal->operation == operation)) {
        return;
    }
    result = rma_answer(conn, UDP_KIND_RESULT, operation);
    if (result != NULL) { /* else when it comes again */
        udp_count(conn->env, UDP_COUNT_BAD_ACCESS);
        result->status = UCS_ERR_INVALID_ADDR;
        udp_conn_queue_refusal(conn, result);
    }
}

/* @return false: it must come again. */
static bool rma_put(struct udp_conn *conn, unsigned flags, const uint8_t *bytes,
                    size_t length)
{
    const uint8_t *payload =
        bytes + UDP_HEAD_BYTES + udp_wire_extension_bytes(UDP_KIND_PUT);
    struct udp_access access;
    void             *target;

    if (flags & UDP_FLAG_REFUSED) {
        return true;
    }
    length -= (size_t)(payload - bytes);
    udp_wire_get_access(bytes + UDP_HEAD_BYTES, &access);
    target = conn->env->ops->region_enter(conn->env, &access, length,
                                          UCT_ACCESS_REMOTE_WRITE);
    if (target == NULL) {
        rma_refuse(conn, access.operation);
        return false;
    }
    memcpy(target, payload, length);
    conn->env->ops->region_leave(conn->env);
    return true;
}

/* Whether it may be read is asked with each packet of the answer. */
static bool rma_get(struct udp_conn *conn, const uint8_t *bytes)
{
    struct udp_access    access;
    struct udp_fragment *data;

    udp_wire_get_access(bytes + UDP_HEAD_BYTES, &access);
    data = rma_answer(conn, UDP_KIND_DATA, access.operation);
    if (data == NULL) {
        return false;
    }
    data->key     = access.key;
    data->address = access.address;
    data->total   = access.length;
    udp_conn_queue_answer(conn, data);
    return true;
}

bool udp_rma_fill(struct udp_fragment *fragment, struct udp_segment *segment,
                  uint8_t *dest)
{
    struct udp_conn  *conn   = fragment->conn;
    struct udp_access access = {.key     = fragment->key,
                                .address = fragment->address + fragment->sent};
    size_t            length = fragment->total - fragment->sent;
    void             *source;

    (void)segment;
    length = ucs_min(length, udp_conn_payload_bytes(conn, UDP_KIND_DATA));
    source = conn->env->ops->region_enter(conn->env, &access, length,
                                          UCT_ACCESS_REMOTE_READ);
    if (source == NULL) {
        udp_count(conn->env, UDP_COUNT_BAD_ACCESS);
        return false;
    }
    memcpy(dest, source, length);
    conn->env->ops->region_leave(conn->env);
    return true;
}

static bool rma_atomic(struct udp_conn *conn, const uint8_t *bytes)
{
    struct udp_access    access;
    struct udp_word      word;
    void                *target = NULL;
    struct udp_fragment *result;

    udp_wire_get_access(bytes + UDP_HEAD_BYTES, &access);
    udp_wire_get_word(bytes + UDP_HEAD_BYTES, &word);
    result = rma_answer(conn, UDP_KIND_RESULT, access.operation);
    if (result == NULL) {
        return false; /* nothing was done: it may come again */
    }
    if (uct_atomic_is_valid(word.op, word.size_bytes, access.address)) {
        target = conn->env->ops->region_enter(
            conn->env, &access, word.size_bytes, UCT_ACCESS_REMOTE_ATOMIC);
    }
    result->status = UCS_ERR_INVALID_ADDR;
    if (target != NULL) {
        struct uct_atomic atomic = {.op         = word.op,
                                    .size_bytes = word.size_bytes,
                                    .operand    = word.operand,
                                    .compare    = word.compare};

        result->address = uct_atomic_apply(&atomic, target);
        conn->env->ops->region_leave(conn->env);
        result->status = UCS_OK;
    } else {
        udp_count(conn->env, UDP_COUNT_BAD_ACCESS);
    }
    udp_conn_queue_answer(conn, result);
    return true;
}

/* ------------------------------------------------ answers, at the asker */

/* Can it have been answered? A message or what was not asked yet has no
 * answer, whatever the peer says. */
static bool rma_is_asked(const struct udp_fragment *fragment)
{
    return (fragment->kind != UDP_KIND_PUT) && fragment->waits_answer &&
           fragment->is_sent;
}

static struct udp_fragment *rma_find(struct udp_conn *conn, uint32_t operation)
{
    struct udp_fragment *fragment;

    ucs_list_for_each (fragment, &conn->operations, link) {
        if ((fragment->operation == operation) && rma_is_asked(fragment)) {
            return fragment;
        }
    }
    return NULL;
}

/* Answered, and all its segments arrived or will be answered for. */
static void rma_done(struct udp_fragment *fragment, ucs_status_t status)
{
    struct udp_conn *conn = fragment->conn;

    fragment->status = status;
    if (fragment->open_count == 0) {
        udp_conn_finish(fragment, status);
        return;
    }
    /* The answer overtook the acknowledgement, which will finish it. */
    ucs_list_remove(&fragment->link);
    ucs_list_init(&fragment->link);
    fragment->waits_answer = false;
    --conn->operation_count;
}

static bool rma_data(struct udp_conn *conn, const uint8_t *bytes, size_t length)
{
    const uint8_t *payload =
        bytes + UDP_HEAD_BYTES + udp_wire_extension_bytes(UDP_KIND_DATA);
    struct iovec         iov[UDP_IOV_COUNT_MAX + 1];
    struct udp_answer    answer;
    struct udp_fragment *fragment;
    unsigned             count, index;

    length -= (size_t)(payload - bytes);
    udp_wire_get_answer(bytes + UDP_HEAD_BYTES, &answer);
    fragment = rma_find(conn, answer.operation);
    if (fragment == NULL) {
        return true; /* canceled */
    }
    if ((fragment->kind != UDP_KIND_GET) || (answer.value > fragment->total) ||
        (length > fragment->total - answer.value)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return true;
    }
    count = udp_fragment_slice(fragment, (size_t)answer.value, length, iov);
    for (index = 0; index < count; ++index) {
        memcpy(iov[index].iov_base, payload, iov[index].iov_len);
        payload += iov[index].iov_len;
    }
    fragment->got += (uint32_t)length;
    if (fragment->got == fragment->total) {
        rma_done(fragment, UCS_OK);
    }
    return true;
}

static bool rma_is_put(const struct udp_fragment *fragment, uint32_t operation)
{
    return (fragment != NULL) && (fragment->kind == UDP_KIND_PUT) &&
           (fragment->operation == operation);
}

/* The put ends with that status when all of it arrived. Somebody waits for it
 * or not, so it is looked for where it is: in the window, or before it. */
static void rma_put_refused(struct udp_conn *conn, uint32_t operation,
                            ucs_status_t status)
{
    struct udp_fragment *head;
    struct udp_segment  *segment;
    uint32_t             number;

    for (number = conn->send.first; number != conn->send.next; ++number) {
        segment = *udp_send_slot(&conn->send, number);
        if ((segment != NULL) && rma_is_put(segment->fragment, operation)) {
            segment->fragment->status = status;
            return;
        }
    }
    if (!ucs_queue_is_empty(&conn->fragments)) {
        head = ucs_container_of(ucs_queue_head(&conn->fragments),
                                struct udp_fragment, queue);
        if (rma_is_put(head, operation) && (head->sent > 0)) {
            head->status = status;
        }
    }
}

static bool rma_result(struct udp_conn *conn, const uint8_t *bytes)
{
    struct udp_answer    answer;
    struct udp_fragment *fragment;
    ucs_status_t         status;

    udp_wire_get_answer(bytes + UDP_HEAD_BYTES, &answer);
    status   = (answer.status == UCS_OK) ? UCS_OK : UCS_ERR_INVALID_ADDR;
    fragment = rma_find(conn, answer.operation);
    if (fragment == NULL) {
        if (status != UCS_OK) {
            rma_put_refused(conn, answer.operation, status);
        }
        return true;
    }
    if ((status == UCS_OK) && (fragment->kind == UDP_KIND_GET)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET); /* then where are they? */
        return true;
    }
    if ((status == UCS_OK) && (fragment->kind == UDP_KIND_ATOMIC)) {
        uct_atomic_give(fragment->result, fragment->word.size_bytes,
                        answer.value);
    }
    rma_done(fragment, status);
    return true;
}

bool udp_rma_arrival(struct udp_conn *conn, const struct udp_head *head,
                     uint8_t *bytes, size_t length)
{
    switch (head->kind) {
    case UDP_KIND_PUT:
        return rma_put(conn, head->flags, bytes, length);
    case UDP_KIND_GET:
        return rma_get(conn, bytes);
    case UDP_KIND_DATA:
        return rma_data(conn, bytes, length);
    case UDP_KIND_ATOMIC:
        return rma_atomic(conn, bytes);
    default:
        return rma_result(conn, bytes);
    }
}
