/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/rkey_wire.c - remote keys as bytes, and back. */
#include "ucp/core/rkey_wire.h"

#include <stdio.h>

#include "ucs/bytes.h"
#include "ucs/checksum.h"

enum {
    RKEY_MAGIC_0        = 'C',
    RKEY_MAGIC_1        = 'k',
    RKEY_VERSION        = 1,
    RKEY_LENGTH_OFFSET  = 4,
    RKEY_CHECK_OFFSET   = 6,
    RKEY_CHECKSUM_BYTES = 4,
    RKEY_BYTES_MIN      = UCP_RKEY_HEADER_BYTES + RKEY_CHECKSUM_BYTES,
};

static uint16_t rkey_head_check(const uint8_t *bytes)
{
    uint32_t sum = ucs_checksum32(bytes, RKEY_CHECK_OFFSET);

    return (uint16_t)(sum ^ (sum >> 16));
}

/* What a key takes in the buffer. */
static size_t rkey_key_bytes(const struct ucp_rkey_wire_key *key)
{
    return 1 + strlen(key->transport) + 1 + 1 + key->size_bytes;
}

static void rkey_write_key(struct ucs_writer              *writer,
                           const struct ucp_rkey_wire_key *key)
{
    ucs_write_u8(writer, (uint8_t)strlen(key->transport));
    ucs_write_bytes(writer, key->transport, strlen(key->transport));
    ucs_write_u8(writer, key->domain);
    ucs_write_u8(writer, (uint8_t)key->size_bytes);
    ucs_write_bytes(writer, key->bytes, key->size_bytes);
}

size_t ucp_rkey_encode(const struct ucp_rkey_view *view, uint8_t *bytes)
{
    size_t            room  = UCP_RKEY_BYTES_MAX - RKEY_BYTES_MIN;
    uint8_t           count = 0;
    struct ucs_writer writer;
    size_t            length;

    ucs_writer_init(&writer, bytes, UCP_RKEY_BYTES_MAX);
    ucs_write_u8(&writer, RKEY_MAGIC_0);
    ucs_write_u8(&writer, RKEY_MAGIC_1);
    ucs_write_u8(&writer, RKEY_VERSION);
    ucs_write_u8(&writer, 0);   /* the keys, below */
    ucs_write_le16(&writer, 0); /* the length, below */
    ucs_write_le16(&writer, 0); /* the check, below */
    ucs_write_le64(&writer, view->name);
    for (unsigned i = 0; i < view->key_count; ++i) {
        size_t size_bytes = rkey_key_bytes(&view->keys[i]);

        if (size_bytes <= room) {
            rkey_write_key(&writer, &view->keys[i]);
            room -= size_bytes;
            ++count;
        }
    }
    length   = ucs_write_length(&writer) + RKEY_CHECKSUM_BYTES;
    bytes[3] = count;
    ucs_put_le16(bytes + RKEY_LENGTH_OFFSET, (uint16_t)length);
    ucs_put_le16(bytes + RKEY_CHECK_OFFSET, rkey_head_check(bytes));
    ucs_write_le32(&writer,
                   ucs_checksum32(bytes, length - RKEY_CHECKSUM_BYTES));
    return length;
}

/* Why the first bytes are not those of a key; NULL: they are. */
static const char *rkey_head_fault(const uint8_t *bytes)
{
    size_t length = ucs_get_le16(bytes + RKEY_LENGTH_OFFSET);

    if ((bytes[0] != RKEY_MAGIC_0) || (bytes[1] != RKEY_MAGIC_1)) {
        return "not a remote key of Causeway";
    }
    if (bytes[2] != RKEY_VERSION) {
        return "a remote key of another version of Causeway";
    }
    if ((ucs_get_le16(bytes + RKEY_CHECK_OFFSET) != rkey_head_check(bytes)) ||
        (length < RKEY_BYTES_MIN) || (length > UCP_RKEY_BYTES_MAX)) {
        return "the head of the remote key was changed";
    }
    return NULL;
}

size_t ucp_rkey_buffer_length(const uint8_t *bytes)
{
    return (rkey_head_fault(bytes) == NULL)
               ? ucs_get_le16(bytes + RKEY_LENGTH_OFFSET)
               : UCP_RKEY_HEAD_BYTES;
}

static ucs_status_t rkey_refuse(char *reason, const char *why)
{
    snprintf(reason, UCT_REASON_BYTES_MAX, "%s", why);
    return UCS_ERR_INVALID_PARAM;
}

static void rkey_read_key(struct ucs_reader        *reader,
                          struct ucp_rkey_wire_key *key)
{
    size_t name_length = ucs_read_u8(reader);

    if (name_length >= sizeof(key->transport)) {
        reader->failed = true;
        return;
    }
    ucs_read_bytes(reader, key->transport, name_length);
    key->transport[name_length] = '\0';
    key->domain                 = ucs_read_u8(reader);
    key->size_bytes             = ucs_read_u8(reader);
    key->bytes = (const uint8_t *)ucs_read_view(reader, key->size_bytes);
}

ucs_status_t ucp_rkey_decode(const uint8_t *bytes, size_t size_bytes,
                             struct ucp_rkey_view *view_p, char *reason)
{
    const char       *fault;
    struct ucs_reader reader;
    size_t            length;

    if (size_bytes < UCP_RKEY_HEAD_BYTES) {
        return rkey_refuse(reason, "the remote key is cut");
    }
    fault = rkey_head_fault(bytes);
    if (fault != NULL) {
        return rkey_refuse(reason, fault);
    }
    length = ucs_get_le16(bytes + RKEY_LENGTH_OFFSET);
    if (size_bytes < length) {
        return rkey_refuse(reason, "the remote key is cut");
    }
    length -= RKEY_CHECKSUM_BYTES;
    if (ucs_get_le32(bytes + length) != ucs_checksum32(bytes, length)) {
        return rkey_refuse(reason, "the remote key was changed");
    }
    view_p->key_count = bytes[3];
    ucs_reader_init(&reader, bytes, length);
    ucs_read_skip(&reader, UCP_RKEY_HEAD_BYTES);
    view_p->name = ucs_read_le64(&reader);
    if (view_p->key_count > UCP_RKEY_KEY_COUNT_MAX) {
        return rkey_refuse(reason, "the remote key names too many keys");
    }
    for (unsigned i = 0; i < view_p->key_count; ++i) {
        rkey_read_key(&reader, &view_p->keys[i]);
    }
    return (ucs_read_ok(&reader) && (ucs_read_left(&reader) == 0))
               ? UCS_OK
               : rkey_refuse(reason, "the remote key is inconsistent");
}
