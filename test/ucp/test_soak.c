/* SPDX-License-Identifier: BSD-3-Clause */
/* test_soak.c - random messages through every protocol over every transport:
 * sizes around all thresholds, all datatypes on either side, both modes,
 * receives posted before and after, buffers too small; every byte checked. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { SOAK_COUNT = 250, SOAK_TAG_COUNT = 4, SOAK_IOV_MAX = 24 };

/* One end of one message.
 * data     the message's bytes, as the datatype's memory holds them */
struct soak_end {
    uint8_t       *data;
    size_t         length;
    ucp_datatype_t datatype;
    ucp_dt_iov_t   iov[SOAK_IOV_MAX];
    const void    *buffer;
    size_t         count;
    void          *request;
    bool           is_posted;
    ucs_status_t   status;
};

struct soak_message {
    ucp_tag_t       tag;
    bool            is_sync;
    struct soak_end send;
    struct soak_end receive;
};

/* A generic datatype whose memory holds each byte inverted. */
static void *inverted_start(void *context, void *buffer, size_t count)
{
    struct soak_end *end = buffer;

    (void)context;
    (void)count;
    return end;
}

static void *inverted_start_pack(void *context, const void *buffer,
                                 size_t count)
{
    return inverted_start(context, (void *)(uintptr_t)buffer, count);
}

static size_t inverted_size(void *state)
{
    return ((struct soak_end *)state)->length;
}

static size_t inverted_pack(void *state, size_t offset, void *dest,
                            size_t length)
{
    const struct soak_end *end = state;

    length = (length > 10000) ? 10000 : length; /* fewer than asked for */
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)dest)[i] = (uint8_t)~end->data[offset + i];
    }
    return length;
}

static ucs_status_t inverted_unpack(void *state, size_t offset,
                                    const void *source, size_t length)
{
    struct soak_end *end = state;

    ck_assert_uint_le(offset + length, end->length);
    for (size_t i = 0; i < length; ++i) {
        end->data[offset + i] = (uint8_t) ~((const uint8_t *)source)[i];
    }
    return UCS_OK;
}

static void inverted_finish(void *state)
{
    (void)state;
}

static const ucp_generic_dt_ops_t inverted_ops = {
    .start_pack   = inverted_start_pack,
    .start_unpack = inverted_start,
    .packed_size  = inverted_size,
    .pack         = inverted_pack,
    .unpack       = inverted_unpack,
    .finish       = inverted_finish,
};

static size_t soak_size(void)
{
    static const size_t edges[] = {0,    1,    8,     47,    48,     49,
                                   200,  255,  256,   257,   1000,   2048,
                                   4096, 8000, 16384, 65000, 131072, 1000000};

    size_t edge = edges[test_random_below(sizeof(edges) / sizeof(edges[0]))];

    return edge + test_random_below(20);
}

static uint8_t soak_byte(int index, size_t offset)
{
    return (uint8_t)(index * 31 + offset * 7 + (offset >> 8));
}

/* Cut [length] at data into entries, some empty. */
static void soak_cut(struct soak_end *end)
{
    size_t offset = 0, part;

    end->count = 1 + test_random_below(SOAK_IOV_MAX - 1);
    for (size_t i = 0; i < end->count; ++i) {
        part = test_random_below(2 * end->length / end->count + 1);
        part = (part > end->length - offset) ? end->length - offset : part;
        part = (i == end->count - 1) ? end->length - offset : part;
        end->iov[i].buffer = end->data + offset;
        end->iov[i].length = part;
        offset += part;
    }
}

static void soak_init_end(struct soak_end *end, size_t length,
                          ucp_datatype_t generic)
{
    end->length = length;
    end->data   = calloc(1, length + 1);
    end->status = UCS_INPROGRESS;
    ck_assert_ptr_nonnull(end->data);
    switch (test_random_below(4)) {
    case 0:
        end->datatype = generic;
        end->buffer   = end;
        end->count    = 1;
        break;
    case 1:
        soak_cut(end);
        end->datatype = ucp_dt_make_iov();
        end->buffer   = end->iov;
        break;
    default:
        end->datatype = ucp_dt_make_contig(1);
        end->buffer   = end->data;
        end->count    = length;
    }
}

static bool is_generic(const struct soak_end *end)
{
    return (end->datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_GENERIC;
}

static void soak_init(struct soak_message *message, int index,
                      ucp_datatype_t generic)
{
    size_t length = soak_size();
    size_t room   = length;

    if ((length > 0) && (test_random_below(16) == 0)) {
        room = test_random_below(length); /* too small */
    }
    message->tag     = test_random_below(SOAK_TAG_COUNT);
    message->is_sync = (test_random_below(4) == 0);
    soak_init_end(&message->send, length, generic);
    soak_init_end(&message->receive, room, generic);
    for (size_t i = 0; i < length; ++i) {
        uint8_t byte = soak_byte(index, i);

        message->send.data[i] =
            is_generic(&message->send) ? (uint8_t)~byte : byte;
    }
}

static void soak_check(struct soak_message *message, int index)
{
    struct soak_end *receive = &message->receive;

    ck_assert_int_eq(message->send.status, UCS_OK);
    if (receive->length < message->send.length) {
        ck_assert_int_eq(receive->status, UCS_ERR_MESSAGE_TRUNCATED);
        return;
    }
    ck_assert_int_eq(receive->status, UCS_OK);
    for (size_t i = 0; i < message->send.length; ++i) {
        uint8_t byte =
            is_generic(receive) ? (uint8_t)~receive->data[i] : receive->data[i];

        if (byte != soak_byte(index, i)) {
            ck_abort_msg("message %d of %zu bytes: byte %zu is 0x%02x, not "
                         "0x%02x",
                         index, message->send.length, i, byte,
                         soak_byte(index, i));
        }
    }
}

static void soak_send(struct pair *pair, struct soak_message *message)
{
    struct soak_end    *end   = &message->send;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype     = end->datatype};

    end->request   = message->is_sync
                         ? ucp_tag_send_sync_nbx(pair->eps[0], end->buffer,
                                                 end->count, message->tag, &param)
                         : ucp_tag_send_nbx(pair->eps[0], end->buffer, end->count,
                                            message->tag, &param);
    end->is_posted = true;
}

static void soak_receive(struct pair *pair, struct soak_message *message)
{
    struct soak_end    *end   = &message->receive;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype     = end->datatype};

    end->request =
        ucp_tag_recv_nbx(pair->workers[1], (void *)(uintptr_t)end->buffer,
                         end->count, message->tag, UINT64_MAX, &param);
    end->is_posted = true;
}

/* @return whether this end is done. */
static bool soak_poll(struct soak_end *end)
{
    if (!end->is_posted || (end->status != UCS_INPROGRESS)) {
        return end->status != UCS_INPROGRESS;
    }
    if (!UCS_PTR_IS_PTR(end->request)) {
        end->status = UCS_PTR_RAW_STATUS(end->request);
        return true;
    }
    end->status = ucp_request_check_status(end->request);
    if (end->status == UCS_INPROGRESS) {
        return false;
    }
    ucp_request_free(end->request);
    return true;
}

static void soak__every_byte_arrives(const struct test_param *param)
{
    struct soak_message *messages = calloc(SOAK_COUNT, sizeof(*messages));
    int                  sent = 0, posted = 0, done = 0;
    ucp_datatype_t       generic;
    struct pair          pair;

    ck_assert_ptr_nonnull(messages);
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_dt_create_generic(&inverted_ops, NULL, &generic),
                     UCS_OK);
    for (int i = 0; i < SOAK_COUNT; ++i) {
        soak_init(&messages[i], i, generic);
    }
    while (done < SOAK_COUNT) {
        switch (test_random_below(3)) {
        case 0:
            if (sent < SOAK_COUNT) {
                soak_send(&pair, &messages[sent++]);
            }
            break;
        case 1:
            if (posted < SOAK_COUNT) {
                soak_receive(&pair, &messages[posted++]);
            }
            break;
        default:
            pair_progress(&pair);
        }
        while ((done < SOAK_COUNT) && soak_poll(&messages[done].send) &&
               soak_poll(&messages[done].receive)) {
            soak_check(&messages[done], done);
            free(messages[done].send.data);
            free(messages[done].receive.data);
            ++done;
        }
    }
    ck_assert_int_eq(pair.error_count[0], 0);
    ck_assert_int_eq(pair.error_count[1], 0);
    ucp_dt_destroy(generic);
    pair_close(&pair);
    free(messages);
}

static const struct test_case soak_cases[] = {
    TEST_TIMEOUT(soak__every_byte_arrives, 120),
    {0},
};

const struct test_suite soak_suite = {
    .name = "soak", .cases = soak_cases, .params = pair_protocols};
