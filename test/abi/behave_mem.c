/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_mem.c - memory handles and remote keys.
 *
 * Lengths are compared as "at least what was asked", as UCX rounds up; a key
 * is taken by an endpoint to oneself. */
#include "behave.h"

#include <string.h>
#include <sys/mman.h>

enum {
    ADDRESS = UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
    LENGTH  = UCP_MEM_MAP_PARAM_FIELD_LENGTH,
    FLAGS   = UCP_MEM_MAP_PARAM_FIELD_FLAGS,
    PROT    = UCP_MEM_MAP_PARAM_FIELD_PROT,
    TYPE    = UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
    BYTES   = 8192,
};

static struct node node;
static char        buffer[BYTES];

static ucp_mem_map_params_t params_of(uint64_t mask, void *address,
                                      size_t length, unsigned flags)
{
    ucp_mem_map_params_t params;

    memset(&params, 0, sizeof(params));
    params.field_mask = mask;
    params.address    = address;
    params.length     = length;
    params.flags      = flags;
    return params;
}

/* Pack the handle's key, take it, and ask for a pointer behind nothing. */
static void key_facts(const char *name, ucp_mem_h mem)
{
    char       key[80];
    ucp_rkey_h rkey;
    void      *bytes;
    size_t     size;

    snprintf(key, sizeof(key), "%s.key", name);
    must(ucp_rkey_pack(node.context, mem, &bytes, &size), "rkey_pack");
    fact(key, "packed %d fits %d taken %d", 1, size <= 1024,
         ucp_ep_rkey_unpack(node.ep, bytes, &rkey));
    ucp_rkey_buffer_release(bytes);
    ucp_rkey_destroy(rkey);
}

/* Map, ask, pack, unmap. */
static void map(const char *name, const ucp_mem_map_params_t *params)
{
    ucp_mem_attr_t attr;
    char           key[80];
    ucp_mem_h      mem;
    ucs_status_t   status = ucp_mem_map(node.context, params, &mem);

    snprintf(key, sizeof(key), "map.%s", name);
    fact_status(key, status);
    if (status != UCS_OK) {
        return;
    }
    memset(&attr, 0, sizeof(attr));
    attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                      UCP_MEM_ATTR_FIELD_MEM_TYPE;
    status = ucp_mem_query(mem, &attr);
    snprintf(key, sizeof(key), "map.%s.query", name);
    fact(key, "%d null %d enough %d type %d", status, attr.address == NULL,
         attr.length >= params->length, attr.mem_type);
    snprintf(key, sizeof(key), "map.%s", name);
    key_facts(key, mem);
    if ((params->flags & UCP_MEM_MAP_ALLOCATE) && (attr.length > 0)) {
        memset(attr.address, 1, attr.length);
    }
    snprintf(key, sizeof(key), "map.%s.unmap", name);
    fact_status(key, ucp_mem_unmap(node.context, mem));
}

static void map_one(const char *name, uint64_t mask, void *address,
                    size_t length, unsigned flags)
{
    const ucp_mem_map_params_t params = params_of(mask, address, length, flags);

    map(name, &params);
}

static void user_memory(void)
{
    map_one("user", ADDRESS | LENGTH, buffer, BYTES, 0);
    map_one("nonblock", ADDRESS | LENGTH | FLAGS, buffer, BYTES,
            UCP_MEM_MAP_NONBLOCK);
    map_one("read_only", ADDRESS | LENGTH, (void *)(uintptr_t) "read only", 9,
            0);
    map_one("unknown_flag", ADDRESS | LENGTH | FLAGS, buffer, BYTES, 1u << 20);
    map_one("unknown_bit", ADDRESS | LENGTH | (1ull << 40), buffer, BYTES, 0);
    map_one("nothing_asked", 0, buffer, BYTES, 0);
    map_one("no_length", ADDRESS, buffer, BYTES, 0);
    map_one("no_address", LENGTH, buffer, BYTES, 0);
    map_one("null_address", ADDRESS | LENGTH, NULL, BYTES, 0);
    map_one("zero", ADDRESS | LENGTH, buffer, 0, 0);
    map_one("zero_null", ADDRESS | LENGTH, NULL, 0, 0);
    map_one("fixed_alone", ADDRESS | LENGTH | FLAGS, buffer + 1, 100,
            UCP_MEM_MAP_FIXED);
}

static void allocated(void)
{
    const unsigned order = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED;
    void          *there =
        mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    map_one("allocate", LENGTH | FLAGS, NULL, 10000, UCP_MEM_MAP_ALLOCATE);
    map_one("allocate_null", ADDRESS | LENGTH | FLAGS, NULL, 10000,
            UCP_MEM_MAP_ALLOCATE);
    map_one("allocate_large", LENGTH | FLAGS, NULL, BEHAVE_LARGE,
            UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK);
    map_one("allocate_zero", LENGTH | FLAGS, NULL, 0, UCP_MEM_MAP_ALLOCATE);
    map_one("fixed", ADDRESS | LENGTH | FLAGS, there, BYTES, order);
    map_one("fixed_unaligned", ADDRESS | LENGTH | FLAGS, (char *)there + 1,
            BYTES, order);
    map_one("fixed_nowhere", LENGTH | FLAGS, NULL, BYTES, order);
}

static void rights(void)
{
    static const unsigned prots[] = {
        0,
        UCP_MEM_MAP_PROT_LOCAL_READ,
        UCP_MEM_MAP_PROT_REMOTE_READ,
        UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE,
    };
    ucp_mem_map_params_t params =
        params_of(ADDRESS | LENGTH | PROT, buffer, BYTES, 0);
    char name[32];

    for (unsigned i = 0; i < sizeof(prots) / sizeof(prots[0]); ++i) {
        params.prot = prots[i];
        snprintf(name, sizeof(name), "prot_%x", prots[i]);
        map(name, &params);
    }
}

static void types(void)
{
    ucp_mem_map_params_t params =
        params_of(ADDRESS | LENGTH | TYPE, buffer, BYTES, 0);

    params.memory_type = UCS_MEMORY_TYPE_HOST;
    map("type_host", &params);
    params.memory_type = UCS_MEMORY_TYPE_UNKNOWN;
    map("type_unknown", &params);
    params =
        params_of(LENGTH | TYPE | FLAGS, NULL, BYTES, UCP_MEM_MAP_ALLOCATE);
    params.memory_type = UCS_MEMORY_TYPE_CUDA;
    map("type_allocate_cuda", &params);
}

/* The same memory twice, and a piece of it; ended in any order. */
static void overlapping(void)
{
    ucp_mem_map_params_t params =
        params_of(LENGTH | FLAGS, NULL, BYTES, UCP_MEM_MAP_ALLOCATE);
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_mem_h      whole, inside, again;

    must(ucp_mem_map(node.context, &params, &whole), "map");
    must(ucp_mem_query(whole, &attr), "query");
    params = params_of(ADDRESS | LENGTH, (char *)attr.address + 100, 200, 0);
    fact_status("inside", ucp_mem_map(node.context, &params, &inside));
    fact_status("inside.again", ucp_mem_map(node.context, &params, &again));
    fact_status("inside.unmap", ucp_mem_unmap(node.context, inside));
    key_facts("inside.other", again);
    fact_status("inside.again.unmap", ucp_mem_unmap(node.context, again));
    fact_status("inside.whole.unmap", ucp_mem_unmap(node.context, whole));
}

static void advice(void)
{
    ucp_mem_map_params_t params = params_of(ADDRESS | LENGTH, buffer, BYTES, 0);
    ucp_mem_advise_params_t advise = {
        .address = buffer, .length = BYTES, .advice = UCP_MADV_WILLNEED};
    char      name[32];
    ucp_mem_h mem;

    must(ucp_mem_map(node.context, &params, &mem), "map");
    for (unsigned mask = 0; mask < 8; ++mask) {
        advise.field_mask = mask;
        snprintf(name, sizeof(name), "advise.fields_%u", mask);
        fact_status(name, ucp_mem_advise(node.context, mem, &advise));
    }
    advise.advice = UCP_MADV_NORMAL;
    fact_status("advise.normal", ucp_mem_advise(node.context, mem, &advise));
    advise.address = buffer - 4096;
    fact_status("advise.before", ucp_mem_advise(node.context, mem, &advise));
    advise.address = buffer + 1;
    fact_status("advise.too_long", ucp_mem_advise(node.context, mem, &advise));
    must(ucp_mem_unmap(node.context, mem), "unmap");
}

/* What is not asked for stays as it is; bits that are not known are not
 * looked at. */
static void questions(void)
{
    ucp_mem_map_params_t params = params_of(ADDRESS | LENGTH, buffer, BYTES, 0);
    ucp_mem_attr_t attr = {.address = buffer + 1, .length = 7, .mem_type = 1};
    ucp_mem_h      mem;

    must(ucp_mem_map(node.context, &params, &mem), "map");
    fact_status("query.nothing", ucp_mem_query(mem, &attr));
    fact("query.nothing.left", "address %d length %zu type %d",
         attr.address == buffer + 1, attr.length, attr.mem_type);
    attr.field_mask = UCP_MEM_ATTR_FIELD_LENGTH | (1ull << 40);
    fact_status("query.unknown_bit", ucp_mem_query(mem, &attr));
    fact("query.unknown_bit.left", "address %d enough %d type %d",
         attr.address == buffer + 1, attr.length >= BYTES, attr.mem_type);
    must(ucp_mem_unmap(node.context, mem), "unmap");
}

/* A key is the same each time, and bytes that the owner need not keep: it is
 * taken when the handle is gone, too. */
static void keys(const char *name, size_t length)
{
    ucp_mem_map_params_t params =
        params_of(ADDRESS | LENGTH, buffer, length, 0);
    char       key[80];
    ucp_rkey_h rkey;
    ucp_mem_h  mem;
    void      *bytes[2];
    size_t     sizes[2];

    must(ucp_mem_map(node.context, &params, &mem), "map");
    for (int i = 0; i < 2; ++i) {
        must(ucp_rkey_pack(node.context, mem, &bytes[i], &sizes[i]), "pack");
    }
    snprintf(key, sizeof(key), "key.%s.again", name);
    fact(key, "same %d",
         (sizes[0] == sizes[1]) && (memcmp(bytes[0], bytes[1], sizes[0]) == 0));
    must(ucp_mem_unmap(node.context, mem), "unmap");
    snprintf(key, sizeof(key), "key.%s.after_unmap", name);
    fact_status(key, ucp_ep_rkey_unpack(node.ep, bytes[0], &rkey));
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(bytes[0]);
    ucp_rkey_buffer_release(bytes[1]);
}

/* Memory of the user in another place, memory of the library in the same
 * process: what a pointer to it says. */
static void pointers(void)
{
    ucp_mem_map_params_t params = params_of(LENGTH | FLAGS, NULL, 0, 0);
    ucp_rkey_h           rkey;
    ucp_mem_h            mem;
    void                *bytes, *pointer;
    size_t               size;

    must(ucp_mem_map(node.context, &params, &mem), "map");
    must(ucp_rkey_pack(node.context, mem, &bytes, &size), "pack");
    must(ucp_ep_rkey_unpack(node.ep, bytes, &rkey), "unpack");
    fact_status("pointer.of_nothing", ucp_rkey_ptr(rkey, 0x1000, &pointer));
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(bytes);
    must(ucp_mem_unmap(node.context, mem), "unmap");
}

int main(void)
{
    const struct pair_options options = {.features =
                                             UCP_FEATURE_TAG | UCP_FEATURE_RMA};

    node_open(&node, &options);
    node.ep = ep_open(node.worker, node.worker, &options);
    user_memory();
    allocated();
    rights();
    types();
    overlapping();
    advice();
    questions();
    keys("user", BYTES);
    keys("nothing", 0);
    pointers();
    ucp_ep_destroy(node.ep);
    node_close(&node);
    fact("end", "1");
    return 0;
}
