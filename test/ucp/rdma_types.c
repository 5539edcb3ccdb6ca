/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_types.c - put and get of data that is not contiguous: every pair of
 * datatypes, with other cuts at either end. */
#include "ucp/rdma_check.h"

#include <string.h>

#include "ucp/layout.h"
#include "ucp/proto/rdma.h"

enum { TAG = 78, FRAGMENT_BYTES = 100000 };

static uint64_t fragment_bytes(const struct pair *pair)
{
    return rdma_count(pair, 0, UCP_COUNT_FRAGMENT_OUT);
}

/* Fall-backs that either side counted; a loop has one side. */
static uint64_t fall_backs(const struct pair *pair)
{
    return rdma_count(pair, 0, UCP_COUNT_FALL_BACK) +
           (pair->is_loop ? 0 : rdma_count(pair, 1, UCP_COUNT_FALL_BACK));
}

/* ---- one message ---- */

static void *post(struct pair *pair, int side, const struct layout *layout)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = layout->datatype,
    };

    return (side == 0)
               ? ucp_tag_send_nbx(pair->eps[0], layout->buffer, layout->count,
                                  TAG, &param)
               : ucp_tag_recv_nbx(pair->workers[1], layout->buffer,
                                  layout->count, TAG, UINT64_MAX, &param);
}

/* Send one layout into the other; each is overwritten as soon as its request
 * is complete: nobody may look or write later.
 * @return the receive's status. */
static ucs_status_t transfer(struct pair *pair, struct layout *out,
                             struct layout *in, bool is_posted_first)
{
    static unsigned seed;
    void           *send, *receive = NULL;
    ucs_status_t    status;

    layout_fill(out, ++seed);
    layout_clear(in);
    if (is_posted_first) {
        receive = post(pair, 1, in);
    }
    send = post(pair, 0, out);
    if (!is_posted_first) {
        pair_settle(pair);
        receive = post(pair, 1, in);
    }
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    memset(out->memory, 0xee, out->memory_bytes);
    status = pair_wait(pair, receive);
    layout_check(in, (status == UCS_OK) ? out->length : 0, seed);
    layout_clear(in);
    pair_settle(pair);
    layout_check(in, 0, seed);
    return status;
}

/* What a message moved, and how. */
struct moved {
    uint64_t by_rdma;
    uint64_t fragments;
    uint64_t fall_backs;
};

static struct moved transfer_and_count(struct pair             *pair,
                                       const struct rdma_check *check,
                                       struct layout *out, struct layout *in,
                                       bool is_posted_first)
{
    const struct moved before    = {rdma_count(pair, 0, check->out),
                                    fragment_bytes(pair), fall_backs(pair)};
    uint64_t           in_before = rdma_count(pair, 1, check->in);
    struct moved       moved;

    ck_assert_int_eq(transfer(pair, out, in, is_posted_first), UCS_OK);
    moved = (struct moved){.by_rdma =
                               rdma_count(pair, 0, check->out) - before.by_rdma,
                           .fragments = fragment_bytes(pair) - before.fragments,
                           .fall_backs = fall_backs(pair) - before.fall_backs};
    ck_assert_uint_eq(rdma_count(pair, 1, check->in) - in_before,
                      moved.by_rdma);
    return moved;
}

/* ---- every pair ---- */

/* A size of pieces that are worth it, at least so many bytes. */
static size_t coarse_bytes(const struct pair *pair, size_t bytes_min)
{
    return ucs_max(bytes_min,
                   ucp_rdma_piece_bytes_min(&pair->eps[0]->config->lane));
}

/* A layout of about that many bytes in coarse pieces; the two ends have other
 * cuts. */
static void draw_coarse(const struct pair *pair, struct layout *layout,
                        enum ucp_dt_class dt_class, size_t length, int side)
{
    const size_t block              = coarse_bytes(pair, 9000);
    const size_t odd                = length / 7;
    const size_t odd_lengths[]      = {0,       odd + 1, odd - 1,          0, 0,
                                       2 * odd, odd,     length - 5 * odd, 0};
    const causeway_dt_level_t level = {ucs_max(length / block, (size_t)1),
                                       block + 100};

    switch (dt_class) {
    case UCP_DT_IOV:
        if ((side == 1) && (length / UCS_ARRAY_COUNT(odd_lengths) > block)) {
            layout_of_pieces(layout, odd_lengths, UCS_ARRAY_COUNT(odd_lengths));
        } else {
            layout_of_iov(layout, length, 1 + length / (2 * block));
        }
        break;
    case UCP_DT_STRIDED:
        layout_of_strided(layout, ucs_min(length, block), &level, 1, 0,
                          ((side == 1) && (length >= block)) ? 2 : 1);
        layout_clear(layout);
        break;
    case UCP_DT_CONTIG:
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        layout_draw(layout, dt_class, length);
        break;
    }
}

/* Which bytes went how, of that pair? */
static void check_moved(const struct rdma_check *check,
                        const struct layout *out, const struct layout *in,
                        struct moved moved)
{
    if ((out->dt_class == UCP_DT_GENERIC) || (in->dt_class == UCP_DT_GENERIC)) {
        ck_assert_uint_eq(moved.by_rdma, 0);
        /* A generic sender proposes nothing else; the start of a pipeline may
         * have had all. */
        if (!check->is_mixed || (out->length > FRAGMENT_BYTES)) {
            ck_assert_uint_eq(moved.fall_backs,
                              out->dt_class != UCP_DT_GENERIC);
        }
    } else if (!check->is_mixed) {
        ck_assert_uint_eq(moved.by_rdma, out->length);
        ck_assert_uint_eq(moved.fragments, 0);
        ck_assert_uint_eq(moved.fall_backs, 0);
    } else {
        ck_assert_uint_eq(moved.fall_backs, 0);
        if (out->length > 4 * FRAGMENT_BYTES) {
            ck_assert_uint_gt(moved.by_rdma, out->length / 4);
        }
    }
}

void rdma_check_datatypes(const struct rdma_check *check,
                          const struct test_param *param)
{
    static const size_t sizes[] = {1, 8191, 65535, 100001, 500001};
    struct layout       out, in;
    struct pair         pair;

    rdma_open(&pair, check, param);
    for (int pairing = 0; pairing < 16; ++pairing) {
        for (unsigned i = 0; i < UCS_ARRAY_COUNT(sizes); ++i) {
            draw_coarse(&pair, &out, (enum ucp_dt_class)(pairing / 4), sizes[i],
                        0);
            draw_coarse(&pair, &in, (enum ucp_dt_class)(pairing % 4),
                        out.length, 1);
            if (in.length < out.length) { /* whole blocks */
                layout_free(&in);
                draw_coarse(&pair, &in, UCP_DT_STRIDED,
                            out.length + coarse_bytes(&pair, 9000), 1);
            }
            check_moved(check, &out, &in,
                        transfer_and_count(&pair, check, &out, &in,
                                           (i + (unsigned)pairing) % 2));
            layout_free(&out);
            layout_free(&in);
        }
    }
    ck_assert_uint_eq(pair.eps[0]->refused, 0);
    rdma_check_clean(&pair);
    pair_close(&pair);
}

/* ---- lists ---- */

/* Pieces that are not worth an entry each are packed: the end that has them
 * does not take part. */
void rdma_check_small_pieces(const struct rdma_check *check,
                             const struct test_param *param)
{
    enum { BYTES = 300000, COUNT = 3000 };
    struct layout big, small[2];
    struct moved  moved;
    struct pair   pair;

    rdma_open(&pair, check, param);
    layout_draw(&big, UCP_DT_CONTIG, BYTES);
    layout_of_iov(&small[0], BYTES, COUNT);
    layout_of_strided(&small[1], 100, &(const causeway_dt_level_t){COUNT, 150},
                      1, 0, 1);
    for (int which = 0; which < 4; ++which) {
        struct layout *piece = &small[which % 2];

        moved = transfer_and_count(&pair, check, (which < 2) ? piece : &big,
                                   (which < 2) ? &big : piece, which % 2);
        ck_assert_uint_eq(moved.by_rdma, 0);
        ck_assert_uint_eq(moved.fall_backs, 1);
    }
    for (int which = 0; which < 2; ++which) {
        layout_free(&small[which]);
    }
    layout_free(&big);
    rdma_check_clean(&pair);
    pair_close(&pair);
}

/* More pieces than a message can name: PUT comes again, RGET leaves the rest
 * to fragments. */
void rdma_check_long_lists(const struct rdma_check *check,
                           const struct test_param *param)
{
    enum { COUNT = 300 };
    struct layout out, in;
    struct moved  moved;
    struct pair   pair;
    size_t        bytes;

    rdma_open(&pair, check, param);
    bytes = COUNT * (coarse_bytes(&pair, 6000) + 1);
    for (int which = 0; which < 2; ++which) {
        layout_of_iov(&out, bytes, which ? COUNT : 64);
        layout_of_iov(&in, bytes, which ? 7 : COUNT);
        moved = transfer_and_count(&pair, check, &out, &in, which);
        ck_assert_uint_eq(moved.fall_backs, 0);
        if (check->out != UCP_COUNT_GET_OUT) {
            ck_assert_uint_gt(moved.by_rdma, 0);
            ck_assert(check->is_mixed || (moved.by_rdma == out.length));
        } else {
            ck_assert_uint_eq(moved.by_rdma + moved.fragments, out.length);
            ck_assert_int_eq(moved.fragments > 0, which == 1);
        }
        layout_free(&out);
        layout_free(&in);
    }
    rdma_check_clean(&pair);
    pair_close(&pair);
}

void rdma_check_random(const struct rdma_check *check,
                       const struct test_param *param)
{
    struct layout out, in;
    struct pair   pair;

    rdma_open(&pair, check, param);
    for (int round = 0; round < 60; ++round) {
        size_t length = 1 + (test_random_below(1 << 20) >> (round % 12));

        layout_draw(&out, (enum ucp_dt_class)test_random_below(4), length);
        layout_draw(&in, (enum ucp_dt_class)test_random_below(4), out.length);
        ck_assert_int_eq(transfer(&pair, &out, &in, test_random_below(2)),
                         UCS_OK);
        layout_free(&out);
        layout_free(&in);
    }
    rdma_check_clean(&pair);
    pair_close(&pair);
}

/* A receive that is too small: it fails, nothing is written, the sender is
 * done. */
void rdma_check_too_small(const struct rdma_check *check,
                          const struct test_param *param)
{
    enum { BYTES = 300000 };
    struct layout out, in;
    struct pair   pair;

    rdma_open(&pair, check, param);
    for (int pairing = 0; pairing < 16; ++pairing) {
        draw_coarse(&pair, &out, (enum ucp_dt_class)(pairing / 4), BYTES, 0);
        draw_coarse(&pair, &in, (enum ucp_dt_class)(pairing % 4), BYTES / 2, 1);
        if (in.length < out.length) {
            ck_assert_int_eq(transfer(&pair, &out, &in, pairing % 2),
                             UCS_ERR_MESSAGE_TRUNCATED);
        }
        layout_free(&out);
        layout_free(&in);
    }
    rdma_check_clean(&pair);
    pair_close(&pair);
}
