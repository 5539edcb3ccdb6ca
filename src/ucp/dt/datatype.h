/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/dt/datatype.h - walk over a user's buffer, whatever its datatype.
 *
 *   class     ucp_datatype_t            the user's buffer and count are
 *   contig    element size << 3         one block, count elements
 *   strided   pointer | 1               the first of count elements (strided.h)
 *   iov       2                         an array of count (pointer, length)
 *   generic   pointer | 7               for the user's own pack and unpack
 *
 * An iterator stands at an offset of the packed form. A sender packs from
 * there, or asks for contiguous pieces; a receiver unpacks at any offset, and
 * pays for the distance to the last one at most. The iterator reads the iov
 * array in place: the caller keeps it alive. */
#ifndef UCP_DT_DATATYPE_H_
#define UCP_DT_DATATYPE_H_

#include <string.h>

#include "ucp/dt/strided.h"
#include "ucp/api/ucp.h"
#include "ucs/compiler.h"
#include "uct/api/uct_def.h"

enum {
    /* Pieces that are sent from where they lie, if there are many, have this
     * much on average: below, packing is cheaper than describing (guess). */
    UCP_DT_PIECE_BYTES_MIN = 1024,
    /* The longest element of a generic datatype that we split. Guess: Open MPI
     * has none above 32 bytes. */
    UCP_DT_CARRY_BYTES = 4096,
};

enum ucp_dt_class {
    UCP_DT_CONTIG,
    UCP_DT_IOV,
    UCP_DT_GENERIC,
    UCP_DT_STRIDED,
    UCP_DT_CLASS_COUNT
};

/* What ucp_dt_create_generic() made; the user's handle is its address | 7. */
struct ucp_dt_generic {
    ucp_generic_dt_ops_t ops; /* a copy: the user's struct may be gone */
    void                *context;
};

/* The rest of an element that the user's pack function does not split, as Open
 * MPI's, and that did not fit: packed bytes [offset, offset + length). */
struct ucp_dt_carry {
    size_t offset;
    size_t length;
    char   bytes[UCP_DT_CARRY_BYTES];
};

/* length  send: packed bytes in all; receive: bytes that fit
 * offset  where pack and pieces go on */
struct ucp_dt_iter {
    enum ucp_dt_class dt_class;
    size_t            length;
    size_t            offset;
    union {
        void *contig; /* first byte */
        struct {
            const ucp_dt_iov_t *entries;
            size_t              count;
            size_t              index; /* entry where offset lies */
            size_t              inner; /* bytes of it before offset */
        } iov;
        struct {
            const struct ucp_dt_generic *dt;
            void                        *state;
            struct ucp_dt_carry         *carry; /* NULL: not needed yet */
        } generic;
        struct {
            const struct ucp_dt_strided *dt;
            void                        *base;
        } strided;
    };
};

/* Bytes of a contiguous datatype's element. */
static inline size_t ucp_dt_contig_bytes(ucp_datatype_t datatype)
{
    return (size_t)(datatype >> UCP_DATATYPE_SHIFT);
}

static inline bool ucp_dt_is_contig(ucp_datatype_t datatype)
{
    return (datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG;
}

/* Bytes of count elements.
 * @return false: not contiguous, or more than a size_t holds. */
static inline bool ucp_dt_contig_length(ucp_datatype_t datatype, size_t count,
                                        size_t *length_p)
{
    return ucp_dt_is_contig(datatype) &&
           !__builtin_mul_overflow(count, ucp_dt_contig_bytes(datatype),
                                   length_p);
}

/* Is there no buffer where one is needed? An iov and a generic datatype say
 * themselves what NULL means. */
static inline bool ucp_dt_lacks_buffer(const void *buffer, size_t count,
                                       ucp_datatype_t datatype)
{
    ucp_datatype_t dt_class = datatype & UCP_DATATYPE_CLASS_MASK;

    return (buffer == NULL) && (count > 0) &&
           ((dt_class == UCP_DATATYPE_STRIDED) ||
            ((dt_class == UCP_DATATYPE_CONTIG) &&
             (ucp_dt_contig_bytes(datatype) > 0)));
}

/* @return what is behind a handle that is an address and a class. */
static inline void *ucp_dt_object(ucp_datatype_t datatype)
{
    return (void *)(uintptr_t)(datatype &
                               ~(ucp_datatype_t)UCP_DATATYPE_CLASS_MASK);
}

static inline void ucp_dt_iter_init_contig(struct ucp_dt_iter *iter,
                                           const void *buffer, size_t length)
{
    iter->dt_class = UCP_DT_CONTIG;
    iter->length   = length;
    iter->offset   = 0;
    iter->contig   = (void *)(uintptr_t)buffer;
}

/* Begin to send or to receive. A generic datatype's start function is called.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM (unknown class, a length that does
 *         not fit, an iov without entries or with one that has a length and
 *         no buffer, a function that is NULL), with one line. */
UCS_MUST_USE ucs_status_t ucp_dt_iter_init_send(struct ucp_dt_iter *iter,
                                                const void         *buffer,
                                                size_t              count,
                                                ucp_datatype_t      datatype);
UCS_MUST_USE ucs_status_t ucp_dt_iter_init_recv(struct ucp_dt_iter *iter,
                                                void *buffer, size_t count,
                                                ucp_datatype_t datatype);

/* End: a generic datatype's finish function is called, exactly once. */
void ucp_dt_iter_cleanup(struct ucp_dt_iter *iter);

/* Pack up to length_max bytes from the offset on, and advance. A user's pack
 * function that gives fewer is called again; one that gives none is reported,
 * and zeros are packed instead.
 * @return bytes packed; fewer than asked only at the end. */
size_t ucp_dt_iter_pack(struct ucp_dt_iter *iter, void *dest,
                        size_t length_max);

/* May pack and pieces go on elsewhere than where they stopped? A user's pack
 * function is called in order only. */
static inline bool ucp_dt_iter_can_seek(const struct ucp_dt_iter *iter)
{
    return iter->dt_class != UCP_DT_GENERIC;
}

/* Let pack and pieces go on at an offset before the end, if they may; or where
 * they stand. */
void ucp_dt_iter_seek(struct ucp_dt_iter *iter, size_t offset);

/* Put bytes at an offset of the packed form; offset + length fits (checked by
 * the caller against iter->length).
 * @return UCS_OK, or what the user's unpack function answered. */
UCS_MUST_USE ucs_status_t ucp_dt_iter_unpack(struct ucp_dt_iter *iter,
                                             size_t offset, const void *data,
                                             size_t length);

/* How many pieces of memory there are in all, at most: empty iov entries
 * count. SIZE_MAX: none can be shown (generic). */
static inline size_t ucp_dt_iter_piece_count(const struct ucp_dt_iter *iter)
{
    switch (iter->dt_class) {
    case UCP_DT_CONTIG:
        return 1;
    case UCP_DT_IOV:
        return iter->iov.count;
    case UCP_DT_STRIDED:
        return iter->length / iter->strided.dt->block_bytes;
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        break;
    }
    return SIZE_MAX;
}

/* What such a piece has on average, at least 1. 0: it is all one block, or
 * cannot be shown. */
static inline size_t ucp_dt_iter_piece_bytes(const struct ucp_dt_iter *iter)
{
    size_t count = ucp_dt_iter_piece_count(iter);

    if ((count <= 1) || (count == SIZE_MAX)) {
        return 0;
    }
    return (iter->length > count) ? iter->length / count : 1;
}

/* Is it worth while to send pieces, count_max in a message, from where they
 * lie? */
static inline bool ucp_dt_iter_is_coarse(const struct ucp_dt_iter *iter,
                                         size_t                    count_max)
{
    size_t count = ucp_dt_iter_piece_count(iter);

    return (count <= count_max) ||
           (count <= iter->length / UCP_DT_PIECE_BYTES_MIN);
}

/* The memory from the first byte of [offset, offset + length) to its last: one
 * block, or one object of the user with gaps (strided). Length not 0.
 * @return buffer NULL: it is not in one block. */
static inline struct uct_iov ucp_dt_iter_span(const struct ucp_dt_iter *iter,
                                              size_t offset, size_t length)
{
    switch (iter->dt_class) {
    case UCP_DT_CONTIG:
        return (struct uct_iov){.buffer = (char *)iter->contig + offset,
                                .length = length};
    case UCP_DT_STRIDED:
        return ucp_dt_strided_span(iter->strided.dt, iter->strided.base, offset,
                                   length);
    case UCP_DT_IOV:
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        break;
    }
    return (struct uct_iov){.buffer = NULL};
}

/* Describe up to length_max bytes from the offset on as pieces of memory, and
 * advance. Not for generic datatypes. Empty iov entries are passed over.
 * @param iov       [*count_p] filled; *count_p becomes the number used.
 * @return bytes described. */
size_t ucp_dt_iter_pieces(struct ucp_dt_iter *iter, size_t length_max,
                          struct uct_iov *iov, unsigned *count_p);

#endif
