/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four thread levels of MPI:
 *   mpirun -np N mpi_threads single|funneled|serialized|multiple
 *
 * funneled:   other threads compute while the main thread communicates
 * serialized: calls come from changing threads, one at a time; a request begun
 *             by one thread is finished by another
 * multiple:   threads communicate at the same time
 */
#include "mpi_util.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

static const size_t lengths[] = {0,    8,     200,    2048,   8192,
                                 8193, 40000, 100000, 700000, 3000000};
#define LENGTH_COUNT (sizeof(lengths) / sizeof(*lengths))

struct worker {
    const struct mc *mc;
    int              index;
    pthread_t        thread;
};

/* One message around the ring, verified. `tag` keeps threads apart. */
static void ring_step(const struct mc *mc, int tag, uint64_t index)
{
    size_t      length = lengths[index % LENGTH_COUNT];
    int         right  = (mc->rank + 1) % mc->size;
    int         left   = (mc->rank + mc->size - 1) % mc->size;
    uint64_t    which  = index + ((uint64_t)tag << 20);
    void       *out = mc_alloc(length), *in = mc_alloc(length);
    MPI_Request request[2];

    mc_fill(out, length, mc_seed(mc->rank, right, which));
    MPI_Irecv(in, (int)length, MPI_BYTE, left, tag, mc->comm, &request[0]);
    MPI_Isend(out, (int)length, MPI_BYTE, right, tag, mc->comm, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    mc_verify(in, length, mc_seed(left, mc->rank, which), "ring");
    mc_free(out);
    mc_free(in);
}

static void run_threads(const struct mc *mc, void *(*body)(void *))
{
    struct worker workers[THREADS];
    int           i;

    for (i = 0; i < THREADS; i++) {
        workers[i].mc    = mc;
        workers[i].index = i;
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]) != 0) {
            mc_check(0, "no thread");
            MPI_Abort(MPI_COMM_WORLD, 96);
        }
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

static void threads_alone(const struct mc *mc)
{
    uint64_t i;

    for (i = 0; i < 100; i++) {
        ring_step(mc, 1, i);
    }
}

/* ---- funneled ---- */

static atomic_int funneled_stop;

static void *compute(void *arg)
{
    struct worker *worker = arg;
    uint64_t       state  = (uint64_t)worker->index;
    void          *memory = NULL;

    while (!atomic_load(&funneled_stop)) {
        memory = realloc(memory, mc_random(&state) % 100000 + 1);
        memset(memory, 1, 1);
        sched_yield();
    }
    free(memory);
    return NULL;
}

static void threads_funneled(const struct mc *mc)
{
    struct worker workers[THREADS];
    int           i;

    atomic_store(&funneled_stop, 0);
    for (i = 0; i < THREADS; i++) {
        workers[i].index = i;
        pthread_create(&workers[i].thread, NULL, compute, &workers[i]);
    }
    threads_alone(mc);
    atomic_store(&funneled_stop, 1);
    for (i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

/* ---- serialized ---- */

enum { TURNS = 200 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    int             turn;
    MPI_Request     request[2];
    void           *out, *in;
} baton = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, {0}, 0, 0};

/* Even turns begin an exchange, odd turns (another thread) finish it. */
static void serialized_turn(const struct mc *mc, int turn)
{
    uint64_t index  = (uint64_t)turn / 2;
    size_t   length = lengths[index % LENGTH_COUNT];
    int      right  = (mc->rank + 1) % mc->size;
    int      left   = (mc->rank + mc->size - 1) % mc->size;

    if (turn % 2 == 0) {
        baton.out = mc_alloc(length);
        baton.in  = mc_alloc(length);
        mc_fill(baton.out, length, mc_seed(mc->rank, right, index));
        MPI_Irecv(baton.in, (int)length, MPI_BYTE, left, 1, mc->comm,
                  &baton.request[0]);
        MPI_Isend(baton.out, (int)length, MPI_BYTE, right, 1, mc->comm,
                  &baton.request[1]);
        return;
    }
    MPI_Waitall(2, baton.request, MPI_STATUSES_IGNORE);
    mc_verify(baton.in, length, mc_seed(left, mc->rank, index), "serialized");
    mc_free(baton.out);
    mc_free(baton.in);
    if (turn % 20 == 19) {
        MPI_Barrier(mc->comm);
    }
}

static void *serialized_body(void *arg)
{
    struct worker *worker = arg;
    int            turn;

    for (turn = worker->index; turn < TURNS; turn += THREADS) {
        pthread_mutex_lock(&baton.lock);
        while (baton.turn != turn) {
            pthread_cond_wait(&baton.changed, &baton.lock);
        }
        serialized_turn(worker->mc, turn);
        baton.turn++;
        pthread_cond_broadcast(&baton.changed);
        pthread_mutex_unlock(&baton.lock);
    }
    return NULL;
}

static void threads_serialized(const struct mc *mc)
{
    baton.turn = 0;
    run_threads(mc, serialized_body);
}

/* ---- multiple ---- */

static void *multiple_ring(void *arg)
{
    struct worker *worker = arg;
    uint64_t       i;

    for (i = 0; i < 100; i++) {
        ring_step(worker->mc, 10 + worker->index, i);
    }
    return NULL;
}

static void threads_multiple_tags(const struct mc *mc)
{
    run_threads(mc, multiple_ring);
}

/* Every thread in a communicator of its own, with collectives. */
static MPI_Comm thread_comm[THREADS];

static void *multiple_collectives(void *arg)
{
    struct worker *worker = arg;
    struct mc      mine   = *worker->mc;
    int            i, sum;

    mine.comm = thread_comm[worker->index];
    for (i = 0; i < 50; i++) {
        sum = 0;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, mine.comm);
        mc_check(sum == i * mine.size, "allreduce gave %d", sum);
        MPI_Barrier(mine.comm);
        ring_step(&mine, 1, (uint64_t)i);
    }
    return NULL;
}

static void threads_multiple_comms(const struct mc *mc)
{
    int i;

    for (i = 0; i < THREADS; i++) {
        MPI_Comm_dup(mc->comm, &thread_comm[i]);
    }
    run_threads(mc, multiple_collectives);
    for (i = 0; i < THREADS; i++) {
        MPI_Comm_free(&thread_comm[i]);
    }
}

/* All threads send to and take from all others with wildcards and mprobe. */
static atomic_ullong wild_sum;

static void *multiple_wild(void *arg)
{
    struct worker   *worker = arg;
    const struct mc *mc     = worker->mc;
    int              i, peer;

    for (i = 0; i < 500; i++) {
        uint64_t    out = (uint64_t)(worker->index * 1000 + i), in[1] = {0};
        MPI_Request request;
        MPI_Message message;

        peer = (mc->rank + 1) % mc->size;
        MPI_Isend(&out, 1, MPI_UINT64_T, peer, i, mc->comm, &request);
        if (worker->index % 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mc->comm, &message,
                       MPI_STATUS_IGNORE);
            MPI_Mrecv(in, 1, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, mc->comm,
                     MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        atomic_fetch_add(&wild_sum, in[0]);
    }
    return NULL;
}

static void threads_multiple_wild(const struct mc *mc)
{
    unsigned long long expected = 0;
    int                i, j;

    for (i = 0; i < THREADS; i++) {
        for (j = 0; j < 500; j++) {
            expected += (unsigned)(i * 1000 + j);
        }
    }
    atomic_store(&wild_sum, 0);
    run_threads(mc, multiple_wild);
    mc_check(atomic_load(&wild_sum) == expected,
             "the sum of what came is %llu, not %llu", atomic_load(&wild_sum),
             expected);
}

static const struct mc_case single_cases[] = {
    {"threads__single", threads_alone, 30}, {NULL, NULL, 0}};
static const struct mc_case funneled_cases[] = {
    {"threads__funneled", threads_funneled, 30}, {NULL, NULL, 0}};
static const struct mc_case serialized_cases[] = {
    {"threads__serialized", threads_serialized, 30}, {NULL, NULL, 0}};
static const struct mc_case multiple_cases[] = {
    {"threads__multiple_tags", threads_multiple_tags, 60},
    {"threads__multiple_comms", threads_multiple_comms, 60},
    {"threads__multiple_wild", threads_multiple_wild, 60},
    {NULL, NULL, 0}};

static const struct {
    const char           *name;
    int                   level;
    const struct mc_case *cases;
} levels[] = {{"single", MPI_THREAD_SINGLE, single_cases},
              {"funneled", MPI_THREAD_FUNNELED, funneled_cases},
              {"serialized", MPI_THREAD_SERIALIZED, serialized_cases},
              {"multiple", MPI_THREAD_MULTIPLE, multiple_cases}};

int main(int argc, char **argv)
{
    const struct mc_case *tables[2] = {NULL, NULL};
    int                   i, provided, result, rank;

    for (i = 0; argc == 2 && i < 4 && tables[0] == NULL; i++) {
        tables[0] = strcmp(argv[1], levels[i].name) ? NULL : levels[i].cases;
    }
    if (tables[0] == NULL) {
        fprintf(stderr, "usage: mpi_threads single|funneled|serialized|"
                        "multiple\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, levels[i - 1].level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < levels[i - 1].level && rank == 0) {
        printf("not ok threads__%s - MPI provides level %d only\nend 1\n",
               levels[i - 1].name, provided);
    }
    result = provided < levels[i - 1].level || mc_main(1, argv, tables) != 0;
    MPI_Finalize();
    return result;
}
