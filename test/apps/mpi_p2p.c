/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message at a time, every mode and every size, each ordered pair of ranks.
 *
 *   posted:      receiver  Irecv, "go" ->        Wait
 *                sender             -> go, send
 *   unexpected:  sender    Isend, "there" ->     Wait
 *                receiver           -> there, Recv
 */
#include "mpi_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_DATA 7
#define TAG_GO   8

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                        MPI_Request *);

struct mode {
    const char *name;
    send_fn     send;
    isend_fn    isend; /* NULL: the receive must be posted before */
    int         coarse;
};

/* One message from `from` to `to`; `index` makes its data its own. */
struct transfer {
    const struct mode *mode;
    int                from, to;
    size_t             length;
    uint64_t           index;
};

static void check_status(MPI_Status *status, const struct transfer *t)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    mc_check(status->MPI_SOURCE == t->from && status->MPI_TAG == TAG_DATA &&
                 count >= 0 && (size_t)count == t->length,
             "status says source %d tag %d count %d, not %d %d %zu",
             status->MPI_SOURCE, status->MPI_TAG, count, t->from, TAG_DATA,
             t->length);
}

static void send_posted(const struct mc *mc, const struct transfer *t,
                        void *buffer)
{
    MPI_Recv(NULL, 0, MPI_BYTE, t->to, TAG_GO, mc->comm, MPI_STATUS_IGNORE);
    t->mode->send(buffer, (int)t->length, MPI_BYTE, t->to, TAG_DATA, mc->comm);
}

static void send_unexpected(const struct mc *mc, const struct transfer *t,
                            void *buffer)
{
    MPI_Request request;

    t->mode->isend(buffer, (int)t->length, MPI_BYTE, t->to, TAG_DATA, mc->comm,
                   &request);
    MPI_Send(NULL, 0, MPI_BYTE, t->to, TAG_GO, mc->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(const struct mc *mc, const struct transfer *t, int posted,
                    void *buffer)
{
    MPI_Status  status;
    MPI_Request request;

    if (posted) {
        MPI_Irecv(buffer, (int)t->length, MPI_BYTE, t->from, TAG_DATA, mc->comm,
                  &request);
        MPI_Send(NULL, 0, MPI_BYTE, t->from, TAG_GO, mc->comm);
        MPI_Wait(&request, &status);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, t->from, TAG_GO, mc->comm,
                 MPI_STATUS_IGNORE);
        MPI_Recv(buffer, (int)t->length, MPI_BYTE, t->from, TAG_DATA, mc->comm,
                 &status);
    }
    check_status(&status, t);
    mc_verify(buffer, t->length, mc_seed(t->from, t->to, t->index),
              t->mode->name);
}

static void transfer(const struct mc *mc, const struct transfer *t, int posted)
{
    void *buffer;

    if (mc->rank != t->from && mc->rank != t->to) {
        return;
    }
    buffer = mc_alloc(t->length);
    if (mc->rank == t->from) {
        mc_fill(buffer, t->length, mc_seed(t->from, t->to, t->index));
        if (posted) {
            send_posted(mc, t, buffer);
        } else {
            send_unexpected(mc, t, buffer);
        }
        /* sending must not change the data */
        mc_verify(buffer, t->length, mc_seed(t->from, t->to, t->index),
                  "the sender's own buffer");
    } else {
        memset(buffer, 0xEE, t->length);
        receive(mc, t, posted, buffer);
    }
    mc_free(buffer);
}

/* What t says, between every two ranks and both ways. */
static void every_pair(const struct mc *mc, struct transfer *t, int posted)
{
    int pair;

    for (pair = 0; pair < mc->size * mc->size; pair++) {
        t->from = pair / mc->size;
        t->to   = pair % mc->size;
        if (t->from != t->to) {
            transfer(mc, t, posted);
        }
    }
}

static void all_pairs(const struct mc *mc, const struct mode *mode, int posted)
{
    struct transfer t = {.mode = mode};
    const size_t   *sizes;
    size_t          i, count;

    if (!posted && mode->isend == NULL) {
        return;
    }
    count = mc_sizes(16 * MC_MIB, mode->coarse, &sizes);
    for (i = 0; i < count; i++) {
        t.length = sizes[i];
        t.index  = 2 * i + (unsigned)posted;
        every_pair(mc, &t, posted);
    }
}

static void run_mode(const struct mc *mc, const struct mode *mode)
{
    all_pairs(mc, mode, 1);
    all_pairs(mc, mode, 0);
}

static void p2p_standard_posted(const struct mc *mc)
{
    const struct mode mode = {"MPI_Send", MPI_Send, MPI_Isend, 0};

    all_pairs(mc, &mode, 1);
}

static void p2p_standard_unexpected(const struct mc *mc)
{
    const struct mode mode = {"MPI_Isend", MPI_Send, MPI_Isend, 0};

    all_pairs(mc, &mode, 0);
}

static void p2p_synchronous(const struct mc *mc)
{
    const struct mode mode = {"MPI_Ssend", MPI_Ssend, MPI_Issend, 1};

    run_mode(mc, &mode);
}

static void p2p_ready(const struct mc *mc)
{
    const struct mode mode = {"MPI_Rsend", MPI_Rsend, NULL, 1};

    run_mode(mc, &mode);
}

static void p2p_buffered(const struct mc *mc)
{
    const struct mode mode = {"MPI_Bsend", MPI_Bsend, MPI_Ibsend, 1};
    /* a sender may be ahead by one message to each peer, and by gaps */
    int   size   = (mc->size + 1) * (17 * (int)MC_MIB);
    void *buffer = mc_alloc((size_t)size), *back;

    MPI_Buffer_attach(buffer, size);
    run_mode(mc, &mode);
    MPI_Buffer_detach(&back, &size);
    mc_check(back == buffer, "MPI_Buffer_detach gave another buffer");
    mc_free(buffer);
}

/* Both ways at once between neighbours of a ring, sizes to 16 MiB. */
static void p2p_sendrecv(const struct mc *mc)
{
    int           right = (mc->rank + 1) % mc->size;
    int           left  = (mc->rank + mc->size - 1) % mc->size;
    const size_t *sizes;
    size_t        i, count = mc_sizes(16 * MC_MIB, 1, &sizes);
    MPI_Status    status;
    int           got;

    for (i = 0; i < count; i++) {
        void *out = mc_alloc(sizes[i]), *in = mc_alloc(sizes[i]);

        mc_fill(out, sizes[i], mc_seed(mc->rank, right, i));
        MPI_Sendrecv(out, (int)sizes[i], MPI_BYTE, right, 3, in, (int)sizes[i],
                     MPI_BYTE, left, 3, mc->comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        mc_check((size_t)got == sizes[i], "count %d, not %zu", got, sizes[i]);
        mc_verify(in, sizes[i], mc_seed(left, mc->rank, i), "MPI_Sendrecv");

        /* what was received goes back to where it came from */
        MPI_Sendrecv_replace(in, (int)sizes[i], MPI_BYTE, left, 4, right, 4,
                             mc->comm, &status);
        mc_verify(in, sizes[i], mc_seed(mc->rank, right, i),
                  "MPI_Sendrecv_replace");
        mc_free(out);
        mc_free(in);
    }
}

/* To oneself: posted before, and unexpected. */
static void p2p_self(const struct mc *mc)
{
    const size_t *sizes;
    size_t        i, count = mc_sizes(16 * MC_MIB, 0, &sizes);
    MPI_Request   request[2];
    int           first;

    for (i = 0; i < 2 * count; i++) {
        size_t length = sizes[i / 2];
        void  *out = mc_alloc(length), *in = mc_alloc(length);

        first = (int)(i & 1); /* 0: the receive comes first */
        mc_fill(out, length, mc_seed(mc->rank, mc->rank, i));
        if (first == 0) {
            MPI_Irecv(in, (int)length, MPI_BYTE, mc->rank, 5, mc->comm,
                      &request[0]);
        }
        MPI_Isend(out, (int)length, MPI_BYTE, mc->rank, 5, mc->comm,
                  &request[1]);
        if (first == 1) {
            MPI_Irecv(in, (int)length, MPI_BYTE, mc->rank, 5, mc->comm,
                      &request[0]);
        }
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        mc_verify(in, length, mc_seed(mc->rank, mc->rank, i), "to oneself");
        mc_free(out);
        mc_free(in);
    }
}

/* Buffers at every alignment, lengths that are odd to every unit. */
static void p2p_alignment(const struct mc *mc)
{
    static const size_t lengths[] = {1, 7, 63, 129, 4095, 8191, 65537};
    const size_t        room      = 65537 + 128;
    int                 right     = (mc->rank + 1) % mc->size;
    int                 left      = (mc->rank + mc->size - 1) % mc->size;
    unsigned char      *out = mc_alloc(room), *in = mc_alloc(room);
    size_t              i, shift;

    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        for (shift = 0; shift < 64; shift += 1 + shift / 8) {
            mc_fill(out + shift, lengths[i], mc_seed(mc->rank, right, shift));
            memset(in, 0, room);
            MPI_Sendrecv(out + shift, (int)lengths[i], MPI_BYTE, right, 6,
                         in + 64 - shift, (int)lengths[i], MPI_BYTE, left, 6,
                         mc->comm, MPI_STATUS_IGNORE);
            mc_verify(in + 64 - shift, lengths[i],
                      mc_seed(left, mc->rank, shift), "unaligned buffers");
            mc_check(in[63 - shift] == 0 && in[64 - shift + lengths[i]] == 0,
                     "a byte next to the message was written");
        }
    }
    mc_free(out);
    mc_free(in);
}

static void p2p_null(const struct mc *mc)
{
    MPI_Status status;
    int        count, value = 4711;

    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, mc->comm);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, mc->comm, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    mc_check(status.MPI_SOURCE == MPI_PROC_NULL && count == 0 && value == 4711,
             "MPI_PROC_NULL: source %d count %d", status.MPI_SOURCE, count);
}

const struct mc_case mc_p2p_cases[] = {
    {"p2p__standard_posted", p2p_standard_posted, 60},
    {"p2p__standard_unexpected", p2p_standard_unexpected, 60},
    {"p2p__synchronous", p2p_synchronous, 60},
    {"p2p__ready", p2p_ready, 60},
    {"p2p__buffered", p2p_buffered, 60},
    {"p2p__sendrecv", p2p_sendrecv, 60},
    {"p2p__self", p2p_self, 60},
    {"p2p__alignment", p2p_alignment, 60},
    {"p2p__null", p2p_null, 20},
    {NULL, NULL, 0}};
