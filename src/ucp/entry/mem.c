/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/mem.c - mapping, asking about and unmapping memory. */
#include "ucp/core/mem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ucp/entry/op.h"
#include "ucs/log.h"
#include "ucs/units.h"

/* A device's memory that we know by name only. Any other type that is not the
 * host's is "unknown" of some release (docs: ucp.h grew), which means host. */
static bool type_is_foreign(ucs_memory_type_t type)
{
    return (type >= UCS_MEMORY_TYPE_CUDA) &&
           (type <= UCS_MEMORY_TYPE_ROCM_MANAGED);
}

static unsigned access_of_prot(unsigned prot)
{
    const unsigned remote =
        UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE;
    unsigned access = UCT_ACCESS_LOCAL;

    if (prot & UCP_MEM_MAP_PROT_REMOTE_READ) {
        access |= UCT_ACCESS_REMOTE_READ;
    }
    if (prot & UCP_MEM_MAP_PROT_REMOTE_WRITE) {
        access |= UCT_ACCESS_REMOTE_WRITE;
    }
    if ((prot & remote) == remote) {
        access |= UCT_ACCESS_REMOTE_ATOMIC;
    }
    return access;
}

static ucs_status_t refuse(const char *why)
{
    ucs_error("ucp_mem_map: %s", why);
    return UCS_ERR_INVALID_PARAM;
}

/* Is what the caller wants sense? flags: UCP_MEM_MAP_*. */
static ucs_status_t options_check(const struct ucp_mem_options *options,
                                  unsigned                      flags)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if ((flags & UCP_MEM_MAP_LOCK) && (flags & UCP_MEM_MAP_NONBLOCK)) {
        return refuse("LOCK and NONBLOCK exclude one another");
    }
    if (options->length == 0) {
        return UCS_OK;
    }
    if (options->is_fixed && !options->is_allocated) {
        return refuse("FIXED needs ALLOCATE");
    }
    if (options->is_fixed && ((uintptr_t)options->address % page != 0)) {
        return refuse("FIXED needs an address that is a multiple of the page");
    }
    if ((options->address == NULL) && !options->is_allocated) {
        return refuse("there is no address, and ALLOCATE is not asked for");
    }
    if (options->length > UINTPTR_MAX - (uintptr_t)options->address) {
        return refuse("the memory would wrap around");
    }
    return UCS_OK;
}

static ucs_status_t options_read(const ucp_mem_map_params_t *user,
                                 struct ucp_mem_options     *options)
{
    uint64_t mask  = user->field_mask;
    unsigned flags = (mask & UCP_MEM_MAP_PARAM_FIELD_FLAGS) ? user->flags : 0;

    if (mask & UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER) {
        ucs_error("ucp_mem_map: handles of others cannot be imported");
        return UCS_ERR_UNSUPPORTED;
    }
    if (!(mask & UCP_MEM_MAP_PARAM_FIELD_LENGTH)) {
        return refuse("the length is not given");
    }
    *options = (struct ucp_mem_options){
        .length       = user->length,
        .is_allocated = (flags & UCP_MEM_MAP_ALLOCATE) != 0,
        .is_fixed     = (flags & UCP_MEM_MAP_FIXED) != 0,
        .access       = UCT_ACCESS_ALL,
    };
    if (mask & UCP_MEM_MAP_PARAM_FIELD_ADDRESS) {
        options->address = user->address;
    }
    if (mask & UCP_MEM_MAP_PARAM_FIELD_PROT) {
        options->access = access_of_prot(user->prot);
    }
    if (options->is_allocated && (mask & UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE) &&
        type_is_foreign(user->memory_type)) {
        ucs_error("ucp_mem_map: only host memory can be allocated");
        return UCS_ERR_NO_MEMORY;
    }
    return options_check(options, flags); /* below here there are no masks */
}

ucs_status_t ucp_mem_map(ucp_context_h               context,
                         const ucp_mem_map_params_t *params, ucp_mem_h *memh_p)
{
    struct ucp_mem_options options;
    ucs_status_t           status;

    if (ucp_op_is_null(__func__, context, params, memh_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = options_read(params, &options);
    if (status != UCS_OK) {
        return status;
    }
    return ucp_mem_create(context, &options, memh_p);
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh)
{
    if (ucp_op_is_null(__func__, context, memh)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (memh->context != context) {
        ucs_error("ucp_mem_unmap: the handle is not of this context");
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_mem_destroy(memh);
    return UCS_OK;
}

ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t *attr)
{
    if (ucp_op_is_null(__func__, memh, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_ADDRESS) {
        attr->address = ucp_mem_address(memh);
    }
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_LENGTH) {
        attr->length = ucp_mem_length(memh);
    }
    if (attr->field_mask & UCP_MEM_ATTR_FIELD_MEM_TYPE) {
        attr->mem_type = UCS_MEMORY_TYPE_HOST;
    }
    return UCS_OK;
}

ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t *params)
{
    const uint64_t needed = UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS |
                            UCP_MEM_ADVISE_PARAM_FIELD_LENGTH |
                            UCP_MEM_ADVISE_PARAM_FIELD_ADVICE;
    uintptr_t start, page = (uintptr_t)sysconf(_SC_PAGESIZE);

    if (ucp_op_is_null(__func__, context, memh, params)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((params->field_mask & needed) != needed) {
        ucs_error("ucp_mem_advise: address, length or advice is not given");
        return UCS_ERR_INVALID_PARAM;
    }
    start = (uintptr_t)params->address;
    if ((start < memh->range.start) || (start > memh->range.end) ||
        (params->length > memh->range.end - start)) {
        ucs_error("ucp_mem_advise: outside of the memory of the handle");
        return UCS_ERR_INVALID_PARAM;
    }
    if ((params->advice == UCP_MADV_WILLNEED) && (params->length > 0)) {
        /* A hint: that the kernel will not is no error. */
        (void)madvise((void *)(start & ~(page - 1)),
                      params->length + (start & (page - 1)), MADV_WILLNEED);
    }
    return UCS_OK;
}

static void print_mem(FILE *stream, const struct ucp_mem *mem, size_t asked)
{
    const struct ucp_context *context = mem->context;

    fprintf(stream, "#\n# Causeway memory\n#\n");
    fprintf(stream, "#  asked for %zu bytes, got %zu at %p\n", asked,
            ucp_mem_length(mem), ucp_mem_address(mem));
    for (unsigned i = 0; i < context->resource_count; ++i) {
        const struct uct_md *md = context->resources[i].md;

        fprintf(stream, "#  %s/%s: %s\n", md->transport->name, md->device.name,
                (mem->regs[i] != NULL) ? "registered" : "not registered");
    }
    fprintf(stream, "#\n");
}

void ucp_mem_print_info(const char *mem_size, ucp_context_h context,
                        FILE *stream)
{
    struct ucp_mem_options options = {.is_allocated = true,
                                      .access       = UCT_ACCESS_ALL};
    struct ucp_mem        *mem;

    if (ucp_op_is_null(__func__, mem_size, context, stream)) {
        return;
    }
    if (ucsi_units_parse_size(mem_size, &options.length) != UCS_OK) {
        fprintf(stream, "# '%s' is not a size\n", mem_size);
        return;
    }
    if (ucp_mem_create(context, &options, &mem) != UCS_OK) {
        fprintf(stream, "# %s bytes cannot be allocated\n", mem_size);
        return;
    }
    print_mem(stream, mem, options.length);
    ucp_mem_destroy(mem);
}
