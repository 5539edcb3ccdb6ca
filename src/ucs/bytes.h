/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/bytes.h - integers in bytes that come from, or go to, somewhere else.
 *
 * A reader and a writer check every step against their end. A step that does
 * not fit does nothing, and from then on all of them do nothing: a decoder
 * reads all its fields, then asks ucs_read_ok() once. What a failed read
 * answers is zero. Byte order is little endian, any alignment will do.
 *
 * Pure: no allocation, no system call. */
#ifndef UCS_BYTES_H_
#define UCS_BYTES_H_

#include <string.h>

#include "ucs/compiler.h"

/* The value from or to little endian; the same both ways. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ucs_le16_(_value) (_value)
#define ucs_le32_(_value) (_value)
#define ucs_le64_(_value) (_value)
#else
#define ucs_le16_(_value) __builtin_bswap16(_value)
#define ucs_le32_(_value) __builtin_bswap32(_value)
#define ucs_le64_(_value) __builtin_bswap64(_value)
#endif

/* ---- Unchecked: the caller knows that the bytes are there. ---- */

UCS_INLINE uint16_t ucs_get_le16(const void *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return ucs_le16_(value);
}

UCS_INLINE uint32_t ucs_get_le32(const void *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return ucs_le32_(value);
}

UCS_INLINE uint64_t ucs_get_le64(const void *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return ucs_le64_(value);
}

UCS_INLINE void ucs_put_le16(void *bytes, uint16_t value)
{
    value = ucs_le16_(value);
    memcpy(bytes, &value, sizeof(value));
}

UCS_INLINE void ucs_put_le32(void *bytes, uint32_t value)
{
    value = ucs_le32_(value);
    memcpy(bytes, &value, sizeof(value));
}

UCS_INLINE void ucs_put_le64(void *bytes, uint64_t value)
{
    value = ucs_le64_(value);
    memcpy(bytes, &value, sizeof(value));
}

/* ---- Reader ---- */

struct ucs_reader {
    const uint8_t *next;   /* the next byte to read */
    const uint8_t *end;    /* behind the last byte */
    bool           failed; /* a read did not fit; stays so */
};

/* Read size_bytes bytes, lent while the reader and its views are used. */
UCS_INLINE void ucs_reader_init(struct ucs_reader *reader, const void *bytes,
                                size_t size_bytes)
{
    static const uint8_t nothing[1];

    reader->next   = (size_bytes == 0) ? nothing : (const uint8_t *)bytes;
    reader->end    = reader->next + size_bytes;
    reader->failed = false;
}

/* Every read so far fitted. */
UCS_INLINE bool ucs_read_ok(const struct ucs_reader *reader)
{
    return !reader->failed;
}

/* Bytes not read yet; 0 after a failure. */
UCS_INLINE size_t ucs_read_left(const struct ucs_reader *reader)
{
    return reader->failed ? 0 : (size_t)(reader->end - reader->next);
}

/* Step over size_bytes bytes and return where they are, in the memory that
 * was lent; NULL if there are not so many. */
UCS_INLINE const void *ucs_read_view(struct ucs_reader *reader,
                                     size_t             size_bytes)
{
    const uint8_t *view = reader->next;

    if (ucs_unlikely(reader->failed ||
                     (size_bytes > (size_t)(reader->end - view)))) {
        reader->failed = true;
        return NULL;
    }
    reader->next = view + size_bytes;
    return view;
}

UCS_INLINE void ucs_read_skip(struct ucs_reader *reader, size_t size_bytes)
{
    (void)ucs_read_view(reader, size_bytes);
}

/* Copy size_bytes bytes to buffer; on failure fill it with zeros. */
UCS_INLINE void ucs_read_bytes(struct ucs_reader *reader, void *buffer,
                               size_t size_bytes)
{
    const void *view = ucs_read_view(reader, size_bytes);

    if (size_bytes == 0) {
        return; /* buffer may be NULL */
    }
    if (ucs_likely(view != NULL)) {
        memcpy(buffer, view, size_bytes);
    } else {
        memset(buffer, 0, size_bytes);
    }
}

UCS_INLINE uint8_t ucs_read_u8(struct ucs_reader *reader)
{
    const uint8_t *view = (const uint8_t *)ucs_read_view(reader, 1);

    return (view == NULL) ? 0 : *view;
}

UCS_INLINE uint16_t ucs_read_le16(struct ucs_reader *reader)
{
    const void *view = ucs_read_view(reader, sizeof(uint16_t));

    return (view == NULL) ? 0 : ucs_get_le16(view);
}

UCS_INLINE uint32_t ucs_read_le32(struct ucs_reader *reader)
{
    const void *view = ucs_read_view(reader, sizeof(uint32_t));

    return (view == NULL) ? 0 : ucs_get_le32(view);
}

UCS_INLINE uint64_t ucs_read_le64(struct ucs_reader *reader)
{
    const void *view = ucs_read_view(reader, sizeof(uint64_t));

    return (view == NULL) ? 0 : ucs_get_le64(view);
}

/* ---- Writer ---- */

struct ucs_writer {
    uint8_t *base;         /* NULL: count only */
    size_t   size_bytes;   /* room at base; SIZE_MAX when counting */
    size_t   length_bytes; /* written (or counted) so far */
    bool     failed;       /* a write did not fit; stays so */
};

/* Write into size_bytes bytes at base, lent while the writer is used. With
 * base NULL nothing is written and size_bytes does not matter: the same code
 * then computes how much room it needs. */
UCS_INLINE void ucs_writer_init(struct ucs_writer *writer, void *base,
                                size_t size_bytes)
{
    writer->base         = (uint8_t *)base;
    writer->size_bytes   = (base == NULL) ? SIZE_MAX : size_bytes;
    writer->length_bytes = 0;
    writer->failed       = false;
}

/* Every write so far fitted. */
UCS_INLINE bool ucs_write_ok(const struct ucs_writer *writer)
{
    return !writer->failed;
}

/* Bytes written or counted so far. */
UCS_INLINE size_t ucs_write_length(const struct ucs_writer *writer)
{
    return writer->length_bytes;
}

/* Step over size_bytes bytes and return where they are, for the caller to
 * fill; NULL if they do not fit, or when counting. */
UCS_INLINE void *ucs_write_reserve(struct ucs_writer *writer, size_t size_bytes)
{
    size_t offset_bytes = writer->length_bytes;

    if (ucs_unlikely(writer->failed ||
                     (size_bytes > writer->size_bytes - offset_bytes))) {
        writer->failed = true;
        return NULL;
    }
    writer->length_bytes = offset_bytes + size_bytes;
    return (writer->base == NULL) ? NULL : writer->base + offset_bytes;
}

UCS_INLINE void ucs_write_bytes(struct ucs_writer *writer, const void *bytes,
                                size_t size_bytes)
{
    void *room = ucs_write_reserve(writer, size_bytes);

    if ((room != NULL) && (size_bytes > 0)) {
        memcpy(room, bytes, size_bytes);
    }
}

UCS_INLINE void ucs_write_u8(struct ucs_writer *writer, uint8_t value)
{
    ucs_write_bytes(writer, &value, sizeof(value));
}

UCS_INLINE void ucs_write_le16(struct ucs_writer *writer, uint16_t value)
{
    value = ucs_le16_(value);
    ucs_write_bytes(writer, &value, sizeof(value));
}

UCS_INLINE void ucs_write_le32(struct ucs_writer *writer, uint32_t value)
{
    value = ucs_le32_(value);
    ucs_write_bytes(writer, &value, sizeof(value));
}

UCS_INLINE void ucs_write_le64(struct ucs_writer *writer, uint64_t value)
{
    value = ucs_le64_(value);
    ucs_write_bytes(writer, &value, sizeof(value));
}

#endif
