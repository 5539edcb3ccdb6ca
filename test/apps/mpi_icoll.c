/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-blocking collectives: each alone to 16 MiB, then many at once in one
 * communicator, mixed with point-to-point messages.
 */
#include "mpi_util.h"

#include <stdlib.h>
#include <string.h>

static const int words[] = {0, 1, 31, 1000, 1025, 8193, 65536, 2097152};
#define WORD_COUNT ((int)(sizeof(words) / sizeof(*words)))

static int per_process(const struct mc *mc, int count)
{
    return count * mc->size > 2097152 ? 2097152 / mc->size : count;
}

/* Wait in turn by MPI_Wait and by MPI_Test. */
static void finish(MPI_Request *request, int by_test)
{
    int done = 0;

    while (by_test && !done) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
    if (!by_test) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

static void icoll_barrier(const struct mc *mc)
{
    MPI_Request request;
    int         i;

    for (i = 0; i < 100; i++) {
        MPI_Ibarrier(mc->comm, &request);
        finish(&request, i % 2);
    }
}

static void icoll_bcast(const struct mc *mc)
{
    MPI_Request request;
    int         i, root;

    for (i = 0; i < WORD_COUNT; i++) {
        for (root = 0; root < mc->size; root++) {
            size_t length = (size_t)words[i] * 8;
            void  *buffer = mc_alloc(length);

            if (mc->rank == root) {
                mc_fill(buffer, length, mc_seed(root, -1, length));
            }
            MPI_Ibcast(buffer, (int)length, MPI_BYTE, root, mc->comm, &request);
            finish(&request, root % 2);
            mc_verify(buffer, length, mc_seed(root, -1, length), "ibcast");
            mc_free(buffer);
        }
    }
}

static void check_value(const int64_t *in, int count, int64_t factor,
                        const char *what)
{
    int i;

    for (i = 0; i < count; i++) {
        if (in[i] != factor * (i + 1)) {
            mc_check(0, "%s of %d: element %d is %lld", what, count, i,
                     (long long)in[i]);
            return;
        }
    }
}

static void icoll_reductions(const struct mc *mc)
{
    int64_t     all  = (int64_t)mc->size * (mc->size + 1) / 2;
    int64_t     upto = (int64_t)(mc->rank + 1) * (mc->rank + 2) / 2;
    MPI_Request request;
    int         i, j;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t   length = (size_t)words[i] * sizeof(int64_t);
        int64_t *out = mc_alloc(length), *in = mc_alloc(length);

        for (j = 0; j < words[i]; j++) {
            out[j] = (int64_t)(mc->rank + 1) * (j + 1);
        }
        MPI_Iallreduce(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->comm,
                       &request);
        finish(&request, 0);
        check_value(in, words[i], all, "iallreduce");
        MPI_Ireduce(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->size - 1,
                    mc->comm, &request);
        finish(&request, 1);
        if (mc->rank == mc->size - 1) {
            check_value(in, words[i], all, "ireduce");
        }
        MPI_Iscan(out, in, words[i], MPI_INT64_T, MPI_SUM, mc->comm, &request);
        finish(&request, 0);
        check_value(in, words[i], upto, "iscan");
        mc_free(out);
        mc_free(in);
    }
}

static void icoll_gather(const struct mc *mc)
{
    MPI_Request request;
    int         i, from;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)per_process(mc, words[i]) * 8;
        char  *out    = mc_alloc(length);
        char  *in     = mc_alloc(length * (size_t)mc->size);

        mc_fill(out, length, mc_seed(mc->rank, 0, length));
        MPI_Igather(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE, 0,
                    mc->comm, &request);
        finish(&request, 1);
        for (from = 0; from < mc->size && mc->rank == 0; from++) {
            mc_verify(in + (size_t)from * length, length,
                      mc_seed(from, 0, length), "igather");
        }
        memset(in, 0xEE, length * (size_t)mc->size);
        MPI_Iallgather(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE,
                       mc->comm, &request);
        finish(&request, 0);
        for (from = 0; from < mc->size; from++) {
            mc_verify(in + (size_t)from * length, length,
                      mc_seed(from, 0, length), "iallgather");
        }
        /* and back: everybody gets its own part again */
        memset(out, 0xEE, length);
        MPI_Iscatter(in, (int)length, MPI_BYTE, out, (int)length, MPI_BYTE, 0,
                     mc->comm, &request);
        finish(&request, 1);
        mc_verify(out, length, mc_seed(mc->rank, 0, length), "iscatter");
        mc_free(out);
        mc_free(in);
    }
}

static void icoll_alltoall(const struct mc *mc)
{
    MPI_Request request;
    int         i, peer;

    for (i = 0; i < WORD_COUNT; i++) {
        size_t length = (size_t)per_process(mc, words[i]) * 8;
        char  *out    = mc_alloc(length * (size_t)mc->size);
        char  *in     = mc_alloc(length * (size_t)mc->size);

        for (peer = 0; peer < mc->size; peer++) {
            mc_fill(out + (size_t)peer * length, length,
                    mc_seed(mc->rank, peer, length));
        }
        MPI_Ialltoall(out, (int)length, MPI_BYTE, in, (int)length, MPI_BYTE,
                      mc->comm, &request);
        finish(&request, i % 2);
        for (peer = 0; peer < mc->size; peer++) {
            mc_verify(in + (size_t)peer * length, length,
                      mc_seed(peer, mc->rank, length), "ialltoall");
        }
        mc_free(out);
        mc_free(in);
    }
}

/* Many in flight at once, finished in another order than they were begun. */
static void icoll_many(const struct mc *mc)
{
    enum { MANY = 24, LENGTH = 20000 };
    MPI_Request request[MANY + 2];
    char       *buffer[MANY];
    int         i, right = (mc->rank + 1) % mc->size, in = -1;
    int         left = (mc->rank + mc->size - 1) % mc->size;

    MPI_Irecv(&in, 1, MPI_INT, left, 3, mc->comm, &request[MANY]);
    for (i = 0; i < MANY; i++) {
        buffer[i] = mc_alloc(LENGTH);
        if (i % mc->size == mc->rank) {
            mc_fill(buffer[i], LENGTH, mc_seed(mc->rank, i, LENGTH));
        }
        MPI_Ibcast(buffer[i], LENGTH, MPI_BYTE, i % mc->size, mc->comm,
                   &request[i]);
    }
    MPI_Isend(&mc->rank, 1, MPI_INT, right, 3, mc->comm, &request[MANY + 1]);
    for (i = MANY + 1; i >= 0; i--) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    mc_check(in == left, "the message between collectives brought %d", in);
    for (i = 0; i < MANY; i++) {
        mc_verify(buffer[i], LENGTH, mc_seed(i % mc->size, i, LENGTH), "many");
        mc_free(buffer[i]);
    }
}

const struct mc_case mc_icoll_cases[] = {
    {"icoll__barrier", icoll_barrier, 30},
    {"icoll__bcast", icoll_bcast, 60},
    {"icoll__reductions", icoll_reductions, 60},
    {"icoll__gather", icoll_gather, 60},
    {"icoll__alltoall", icoll_alltoall, 60},
    {"icoll__many", icoll_many, 30},
    {NULL, NULL, 0}};
