/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/extents.c - a sorted list: there are few, and most changes are at
 * its front. */
#include "ucp/proto/extents.h"

#include "ucs/assert.h"

void ucp_extents_init(struct ucp_extents *set, struct ucs_mpool *pool)
{
    *set = (struct ucp_extents){.pool = pool};
    ucs_list_init(&set->list);
}

static void extents_drop(struct ucp_extents *set, struct ucp_extent *extent)
{
    ucs_list_remove(&extent->link);
    ucs_mpool_put(extent);
    --set->count;
}

void ucp_extents_cleanup(struct ucp_extents *set)
{
    while (!ucs_list_is_empty(&set->list)) {
        extents_drop(set, ucs_list_first(&set->list, struct ucp_extent, link));
    }
    set->bytes = 0;
}

/* Put a new one in front of `next`. */
static ucs_status_t extents_insert(struct ucp_extents *set,
                                   struct ucs_list *next, size_t offset,
                                   size_t end)
{
    struct ucp_extent *extent;

    if (set->count >= UCP_EXTENT_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    extent = ucs_mpool_get(set->pool);
    if (extent == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    extent->offset = offset;
    extent->end    = end;
    ucs_list_add_before(next, &extent->link);
    ++set->count;
    return UCS_OK;
}

ucs_status_t ucp_extents_add(struct ucp_extents *set, size_t offset, size_t end)
{
    struct ucs_list   *next   = &set->list;
    struct ucp_extent *before = NULL, *after = NULL, *extent;
    ucs_status_t       status = UCS_OK;

    if (offset == end) {
        return UCS_OK;
    }
    ucs_list_for_each (extent, &set->list, link) {
        if (extent->offset >= end) {
            next  = &extent->link;
            after = (extent->offset == end) ? extent : NULL;
            break;
        }
        ucs_assert(extent->end <= offset);
        before = (extent->end == offset) ? extent : NULL;
    }
    if ((before != NULL) && (after != NULL)) {
        before->end = after->end;
        extents_drop(set, after);
    } else if (before != NULL) {
        before->end = end;
    } else if (after != NULL) {
        after->offset = offset;
    } else {
        status = extents_insert(set, next, offset, end);
    }
    if (status == UCS_OK) {
        set->bytes += end - offset;
    }
    return status;
}

/* The one that has all of the range, or NULL. */
static struct ucp_extent *extents_find(const struct ucp_extents *set,
                                       size_t offset, size_t end)
{
    struct ucp_extent *extent;

    ucs_list_for_each (extent, &set->list, link) {
        if (offset < extent->end) {
            return ((extent->offset <= offset) && (end <= extent->end)) ? extent
                                                                        : NULL;
        }
    }
    return NULL;
}

ucs_status_t ucp_extents_remove(struct ucp_extents *set, size_t offset,
                                size_t end)
{
    struct ucp_extent *extent = extents_find(set, offset, end);
    ucs_status_t       status = UCS_OK;

    if (offset == end) {
        return UCS_OK;
    }
    ucs_assert(extent != NULL);
    if ((extent->offset == offset) && (extent->end == end)) {
        extents_drop(set, extent);
    } else if (extent->offset == offset) {
        extent->offset = end;
    } else if (extent->end == end) {
        extent->end = offset;
    } else {
        status = extents_insert(set, &extent->link, extent->offset, offset);
        if (status != UCS_OK) {
            return status;
        }
        extent->offset = end;
    }
    set->bytes -= end - offset;
    return UCS_OK;
}

bool ucp_extents_have(const struct ucp_extents *set, size_t offset, size_t end)
{
    return extents_find(set, offset, end) != NULL;
}
