/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_crypt.c - a connection whose packets nobody else reads
 * (UCX_NET_ENCRYPT=y, udp_crypt.h).
 *
 *     head, extension, payload --gather--> scratch --seal--> transmit
 *     packet --open where it lies--> the same as it was before
 *
 * Everything behind the head is encrypted, each packet of a batch for itself;
 * the head is authenticated with it. Of the handshake, which is what the keys
 * come from, only the tag protects. What the two ends agree on is in HELLO and
 * ACCEPT, under that tag: nobody on the way can talk them out of it. */
#include "uct/udp/udp_conn_parts.h"

#include <string.h>

#include "ucs/bytes.h"
#include "ucs/log.h"

bool udp_connect_agrees(const struct udp_env *env, unsigned ciphers)
{
    enum udp_crypt_algorithm algorithm;

    if ((env->ciphers == 0) && (ciphers == 0)) {
        return true;
    }
    return udp_crypt_choose(env->ciphers, ciphers, &algorithm) == UCS_OK;
}

ucs_status_t udp_conn_encrypt(struct udp_conn *conn, unsigned ciphers,
                              uint64_t server_nonce)
{
    struct udp_crypt_params params = {.client_nonce = conn->client_nonce,
                                      .server_nonce = server_nonce,
                                      .is_client    = conn->is_initiator};
    ucs_status_t            status;

    if ((conn->env->ciphers == 0) || (conn->crypt != NULL)) {
        return UCS_OK;
    }
    status = udp_crypt_choose(conn->env->ciphers, ciphers, &params.algorithm);
    if (status != UCS_OK) {
        return status;
    }
    conn->crypt = (struct udp_crypt *)ucs_mpool_get(&conn->env->crypts);
    if (conn->crypt == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucs_put_le64(params.secret, conn->handshake.key[0]);
    ucs_put_le64(params.secret + 8, conn->handshake.key[1]);
    status = udp_crypt_init(conn->crypt, &params);
    if (status != UCS_OK) {
        udp_conn_forget_crypt(conn);
    }
    return status;
}

void udp_conn_forget_crypt(struct udp_conn *conn)
{
    if (conn->crypt != NULL) {
        udp_crypt_cleanup(conn->crypt);
        ucs_mpool_put(conn->crypt);
        conn->crypt = NULL;
    }
}

bool udp_conn_decrypt(struct udp_conn *conn, const struct udp_head *head,
                      uint8_t *bytes, size_t *length_p)
{
    ucs_status_t status =
        udp_crypt_open(conn->crypt, bytes, UDP_HEAD_BYTES, *length_p, length_p);

    if (status == UCS_ERR_ALREADY_EXISTS) {
        udp_count(conn->env, UDP_COUNT_DUPLICATES);
        return false;
    }
    if ((status != UCS_OK) ||
        (*length_p < UDP_HEAD_BYTES + udp_wire_extension_bytes(head->kind))) {
        udp_count(conn->env, UDP_COUNT_BAD_TAG);
        return false;
    }
    return true;
}

/* ----------------------------------------------------------------- way out */

/* Where the bytes of a gather list are. */
struct crypt_source {
    const struct iovec *iov;
    size_t              offset; /* in *iov */
};

static void crypt_copy(struct crypt_source *source, uint8_t *to, size_t length)
{
    size_t part;

    while (length > 0) {
        part = ucs_min(length, source->iov->iov_len - source->offset);
        memcpy(to, (const uint8_t *)source->iov->iov_base + source->offset,
               part);
        to += part;
        length -= part;
        source->offset += part;
        if (source->offset == source->iov->iov_len) {
            ++source->iov;
            source->offset = 0;
        }
    }
}

/* Seal packets of part_bytes, the last may be shorter, as many as one send
 * takes. @return bytes in the scratch; *length_p is what is left. */
static size_t crypt_fill(struct udp_conn *conn, struct crypt_source *source,
                         size_t part_bytes, size_t *length_p)
{
    uint8_t *scratch = conn->env->scratch;
    size_t   used    = 0, part;
    unsigned count   = 0;

    while (
        (*length_p > 0) && (count < UDP_IO_SEGMENT_COUNT_MAX) &&
        (used + part_bytes + UDP_CRYPT_TRAILER_BYTES <= UDP_IO_OUT_BYTES_MAX)) {
        part = ucs_min(part_bytes, *length_p);
        crypt_copy(source, scratch + used, part);
        used +=
            udp_crypt_seal(conn->crypt, scratch + used, UDP_HEAD_BYTES, part);
        *length_p -= part;
        ++count;
    }
    return used;
}

size_t udp_conn_transmit_sealed(struct udp_conn *conn, struct udp_out *out)
{
    struct crypt_source source = {.iov = out->iov};
    struct iovec        sealed = {.iov_base = conn->env->scratch};
    struct udp_out      batch  = *out;
    size_t              total  = 0, left, sent, before;
    unsigned            index;
    size_t              part_bytes;

    for (index = 0; index < out->iov_count; ++index) {
        total += out->iov[index].iov_len;
    }
    part_bytes      = (out->segment_bytes != 0) ? out->segment_bytes : total;
    batch.iov       = &sealed;
    batch.iov_count = 1;
    for (left = total; left > 0;) {
        before         = left;
        sealed.iov_len = crypt_fill(conn, &source, part_bytes, &left);
        if (sealed.iov_len == 0) {
            return total - left; /* every number was used: lost */
        }
        batch.segment_bytes = part_bytes + UDP_CRYPT_TRAILER_BYTES;
        batch.sent_bytes    = 0;
        sent                = udp_conn_emit(conn, &batch);
        if (sent < sealed.iov_len) {
            return total - before + sent / batch.segment_bytes * part_bytes;
        }
    }
    return total;
}
