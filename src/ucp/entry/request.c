/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/request.c - what the user may do with a request. */
#include <stdio.h>

#include "ucp/entry/op.h"
#include "ucs/log.h"

ucs_status_t ucp_request_check_status(void *request)
{
    if (!ucp_op_is_request(__func__, request)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_request_status(ucp_request_of(request));
}

int ucp_request_is_completed(void *request)
{
    return ucp_request_check_status(request) != UCS_INPROGRESS;
}

ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info)
{
    const struct ucp_request *req;
    ucs_status_t              status;

    if (!ucp_op_is_request(__func__, request)) {
        return UCS_ERR_INVALID_PARAM;
    }
    req    = ucp_request_of(request);
    status = ucp_request_status(req);
    if ((status != UCS_INPROGRESS) && (info != NULL) &&
        (req->flags & UCP_REQUEST_TAG_RECV)) {
        *info = req->recv.info;
    }
    return status;
}

ucs_status_t ucp_tag_recv_request_test(void *request, ucp_tag_recv_info_t *info)
{
    return ucp_request_test(request, info);
}

/* "tag send 1024 bytes rndv/pipeline_send to worker ..." */
static void request_describe(const struct ucp_request *req, char *text,
                             size_t size)
{
    if (req->flags & UCP_REQUEST_TAG_RECV) {
        snprintf(text, size, "tag receive, %zu bytes, tag 0x%lx",
                 req->dt.length, (unsigned long)req->recv.expected.node.tag);
    } else {
        snprintf(text, size, "%s, %zu bytes, tag 0x%lx", req->send.proto->name,
                 req->dt.length, (unsigned long)req->send.tag);
    }
}

ucs_status_t ucp_request_query(void *request, ucp_request_attr_t *attr)
{
    const struct ucp_request *req;

    if (!ucp_op_is_request(__func__, request) ||
        ucp_op_is_null(__func__, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    req = ucp_request_of(request);
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_INFO_STRING) {
        if (!(attr->field_mask & UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE) ||
            ((attr->debug_string == NULL) && (attr->debug_string_size > 0))) {
            ucs_error("ucp_request_query: INFO_STRING needs a buffer and "
                      "INFO_STRING_SIZE");
            return UCS_ERR_INVALID_PARAM;
        }
        request_describe(req, attr->debug_string, attr->debug_string_size);
    }
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_STATUS) {
        attr->status = ucp_request_check_status(request);
    }
    if (attr->field_mask & UCP_REQUEST_ATTR_FIELD_MEM_TYPE) {
        attr->mem_type = UCS_MEMORY_TYPE_HOST;
    }
    return UCS_OK;
}

static UCS_OUTLINE void release_with_lock(struct ucp_request *req, bool silence)
{
    struct ucp_worker *worker = req->worker;

    ucp_worker_enter(worker);
    ucp_request_release_handle(req, silence);
    ucp_worker_leave(worker);
}

UCS_INLINE void request_release(void *request, bool silence)
{
    struct ucp_request *req = ucp_request_of(request);

    if (ucs_unlikely(req->worker->is_multi)) {
        release_with_lock(req, silence);
    } else if (ucs_likely((req->flags &
                           (UCP_REQUEST_COMPLETED | UCP_REQUEST_EXTERNAL)) ==
                          UCP_REQUEST_COMPLETED)) {
        ucs_mpool_put(req);
    } else {
        ucp_request_release_handle(req, silence);
    }
}

void ucp_request_free(void *request)
{
    if (ucp_op_is_request(__func__, request)) {
        request_release(request, true);
    }
}

void ucp_request_release(void *request)
{
    if (ucp_op_is_request(__func__, request)) {
        request_release(request, false);
    }
}

void ucp_request_cancel(ucp_worker_h worker, void *request)
{
    if (!ucp_op_is_request(__func__, request) ||
        ucp_op_is_null(__func__, worker)) {
        return;
    }
    ucp_worker_enter(worker);
    ucp_request_cancel_unmatched(ucp_request_of(request));
    ucp_worker_leave(worker);
}

void *ucp_request_alloc(ucp_worker_h worker)
{
    (void)worker; /* as OpenUCX: there is no use for it */
    return NULL;
}
