/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_ring.h - messages of one sender to one receiver, in order.
 *
 *        read             position (of the writer)
 *   ------|--------------------|----------------------> lines, counted for ever
 *   free    records to read      free                   line i is i % 128
 *
 *   line:  | control word |  payload ...           |  64 bytes, a record is
 *          |  ... payload                          |  one or more lines
 *
 * The control word is the only thing that the reader waits for. It holds the
 * turn: which round through the ring it belongs to. A record is complete when
 * the word of its first line has the turn of this round; there is no shared
 * write index, so a short message costs the transfer of one line.
 *
 * Payload fills whole lines, so what was payload in the last round could look
 * like a control word. The line behind a record therefore must not hold the
 * word of this round when the record becomes visible. The writer knows what
 * it left there last, and writes zero where that was anything else than the
 * control word of the last round. For this it always keeps one line free.
 *
 * A record does not wrap: what is left of the ring becomes a padding record.
 *
 * Pure: memory that is given, no allocation, no system call. The reader and
 * the writer trust nothing that the other one writes. */
#ifndef UCT_SM_RING_H_
#define UCT_SM_RING_H_

#include <string.h>

#include "uct/sm/sm_wire.h"

enum uct_sm_ring_limit {
    /* Bytes in front of the payload. */
    UCT_SM_CONTROL_BYTES = 8,
    /* Payload of a record of one line. */
    UCT_SM_ONE_LINE_BYTES_MAX = UCT_SM_LINE_BYTES - UCT_SM_CONTROL_BYTES,
    /* Longest record: with padding and the free line three fit. */
    UCT_SM_RECORD_LINE_COUNT_MAX = UCT_SM_RING_LINE_COUNT / 4,
    UCT_SM_RECORD_BYTES_MAX =
        UCT_SM_RECORD_LINE_COUNT_MAX * UCT_SM_LINE_BYTES - UCT_SM_CONTROL_BYTES,
    /* The reader says how far it is after so many lines at the latest. */
    UCT_SM_PUBLISH_LINE_COUNT = UCT_SM_RING_LINE_COUNT / 4,
    /* Lines that each end fetches ahead of itself: docs/perf/foundation.md. */
    UCT_SM_READ_AHEAD  = 3,
    UCT_SM_WRITE_AHEAD = 12,
};

/* Lines of a record with so much payload. */
static inline unsigned uct_sm_record_lines(size_t payload_bytes)
{
    return (unsigned)((payload_bytes + UCT_SM_CONTROL_BYTES +
                       UCT_SM_LINE_BYTES - 1) /
                      UCT_SM_LINE_BYTES);
}

/* The turn of a line: never 0, the same again after 128 rounds. */
static inline uint8_t uct_sm_turn(uint64_t position)
{
    return (uint8_t)((position / UCT_SM_RING_LINE_COUNT) | 0x80);
}

/* The sender's end.
 * lines       [UCT_SM_RING_BYTES] shared
 * read_p      shared; the reader's position, as it says
 * position    the next line to write
 * read_seen   the reader's position, as last looked up and checked
 * left        what was left in each line: the turn of a control word, or 0
 *             for anything else */
struct uct_sm_ring_writer {
    uint8_t          *lines;
    _Atomic uint64_t *read_p;
    uint64_t          position;
    uint64_t          read_seen;
    uint8_t           left[UCT_SM_RING_LINE_COUNT];
};

/* The receiver's end.
 * position   the next line to read
 * published  what was last written to read_p */
struct uct_sm_ring_reader {
    uint8_t          *lines;
    _Atomic uint64_t *read_p;
    uint64_t          position;
    uint64_t          published;
};

/* Begin at line 0 of a ring whose memory is all zero. */
void uct_sm_ring_writer_init(struct uct_sm_ring_writer *writer, void *lines,
                             _Atomic uint64_t *read_p);
void uct_sm_ring_reader_init(struct uct_sm_ring_reader *reader, void *lines,
                             _Atomic uint64_t *read_p);

static inline _Atomic uint64_t *uct_sm_ring_word(uint8_t *lines,
                                                 uint64_t position)
{
    size_t line = position % UCT_SM_RING_LINE_COUNT;

    return (_Atomic uint64_t *)(void *)(lines + line * UCT_SM_LINE_BYTES);
}

/* Fetch lines that are used soon and that the other end had last. */
static inline void uct_sm_ring_fetch(uint8_t *lines, uint64_t position,
                                     unsigned line_count)
{
    for (; line_count > 0; --line_count, ++position) {
        ucs_prefetch(uct_sm_ring_word(lines, position));
    }
}

/* ---- Writer ---- */

/* The slow half of reserve: look up how far the reader is, write padding.
 * @return false: no room. */
bool uct_sm_ring_reserve_slow(struct uct_sm_ring_writer *writer,
                              unsigned                   line_count);

/* Has the reader written nonsense? Then the channel has failed. */
static inline bool
uct_sm_ring_is_broken(const struct uct_sm_ring_writer *writer)
{
    return writer->read_seen > writer->position;
}

/* Is there room for one line, as far as we have looked? */
static inline bool uct_sm_ring_has_line(const struct uct_sm_ring_writer *writer)
{
    return writer->position + 1 - writer->read_seen < UCT_SM_RING_LINE_COUNT;
}

/* Where the payload of the next record begins; there is room. */
static inline uint8_t *uct_sm_ring_next(const struct uct_sm_ring_writer *writer)
{
    return writer->lines +
           (writer->position % UCT_SM_RING_LINE_COUNT) * UCT_SM_LINE_BYTES +
           UCT_SM_CONTROL_BYTES;
}

/* Find room for a record of line_count lines, up to
 * UCT_SM_RECORD_LINE_COUNT_MAX.
 * @return where its payload goes, 8 bytes into a line; NULL: no room. */
static inline uint8_t *uct_sm_ring_reserve(struct uct_sm_ring_writer *writer,
                                           unsigned line_count)
{
    uint64_t line = writer->position % UCT_SM_RING_LINE_COUNT;

    /* One more line than the record stays free. */
    if (ucs_unlikely((writer->position + line_count - writer->read_seen >=
                      UCT_SM_RING_LINE_COUNT) ||
                     (line + line_count > UCT_SM_RING_LINE_COUNT))) {
        if (!uct_sm_ring_reserve_slow(writer, line_count)) {
            return NULL;
        }
    }
    return uct_sm_ring_next(writer);
}

/* Make sure that the line at `position` cannot be taken for a record of its
 * round. */
static inline void uct_sm_ring_clear(struct uct_sm_ring_writer *writer,
                                     uint64_t                   position)
{
    size_t line = position % UCT_SM_RING_LINE_COUNT;

    if (ucs_unlikely(writer->left[line] !=
                     uct_sm_turn(position - UCT_SM_RING_LINE_COUNT))) {
        /* Ordered before the reader's look by RECORD below. */
        atomic_store_explicit(uct_sm_ring_word(writer->lines, position), 0,
                              memory_order_relaxed);
        writer->left[line] = 0;
    }
}

/* Make the record visible whose payload was written where reserve said.
 * @param control     From uct_sm_control().
 * @param line_count  As reserved, or less. */
static inline void uct_sm_ring_commit(struct uct_sm_ring_writer *writer,
                                      uint64_t control, unsigned line_count)
{
    uint64_t position = writer->position;
    size_t   line     = position % UCT_SM_RING_LINE_COUNT;
    uint8_t  turn     = uct_sm_turn(position);

    if (line_count > 1) {
        memset(&writer->left[line + 1], 0, line_count - 1);
    }
    uct_sm_ring_clear(writer, position + line_count);
    writer->left[line] = turn;
    writer->position   = position + line_count;
    /* RECORD: release, pairs with LOOK: the reader sees the payload, and the
     * line behind it cleared. */
    atomic_store_explicit(uct_sm_ring_word(writer->lines, position),
                          control | turn, memory_order_release);
    uct_sm_ring_fetch(writer->lines, position + UCT_SM_WRITE_AHEAD, line_count);
}

/* ---- Reader ---- */

/* Look for the next record; padding is one too.
 * @return its control word, or 0: none is there. */
static inline uint64_t uct_sm_ring_look(const struct uct_sm_ring_reader *reader)
{
    /* LOOK: acquire, pairs with RECORD. */
    uint64_t control =
        atomic_load_explicit(uct_sm_ring_word(reader->lines, reader->position),
                             memory_order_acquire);

    return ((uint8_t)control == uct_sm_turn(reader->position)) ? control : 0;
}

/* Where the payload of the next record is. */
static inline uint8_t *
uct_sm_ring_payload(const struct uct_sm_ring_reader *reader)
{
    return reader->lines +
           (reader->position % UCT_SM_RING_LINE_COUNT) * UCT_SM_LINE_BYTES +
           UCT_SM_CONTROL_BYTES;
}

/* Lines to the end of the ring. */
static inline unsigned
uct_sm_ring_lines_left(const struct uct_sm_ring_reader *reader)
{
    return UCT_SM_RING_LINE_COUNT -
           (unsigned)(reader->position % UCT_SM_RING_LINE_COUNT);
}

/* Tell the writer how far the reader is. */
static inline void uct_sm_ring_publish(struct uct_sm_ring_reader *reader)
{
    reader->published = reader->position;
    /* ROOM: release, pairs with FULL in sm_ring.c: the payload was read. */
    atomic_store_explicit(reader->read_p, reader->position,
                          memory_order_release);
}

/* Step over the next record; its lines may be overwritten soon.
 * @return true: published just now. */
static inline bool uct_sm_ring_advance(struct uct_sm_ring_reader *reader,
                                       unsigned                   line_count)
{
    reader->position += line_count;
    if (reader->position - reader->published < UCT_SM_PUBLISH_LINE_COUNT) {
        return false;
    }
    uct_sm_ring_publish(reader);
    return true;
}

#endif
