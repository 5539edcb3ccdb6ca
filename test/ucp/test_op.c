/* SPDX-License-Identifier: BSD-3-Clause */
/* test_op.c - src/ucp/entry/op.c: what the calls of the API share: arguments
 * that must not be NULL, requests that are waited for inside a call. */
#include "ucp/entry/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"
#include "ucs/log_capture.h"

enum { TAG = 5, BYTES = 100000 };

static ucs_status_t pointer_status(ucs_status_ptr_t pointer)
{
    return UCS_PTR_RAW_STATUS(pointer);
}

/* One error line that names the call and what was wrong, and the status. */
static void check_refused(ucs_status_t status, const char *line)
{
    ck_assert_msg(status == UCS_ERR_INVALID_PARAM, "%s: %s", line,
                  ucs_status_string(status));
    ck_assert_msg(
        (log_captured.count == 1) && (strstr(log_captured.text, line) != NULL),
        "%s: %u lines, %s", line, log_captured.count, log_captured.text);
    log_capture_start();
}

static void op__null_is_refused(const struct test_param *param)
{
    ucp_worker_attr_t         worker_attr  = {.field_mask = 0};
    ucp_context_attr_t        context_attr = {.field_mask = 0};
    ucp_worker_address_attr_t uid          = {.field_mask = 0};
    ucp_address_t            *address;
    ucp_config_t             *config;
    struct pair               pair;
    size_t                    length;
    ucp_datatype_t            datatype = ucp_dt_make_contig(1);
    int                       fd;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    check_refused(ucp_lib_query(NULL), "ucp_lib_query: attr is NULL");
    check_refused(ucp_dt_query(datatype, NULL), "ucp_dt_query: attr is NULL");
    check_refused(causeway_ep_explain(NULL, NULL, stdout),
                  "causeway_ep_explain: ep is NULL");
    check_refused(ucp_config_read(NULL, NULL, NULL),
                  "ucp_config_read: config_p is NULL");
    ck_assert_int_eq(ucp_config_read(NULL, NULL, &config), UCS_OK);
    check_refused(ucp_config_modify(NULL, "TLS", "sm"),
                  "ucp_config_modify: config is NULL");
    check_refused(ucp_config_modify(config, NULL, "sm"),
                  "ucp_config_modify: name is NULL");
    check_refused(ucp_config_modify(config, "TLS", NULL),
                  "ucp_config_modify: value is NULL");
    ucp_config_release(config);
    check_refused(ucp_context_query(NULL, &context_attr), "ucp_context_query");
    check_refused(ucp_context_query(pair.contexts[0], NULL),
                  "ucp_context_query");
    check_refused(ucp_worker_query(NULL, &worker_attr), "ucp_worker_query");
    check_refused(ucp_worker_query(pair.workers[0], NULL), "ucp_worker_query");
    check_refused(ucp_worker_get_address(NULL, &address, &length),
                  "ucp_worker_get_address: worker is NULL");
    check_refused(ucp_worker_get_address(pair.workers[0], NULL, &length),
                  "ucp_worker_get_address: address_p is NULL");
    check_refused(ucp_worker_get_address(pair.workers[0], &address, NULL),
                  "ucp_worker_get_address: address_length_p is NULL");
    check_refused(ucp_worker_address_query(NULL, &uid),
                  "ucp_worker_address_query");
    check_refused(ucp_worker_get_efd(NULL, &fd), "ucp_worker_get_efd");
    check_refused(ucp_worker_arm(NULL), "ucp_worker_arm");
    check_refused(ucp_worker_wait(NULL), "ucp_worker_wait");
    check_refused(ucp_worker_signal(NULL), "ucp_worker_signal");
    check_refused(pointer_status(ucp_worker_flush_nbx(NULL, &pair_no_param)),
                  "ucp_worker_flush");
    check_refused(pointer_status(ucp_worker_flush_nbx(pair.workers[0], NULL)),
                  "ucp_worker_flush");
    pair_close(&pair);
}

static void op__null_endpoint_is_refused(const struct test_param *param)
{
    ucp_ep_params_t params = {.field_mask = 0};
    ucp_ep_attr_t   attr   = {.field_mask = 0};
    struct pair     pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    check_refused(ucp_ep_query(NULL, &attr), "ucp_ep_query");
    check_refused(ucp_ep_query(pair.eps[0], NULL), "ucp_ep_query");
    check_refused(ucp_ep_flush(NULL), "ucp_ep_flush");
    check_refused(pointer_status(ucp_ep_flush_nbx(pair.eps[0], NULL)),
                  "ucp_ep_flush");
    check_refused(pointer_status(ucp_ep_close_nbx(NULL, &pair_no_param)),
                  "ucp_ep_close");
    check_refused(pointer_status(ucp_ep_close_nbx(pair.eps[0], NULL)),
                  "ucp_ep_close");
    check_refused(pointer_status(ucp_ep_close_nb(NULL, 0)), "ucp_ep_close");
    check_refused(pointer_status(ucp_disconnect_nb(NULL)), "ucp_ep_close");
    check_refused(pointer_status(ucp_ep_modify_nb(NULL, &params)),
                  "ucp_ep_modify");
    check_refused(pointer_status(ucp_ep_modify_nb(pair.eps[0], NULL)),
                  "ucp_ep_modify");
    pair_close(&pair);
}

/* The calls that move data look, too. */
static void op__null_on_the_data_path(const struct test_param *param)
{
    const ucp_request_param_t *none = &pair_no_param;
    char                       byte = 0;
    ucp_tag_recv_info_t        info;
    struct pair                pair;
    ucp_worker_h               worker;
    ucp_ep_h                   ep;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    worker = pair.workers[0];
    ep     = pair.eps[0];
    log_capture_start();
    check_refused(pointer_status(ucp_tag_send_nbx(NULL, &byte, 1, TAG, none)),
                  "ucp_tag_send_nbx: ep is NULL");
    check_refused(pointer_status(ucp_tag_send_nbx(ep, &byte, 1, TAG, NULL)),
                  "ucp_tag_send_nbx: param is NULL");
    check_refused(
        pointer_status(ucp_tag_send_sync_nbx(NULL, &byte, 1, TAG, none)),
        "ucp_tag_send_sync_nbx");
    check_refused(
        pointer_status(causeway_tag_send_ready_nbx(ep, &byte, 1, TAG, NULL)),
        "causeway_tag_send_ready_nbx");
    check_refused(pointer_status(causeway_tag_send_buffered_nbx(NULL, &byte, 1,
                                                                TAG, none)),
                  "causeway_tag_send_buffered_nbx");
    check_refused(
        pointer_status(ucp_tag_recv_nbx(NULL, &byte, 1, TAG, ~0ul, none)),
        "ucp_tag_recv_nbx");
    check_refused(
        pointer_status(ucp_tag_recv_nbx(worker, &byte, 1, TAG, ~0ul, NULL)),
        "ucp_tag_recv_nbx");
    check_refused(
        pointer_status(ucp_tag_msg_recv_nbx(NULL, &byte, 1, NULL, none)),
        "ucp_tag_msg_recv_nbx");
    check_refused(ucp_worker_fence(NULL), "ucp_worker_fence");
    check_refused(
        ucp_tag_send_nbr(NULL, &byte, 1, ucp_dt_make_contig(1), TAG, &byte),
        "ucp_tag_send_nbx");
    ck_assert_ptr_null(ucp_tag_probe_nb(NULL, TAG, ~0ul, 1, &info));
    ck_assert_ptr_null(ucp_tag_probe_nb(worker, TAG, ~0ul, 1, NULL));
    ck_assert_uint_eq(ucp_worker_progress(NULL), 0);
    ck_assert_uint_eq(log_captured.count, 3);
    pair_meet(&pair);
    pair_close(&pair);
}

/* What a call returned may have been NULL or an error: neither is a request. */
static void op__no_request_is_refused(const struct test_param *param)
{
    void *const        wrong[] = {NULL, UCS_STATUS_PTR(UCS_ERR_NO_MEMORY),
                                  UCS_STATUS_PTR(UCS_ERR_CANCELED)};
    ucp_request_attr_t attr    = {.field_mask = UCP_REQUEST_ATTR_FIELD_STATUS};
    struct pair        pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(wrong); ++i) {
        check_refused(ucp_request_check_status(wrong[i]),
                      "ucp_request_check_status");
        check_refused(ucp_request_test(wrong[i], NULL), "ucp_request_test");
        check_refused(ucp_request_query(wrong[i], &attr), "ucp_request_query");
        ck_assert_int_ne(ucp_request_is_completed(wrong[i]), 0);
        ucp_request_free(wrong[i]);
        ucp_request_release(wrong[i]);
        ucp_request_cancel(pair.workers[0], wrong[i]);
        ck_assert_uint_eq(log_captured.count, 4);
        log_capture_start();
    }
    pair_close(&pair);
}

/* A field is said to be there, and is NULL: memory for a request must be some,
 * a callback or a place for the result is not needed. */
static void op__null_inside_params(const struct test_param *param)
{
    ucp_request_param_t no_memory = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST};
    ucp_request_param_t no_callback = {.op_attr_mask =
                                           UCP_OP_ATTR_FIELD_CALLBACK |
                                           UCP_OP_ATTR_FIELD_RECV_INFO |
                                           UCP_OP_ATTR_FIELD_USER_DATA};
    static char         out[BYTES], in[BYTES];
    struct pair         pair;
    void               *send, *receive;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    log_capture_start();
    check_refused(pointer_status(ucp_tag_send_sync_nbx(pair.eps[0], out, 1, TAG,
                                                       &no_memory)),
                  "FIELD_REQUEST");
    check_refused(pointer_status(ucp_tag_recv_nbx(pair.workers[1], in, 1, TAG,
                                                  ~0ul, &no_memory)),
                  "FIELD_REQUEST");
    check_refused(pointer_status(ucp_ep_flush_nbx(pair.eps[0], &no_memory)),
                  "FIELD_REQUEST");
    check_refused(
        pointer_status(ucp_worker_flush_nbx(pair.workers[0], &no_memory)),
        "FIELD_REQUEST");
    check_refused(pointer_status(ucp_ep_close_nbx(pair.eps[0], &no_memory)),
                  "FIELD_REQUEST");
    receive =
        ucp_tag_recv_nbx(pair.workers[1], in, BYTES, TAG, ~0ul, &no_callback);
    send = ucp_tag_send_sync_nbx(pair.eps[0], out, BYTES, TAG, &no_callback);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, out, 8, TAG)),
                     UCS_OK);
    pair_settle(&pair);
    receive =
        ucp_tag_recv_nbx(pair.workers[1], in, BYTES, TAG, ~0ul, &no_callback);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_uint_eq(log_captured.count, 0);
    pair_close(&pair);
}

/* What returns nothing says a line and does nothing. */
static void op__null_in_void_calls(const struct test_param *param)
{
    char       *text = NULL;
    struct pair pair;
    FILE       *stream;
    size_t      length;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    log_capture_start();
    ucp_cleanup(NULL);
    ucp_config_release(NULL);
    ucp_config_print(NULL, stream, NULL, UCS_CONFIG_PRINT_CONFIG);
    ucp_context_print_info(NULL, stream);
    ucp_context_print_info(pair.contexts[0], NULL);
    ucp_worker_destroy(NULL);
    ucp_worker_print_info(NULL, stream);
    ucp_worker_print_info(pair.workers[0], NULL);
    ucp_ep_print_info(NULL, stream);
    ucp_ep_print_info(pair.eps[0], NULL);
    ucp_ep_destroy(NULL);
    ucp_get_version(NULL, NULL, NULL);
    ucp_rkey_destroy(NULL);
    ucp_mem_print_info("1k", NULL, stream);
    ck_assert_uint_eq(log_captured.count, 14);
    ucp_worker_release_address(pair.workers[0], NULL);
    (void)fclose(stream);
    ck_assert_uint_eq(length, 0);
    free(text);
    pair_close(&pair);
}

/* A request that was done at once, and one that never had work, can be asked
 * about like any other. */
static void op__every_request_describes_itself(const struct test_param *param)
{
    const ucp_request_param_t no_imm = {.op_attr_mask =
                                            UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    char                      text[64];
    ucp_request_attr_t        attr = {
               .field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                             UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE |
                             UCP_REQUEST_ATTR_FIELD_STATUS,
               .debug_string      = text,
               .debug_string_size = sizeof(text),
    };
    ucs_status_ptr_t requests[4];
    struct pair      pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    requests[0] = ucp_ep_flush_nbx(pair.eps[0], &no_imm);
    requests[1] = ucp_worker_flush_nbx(pair.workers[0], &no_imm);
    requests[2] = ucp_tag_send_nbx(pair.eps[0], "x", 1, TAG, &no_imm);
    requests[3] = ucp_ep_close_nbx(pair.eps[0], &no_imm);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(requests); ++i) {
        ck_assert_msg(UCS_PTR_IS_PTR(requests[i]), "request %u", i);
        text[0] = '\0';
        ck_assert_int_eq(ucp_request_query(requests[i], &attr), UCS_OK);
        ck_assert_uint_gt(strlen(text), 0);
        ck_assert_int_eq(pair_wait(&pair, requests[i]), UCS_OK);
    }
    pair.eps[0] = NULL;
    pair_close(&pair);
}

/* Blocking calls run progress, and with it the callbacks of others. */
static void op__waiting_calls_back(const struct test_param *param)
{
    static char         out[BYTES], in[BYTES];
    struct told         told  = {0};
    ucp_request_param_t tells = told_send_param(&told, 0);
    struct pair         pair;
    void               *receive, *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    receive = pair_receive(&pair, 1, in, BYTES, TAG);
    send    = ucp_tag_send_sync_nbx(pair.eps[0], out, BYTES, TAG, &tells);
    ck_assert(UCS_PTR_IS_PTR(send));
    while (ucp_request_check_status(receive) == UCS_INPROGRESS) {
        ck_assert_int_eq(ucp_ep_flush(pair.eps[0]), UCS_OK);
        ck_assert_int_eq(ucp_worker_flush(pair.workers[0]), UCS_OK);
        (void)ucp_worker_progress(pair.workers[0]);
        (void)ucp_worker_progress(pair.workers[1]);
    }
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_uint_eq(told.count, 1);
    pair_close(&pair);
}

/* Inside a callback nothing can be waited for: not by progress, not by a call
 * that waits, and its worker cannot go away. */
static void inside(void *request, ucs_status_t status,
                   const ucp_tag_recv_info_t *info, void *user_data)
{
    struct pair *pair   = user_data;
    ucp_worker_h worker = pair->workers[1];
    static char  never[8];

    (void)request;
    (void)info;
    ck_assert_int_eq(status, UCS_OK);
    log_capture_start();
    ck_assert_uint_eq(ucp_worker_progress(worker), 0);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "inside a callback"));
    ck_assert_int_eq(
        ucp_op_wait(worker, pair_receive(pair, 1, never, 8, TAG + 1)),
        UCS_ERR_BUSY);
    ucp_worker_destroy(worker);
    ck_assert_uint_eq(log_captured.count, 3);
}

static void check_inside(const struct test_param *param, ucs_thread_mode_t mode)
{
    ucp_worker_params_t worker = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = mode,
    };
    struct pair_setup   setup = *(const struct pair_setup *)param->value;
    struct pair         pair;
    ucp_request_param_t tells    = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                    UCP_OP_ATTR_FIELD_USER_DATA,
                                    .cb.recv   = inside,
                                    .user_data = &pair};
    char                bytes[8] = {0};
    void               *receive;

    setup.worker = &worker;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    if (!pair.is_loop) { /* else it is received inside the send */
        receive =
            ucp_tag_recv_nbx(pair.workers[1], bytes, 8, TAG, ~0ul, &tells);
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, bytes, 8, TAG)),
                         UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        ck_assert_uint_eq(log_captured.count, 3);
    }
    pair_meet(&pair);
    pair_close(&pair);
}

static void op__nothing_waits_inside_a_callback(const struct test_param *param)
{
    check_inside(param, UCS_THREAD_MODE_SINGLE);
}

static void
op__nothing_waits_inside_a_callback_multi(const struct test_param *param)
{
    check_inside(param, UCS_THREAD_MODE_MULTI);
}

static const struct test_case op_cases[] = {
    TEST(op__null_is_refused),
    TEST(op__null_endpoint_is_refused),
    TEST(op__null_on_the_data_path),
    TEST(op__no_request_is_refused),
    TEST(op__null_inside_params),
    TEST(op__null_in_void_calls),
    TEST(op__every_request_describes_itself),
    TEST(op__waiting_calls_back),
    TEST(op__nothing_waits_inside_a_callback),
    TEST(op__nothing_waits_inside_a_callback_multi),
    {0},
};

const struct test_suite op_suite = {
    .name = "op", .cases = op_cases, .params = pair_transports};
