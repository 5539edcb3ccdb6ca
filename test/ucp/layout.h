/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - a random message in memory, of any datatype, next to a naive
 * model of it: for each byte of the packed form the place where it lies. */
#ifndef TEST_UCP_LAYOUT_H_
#define TEST_UCP_LAYOUT_H_

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/dt/datatype.h"

/* length  packed bytes
 * where   [length] index in memory
 * memory  [memory_bytes], guard bytes around and between the message's */
struct layout {
    enum ucp_dt_class dt_class;
    size_t            length;
    size_t           *where;
    uint8_t          *memory;
    size_t            memory_bytes;
    ucp_dt_iov_t     *iov;
    ucp_datatype_t    datatype;
    void             *buffer;
    size_t            count;
    size_t            pack_bytes_max; /* generic: fewer than asked for */
    int               open_states;    /* generic: started, not finished */
};

/* Draw a layout of a class.
 * @param length_min  It has at least so many bytes: exactly so many, unless
 *                    it is strided. */
void layout_draw(struct layout *layout, enum ucp_dt_class dt_class,
                 size_t length_min);

/* The same of an iov with so many pieces of equal length, and gaps. */
void layout_of_iov(struct layout *layout, size_t length, size_t count);

/* The same of an iov with pieces of those lengths, some perhaps 0. */
void layout_of_pieces(struct layout *layout, const size_t *lengths,
                      size_t count);

/* The same of a given strided layout. */
void layout_of_strided(struct layout *layout, size_t block_bytes,
                       const causeway_dt_level_t *levels, unsigned level_count,
                       size_t extent_bytes, size_t count);

void layout_free(struct layout *layout);

/* Guards everywhere; and a pattern in the message. */
void layout_clear(struct layout *layout);
void layout_fill(struct layout *layout, unsigned seed);

/* The first length bytes hold the pattern, and nothing else was touched. */
void layout_check(const struct layout *layout, size_t length, unsigned seed);

/* @return does the memory hold something else? */
bool layout_differs(const struct layout *layout, size_t length, unsigned seed);

/* Byte offset of the pattern. */
uint8_t layout_byte(unsigned seed, size_t offset);

#endif
