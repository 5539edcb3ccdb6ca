/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/perf_control.h"

#include "tools/perf.h"
#include "tools/tool.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum perf_control_private {
    PERF_CONTROL_WAIT_MS = 2, /* guess: the worker is driven this often */
    PERF_CONTROL_VERSION = 4,
};

#define PERF_CONTROL_MAGIC UINT64_C(0x6672657079777363) /* "cswyperf" */

static void control_put(uint8_t *bytes, uint64_t value, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint64_t control_get(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    size_t   i;

    for (i = 0; i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static bool control_write(int fd, const void *data, size_t size_bytes)
{
    const uint8_t *bytes = data;
    ssize_t        sent;

    while (size_bytes > 0) {
        sent = send(fd, bytes, size_bytes, MSG_NOSIGNAL);
        if ((sent < 0) && (errno == EINTR)) {
            continue;
        }
        if (sent < 0) {
            tool_error("cannot write to the other process: %s",
                       strerror(errno));
            return false;
        }
        bytes += sent;
        size_bytes -= (size_t)sent;
    }
    return true;
}

static bool control_read(const struct perf_control *control, void *data,
                         size_t size_bytes)
{
    struct pollfd entry = {.fd = control->fd, .events = POLLIN};
    uint8_t      *bytes = data;
    ssize_t       received;

    while (size_bytes > 0) {
        while ((control->wait != NULL) &&
               (poll(&entry, 1, PERF_CONTROL_WAIT_MS) == 0)) {
            control->wait(control->wait_arg);
        }
        received = recv(control->fd, bytes, size_bytes, 0);
        if ((received < 0) && (errno == EINTR)) {
            continue;
        }
        if (received <= 0) {
            tool_error("the other process is gone%s%s",
                       received < 0 ? ": " : "",
                       received < 0 ? strerror(errno) : "");
            return false;
        }
        bytes += received;
        size_bytes -= (size_t)received;
    }
    return true;
}

bool perf_control_send(const struct perf_control *control,
                       enum perf_message type, const void *data,
                       size_t size_bytes)
{
    uint8_t head[PERF_CONTROL_HEAD_BYTES];

    control_put(head, type, 4);
    control_put(head + 4, size_bytes, 4);
    return control_write(control->fd, head, sizeof(head)) &&
           control_write(control->fd, data, size_bytes);
}

bool perf_control_send_words(const struct perf_control *control,
                             enum perf_message type, const uint64_t *words,
                             size_t count)
{
    uint8_t bytes[8 * PERF_CONTROL_WORDS_MAX];
    size_t  i;

    for (i = 0; i < count; i++) {
        control_put(bytes + 8 * i, words[i], 8);
    }
    return perf_control_send(control, type, bytes, 8 * count);
}

void perf_control_fail(const struct perf_control *control, const char *text)
{
    (void)perf_control_send(control, PERF_MESSAGE_FAIL, text,
                            strnlen(text, PERF_CONTROL_TEXT_MAX - 1));
}

/* What a FAIL message says goes to a terminal: printable bytes only. */
static void control_print_fail(const struct perf_control *control,
                               size_t                     size_bytes)
{
    char   text[PERF_CONTROL_TEXT_MAX];
    size_t i;

    if (size_bytes >= sizeof(text)) {
        tool_error("the other process failed, with a reason of %zu bytes, "
                   "which is too long",
                   size_bytes);
        return;
    }
    if (!control_read(control, text, size_bytes)) {
        return;
    }
    text[size_bytes] = '\0';
    for (i = 0; i < size_bytes; i++) {
        if ((text[i] < ' ') || (text[i] > '~')) {
            text[i] = '?';
        }
    }
    tool_error("the other process: %s", text);
}

bool perf_control_recv(const struct perf_control *control, void *data,
                       size_t max_bytes, enum perf_message *type_p,
                       size_t *size_bytes_p)
{
    uint8_t  head[PERF_CONTROL_HEAD_BYTES];
    uint64_t type, size_bytes;

    if (!control_read(control, head, sizeof(head))) {
        return false;
    }
    type       = control_get(head, 4);
    size_bytes = control_get(head + 4, 4);
    if (type == PERF_MESSAGE_FAIL) {
        control_print_fail(control, size_bytes);
        return false;
    }
    if ((type == 0) || (type >= PERF_MESSAGE_COUNT) ||
        (size_bytes > max_bytes)) {
        tool_error("the other end does not speak causeway perf's protocol "
                   "(message type %llu of %llu bytes)",
                   (unsigned long long)type, (unsigned long long)size_bytes);
        return false;
    }
    if (!control_read(control, data, size_bytes)) {
        return false;
    }
    *type_p       = (enum perf_message)type;
    *size_bytes_p = size_bytes;
    return true;
}

bool perf_control_expect(const struct perf_control *control,
                         enum perf_message type, void *data, size_t max_bytes,
                         size_t *size_bytes_p)
{
    enum perf_message got;

    if (!perf_control_recv(control, data, max_bytes, &got, size_bytes_p)) {
        return false;
    }
    if (got != type) {
        tool_error("the other process sent message %d where %d was expected",
                   (int)got, (int)type);
        return false;
    }
    return true;
}

bool perf_control_words(const void *data, size_t size_bytes, uint64_t *words,
                        size_t count)
{
    const uint8_t *bytes = data;
    size_t         i;

    if (size_bytes != 8 * count) {
        tool_error("the other process sent %zu bytes where %zu were expected",
                   size_bytes, 8 * count);
        return false;
    }
    for (i = 0; i < count; i++) {
        words[i] = control_get(bytes + 8 * i, 8);
    }
    return true;
}

bool perf_control_expect_words(const struct perf_control *control,
                               enum perf_message type, uint64_t *words,
                               size_t count)
{
    uint8_t bytes[8 * PERF_CONTROL_WORDS_MAX];
    size_t  size_bytes;

    return perf_control_expect(control, type, bytes, sizeof(bytes),
                               &size_bytes) &&
           perf_control_words(bytes, size_bytes, words, count);
}

bool perf_control_send_hello(const struct perf_control *control,
                             const struct perf_hello   *hello)
{
    uint64_t words[] = {PERF_CONTROL_MAGIC, PERF_CONTROL_VERSION, hello->sleep,
                        hello->buffer_bytes};

    return perf_control_send_words(control, PERF_MESSAGE_HELLO, words,
                                   TOOL_ARRAY_COUNT(words));
}

bool perf_control_recv_hello(const struct perf_control *control,
                             struct perf_hello         *hello_p)
{
    uint64_t words[4];

    if (!perf_control_expect_words(control, PERF_MESSAGE_HELLO, words,
                                   TOOL_ARRAY_COUNT(words))) {
        return false;
    }
    if ((words[0] != PERF_CONTROL_MAGIC) ||
        (words[1] != PERF_CONTROL_VERSION)) {
        tool_error("the client is another version of causeway perf");
        perf_control_fail(control, "this is another version of causeway perf");
        return false;
    }
    if ((words[2] >= PERF_SLEEP_COUNT) || (words[3] > 2 * PERF_SIZE_MAX)) {
        tool_error("the client asks for impossible settings");
        perf_control_fail(control, "impossible settings");
        return false;
    }
    hello_p->sleep        = words[2];
    hello_p->buffer_bytes = words[3];
    return true;
}
