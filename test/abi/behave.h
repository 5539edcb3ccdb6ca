/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave.h - what the behave_* programs share.
 *
 * Such a program is compiled against UCX's headers and run on UCX and on
 * Causeway. It prints facts, one a line, "name: value", which have to be
 * equal; so a value must not depend on time, addresses or chance. It uses
 * the public API only. A wait that takes longer than 10 s ends the program. */
#ifndef TEST_ABI_BEHAVE_H_
#define TEST_ABI_BEHAVE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ucp/api/ucp.h>

enum {
    BEHAVE_REQUEST_BYTES = 64,      /* the caller's part of a request */
    BEHAVE_SMALL         = 8,       /* at once on any transport */
    BEHAVE_LARGE         = 4 << 20, /* by rendezvous on any transport */
    BEHAVE_TIMEOUT_S     = 10
};

/* A context with a worker, and an endpoint to the other node. */
struct node {
    ucp_context_h context;
    ucp_worker_h  worker;
    ucp_ep_h      ep;
};

/* Two nodes in one process. a sends to b, unless a test says otherwise. */
struct pair {
    struct node a;
    struct node b;
};

struct pair_options {
    uint64_t                features; /* 0: tag */
    ucs_thread_mode_t       thread_mode;
    ucp_err_handling_mode_t err_mode;
    ucp_err_handler_cb_t    err_cb;
    void                   *err_arg;
    bool                    no_eps;
};

/* What a callback saw. */
struct record {
    int                 calls;
    ucs_status_t        status;
    void               *request;
    ucp_tag_recv_info_t info;
    ucs_status_t        checked;     /* ucp_request_check_status inside it */
    bool                free_inside; /* in: free the request inside it */
};

/* How often request_init and request_cleanup ran in this process. */
extern int behave_inits;
extern int behave_cleanups;

/* The record of the callbacks without user data (the nb forms). */
extern struct record behave_nb;

/* Print a fact. */
void fact(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fact_status(const char *name, ucs_status_t status);
/* "null", "request" or the error's number. */
void fact_outcome(const char *name, ucs_status_ptr_t outcome);
/* calls, status, check inside and, of a receive, tag and length. */
void fact_record(const char *name, const struct record *record);
void fact_recv_record(const char *name, const struct record *record);

/* End the program with a message when a step that must work did not. */
void must(ucs_status_t status, const char *what);
void must_ptr(ucs_status_ptr_t outcome, const char *what);

void node_open(struct node *node, const struct pair_options *options);
void node_close(struct node *node);
/* An endpoint from one worker to another. */
ucp_ep_h ep_open(ucp_worker_h from, ucp_worker_h to,
                 const struct pair_options *options);
/* Close with flush, and wait for it. */
void ep_shut(struct pair *pair, ucp_ep_h ep);

void pair_open(struct pair *pair, const struct pair_options *options);
/* Close the endpoints, then all else. */
void pair_close(struct pair *pair);

/* Progress both sides, or wait with that. */
void         pump(struct pair *pair);
void         pump_some(struct pair *pair);
void         pump_calls(struct pair *pair, const struct record *record);
ucs_status_t pump_request(struct pair *pair, ucs_status_ptr_t request);
/* Until b has an unexpected message with the tag. */
void pump_arrived(struct pair *pair, ucp_tag_t tag);

/* Callbacks for the nbx forms; user_data is a record. */
void on_send(void *request, ucs_status_t status, void *user_data);
void on_recv(void *request, ucs_status_t status,
             const ucp_tag_recv_info_t *info, void *user_data);
/* And for the nb forms; they write behave_nb. */
void on_send_nb(void *request, ucs_status_t status);
void on_recv_nb(void *request, ucs_status_t status, ucp_tag_recv_info_t *info);

/* Parameters with a callback that writes record (NULL: no callback). */
ucp_request_param_t param_send(struct record *record, uint32_t flags);
ucp_request_param_t param_recv(struct record *record, uint32_t flags);

/* A pattern that depends on seed and place. */
void pattern_fill(void *buffer, size_t length, unsigned seed);
bool pattern_holds(const void *buffer, size_t length, unsigned seed);

#endif
