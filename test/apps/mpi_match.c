/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: wildcards, order, receives out of order, very many unexpected
 * messages, truncation, communicators that must not see one another's messages.
 */
#include "mpi_util.h"

#include <stdlib.h>
#include <string.h>

#define UNEXPECTED 100000
#define ORDER      400

static const size_t mixed_sizes[] = {0,     8,      40,   1000,   8192, 9000,
                                     30000, 100000, 4096, 600000, 16,   65536};
#define MIXED_COUNT (sizeof(mixed_sizes) / sizeof(*mixed_sizes))

static size_t mixed_length(uint64_t i)
{
    return mixed_sizes[i % MIXED_COUNT];
}

/* Messages of one sender with one tag: small and large in one order. */
static void match_order(const struct mc *mc)
{
    int          right = (mc->rank + 1) % mc->size;
    int          left  = (mc->rank + mc->size - 1) % mc->size;
    void       **out = calloc(ORDER, sizeof(*out)), *in = mc_alloc(600000);
    MPI_Request *request = calloc(ORDER, sizeof(*request));
    MPI_Status   status;
    uint64_t     i;
    int          count;

    for (i = 0; i < ORDER; i++) {
        out[i] = mc_alloc(mixed_length(i));
        mc_fill(out[i], mixed_length(i), mc_seed(mc->rank, right, i));
        MPI_Isend(out[i], (int)mixed_length(i), MPI_BYTE, right, 9, mc->comm,
                  &request[i]);
    }
    for (i = 0; i < ORDER; i++) {
        MPI_Recv(in, 600000, MPI_BYTE, i % 3 == 0 ? MPI_ANY_SOURCE : left,
                 i % 5 == 0 ? MPI_ANY_TAG : 9, mc->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        mc_check((size_t)count == mixed_length(i),
                 "message %d has %d bytes, not %zu", (int)i, count,
                 mixed_length(i));
        mc_verify(in, mixed_length(i), mc_seed(left, mc->rank, i), "order");
    }
    MPI_Waitall(ORDER, request, MPI_STATUSES_IGNORE);
    for (i = 0; i < ORDER; i++) {
        mc_free(out[i]);
    }
    free(out);
    free(request);
    mc_free(in);
}

/* Everybody sends to rank 0, which takes from anybody with any tag. */
static void match_wildcards(const struct mc *mc)
{
    const int per_sender = 300;
    int       i, count, length, *next;
    void     *buffer = mc_alloc(100000);

    if (mc->rank != 0) {
        for (i = 0; i < per_sender; i++) {
            length = (int)mixed_length((uint64_t)i) % 100000;
            mc_fill(buffer, (size_t)length, mc_seed(mc->rank, 0, (uint64_t)i));
            MPI_Send(buffer, length, MPI_BYTE, 0, i, mc->comm);
        }
        mc_free(buffer);
        return;
    }
    next = calloc((size_t)mc->size, sizeof(*next));
    for (i = 0; i < per_sender * (mc->size - 1); i++) {
        MPI_Status status;
        int        from, expected;

        MPI_Recv(buffer, 100000, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 mc->comm, &status);
        from     = status.MPI_SOURCE;
        expected = next[from]++;
        length   = (int)mixed_length((uint64_t)expected) % 100000;
        MPI_Get_count(&status, MPI_BYTE, &count);
        mc_check(status.MPI_TAG == expected && count == length,
                 "from %d: tag %d count %d, not %d %d", from, status.MPI_TAG,
                 count, expected, length);
        mc_verify(buffer, (size_t)length, mc_seed(from, 0, (uint64_t)expected),
                  "any source");
    }
    free(next);
    mc_free(buffer);
}

/*
 * Among posted receives that match, the oldest gets the message, be it exact
 * or wild: 4 posted, exact and wild alternating, and 4 messages.
 */
static void match_posted_order(const struct mc *mc)
{
    int         peer = mc->rank ^ 1, i, round;
    int         value[4], tags[4] = {5, MPI_ANY_TAG, 5, MPI_ANY_TAG};
    MPI_Request request[4];

    if (peer >= mc->size) {
        return;
    }
    for (round = 0; round < 50; round++) {
        for (i = 0; i < 4; i++) {
            value[i] = -1;
            MPI_Irecv(&value[i], 1, MPI_INT,
                      (i + round) % 2 ? MPI_ANY_SOURCE : peer,
                      tags[(i + round / 2) % 4], mc->comm, &request[i]);
        }
        for (i = 0; i < 4; i++) {
            MPI_Send(&i, 1, MPI_INT, peer, 5, mc->comm);
        }
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        for (i = 0; i < 4; i++) {
            mc_check(value[i] == i, "round %d: receive %d got message %d",
                     round, i, value[i]);
        }
    }
}

/* Receives in another order than the messages came in. */
static void out_of_order(const struct mc *mc, int count, int shuffled)
{
    int          peer    = mc->rank ^ 1, i, swap, other;
    int         *order   = calloc((size_t)count, sizeof(*order));
    uint64_t     state   = mc_seed(0, 0, (uint64_t)count), got;
    MPI_Request *request = calloc((size_t)count, sizeof(*request));
    uint64_t    *value   = calloc((size_t)count, sizeof(*value));

    for (i = 0; i < count; i++) {
        order[i] = count - 1 - i;
    }
    for (i = count - 1; shuffled && i > 0; i--) {
        other        = (int)(mc_random(&state) % (unsigned)(i + 1));
        swap         = order[i];
        order[i]     = order[other];
        order[other] = swap;
    }
    for (i = 0; i < count; i++) {
        value[i] = mc_seed(mc->rank, peer, (uint64_t)i);
        MPI_Isend(&value[i], 1, MPI_UINT64_T, peer, i, mc->comm, &request[i]);
    }
    for (i = 0; i < count; i++) {
        MPI_Recv(&got, 1, MPI_UINT64_T, peer, order[i], mc->comm,
                 MPI_STATUS_IGNORE);
        mc_check(got == mc_seed(peer, mc->rank, (uint64_t)order[i]),
                 "tag %d brought the data of another", order[i]);
    }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    free(order);
    free(request);
    free(value);
}

static void match_out_of_order(const struct mc *mc)
{
    if ((mc->rank ^ 1) < mc->size) {
        out_of_order(mc, 3000, 0);
        out_of_order(mc, 3000, 1);
    }
}

/* Rank 0 first takes the last of UNEXPECTED small messages of each rank. */
static void unexpected_receive(const struct mc *mc, int from, int any)
{
    int      i, tag;
    uint64_t value[2];

    for (i = 0; i < UNEXPECTED / mc->size; i++) {
        tag = any ? MPI_ANY_TAG : i;
        MPI_Recv(value, 2, MPI_UINT64_T, from, tag, mc->comm,
                 MPI_STATUS_IGNORE);
        mc_check(value[0] == mc_seed(from, 0, (uint64_t)i) &&
                     value[1] == (uint64_t)i,
                 "unexpected message %d of rank %d is wrong", i, from);
    }
}

/* Started, not finished: where every send asks first it waits for its receive.
 */
static void unexpected_send(const struct mc *mc, int last)
{
    static uint64_t    values[UNEXPECTED + 1][2];
    static MPI_Request requests[UNEXPECTED + 1];
    int                i, count = UNEXPECTED / mc->size;

    for (i = 0; i < count; i++) {
        values[i][0] = mc_seed(mc->rank, 0, (uint64_t)i);
        values[i][1] = (uint64_t)i;
        MPI_Isend(values[i], 2, MPI_UINT64_T, 0, i, mc->comm, &requests[i]);
    }
    MPI_Isend(values[count - 1], 2, MPI_UINT64_T, 0, last, mc->comm,
              &requests[count]);
    MPI_Waitall(count + 1, requests, MPI_STATUSES_IGNORE);
}

static void match_unexpected(const struct mc *mc)
{
    int      from, last = 1 << 20;
    uint64_t value[2];

    if (mc->rank != 0) {
        unexpected_send(mc, last);
        return;
    }
    for (from = 1; from < mc->size; from++) {
        MPI_Recv(value, 2, MPI_UINT64_T, from, last, mc->comm,
                 MPI_STATUS_IGNORE);
        mc_check(value[1] == (uint64_t)(UNEXPECTED / mc->size - 1),
                 "the control message is wrong");
    }
    for (from = mc->size - 1; from > 0; from--) {
        unexpected_receive(mc, from, from % 2);
    }
}

/* Too long for its receive: an error there, and the next one is fine. */
static void truncate_one(const struct mc *mc, size_t length, int posted)
{
    int            peer = mc->rank ^ 1, code, class, next = -1;
    size_t         room   = length / 2;
    unsigned char *buffer = mc_alloc(mc->rank % 2 ? room : length);
    MPI_Request    request;

    if (mc->rank % 2 == 0) {
        mc_fill(buffer, length, 1);
        MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, mc->comm, MPI_STATUS_IGNORE);
        MPI_Isend(buffer, (int)length, MPI_BYTE, peer, 2, mc->comm, &request);
        MPI_Send(&mc->rank, 1, MPI_INT, peer, 3, mc->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        if (posted) {
            MPI_Irecv(buffer, (int)room, MPI_BYTE, peer, 2, mc->comm, &request);
            MPI_Send(NULL, 0, MPI_BYTE, peer, 1, mc->comm);
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Recv(&next, 1, MPI_INT, peer, 3, mc->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(NULL, 0, MPI_BYTE, peer, 1, mc->comm);
            MPI_Recv(&next, 1, MPI_INT, peer, 3, mc->comm, MPI_STATUS_IGNORE);
            code = MPI_Recv(buffer, (int)room, MPI_BYTE, peer, 2, mc->comm,
                            MPI_STATUS_IGNORE);
        }
        MPI_Error_class(code, &class);
        mc_check(class == MPI_ERR_TRUNCATE,
                 "%zu bytes into %zu (posted %d): error class %d", length, room,
                 posted, class);
        mc_check(next == peer, "the message after a truncated one is wrong");
    }
    mc_free(buffer); /* and nothing lies behind the receiver's buffer */
}

static void match_truncation(const struct mc *mc)
{
    static const size_t lengths[] = {1, 8, 100, 4096, 8192, 65536, 3 * MC_MIB};
    size_t              i;

    if ((mc->rank ^ 1) >= mc->size) {
        return;
    }
    MPI_Comm_set_errhandler(mc->comm, MPI_ERRORS_RETURN);
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        truncate_one(mc, lengths[i], 1);
        truncate_one(mc, lengths[i], 0);
    }
}

/* The same source and tag in three communicators, received last one first. */
static void match_communicators(const struct mc *mc)
{
    MPI_Comm    comm[3];
    MPI_Request request[3];
    int         i, peer, rank, size, value[3], got;

    MPI_Comm_dup(mc->comm, &comm[0]);
    MPI_Comm_dup(comm[0], &comm[1]);
    MPI_Comm_split(mc->comm, 0, mc->size - mc->rank, &comm[2]);
    for (i = 0; i < 3; i++) {
        MPI_Comm_rank(comm[i], &rank);
        MPI_Comm_size(comm[i], &size);
        mc_check(rank == (i < 2 ? mc->rank : mc->size - 1 - mc->rank),
                 "rank %d in communicator %d", rank, i);
        value[i] = 1000 * i + rank;
        MPI_Isend(&value[i], 1, MPI_INT, (rank + 1) % size, 4, comm[i],
                  &request[i]);
    }
    for (i = 2; i >= 0; i--) {
        MPI_Comm_rank(comm[i], &rank);
        peer = (rank + mc->size - 1) % mc->size;
        MPI_Recv(&got, 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : peer,
                 i == 0 ? MPI_ANY_TAG : 4, comm[i], MPI_STATUS_IGNORE);
        mc_check(got == 1000 * i + peer, "communicator %d: got %d", i, got);
    }
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    for (i = 0; i < 3; i++) {
        MPI_Comm_free(&comm[i]);
    }
}

/* Odd and even ranks apart, then an inter-communicator between them. */
static void match_split(const struct mc *mc)
{
    MPI_Comm half, inter;
    int      rank, size, sum = 0, remote, got = -1;

    MPI_Comm_split(mc->comm, mc->rank % 2, mc->rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    MPI_Allreduce(&mc->rank, &sum, 1, MPI_INT, MPI_SUM, half);
    mc_check(sum == size * (mc->rank % 2) + size * (size - 1),
             "the sum in one half is %d", sum);
    if (mc->size == 1) { /* no odd one: nobody to speak with */
        MPI_Comm_free(&half);
        return;
    }
    MPI_Intercomm_create(half, 0, mc->comm, 1 - mc->rank % 2, 11, &inter);
    MPI_Comm_remote_size(inter, &remote);
    if (rank < remote) {
        MPI_Sendrecv(&mc->rank, 1, MPI_INT, rank, 12, &got, 1, MPI_INT, rank,
                     12, inter, MPI_STATUS_IGNORE);
        mc_check(got == (mc->rank ^ 1), "inter-communicator: got %d", got);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

const struct mc_case mc_match_cases[] = {
    {"match__order", match_order, 60},
    {"match__wildcards", match_wildcards, 60},
    {"match__posted_order", match_posted_order, 30},
    {"match__out_of_order", match_out_of_order, 60},
    {"match__unexpected_100k", match_unexpected, 60},
    {"match__truncation", match_truncation, 30},
    {"match__communicators", match_communicators, 30},
    {"match__split", match_split, 30},
    {NULL, NULL, 0}};
