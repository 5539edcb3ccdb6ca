/* SPDX-License-Identifier: BSD-3-Clause */
/* counting_md.h - a memory domain that registers nothing and counts it. */
#ifndef TEST_UCP_COUNTING_MD_H_
#define TEST_UCP_COUNTING_MD_H_

#include <stdlib.h>

#include "ucs/assert.h"
#include "uct/api/transport.h"

/* live, bytes  registered and not released
 * registered   ever
 * live_max     more than so many: NO_MEMORY
 * on_register  NULL, or what happens meanwhile */
struct counting_md {
    struct uct_md    base;
    _Atomic unsigned live;
    _Atomic size_t   bytes;
    _Atomic unsigned registered;
    unsigned         live_max;
    void (*on_register)(struct counting_md *self);
};

static inline ucs_status_t counting_register(struct uct_md *base, void *address,
                                             size_t length, unsigned access,
                                             struct uct_mem **mem_p)
{
    struct counting_md *counting = (struct counting_md *)base;
    struct uct_mem     *mem;

    if (counting->live >= counting->live_max) {
        return UCS_ERR_NO_MEMORY;
    }
    mem = malloc(sizeof(*mem));
    ucs_check(mem != NULL);
    if (counting->on_register != NULL) {
        counting->on_register(counting);
    }
    mem->md      = base;
    mem->address = address;
    mem->length  = length;
    mem->access  = access;
    ++counting->live;
    ++counting->registered;
    counting->bytes += length;
    *mem_p = mem;
    return UCS_OK;
}

static inline void counting_release(struct uct_mem *mem)
{
    struct counting_md *counting = (struct counting_md *)mem->md;

    --counting->live;
    counting->bytes -= mem->length;
    free(mem);
}

static const struct uct_transport counting_transport = {
    .name         = "counting",
    .mem_register = counting_register,
    .mem_release  = counting_release,
};

static inline void counting_md_init(struct counting_md *md)
{
    *md = (struct counting_md){.base     = {.transport = &counting_transport},
                               .live_max = UINT32_MAX};
}

#endif
