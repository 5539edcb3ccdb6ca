/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_ring.c - the rare cases of a ring: begin, full, end of a round. */
#include "uct/sm/sm_ring.h"

void uct_sm_ring_writer_init(struct uct_sm_ring_writer *writer, void *lines,
                             _Atomic uint64_t *read_p)
{
    writer->lines     = lines;
    writer->read_p    = read_p;
    writer->position  = 0;
    writer->read_seen = 0;
    /* Zero is there: as good as the control word of the round before. */
    memset(writer->left, uct_sm_turn(0 - (uint64_t)UCT_SM_RING_LINE_COUNT),
           sizeof(writer->left));
}

void uct_sm_ring_reader_init(struct uct_sm_ring_reader *reader, void *lines,
                             _Atomic uint64_t *read_p)
{
    reader->lines     = lines;
    reader->read_p    = read_p;
    reader->position  = 0;
    reader->published = 0;
}

/* Are line_count lines and the one behind free? */
static bool ring_has_room(struct uct_sm_ring_writer *writer,
                          uint64_t                   line_count)
{
    uint64_t read;

    if (writer->position + line_count - writer->read_seen <
        UCT_SM_RING_LINE_COUNT) {
        return true;
    }
    /* FULL: acquire, pairs with ROOM: the reader is done with those lines. */
    read = atomic_load_explicit(writer->read_p, memory_order_acquire);
    if (ucs_unlikely((read > writer->position) || (read < writer->read_seen))) {
        /* Nonsense: is_broken() from here on, and never room. */
        writer->read_seen = writer->position + (UINT64_C(1) << 63);
        return false;
    }
    writer->read_seen = read;
    return writer->position + line_count - read < UCT_SM_RING_LINE_COUNT;
}

bool uct_sm_ring_reserve_slow(struct uct_sm_ring_writer *writer,
                              unsigned                   line_count)
{
    unsigned left_count = UCT_SM_RING_LINE_COUNT -
                          (unsigned)(writer->position % UCT_SM_RING_LINE_COUNT);

    if (ucs_unlikely(uct_sm_ring_is_broken(writer))) {
        return false;
    }
    if (line_count <= left_count) {
        return ring_has_room(writer, line_count);
    }
    if (!ring_has_room(writer, (uint64_t)left_count + line_count)) {
        return false;
    }
    /* The lines of the padding but the first keep what they have: `left` does
     * not change, and is no turn of the last round when we come back. */
    uct_sm_ring_clear(writer, writer->position + left_count);
    writer->left[writer->position % UCT_SM_RING_LINE_COUNT] =
        uct_sm_turn(writer->position);
    /* RECORD, as in commit. */
    atomic_store_explicit(uct_sm_ring_word(writer->lines, writer->position),
                          uct_sm_control(UCT_SM_KIND_PADDING, 0, 0, 0) |
                              uct_sm_turn(writer->position),
                          memory_order_release);
    writer->position += left_count;
    return true;
}
