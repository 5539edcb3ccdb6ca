/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/mpool.h - elements of one size, taken and given back in a few cycles.
 *
 *   chunk:  | pad |link|element   | pad |link|element   | ... |
 *                  8 B  ^ align_offset_bytes further on: aligned
 *
 * The 8-byte link before an element holds its pool while the element is used,
 * and the next free element while it is free. Nothing else is ever written
 * into an element: what it held survives put and get, so what element_init
 * prepared once (a registration key, an address) stays valid.
 *
 * Memory grows by chunks and is given back by cleanup, or by trim where all of
 * a chunk is free. A chunk is touched element by element, on first use, unless
 * element_init wants to see all of them. The last element put is the first one
 * got: it is in the cache.
 *
 * Thread: none of its own; the owner of the pool serialises get and put. */
#ifndef UCS_MPOOL_H_
#define UCS_MPOOL_H_

#include "ucs/assert.h"
#include "ucs/compiler.h"
#include "ucs/type/status.h"

#if UCS_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum ucs_mpool_limit {
    /* A pool without element_count_max stops here. */
    UCS_MPOOL_ELEMENT_COUNT_MAX = 1u << 30,
    /* Chunks double in size, but not beyond this (a guess: 4 MiB is 2 huge
     * pages); the first chunk may be larger. */
    UCS_MPOOL_GROWN_CHUNK_BYTES_MAX = 4u << 20
};

struct ucs_mpool;

/* One piece of memory that holds elements. */
struct ucs_mpool_chunk {
    struct ucs_mpool_chunk *next;          /* the chunk added before */
    void                   *memory;        /* set by alloc */
    size_t                  size_bytes;    /* set by alloc: all of memory */
    void                   *handle;        /* alloc's own, e.g. a key */
    char                   *element_first; /* the lowest element in memory */
    unsigned                element_count; /* elements from there, by stride */
};

/* Where chunks come from. */
struct ucs_mpool_chunk_ops {
    /* Find at least size_bytes of memory and set memory, size_bytes (of more
     * than asked, elements fill it all) and, at will, handle of chunk.
     * Any alignment will do.
     * @return UCS_OK, or UCS_ERR_NO_MEMORY: then get answers NULL. */
    ucs_status_t (*alloc)(struct ucs_mpool *pool, size_t size_bytes,
                          struct ucs_mpool_chunk *chunk);
    /* Give the chunk's memory back; runs in cleanup. */
    void (*release)(struct ucs_mpool *pool, struct ucs_mpool_chunk *chunk);
};

/* What a pool is made of; zero or NULL means the default in brackets. */
struct ucs_mpool_params {
    const char *name;          /* for reports; copied */
    size_t      element_bytes; /* at least 1 */
    size_t      align_bytes;   /* [8] a power of two, at least 8 */
    /* [0] The byte of an element that is aligned; a multiple of 8, at most
     * element_bytes. */
    size_t   align_offset_bytes;
    unsigned chunk_count;       /* [64] elements of the first chunk */
    unsigned element_count_max; /* [UCS_MPOOL_ELEMENT_COUNT_MAX] */
    /* [none] Prepare an element, once, when its chunk is added; pool->chunks
     * is that chunk. */
    void (*element_init)(struct ucs_mpool *pool, void *element);
    /* [none] Undo element_init, in cleanup; pool->chunks is its chunk. */
    void (*element_cleanup)(struct ucs_mpool *pool, void *element);
    const struct ucs_mpool_chunk_ops *chunk_ops; /* [the heap] */
    void                             *arg;       /* in pool->params, yours */
};

struct ucs_mpool {
    /* The free element put last, as a link (see below); UCS_MPOOL_LINK_END
     * when there is none. */
    uintptr_t free_link;
    char     *fresh_next;    /* the next element never got, in pool->chunks */
    unsigned  fresh_count;   /* elements never got, from there on */
    unsigned  element_count; /* elements in all chunks */
    unsigned  chunk_count_next;       /* elements the next chunk asks for */
    size_t    stride_bytes;           /* from one element to the next */
    struct ucs_mpool_chunk *chunks;   /* the newest first */
    struct ucs_mpool_params params;   /* defaults filled in */
    char                    name[32]; /* params.name points here */
};

/* A link is either the address of the element's pool (even: the element is
 * used), or the address of the next free link plus one (odd: it is free).
 * The bit costs nothing, it is an offset in the load, and tells double puts
 * and leaks. */
#define UCS_MPOOL_LINK_END ((uintptr_t)1)

UCS_INLINE uintptr_t *ucs_mpool_link_(void *element)
{
    return (uintptr_t *)element - 1;
}

/* Under AddressSanitizer a free element may not be touched. One that was
 * prepared by element_init may: others may hold its address for reading. */
UCS_INLINE void ucs_mpool_poison_(const struct ucs_mpool *pool, void *element)
{
#if UCS_HAS_ASAN
    if (pool->params.element_init == NULL) {
        ASAN_POISON_MEMORY_REGION(element, pool->params.element_bytes);
    }
#else
    (void)pool;
    (void)element;
#endif
}

UCS_INLINE void ucs_mpool_unpoison_(const struct ucs_mpool *pool, void *element)
{
#if UCS_HAS_ASAN
    ASAN_UNPOISON_MEMORY_REGION(element, pool->params.element_bytes);
#else
    (void)pool;
    (void)element;
#endif
}

/* Make a pool without elements. params is borrowed for the call, what it
 * points to (ops, arg) is lent until cleanup. The pool may not be moved.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: a size or alignment is not as
 *         params says, pool is not usable. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_mpool_init(struct ucs_mpool *pool, const struct ucs_mpool_params *params);

/* Give all memory back. Elements that are still used are gone too.
 *
 * @param report_leaks  Log a warning if there are any.
 * @return              How many elements had not been put. */
UCS_EXPORT unsigned ucsi_mpool_cleanup(struct ucs_mpool *pool,
                                       bool              report_leaks);

/* Make sure that a pool holds at least count elements, used and free ones
 * together, so that so many gets need no memory.
 *
 * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT: beyond element_count_max, nothing
 *         was done; UCS_ERR_NO_MEMORY: the pool grew less or not at all. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_mpool_reserve(struct ucs_mpool *pool,
                                                        unsigned count);

/* Give back the chunks of which no element is used, but for the oldest, the
 * smallest: what a burst needed once. Looks at every element, so it is for
 * quiet moments.
 *
 * @return The bytes given back. */
UCS_EXPORT size_t ucsi_mpool_trim(struct ucs_mpool *pool);

/* The other half of get: an element never used before, from this chunk or a
 * new one. */
UCS_EXPORT void *ucsi_mpool_get_slow(struct ucs_mpool *pool);

/* Must the next get take the slow half? */
UCS_INLINE bool ucs_mpool_is_slow(const struct ucs_mpool *pool)
{
    return pool->free_link == UCS_MPOOL_LINK_END;
}

/* Take an element: the caller owns it until it is put. Its bytes are what
 * they were at put, or as element_init or the chunk's memory left them.
 *
 * @return NULL at element_count_max or out of memory. */
UCS_INLINE void *ucs_mpool_get(struct ucs_mpool *pool)
{
    uintptr_t *link;

    if (ucs_unlikely(ucs_mpool_is_slow(pool))) {
        return ucsi_mpool_get_slow(pool);
    }
    link            = (uintptr_t *)(pool->free_link - 1);
    pool->free_link = *link;
    *link           = (uintptr_t)pool;
    ucs_mpool_unpoison_(pool, link + 1);
    return link + 1;
}

/* The pool of an element that is used. */
UCS_INLINE struct ucs_mpool *ucs_mpool_of(void *element)
{
    uintptr_t link = *ucs_mpool_link_(element);

    ucs_assertv((link & 1) == 0, "element %p is free", element);
    return (struct ucs_mpool *)link;
}

/* Give an element back to its pool. */
UCS_INLINE void ucs_mpool_put(void *element)
{
    struct ucs_mpool *pool = ucs_mpool_of(element);
    uintptr_t        *link = ucs_mpool_link_(element);

    *link           = pool->free_link;
    pool->free_link = (uintptr_t)link | 1;
    ucs_mpool_poison_(pool, element);
}

#endif
