/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/worker.c - creating, asking, progressing and destroying workers. */
#include <stdio.h>
#include <stdlib.h>

#include "ucp/entry/op.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/self_address.h"
#include "ucs/log.h"

enum {
    /* Longest header of an active message, as OpenUCX offers about 8 KiB. */
    WORKER_AM_HEADER_BYTES_MAX = 8064,
    WORKER_INFO_STRING_BYTES   = 200,
};

static struct ucp_worker_options options_read(const ucp_worker_params_t *user)
{
    struct ucp_worker_options options = {
        .thread_mode = UCS_THREAD_MODE_SINGLE,
        .event_fd    = -1,
    };

    if (user->field_mask & UCP_WORKER_PARAM_FIELD_THREAD_MODE) {
        options.thread_mode = user->thread_mode;
    }
    if (user->field_mask & UCP_WORKER_PARAM_FIELD_EVENT_FD) {
        options.event_fd = user->event_fd;
    }
    if (user->field_mask & UCP_WORKER_PARAM_FIELD_USER_DATA) {
        options.event_data = user->user_data;
    }
    if (user->field_mask & UCP_WORKER_PARAM_FIELD_EVENTS) {
        options.edge_triggered = (user->events & UCP_WAKEUP_EDGE) != 0;
    }
    if (user->field_mask & UCP_WORKER_PARAM_FIELD_FLAGS) {
        options.ignore_request_leak =
            (user->flags & UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK) != 0;
    }
    if ((user->field_mask & UCP_WORKER_PARAM_FIELD_NAME) &&
        (user->name != NULL)) {
        snprintf(options.name, sizeof(options.name), "%s", user->name);
    }
    return options; /* below here there are no masks */
}

ucs_status_t ucp_worker_create(ucp_context_h              context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h              *worker_p)
{
    struct ucp_worker_options options;

    if (ucp_op_is_null(__func__, context, params, worker_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    options = options_read(params);
    if ((unsigned)options.thread_mode > UCS_THREAD_MODE_MULTI) {
        ucs_error("ucp_worker_create: there is no thread mode %d",
                  (int)options.thread_mode);
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_worker_open(context, &options, worker_p);
}

void ucp_worker_destroy(ucp_worker_h worker)
{
    if (ucp_op_is_null(__func__, worker)) {
        return;
    }
    if (worker->is_inside) {
        ucs_error("ucp_worker_destroy: called inside a callback of worker "
                  "'%s', which stays",
                  worker->options.name);
        return;
    }
    ucp_worker_close(worker);
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    unsigned count;

    if (ucs_unlikely(worker == NULL)) {
        ucs_error_limited("ucp_worker_progress: the worker is NULL");
        return 0;
    }
    ucp_worker_enter(worker);
    count = ucp_worker_poll(worker);
    ucp_worker_leave(worker);
    return count;
}

static ucs_status_t worker_get_address(ucp_worker_h worker, bool net_only,
                                       ucp_address_t **address_p,
                                       size_t         *length_p)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  length =
        ucp_worker_address_encode(worker, net_only, bytes, sizeof(bytes));
    void *copy;

    if (length == 0) {
        ucs_error("worker '%s': the address does not fit %d bytes; fewer "
                  "devices in UCX_TLS or UCX_NET_DEVICES make it shorter",
                  worker->options.name, UCP_ADDRESS_BYTES_MAX);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    copy = malloc(length);
    if (copy == NULL) {
        return ucsi_no_memory("a worker address", length);
    }
    memcpy(copy, bytes, length);
    *address_p = copy;
    *length_p  = length;
    return UCS_OK;
}

ucs_status_t ucp_worker_get_address(ucp_worker_h    worker,
                                    ucp_address_t **address_p,
                                    size_t         *address_length_p)
{
    if (ucp_op_is_null(__func__, worker, address_p, address_length_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return worker_get_address(worker, false, address_p, address_length_p);
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    (void)worker;
    free(address);
}

ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr)
{
    bool net_only;

    if (ucp_op_is_null(__func__, worker, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    net_only = (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS) &&
               (attr->address_flags & UCP_WORKER_ADDRESS_FLAG_NET_ONLY);
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_THREAD_MODE) {
        attr->thread_mode = worker->options.thread_mode;
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER) {
        attr->max_am_header = WORKER_AM_HEADER_BYTES_MAX;
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_NAME) {
        snprintf(attr->name, sizeof(attr->name), "%s", worker->options.name);
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING) {
        attr->max_debug_string = WORKER_INFO_STRING_BYTES;
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS) {
        return worker_get_address(worker, net_only, &attr->address,
                                  &attr->address_length);
    }
    return UCS_OK;
}

ucs_status_t ucp_worker_address_query(ucp_address_t             *address,
                                      ucp_worker_address_attr_t *attr)
{
    struct ucp_address_view view;
    char                    reason[UCT_REASON_BYTES_MAX];
    ucs_status_t            status;

    if (ucp_op_is_null(__func__, address, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ucp_address_decode((const uint8_t *)address,
                                ucp_address_length((const uint8_t *)address),
                                &view, reason);
    if (status != UCS_OK) {
        ucs_error("ucp_worker_address_query: %s", reason);
        return status;
    }
    if (attr->field_mask & UCP_WORKER_ADDRESS_ATTR_FIELD_UID) {
        attr->worker_uid = view.worker_id;
    }
    return UCS_OK;
}

/* What it has counted, where that is not zero. */
static void worker_print_counts(const struct ucp_worker *worker, FILE *stream)
{
    for (unsigned i = 0; i < UCP_COUNT_COUNT; ++i) {
        const struct ucs_counter_desc *desc = &worker->counters.table->descs[i];
        uint64_t value = ucs_counter_get(&worker->counts[i]);

        if (value != 0) {
            fprintf(stream, "#        %-18s: %llu %s\n", desc->name,
                    (unsigned long long)value, desc->doc);
        }
    }
}

void ucp_worker_print_info(ucp_worker_h worker, FILE *stream)
{
    unsigned ep_count = 0;

    if (ucp_op_is_null(__func__, worker, stream)) {
        return;
    }
    ucp_worker_enter(worker);
    ep_count = ucs_list_count(&worker->eps);
    fprintf(stream, "#\n# Causeway worker '%s'\n#\n", worker->options.name);
    fprintf(stream, "#        id          : %016lx\n",
            (unsigned long)worker->id);
    fprintf(stream, "#        thread mode : %s\n",
            worker->is_multi ? "multi" : "single or serialized");
    fprintf(stream, "#        endpoints   : %u\n", ep_count);
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        const struct ucp_worker_iface *wiface = &worker->ifaces[i];

        fprintf(stream, "#        interface %-2u: %s/%s\n", i,
                wiface->iface->transport->name, wiface->iface->md->device.name);
    }
    worker_print_counts(worker, stream);
    fprintf(stream, "#\n");
    ucp_worker_leave(worker);
}

/* Can it not sleep? Then that is logged. */
static bool worker_lacks_wakeup(const char              *call,
                                const struct ucp_worker *worker)
{
    if (ucp_op_is_null(call, worker)) {
        return true;
    }
    if (worker->wakeup.epoll_fd >= 0) {
        return false;
    }
    ucs_error("%s: the context was made without UCP_FEATURE_WAKEUP", call);
    return true;
}

ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd)
{
    if (worker_lacks_wakeup(__func__, worker) || ucp_op_is_null(__func__, fd)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (worker->options.event_fd >= 0) {
        return UCS_ERR_UNSUPPORTED; /* the user has it */
    }
    *fd = worker->wakeup.epoll_fd;
    return UCS_OK;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    ucs_status_t status;

    if (worker_lacks_wakeup(__func__, worker)) {
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_worker_enter(worker);
    status = ucp_wakeup_arm(worker);
    ucp_worker_leave(worker);
    return status;
}

ucs_status_t ucp_worker_wait(ucp_worker_h worker)
{
    if (worker_lacks_wakeup(__func__, worker)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_wakeup_wait(worker);
}

ucs_status_t ucp_worker_signal(ucp_worker_h worker)
{
    if (worker_lacks_wakeup(__func__, worker)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_wakeup_signal(worker);
}

void ucp_worker_wait_mem(ucp_worker_h worker, void *address)
{
    (void)worker;
    (void)address;
    ucs_cpu_relax();
}
