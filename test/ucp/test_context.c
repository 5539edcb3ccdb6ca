/* SPDX-License-Identifier: BSD-3-Clause */
/* test_context.c - src/ucp/core/context.c, entry/context.c: which transports
 * a context has, and what it says of itself. */
#include "ucp/core/context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

/* A context with that UCX_TLS, NULL if there is none. */
static ucp_context_h context_of(const char *tls, ucs_status_t expected)
{
    ucp_params_t  params  = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                             .features   = UCP_FEATURE_TAG};
    ucp_context_h context = NULL;
    ucs_status_t  status;

    (void)setenv("UCX_TLS", tls, 1);
    status = ucp_init(&params, NULL, &context);
    ck_assert_msg(status == expected, "UCX_TLS=%s: %s", tls,
                  ucs_status_string(status));
    return context;
}

static bool has(ucp_context_h context, const char *transport)
{
    for (unsigned i = 0; i < context->resource_count; ++i) {
        if (strcmp(context->resources[i].md->transport->name, transport) == 0) {
            return true;
        }
    }
    return false;
}

struct tls_row {
    const char *tls;
    bool        self;
    bool        sm;
};

/* Names, lists, aliases, all and ^. */
static void context__tls_names(const struct test_param *param)
{
    static const struct tls_row rows[] = {
        {"self", true, false},       {"sm", false, true},
        {"shm", false, true},        {"mm", false, true},
        {"posix", false, true},      {"sysv", false, true},
        {"self,sm", true, true},     {"all", true, true},
        {"^self", false, true},      {"^sm", true, false},
        {"^shm", true, false},       {"^rc,ud", true, true},
        {"rc,ud,self", true, false}, {"self,nonsense", true, false},
    };

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ucp_context_h context = context_of(rows[i].tls, UCS_OK);

        ck_assert_msg((has(context, "self") == rows[i].self) &&
                          (has(context, "sm") == rows[i].sm),
                      "UCX_TLS=%s", rows[i].tls);
        ucp_cleanup(context);
    }
}

/* Nothing is left: NO_DEVICE, and one error line with the reasons. */
static void context__no_device(const struct test_param *param)
{
    static const char *const tls[] = {"cma", "^all", "nonsense",
                                      "^self,sm,tcp,udp"};

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(tls); ++i) {
        log_capture_start();
        ck_assert_ptr_null(context_of(tls[i], UCS_ERR_NO_DEVICE));
        ck_assert_int_eq(log_captured.level, UCS_LOG_LEVEL_ERROR);
        ck_assert_ptr_nonnull(strstr(log_captured.text, "no transport"));
        ck_assert_ptr_nonnull(strstr(log_captured.text, "UCX_TLS"));
    }
}

/* A name that no transport has: one warning that lists those there are. */
static void context__unknown_transport_is_told(const struct test_param *param)
{
    ucp_context_h context;

    (void)param;
    log_capture_start();
    context = context_of("self,nonsense", UCS_OK);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_int_eq(log_captured.level, UCS_LOG_LEVEL_WARN);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "nonsense"));
    ck_assert_ptr_nonnull(strstr(log_captured.text, "sm"));
    ucp_cleanup(context);
}

static void context__query(const struct test_param *param)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = UCP_FEATURE_TAG,
        .mt_workers_shared = 1,
        .name              = "the name",
    };
    ucp_context_attr_t attr = {
        .field_mask = UCP_ATTR_FIELD_REQUEST_SIZE | UCP_ATTR_FIELD_THREAD_MODE |
                      UCP_ATTR_FIELD_MEMORY_TYPES | UCP_ATTR_FIELD_NAME};
    ucp_context_h context;

    (void)param;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    ck_assert_str_eq(attr.name, "the name");
    ck_assert_uint_ge(attr.request_size, 64);
    ck_assert_uint_le(attr.request_size, 512);
    ck_assert_uint_eq(attr.request_size % 8, 0);
    ck_assert_int_eq(attr.thread_mode, UCS_THREAD_MODE_MULTI);
    ck_assert_uint_eq(attr.memory_types, 1);
    ucp_cleanup(context);
}

/* Only what the mask names is written. */
static void context__query_keeps_to_the_mask(const struct test_param *param)
{
    ucp_context_h      context = context_of("self", UCS_OK);
    ucp_context_attr_t attr, before;

    (void)param;
    memset(&attr, 0xab, sizeof(attr));
    attr.field_mask = UCP_ATTR_FIELD_THREAD_MODE;
    before          = attr;
    ck_assert_int_eq(ucp_context_query(context, &attr), UCS_OK);
    before.thread_mode = attr.thread_mode;
    ck_assert_int_eq(memcmp(&attr, &before, sizeof(attr)), 0);
    ucp_cleanup(context);
}

/* Open MPI reads the lines by this pattern (ucp-api 4.17). */
static void context__print_info_is_parsed(const struct test_param *param)
{
    ucp_context_h context = context_of("self,sm", UCS_OK);
    char         *text    = NULL;
    unsigned      found   = 0;
    char         *line, *rest;
    FILE         *stream;
    size_t        length;

    (void)param;
    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ucp_context_print_info(context, stream);
    (void)fclose(stream);
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char transport[32], device[32];
        int  resource, md, dev;

        ck_assert_uint_le(strlen(line), 127);
        if (sscanf(line, "# resource %d : md %d dev %d flags -- %31[^/]/%31s",
                   &resource, &md, &dev, transport, device) == 5) {
            ck_assert_int_eq(resource, (int)found);
            ++found;
        }
    }
    ck_assert_uint_eq(found, context->resource_count);
    free(text);
    ucp_cleanup(context);
}

static void context__wrong_arguments(const struct test_param *param)
{
    ucp_params_t  params = {.field_mask = 0};
    ucp_context_h context;
    unsigned      major, minor, release;

    (void)param;
    ck_assert_int_eq(ucp_init(NULL, NULL, &context), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_init(&params, NULL, NULL), UCS_ERR_INVALID_PARAM);
    /* A newer program is warned, not refused. */
    log_capture_start();
    ck_assert_int_eq(
        ucp_init_version(1, UCP_API_MINOR + 1, &params, NULL, &context),
        UCS_OK);
    ck_assert_uint_eq(log_captured.count, 1);
    ucp_cleanup(context);
    ucp_get_version(&major, &minor, &release);
    ck_assert_uint_eq(major, 1);
    ck_assert_uint_eq(minor, UCP_API_MINOR);
}

/* Unknown mask bits and features are ignored, not refused. */
static void context__unknown_bits(const struct test_param *param)
{
    ucp_params_t  params = {.field_mask =
                                UCP_PARAM_FIELD_FEATURES | (1ull << 40),
                            .features = UCP_FEATURE_TAG | (1ull << 40)};
    ucp_context_h context;

    (void)param;
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    ucp_cleanup(context);
}

/* ucp_init and ucp_worker_create together, in a process that has not called
 * them before: what is measured once is measured then. */
static void context__opens_quickly(const struct test_param *param)
{
    const double        limit         = test_scaled_seconds(0.010);
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    bool                is_quick      = false;

    (void)param;
    for (int round = 0; (round < 10) && !is_quick; ++round) {
        int   status;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            double        start = test_cpu_seconds();
            ucp_context_h context;
            ucp_worker_h  worker;

            if ((ucp_init(&params, NULL, &context) != UCS_OK) ||
                (ucp_worker_create(context, &worker_params, &worker) !=
                 UCS_OK)) {
                _exit(2);
            }
            _exit(test_cpu_seconds() - start > limit);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) < 2));
        is_quick = (WEXITSTATUS(status) == 0);
    }
    ck_assert(is_quick);
}

/* One line; what is open goes on, and the context goes with the last of it. */
static void context__cleanup_before_its_workers(const struct test_param *param)
{
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_worker_attr_t   attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_context_h       context = context_of("self", UCS_OK);
    ucp_worker_h        workers[2];

    (void)param;
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(
            ucp_worker_create(context, &worker_params, &workers[i]), UCS_OK);
    }
    log_capture_start();
    ucp_cleanup(context);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "2 workers are open"));
    ucp_worker_destroy(workers[0]);
    ck_assert_int_eq(ucp_worker_query(workers[1], &attr), UCS_OK);
    ucp_worker_release_address(workers[1], attr.address);
    (void)ucp_worker_progress(workers[1]);
    ucp_worker_destroy(workers[1]);
    ck_assert_uint_eq(log_captured.count, 1);
}

static const struct test_case context_cases[] = {
    TEST(context__opens_quickly),
    TEST(context__cleanup_before_its_workers),
    TEST(context__tls_names),
    TEST(context__no_device),
    TEST(context__unknown_transport_is_told),
    TEST(context__query),
    TEST(context__query_keeps_to_the_mask),
    TEST(context__print_info_is_parsed),
    TEST(context__wrong_arguments),
    TEST(context__unknown_bits),
    {0},
};

const struct test_suite context_suite = {.name  = "context",
                                         .cases = context_cases};
