/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived datatypes on both sides of a message, or on one.
 *
 * What must arrive is computed here without communication: MPI_Pack takes the
 * pattern out of the sender's layout, MPI_Unpack puts it into the receiver's,
 * and the whole buffer (gaps too) has to be equal to that.
 */
#include "mpi_util.h"

#include <stdlib.h>
#include <string.h>

/* A layout: how to make it for about `unit` elements. Committed by the user. */
struct layout {
    const char *name;
    MPI_Datatype (*make)(int unit);
};

static MPI_Datatype make_bytes(int unit)
{
    MPI_Datatype type;

    MPI_Type_contiguous(8 * unit, MPI_BYTE, &type);
    return type;
}

static MPI_Datatype make_vector(int unit)
{
    MPI_Datatype type;

    MPI_Type_vector(unit, 2, 5, MPI_INT, &type);
    return type;
}

static MPI_Datatype make_hvector(int unit)
{
    MPI_Datatype type;

    MPI_Type_create_hvector(unit, 3, 29, MPI_CHAR, &type); /* odd stride */
    return type;
}

static MPI_Datatype make_indexed(int unit)
{
    int         *lengths = calloc((size_t)unit, sizeof(int)), i;
    int         *places = calloc((size_t)unit, sizeof(int)), at = 0;
    MPI_Datatype type;

    for (i = 0; i < unit; i++) {
        lengths[i] = i % 4; /* empty blocks too */
        places[i]  = at;
        at += 5 + i % 3;
    }
    MPI_Type_indexed(unit, lengths, places, MPI_SHORT, &type);
    free(lengths);
    free(places);
    return type;
}

static MPI_Datatype make_backwards(int unit)
{
    int         *places = calloc((size_t)unit, sizeof(int)), i;
    MPI_Datatype type;

    for (i = 0; i < unit; i++) {
        places[i] = 3 * (unit - 1 - i); /* the last block comes first */
    }
    MPI_Type_create_indexed_block(unit, 2, places, MPI_DOUBLE, &type);
    free(places);
    return type;
}

static MPI_Datatype make_struct(int unit)
{
    int          lengths[3] = {1, 3, 2};
    MPI_Aint     places[3]  = {0, 8, 24};
    MPI_Datatype parts[3]   = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, one, type;

    places[2] = 8 + 3 * (MPI_Aint)sizeof(double);
    MPI_Type_create_struct(3, lengths, places, parts, &one);
    MPI_Type_contiguous(unit, one, &type);
    MPI_Type_free(&one);
    return type;
}

static MPI_Datatype make_subarray(int unit)
{
    int          whole[3] = {6, 5, 2 * unit + 3}, part[3], start[3] = {1, 2, 1};
    MPI_Datatype type;

    part[0] = 3;
    part[1] = 2;
    part[2] = unit;
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_INT,
                             &type);
    return type;
}

static MPI_Datatype make_resized(int unit)
{
    MPI_Datatype column, type;

    /* one column of a matrix of `unit` rows; the next one starts beside it */
    MPI_Type_vector(unit, 1, 16, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &type);
    MPI_Type_free(&column);
    return type;
}

static MPI_Datatype make_nested(int unit)
{
    MPI_Datatype inner, type;

    MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
    MPI_Type_create_hvector(unit, 1, 40, inner, &type);
    MPI_Type_free(&inner);
    return type;
}

static const struct layout layouts[] = {
    {"contiguous", make_bytes},    {"vector", make_vector},
    {"hvector", make_hvector},     {"indexed", make_indexed},
    {"backwards", make_backwards}, {"struct", make_struct},
    {"subarray", make_subarray},   {"resized", make_resized},
    {"nested", make_nested}};
#define LAYOUT_COUNT (sizeof(layouts) / sizeof(*layouts))

/* One side of a message: a buffer large enough for `count` of a type. */
struct side {
    MPI_Datatype   type;
    int            count;
    int            bytes; /* of data */
    size_t         room;  /* of the buffer, gaps included */
    unsigned char *buffer;
};

static void side_open(struct side *side, MPI_Datatype type, int count)
{
    MPI_Aint low, extent, true_low, true_extent;

    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &true_low, &true_extent);
    side->type  = type;
    side->count = count;
    MPI_Type_size(type, &side->bytes);
    side->bytes *= count;
    side->room   = (size_t)(true_low + true_extent + extent * (count - 1));
    side->buffer = mc_alloc(side->room);
}

static void side_close(struct side *side)
{
    mc_free(side->buffer);
    MPI_Type_free(&side->type);
}

/* The packed pattern that the sender with this seed sends. */
static void *packed_pattern(struct side *side, uint64_t seed, MPI_Comm comm)
{
    void *packed = mc_alloc((size_t)side->bytes);
    int   at     = 0;

    mc_fill(side->buffer, side->room, seed);
    MPI_Pack(side->buffer, side->count, side->type, packed, side->bytes, &at,
             comm);
    mc_check(at == side->bytes, "packed %d of %d bytes", at, side->bytes);
    return packed;
}

/* What `side` must hold after it received `packed` into bytes of 0xEE. */
static void compare(struct side *side, void *packed, const char *what,
                    MPI_Comm comm)
{
    unsigned char *expected = mc_alloc(side->room);
    int            at       = 0;

    memset(expected, 0xEE, side->room);
    MPI_Unpack(packed, side->bytes, &at, expected, side->count, side->type,
               comm);
    mc_check(memcmp(expected, side->buffer, side->room) == 0,
             "%s: %d bytes of data came out wrong", what, side->bytes);
    mc_free(expected);
}

/* How a message travels. */
enum way { WAY_POSTED, WAY_UNEXPECTED, WAY_SYNCHRONOUS, WAY_COUNT };

static void move(const struct mc *mc, struct side *out, struct side *in,
                 enum way way)
{
    int         right = (mc->rank + 1) % mc->size;
    int         left  = (mc->rank + mc->size - 1) % mc->size;
    MPI_Request request[2];

    if (way != WAY_UNEXPECTED) {
        MPI_Irecv(in->buffer, in->count, in->type, left, 1, mc->comm,
                  &request[0]);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, left, 2, NULL, 0, MPI_BYTE, right, 2,
                     mc->comm, MPI_STATUS_IGNORE);
    }
    if (way == WAY_SYNCHRONOUS) {
        MPI_Issend(out->buffer, out->count, out->type, right, 1, mc->comm,
                   &request[1]);
    } else {
        MPI_Isend(out->buffer, out->count, out->type, right, 1, mc->comm,
                  &request[1]);
    }
    if (way == WAY_UNEXPECTED) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, right, 2, NULL, 0, MPI_BYTE, left, 2,
                     mc->comm, MPI_STATUS_IGNORE);
        MPI_Irecv(in->buffer, in->count, in->type, left, 1, mc->comm,
                  &request[0]);
    }
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* `first` on the sending side, `second` on the receiving side. */
static void round_trip(const struct mc *mc, struct side *out, struct side *in,
                       const char *what)
{
    int      left  = (mc->rank + mc->size - 1) % mc->size;
    int      right = (mc->rank + 1) % mc->size;
    enum way way;
    void    *packed;

    for (way = WAY_POSTED; way < WAY_COUNT; way++) {
        packed = packed_pattern(out, mc_seed(left, mc->rank, way), mc->comm);
        mc_fill(out->buffer, out->room, mc_seed(mc->rank, right, way));
        memset(in->buffer, 0xEE, in->room);
        move(mc, out, in, way);
        compare(in, packed, what, mc->comm);
        mc_verify(out->buffer, out->room, mc_seed(mc->rank, right, way),
                  "the sender's own buffer");
        mc_free(packed);
    }
}

/* Units: small ones, and such that the data goes through every protocol. */
static const int units[] = {1, 7, 61, 700, 6000, 50000};
#define UNIT_COUNT (sizeof(units) / sizeof(*units))

static void types_both(const struct mc *mc)
{
    struct side out, in;
    size_t      i, j;
    int         count;

    for (i = 0; i < LAYOUT_COUNT; i++) {
        for (j = 0; j < UNIT_COUNT; j++) {
            count = units[j] > 6000 ? 1 : 3;
            side_open(&out, layouts[i].make(units[j]), count);
            side_open(&in, layouts[i].make(units[j]), count);
            round_trip(mc, &out, &in, layouts[i].name);
            side_close(&out);
            side_close(&in);
        }
    }
}

static void one_side(const struct mc *mc, int sender_contiguous)
{
    struct side layout, bytes;
    size_t      i, j;

    for (i = 0; i < LAYOUT_COUNT; i++) {
        for (j = 0; j < UNIT_COUNT; j++) {
            MPI_Datatype flat;

            side_open(&layout, layouts[i].make(units[j]), 2);
            MPI_Type_contiguous(layout.bytes, MPI_BYTE, &flat);
            side_open(&bytes, flat, 1);
            if (sender_contiguous) {
                round_trip(mc, &bytes, &layout, layouts[i].name);
            } else {
                round_trip(mc, &layout, &bytes, layouts[i].name);
            }
            side_close(&layout);
            side_close(&bytes);
        }
    }
}

static void types_to_contiguous(const struct mc *mc)
{
    one_side(mc, 0);
}

static void types_from_contiguous(const struct mc *mc)
{
    one_side(mc, 1);
}

/* The same 4-byte elements in two different layouts. */
static void types_different(const struct mc *mc)
{
    static const int counts[] = {2, 30, 2000, 100000, 1000000};
    size_t           i;
    struct side      out, in;

    for (i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        side_open(&out, make_vector(counts[i] / 2), 1);
        side_open(&in, make_resized(counts[i]), 1);
        round_trip(mc, &out, &in, "vector to column");
        round_trip(mc, &in, &out, "column to vector");
        side_close(&out);
        side_close(&in);
    }
}

/* Less came than there is room for: the rest of `in` stays 0xEE. */
static void check_partial(const struct side *in, int sent, int first)
{
    int i, place, value, wrong = 0;
    int room = (int)(in->room / sizeof(int));

    for (i = 0; i < sent; i++) { /* 2 of 5, 2, then the next type: 7 ints */
        place = 7 * (i / 4) + 5 * (i % 4 / 2) + i % 2;
        memcpy(&value, in->buffer + (size_t)place * sizeof(int), sizeof(value));
        wrong += value != first + i;
        memset(in->buffer + (size_t)place * sizeof(int), 0xEE, sizeof(int));
    }
    for (i = 0; i < room; i++) {
        memcpy(&value, in->buffer + (size_t)i * sizeof(int), sizeof(value));
        wrong += value != (int)0xEEEEEEEE;
    }
    mc_check(wrong == 0, "%d ints into more room: %d are wrong", sent, wrong);
}

static void types_partial(const struct mc *mc)
{
    int         right = (mc->rank + 1) % mc->size;
    int         left  = (mc->rank + mc->size - 1) % mc->size, i, count;
    int         whole, elements, sent[] = {0, 1, 4, 5, 400, 3999, 60000};
    MPI_Status  status;
    MPI_Request request;
    struct side in;

    for (i = 0; i < (int)(sizeof(sent) / sizeof(*sent)); i++) {
        int *out = calloc((size_t)sent[i] + 1, sizeof(int));

        side_open(&in, make_vector(2), 20000); /* four ints each */
        memset(in.buffer, 0xEE, in.room);
        for (count = 0; count < sent[i]; count++) {
            out[count] = mc->rank + count;
        }
        MPI_Isend(out, sent[i], MPI_INT, right, 1, mc->comm, &request);
        MPI_Recv(in.buffer, in.count, in.type, left, 1, mc->comm, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, in.type, &whole);
        MPI_Get_elements(&status, in.type, &elements);
        mc_check(whole == (sent[i] % 4 ? MPI_UNDEFINED : sent[i] / 4),
                 "%d ints: count %d", sent[i], whole);
        mc_check(elements == sent[i], "%d ints: elements %d", sent[i],
                 elements);
        check_partial(&in, sent[i], left);
        side_close(&in);
        free(out);
    }
}

/* MPI_BOTTOM with absolute addresses, and a type without data. */
static void types_bottom(const struct mc *mc)
{
    int          peer       = (mc->rank + 1) % mc->size;
    int          left       = (mc->rank + mc->size - 1) % mc->size;
    int          lengths[2] = {1, 1}, first = mc->rank, got_first = -1;
    double       second = 0.5 * mc->rank, got_second = -1;
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE}, out, in, empty;
    MPI_Aint     places[2];

    MPI_Get_address(&first, &places[0]);
    MPI_Get_address(&second, &places[1]);
    MPI_Type_create_struct(2, lengths, places, parts, &out);
    MPI_Get_address(&got_first, &places[0]);
    MPI_Get_address(&got_second, &places[1]);
    MPI_Type_create_struct(2, lengths, places, parts, &in);
    MPI_Type_commit(&out);
    MPI_Type_commit(&in);
    MPI_Sendrecv(MPI_BOTTOM, 1, out, peer, 1, MPI_BOTTOM, 1, in, left, 1,
                 mc->comm, MPI_STATUS_IGNORE);
    mc_check(got_first == left && got_second == 0.5 * left,
             "MPI_BOTTOM: got %d and %g", got_first, got_second);

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Sendrecv(&first, 5, empty, peer, 2, &got_first, 5, empty, left, 2,
                 mc->comm, MPI_STATUS_IGNORE);
    mc_check(got_first == left, "a type without data wrote something");
    MPI_Type_free(&empty);
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

const struct mc_case mc_types_cases[] = {
    {"types__both_sides", types_both, 60},
    {"types__to_contiguous", types_to_contiguous, 60},
    {"types__from_contiguous", types_from_contiguous, 60},
    {"types__different", types_different, 60},
    {"types__partial", types_partial, 30},
    {"types__bottom", types_bottom, 30},
    {NULL, NULL, 0}};
