/* SPDX-License-Identifier: BSD-3-Clause */
/* model_bytes.c - reader and writer against index arithmetic. */
#include "fuzz/models.h"

#include <string.h>

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/bytes.h"

enum { ROOM_BYTES_MAX = 256, GUARD = 0xee };

/* A naive writer: what should be in the buffer. */
struct naive {
    uint8_t bytes[ROOM_BYTES_MAX];
    size_t  size;
    size_t  length;
    bool    failed;
};

static void naive_write(struct naive *naive, uint64_t value, size_t size)
{
    size_t i;

    if (naive->failed || (naive->length + size > naive->size)) {
        naive->failed = true;
        return;
    }
    for (i = 0; i < size; ++i) {
        naive->bytes[naive->length++] = (uint8_t)(value >> (8 * i));
    }
}

/* @return How many bytes the kind of field takes. */
static size_t write_one(struct ucs_writer *writer, unsigned kind,
                        uint64_t value)
{
    switch (kind) {
    case 0:
        ucs_write_u8(writer, (uint8_t)value);
        return 1;
    case 1:
        ucs_write_le16(writer, (uint16_t)value);
        return 2;
    case 2:
        ucs_write_le32(writer, (uint32_t)value);
        return 4;
    default:
        ucs_write_le64(writer, value);
        return 8;
    }
}

static uint64_t read_one(struct ucs_reader *reader, unsigned kind)
{
    switch (kind) {
    case 0:
        return ucs_read_u8(reader);
    case 1:
        return ucs_read_le16(reader);
    case 2:
        return ucs_read_le32(reader);
    default:
        return ucs_read_le64(reader);
    }
}

/* Write fields at random; what came out must be what the naive writer has,
 * nothing beyond it is touched, and a counting writer counts the same. */
static void check_writer(struct tape *tape)
{
    struct naive      naive = {.size = tape_u8(tape) % ROOM_BYTES_MAX};
    uint8_t           room[ROOM_BYTES_MAX];
    struct ucs_writer writer, counter;
    size_t            i, counted = 0;

    memset(room, GUARD, sizeof(room));
    ucs_writer_init(&writer, room, naive.size);
    ucs_writer_init(&counter, NULL, 0);
    for (i = 0; i < 40; ++i) {
        unsigned kind  = tape_u8(tape) & 3;
        uint64_t value = tape_u64(tape);
        size_t   size  = write_one(&writer, kind, value);

        counted += write_one(&counter, kind, value);
        naive_write(&naive, value, size);
        ucs_check(ucs_write_ok(&writer) == !naive.failed);
        ucs_check(ucs_write_length(&writer) == naive.length);
    }
    ucs_check(ucs_write_ok(&counter));
    ucs_check(ucs_write_length(&counter) == counted);
    ucs_check(memcmp(room, naive.bytes, naive.length) == 0);
    for (i = naive.length; i < sizeof(room); ++i) {
        ucs_check(room[i] == GUARD);
    }
}

/* The value of size bytes at a place, the slow way. */
static uint64_t naive_read(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;

    while (size > 0) {
        value = (value << 8) | bytes[--size];
    }
    return value;
}

/* Skip or copy a number of bytes that may be absurd. @return that number. */
static size_t read_many(struct ucs_reader *reader, struct tape *tape,
                        const uint8_t *expected, size_t left)
{
    static const uint8_t zeros[ROOM_BYTES_MAX];
    uint8_t              buffer[ROOM_BYTES_MAX];
    size_t               size;

    if ((tape_u8(tape) & 1) == 0) {
        size = (size_t)tape_scaled(tape);
        ucs_read_skip(reader, size);
    } else {
        size = tape_u8(tape);
        ucs_read_bytes(reader, buffer, size);
        ucs_check(memcmp(buffer, (size <= left) ? expected : zeros, size) == 0);
    }
    return size;
}

/* Read the input itself; nothing outside of it may be touched, which
 * AddressSanitizer watches. */
static void check_reader(struct tape *tape)
{
    const uint8_t    *bytes = tape->bytes;
    size_t            left  = tape->size;
    struct ucs_reader reader;
    unsigned          kind;
    uint64_t          value;
    size_t            size;
    bool              fits;

    ucs_reader_init(&reader, tape->bytes, tape->size);
    do {
        kind = tape_u8(tape) % 5;
        if (kind == 4) {
            size = read_many(&reader, tape, bytes, left);
            fits = (size <= left);
        } else {
            size  = (size_t)1 << kind;
            value = read_one(&reader, kind);
            fits  = (size <= left);
            ucs_check(value == (fits ? naive_read(bytes, size) : 0));
        }
        ucs_check(ucs_read_ok(&reader) == fits);
        bytes += fits ? size : 0;
        left = fits ? left - size : 0;
        ucs_check(ucs_read_left(&reader) == left);
    } while (fits && !tape_is_over(tape));
    if (!fits) { /* a failure stays, whatever comes */
        ucs_check(ucs_read_u8(&reader) == 0);
        ucs_check(ucs_read_view(&reader, 0) == NULL);
        ucs_check(!ucs_read_ok(&reader));
    }
}

void model_bytes(const uint8_t *data, size_t size)
{
    struct tape tape = {data, size, 0};

    check_writer(&tape);
    check_reader(&tape);
}
