/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h - two workers with an endpoint to one another, over one transport
 * with chosen settings; what most tests of libucp begin with. */
#ifndef TEST_UCP_PAIR_H_
#define TEST_UCP_PAIR_H_

#include "lib/test.h"
#include "ucp/api/ucp.h"

/* A transport and the settings that force a protocol; NULL: default.
 * context  what else the context is made with, its features aside
 * worker   what both workers are made with */
struct pair_setup {
    const char                *tls;
    const char                *rndv_threshold;
    const char                *zcopy_threshold;
    const char                *rndv_scheme; /* NULL: as the test has set it */
    const ucp_params_t        *context;
    const ucp_worker_params_t *worker;
};

/* Every transport alone, and every transport with each protocol forced. */
extern const struct test_param pair_transports[];
extern const struct test_param pair_protocols[];

/* Nothing special; closing by force. */
extern const ucp_request_param_t pair_no_param;
extern const ucp_request_param_t pair_force_param;

/* Side 1 is side 0 when the transport reaches only its own interface. */
struct pair {
    ucp_context_h contexts[2];
    ucp_worker_h  workers[2];
    ucp_ep_h      eps[2];
    bool          is_loop;
    int           error_count[2]; /* calls of the endpoints' error handlers */
    ucs_status_t  error_status[2];
    ucp_ep_h      others[2]; /* second endpoints, for who opens some */
    int           other_error_count[2];
};

/* Open both sides.
 * @param features  Beside UCP_FEATURE_TAG. */
void pair_open(struct pair *pair, const struct test_param *param,
               uint64_t features, ucp_err_handling_mode_t err_mode);
/* The same with settings of one's own; NULL: default. */
void pair_open_setup(struct pair *pair, const struct pair_setup *setup,
                     uint64_t features, ucp_err_handling_mode_t err_mode);
/* Close what is open. */
void pair_close(struct pair *pair);
/* Close what is open, by force; nothing is waited for. */
void pair_abandon(struct pair *pair);

/* Progress both sides once. */
void pair_progress(struct pair *pair);

/* Progress both sides until a request is complete, free it, and give its
 * status; a status pointer that is no request is that status. */
ucs_status_t pair_wait(struct pair *pair, void *request);

/* Send from a side, receive at a side; contiguous, nothing special. */
void *pair_send(struct pair *pair, int side, const void *buffer, size_t length,
                ucp_tag_t tag);
void *pair_send_sync(struct pair *pair, int side, const void *buffer,
                     size_t length, ucp_tag_t tag);
void *pair_receive(struct pair *pair, int side, void *buffer, size_t length,
                   ucp_tag_t tag);

/* Exchange a message each way, so that both ends are announced. */
void pair_meet(struct pair *pair);

/* Progress until nothing has happened for a while. */
void pair_settle(struct pair *pair);
void worker_settle(ucp_worker_h worker);

/* [length] bytes that depend on seed, and whether they are that. */
void pattern_fill(void *buffer, size_t length, unsigned seed);
void pattern_check(const void *buffer, size_t length, unsigned seed);

/* Progress a worker until a request is complete or a time is over; the
 * request stays. @return its status, UCS_INPROGRESS: not in time. */
ucs_status_t worker_wait(ucp_worker_h worker, void *request, double seconds);

/* An endpoint from one side to the other. */
ucp_ep_h pair_connect(struct pair *pair, int side,
                      ucp_err_handling_mode_t err_mode);

#endif
