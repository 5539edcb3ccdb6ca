/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives whose blocks differ by process; empty ones and gaps included. */
#include "mpi_util.h"

#include <stdlib.h>
#include <string.h>

static const int scales[] = {0, 1, 3, 100, 2048, 8191, 100000, 1000000};
#define SCALE_COUNT ((int)(sizeof(scales) / sizeof(*scales)))
#define GAP         3

/* Bytes that `from` has for `to`: different for all, sometimes none. */
static int block(int scale, int from, int to)
{
    return (from + 2 * to) % 3 == 2 ? 0 : scale + from + 5 * to;
}

/* Counts and places of the blocks of one side, with a gap after each. */
struct blocks {
    int  *counts;
    int  *places;
    int   total;
    char *buffer;
};

static void blocks_open(struct blocks *b, int size)
{
    b->counts = calloc((size_t)size, sizeof(int));
    b->places = calloc((size_t)size, sizeof(int));
    b->total  = 0;
}

static void blocks_add(struct blocks *b, int i, int count)
{
    b->counts[i] = count;
    b->places[i] = b->total;
    b->total += count + GAP;
}

static void blocks_ready(struct blocks *b)
{
    b->buffer = mc_alloc((size_t)b->total);
    memset(b->buffer, 0xEE, (size_t)b->total);
}

static void blocks_close(struct blocks *b)
{
    free(b->counts);
    free(b->places);
    mc_free(b->buffer);
}

/* The blocks that came from (or are for) `size` ranks, and the gaps. */
static void check_gaps(const struct blocks *b, int size, const char *what)
{
    int i, j;

    for (i = 0; i < size; i++) {
        for (j = 0; j < GAP; j++) {
            mc_check(
                (unsigned char)b->buffer[b->places[i] + b->counts[i] + j] ==
                    0xEE,
                "%s wrote into the gap after block %d", what, i);
        }
    }
}

static void fill_out(const struct mc *mc, struct blocks *b)
{
    int to;

    for (to = 0; to < mc->size; to++) {
        mc_fill(b->buffer + b->places[to], (size_t)b->counts[to],
                mc_seed(mc->rank, to, (uint64_t)b->counts[to]));
    }
}

static void check_in(const struct mc *mc, const struct blocks *b, int to,
                     const char *what)
{
    int from;

    for (from = 0; from < mc->size; from++) {
        mc_verify(b->buffer + b->places[from], (size_t)b->counts[from],
                  mc_seed(from, to, (uint64_t)b->counts[from]), what);
    }
    check_gaps(b, mc->size, what);
}

static void vcoll_alltoallv(const struct mc *mc)
{
    struct blocks out, in;
    int           i, peer;

    for (i = 0; i < SCALE_COUNT; i++) {
        blocks_open(&out, mc->size);
        blocks_open(&in, mc->size);
        for (peer = 0; peer < mc->size; peer++) {
            blocks_add(&out, peer, block(scales[i], mc->rank, peer));
            blocks_add(&in, peer, block(scales[i], peer, mc->rank));
        }
        blocks_ready(&out);
        blocks_ready(&in);
        fill_out(mc, &out);
        MPI_Alltoallv(out.buffer, out.counts, out.places, MPI_BYTE, in.buffer,
                      in.counts, in.places, MPI_BYTE, mc->comm);
        check_in(mc, &in, mc->rank, "alltoallv");
        blocks_close(&out);
        blocks_close(&in);
    }
}

/* The same with a datatype per peer. */
static void vcoll_alltoallw(const struct mc *mc)
{
    MPI_Datatype *types = calloc((size_t)mc->size, sizeof(*types));
    struct blocks out, in;
    int           i, peer;

    for (i = 0; i < SCALE_COUNT; i++) {
        blocks_open(&out, mc->size);
        blocks_open(&in, mc->size);
        for (peer = 0; peer < mc->size; peer++) {
            types[peer] = peer % 2 ? MPI_CHAR : MPI_BYTE;
            blocks_add(&out, peer, block(scales[i], mc->rank, peer));
            blocks_add(&in, peer, block(scales[i], peer, mc->rank));
        }
        blocks_ready(&out);
        blocks_ready(&in);
        fill_out(mc, &out);
        MPI_Alltoallw(out.buffer, out.counts, out.places, types, in.buffer,
                      in.counts, in.places, types, mc->comm);
        check_in(mc, &in, mc->rank, "alltoallw");
        blocks_close(&out);
        blocks_close(&in);
    }
    free(types);
}

/* What each rank contributes is the same whoever gets it: `to` is 0. */
static void vcoll_gatherv(const struct mc *mc)
{
    struct blocks in;
    int           i, root, from, mine;

    for (i = 0; i < SCALE_COUNT; i++) {
        char *out;

        mine = block(scales[i], mc->rank, 0);
        out  = mc_alloc((size_t)mine);
        mc_fill(out, (size_t)mine, mc_seed(mc->rank, 0, (uint64_t)mine));
        blocks_open(&in, mc->size);
        for (from = 0; from < mc->size; from++) {
            blocks_add(&in, from, block(scales[i], from, 0));
        }
        blocks_ready(&in);
        for (root = 0; root < mc->size; root++) {
            MPI_Gatherv(out, mine, MPI_BYTE, in.buffer, in.counts, in.places,
                        MPI_BYTE, root, mc->comm);
            if (mc->rank == root) {
                check_in(mc, &in, 0, "gatherv");
            }
        }
        memset(in.buffer, 0xEE, (size_t)in.total);
        MPI_Allgatherv(out, mine, MPI_BYTE, in.buffer, in.counts, in.places,
                       MPI_BYTE, mc->comm);
        check_in(mc, &in, 0, "allgatherv");
        blocks_close(&in);
        mc_free(out);
    }
}

static void vcoll_scatterv(const struct mc *mc)
{
    struct blocks out;
    int           i, root, to, mine;

    for (i = 0; i < SCALE_COUNT; i++) {
        for (root = 0; root < mc->size; root++) {
            char *in;

            mine = block(scales[i], root, mc->rank);
            in   = mc_alloc((size_t)mine);
            blocks_open(&out, mc->size);
            for (to = 0; to < mc->size; to++) {
                blocks_add(&out, to, block(scales[i], root, to));
            }
            blocks_ready(&out);
            fill_out(mc, &out);
            MPI_Scatterv(out.buffer, out.counts, out.places, MPI_BYTE, in, mine,
                         MPI_BYTE, root, mc->comm);
            mc_verify(in, (size_t)mine, mc_seed(root, mc->rank, (uint64_t)mine),
                      "scatterv");
            blocks_close(&out);
            mc_free(in);
        }
    }
}

/* Collectives with a datatype that has gaps: every second int. */
static void vcoll_datatypes(const struct mc *mc)
{
    enum { COUNT = 50000 };
    int         *buffer = mc_alloc(2 * COUNT * sizeof(int)), i;
    MPI_Datatype type;

    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (i = 0; i < 2 * COUNT; i++) {
        buffer[i] = mc->rank == 0 ? i : -i;
    }
    MPI_Bcast(buffer, 1, type, 0, mc->comm);
    for (i = 0; i < 2 * COUNT; i++) {
        int expected = mc->rank == 0 || i % 2 == 0 ? i : -i;

        mc_check(buffer[i] == expected, "bcast of a vector: element %d is %d",
                 i, buffer[i]);
    }
    MPI_Type_free(&type);
    mc_free(buffer);
}

const struct mc_case mc_vcoll_cases[] = {
    {"vcoll__alltoallv", vcoll_alltoallv, 60},
    {"vcoll__alltoallw", vcoll_alltoallw, 60},
    {"vcoll__gatherv", vcoll_gatherv, 60},
    {"vcoll__scatterv", vcoll_scatterv, 60},
    {"vcoll__datatypes", vcoll_datatypes, 30},
    {NULL, NULL, 0}};
