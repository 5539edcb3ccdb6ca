/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_message.c - messages that can be checked by themselves, and the
 * handlers that do it.
 *
 *   first 8 bytes:  payload length 24 | stream 8 | sequence 32
 *   payload:        words of a generator that starts from those 8 bytes */
#include "uct/conform.h"

#include <stdarg.h>
#include <stdio.h>

enum { ANY_SEEN_BYTES = 1 << 18 };

uint64_t message_header(uint8_t stream, uint32_t sequence, size_t payload)
{
    return ((uint64_t)payload << 40) | ((uint64_t)stream << 32) | sequence;
}

static uint64_t message_word(uint64_t header, size_t index)
{
    uint64_t word = (header + index + 1) * 0x9e3779b97f4a7c15ull;

    return word ^ (word >> 29);
}

void message_fill(uint8_t *payload, uint64_t header, size_t bytes)
{
    uint64_t word;
    size_t   offset;

    for (offset = 0; offset < bytes; offset += sizeof(word)) {
        word = message_word(header, offset / sizeof(word));
        memcpy(payload + offset, &word, ucs_min(sizeof(word), bytes - offset));
    }
}

bool message_check(const uint8_t *payload, uint64_t header, size_t bytes)
{
    uint64_t word;
    size_t   offset;

    for (offset = 0; offset < bytes; offset += sizeof(word)) {
        word = message_word(header, offset / sizeof(word));
        if (memcmp(payload + offset, &word,
                   ucs_min(sizeof(word), bytes - offset)) != 0) {
            return false;
        }
    }
    return true;
}

void host_bad(struct host *host, const char *format, ...)
{
    va_list args;

    if (host->inbox.bad[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(host->inbox.bad, sizeof(host->inbox.bad), format, args);
        va_end(args);
    }
}

static struct sender *host_sender(struct host *host, struct uct_source *source)
{
    struct sender *sender = (struct sender *)source->user;

    if (sender == NULL) {
        sender         = calloc(1, sizeof(*sender));
        sender->source = source;
        sender->next   = host->senders;
        host->senders  = sender;
        source->user   = sender;
        ++host->inbox.sources;
        host->inbox.sources_max =
            ucs_max(host->inbox.sources_max, host->inbox.sources -
                                                 host->inbox.ended_ok -
                                                 host->inbox.ended_failed);
    }
    return sender;
}

static void sender_free(struct sender *sender)
{
    free(sender->any_seen);
    free(sender);
}

void host_source_end(void *arg, struct uct_source *source, ucs_status_t status)
{
    struct host    *host   = (struct host *)arg;
    struct sender  *sender = (struct sender *)source->user;
    struct sender **link;

    if (status == UCS_OK) {
        ++host->inbox.ended_ok;
    } else {
        ++host->inbox.ended_failed;
        host->inbox.ended_status = (uint64_t)(int64_t)status;
    }
    if (sender == NULL) {
        return; /* sent nothing that a handler saw */
    }
    for (link = &host->senders; *link != NULL; link = &(*link)->next) {
        if (*link == sender) {
            *link = sender->next;
            sender_free(sender);
            return;
        }
    }
    host_bad(host, "a source ended twice");
}

void host_free_senders(struct host *host)
{
    struct sender *sender;

    while (host->senders != NULL) {
        sender        = host->senders;
        host->senders = sender->next;
        sender_free(sender);
    }
}

/* What holds for every message. @return false: it is not as it was sent. */
static bool host_check(struct host *host, struct uct_source *source,
                       const void *data, size_t length)
{
    struct sender *sender = host_sender(host, source);
    uint64_t       header;
    uint8_t        stream;

    if (((uintptr_t)data % 8) != 0) {
        host_bad(host, "data at %p is not 8-byte aligned", data);
        return false;
    }
    if (length < CONFORM_HEADER_BYTES) {
        host_bad(host, "a message of %zu bytes", length);
        return false;
    }
    memcpy(&header, data, sizeof(header));
    if ((header >> 40) != length - CONFORM_HEADER_BYTES) {
        host_bad(host, "%zu bytes came, %u were sent", length,
                 (unsigned)(header >> 40) + CONFORM_HEADER_BYTES);
        return false;
    }
    stream = (uint8_t)(header >> 32);
    if (sender->is_known && (sender->stream != stream)) {
        host_bad(host, "the source of stream %u sent a message of %u",
                 sender->stream, stream);
        return false;
    }
    sender->is_known = true;
    sender->stream   = stream;
    if (!message_check((const uint8_t *)data + CONFORM_HEADER_BYTES, header,
                       length - CONFORM_HEADER_BYTES)) {
        host_bad(host, "stream %u message %u: %zu bytes are not intact", stream,
                 (uint32_t)header, length);
        return false;
    }
    return true;
}

static ucs_status_t on_ordered(void *arg, struct uct_source *source, void *data,
                               size_t length, unsigned flags)
{
    struct host   *host = (struct host *)arg;
    struct sender *sender;
    uint32_t       sequence;

    (void)flags;
    if (!host_check(host, source, data, length)) {
        return UCS_OK;
    }
    sender = host_sender(host, source);
    memcpy(&sequence, data, sizeof(sequence)); /* low half, little endian */
    if (sequence != sender->sequence) {
        host_bad(host, "stream %u: message %u came, %u was next",
                 sender->stream, sequence, sender->sequence);
    }
    sender->sequence = sequence + 1;
    ++host->inbox.ordered_count;
    return UCS_OK;
}

static ucs_status_t on_any(void *arg, struct uct_source *source, void *data,
                           size_t length, unsigned flags)
{
    struct host   *host = (struct host *)arg;
    struct sender *sender;
    uint32_t       sequence;

    (void)flags;
    if (!host_check(host, source, data, length)) {
        return UCS_OK;
    }
    sender = host_sender(host, source);
    if (sender->any_seen == NULL) {
        sender->any_bytes = ANY_SEEN_BYTES;
        sender->any_seen  = calloc(1, ANY_SEEN_BYTES);
    }
    memcpy(&sequence, data, sizeof(sequence));
    if ((sequence / 8 >= sender->any_bytes) ||
        (sender->any_seen[sequence / 8] & (1u << (sequence % 8)))) {
        host_bad(host, "stream %u: any-order message %u came twice or late",
                 sender->stream, sequence);
        return UCS_OK;
    }
    sender->any_seen[sequence / 8] |= (uint8_t)(1u << (sequence % 8));
    ++host->inbox.any_count;
    return UCS_OK;
}

static ucs_status_t on_echo(void *arg, struct uct_source *source, void *data,
                            size_t length, unsigned flags)
{
    struct host *host = (struct host *)arg;

    ++host->inbox.owed_count;
    return on_ordered(arg, source, data, length, flags);
}

static ucs_status_t on_keep(void *arg, struct uct_source *source, void *data,
                            size_t length, unsigned flags)
{
    struct host *host = (struct host *)arg;

    (void)on_ordered(arg, source, data, length, flags);
    if (!(flags & UCT_AM_MAY_KEEP) ||
        (host->inbox.kept_count == CONFORM_KEPT_COUNT)) {
        return UCS_OK;
    }
    host->kept[host->inbox.kept_count].data   = data;
    host->kept[host->inbox.kept_count].length = length;
    ++host->inbox.kept_count;
    ++host->inbox.kept_total;
    return UCS_INPROGRESS;
}

static ucs_status_t on_count(void *arg, struct uct_source *source, void *data,
                             size_t length, unsigned flags)
{
    struct host *host = (struct host *)arg;

    (void)data;
    (void)flags;
    (void)host_sender(host, source);
    ++host->inbox.count_count;
    host->inbox.count_bytes += length;
    return UCS_OK;
}

void host_set_handlers(struct host *host)
{
    ucti_iface_set_am(host->iface, AM_ORDERED, on_ordered, host);
    ucti_iface_set_am(host->iface, AM_ANY, on_any, host);
    ucti_iface_set_am(host->iface, AM_ECHO, on_echo, host);
    ucti_iface_set_am(host->iface, AM_KEEP, on_keep, host);
    ucti_iface_set_am(host->iface, AM_COUNT, on_count, host);
}

/* Kept data must still be what it was when it came. */
void host_release_kept(struct host *host, uint64_t count_max)
{
    struct kept kept;
    uint64_t    header, index;

    while ((host->inbox.kept_count > 0) && (count_max-- > 0)) {
        index             = host_random(host) % host->inbox.kept_count;
        kept              = host->kept[index];
        host->kept[index] = host->kept[--host->inbox.kept_count];
        memcpy(&header, kept.data, sizeof(header));
        if (((header >> 40) != kept.length - CONFORM_HEADER_BYTES) ||
            !message_check((uint8_t *)kept.data + CONFORM_HEADER_BYTES, header,
                           kept.length - CONFORM_HEADER_BYTES)) {
            host_bad(host, "a kept message changed");
        }
        uct_iface_release(host->iface, kept.data);
    }
}
