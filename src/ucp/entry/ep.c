/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/ep.c - creating, asking and closing endpoints. */
#include <stdio.h>

#include "ucp/core/flush.h"
#include "ucp/entry/op.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"

static struct ucp_ep_options options_read(const ucp_ep_params_t *user)
{
    struct ucp_ep_options options = {.err_mode = UCP_ERR_HANDLING_MODE_NONE};

    if (user->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) {
        options.err_mode = user->err_mode;
    }
    if (user->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        options.err_cb  = user->err_handler.cb;
        options.err_arg = user->err_handler.arg;
    }
    if (user->field_mask & UCP_EP_PARAM_FIELD_USER_DATA) {
        options.user_data = user->user_data;
        options.err_arg   = user->user_data;
    }
    if (user->field_mask & UCP_EP_PARAM_FIELD_FLAGS) {
        options.no_loopback =
            (user->flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK) != 0;
    }
    if ((user->field_mask & UCP_EP_PARAM_FIELD_NAME) && (user->name != NULL)) {
        options.name = user->name;
    }
    return options; /* below here there are no masks */
}

/* What kind of endpoint is asked for, and can we make it? */
static ucs_status_t create_check(const ucp_ep_params_t *params)
{
    uint64_t sockaddr_fields =
        UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_CONN_REQUEST;

    if (params->field_mask & sockaddr_fields) {
        ucs_error("ucp_ep_create: endpoints by socket address are not built "
                  "yet; use a worker address");
        return UCS_ERR_UNSUPPORTED;
    }
    if (!(params->field_mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) ||
        (params->address == NULL)) {
        ucs_error("ucp_ep_create: params name no peer (REMOTE_ADDRESS)");
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p)
{
    struct ucp_ep_options   options;
    struct ucp_address_view view;
    struct ucp_peer        *peer;
    const uint8_t          *address;
    ucs_status_t            status;

    if (ucp_op_is_null(__func__, worker, params, ep_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = create_check(params);
    if (status != UCS_OK) {
        return status;
    }
    options = options_read(params);
    address = (const uint8_t *)params->address;
    ucp_worker_enter(worker);
    status = ucp_peer_get(worker, address, ucp_address_length(address), &view,
                          &peer);
    if (status == UCS_OK) {
        status = ucp_peer_make_user_ep(worker, peer, &view, &options, ep_p);
    }
    ucp_worker_leave(worker);
    return status;
}

/* Start a flush or a close that may have to wait. */
typedef ucs_status_t (*ep_start_fn)(struct ucp_ep *ep, struct ucp_request *req);

static ucs_status_ptr_t ep_start(struct ucp_ep *ep, ep_start_fn start,
                                 const ucp_request_param_t *param)
{
    struct ucp_request *req;
    ucs_status_t        status = ucp_op_request(ep->worker, param, 0, &req);

    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    return ucp_op_finish_send(req, start(ep, req), param);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    struct ucp_worker *worker;
    ucs_status_ptr_t   result;

    if (ucp_op_is_null(__func__, ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    worker = ep->worker;
    ucp_worker_enter(worker);
    result = ep_start(ep, ucp_flush_ep, param);
    ucp_worker_leave(worker);
    return result;
}

static ucs_status_ptr_t ep_close(struct ucp_ep *ep, bool force,
                                 const ucp_request_param_t *param)
{
    ucs_status_ptr_t   result = NULL;
    struct ucp_worker *worker;

    if (ucp_op_is_null("ucp_ep_close", ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    worker = ep->worker;
    ucp_worker_enter(worker);
    if (ep->flags & UCP_EP_CLOSING) {
        ucs_error("ucp_ep_close: endpoint %p is being closed already",
                  (void *)ep);
        result = UCS_STATUS_PTR(UCS_ERR_NOT_CONNECTED);
    } else if (!force) {
        result = ep_start(ep, ucp_close_flush, param);
    } else if (ep->options.err_mode == UCP_ERR_HANDLING_MODE_NONE) {
        ucs_error("ucp_ep_close: force needs error mode PEER at "
                  "ucp_ep_create()");
        result = UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    } else {
        ucp_close_force(ep);
    }
    ucp_worker_leave(worker);
    return result;
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    bool force = (param != NULL) &&
                 (param->op_attr_mask & UCP_OP_ATTR_FIELD_FLAGS) &&
                 (param->flags & UCP_EP_CLOSE_FLAG_FORCE);

    return ep_close(ep, force, param);
}

ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode)
{
    return ep_close(ep, mode == UCP_EP_CLOSE_MODE_FORCE, &ucp_op_no_param);
}

ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep)
{
    return ep_close(ep, false, &ucp_op_no_param);
}

void ucp_ep_destroy(ucp_ep_h ep)
{
    struct ucp_worker *worker = (ep == NULL) ? NULL : ep->worker;

    (void)ucp_op_wait(worker, ucp_disconnect_nb(ep));
}

ucs_status_t ucp_ep_flush(ucp_ep_h ep)
{
    struct ucp_worker *worker = (ep == NULL) ? NULL : ep->worker;

    return ucp_op_wait(worker, ucp_ep_flush_nbx(ep, &ucp_op_no_param));
}

ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    struct ucp_ep_options changed;

    if (ucp_op_is_null(__func__, ep, params)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    changed = options_read(params);
    ucp_worker_enter(ep->worker);
    if (params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        ep->options.err_cb  = changed.err_cb;
        ep->options.err_arg = changed.err_arg;
    }
    if (params->field_mask & UCP_EP_PARAM_FIELD_USER_DATA) {
        ep->options.user_data = changed.user_data;
        ep->options.err_arg   = changed.user_data;
    }
    ucp_worker_leave(ep->worker);
    return NULL;
}

static void query_transports(const struct ucp_ep *ep,
                             ucp_transports_t    *transports)
{
    const struct uct_iface *iface = ep->message_ep->iface;
    ucp_transport_entry_t  *entry = transports->entries;
    size_t                  size  = transports->entry_size;

    if (transports->num_entries == 0) {
        return;
    }
    if (size >= offsetof(ucp_transport_entry_t, device_name)) {
        entry->transport_name = iface->transport->name;
    }
    if (size >= sizeof(*entry)) {
        entry->device_name = iface->md->device.name;
    }
    transports->num_entries = 1;
}

/* @param name  [UCP_ENTITY_NAME_MAX]: the user's; else the handle. */
static void ep_print_name(const struct ucp_ep *ep, char *name)
{
    if (ep->options.name != NULL) {
        snprintf(name, UCP_ENTITY_NAME_MAX, "%s", ep->options.name);
    } else {
        snprintf(name, UCP_ENTITY_NAME_MAX, "%p", (const void *)ep);
    }
}

ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    if (ucp_op_is_null(__func__, ep, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (attr->field_mask & (UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR |
                            UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR)) {
        return UCS_ERR_NOT_CONNECTED; /* only client-server endpoints */
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_NAME) {
        ep_print_name(ep, attr->name);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_TRANSPORTS) {
        query_transports(ep, &attr->transports);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_USER_DATA) {
        attr->user_data = ep->options.user_data;
    }
    return UCS_OK;
}

void ucp_ep_print_info(ucp_ep_h ep, FILE *stream)
{
    char text[128];
    char name[UCP_ENTITY_NAME_MAX];

    if (ucp_op_is_null(__func__, ep, stream)) {
        return;
    }
    ucp_worker_enter(ep->worker);
    ep_print_name(ep, name);
    fprintf(stream, "#\n# Causeway endpoint '%s'\n#\n", name);
    fprintf(stream, "#        peer        : %s\n",
            ucp_ep_describe(ep, text, sizeof(text)));
    fprintf(stream, "#        state       : %s\n",
            (ep->failed == UCS_OK) ? "ready" : ucs_status_string(ep->failed));
    for (const struct ucp_select_row *row =
             ep->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0].rows;
         ; ++row) {
        fprintf(stream, "#        up to %-20zu %s\n", row->bytes_max,
                row->proto->name);
        if (row->bytes_max == SIZE_MAX) {
            break;
        }
    }
    fprintf(stream, "#\n");
    ucp_worker_leave(ep->worker);
}
