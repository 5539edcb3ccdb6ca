/* SPDX-License-Identifier: BSD-3-Clause */
/* test_request.c - src/ucp/core/request.c, entry/request.c: whose memory a
 * request is, and when. */
#include "ucp/core/worker.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"

enum { TAG = 1, USER_BYTES = 40, BYTES = 100000 };

/* The user's part of each request, as Open MPI constructs an object there. */
struct user_object {
    uint64_t magic;
    uint64_t use_count;
};
static const uint64_t user_magic = 0x1234567890abcdef;
static unsigned       init_count, cleanup_count;

static void user_init(void *request)
{
    struct user_object *object = request;

    object->magic     = user_magic;
    object->use_count = 0;
    ++init_count;
}

static void user_cleanup(void *request)
{
    const struct user_object *object = request;

    ck_assert_uint_eq(object->magic, user_magic);
    ++cleanup_count;
}

static const ucp_params_t user_params = {
    .field_mask = UCP_PARAM_FIELD_REQUEST_SIZE | UCP_PARAM_FIELD_REQUEST_INIT |
                  UCP_PARAM_FIELD_REQUEST_CLEANUP,
    .request_size    = USER_BYTES,
    .request_init    = user_init,
    .request_cleanup = user_cleanup,
};
static const struct pair_setup user_self = {.tls     = "self",
                                            .context = &user_params};
static const struct pair_setup user_sm = {.tls = "sm", .context = &user_params};

static const struct test_param request_params[] = {
    {.name = "self", .value = &user_self},
    {.name = "sm", .value = &user_sm},
    {0},
};

static void use(void *request)
{
    struct user_object *object = request;

    ck_assert_uint_eq(object->magic, user_magic);
    ++object->use_count;
}

static void request__init_runs_once_an_element(const struct test_param *param)
{
    unsigned    after_first = 0;
    uint64_t    uses        = 0;
    struct pair pair;
    uint64_t    word;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (unsigned i = 0; i < 300; ++i) {
        void *receive = pair_receive(&pair, 1, &word, sizeof(word), TAG);

        use(receive);
        uses        = ((struct user_object *)receive)->use_count;
        after_first = (i == 0) ? init_count : after_first;
        ck_assert_int_eq(
            pair_wait(&pair, pair_send(&pair, 0, &i, sizeof(i), TAG)), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    }
    ck_assert_uint_ge(after_first, 1);
    ck_assert_uint_eq(init_count, after_first); /* not per operation */
    ck_assert_uint_eq(uses, 300); /* the same element, its bytes survived */
    pair_close(&pair);
    ck_assert_uint_eq(cleanup_count, init_count);
}

/* Many at a time: each has bytes of its own, none moves. */
static void request__user_bytes_are_its_own(const struct test_param *param)
{
    enum { COUNT = 1000 };
    static void    *requests[COUNT];
    static uint64_t words[COUNT];
    struct pair     pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (uint64_t i = 0; i < COUNT; ++i) {
        requests[i] = pair_receive(&pair, 1, &words[i], 8, i);
        memset((char *)requests[i] + sizeof(struct user_object), (int)i,
               USER_BYTES - sizeof(struct user_object));
    }
    for (uint64_t i = COUNT; i-- > 0;) {
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, &i, 8, i)),
                         UCS_OK);
    }
    for (uint64_t i = 0; i < COUNT; ++i) {
        const uint8_t *bytes = requests[i];

        for (size_t j = sizeof(struct user_object); j < USER_BYTES; ++j) {
            if (bytes[j] != (uint8_t)i) {
                ck_abort_msg("request %u: byte %zu changed", (unsigned)i, j);
            }
        }
        ck_assert_int_eq(pair_wait(&pair, requests[i]), UCS_OK);
    }
    pair_close(&pair);
}

/* free silences, release keeps the callback; the operation goes on in both. */
static void
request__free_and_release_before_the_end(const struct test_param *param)
{
    static char in[BYTES];
    static char out[BYTES];
    struct told told[2] = {{.count = 0}, {.count = 0}};
    struct pair pair;

    pattern_fill(out, sizeof(out), 3);
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (int releases = 0; releases < 2; ++releases) {
        ucp_request_param_t parameters = told_send_param(&told[releases], 0);
        void *send = ucp_tag_send_sync_nbx(pair.eps[0], out, sizeof(out), TAG,
                                           &parameters);

        ck_assert(UCS_PTR_IS_PTR(send));
        if (releases) {
            ucp_request_release(send);
        } else {
            ucp_request_free(send);
        }
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)),
            UCS_OK);
        pattern_check(in, sizeof(in), 3);
        pair_settle(&pair);
        ck_assert_uint_eq(told[releases].count, (unsigned)releases);
    }
    ck_assert_int_eq(told[1].status, UCS_OK);
    pair_close(&pair);
    ck_assert_uint_eq(cleanup_count, init_count);
}

/* Inside the callback the status is final, and giving back is legal. */
static void check_inside(void *request, ucs_status_t status,
                         const ucp_tag_recv_info_t *info, void *user_data)
{
    unsigned *count = user_data;

    ck_assert_int_eq(status, UCS_OK);
    ck_assert_uint_eq(info->length, 8);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
    ck_assert_int_eq(ucp_request_is_completed(request), 1);
    use(request);
    if (*count % 2 == 0) {
        ucp_request_free(request);
    } else {
        ucp_request_release(request);
    }
    ++*count;
}

static void
request__give_back_inside_the_callback(const struct test_param *param)
{
    unsigned            count      = 0;
    ucp_request_param_t parameters = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = check_inside,
        .user_data = &count,
    };
    struct pair pair;
    uint64_t    word = 5;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < 1000; ++i) {
        ck_assert(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(
            pair.workers[1], &word, 8, TAG, UINT64_MAX, &parameters)));
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, &word, 8, TAG)),
                         UCS_OK);
        while (count == i) {
            pair_progress(&pair);
        }
    }
    ck_assert_uint_le(pair.workers[1]->requests.element_count, 128);
    pair_close(&pair);
}

/* Open MPI: a block on the stack, filled with anything, 8 bytes aligned, no
 * user bytes behind; never freed. */
static void request__external_memory(const struct test_param *param)
{
    static char         in[BYTES], out[BYTES];
    ucp_context_attr_t  attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t parameters = {.op_attr_mask =
                                          UCP_OP_ATTR_FIELD_REQUEST};
    unsigned            inits;
    struct pair         pair;
    char               *block;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    inits = init_count;
    ck_assert_int_eq(ucp_context_query(pair.contexts[0], &attr), UCS_OK);
    block = malloc(2 * attr.request_size + 16);
    ck_assert_ptr_nonnull(block);
    for (unsigned shift = 0; shift <= 8; shift += 8) {
        for (size_t length = 8; length <= sizeof(in); length *= 10) {
            ucp_tag_recv_info_t info;
            void               *receive, *send;

            memset(block, 0xee, 2 * attr.request_size + 16);
            parameters.request = block + attr.request_size + shift;
            receive = ucp_tag_recv_nbx(pair.workers[1], in, length, TAG,
                                       UINT64_MAX, &parameters);
            ck_assert_ptr_eq(receive, parameters.request);
            parameters.request = block + 2 * attr.request_size + shift;
            send = ucp_tag_send_sync_nbx(pair.eps[0], out, length, TAG,
                                         &parameters);
            ck_assert_ptr_eq(send, parameters.request);
            while (ucp_request_check_status(receive) == UCS_INPROGRESS ||
                   ucp_request_check_status(send) == UCS_INPROGRESS) {
                pair_progress(&pair);
            }
            ck_assert_int_eq(ucp_request_test(receive, &info), UCS_OK);
            ck_assert_uint_eq(info.length, length);
            ck_assert_int_eq(ucp_request_check_status(send), UCS_OK);
        }
    }
    ck_assert_uint_eq(init_count, inits);
    free(block);
    pair_close(&pair);
}

/* Open MPI's blocking receive looks at its memory, not at what is returned. */
static void
request__external_is_filled_when_done_at_once(const struct test_param *param)
{
    ucp_request_param_t parameters = {.op_attr_mask =
                                          UCP_OP_ATTR_FIELD_REQUEST};
    _Alignas(8) char    block[1024];
    ucp_tag_recv_info_t info;
    uint64_t            word = 7, in = 0;
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_uint_le(sizeof(struct ucp_request), sizeof(block));
    memset(block, 0xee, sizeof(block));
    parameters.request = block + sizeof(block);
    ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, &word, 8, TAG)),
                     UCS_OK);
    pair_settle(&pair);
    ck_assert_ptr_null(ucp_tag_recv_nbx(pair.workers[1], &in, 8, TAG,
                                        UINT64_MAX, &parameters));
    ck_assert_int_eq(ucp_request_test(parameters.request, &info), UCS_OK);
    ck_assert_uint_eq(info.sender_tag, TAG);
    ck_assert_uint_eq(info.length, 8);
    ck_assert_uint_eq(in, 7);
    pair_close(&pair);
}

static void request__cancel(const struct test_param *param)
{
    struct told         told       = {.release = 1};
    ucp_request_param_t parameters = told_receive_param(&told, 0);
    static char         out[BYTES];
    uint64_t            word = 0;
    struct pair         pair;
    void               *request;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    request = ucp_tag_recv_nbx(pair.workers[1], &word, 8, TAG, UINT64_MAX,
                               &parameters);
    ucp_request_cancel(pair.workers[1], request);
    ck_assert_uint_eq(told.count, 1); /* inside the call */
    ck_assert_int_eq(told.status, UCS_ERR_CANCELED);
    ck_assert_ptr_eq(told.request, request);

    /* What is not an unmatched receive is left alone. */
    request = pair_send_sync(&pair, 0, out, sizeof(out), TAG);
    ucp_request_cancel(pair.workers[0], request);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    ck_assert_int_eq(
        pair_wait(&pair, pair_receive(&pair, 1, out, sizeof(out), TAG)),
        UCS_OK);
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        pair_progress(&pair);
    }
    ucp_request_cancel(pair.workers[0], request); /* complete */
    ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
    ucp_request_free(request);
    pair_close(&pair);
}

/* One that a cancelled one overtook is matched, in its place. */
static void
request__cancel_keeps_the_order_of_others(const struct test_param *param)
{
    enum { COUNT = 64 };
    uint64_t    in[COUNT];
    void       *requests[COUNT];
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < COUNT; ++i) {
        in[i]       = UINT64_MAX;
        requests[i] = pair_receive(&pair, 1, &in[i], 8, TAG);
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        ucp_request_cancel(pair.workers[1], requests[i]);
        ck_assert_int_eq(pair_wait(&pair, requests[i]), UCS_ERR_CANCELED);
    }
    for (uint64_t i = 1; i < COUNT; i += 2) {
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, &i, 8, TAG)),
                         UCS_OK);
    }
    for (unsigned i = 1; i < COUNT; i += 2) {
        ck_assert_int_eq(pair_wait(&pair, requests[i]), UCS_OK);
        ck_assert_uint_eq(in[i], i);
    }
    pair_close(&pair);
}

static void request__query(const struct test_param *param)
{
    char               text[200];
    ucp_request_attr_t attr = {
        .field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE |
                      UCP_REQUEST_ATTR_FIELD_STATUS |
                      UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
        .debug_string      = text,
        .debug_string_size = sizeof(text),
    };
    uint64_t    word;
    struct pair pair;
    void       *request;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    request = pair_receive(&pair, 1, &word, 8, TAG);
    ck_assert_int_eq(ucp_request_query(request, &attr), UCS_OK);
    ck_assert_int_eq(attr.status, UCS_INPROGRESS);
    ck_assert_ptr_nonnull(strstr(text, "receive"));
    attr.field_mask &= ~(uint64_t)UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    ck_assert_int_eq(ucp_request_query(request, &attr), UCS_ERR_INVALID_PARAM);
    ucp_request_cancel(pair.workers[1], request);
    ucp_request_free(request);
    pair_close(&pair);
}

static const struct test_case request_cases[] = {
    TEST(request__init_runs_once_an_element),
    TEST(request__user_bytes_are_its_own),
    TEST(request__free_and_release_before_the_end),
    TEST(request__give_back_inside_the_callback),
    TEST(request__external_memory),
    TEST(request__external_is_filled_when_done_at_once),
    TEST(request__cancel),
    TEST(request__cancel_keeps_the_order_of_others),
    TEST(request__query),
    {0},
};

const struct test_suite request_suite = {
    .name = "request", .cases = request_cases, .params = request_params};
