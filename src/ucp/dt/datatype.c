/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/dt/datatype.c - the iterator over all classes of data. */
#include "ucp/dt/datatype.h"

#include <stdlib.h>

#include "ucs/assert.h"
#include "ucs/log.h"

static ucs_status_t dt_init_contig(struct ucp_dt_iter *iter, const void *buffer,
                                   size_t count, ucp_datatype_t datatype)
{
    size_t length;

    if (__builtin_mul_overflow(count, ucp_dt_contig_bytes(datatype), &length)) {
        ucs_error("count %zu of elements of %zu bytes does not fit an address "
                  "space",
                  count, ucp_dt_contig_bytes(datatype));
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_dt_iter_init_contig(iter, buffer, length);
    return UCS_OK;
}

static ucs_status_t dt_init_iov(struct ucp_dt_iter *iter,
                                const ucp_dt_iov_t *entries, size_t count)
{
    size_t length = 0;

    if ((entries == NULL) && (count > 0)) {
        ucs_error("iov buffer is NULL with a count of %zu entries", count);
        return UCS_ERR_INVALID_PARAM;
    }
    for (size_t i = 0; i < count; ++i) {
        if ((entries[i].buffer == NULL) && (entries[i].length > 0)) {
            ucs_error("iov entry %zu: buffer is NULL with a length of %zu", i,
                      entries[i].length);
            return UCS_ERR_INVALID_PARAM;
        }
        if (__builtin_add_overflow(length, entries[i].length, &length)) {
            ucs_error("iov entry %zu: the sum of lengths does not fit", i);
            return UCS_ERR_INVALID_PARAM;
        }
    }
    iter->dt_class    = UCP_DT_IOV;
    iter->length      = length;
    iter->offset      = 0;
    iter->iov.entries = entries;
    iter->iov.count   = count;
    iter->iov.index   = 0;
    iter->iov.inner   = 0;
    return UCS_OK;
}

/* Does it have the functions that its side needs? */
static bool dt_generic_is_whole(const struct ucp_dt_generic *dt, bool is_send)
{
    return (dt != NULL) && (dt->ops.packed_size != NULL) &&
           (dt->ops.finish != NULL) &&
           (is_send
                ? (dt->ops.start_pack != NULL) && (dt->ops.pack != NULL)
                : (dt->ops.start_unpack != NULL) && (dt->ops.unpack != NULL));
}

static ucs_status_t dt_init_generic(struct ucp_dt_iter *iter, void *buffer,
                                    size_t count, ucp_datatype_t datatype,
                                    bool is_send)
{
    const struct ucp_dt_generic *dt = ucp_dt_object(datatype);

    if (!dt_generic_is_whole(dt, is_send)) {
        ucs_error("generic datatype %p has no functions to %s",
                  (const void *)dt, is_send ? "pack" : "unpack");
        return UCS_ERR_INVALID_PARAM;
    }
    iter->dt_class      = UCP_DT_GENERIC;
    iter->offset        = 0;
    iter->generic.dt    = dt;
    iter->generic.carry = NULL;
    iter->generic.state =
        is_send ? dt->ops.start_pack(dt->context, buffer, count)
                : dt->ops.start_unpack(dt->context, buffer, count);
    iter->length = dt->ops.packed_size(iter->generic.state);
    return UCS_OK;
}

static ucs_status_t dt_init_strided(struct ucp_dt_iter *iter, void *buffer,
                                    size_t count, ucp_datatype_t datatype)
{
    const struct ucp_dt_strided *dt = ucp_dt_object(datatype);
    size_t                       span_bytes;

    if (dt == NULL) {
        ucs_error("the strided datatype is NULL");
        return UCS_ERR_INVALID_PARAM;
    }
    /* An element spans no less than it packs: that fits, too. */
    if (__builtin_mul_overflow(count, dt->extent_bytes, &span_bytes)) {
        ucs_error("count %zu of strided elements, %zu bytes apart, does not "
                  "fit an address space",
                  count, dt->extent_bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    iter->dt_class     = UCP_DT_STRIDED;
    iter->length       = count * dt->packed_bytes;
    iter->offset       = 0;
    iter->strided.dt   = dt;
    iter->strided.base = buffer;
    return UCS_OK;
}

static ucs_status_t dt_init(struct ucp_dt_iter *iter, void *buffer,
                            size_t count, ucp_datatype_t datatype, bool is_send)
{
    switch (datatype & UCP_DATATYPE_CLASS_MASK) {
    case UCP_DATATYPE_CONTIG:
        return dt_init_contig(iter, buffer, count, datatype);
    case UCP_DATATYPE_IOV:
        return dt_init_iov(iter, buffer, count);
    case UCP_DATATYPE_STRIDED:
        return dt_init_strided(iter, buffer, count, datatype);
    case UCP_DATATYPE_GENERIC:
        return dt_init_generic(iter, buffer, count, datatype, is_send);
    default:
        ucs_error("datatype 0x%lx: class %lu is not supported",
                  (unsigned long)datatype,
                  (unsigned long)(datatype & UCP_DATATYPE_CLASS_MASK));
        return UCS_ERR_INVALID_PARAM;
    }
}

ucs_status_t ucp_dt_iter_init_send(struct ucp_dt_iter *iter, const void *buffer,
                                   size_t count, ucp_datatype_t datatype)
{
    return dt_init(iter, (void *)(uintptr_t)buffer, count, datatype, true);
}

ucs_status_t ucp_dt_iter_init_recv(struct ucp_dt_iter *iter, void *buffer,
                                   size_t count, ucp_datatype_t datatype)
{
    return dt_init(iter, buffer, count, datatype, false);
}

void ucp_dt_iter_cleanup(struct ucp_dt_iter *iter)
{
    if (iter->dt_class == UCP_DT_GENERIC) {
        iter->generic.dt->ops.finish(iter->generic.state);
        free(iter->generic.carry);
        iter->dt_class = UCP_DT_CONTIG; /* never twice */
    }
}

/* Move the iov cursor to an offset of the packed form, from where it stands:
 * fragments come nearly in order. */
static void dt_iov_seek(struct ucp_dt_iter *iter, size_t offset)
{
    const ucp_dt_iov_t *entry = &iter->iov.entries[iter->iov.index];
    size_t              start = iter->offset - iter->iov.inner; /* of entry */

    if (ucs_likely(offset == iter->offset)) {
        return;
    }
    while (offset < start) {
        --entry;
        start -= entry->length;
    }
    while (offset - start >= entry->length) {
        start += entry->length;
        ++entry;
    }
    iter->iov.index = (size_t)(entry - iter->iov.entries);
    iter->iov.inner = offset - start;
    iter->offset    = offset;
}

/* The memory at the cursor, at most length_max bytes of it; advances. */
static struct uct_iov dt_iov_next(struct ucp_dt_iter *iter, size_t length_max)
{
    const ucp_dt_iov_t *entry;
    struct uct_iov      piece = {.mem = NULL};

    while (iter->iov.entries[iter->iov.index].length == iter->iov.inner) {
        ++iter->iov.index;
        iter->iov.inner = 0;
    }
    entry        = &iter->iov.entries[iter->iov.index];
    piece.buffer = (char *)entry->buffer + iter->iov.inner;
    piece.length = ucs_min(entry->length - iter->iov.inner, length_max);
    iter->iov.inner += piece.length;
    iter->offset += piece.length;
    return piece;
}

static size_t dt_pack_iov(struct ucp_dt_iter *iter, char *dest, size_t length)
{
    size_t done = 0;

    while (done < length) {
        struct uct_iov piece = dt_iov_next(iter, length - done);

        memcpy(dest + done, piece.buffer, piece.length);
        done += piece.length;
    }
    return done;
}

/* Split the element that begins here. @return false: it is too long, or
 * memory is short. */
static bool dt_carry_fill(struct ucp_dt_iter *iter)
{
    struct ucp_dt_carry *carry = iter->generic.carry;
    size_t               room =
        ucs_min(iter->length - iter->offset, (size_t)UCP_DT_CARRY_BYTES);

    if (carry == NULL) {
        carry = malloc(sizeof(*carry));
        if (carry == NULL) {
            return false;
        }
        iter->generic.carry = carry;
    }
    carry->offset = iter->offset;
    carry->length = iter->generic.dt->ops.pack(
        iter->generic.state, iter->offset, carry->bytes, room);
    if (carry->length > room) {
        carry->length = 0;
    }
    return carry->length > 0;
}

/* @return how many bytes at the iterator's offset come from there. */
static size_t dt_carry_take(const struct ucp_dt_iter *iter, char *dest,
                            size_t length)
{
    const struct ucp_dt_carry *carry = iter->generic.carry;
    size_t                     used;

    if ((carry == NULL) || (iter->offset < carry->offset) ||
        (iter->offset - carry->offset >= carry->length)) {
        return 0;
    }
    used   = iter->offset - carry->offset;
    length = ucs_min(length, carry->length - used);
    memcpy(dest, carry->bytes + used, length);
    return length;
}

/* Call the user's pack function until it has given all, or gives no more: what
 * it does not split begins the next fragment, or is split here if not even one
 * fits. Zeros stand for what it never gives, so that no message waits for it.
 * @return how much there is, more than 0. */
static size_t dt_pack_generic(struct ucp_dt_iter *iter, char *dest,
                              size_t length)
{
    size_t done = dt_carry_take(iter, dest, length);
    size_t part;

    while (done < length) {
        part =
            iter->generic.dt->ops.pack(iter->generic.state, iter->offset + done,
                                       dest + done, length - done);
        if (part == 0) {
            if ((done == 0) && dt_carry_fill(iter)) {
                done = dt_carry_take(iter, dest, length);
            }
            if (done > 0) {
                break;
            }
        }
        if ((part == 0) || (part > length - done)) {
            ucs_error_limited("a generic datatype's pack function gave %zu of "
                              "%zu bytes at offset %zu; zeros are sent",
                              part, length - done, iter->offset + done);
            memset(dest + done, 0, length - done);
            return length;
        }
        done += part;
    }
    return done;
}

size_t ucp_dt_iter_pack(struct ucp_dt_iter *iter, void *dest, size_t length_max)
{
    size_t length = ucs_min(length_max, iter->length - iter->offset);

    if (length == 0) {
        return 0;
    }
    switch (iter->dt_class) {
    case UCP_DT_CONTIG:
        memcpy(dest, (const char *)iter->contig + iter->offset, length);
        break;
    case UCP_DT_IOV:
        return dt_pack_iov(iter, dest, length);
    case UCP_DT_STRIDED:
        ucp_dt_strided_pack(iter->strided.dt, iter->strided.base, iter->offset,
                            dest, length);
        break;
    case UCP_DT_GENERIC:
        length = dt_pack_generic(iter, dest, length);
        break;
    case UCP_DT_CLASS_COUNT:
        break;
    }
    iter->offset += length;
    return length;
}

void ucp_dt_iter_seek(struct ucp_dt_iter *iter, size_t offset)
{
    if (offset == iter->offset) {
        return;
    }
    ucs_assert((offset < iter->length) && ucp_dt_iter_can_seek(iter));
    if (iter->dt_class == UCP_DT_IOV) {
        dt_iov_seek(iter, offset);
    }
    iter->offset = offset;
}

ucs_status_t ucp_dt_iter_unpack(struct ucp_dt_iter *iter, size_t offset,
                                const void *data, size_t length)
{
    const char *source = data;

    if (length == 0) {
        return UCS_OK;
    }
    switch (iter->dt_class) {
    case UCP_DT_CONTIG:
        memcpy((char *)iter->contig + offset, data, length);
        break;
    case UCP_DT_IOV:
        dt_iov_seek(iter, offset);
        while (length > 0) {
            struct uct_iov piece = dt_iov_next(iter, length);

            memcpy(piece.buffer, source, piece.length);
            source += piece.length;
            length -= piece.length;
        }
        break;
    case UCP_DT_STRIDED:
        ucp_dt_strided_unpack(iter->strided.dt, iter->strided.base, offset,
                              data, length);
        break;
    case UCP_DT_GENERIC:
        return iter->generic.dt->ops.unpack(iter->generic.state, offset, data,
                                            length);
    case UCP_DT_CLASS_COUNT:
        break;
    }
    return UCS_OK;
}

static unsigned dt_pieces_strided(struct ucp_dt_iter *iter, size_t length,
                                  struct uct_iov *iov, unsigned count_max)
{
    struct ucp_dt_strided_cursor cursor;
    unsigned                     used = 0;

    ucp_dt_strided_seek(iter->strided.dt, iter->strided.base, iter->offset,
                        &cursor);
    for (; (length > 0) && (used < count_max); ++used) {
        iov[used] = ucp_dt_strided_next(iter->strided.dt, &cursor, length);
        length -= iov[used].length;
        iter->offset += iov[used].length;
    }
    return used;
}

static unsigned dt_pieces_iov(struct ucp_dt_iter *iter, size_t length,
                              struct uct_iov *iov, unsigned count_max)
{
    unsigned used = 0;

    for (; (length > 0) && (used < count_max); ++used) {
        iov[used] = dt_iov_next(iter, length);
        length -= iov[used].length;
    }
    return used;
}

size_t ucp_dt_iter_pieces(struct ucp_dt_iter *iter, size_t length_max,
                          struct uct_iov *iov, unsigned *count_p)
{
    size_t start  = iter->offset;
    size_t length = ucs_min(length_max, iter->length - start);

    switch (iter->dt_class) {
    case UCP_DT_CONTIG:
        iov[0] = (struct uct_iov){.buffer = (char *)iter->contig + start,
                                  .length = length};
        iter->offset += length;
        *count_p = 1;
        break;
    case UCP_DT_IOV:
        *count_p = dt_pieces_iov(iter, length, iov, *count_p);
        break;
    case UCP_DT_STRIDED:
        *count_p = dt_pieces_strided(iter, length, iov, *count_p);
        break;
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        ucs_assertv(false, "class %d has no pieces", iter->dt_class);
        break;
    }
    return iter->offset - start;
}
