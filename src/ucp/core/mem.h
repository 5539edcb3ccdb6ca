/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/mem.h - memory handles: memory that the user made known.
 *
 *   handle --+-- registration with domain 0 --> its key in ucp_rkey_pack()
 *            +-- registration with domain 1     rights: those of the handle
 *            '-- range: what lies inside may be kept by the cache
 *
 * Memory is the user's, or allocated here: private and anonymous
 * (docs/adr/0017). A handle to nothing (length 0) has no registrations; its
 * key is good for nothing. Handles may overlap and may be equal.
 *
 * Thread: any, as the cache (core/reg_cache.h). */
#ifndef UCP_CORE_MEM_H_
#define UCP_CORE_MEM_H_

#include "ucp/core/context.h"

/* What the user wants (read from ucp_mem_map_params_t in entry/mem.c).
 * address   with is_allocated a wish, or, with is_fixed, an order
 * access    enum uct_access */
struct ucp_mem_options {
    void    *address;
    size_t   length;
    bool     is_allocated;
    bool     is_fixed;
    unsigned access;
};

/* name       random, not 0: what a key calls it; 0: a handle to nothing
 * regs       [context->resource_count]; NULL: that domain has none */
struct ucp_mem {
    struct ucp_context *context;
    struct ucs_range    range; /* empty for a handle to nothing */
    uint64_t            name;
    unsigned            access;
    bool                is_allocated;
    struct ucp_reg     *regs[];
};

static inline void *ucp_mem_address(const struct ucp_mem *mem)
{
    return (void *)mem->range.start;
}

static inline size_t ucp_mem_length(const struct ucp_mem *mem)
{
    return mem->range.end - mem->range.start;
}

/* Make a handle: allocate if asked to, register with every domain that can.
 * A domain that refuses is left out; if all do, that is the answer.
 * @return UCS_OK; UCS_ERR_NO_MEMORY; what mem_register says. */
UCS_MUST_USE ucs_status_t ucp_mem_create(struct ucp_context           *context,
                                         const struct ucp_mem_options *options,
                                         struct ucp_mem              **mem_p);
void                      ucp_mem_destroy(struct ucp_mem *mem);

/* Of what is left at the end of a context; a warning says how many. */
void ucp_mem_destroy_all(struct ucp_context *context);

/* Where the memory with that name lies, if it is of this context.
 * @param range_p  Set if it is. */
bool ucp_mem_find(struct ucp_context *context, uint64_t name,
                  struct ucs_range *range_p);

#endif
