/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_dt.c - contiguous, iov and generic datatypes. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

enum { MEDIUM = 100 * 1000 };

static const ucp_tag_t exact = ~(ucp_tag_t)0;

static char out[BEHAVE_LARGE];
static char in[BEHAVE_LARGE + 64];

/* One message with a datatype on each side; returns the receive's record. */
static struct record carry(struct pair *pair, const void *from,
                           size_t from_count, ucp_datatype_t from_type,
                           void *to, size_t to_count, ucp_datatype_t to_type,
                           bool posted)
{
    struct record       sent, received;
    ucp_request_param_t send_param = param_send(
        &sent, UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_DATATYPE);
    ucp_request_param_t recv_param = param_recv(
        &received, UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_DATATYPE);
    void *request, *send_request;

    send_param.datatype = from_type;
    recv_param.datatype = to_type;
    if (posted) {
        request = ucp_tag_recv_nbx(pair->b.worker, to, to_count, 9, exact,
                                   &recv_param);
        must_ptr(request, "recv");
    }
    send_request =
        ucp_tag_send_nbx(pair->a.ep, from, from_count, 9, &send_param);
    must_ptr(send_request, "send");
    if (!posted) {
        pump_arrived(pair, 9);
        request = ucp_tag_recv_nbx(pair->b.worker, to, to_count, 9, exact,
                                   &recv_param);
        must_ptr(request, "recv");
    }
    pump_calls(pair, &received);
    pump_calls(pair, &sent);
    if (sent.status != UCS_OK) {
        fact("carry.send_failed", "%d", sent.status);
    }
    ucp_request_free(request);
    ucp_request_free(send_request);
    return received;
}

static void contig(struct pair *pair)
{
    struct record record;

    fact("contig.id", "0x%llx 0x%llx",
         (unsigned long long)ucp_dt_make_contig(1),
         (unsigned long long)ucp_dt_make_contig(24));
    memset(in, 0, sizeof(in));
    pattern_fill(out, sizeof(out), 1);
    record = carry(pair, out, 100, ucp_dt_make_contig(24), in, 2400,
                   ucp_dt_make_contig(1), true);
    fact_recv_record("contig.24x100", &record);
    fact("contig.data", "%d", pattern_holds(in, 2400, 1));
}

/* Pieces of a buffer in order, empty ones among them. */
static size_t cut(ucp_dt_iov_t *iov, char *buffer, size_t length)
{
    size_t at = 0, count = 0, piece = 0;

    while (at < length) {
        size_t bytes = (count % 3 == 1) ? 0 : (1 + piece * 777 % 5000);

        bytes             = (bytes > length - at) ? length - at : bytes;
        iov[count].buffer = (bytes == 0) ? NULL : buffer + at;
        iov[count].length = bytes;
        at += bytes;
        ++count;
        ++piece;
    }
    return count;
}

static void iov_one(struct pair *pair, const char *name, size_t length,
                    bool posted)
{
    static ucp_dt_iov_t out_iov[8192], in_iov[8192];
    char                key[64];
    size_t              out_count = cut(out_iov, out, length);
    struct record       record;

    memset(in, 0, sizeof(in));
    record = carry(pair, out_iov, out_count, ucp_dt_make_iov(), in, sizeof(in),
                   ucp_dt_make_contig(1), posted);
    snprintf(key, sizeof(key), "iov.%s.to_contig", name);
    fact(key, "calls %d status %d length %zu data %d", record.calls,
         record.status, record.info.length, pattern_holds(in, length, 1));

    memset(in, 0, sizeof(in));
    record = carry(pair, out_iov, out_count, ucp_dt_make_iov(), in_iov,
                   cut(in_iov, in, length), ucp_dt_make_iov(), posted);
    snprintf(key, sizeof(key), "iov.%s.to_iov", name);
    fact(key, "calls %d status %d length %zu data %d", record.calls,
         record.status, record.info.length, pattern_holds(in, length, 1));

    if (length > 8) {
        memset(in, 0x11, sizeof(in));
        record = carry(pair, out, length, ucp_dt_make_contig(1), in_iov,
                       cut(in_iov, in, length / 2), ucp_dt_make_iov(), posted);
        snprintf(key, sizeof(key), "iov.%s.truncated", name);
        fact(key, "calls %d status %d length %zu behind %d", record.calls,
             record.status, record.info.length,
             (in[length / 2] == 0x11) && (in[length] == 0x11));
    }
}

static void iov(struct pair *pair)
{
    ucp_dt_iov_t  nothing[2] = {{NULL, 0}, {NULL, 0}};
    struct record record;

    fact("iov.id", "0x%llx", (unsigned long long)ucp_dt_make_iov());
    iov_one(pair, "small", 8, true);
    iov_one(pair, "small_unexpected", 8, false);
    iov_one(pair, "kilobytes", 6000, true);
    iov_one(pair, "medium", MEDIUM, true);
    iov_one(pair, "medium_unexpected", MEDIUM, false);
    iov_one(pair, "large", BEHAVE_LARGE, true);
    iov_one(pair, "large_unexpected", BEHAVE_LARGE, false);
    record = carry(pair, nothing, 2, ucp_dt_make_iov(), nothing, 2,
                   ucp_dt_make_iov(), true);
    fact("iov.nothing", "status %d length %zu", record.status,
         record.info.length);
    record = carry(pair, nothing, 0, ucp_dt_make_iov(), nothing, 0,
                   ucp_dt_make_iov(), true);
    fact("iov.no_entries", "status %d length %zu", record.status,
         record.info.length);
}

/* A generic datatype: the message is the buffer with each byte inverted, and
 * what the library calls is counted. */
struct generic {
    int          starts_pack, starts_unpack, sizes, finishes, live;
    int          zero_calls;  /* pack or unpack of nothing */
    bool         pack_jumped; /* pack out of order */
    bool         beyond;      /* unpack behind the size */
    bool         wrong_context, wrong_count;
    size_t       unpacked;
    size_t       pack_most; /* pack at most so much a call; 0: all */
    ucs_status_t unpack_status;
};

struct state {
    struct generic *generic;
    char           *buffer;
    size_t          size;
    size_t          next; /* offset of the next pack */
};

static struct generic *current;

static struct state *state_new(struct generic *generic, void *buffer,
                               size_t count)
{
    struct state *state = calloc(1, sizeof(*state));

    generic->wrong_context = generic->wrong_context || (generic != current);
    state->generic         = generic;
    state->buffer          = buffer;
    state->size            = count;
    ++generic->live;
    return state;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    ++((struct generic *)context)->starts_pack;
    return state_new(context, (void *)(uintptr_t)buffer, count);
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    ++((struct generic *)context)->starts_unpack;
    return state_new(context, buffer, count);
}

static size_t packed_size(void *state)
{
    ++((struct state *)state)->generic->sizes;
    return ((struct state *)state)->size;
}

static size_t pack(void *pointer, size_t offset, void *dest, size_t max_length)
{
    struct state   *state   = pointer;
    struct generic *generic = state->generic;
    size_t          length  = state->size - offset, i;

    length = (length > max_length) ? max_length : length;
    if ((generic->pack_most != 0) && (length > generic->pack_most)) {
        length = generic->pack_most;
    }
    generic->zero_calls += (max_length == 0);
    generic->pack_jumped = generic->pack_jumped || (offset != state->next);
    state->next          = offset + length;
    for (i = 0; i < length; ++i) {
        ((char *)dest)[i] = (char)~state->buffer[offset + i];
    }
    return length;
}

static ucs_status_t unpack(void *pointer, size_t offset, const void *src,
                           size_t length)
{
    struct state   *state   = pointer;
    struct generic *generic = state->generic;
    size_t          i;

    generic->zero_calls += (length == 0);
    if (generic->unpack_status != UCS_OK) {
        return generic->unpack_status;
    }
    if (offset + length > state->size) {
        generic->beyond = true;
        return UCS_OK;
    }
    for (i = 0; i < length; ++i) {
        state->buffer[offset + i] = (char)~((const char *)src)[i];
    }
    generic->unpacked += length;
    return UCS_OK;
}

static void finish(void *pointer)
{
    struct state *state = pointer;

    ++state->generic->finishes;
    --state->generic->live;
    free(state);
}

/* The ops are copied: those of the caller are gone when it is used. */
static ucp_datatype_t generic_new(struct generic *generic)
{
    ucp_generic_dt_ops_t ops = {start_pack, start_unpack, packed_size,
                                pack,       unpack,       finish};
    ucp_datatype_t       type;

    memset(generic, 0, sizeof(*generic));
    current = generic;
    must(ucp_dt_create_generic(&ops, generic, &type), "dt_create_generic");
    memset(&ops, 0, sizeof(ops));
    return type;
}

static void generic_facts(const char *name, const struct generic *generic,
                          const struct record *record)
{
    char key[80];

    snprintf(key, sizeof(key), "generic.%s", name);
    fact(key, "status %d length %zu starts %d %d finishes %d live %d",
         record->status, record->info.length, generic->starts_pack,
         generic->starts_unpack, generic->finishes, generic->live);
    snprintf(key, sizeof(key), "generic.%s.size_asked", name);
    fact(key, "%d", generic->sizes > 0);
    snprintf(key, sizeof(key), "generic.%s.rules", name);
    fact(key, "jumped %d beyond %d zero %d context %d", generic->pack_jumped,
         generic->beyond, generic->zero_calls, generic->wrong_context);
}

static void generic_one(struct pair *pair, const char *name, size_t length,
                        bool posted)
{
    char           key[80];
    struct generic generic;
    ucp_datatype_t type = generic_new(&generic);
    struct record  record;

    memset(in, 0, sizeof(in));
    record = carry(pair, out, length, type, in, length, type, posted);
    generic_facts(name, &generic, &record);
    snprintf(key, sizeof(key), "generic.%s.data", name);
    fact(key, "%d", pattern_holds(in, length, 1));
    ucp_dt_destroy(type);

    /* To a contiguous buffer: inverted bytes. */
    type = generic_new(&generic);
    memset(in, 0, sizeof(in));
    record = carry(pair, out, length, type, in, sizeof(in),
                   ucp_dt_make_contig(1), posted);
    snprintf(key, sizeof(key), "%s.to_contig", name);
    generic_facts(key, &generic, &record);
    snprintf(key, sizeof(key), "generic.%s.to_contig.data", name);
    fact(key, "%d", (length == 0) || (in[length - 1] == ~out[length - 1]));
    ucp_dt_destroy(type);

    type   = generic_new(&generic);
    record = carry(pair, out, length, ucp_dt_make_contig(1), in, length, type,
                   posted);
    snprintf(key, sizeof(key), "%s.from_contig", name);
    generic_facts(key, &generic, &record);
    snprintf(key, sizeof(key), "generic.%s.from_contig.unpacked", name);
    fact(key, "%zu", generic.unpacked);
    ucp_dt_destroy(type);

    if (length > 0) {
        type   = generic_new(&generic);
        record = carry(pair, out, length, type, in, length / 2, type, posted);
        snprintf(key, sizeof(key), "%s.truncated", name);
        generic_facts(key, &generic, &record);
        ucp_dt_destroy(type);

        type                  = generic_new(&generic);
        generic.unpack_status = UCS_ERR_IO_ERROR;
        record = carry(pair, out, length, type, in, length, type, posted);
        snprintf(key, sizeof(key), "generic.%s.unpack_fails", name);
        fact(key, "status %d finishes %d live %d", record.status,
             generic.finishes, generic.live);
        ucp_dt_destroy(type);
    }
}

static void generic(struct pair *pair)
{
    struct generic      counts;
    ucp_datatype_t      type = generic_new(&counts);
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    fact("generic.id_class", "%d", (int)(type & UCP_DATATYPE_CLASS_MASK));
    ucp_dt_destroy(type);
    generic_one(pair, "zero", 0, true);
    generic_one(pair, "small", 8, true);
    generic_one(pair, "small_unexpected", 8, false);
    generic_one(pair, "medium", MEDIUM, true);
    generic_one(pair, "medium_unexpected", MEDIUM, false);
    generic_one(pair, "large", BEHAVE_LARGE, true);
    generic_one(pair, "large_unexpected", BEHAVE_LARGE, false);

    /* A cancelled receive ends its state. */
    type           = generic_new(&counts);
    param          = param_recv(&record, UCP_OP_ATTR_FIELD_DATATYPE);
    param.datatype = type;
    request = ucp_tag_recv_nbx(pair->b.worker, in, 100, 10, exact, &param);
    ucp_request_cancel(pair->b.worker, request);
    fact("generic.cancelled", "status %d starts %d finishes %d live %d",
         record.status, counts.starts_unpack, counts.finishes, counts.live);
    ucp_request_free(request);
    ucp_dt_destroy(type);

    /* Pack gives less than asked for. */
    type             = generic_new(&counts);
    counts.pack_most = 1000;
    memset(in, 0, sizeof(in));
    record = carry(pair, out, MEDIUM, type, in, MEDIUM, type, true);
    fact("generic.short_packs", "status %d length %zu data %d live %d",
         record.status, record.info.length, pattern_holds(in, MEDIUM, 1),
         counts.live);
    ucp_dt_destroy(type);

    /* A synchronous send. */
    type           = generic_new(&counts);
    param          = param_send(&record, UCP_OP_ATTR_FIELD_DATATYPE);
    param.datatype = type;
    request        = ucp_tag_send_sync_nbx(pair->a.ep, out, 100, 11, &param);
    must_ptr(request, "sync");
    must(pump_request(pair, ucp_tag_recv_nb(pair->b.worker, in, 100, type, 11,
                                            exact, on_recv_nb)),
         "recv");
    pump_calls(pair, &record);
    ucp_request_free(request);
    fact("generic.sync", "starts %d %d finishes %d live %d", counts.starts_pack,
         counts.starts_unpack, counts.finishes, counts.live);
    ucp_dt_destroy(type);
}

int main(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    contig(&pair);
    iov(&pair);
    generic(&pair);
    pair_close(&pair);
    fact("end", "1");
    return 0;
}
