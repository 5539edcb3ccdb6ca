/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/reg_cache.c - find, register, keep, drop.
 *
 * Transports are called without the lock: registering may take long. What is
 * to be released is taken out of the cache first and collected in a list of
 * the caller's ("doomed"). So two threads may register the same memory at the
 * same time; both registrations are good, and ranges may overlap. And memory
 * may go while it is being registered, with another thread reading the report:
 * then the registration serves its one operation, whose fault that is, and is
 * not kept. */
#include "ucp/core/reg_cache.h"

#include "ucs/log.h"

static const struct ucs_counter_desc reg_count_descs[] = {
    [UCP_REG_COUNT_HITS]    = {"hits", "registrations found"},
    [UCP_REG_COUNT_MISSES]  = {"misses", "memory registered anew"},
    [UCP_REG_COUNT_REPORTS] = {"reports", "dropped, their memory went away"},
    [UCP_REG_COUNT_EVICTED] = {"evicted", "released for the limits"},
};
static const struct ucs_counter_table reg_count_table = {
    "registrations", reg_count_descs, UCP_REG_COUNT_COUNT};

static void cache_lock(struct ucp_reg_cache *cache)
{
    if (ucs_unlikely(cache->is_shared)) {
        pthread_mutex_lock(&cache->lock);
    }
}

static void cache_unlock(struct ucp_reg_cache *cache)
{
    if (ucs_unlikely(cache->is_shared)) {
        pthread_mutex_unlock(&cache->lock);
    }
}

static struct ucp_reg *reg_of(struct ucs_range *range)
{
    return ucs_container_of(range, struct ucp_reg, range);
}

static size_t reg_bytes(const struct ucp_reg *reg)
{
    return reg->range.end - reg->range.start;
}

ucs_status_t ucp_reg_cache_init(struct ucp_reg_cache        *cache,
                                const struct ucp_reg_limits *limits)
{
    const struct ucs_mpool_params pool = {
        .name          = "registrations",
        .element_bytes = sizeof(struct ucp_reg),
    };
    ucs_status_t status = ucsi_mpool_init(&cache->pool, &pool);

    if (status != UCS_OK) {
        return status;
    }
    cache->is_shared    = false;
    cache->domain_count = 0;
    cache->kept_bytes   = 0;
    cache->kept_count   = 0;
    cache->gone_count   = 0;
    cache->limits       = *limits;
    ucsi_unmap_reader_init(&cache->reader);
    ucsi_ranges_init(&cache->handles);
    ucs_list_init(&cache->unused);
    (void)pthread_mutex_init(&cache->lock, NULL);
    ucsi_counters_add(&cache->counters, &reg_count_table, "context",
                      cache->counts);
    return UCS_OK;
}

void ucp_reg_cache_add_domain(struct ucp_reg_cache *cache, struct uct_md *md)
{
    struct ucp_reg_domain *domain = &cache->domains[cache->domain_count];

    ucs_assert(cache->domain_count < UCP_REG_DOMAIN_COUNT_MAX);
    domain->md = md;
    ucsi_ranges_init(&domain->kept);
    ++cache->domain_count;
}

void ucp_reg_cache_share(struct ucp_reg_cache *cache)
{
    cache->is_shared = true;
}

static struct ucp_reg_domain *domain_of(struct ucp_reg_cache *cache,
                                        const struct uct_md  *md)
{
    struct ucp_reg_domain *domain = cache->domains;

    while (domain->md != md) {
        ++domain;
        ucs_assert(domain < cache->domains + cache->domain_count);
    }
    return domain;
}

/* ---- Kept or not ---- */

static void reg_keep(struct ucp_reg *reg)
{
    ucsi_ranges_add(&reg->domain->kept, &reg->range);
    reg->is_kept = true;
    if (!reg->is_handles) {
        ++reg->cache->kept_count;
        reg->cache->kept_bytes += reg_bytes(reg);
    }
}

/* Let nobody find it any more; without a user it is doomed. */
static void reg_drop(struct ucp_reg *reg, struct ucs_list *doomed)
{
    ucsi_ranges_remove(&reg->domain->kept, &reg->range);
    reg->is_kept = false;
    if (!reg->is_handles) {
        --reg->cache->kept_count;
        reg->cache->kept_bytes -= reg_bytes(reg);
    }
    if (reg->ref_count == 0) {
        ucs_list_remove(&reg->link);
        ucs_list_add_tail(doomed, &reg->link);
    }
}

/* Without the lock. */
static void release_mem(const struct ucp_reg *reg)
{
    reg->mem->md->transport->mem_release(reg->mem);
}

static void release_doomed(struct ucp_reg_cache *cache, struct ucs_list *doomed)
{
    struct ucp_reg *reg, *next;

    if (ucs_likely(ucs_list_is_empty(doomed))) {
        return;
    }
    ucs_list_for_each (reg, doomed, link) {
        release_mem(reg);
    }
    cache_lock(cache);
    ucs_list_for_each_safe (reg, next, doomed, link) {
        ucs_mpool_put(reg);
    }
    cache_unlock(cache);
}

/* Are the limits too low for one more, of so many bytes? */
static bool is_over(const struct ucp_reg_cache *cache, size_t bytes)
{
    return (cache->kept_bytes + bytes > cache->limits.bytes_max) ||
           (cache->kept_count + 1 > cache->limits.count_max);
}

/* Drop the one that nobody used for the longest time; there is one. */
static void evict_oldest(struct ucp_reg_cache *cache, struct ucs_list *doomed)
{
    ucs_counter_inc(&cache->counts[UCP_REG_COUNT_EVICTED]);
    reg_drop(ucs_list_first(&cache->unused, struct ucp_reg, link), doomed);
}

/* Make room under the limits for one more, as far as that goes. */
static void evict_for(struct ucp_reg_cache *cache, size_t bytes,
                      struct ucs_list *doomed)
{
    while (is_over(cache, bytes) && !ucs_list_is_empty(&cache->unused)) {
        evict_oldest(cache, doomed);
    }
}

static bool is_not_handles(const struct ucs_range *range, void *arg)
{
    (void)arg;
    return !ucs_container_of(range, struct ucp_reg, range)->is_handles;
}

/* That memory went: nothing of it that `which` accepts is found any more. */
static void drop_touching(struct ucp_reg_cache   *cache,
                          const struct ucs_range *gone,
                          ucs_range_accept_fn which, struct ucs_list *doomed)
{
    struct ucs_range *range;

    ++cache->gone_count;
    for (unsigned i = 0; i < cache->domain_count; ++i) {
        while (
            (range = ucs_ranges_touching(&cache->domains[i].kept, gone->start,
                                         gone->end, which, NULL)) != NULL) {
            reg_drop(reg_of(range), doomed);
        }
    }
}

/* What a report of the runtime is handled with. */
struct report_arg {
    struct ucp_reg_cache *cache;
    struct ucs_list      *doomed;
};

static void on_unmap(void *arg, uintptr_t start, uintptr_t end)
{
    const struct report_arg *report = (const struct report_arg *)arg;
    struct ucp_reg_cache    *cache  = report->cache;
    const struct ucs_range   gone   = {.start = start, .end = end};
    size_t                   before = cache->kept_count;

    drop_touching(cache, &gone, NULL, report->doomed);
    ucs_counter_add(&cache->counts[UCP_REG_COUNT_REPORTS],
                    before - cache->kept_count);
}

static void read_reports(struct ucp_reg_cache *cache, struct ucs_list *doomed)
{
    struct report_arg report = {.cache = cache, .doomed = doomed};

    if (ucs_unmap_has_news(&cache->reader)) {
        ucsi_unmap_read(&cache->reader, on_unmap, &report);
    }
}

/* Are we certain to hear when this memory goes away? */
static bool may_keep(const struct ucp_reg_cache *cache, uintptr_t start,
                     uintptr_t end)
{
    return cache->limits.is_enabled &&
           (ucsi_unmap_is_reported() ||
            (ucs_ranges_covering(&cache->handles, start, end, NULL, NULL) !=
             NULL));
}

/* ---- Get and put ---- */

/* Register, without the lock; not kept, one user. */
static ucs_status_t reg_make(struct ucp_reg_cache  *cache,
                             struct ucp_reg_domain *domain,
                             const struct uct_iov *memory, unsigned access,
                             struct ucp_reg **reg_p)
{
    struct uct_mem *mem;
    struct ucp_reg *reg;
    ucs_status_t    status;

    status = domain->md->transport->mem_register(domain->md, memory->buffer,
                                                 memory->length, access, &mem);
    if (status != UCS_OK) {
        return status;
    }
    cache_lock(cache);
    reg = (struct ucp_reg *)ucs_mpool_get(&cache->pool);
    cache_unlock(cache);
    if (reg == NULL) {
        domain->md->transport->mem_release(mem);
        return UCS_ERR_NO_MEMORY;
    }
    reg->range.start = (uintptr_t)memory->buffer;
    reg->range.end   = reg->range.start + memory->length;
    reg->mem         = mem;
    reg->cache       = cache;
    reg->domain      = domain;
    reg->ref_count   = 1;
    reg->is_kept     = false;
    reg->is_handles  = false;
    *reg_p           = reg;
    return UCS_OK;
}

/* The same; a domain that is full gets back what nobody uses, once. */
static ucs_status_t reg_make_or_evict(struct ucp_reg_cache  *cache,
                                      struct ucp_reg_domain *domain,
                                      const struct uct_iov  *memory,
                                      unsigned access, struct ucp_reg **reg_p)
{
    ucs_status_t    status = reg_make(cache, domain, memory, access, reg_p);
    struct ucs_list doomed;

    if (status != UCS_ERR_NO_MEMORY) {
        return status;
    }
    ucs_list_init(&doomed);
    cache_lock(cache);
    while (!ucs_list_is_empty(&cache->unused)) {
        evict_oldest(cache, &doomed);
    }
    cache_unlock(cache);
    if (ucs_list_is_empty(&doomed)) {
        return status;
    }
    release_doomed(cache, &doomed);
    return reg_make(cache, domain, memory, access, reg_p);
}

static bool has_access(const struct ucs_range *range, void *arg)
{
    unsigned access = *(const unsigned *)arg;

    return (ucs_container_of(range, struct ucp_reg, range)->mem->access &
            access) == access;
}

/* Keep a new registration if that is allowed and fits.
 * @param gone_count  The cache's before it was made. */
static void keep_if_certain(struct ucp_reg *reg, uint64_t gone_count,
                            struct ucs_list *doomed)
{
    struct ucp_reg_cache *cache = reg->cache;

    if ((cache->gone_count == gone_count) &&
        may_keep(cache, reg->range.start, reg->range.end)) {
        evict_for(cache, reg_bytes(reg), doomed);
        if (!is_over(cache, reg_bytes(reg))) {
            reg_keep(reg);
        }
    }
}

ucs_status_t ucp_reg_get(struct ucp_reg_cache *cache, struct uct_md *md,
                         const void *address, size_t length, unsigned access,
                         struct ucp_reg **reg_p)
{
    const struct uct_iov   memory = {.buffer = (void *)(uintptr_t)address,
                                     .length = length};
    uintptr_t              start  = (uintptr_t)address;
    struct ucp_reg_domain *domain = domain_of(cache, md);
    struct ucp_reg        *reg    = NULL;
    ucs_status_t           status = UCS_OK;
    struct ucs_range      *range;
    struct ucs_list        doomed;
    uint64_t               gone_count;

    ucs_assert((length > 0) && (length <= UINTPTR_MAX - start));
    ucs_list_init(&doomed);
    cache_lock(cache);
    read_reports(cache, &doomed);
    gone_count = cache->gone_count;
    range      = ucs_ranges_covering(&domain->kept, start, start + length,
                                     has_access, &access);
    if (ucs_likely(range != NULL)) {
        reg = reg_of(range);
        if (reg->ref_count++ == 0) {
            ucs_list_remove(&reg->link);
        }
        ucs_counter_inc(&cache->counts[UCP_REG_COUNT_HITS]);
    }
    cache_unlock(cache);
    if (reg == NULL) {
        status = reg_make_or_evict(cache, domain, &memory, access, &reg);
    }
    if ((range == NULL) && (status == UCS_OK)) {
        cache_lock(cache);
        ucs_counter_inc(&cache->counts[UCP_REG_COUNT_MISSES]);
        keep_if_certain(reg, gone_count, &doomed);
        cache_unlock(cache);
    }
    release_doomed(cache, &doomed);
    if (status == UCS_OK) {
        *reg_p = reg;
    }
    return status;
}

void ucp_reg_put(struct ucp_reg *reg)
{
    struct ucp_reg_cache *cache = reg->cache;
    struct ucs_list       doomed;

    ucs_list_init(&doomed);
    cache_lock(cache);
    ucs_assert(reg->ref_count > 0);
    --reg->ref_count;
    if (reg->ref_count == 0) {
        ucs_list_add_tail(reg->is_kept ? &cache->unused : &doomed, &reg->link);
    }
    cache_unlock(cache);
    release_doomed(cache, &doomed);
}

/* ---- Memory handles ---- */

void ucp_reg_cache_add_handle(struct ucp_reg_cache *cache,
                              struct ucs_range     *range)
{
    cache_lock(cache);
    ucsi_ranges_add(&cache->handles, range);
    cache_unlock(cache);
}

void ucp_reg_cache_remove_handle(struct ucp_reg_cache *cache,
                                 struct ucs_range     *range)
{
    struct ucs_list doomed;

    ucs_list_init(&doomed);
    cache_lock(cache);
    ucsi_ranges_remove(&cache->handles, range);
    drop_touching(cache, range, is_not_handles, &doomed);
    cache_unlock(cache);
    release_doomed(cache, &doomed);
}

ucs_status_t ucp_reg_own(struct ucp_reg_cache *cache, struct uct_md *md,
                         const void *address, size_t length, unsigned access,
                         struct ucp_reg **reg_p)
{
    const struct uct_iov memory = {.buffer = (void *)(uintptr_t)address,
                                   .length = length};
    struct ucp_reg      *reg;
    struct ucs_list      doomed;
    ucs_status_t         status;

    /* What was told before is not about this memory, but what was there. */
    ucs_list_init(&doomed);
    cache_lock(cache);
    read_reports(cache, &doomed);
    cache_unlock(cache);
    release_doomed(cache, &doomed);
    status =
        reg_make_or_evict(cache, domain_of(cache, md), &memory, access, &reg);
    if (status != UCS_OK) {
        return status;
    }
    cache_lock(cache);
    reg->is_handles = true;
    reg_keep(reg);
    cache_unlock(cache);
    *reg_p = reg;
    return UCS_OK;
}

void ucp_reg_disown(struct ucp_reg *reg)
{
    struct ucs_list doomed;

    /* An operation may still use it: then that one releases it. */
    ucs_list_init(&doomed);
    cache_lock(reg->cache);
    if (reg->is_kept) {
        reg_drop(reg, &doomed);
    }
    cache_unlock(reg->cache);
    ucp_reg_put(reg);
}

void ucp_reg_cache_cleanup(struct ucp_reg_cache *cache)
{
    const struct ucs_range everything = {.start = 0, .end = UINTPTR_MAX};
    struct ucs_list        doomed;

    ucsi_counters_remove(&cache->counters);
    ucs_list_init(&doomed);
    drop_touching(cache, &everything, NULL, &doomed);
    release_doomed(cache, &doomed);
    ucs_assert(cache->handles.count == 0);
    (void)ucsi_mpool_cleanup(&cache->pool, true);
    (void)pthread_mutex_destroy(&cache->lock);
}
