/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c - forcing a protocol, and reading the counters. */
#include "ucp/matrix.h"

#include <stdio.h>
#include <stdlib.h>

#include "ucp/proto/wire.h"

static void column_set(const char *name, unsigned value)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", value);
    (void)setenv(name, text, 1);
}

void column_set_env(const struct column *column)
{
    static const char *const schemes[] = {[SEND]     = "am",
                                          [PUT]      = "put_zcopy",
                                          [GET]      = "get_zcopy",
                                          [SHARED]   = "shared",
                                          [PIPELINE] = "put_ppln"};

    if ((column->kind != EAGER) && (column->kind != BUFFERED)) {
        (void)setenv("UCX_RNDV_SCHEME", schemes[column->kind], 1);
    }
    column_set("UCX_MAX_RNDV_RAILS", column->rails);
    column_set("UCX_EXAMPLE_DEVICES", column->rails);
    column_set("UCX_RNDV_FRAG_SIZE", MATRIX_PIECE);
    column_set("UCX_RNDV_PIPELINE_SEND_LENGTH", MATRIX_TAIL);
    (void)setenv("UCX_MIN_RNDV_CHUNK_SIZE", "4k", 1);
}

struct pair_setup column_setup(const struct column *column)
{
    return (struct pair_setup){
        .tls            = column->tls,
        .rndv_threshold = (column->kind == EAGER) ? "inf" : "0",
    };
}

/* ---- what must have carried a message ---- */

static uint64_t count(const struct ucp_worker *worker, enum ucp_count what)
{
    return ucs_counter_get(&worker->counts[what]);
}

struct moved moved_out(const struct ucp_worker *worker)
{
    return (struct moved){count(worker, UCP_COUNT_FRAGMENT_OUT),
                          count(worker, UCP_COUNT_PUT_OUT),
                          count(worker, UCP_COUNT_GET_OUT)};
}

struct moved moved_in(const struct ucp_worker *worker)
{
    return (struct moved){count(worker, UCP_COUNT_FRAGMENT_IN),
                          count(worker, UCP_COUNT_PUT_IN),
                          count(worker, UCP_COUNT_GET_IN)};
}

struct moved moved_since(struct moved now, struct moved before)
{
    return (struct moved){now.fragments - before.fragments,
                          now.puts - before.puts, now.gets - before.gets};
}

void check_moved(enum kind kind, struct moved moved, size_t length,
                 size_t first)
{
    uint64_t rest = (length > first) ? length - first : 0;

    switch (kind) {
    case EAGER:
        ck_assert_uint_eq(moved.fragments + moved.puts + moved.gets, 0);
        break;
    case PUT:
        ck_assert_uint_eq(moved.puts, length);
        ck_assert_uint_eq(moved.fragments + moved.gets, 0);
        break;
    case GET:
        ck_assert_uint_eq(moved.gets, length);
        ck_assert_uint_eq(moved.fragments + moved.puts, 0);
        break;
    case SHARED: /* by whom is a matter of time; its head takes some room */
        ck_assert_uint_eq(moved.puts, 0);
        ck_assert_uint_ge(moved.fragments + moved.gets, rest);
        ck_assert_uint_le(moved.fragments + moved.gets,
                          (length < rest + MATRIX_HEAD) ? length
                                                        : rest + MATRIX_HEAD);
        break;
    case PIPELINE:
        ck_assert_uint_eq(moved.fragments,
                          (rest < MATRIX_TAIL) ? rest : MATRIX_TAIL);
        ck_assert_uint_eq(moved.puts, rest - moved.fragments);
        ck_assert_uint_eq(moved.gets, 0);
        break;
    case SEND:
    case BUFFERED:
        ck_assert_uint_eq(moved.fragments, rest);
        ck_assert_uint_eq(moved.puts + moved.gets, 0);
        break;
    }
}

size_t first_of(enum kind kind, const struct ucp_ep *ep)
{
    return ((kind == PUT) || (kind == GET))
               ? 0
               : ep->config->lane.attr.am.bcopy_bytes_max - UCP_WIRE_RNDV_BYTES;
}
