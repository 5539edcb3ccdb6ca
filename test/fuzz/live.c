/* SPDX-License-Identifier: BSD-3-Clause */
/* live.c - contexts and workers for targets. */
#include "fuzz/live.h"

#include <stdio.h>
#include <stdlib.h>

#include "ucs/compiler.h"
#include "ucs/log.h"

/* A length that only a message claims is refused as malloc() refuses it, not
 * with a report. */
UCS_EXPORT const char *__asan_default_options(void);
UCS_EXPORT const char *__lsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

const char *__lsan_default_options(void)
{
    return __asan_default_options();
}

enum { CONTEXT_COUNT_MAX = 8 };

static struct {
    const struct live_setup *setup;
    ucp_context_h            context;
} contexts[CONTEXT_COUNT_MAX];

static void drop_message(void *arg, ucs_log_level_t level, const char *file,
                         unsigned line, const char *text)
{
    (void)arg;
    (void)level;
    (void)file;
    (void)line;
    (void)text;
}

void live_check(int is_true, const char *why)
{
    if (!is_true) {
        (void)fprintf(stderr, "fuzz: %s\n", why);
        abort();
    }
}

static void set(const char *name, const char *value)
{
    if (value == NULL) {
        (void)unsetenv(name);
    } else {
        (void)setenv(name, value, 1);
    }
}

static ucp_context_h open_context(const struct live_setup *setup)
{
    static const struct ucs_log_handler quiet  = {drop_message, NULL};
    ucp_params_t                        params = {
                               .field_mask = UCP_PARAM_FIELD_FEATURES,
                               .features   = UCP_FEATURE_TAG,
    };
    ucp_context_h context;

    (void)ucsi_log_set_handler(&quiet);
    set("UCX_TLS", setup->tls);
    set("UCX_RNDV_THRESH", setup->rndv_threshold);
    set("UCX_ZCOPY_THRESH", setup->zcopy_threshold);
    live_check(ucp_init(&params, NULL, &context) == UCS_OK, "ucp_init");
    return context;
}

ucp_context_h live_context(const struct live_setup *setup)
{
    unsigned i = 0;

    while ((contexts[i].setup != NULL) && (contexts[i].setup != setup)) {
        live_check(++i < CONTEXT_COUNT_MAX, "too many setups");
    }
    if (contexts[i].setup == NULL) {
        contexts[i].context = open_context(setup);
        contexts[i].setup   = setup;
    }
    return contexts[i].context;
}

ucp_worker_h live_worker(ucp_context_h context)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h        worker;

    live_check(ucp_worker_create(context, &params, &worker) == UCS_OK,
               "ucp_worker_create");
    return worker;
}
