/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/live.h - a worker for a target that needs a real one.
 *
 * Contexts are made once and stay (reading the settings is most of the time);
 * workers live for one input. Nothing is logged. */
#ifndef TEST_FUZZ_LIVE_H_
#define TEST_FUZZ_LIVE_H_

#include <stdint.h>

#include "ucp/api/ucp.h"

/* What a context is made with; NULL: the default. Of static storage. */
struct live_setup {
    const char *tls;
    const char *rndv_threshold;
    const char *zcopy_threshold;
};

/* The context of that setup, always the same one. Aborts if there is none. */
ucp_context_h live_context(const struct live_setup *setup);

/* A new worker; the caller destroys it. Aborts if there is none. */
ucp_worker_h live_worker(ucp_context_h context);

/* Abort, and say why, unless is_true. */
void live_check(int is_true, const char *why);

#endif
