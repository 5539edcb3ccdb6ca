/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many operations at once: persistent requests, windows of requests and the
 * calls that wait for one, some or all of them; and what a synchronous send
 * promises.
 */
#include "mpi_util.h"

#include <string.h>

#define ROUNDS 12
#define WINDOW 64

static const size_t mixed_sizes[] = {0,    1,     8,     100,    1024,  8191,
                                     8192, 20000, 65536, 100000, 300000};
#define MIXED_COUNT (sizeof(mixed_sizes) / sizeof(*mixed_sizes))

typedef int (*init_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                       MPI_Request *);

/* Persistent receive and send to the neighbours, started ROUNDS times. */
static void persistent(const struct mc *mc, init_fn init, size_t length)
{
    int         right = (mc->rank + 1) % mc->size, round;
    int         left  = (mc->rank + mc->size - 1) % mc->size;
    void       *out = mc_alloc(length), *in = mc_alloc(length);
    MPI_Request request[2];
    MPI_Status  status[2];
    int         count;

    MPI_Recv_init(in, (int)length, MPI_BYTE, left, 1, mc->comm, &request[0]);
    init(out, (int)length, MPI_BYTE, right, 1, mc->comm, &request[1]);
    for (round = 0; round < ROUNDS; round++) {
        mc_fill(out, length, mc_seed(mc->rank, right, (uint64_t)round));
        memset(in, 0, length);
        if (round % 2 == 0) {
            MPI_Start(&request[0]);
            MPI_Barrier(mc->comm); /* a ready send needs the receive */
            MPI_Start(&request[1]);
        } else {
            MPI_Start(&request[0]);
            MPI_Barrier(mc->comm);
            MPI_Startall(1, &request[1]);
        }
        MPI_Waitall(2, request, status);
        MPI_Get_count(&status[0], MPI_BYTE, &count);
        mc_check(count >= 0 && (size_t)count == length,
                 "persistent receive: count %d, not %zu", count, length);
        mc_verify(in, length, mc_seed(left, mc->rank, (uint64_t)round),
                  "persistent");
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    mc_free(out);
    mc_free(in);
}

static void modes_persistent(const struct mc *mc)
{
    static const init_fn inits[] = {MPI_Send_init, MPI_Bsend_init,
                                    MPI_Ssend_init, MPI_Rsend_init};
    /* To others, over a network that loses, a send may end long after its
     * receive: room for all rounds. To oneself it ends with it. */
    int    rooms  = (mc->size == 1) ? 2 : ROUNDS;
    int    size   = rooms * (300000 + MPI_BSEND_OVERHEAD) + 4096;
    void  *buffer = mc_alloc((size_t)size);
    size_t i, j;

    MPI_Buffer_attach(buffer, size);
    for (i = 0; i < sizeof(inits) / sizeof(*inits); i++) {
        for (j = 0; j < MIXED_COUNT; j++) {
            persistent(mc, inits[i], mixed_sizes[j]);
        }
    }
    MPI_Buffer_detach(&buffer, &size);
    mc_free(buffer);
}

/* A window of messages of mixed sizes from the left to the right. */
struct window {
    MPI_Request      send[WINDOW];
    MPI_Request      receive[WINDOW];
    void            *out[WINDOW];
    void            *in[WINDOW];
    char             seen[WINDOW];
    int              left;
    const struct mc *mc;
};

static size_t window_length(int i)
{
    return mixed_sizes[(size_t)i % MIXED_COUNT];
}

static void window_open(struct window *w, const struct mc *mc)
{
    int right = (mc->rank + 1) % mc->size, i;

    memset(w, 0, sizeof(*w));
    w->mc   = mc;
    w->left = (mc->rank + mc->size - 1) % mc->size;
    for (i = 0; i < WINDOW; i++) {
        w->in[i]  = mc_alloc(window_length(i));
        w->out[i] = mc_alloc(window_length(i));
        mc_fill(w->out[i], window_length(i),
                mc_seed(mc->rank, right, (uint64_t)i));
        /* half of the receives come before their message, half after */
        if (i % 2 == 0) {
            MPI_Irecv(w->in[i], (int)window_length(i), MPI_BYTE, w->left, i,
                      mc->comm, &w->receive[i]);
        }
    }
    for (i = 0; i < WINDOW; i++) {
        MPI_Isend(w->out[i], (int)window_length(i), MPI_BYTE, right, i,
                  mc->comm, &w->send[i]);
    }
    for (i = 1; i < WINDOW; i += 2) {
        MPI_Irecv(w->in[i], (int)window_length(i), MPI_BYTE, w->left, i,
                  mc->comm, &w->receive[i]);
    }
}

static void window_received(struct window *w, int i, MPI_Status *status)
{
    int count;

    mc_check(i >= 0 && i < WINDOW && !w->seen[i], "request %d again", i);
    if (i < 0 || i >= WINDOW) {
        return;
    }
    w->seen[i] = 1;
    MPI_Get_count(status, MPI_BYTE, &count);
    mc_check(status->MPI_TAG == i && (size_t)count == window_length(i),
             "request %d: tag %d count %d", i, status->MPI_TAG, count);
    mc_verify(w->in[i], window_length(i),
              mc_seed(w->left, w->mc->rank, (uint64_t)i), "window");
}

static void window_close(struct window *w)
{
    int i;

    MPI_Waitall(WINDOW, w->send, MPI_STATUSES_IGNORE);
    for (i = 0; i < WINDOW; i++) {
        mc_check(w->seen[i], "message %d was not received", i);
        mc_free(w->in[i]);
        mc_free(w->out[i]);
    }
}

static void modes_waitall(const struct mc *mc)
{
    struct window w;
    MPI_Status    status[WINDOW];
    int           i;

    window_open(&w, mc);
    MPI_Waitall(WINDOW, w.receive, status);
    for (i = 0; i < WINDOW; i++) {
        window_received(&w, i, &status[i]);
    }
    window_close(&w);
}

static void modes_waitany(const struct mc *mc)
{
    struct window w;
    MPI_Status    status;
    int           i, index;

    window_open(&w, mc);
    for (i = 0; i < WINDOW; i++) {
        MPI_Waitany(WINDOW, w.receive, &index, &status);
        window_received(&w, index, &status);
    }
    MPI_Waitany(WINDOW, w.receive, &index, &status);
    mc_check(index == MPI_UNDEFINED, "MPI_Waitany on nothing gave %d", index);
    window_close(&w);
}

static void modes_waitsome(const struct mc *mc)
{
    struct window w;
    MPI_Status    status[WINDOW];
    int           done = 0, count, i, index[WINDOW];

    window_open(&w, mc);
    while (done < WINDOW) {
        MPI_Waitsome(WINDOW, w.receive, &count, index, status);
        mc_check(count >= 1, "MPI_Waitsome gave %d", count);
        if (count < 1) {
            break;
        }
        for (i = 0; i < count; i++) {
            window_received(&w, index[i], &status[i]);
        }
        done += count;
    }
    window_close(&w);
}

static void modes_test(const struct mc *mc)
{
    struct window w;
    MPI_Status    status[WINDOW];
    int           done = 0, count, flag, i, index[WINDOW];

    window_open(&w, mc);
    while (done < WINDOW / 2) {
        MPI_Testany(WINDOW, w.receive, index, &flag, status);
        if (flag) {
            window_received(&w, index[0], status);
            done++;
        }
    }
    while (done < WINDOW - 4) {
        MPI_Testsome(WINDOW, w.receive, &count, index, status);
        for (i = 0; i < count; i++) {
            window_received(&w, index[i], &status[i]);
        }
        done += count;
    }
    for (i = 0; i < WINDOW; i++) {
        flag = w.seen[i];
        while (!flag) {
            MPI_Test(&w.receive[i], &flag, status);
            if (flag) {
                window_received(&w, i, status);
            }
        }
    }
    MPI_Testall(WINDOW, w.receive, &flag, status);
    mc_check(flag, "MPI_Testall on nothing is not done");
    window_close(&w);
}

/* Issend is not done while no receive exists, however often we look. */
static void synchronous_sender(const struct mc *mc, size_t length, int peer)
{
    void       *buffer = mc_alloc(length);
    MPI_Request request;
    double      until = mc_now() + 0.02;
    int         done  = 0;

    mc_fill(buffer, length, mc_seed(mc->rank, peer, length));
    MPI_Issend(buffer, (int)length, MPI_BYTE, peer, 1, mc->comm, &request);
    while (mc_now() < until && !done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    mc_check(!done, "Issend of %zu bytes ended before its receive", length);
    MPI_Send(NULL, 0, MPI_BYTE, peer, 2, mc->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mc_free(buffer);
}

static void modes_synchronous_waits(const struct mc *mc)
{
    static const size_t lengths[] = {0, 8, 2000, 8192, 65536, MC_MIB};
    int                 peer      = mc->rank ^ 1;
    size_t              i;

    if (peer >= mc->size) {
        return;
    }
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        void *buffer = mc_alloc(lengths[i]);

        if (mc->rank % 2 == 0) {
            synchronous_sender(mc, lengths[i], peer);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, mc->comm, MPI_STATUS_IGNORE);
            MPI_Recv(buffer, (int)lengths[i], MPI_BYTE, peer, 1, mc->comm,
                     MPI_STATUS_IGNORE);
            mc_verify(buffer, lengths[i], mc_seed(peer, mc->rank, lengths[i]),
                      "Issend");
        }
        mc_free(buffer);
    }
}

/* A request that is freed at once still delivers. */
static void modes_request_free(const struct mc *mc)
{
    int         right  = (mc->rank + 1) % mc->size, i;
    int         left   = (mc->rank + mc->size - 1) % mc->size;
    size_t      length = 3000;
    void       *out = mc_alloc(length * 32), *in = mc_alloc(length);
    MPI_Request request;

    for (i = 0; i < 32; i++) {
        char *at = (char *)out + (size_t)i * length;

        mc_fill(at, length, mc_seed(mc->rank, right, (uint64_t)i));
        MPI_Isend(at, (int)length, MPI_BYTE, right, i, mc->comm, &request);
        MPI_Request_free(&request);
    }
    for (i = 0; i < 32; i++) {
        MPI_Recv(in, (int)length, MPI_BYTE, left, i, mc->comm,
                 MPI_STATUS_IGNORE);
        mc_verify(in, length, mc_seed(left, mc->rank, (uint64_t)i),
                  "freed request");
    }
    MPI_Barrier(mc->comm); /* everybody has received: `out` is free again */
    mc_free(out);
    mc_free(in);
}

const struct mc_case mc_modes_cases[] = {
    {"modes__persistent", modes_persistent, 60},
    {"modes__waitall", modes_waitall, 30},
    {"modes__waitany", modes_waitany, 30},
    {"modes__waitsome", modes_waitsome, 30},
    {"modes__test", modes_test, 30},
    {"modes__synchronous_waits", modes_synchronous_waits, 30},
    {"modes__request_free", modes_request_free, 30},
    {NULL, NULL, 0}};
