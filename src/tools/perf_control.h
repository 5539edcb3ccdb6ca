/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_control.h - messages between the processes of one measurement.
 *
 * Out of band, over a stream socket. Every message: type and length, 4 bytes
 * each, little endian, then length bytes. Lengths are checked against the
 * caller's buffer before a byte is read, so a stranger at the port can send
 * what he likes. All functions print their own errors. */
#ifndef CAUSEWAY_TOOL_PERF_CONTROL_H_
#define CAUSEWAY_TOOL_PERF_CONTROL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perf_message {
    PERF_MESSAGE_HELLO = 1, /* client: words of perf_hello */
    PERF_MESSAGE_LIBRARY,   /* server: "version path", text */
    PERF_MESSAGE_ADDRESS,   /* both: worker address */
    PERF_MESSAGE_PEER,      /* client: address of one more process */
    PERF_MESSAGE_JOINED,    /* answer to PEER: connected with it */
    PERF_MESSAGE_RUN,       /* client: words of perf_job */
    PERF_MESSAGE_READY,     /* server: starts now */
    PERF_MESSAGE_DONE,      /* server: words of perf_result */
    PERF_MESSAGE_FAIL,      /* any: text of what went wrong; the end */
    PERF_MESSAGE_BYE,       /* both: close */
    PERF_MESSAGE_SOCKETS,   /* both: words of perf_sockets.c */
    PERF_MESSAGE_COUNT,
};

enum perf_control_limit {
    PERF_CONTROL_HEAD_BYTES = 8,        /* type, length */
    PERF_CONTROL_BYTES_MAX  = 64 << 10, /* a worker address; UCX's stay below
                                           4 KiB on hosts seen */
    PERF_CONTROL_WORDS_MAX = 16,
    PERF_CONTROL_TEXT_MAX  = 1024,
};

/* What the server must know before it opens its worker. */
struct perf_hello {
    uint64_t sleep;        /* enum perf_sleep */
    uint64_t buffer_bytes; /* of each of its two buffers */
};

/* Called again and again while a receive waits; drives the worker. */
typedef void (*perf_control_wait_fn)(void *arg);

struct perf_control {
    int                  fd;
    perf_control_wait_fn wait; /* NULL: block */
    void                *wait_arg;
};

bool perf_control_send(const struct perf_control *control,
                       enum perf_message type, const void *data,
                       size_t size_bytes);
bool perf_control_send_words(const struct perf_control *control,
                             enum perf_message type, const uint64_t *words,
                             size_t count);
/* Tell the peer why this side ends. */
void perf_control_fail(const struct perf_control *control, const char *text);

/* Receive the next message, whatever it is, into data[max_bytes].
 * Prints the text of a FAIL message and returns false for it. */
bool perf_control_recv(const struct perf_control *control, void *data,
                       size_t max_bytes, enum perf_message *type_p,
                       size_t *size_bytes_p);

/* Receive a message that must be of [type]. */
bool perf_control_expect(const struct perf_control *control,
                         enum perf_message type, void *data, size_t max_bytes,
                         size_t *size_bytes_p);
bool perf_control_expect_words(const struct perf_control *control,
                               enum perf_message type, uint64_t *words,
                               size_t count);
/* Decode what perf_control_recv returned. */
bool perf_control_words(const void *data, size_t size_bytes, uint64_t *words,
                        size_t count);

bool perf_control_send_hello(const struct perf_control *control,
                             const struct perf_hello   *hello);
bool perf_control_recv_hello(const struct perf_control *control,
                             struct perf_hello         *hello_p);

/* Wait at [HOST:]PORT for one connection.
 * @return its socket, or -1 and an error was printed. */
int perf_control_listen(const char *where);
/* Connect to HOST[:PORT]. @return the socket, or -1, error printed. */
int perf_control_connect(const char *where);

#endif
