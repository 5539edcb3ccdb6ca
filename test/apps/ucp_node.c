/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the plain UCP programs' helpers that calls UCP. */
#include "ucp_util.h"

#include <string.h>

static int uu_open_worker(struct uu_node *node)
{
    ucp_worker_params_t params = {.field_mask =
                                      UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucs_status_t        status;

    status = ucp_worker_create(node->context, &params, &node->worker);
    if (status != UCS_OK) {
        uu_check(0, "ucp_worker_create: %s", ucs_status_string(status));
        ucp_cleanup(node->context);
        return -1;
    }
    status =
        ucp_worker_get_address(node->worker, &node->address, &node->length);
    if (status != UCS_OK) {
        uu_check(0, "ucp_worker_get_address: %s", ucs_status_string(status));
        ucp_worker_destroy(node->worker);
        ucp_cleanup(node->context);
        return -1;
    }
    return 0;
}

int uu_open(struct uu_node *node, uint64_t features)
{
    ucp_params_t  params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                            .features   = features};
    ucp_config_t *config;
    ucs_status_t  status;

    memset(node, 0, sizeof(*node));
    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK) {
        uu_check(0, "ucp_config_read: %s", ucs_status_string(status));
        return -1;
    }
    status = ucp_init(&params, config, &node->context);
    ucp_config_release(config);
    if (status != UCS_OK) {
        uu_check(0, "ucp_init: %s", ucs_status_string(status));
        return -1;
    }
    return uu_open_worker(node);
}

void uu_close(struct uu_node *node)
{
    ucp_worker_release_address(node->worker, node->address);
    ucp_worker_destroy(node->worker);
    ucp_cleanup(node->context);
}

static void uu_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct uu_link *link = arg;

    uu_check(link->ep == ep, "the error handler got another endpoint");
    link->errors++;
    link->error      = status;
    link->error_time = uu_now();
}

ucs_status_t uu_connect(struct uu_node *node, const void *address,
                        int peer_errors, struct uu_link *link)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address    = address};

    memset(link, 0, sizeof(*link));
    if (peer_errors) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                             UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode        = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler.cb  = uu_error;
        params.err_handler.arg = link;
    }
    return ucp_ep_create(node->worker, &params, &link->ep);
}

void uu_disconnect(struct uu_node *node, struct uu_link *link, int force)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0};
    ucs_status_t        status;

    status = uu_wait(node, ucp_ep_close_nbx(link->ep, &param), UU_SECONDS);
    uu_check(status != UCS_INPROGRESS, "closing an endpoint does not end");
}

void *uu_send(struct uu_link *link, const void *data, size_t length,
              uint64_t tag)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return ucp_tag_send_nbx(link->ep, data, length, tag, &param);
}

void *uu_receive(struct uu_node *node, void *data, size_t room, uint64_t tag)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return ucp_tag_recv_nbx(node->worker, data, room, tag, UINT64_MAX, &param);
}

ucs_status_t uu_wait(struct uu_node *node, void *request, double seconds)
{
    double       until = uu_now() + seconds;
    ucs_status_t status;

    if (request == NULL) {
        return UCS_OK;
    } else if (UCS_PTR_IS_ERR(request)) {
        return UCS_PTR_STATUS(request);
    }
    do {
        ucp_worker_progress(node->worker);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS && uu_now() < until);
    if (status != UCS_INPROGRESS) {
        ucp_request_free(request);
    }
    return status;
}

ucs_status_t uu_wait_two(struct uu_node *node, struct uu_node *other,
                         void *request)
{
    double       until = uu_now() + UU_SECONDS;
    ucs_status_t status;

    do {
        status = uu_wait(node, request, 0);
        if (other != NULL) {
            ucp_worker_progress(other->worker);
        }
    } while (status == UCS_INPROGRESS && uu_now() < until);
    return status;
}
