/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_am.c - active messages, from the sender's side. */
#include "mock/mock_private.h"

static const struct uct_iface_attr *mock_attr(const struct uct_ep *ep)
{
    return &mock_world.setup.devices[mock_iface_of(ep->iface)->device];
}

/* A message of up to [length_max] bytes. @return NULL: *status_p says why. */
static struct mock_item *mock_am_new(struct mock_ep *ep, uint8_t am_id,
                                     size_t length_max, unsigned flags,
                                     ucs_status_t *status_p)
{
    struct mock_item *item = mock_item_new(ep, MOCK_ITEM_AM);

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (item != NULL) {
        item->am_id        = am_id;
        item->is_any_order = (flags & UCT_FLAG_ANY_ORDER) != 0;
        item->data         = malloc((length_max == 0) ? 1 : length_max);
    }
    if ((item == NULL) || (item->data == NULL)) {
        free(item);
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    return item;
}

ucs_status_t mock_am_short(struct uct_ep *base, uint8_t am_id, uint64_t header,
                           const void *payload, size_t length, unsigned flags)
{
    struct mock_ep   *ep = mock_ep_of(base);
    struct mock_item *item;
    ucs_status_t      status;

    if (length > mock_attr(base)->am.short_bytes_max) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = mock_begin(ep, MOCK_AM_SHORT, flags);
    if (status != UCS_OK) {
        return status;
    }
    item = mock_am_new(ep, am_id, sizeof(header) + length, flags, &status);
    if (item == NULL) {
        return status;
    }
    memcpy(item->data, &header, sizeof(header));
    if (length > 0) {
        memcpy(item->data + sizeof(header), payload, length);
    }
    item->length = sizeof(header) + length;
    mock_journal_item(item, MOCK_AM_SHORT);
    return mock_item_accept(item, NULL, false);
}

ssize_t mock_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                      void *arg, size_t length_max, unsigned flags)
{
    struct mock_ep   *ep = mock_ep_of(base);
    struct mock_item *item;
    ucs_status_t      status;
    ssize_t           length;

    if (length_max > mock_attr(base)->am.bcopy_bytes_max) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = mock_begin(ep, MOCK_AM_BCOPY, flags);
    if (status != UCS_OK) {
        return status;
    }
    item = mock_am_new(ep, am_id, length_max, flags, &status);
    if (item == NULL) {
        return status;
    }
    item->length = pack(item->data, arg);
    if (item->length > length_max) {
        mock_bad("pack wrote %zu bytes, announced were %zu", item->length,
                 length_max);
    }
    length = (ssize_t)item->length;
    mock_journal_item(item, MOCK_AM_BCOPY);
    (void)mock_item_accept(item, NULL, false);
    return length;
}

ucs_status_t mock_am_zcopy(struct uct_ep *base, uint8_t am_id,
                           const void *header, size_t header_length,
                           const struct uct_iov *iov, unsigned iov_count,
                           struct uct_req *req, unsigned flags)
{
    const struct uct_iface_attr *attr    = mock_attr(base);
    struct mock_ep              *ep      = mock_ep_of(base);
    size_t                       payload = uct_iov_bytes(iov, iov_count);
    struct mock_item            *item;
    ucs_status_t                 status;

    if ((iov_count > attr->am.iov_count_max) ||
        (iov_count > MOCK_IOV_COUNT_MAX) ||
        (header_length > attr->am_zcopy_header_bytes_max) ||
        (header_length > attr->am.zcopy_bytes_max) ||
        (payload > attr->am.zcopy_bytes_max - header_length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = mock_begin(ep, MOCK_AM_ZCOPY, flags);
    if (status != UCS_OK) {
        return status;
    }
    item = mock_am_new(ep, am_id, header_length + payload, flags, &status);
    if (item == NULL) {
        return status;
    }
    if (header_length > 0) {
        memcpy(item->data, header, header_length);
    }
    item->header_length = header_length;
    item->length        = header_length + payload;
    mock_item_lend(item, iov, iov_count);
    (void)uct_iov_gather(item->data + header_length, iov, iov_count);
    mock_journal_item(item, MOCK_AM_ZCOPY);
    return mock_item_accept(item, req, true);
}
