/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave.c - what the behave_* programs share. */
#include "behave.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int           behave_inits;
int           behave_cleanups;
struct record behave_nb;

static const struct pair_options default_options;

/* ---------------------------------------------------------------- facts */

void fact(const char *name, const char *format, ...)
{
    va_list args;

    printf("%s: ", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

void fact_status(const char *name, ucs_status_t status)
{
    fact(name, "%d", status);
}

void fact_outcome(const char *name, ucs_status_ptr_t outcome)
{
    if (outcome == NULL) {
        fact(name, "null");
    } else if (UCS_PTR_IS_ERR(outcome)) {
        fact(name, "%d", UCS_PTR_STATUS(outcome));
    } else {
        fact(name, "request");
    }
}

void fact_record(const char *name, const struct record *record)
{
    fact(name, "calls %d status %d checked %d", record->calls, record->status,
         record->checked);
}

void fact_recv_record(const char *name, const struct record *record)
{
    fact(name, "calls %d status %d checked %d tag 0x%llx length %zu",
         record->calls, record->status, record->checked,
         (unsigned long long)record->info.sender_tag, record->info.length);
}

static void die(const char *what, int status)
{
    printf("died: %s (%d)\n", what, status);
    fflush(stdout);
    _Exit(1);
}

void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        die(what, status);
    }
}

void must_ptr(ucs_status_ptr_t outcome, const char *what)
{
    if (UCS_PTR_IS_ERR(outcome)) {
        die(what, UCS_PTR_STATUS(outcome));
    }
}

/* ---------------------------------------------------------------- nodes */

static void on_init(void *request)
{
    ++behave_inits;
    memset(request, 0x5a, BEHAVE_REQUEST_BYTES);
}

static void on_cleanup(void *request)
{
    (void)request;
    ++behave_cleanups;
}

void node_open(struct node *node, const struct pair_options *options)
{
    ucp_params_t        params;
    ucp_worker_params_t worker_params;

    memset(node, 0, sizeof(*node));
    memset(&params, 0xee, sizeof(params)); /* what is not masked is not read */
    params.field_mask =
        UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
        UCP_PARAM_FIELD_REQUEST_INIT | UCP_PARAM_FIELD_REQUEST_CLEANUP;
    params.features =
        (options->features == 0) ? UCP_FEATURE_TAG : options->features;
    params.request_size    = BEHAVE_REQUEST_BYTES;
    params.request_init    = on_init;
    params.request_cleanup = on_cleanup;
    must(ucp_init(&params, NULL, &node->context), "ucp_init");

    memset(&worker_params, 0xee, sizeof(worker_params));
    worker_params.field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    worker_params.thread_mode = options->thread_mode;
    must(ucp_worker_create(node->context, &worker_params, &node->worker),
         "ucp_worker_create");
}

void node_close(struct node *node)
{
    ucp_worker_destroy(node->worker);
    ucp_cleanup(node->context);
}

ucp_ep_h ep_open(ucp_worker_h from, ucp_worker_h to,
                 const struct pair_options *options)
{
    ucp_ep_params_t params;
    ucp_address_t  *address;
    size_t          length;
    ucp_ep_h        ep;

    must(ucp_worker_get_address(to, &address, &length), "get_address");
    memset(&params, 0xee, sizeof(params));
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.address  = address;
    params.err_mode = options->err_mode;
    if (options->err_cb != NULL) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_handler.cb  = options->err_cb;
        params.err_handler.arg = options->err_arg;
    }
    must(ucp_ep_create(from, &params, &ep), "ucp_ep_create");
    ucp_worker_release_address(to, address);
    return ep;
}

void pair_open(struct pair *pair, const struct pair_options *options)
{
    if (options == NULL) {
        options = &default_options;
    }
    node_open(&pair->a, options);
    node_open(&pair->b, options);
    if (!options->no_eps) {
        pair->a.ep = ep_open(pair->a.worker, pair->b.worker, options);
        pair->b.ep = ep_open(pair->b.worker, pair->a.worker, options);
    }
}

void ep_shut(struct pair *pair, ucp_ep_h ep)
{
    ucs_status_ptr_t request = ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH);

    must_ptr(request, "ucp_ep_close_nb");
    (void)pump_request(pair, request);
}

void pair_close(struct pair *pair)
{
    if (pair->a.ep != NULL) {
        ep_shut(pair, pair->a.ep);
    }
    if (pair->b.ep != NULL) {
        ep_shut(pair, pair->b.ep);
    }
    node_close(&pair->a);
    node_close(&pair->b);
}

/* ------------------------------------------------------------- progress */

void pump(struct pair *pair)
{
    ucp_worker_progress(pair->a.worker);
    if (pair->b.worker != NULL) {
        ucp_worker_progress(pair->b.worker);
    }
}

void pump_some(struct pair *pair)
{
    int i;

    for (i = 0; i < 1000; ++i) {
        pump(pair);
    }
}

static time_t deadline(void)
{
    return time(NULL) + BEHAVE_TIMEOUT_S;
}

static void check_deadline(time_t end, const char *what)
{
    if (time(NULL) > end) {
        die(what, UCS_ERR_TIMED_OUT);
    }
}

void pump_calls(struct pair *pair, const struct record *record)
{
    time_t end = deadline();

    while (record->calls == 0) {
        pump(pair);
        check_deadline(end, "no callback");
    }
}

ucs_status_t pump_request(struct pair *pair, ucs_status_ptr_t request)
{
    time_t       end = deadline();
    ucs_status_t status;

    if ((request == NULL) || UCS_PTR_IS_ERR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        pump(pair);
        check_deadline(end, "request does not end");
    }
    ucp_request_free(request);
    return status;
}

void pump_arrived(struct pair *pair, ucp_tag_t tag)
{
    time_t              end = deadline();
    ucp_tag_recv_info_t info;

    while (ucp_tag_probe_nb(pair->b.worker, tag, ~(ucp_tag_t)0, 0, &info) ==
           NULL) {
        pump(pair);
        check_deadline(end, "no message");
    }
}

/* ------------------------------------------------------------ callbacks */

static void record_end(struct record *record, void *request,
                       ucs_status_t status)
{
    ++record->calls;
    record->status  = status;
    record->request = request;
    record->checked = ucp_request_check_status(request);
    if (record->free_inside) {
        ucp_request_free(request);
    }
}

void on_send(void *request, ucs_status_t status, void *user_data)
{
    record_end(user_data, request, status);
}

void on_recv(void *request, ucs_status_t status,
             const ucp_tag_recv_info_t *info, void *user_data)
{
    struct record *record = user_data;

    record->info = *info;
    record_end(record, request, status);
}

void on_send_nb(void *request, ucs_status_t status)
{
    record_end(&behave_nb, request, status);
}

void on_recv_nb(void *request, ucs_status_t status, ucp_tag_recv_info_t *info)
{
    behave_nb.info = *info;
    record_end(&behave_nb, request, status);
}

static ucp_request_param_t param_of(struct record *record, uint32_t flags)
{
    ucp_request_param_t param;

    memset(&param, 0xee, sizeof(param));
    param.op_attr_mask = flags;
    if (record != NULL) {
        param.op_attr_mask |=
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.user_data = record;
        memset(record, 0, sizeof(*record));
    }
    return param;
}

ucp_request_param_t param_send(struct record *record, uint32_t flags)
{
    ucp_request_param_t param = param_of(record, flags);

    param.cb.send = on_send;
    return param;
}

ucp_request_param_t param_recv(struct record *record, uint32_t flags)
{
    ucp_request_param_t param = param_of(record, flags);

    param.cb.recv = on_recv;
    return param;
}

/* -------------------------------------------------------------- pattern */

static unsigned char pattern_byte(size_t place, unsigned seed)
{
    return (unsigned char)(place * 7 + place / 251 + seed * 31 + 1);
}

void pattern_fill(void *buffer, size_t length, unsigned seed)
{
    unsigned char *bytes = buffer;
    size_t         i;

    for (i = 0; i < length; ++i) {
        bytes[i] = pattern_byte(i, seed);
    }
}

bool pattern_holds(const void *buffer, size_t length, unsigned seed)
{
    const unsigned char *bytes = buffer;
    size_t               i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != pattern_byte(i, seed)) {
            return false;
        }
    }
    return true;
}
