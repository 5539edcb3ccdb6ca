/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - two workers with an endpoint to one another. */
#include "config.h"

#include "ucp/pair.h"

#include <stdlib.h>
#include <string.h>

#define PAIR_SETUP(_name, _tls, _rndv, _zcopy)                                 \
    {                                                                          \
        .name = _name, .value = &(const struct pair_setup)                     \
        {                                                                      \
            .tls = _tls, .rndv_threshold = _rndv, .zcopy_threshold = _zcopy    \
        }                                                                      \
    }

#define PAIR_SCHEME(_name, _tls, _scheme)                                      \
    {                                                                          \
        .name = _name, .value = &(const struct pair_setup)                     \
        {                                                                      \
            .tls = _tls, .rndv_threshold = "0", .rndv_scheme = _scheme         \
        }                                                                      \
    }

const struct test_param pair_transports[] = {
    PAIR_SETUP("self", "self", NULL, NULL),
    PAIR_SETUP("sm", "sm", NULL, NULL),
    PAIR_SETUP("example", "example", NULL, NULL),
#ifdef HAVE_UDP
    PAIR_SETUP("udp", "udp", NULL, NULL),
#endif
    {0},
};

const struct test_param pair_protocols[] = {
    PAIR_SETUP("self", "self", NULL, NULL),
    PAIR_SETUP("self_eager", "self", "inf", "inf"),
    PAIR_SETUP("self_zcopy", "self", NULL, "1"),
    PAIR_SETUP("self_rndv", "self", "0", "inf"),
    PAIR_SETUP("self_rndv_zcopy", "self", "0", "1"),
    PAIR_SETUP("sm", "sm", NULL, NULL),
    PAIR_SETUP("sm_eager", "sm", "inf", "inf"),
    PAIR_SETUP("sm_zcopy", "sm", NULL, "1"),
    PAIR_SETUP("sm_rndv", "sm", "0", "inf"),
    PAIR_SETUP("example", "example", NULL, NULL),
    PAIR_SETUP("example_eager", "example", "inf", "inf"),
    PAIR_SETUP("example_zcopy", "example", NULL, "1"),
    PAIR_SETUP("example_rndv", "example", "0", "inf"),
    PAIR_SETUP("example_rndv_zcopy", "example", "0", "1"),
    PAIR_SCHEME("self_put", "self", "put_zcopy"),
    PAIR_SCHEME("self_get", "self", "get_zcopy"),
    PAIR_SCHEME("self_put_ppln", "self", "put_ppln"),
    PAIR_SCHEME("self_am", "self", "am"),
    PAIR_SCHEME("sm_put", "sm", "put_zcopy"),
    PAIR_SCHEME("sm_get", "sm", "get_zcopy"),
    PAIR_SCHEME("sm_put_ppln", "sm", "put_ppln"),
    PAIR_SCHEME("sm_am", "sm", "am"),
    PAIR_SCHEME("sm_shared", "sm", "shared"),
#ifdef HAVE_UDP
    PAIR_SETUP("udp", "udp", NULL, NULL),
    PAIR_SETUP("udp_zcopy", "udp", NULL, "1"),
    PAIR_SETUP("udp_rndv", "udp", "0", "inf"),
#endif
    {0},
};

const ucp_request_param_t pair_no_param    = {0};
const ucp_request_param_t pair_force_param = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static void pair_set(const char *name, const char *value)
{
    if (value == NULL) {
        unsetenv(name);
    } else {
        setenv(name, value, 1);
    }
}

static void pair_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct pair *pair = arg;
    int          side = (ep == pair->eps[0]) ? 0 : 1;

    for (int i = 0; i < 2; ++i) {
        if (ep == pair->others[i]) {
            ++pair->other_error_count[i];
            return;
        }
    }
    ++pair->error_count[side];
    pair->error_status[side] = status;
}

ucp_ep_h pair_connect(struct pair *pair, int side,
                      ucp_err_handling_mode_t err_mode)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode    = err_mode,
        .err_handler = {.cb = pair_failed, .arg = pair},
    };
    ucp_worker_h   peer = pair->workers[1 - side];
    ucp_address_t *address;
    size_t         length;
    ucp_ep_h       ep;

    ck_assert_int_eq(ucp_worker_get_address(peer, &address, &length), UCS_OK);
    params.address = address;
    ck_assert_int_eq(ucp_ep_create(pair->workers[side], &params, &ep), UCS_OK);
    ucp_worker_release_address(peer, address);
    return ep;
}

static void pair_open_side(struct pair *pair, int side,
                           const struct pair_setup *setup, uint64_t features)
{
    ucp_params_t        params        = {.field_mask = 0};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    if (setup->context != NULL) {
        params = *setup->context;
    }
    if (setup->worker != NULL) {
        worker_params = *setup->worker;
    }
    params.field_mask |= UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | features;

    ck_assert_int_eq(ucp_init(&params, NULL, &pair->contexts[side]), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(pair->contexts[side], &worker_params,
                                       &pair->workers[side]),
                     UCS_OK);
}

void pair_open(struct pair *pair, const struct test_param *param,
               uint64_t features, ucp_err_handling_mode_t err_mode)
{
    pair_open_setup(pair, param->value, features, err_mode);
}

void pair_open_setup(struct pair *pair, const struct pair_setup *setup,
                     uint64_t features, ucp_err_handling_mode_t err_mode)
{
    memset(pair, 0, sizeof(*pair));
    /* make check builds the modules; a build without them fails here. */
    pair_set("UCX_MODULE_DIR",
             (strcmp(setup->tls, "example") == 0) ? EXAMPLE_MODULE_DIR
             : (strcmp(setup->tls, "mock") == 0)  ? MOCK_MODULE_DIR
                                                  : NULL);
    pair_set("UCX_TLS", setup->tls);
    /* How fast this machine copies, under whatever sanitizer, decides nothing
     * here unless the test says so: test/uct/test_sm_speed.c is for that. */
    (void)setenv("UCX_SM_BW", "26GBs", 0);
    (void)setenv("UCX_SM_CMA_BW", "13GBs", 0);
    pair_set("UCX_RNDV_THRESH", setup->rndv_threshold);
    pair_set("UCX_ZCOPY_THRESH", setup->zcopy_threshold);
    if (setup->rndv_scheme != NULL) {
        pair_set("UCX_RNDV_SCHEME", setup->rndv_scheme);
    }
    pair->is_loop = (strcmp(setup->tls, "self") == 0);
    pair_open_side(pair, 0, setup, features);
    if (pair->is_loop) {
        pair->workers[1] = pair->workers[0];
        pair->eps[0] = pair->eps[1] = pair_connect(pair, 0, err_mode);
        return;
    }
    pair_open_side(pair, 1, setup, features);
    pair->eps[0] = pair_connect(pair, 0, err_mode);
    pair->eps[1] = pair_connect(pair, 1, err_mode);
}

void pair_progress(struct pair *pair)
{
    ucp_worker_progress(pair->workers[0]);
    if (!pair->is_loop && (pair->workers[1] != NULL)) {
        ucp_worker_progress(pair->workers[1]);
    }
}

ucs_status_t pair_wait(struct pair *pair, void *request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        pair_progress(pair);
    }
    ucp_request_free(request);
    return status;
}

void pair_close(struct pair *pair)
{
    int   sides     = pair->is_loop ? 1 : 2;
    void *closes[2] = {NULL, NULL};

    for (int side = 0; side < sides; ++side) {
        if (pair->eps[side] != NULL) {
            closes[side] = ucp_ep_close_nbx(pair->eps[side], &pair_no_param);
        }
    }
    for (int side = 0; side < sides; ++side) {
        ck_assert_int_eq(pair_wait(pair, closes[side]), UCS_OK);
    }
    for (int side = 0; side < sides; ++side) {
        if (pair->workers[side] != NULL) {
            ucp_worker_destroy(pair->workers[side]);
            ucp_cleanup(pair->contexts[side]);
        }
    }
}

void pair_abandon(struct pair *pair)
{
    for (int side = 0; side < (pair->is_loop ? 1 : 2); ++side) {
        if (pair->workers[side] != NULL) {
            ucp_worker_destroy(pair->workers[side]);
            ucp_cleanup(pair->contexts[side]);
        }
    }
}

void *pair_send(struct pair *pair, int side, const void *buffer, size_t length,
                ucp_tag_t tag)
{
    return ucp_tag_send_nbx(pair->eps[side], buffer, length, tag,
                            &pair_no_param);
}

void *pair_send_sync(struct pair *pair, int side, const void *buffer,
                     size_t length, ucp_tag_t tag)
{
    return ucp_tag_send_sync_nbx(pair->eps[side], buffer, length, tag,
                                 &pair_no_param);
}

void *pair_receive(struct pair *pair, int side, void *buffer, size_t length,
                   ucp_tag_t tag)
{
    return ucp_tag_recv_nbx(pair->workers[side], buffer, length, tag,
                            UINT64_MAX, &pair_no_param);
}

void pair_meet(struct pair *pair)
{
    enum { TAG_MEET = 0x6d656574 };
    uint32_t word = 0;

    for (int side = 0; side < 2; ++side) {
        void *receive =
            pair_receive(pair, 1 - side, &word, sizeof(word), TAG_MEET);

        ck_assert_int_eq(pair_wait(pair, pair_send(pair, side, &word,
                                                   sizeof(word), TAG_MEET)),
                         UCS_OK);
        ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    }
}

enum { SETTLE_COUNT = 200 };

void worker_settle(ucp_worker_h worker)
{
    for (int quiet = 0; quiet < SETTLE_COUNT; ++quiet) {
        quiet = (ucp_worker_progress(worker) == 0) ? quiet : 0;
    }
}

void pair_settle(struct pair *pair)
{
    bool has_other = !pair->is_loop && (pair->workers[1] != NULL);

    for (int quiet = 0; quiet < SETTLE_COUNT; ++quiet) {
        unsigned count = ucp_worker_progress(pair->workers[0]);

        count += has_other ? ucp_worker_progress(pair->workers[1]) : 0;
        quiet = (count == 0) ? quiet : 0;
    }
}

static uint8_t pattern_byte(size_t offset, unsigned seed)
{
    return (uint8_t)(seed * 31 + offset * 7 + (offset >> 8));
}

void pattern_fill(void *buffer, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)buffer)[i] = pattern_byte(i, seed);
    }
}

void pattern_check(const void *buffer, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; ++i) {
        if (((const uint8_t *)buffer)[i] != pattern_byte(i, seed)) {
            ck_abort_msg("byte %zu of %zu is 0x%02x, not 0x%02x", i, length,
                         ((const uint8_t *)buffer)[i], pattern_byte(i, seed));
        }
    }
}

struct wait_one {
    ucp_worker_h worker;
    void        *request;
};

static bool wait_one_is_done(void *arg)
{
    struct wait_one *wait = arg;

    ucp_worker_progress(wait->worker);
    return ucp_request_check_status(wait->request) != UCS_INPROGRESS;
}

ucs_status_t worker_wait(ucp_worker_h worker, void *request, double seconds)
{
    struct wait_one wait = {worker, request};

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    (void)test_wait_until(wait_one_is_done, &wait, seconds);
    return ucp_request_check_status(request);
}
