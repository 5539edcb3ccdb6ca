/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking before receiving (probe in its four forms), and cancelling. */
#include "mpi_util.h"

#include <string.h>

static const size_t lengths[] = {0,      1,      8,      100,   1024,
                                 4096,   8191,   8192,   16384, 65536,
                                 200000, MC_MIB, 5000000};
#define LENGTH_COUNT (sizeof(lengths) / sizeof(*lengths))

/* The left neighbour's messages are found by `look`, then received. */
typedef void (*look_fn)(const struct mc *mc, int left, uint64_t index);

static void check_probed(MPI_Status *status, int from, uint64_t index)
{
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    mc_check(status->MPI_SOURCE == from && status->MPI_TAG == (int)index &&
                 (size_t)count == lengths[index],
             "probe says source %d tag %d count %d, not %d %d %zu",
             status->MPI_SOURCE, status->MPI_TAG, count, from, (int)index,
             lengths[index]);
}

static void look_probe(const struct mc *mc, int left, uint64_t index)
{
    void      *in = mc_alloc(lengths[index]);
    MPI_Status status;

    MPI_Probe(index % 2 ? MPI_ANY_SOURCE : left,
              index % 3 ? MPI_ANY_TAG : (int)index, mc->comm, &status);
    check_probed(&status, left, index);
    MPI_Recv(in, (int)lengths[index], MPI_BYTE, left, (int)index, mc->comm,
             &status);
    check_probed(&status, left, index);
    mc_verify(in, lengths[index], mc_seed(left, mc->rank, index), "probed");
    mc_free(in);
}

static void look_iprobe(const struct mc *mc, int left, uint64_t index)
{
    void      *in = mc_alloc(lengths[index]);
    MPI_Status status;
    int        flag = 0, twice;

    while (!flag) {
        MPI_Iprobe(left, (int)index, mc->comm, &flag, &status);
    }
    check_probed(&status, left, index);
    MPI_Iprobe(left, (int)index, mc->comm, &twice, &status);
    mc_check(twice, "iprobe took the message away");
    MPI_Recv(in, (int)lengths[index], MPI_BYTE, left, (int)index, mc->comm,
             &status);
    mc_verify(in, lengths[index], mc_seed(left, mc->rank, index), "iprobed");
    mc_free(in);
}

static void look_mprobe(const struct mc *mc, int left, uint64_t index)
{
    void       *in = mc_alloc(lengths[index]);
    MPI_Message message;
    MPI_Status  status;

    MPI_Mprobe(left, MPI_ANY_TAG, mc->comm, &message, &status);
    check_probed(&status, left, index);
    MPI_Mrecv(in, (int)lengths[index], MPI_BYTE, &message, &status);
    mc_check(message == MPI_MESSAGE_NULL, "MPI_Mrecv left the handle");
    check_probed(&status, left, index);
    mc_verify(in, lengths[index], mc_seed(left, mc->rank, index), "mprobed");
    mc_free(in);
}

static void look_improbe(const struct mc *mc, int left, uint64_t index)
{
    void       *in = mc_alloc(lengths[index]);
    MPI_Message message;
    MPI_Status  status;
    MPI_Request request;
    int         flag = 0;

    while (!flag) {
        MPI_Improbe(MPI_ANY_SOURCE, (int)index, mc->comm, &flag, &message,
                    &status);
    }
    check_probed(&status, left, index);
    /* it is taken out: nobody else may find it */
    MPI_Iprobe(left, (int)index, mc->comm, &flag, MPI_STATUS_IGNORE);
    mc_check(!flag, "a message that improbe took is still found");
    MPI_Imrecv(in, (int)lengths[index], MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
    check_probed(&status, left, index);
    mc_verify(in, lengths[index], mc_seed(left, mc->rank, index), "improbed");
    mc_free(in);
}

static void run_look(const struct mc *mc, look_fn look)
{
    int         right = (mc->rank + 1) % mc->size;
    int         left  = (mc->rank + mc->size - 1) % mc->size;
    MPI_Request request[LENGTH_COUNT];
    void       *out[LENGTH_COUNT];
    uint64_t    i;

    for (i = 0; i < LENGTH_COUNT; i++) {
        out[i] = mc_alloc(lengths[i]);
        mc_fill(out[i], lengths[i], mc_seed(mc->rank, right, i));
        MPI_Isend(out[i], (int)lengths[i], MPI_BYTE, right, (int)i, mc->comm,
                  &request[i]);
    }
    for (i = 0; i < LENGTH_COUNT; i++) {
        look(mc, left, i);
    }
    MPI_Waitall(LENGTH_COUNT, request, MPI_STATUSES_IGNORE);
    for (i = 0; i < LENGTH_COUNT; i++) {
        mc_free(out[i]);
    }
}

static void probe_probe(const struct mc *mc)
{
    run_look(mc, look_probe);
}

static void probe_iprobe(const struct mc *mc)
{
    run_look(mc, look_iprobe);
}

static void probe_mprobe(const struct mc *mc)
{
    run_look(mc, look_mprobe);
}

static void probe_improbe(const struct mc *mc)
{
    run_look(mc, look_improbe);
}

/* Two messages with one tag: the first is held by mprobe, received last. */
static void probe_held(const struct mc *mc)
{
    int    right = (mc->rank + 1) % mc->size;
    int    left  = (mc->rank + mc->size - 1) % mc->size;
    size_t i;

    for (i = 1; i < LENGTH_COUNT; i++) {
        size_t      length = lengths[i];
        void       *out = mc_alloc(2 * length), *in = mc_alloc(length);
        MPI_Request request[2];
        MPI_Message message;

        mc_fill(out, length, mc_seed(mc->rank, right, 1));
        mc_fill((char *)out + length, length, mc_seed(mc->rank, right, 2));
        MPI_Isend(out, (int)length, MPI_BYTE, right, 1, mc->comm, &request[0]);
        MPI_Isend((char *)out + length, (int)length, MPI_BYTE, right, 1,
                  mc->comm, &request[1]);
        MPI_Mprobe(left, 1, mc->comm, &message, MPI_STATUS_IGNORE);
        MPI_Recv(in, (int)length, MPI_BYTE, left, 1, mc->comm,
                 MPI_STATUS_IGNORE);
        mc_verify(in, length, mc_seed(left, mc->rank, 2), "second message");
        MPI_Mrecv(in, (int)length, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        mc_verify(in, length, mc_seed(left, mc->rank, 1), "held message");
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        mc_free(out);
        mc_free(in);
    }
}

/* A synchronous send that was only probed is not done. */
static void probe_is_no_receive(const struct mc *mc)
{
    int         peer = mc->rank ^ 1, done = 0, value = mc->rank;
    double      until = mc_now() + 0.05;
    MPI_Request request;

    if (peer >= mc->size) {
        return;
    }
    if (mc->rank % 2 == 0) {
        MPI_Issend(&value, 1, MPI_INT, peer, 1, mc->comm, &request);
        MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, mc->comm, MPI_STATUS_IGNORE);
        while (!done && mc_now() < until) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        mc_check(!done, "a probe completed a synchronous send");
        MPI_Send(NULL, 0, MPI_BYTE, peer, 3, mc->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Probe(peer, 1, mc->comm, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, peer, 2, mc->comm);
        MPI_Recv(NULL, 0, MPI_BYTE, peer, 3, mc->comm, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, peer, 1, mc->comm, MPI_STATUS_IGNORE);
        mc_check(value == peer, "wrong data %d", value);
    }
}

/* Half of 100 receives are cancelled; the others get the messages. */
static void probe_cancel(const struct mc *mc)
{
    enum { COUNT = 100 };
    int         right = (mc->rank + 1) % mc->size;
    int         left  = (mc->rank + mc->size - 1) % mc->size;
    MPI_Request request[COUNT];
    MPI_Status  status;
    int         value[COUNT], i, cancelled, out;

    for (i = 0; i < COUNT; i++) {
        value[i] = -1;
        MPI_Irecv(&value[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, 1,
                  mc->comm, &request[i]);
    }
    for (i = 0; i < COUNT; i += 2) {
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        mc_check(cancelled, "receive %d was not cancelled", i);
    }
    MPI_Barrier(mc->comm);
    for (i = 1; i < COUNT; i += 2) {
        out = 1000 * mc->rank + i;
        MPI_Send(&out, 1, MPI_INT, right, 1, mc->comm);
    }
    for (i = 1; i < COUNT; i += 2) {
        MPI_Wait(&request[i], &status);
        MPI_Test_cancelled(&status, &cancelled);
        mc_check(!cancelled && value[i] == 1000 * left + i,
                 "receive %d: cancelled %d, value %d", i, cancelled, value[i]);
        mc_check(value[i - 1] == -1, "a cancelled receive got data");
    }
}

/* Cancelling a receive that is complete already does nothing. */
static void probe_cancel_late(const struct mc *mc)
{
    int         peer = (mc->rank + 1) % mc->size, value = -1, cancelled;
    int         left = (mc->rank + mc->size - 1) % mc->size;
    MPI_Request request;
    MPI_Status  status;
    int         done = 0;

    MPI_Irecv(&value, 1, MPI_INT, left, 1, mc->comm, &request);
    MPI_Send(&mc->rank, 1, MPI_INT, peer, 1, mc->comm);
    while (!done) {
        MPI_Request_get_status(request, &done, &status);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    mc_check(!cancelled && value == left,
             "a finished receive: cancelled %d, value %d", cancelled, value);
}

const struct mc_case mc_probe_cases[] = {
    {"probe__probe", probe_probe, 30},
    {"probe__iprobe", probe_iprobe, 30},
    {"probe__mprobe", probe_mprobe, 30},
    {"probe__improbe", probe_improbe, 30},
    {"probe__held", probe_held, 30},
    {"probe__is_no_receive", probe_is_no_receive, 30},
    {"probe__cancel", probe_cancel, 30},
    {"probe__cancel_late", probe_cancel_late, 30},
    {NULL, NULL, 0}};
