/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the plain UCP programs share: a context with a worker in one call,
 * bounded waits, child processes with a channel to them, and result lines.
 *
 * Written against the public headers only, so the same source is compiled with
 * the system's UCX to tell a wrong test from a wrong library.
 */
#ifndef TEST_APPS_UCP_UTIL_H_
#define TEST_APPS_UCP_UTIL_H_

#include <ucp/api/ucp.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A whole waiting operation may take this long before it counts as hung. */
#define UU_SECONDS 10.0

struct uu_node {
    ucp_context_h  context;
    ucp_worker_h   worker;
    ucp_address_t *address; /* owned by the worker's library */
    size_t         length;
};

/* An endpoint and what its error handler has heard. */
struct uu_link {
    ucp_ep_h     ep;
    int          errors; /* calls of the error handler */
    ucs_status_t error;  /* of the last one */
    double       error_time;
};

struct uu_child {
    pid_t pid;
    int   channel; /* stream socket, both ways */
};

/* Result lines; uu_end prints "end N" and returns the exit status. */
void uu_ok(const char *name);
void uu_skip(const char *name, const char *why);
void uu_notok(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int uu_end(void);

/* "ok NAME" if nothing failed since the last call, else it was said. */
void uu_result(const char *name);

/* Something a result line of uu_result depends on. */
void uu_fail(int line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define uu_check(_condition, ...)                                              \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            uu_fail(__LINE__, __VA_ARGS__);                                    \
        }                                                                      \
    } while (0)

double uu_now(void);

/* Open a context with these features, a worker and its address; 0 if it works.
 * A status that is not OK is reported as a failure. */
int  uu_open(struct uu_node *node, uint64_t features);
void uu_close(struct uu_node *node);

/* Create an endpoint. With `peer_errors`, in mode PEER with a handler. */
ucs_status_t uu_connect(struct uu_node *node, const void *address,
                        int peer_errors, struct uu_link *link);

/* Close: by force or by flush. Waits for the end. */
void uu_disconnect(struct uu_node *node, struct uu_link *link, int force);

/* Start; the result is for uu_wait. */
void *uu_send(struct uu_link *link, const void *data, size_t length,
              uint64_t tag);
void *uu_receive(struct uu_node *node, void *data, size_t room, uint64_t tag);

/* Progress until `request` is done, at most `seconds`: UCS_INPROGRESS then.
 * Frees the request if it is done. */
ucs_status_t uu_wait(struct uu_node *node, void *request, double seconds);

/* Progress both nodes (the second may be NULL) until `request` is done. */
ucs_status_t uu_wait_two(struct uu_node *node, struct uu_node *other,
                         void *request);

/* Fork a process that runs `body` and exits with its result. Before any use of
 * UCP in this process. */
struct uu_child uu_fork(int (*body)(int channel, void *arg), void *arg);
void            uu_kill(struct uu_child *child); /* kill -9 and reap */
int             uu_join(struct uu_child *child); /* its exit status */

/* Move to the network namespace whose file this variable names, if it is set;
 * 0 if that works. Before any use of UCP. */
int uu_move(const char *variable);

/* The number in an environment variable. */
double uu_seconds(const char *variable, double otherwise);

/* How many descriptors are open. */
int uu_descriptors(void);

/* A block of bytes through the channel; get returns its length or -1. */
int     uu_put(int channel, const void *data, size_t length);
ssize_t uu_get(int channel, void *data, size_t room);

void uu_fill(void *buffer, size_t length, uint64_t seed);
/* 0 if the buffer holds the pattern */
int uu_differs(const void *buffer, size_t length, uint64_t seed);

#endif
