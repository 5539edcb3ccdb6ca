/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives with equal blocks: every root, 0 bytes to 16 MiB in all. */
#include "mpi_util.h"

#include <stdlib.h>
#include <string.h>

/* 8-byte words per process; the largest makes 16 MiB of one buffer */
static const int words[] = {0,    1,    2,    31,    128,    1000,
                            1025, 8192, 8193, 65536, 500000, 2097152};
#define WORD_COUNT ((int)(sizeof(words) / sizeof(*words)))

/* Calls that gather from all processes keep their whole at 16 MiB. */
static int per_process(const struct mc *mc, int count)
{
    return count * mc->size > 2097152 ? 2097152 / mc->size : count;
}

static void coll_barrier(const struct mc *mc)
{
    double entered, last, left;
    int    i, late;

    for (i = 0; i < 200; i++) {
        MPI_Barrier(mc->comm);
    }
    /* nobody leaves before the last one has entered */
    for (late = 0; late < mc->size; late++) {
        for (entered = mc_now() + (mc->rank == late ? 0.02 : 0);
             mc_now() < entered;) {
        }
        entered = mc_now();
        MPI_Barrier(mc->comm);
        left = mc_now();
        MPI_Allreduce(&entered, &last, 1, MPI_DOUBLE, MPI_MAX, mc->comm);
        mc_check(left >= last, "left a barrier %g s before the last entered",
                 last - left);
    }
}

static void coll_bcast(const struct mc *mc)
{
    int   i, root;
    void *buffer;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)words[i] * 8;

        for (root = 0; root < mc->size; root++) {
            buffer = mc_alloc(length);
            if (mc->rank == root) {
                mc_fill(buffer, length, mc_seed(root, -1, length));
            }
            MPI_Bcast(buffer, (int)length, MPI_BYTE, root, mc->comm);
            mc_verify(buffer, length, mc_seed(root, -1, length), "bcast");
            mc_free(buffer);
        }
    }
}

/* Values whose sum over the ranks is known: rank * a(i) + b(i). */
static void number(int64_t *out, int count, int rank)
{
    int i;

    for (i = 0; i < count; i++) {
        out[i] = (int64_t)rank * (i % 1009 + 1) + i;
    }
}

static void check_sum(const int64_t *in, int count, int ranks, const char *what)
{
    int     i;
    int64_t sum_of_ranks = (int64_t)ranks * (ranks - 1) / 2, expected;

    for (i = 0; i < count; i++) {
        expected = sum_of_ranks * (i % 1009 + 1) + (int64_t)ranks * i;
        if (in[i] != expected) {
            mc_check(0, "%s of %d: element %d is %lld, not %lld", what, count,
                     i, (long long)in[i], (long long)expected);
            return;
        }
    }
}

static void coll_reduce(const struct mc *mc)
{
    int i, root;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t   length = (size_t)words[i] * sizeof(int64_t);
        int64_t *out = mc_alloc(length), *in = mc_alloc(length);

        number(out, words[i], mc->rank);
        for (root = 0; root < mc->size; root++) {
            memset(in, 0xEE, length);
            MPI_Reduce(out, in, words[i], MPI_INT64_T, MPI_SUM, root, mc->comm);
            if (mc->rank == root) {
                check_sum(in, words[i], mc->size, "reduce");
            }
        }
        mc_free(out);
        mc_free(in);
    }
}

static void coll_allreduce(const struct mc *mc)
{
    int i;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t   length = (size_t)words[i] * sizeof(int64_t);
        int64_t *out = mc_alloc(length), *in = mc_alloc(length);

        number(out, words[i], mc->rank);
        MPI_Allreduce(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->comm);
        check_sum(in, words[i], mc->size, "allreduce");
        MPI_Allreduce(MPI_IN_PLACE, out, words[i], MPI_INT64_T, MPI_SUM,
                      mc->comm);
        check_sum(out, words[i], mc->size, "allreduce in place");
        mc_free(out);
        mc_free(in);
    }
}

static void coll_operations(const struct mc *mc)
{
    double value = 1.5 * (mc->rank + 1), low = 0, high = 0;
    int    bits = 1 << mc->rank, all = 0, i;
    struct {
        double value;
        int    rank;
    } mine = {-value, mc->rank}, best = {0, -1};

    MPI_Allreduce(&value, &low, 1, MPI_DOUBLE, MPI_MIN, mc->comm);
    MPI_Allreduce(&value, &high, 1, MPI_DOUBLE, MPI_MAX, mc->comm);
    MPI_Allreduce(&bits, &all, 1, MPI_INT, MPI_BOR, mc->comm);
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, mc->comm);
    mc_check(low == 1.5 && high == 1.5 * mc->size, "min %g, max %g", low, high);
    mc_check(all == (1 << mc->size) - 1, "bits %x", (unsigned)all);
    mc_check(best.rank == mc->size - 1, "minloc says rank %d", best.rank);
    for (i = 0; i < 1000; i++) { /* many small ones */
        int sum = 0, one = i;

        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, mc->comm);
        mc_check(sum == i * mc->size, "allreduce %d gave %d", i, sum);
    }
}

/* x -> a*x + b, composed: associative, and the order matters. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint32_t *left  = in;
    uint32_t       *right = inout;
    int             i;

    (void)type;
    for (i = 0; i < *count; i++) {
        right[2 * i + 1] += right[2 * i] * left[2 * i + 1];
        right[2 * i] *= left[2 * i];
    }
}

static void coll_user_operation(const struct mc *mc)
{
    enum { COUNT = 20000 };
    uint32_t    *out = mc_alloc(8 * COUNT), *in = mc_alloc(8 * COUNT);
    uint32_t     expected[2] = {1, 0}, step[2];
    int          i, n = 1;
    MPI_Op       op;
    MPI_Datatype pair;

    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    MPI_Type_commit(&pair);
    for (i = 0; i < COUNT; i++) {
        out[2 * i]     = (uint32_t)(2 * mc->rank + 3);
        out[2 * i + 1] = (uint32_t)(mc->rank + 7);
    }
    for (i = 0; i < mc->size; i++) {
        step[0] = (uint32_t)(2 * i + 3);
        step[1] = (uint32_t)(i + 7);
        compose(expected, step, &n, &pair);
        memcpy(expected, step, sizeof(step));
    }
    for (n = 1; n <= COUNT; n += n < 100 ? 33 : COUNT - n ? COUNT - n : 1) {
        MPI_Allreduce(out, in, n, pair, op, mc->comm);
        for (i = 0; i < n; i++) {
            mc_check(memcmp(in + 2 * i, expected, 8) == 0,
                     "non-commutative operation of %d, element %d", n, i);
        }
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
    mc_free(out);
    mc_free(in);
}

static void coll_scan(const struct mc *mc)
{
    int i;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t   length = (size_t)words[i] * sizeof(int64_t);
        int64_t *out = mc_alloc(length), *in = mc_alloc(length);

        number(out, words[i], mc->rank);
        MPI_Scan(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->comm);
        check_sum(in, words[i], mc->rank + 1, "scan");
        MPI_Exscan(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->comm);
        if (mc->rank > 0) {
            check_sum(in, words[i], mc->rank, "exscan");
        }
        mc_free(out);
        mc_free(in);
    }
}

static void coll_gather(const struct mc *mc)
{
    int i, root, from;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)per_process(mc, words[i]) * 8;
        char  *out    = mc_alloc(length), *in;

        in = mc_alloc(length * (size_t)mc->size);
        mc_fill(out, length, mc_seed(mc->rank, 0, length));
        for (root = 0; root < mc->size; root++) {
            MPI_Gather(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE,
                       root, mc->comm);
            for (from = 0; from < mc->size && mc->rank == root; from++) {
                mc_verify(in + (size_t)from * length, length,
                          mc_seed(from, 0, length), "gather");
            }
        }
        memset(in, 0xEE, length * (size_t)mc->size);
        MPI_Allgather(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE,
                      mc->comm);
        for (from = 0; from < mc->size; from++) {
            mc_verify(in + (size_t)from * length, length,
                      mc_seed(from, 0, length), "allgather");
        }
        mc_free(out);
        mc_free(in);
    }
}

static void coll_scatter(const struct mc *mc)
{
    int i, root, to;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)per_process(mc, words[i]) * 8;
        char  *out    = mc_alloc(length * (size_t)mc->size);
        char  *in     = mc_alloc(length);

        for (root = 0; root < mc->size; root++) {
            for (to = 0; to < mc->size; to++) {
                mc_fill(out + (size_t)to * length, length,
                        mc_seed(root, to, length));
            }
            memset(in, 0xEE, length);
            MPI_Scatter(mc->rank == root ? out : NULL, (int)length, MPI_BYTE,
                        in, (int)length, MPI_BYTE, root, mc->comm);
            mc_verify(in, length, mc_seed(root, mc->rank, length), "scatter");
        }
        mc_free(out);
        mc_free(in);
    }
}

static void coll_alltoall(const struct mc *mc)
{
    int i, peer;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)per_process(mc, words[i]) * 8;
        char  *out    = mc_alloc(length * (size_t)mc->size);
        char  *in     = mc_alloc(length * (size_t)mc->size);

        for (peer = 0; peer < mc->size; peer++) {
            mc_fill(out + (size_t)peer * length, length,
                    mc_seed(mc->rank, peer, length));
        }
        MPI_Alltoall(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE,
                     mc->comm);
        for (peer = 0; peer < mc->size; peer++) {
            mc_verify(in + (size_t)peer * length, length,
                      mc_seed(peer, mc->rank, length), "alltoall");
        }
        mc_free(out);
        mc_free(in);
    }
}

static void coll_reduce_scatter(const struct mc *mc)
{
    int i, j, *counts = calloc((size_t)mc->size, sizeof(int)), at, total;

    for (i = 0; i < WORD_COUNT; i++) {
        int64_t *out, *in, *whole;

        for (j = 0, total = 0, at = 0; j < mc->size; j++) {
            counts[j] = per_process(mc, words[i]) * (j + 1) / mc->size;
            at        = j < mc->rank ? at + counts[j] : at;
            total += counts[j];
        }
        out   = mc_alloc((size_t)total * 8);
        whole = mc_alloc((size_t)total * 8);
        in    = mc_alloc((size_t)counts[mc->rank] * 8);
        number(out, total, mc->rank);
        MPI_Reduce_scatter(out, in, counts, MPI_INT64_T, MPI_SUM, mc->comm);
        /* put the part where it belongs into the right whole */
        MPI_Allreduce(out, whole, total, MPI_INT64_T, MPI_SUM, mc->comm);
        memcpy(whole + at, in, (size_t)counts[mc->rank] * 8);
        check_sum(whole, total, mc->size, "reduce_scatter");
        mc_free(out);
        mc_free(whole);
        mc_free(in);
    }
    free(counts);
}

const struct mc_case mc_coll_cases[] = {
    {"coll__barrier", coll_barrier, 30},
    {"coll__bcast", coll_bcast, 60},
    {"coll__reduce", coll_reduce, 60},
    {"coll__allreduce", coll_allreduce, 60},
    {"coll__operations", coll_operations, 30},
    {"coll__user_operation", coll_user_operation, 30},
    {"coll__scan", coll_scan, 60},
    {"coll__gather", coll_gather, 60},
    {"coll__scatter", coll_scatter, 60},
    {"coll__alltoall", coll_alltoall, 60},
    {"coll__reduce_scatter", coll_reduce_scatter, 60},
    {NULL, NULL, 0}};
