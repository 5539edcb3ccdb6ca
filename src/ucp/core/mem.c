/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/mem.c - making and ending memory handles. */
#include "ucp/core/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ucs/log.h"
#include "ucs/random.h"

enum { HUGE_PAGE_BYTES = 2 << 20 };

/* ---- Memory of our own ---- */

/* Get pages. length is rounded up to them. */
static ucs_status_t allocate(const struct ucp_mem_options *options,
                             struct ucs_range             *range_p)
{
    size_t page   = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = ucs_align_up(options->length, page);
    int    flags  = MAP_PRIVATE | MAP_ANONYMOUS;
    void  *memory = MAP_FAILED;

    if (options->is_fixed) {
        /* What was mapped there is gone, as with mmap(2). */
        flags |= MAP_FIXED;
        ucsi_unmap_tell((uintptr_t)options->address, length);
    }
    errno = ENOMEM; /* FIXED at NULL, or a length that wraps */
    if ((length != 0) && (!options->is_fixed || (options->address != NULL))) {
        memory = mmap(options->address, length, PROT_READ | PROT_WRITE, flags,
                      -1, 0);
    }
    if (memory == MAP_FAILED) {
        ucs_error("ucp_mem_map: cannot allocate %zu bytes at %p: %m",
                  options->length, options->address);
        return UCS_ERR_NO_MEMORY;
    }
    if (length >= HUGE_PAGE_BYTES) {
        (void)madvise(memory, length, MADV_HUGEPAGE); /* a wish */
    }
    range_p->start = (uintptr_t)memory;
    range_p->end   = range_p->start + length;
    return UCS_OK;
}

static void deallocate(const struct ucs_range *range)
{
    size_t length = range->end - range->start;

    ucsi_unmap_tell(range->start, length);
    (void)munmap((void *)range->start, length);
}

/* ---- The names of a context ---- */

/* Give the handle a name that no other one has. */
static ucs_status_t name_add(struct ucp_mem *mem)
{
    struct ucp_context *context = mem->context;
    ucs_status_t        status;

    pthread_mutex_lock(&context->mems_lock);
    do {
        status = ucsi_random_u64(&mem->name);
    } while ((status == UCS_OK) &&
             ((mem->name == 0) ||
              (ucsi_hash_get(&context->mems, mem->name) != NULL)));
    if (status == UCS_OK) {
        status = ucsi_hash_put(&context->mems, mem->name, mem);
    }
    pthread_mutex_unlock(&context->mems_lock);
    return status;
}

static void name_remove(struct ucp_mem *mem)
{
    pthread_mutex_lock(&mem->context->mems_lock);
    (void)ucsi_hash_remove(&mem->context->mems, mem->name);
    pthread_mutex_unlock(&mem->context->mems_lock);
}

bool ucp_mem_find(struct ucp_context *context, uint64_t name,
                  struct ucs_range *range_p)
{
    const struct ucp_mem *mem;

    pthread_mutex_lock(&context->mems_lock);
    mem = (const struct ucp_mem *)ucsi_hash_get(&context->mems, name);
    if (mem != NULL) {
        *range_p = mem->range;
    }
    pthread_mutex_unlock(&context->mems_lock);
    return mem != NULL;
}

/* ---- Registrations ---- */

static void release_regs(struct ucp_mem *mem)
{
    for (unsigned i = 0; i < mem->context->resource_count; ++i) {
        if (mem->regs[i] != NULL) {
            ucp_reg_disown(mem->regs[i]);
            mem->regs[i] = NULL;
        }
    }
}

/* Register with every domain that can.
 * @return UCS_OK: one at least did, or none can. */
static ucs_status_t make_regs(struct ucp_mem *mem)
{
    struct ucp_context *context = mem->context;
    ucs_status_t        refusal = UCS_OK;
    unsigned            count   = 0;

    for (unsigned i = 0; i < context->resource_count; ++i) {
        struct uct_md *md = context->resources[i].md;
        ucs_status_t   status;

        if (!ucp_reg_is_possible(md)) {
            continue;
        }
        status = ucp_reg_own(&context->regs, md, ucp_mem_address(mem),
                             ucp_mem_length(mem), mem->access, &mem->regs[i]);
        if (status == UCS_OK) {
            ++count;
        } else {
            refusal = status;
            ucs_debug("%s/%s does not register [%p, +%zu): %s",
                      md->transport->name, md->device.name,
                      ucp_mem_address(mem), ucp_mem_length(mem),
                      ucs_status_string(status));
        }
    }
    return (count > 0) ? UCS_OK : refusal;
}

/* ---- Handles ---- */

/* Make a handle, which has its memory, known to all. */
static ucs_status_t mem_publish(struct ucp_mem *mem)
{
    ucs_status_t status = make_regs(mem);

    if (status != UCS_OK) {
        ucs_error("ucp_mem_map: no transport can register [%p, +%zu): %s",
                  ucp_mem_address(mem), ucp_mem_length(mem),
                  ucs_status_string(status));
        return status;
    }
    status = name_add(mem);
    if (status != UCS_OK) {
        release_regs(mem);
        return status;
    }
    ucp_reg_cache_add_handle(&mem->context->regs, &mem->range);
    return UCS_OK;
}

ucs_status_t ucp_mem_create(struct ucp_context           *context,
                            const struct ucp_mem_options *options,
                            struct ucp_mem              **mem_p)
{
    struct ucp_mem *mem;
    ucs_status_t    status = UCS_OK;

    mem = (struct ucp_mem *)calloc(1, sizeof(*mem) + context->resource_count *
                                                         sizeof(mem->regs[0]));
    if (mem == NULL) {
        return ucsi_no_memory("a memory handle", sizeof(*mem));
    }
    mem->context = context;
    if (options->length == 0) {
        *mem_p = mem;
        return UCS_OK;
    }
    mem->access       = options->access;
    mem->is_allocated = options->is_allocated;
    if (mem->is_allocated) {
        status = allocate(options, &mem->range);
    } else {
        mem->range.start = (uintptr_t)options->address;
        mem->range.end   = mem->range.start + options->length;
    }
    if (status != UCS_OK) {
        free(mem);
        return status;
    }
    status = mem_publish(mem);
    if (status != UCS_OK) {
        if (mem->is_allocated) {
            deallocate(&mem->range);
        }
        free(mem);
        return status;
    }
    *mem_p = mem;
    return UCS_OK;
}

void ucp_mem_destroy(struct ucp_mem *mem)
{
    if (mem->name != 0) {
        name_remove(mem);
        ucp_reg_cache_remove_handle(&mem->context->regs, &mem->range);
        release_regs(mem);
    }
    if (mem->is_allocated) {
        deallocate(&mem->range);
    }
    free(mem);
}

void ucp_mem_destroy_all(struct ucp_context *context)
{
    size_t          count = ucsi_hash_count(&context->mems);
    size_t          cursor;
    struct ucp_mem *mem;

    if (count == 0) {
        return;
    }
    ucs_warn("context '%s': %zu memory handles were not unmapped",
             context->options.name, count);
    do { /* removing moves the others: begin again */
        cursor = 0;
        mem = (struct ucp_mem *)ucsi_hash_next(&context->mems, &cursor, NULL);
        if (mem != NULL) {
            ucp_mem_destroy(mem);
        }
    } while (mem != NULL);
}
