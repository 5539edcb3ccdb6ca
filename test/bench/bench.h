/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/bench.h - what the small benchmarks share.
 *
 * They use the public UCP API only, so one binary runs on UCX and on Causeway
 * (LD_LIBRARY_PATH decides), and print one line per figure:
 *
 *   <name> <value> <unit>
 *
 * contrib/bench-vs-ucx runs them and compares. */
#ifndef BENCH_H_
#define BENCH_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ucp/api/ucp.h>

/* The oldest API that has what is used here: UCX warns if we name a newer. */
enum bench_ucp_api { BENCH_UCP_API_MAJOR = 1, BENCH_UCP_API_MINOR = 10 };

static inline uint64_t bench_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A benchmark has no use for going on. */
static inline void bench_check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static inline void bench_open(ucp_context_h *context_p, ucp_worker_h *worker_p)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    bench_check(ucp_init_version(BENCH_UCP_API_MAJOR, BENCH_UCP_API_MINOR,
                                 &params, NULL, context_p),
                "ucp_init");
    bench_check(ucp_worker_create(*context_p, &worker_params, worker_p),
                "ucp_worker_create");
}

static inline void bench_finish(ucp_worker_h worker, ucs_status_ptr_t request,
                                const char *what)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        bench_check(UCS_PTR_STATUS(request), what);
        return;
    }
    do {
        ucp_worker_progress(worker);
        status = ucp_request_check_status(request);
    } while (status == UCS_INPROGRESS);
    ucp_request_free(request);
    bench_check(status, what);
}

static inline int bench_compare(const void *a, const void *b)
{
    double left  = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), bench_compare);
    return values[count / 2];
}

#endif
