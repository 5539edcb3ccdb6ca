/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/address.c - pack and unpack worker addresses. */
#include "ucp/wireup/address.h"

#include <stdio.h>

#include "ucs/bytes.h"
#include "ucs/checksum.h"

enum {
    ADDRESS_MAGIC_0      = 'C',
    ADDRESS_MAGIC_1      = 'w',
    ADDRESS_VERSION      = 3,
    ADDRESS_CHECK_OFFSET = 3,
    CHECKSUM_BYTES       = 4,
    ADDRESS_BYTES_MIN    = UCP_ADDRESS_HEADER_BYTES + CHECKSUM_BYTES,
};

/* CRC-8 with polynomial x^8 + x^2 + x + 1 over the head without its check:
 * finds every change of up to eight neighbouring bits. */
static uint8_t address_head_check(const uint8_t *bytes)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < UCP_ADDRESS_HEAD_BYTES; ++i) {
        sum ^= (i == ADDRESS_CHECK_OFFSET) ? 0 : bytes[i];
        for (unsigned bit = 0; bit < 8; ++bit) {
            sum = (uint8_t)((sum << 1) ^ ((sum & 0x80) ? 0x07 : 0));
        }
    }
    return sum;
}

size_t ucp_address_encode(const struct ucp_address_view *view, uint8_t *bytes,
                          size_t size_bytes)
{
    size_t            name_length = strlen(view->name);
    struct ucs_writer writer;
    size_t            length;

    ucs_writer_init(&writer, bytes, size_bytes);
    ucs_write_u8(&writer, ADDRESS_MAGIC_0);
    ucs_write_u8(&writer, ADDRESS_MAGIC_1);
    ucs_write_u8(&writer, ADDRESS_VERSION);
    ucs_write_u8(&writer, 0);   /* the check, below */
    ucs_write_le16(&writer, 0); /* the length, below */
    ucs_write_u8(&writer, (uint8_t)view->entry_count);
    ucs_write_u8(&writer, (uint8_t)name_length);
    ucs_write_le64(&writer, view->worker_id);
    ucs_write_bytes(&writer, view->secret, sizeof(view->secret));
    ucs_write_bytes(&writer, view->name, name_length);
    for (unsigned i = 0; i < view->entry_count; ++i) {
        const struct ucp_address_entry *entry = &view->entries[i];

        ucs_write_u8(&writer, (uint8_t)strlen(entry->transport));
        ucs_write_bytes(&writer, entry->transport, strlen(entry->transport));
        ucs_write_u8(&writer, entry->domain);
        ucs_write_u8(&writer, (uint8_t)entry->size_bytes);
        ucs_write_bytes(&writer, entry->bytes, entry->size_bytes);
    }
    length = ucs_write_length(&writer) + CHECKSUM_BYTES;
    if (!ucs_write_ok(&writer) || (length > UCP_ADDRESS_BYTES_MAX)) {
        return 0;
    }
    if (bytes != NULL) {
        ucs_put_le16(bytes + 4, (uint16_t)length);
        bytes[ADDRESS_CHECK_OFFSET] = address_head_check(bytes);
        ucs_write_le32(&writer, ucs_checksum32(bytes, length - CHECKSUM_BYTES));
    }
    return ucs_write_ok(&writer) ? length : 0;
}

static bool address_has_magic(const uint8_t *bytes)
{
    return (bytes[0] == ADDRESS_MAGIC_0) && (bytes[1] == ADDRESS_MAGIC_1);
}

static bool address_head_is_whole(const uint8_t *bytes)
{
    size_t length = ucs_get_le16(bytes + 4);

    return (bytes[ADDRESS_CHECK_OFFSET] == address_head_check(bytes)) &&
           (length >= ADDRESS_BYTES_MIN) && (length <= UCP_ADDRESS_BYTES_MAX);
}

size_t ucp_address_length(const uint8_t *bytes)
{
    bool is_ours = address_has_magic(bytes) && (bytes[2] == ADDRESS_VERSION) &&
                   address_head_is_whole(bytes);

    return is_ours ? ucs_get_le16(bytes + 4) : UCP_ADDRESS_HEAD_BYTES;
}

static void address_read_entry(struct ucs_reader        *reader,
                               struct ucp_address_entry *entry)
{
    size_t name_length = ucs_read_u8(reader);

    if (name_length >= sizeof(entry->transport)) {
        reader->failed = true;
        return;
    }
    ucs_read_bytes(reader, entry->transport, name_length);
    entry->transport[name_length] = '\0';
    entry->domain                 = ucs_read_u8(reader);
    entry->size_bytes             = ucs_read_u8(reader);
    entry->bytes                  = ucs_read_view(reader, entry->size_bytes);
}

static ucs_status_t address_refuse(char *reason, const char *why)
{
    snprintf(reason, UCT_REASON_BYTES_MAX, "%s", why);
    return UCS_ERR_INVALID_ADDR;
}

static void address_read_body(struct ucs_reader       *reader,
                              struct ucp_address_view *view_p)
{
    size_t name_length;

    ucs_read_skip(reader, 6);
    view_p->entry_count = ucs_read_u8(reader);
    name_length         = ucs_read_u8(reader);
    view_p->worker_id   = ucs_read_le64(reader);
    ucs_read_bytes(reader, view_p->secret, sizeof(view_p->secret));
    if ((name_length >= sizeof(view_p->name)) ||
        (view_p->entry_count > UCP_ADDRESS_ENTRY_COUNT_MAX)) {
        reader->failed = true;
        return;
    }
    ucs_read_bytes(reader, view_p->name, name_length);
    view_p->name[name_length] = '\0';
    for (unsigned i = 0; i < view_p->entry_count; ++i) {
        address_read_entry(reader, &view_p->entries[i]);
    }
}

/* Whose bytes are these, and are they all here? */
static ucs_status_t address_check(const uint8_t *bytes, size_t size_bytes,
                                  char *reason)
{
    size_t length;

    if ((size_bytes < UCP_ADDRESS_HEAD_BYTES) || !address_has_magic(bytes)) {
        return address_refuse(reason, "these bytes are no worker address of "
                                      "Causeway (is the peer using another "
                                      "UCX library?)");
    }
    if (bytes[2] != ADDRESS_VERSION) {
        snprintf(reason, UCT_REASON_BYTES_MAX,
                 "the address has version %u, this library reads version %u: "
                 "both sides need the same release",
                 bytes[2], ADDRESS_VERSION);
        return UCS_ERR_INVALID_ADDR;
    }
    if (!address_head_is_whole(bytes)) {
        return address_refuse(reason, "the address was changed on its way: "
                                      "its head is wrong");
    }
    length = ucs_get_le16(bytes + 4);
    if (length > size_bytes) {
        return address_refuse(reason, "the address is cut short");
    }
    length -= CHECKSUM_BYTES;
    if (ucs_get_le32(bytes + length) != ucs_checksum32(bytes, length)) {
        return address_refuse(reason, "the address was changed or cut on its "
                                      "way: the checksum is wrong");
    }
    return UCS_OK;
}

ucs_status_t ucp_address_decode(const uint8_t *bytes, size_t size_bytes,
                                struct ucp_address_view *view_p, char *reason)
{
    ucs_status_t      status = address_check(bytes, size_bytes, reason);
    struct ucs_reader reader;

    if (status != UCS_OK) {
        return status;
    }
    ucs_reader_init(&reader, bytes, ucs_get_le16(bytes + 4) - CHECKSUM_BYTES);
    address_read_body(&reader, view_p);
    if (!ucs_read_ok(&reader) || (ucs_read_left(&reader) != 0)) {
        return address_refuse(reason, "the address is not well formed");
    }
    return UCS_OK;
}
