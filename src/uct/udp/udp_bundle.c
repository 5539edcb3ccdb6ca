/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_bundle.c - gather tiny messages; take them apart again. */
#include "uct/udp/udp_bundle.h"

#include "ucs/bytes.h"
#include "uct/udp/udp_conn_parts.h"

enum { BUNDLE_ENTRY_BYTES = 8 };

static size_t bundle_padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* Is this one of many? Counts it. */
static bool bundle_is_burst(struct udp_conn *conn)
{
    if (conn->burst_turn != conn->env->turn) {
        conn->burst_turn  = conn->env->turn;
        conn->burst_count = 0;
    }
    return ++conn->burst_count > UDP_BUNDLE_ALONE_COUNT;
}

static bool bundle_begin(struct udp_conn *conn)
{
    struct udp_env     *env     = conn->env;
    struct udp_segment *segment = udp_env_segment(env, UDP_SMALL_BYTES);

    if (segment == NULL) {
        return false;
    }
    segment->fragment      = NULL;
    segment->payload_bytes = 0;
    segment->head_bytes    = UDP_HEAD_BYTES;
    conn->bundle           = segment;
    ucs_list_add_tail(&env->bundles, &conn->bundle_link);
    ++env->bundle_count;
    return true;
}

uint8_t *udp_bundle_add(struct udp_conn *conn, unsigned am_id, size_t length)
{
    size_t   bytes = BUNDLE_ENTRY_BYTES + bundle_padded(length);
    uint8_t *entry;

    if (!bundle_is_burst(conn) || (length > UDP_BUNDLE_MESSAGE_BYTES)) {
        return NULL;
    }
    if ((conn->bundle != NULL) &&
        (conn->bundle->head_bytes + bytes > UDP_SMALL_BYTES)) {
        udp_bundle_send(conn);
    }
    if ((conn->bundle == NULL) && !bundle_begin(conn)) {
        return NULL;
    }
    entry = conn->bundle->bytes + conn->bundle->head_bytes;
    ucs_put_le64(entry + bytes - 8, 0); /* the padding */
    ucs_put_le64(entry, length | ((uint64_t)am_id << 16));
    conn->bundle->head_bytes += (uint16_t)bytes;
    return entry + BUNDLE_ENTRY_BYTES;
}

/* Nothing is gathered any more. */
static struct udp_segment *bundle_take(struct udp_conn *conn)
{
    struct udp_segment *segment = conn->bundle;

    conn->bundle = NULL;
    ucs_list_remove(&conn->bundle_link);
    --conn->env->bundle_count;
    return segment;
}

void udp_bundle_send(struct udp_conn *conn)
{
    struct udp_segment *segment = bundle_take(conn);

    udp_conn_send_am(conn, segment, 0, UDP_FLAG_BUNDLE,
                     segment->head_bytes - (size_t)UDP_HEAD_BYTES);
}

void udp_bundle_drop(struct udp_conn *conn)
{
    if (conn->bundle != NULL) {
        ucs_mpool_put(bundle_take(conn));
    }
}

void udp_bundle_open(struct udp_conn *conn, uint8_t *bytes, size_t length)
{
    size_t message, taken;

    while ((length >= BUNDLE_ENTRY_BYTES) && (conn->state != UDP_CONN_FAILED)) {
        message = ucs_get_le16(bytes);
        taken   = BUNDLE_ENTRY_BYTES + bundle_padded(message);
        if (taken > length) {
            break;
        }
        conn->env->ops->message(conn->env, conn, bytes[2], NULL,
                                bytes + BUNDLE_ENTRY_BYTES, message);
        bytes += taken;
        length -= taken;
    }
    if (length > 0) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
    }
}
