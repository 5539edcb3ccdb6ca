/* SPDX-License-Identifier: BSD-3-Clause */
/* test_op.c - src/ucp/entry/op.c: what the calls of the API share: arguments
 * that must not be NULL, requests that are waited for inside a call. */
#include "ucp/entry/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"
#include "ucs/log_capture.h"

enum { TAG = 5, BYTES = 100000 };

static ucs_status_t pointer_status(ucs_status_ptr_t pointer)
{
    return UCS_PTR_RAW_STATUS(pointer);
}

/* One error line that names the call, and the status. */
static void check_refused(ucs_status_t status, const char *call)
{
    ck_assert_msg(status == UCS_ERR_INVALID_PARAM, "%s: %s", call,
                  ucs_status_string(status));
    ck_assert_msg(
        (log_captured.count == 1) && (strstr(log_captured.text, call) != NULL),
        "%s: %u lines, %s", call, log_captured.count, log_captured.text);
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
    int                       fd;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    check_refused(ucp_lib_query(NULL), "ucp_lib_query");
    check_refused(ucp_config_read(NULL, NULL, NULL), "ucp_config_read");
    ck_assert_int_eq(ucp_config_read(NULL, NULL, &config), UCS_OK);
    check_refused(ucp_config_modify(NULL, "TLS", "sm"), "ucp_config_modify");
    check_refused(ucp_config_modify(config, NULL, "sm"), "ucp_config_modify");
    check_refused(ucp_config_modify(config, "TLS", NULL), "ucp_config_modify");
    ucp_config_release(config);
    check_refused(ucp_context_query(NULL, &context_attr), "ucp_context_query");
    check_refused(ucp_context_query(pair.contexts[0], NULL),
                  "ucp_context_query");
    check_refused(ucp_worker_query(NULL, &worker_attr), "ucp_worker_query");
    check_refused(ucp_worker_query(pair.workers[0], NULL), "ucp_worker_query");
    check_refused(ucp_worker_get_address(NULL, &address, &length),
                  "ucp_worker_get_address");
    check_refused(ucp_worker_get_address(pair.workers[0], NULL, &length),
                  "ucp_worker_get_address");
    check_refused(ucp_worker_get_address(pair.workers[0], &address, NULL),
                  "ucp_worker_get_address");
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
    ck_assert_uint_eq(log_captured.count, 11);
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

static const struct test_case op_cases[] = {
    TEST(op__null_is_refused),    TEST(op__null_endpoint_is_refused),
    TEST(op__null_in_void_calls), TEST(op__every_request_describes_itself),
    TEST(op__waiting_calls_back), {0},
};

const struct test_suite op_suite = {
    .name = "op", .cases = op_cases, .params = pair_transports};
