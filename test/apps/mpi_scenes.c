/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What real programs do besides communicating, one scene per run:
 *   mpirun -np N mpi_scenes
 *       first|compute|fork|huge|finalize|unreceived|remap|recycle
 *
 * Each scene runs MPI_Init itself, because some of them are about the first
 * message or the end. Prints "ok NAME" or "not ok NAME - why", then "end 1".
 */
#include "mpi_util.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPUTE_SECONDS 2.0
#define AT_ONCE_SECONDS 0.5

static void compute(double seconds)
{
    double until = mc_now() + seconds;

    while (mc_now() < until) {
    }
}

/*
 * Rank 0 sends `length` bytes and computes 2 s without MPI; rank 1 waits in
 * MPI_Recv. The data begins with the time at which the send was called.
 */
static void send_and_compute(const struct mc *mc, size_t length, int tag)
{
    char  *buffer = mc_alloc(length);
    double sent, took;

    if (mc->rank == 0) {
        mc_fill(buffer, length, 1);
        sent = mc_now();
        memcpy(buffer, &sent, sizeof(sent));
        MPI_Send(buffer, (int)length, MPI_BYTE, 1, tag, mc->comm);
        compute(COMPUTE_SECONDS);
    } else if (mc->rank == 1) {
        MPI_Recv(buffer, (int)length, MPI_BYTE, 0, tag, mc->comm,
                 MPI_STATUS_IGNORE);
        memcpy(&sent, buffer, sizeof(sent));
        took = mc_now() - sent;
        fprintf(stderr, "# %zu bytes after %.6f s\n", length, took);
        mc_check(took < AT_ONCE_SECONDS, "%zu bytes came %.3f s after MPI_Send",
                 length, took);
    }
    mc_free(buffer);
}

/* The first message of the program, when nothing is connected yet. */
static void scene_first(const struct mc *mc)
{
    send_and_compute(mc, 8, 1);
}

/* Connected, of sizes that travel by different protocols; the last is large */
static void scene_compute(const struct mc *mc)
{
    static const size_t lengths[] = {8, 4000, 8000, 1000000};
    size_t              i;

    MPI_Barrier(mc->comm);
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        send_and_compute(mc, lengths[i], 2);
    }
}

static void exchange(const struct mc *mc, size_t length, uint64_t index)
{
    int   right = (mc->rank + 1) % mc->size;
    int   left  = (mc->rank + mc->size - 1) % mc->size;
    void *out = mc_alloc(length), *in = mc_alloc(length);

    mc_fill(out, length, mc_seed(mc->rank, right, index));
    MPI_Sendrecv(out, (int)length, MPI_BYTE, right, 3, in, (int)length,
                 MPI_BYTE, left, 3, mc->comm, MPI_STATUS_IGNORE);
    mc_verify(in, length, mc_seed(left, mc->rank, index), "exchange");
    mc_free(out);
    mc_free(in);
}

/* A child that ends in one of the ways a child can end. */
static void child(int way)
{
    pid_t pid    = fork();
    int   status = -1;

    if (pid == 0) {
        if (way == 0) {
            _exit(7);
        } else if (way == 1) {
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        }
        exit(7); /* runs the library's exit handlers in the child */
    }
    mc_check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
                 WEXITSTATUS(status) == 7,
             "child of way %d: status %x", way, (unsigned)status);
}

static void scene_fork(const struct mc *mc)
{
    static const size_t lengths[] = {0, 8, 5000, 70000, 2000000};
    uint64_t            i;
    int                 way;
    FILE               *pipe;
    char                line[64] = "";

    for (way = 0; way < 6; way++) {
        if (way < 3) {
            child(way);
        } else if (way == 3) {
            mc_check(system("exit 3") >> 8 == 3, "system()");
        } else if (way == 4) {
            pipe = popen("echo hello", "r");
            mc_check(pipe != NULL && fgets(line, sizeof(line), pipe) &&
                         strcmp(line, "hello\n") == 0,
                     "popen() gave '%s'", line);
            if (pipe != NULL) {
                pclose(pipe);
            }
        }
        for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            exchange(mc, lengths[i], i);
        }
        MPI_Barrier(mc->comm);
    }
}

/*
 * More than 4 GiB of address space that shows one piece of memory again and
 * again. The piece's length divides no power of two, so data that ends up off
 * by 2^31 or 2^32 bytes is noticed.
 */
#define PIECE       (67 * MC_MIB)
#define PIECE_COUNT 62

static char *repeated_map(const void *pattern)
{
    int   fd = memfd_create("huge", MFD_CLOEXEC);
    char *base;
    int   i;

    base = mmap(NULL, PIECE_COUNT * PIECE, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fd < 0 || ftruncate(fd, (off_t)PIECE) != 0 || base == MAP_FAILED) {
        return NULL;
    }
    for (i = 0; i < PIECE_COUNT; i++) {
        if (mmap(base + (size_t)i * PIECE, PIECE, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
            return NULL;
        }
    }
    close(fd);
    memcpy(base, pattern, PIECE);
    return base;
}

static void huge_receive(const struct mc *mc, MPI_Datatype whole,
                         const void *pattern, size_t length)
{
    char      *buffer = mc_alloc(length);
    MPI_Status status;
    MPI_Count  bytes;
    size_t     at, part;

    MPI_Recv(buffer, 1, whole, 0, 4, mc->comm, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    mc_check((size_t)bytes == length, "%lld bytes, not %zu", (long long)bytes,
             length);
    for (at = 0; at < length; at += part) {
        part = length - at < PIECE ? length - at : PIECE;
        mc_check(memcmp(buffer + at, pattern, part) == 0,
                 "wrong data between bytes %zu and %zu", at, at + part);
    }
    mc_free(buffer);
}

/* One message of more than 4 GiB from rank 0 to rank 1. */
static void scene_huge(const struct mc *mc)
{
    const size_t length    = 4097 * MC_MIB + 12345;
    int          parts[2]  = {4097, 12345};
    MPI_Aint     places[2] = {0, (MPI_Aint)(4097 * MC_MIB)};
    MPI_Datatype types[2]  = {MPI_DATATYPE_NULL, MPI_BYTE}, whole;
    void        *pattern   = mc_alloc(PIECE);
    char        *map;

    MPI_Type_contiguous((int)MC_MIB, MPI_BYTE, &types[0]);
    MPI_Type_create_struct(2, parts, places, types, &whole);
    MPI_Type_commit(&whole);
    mc_fill(pattern, PIECE, 4);
    if (mc->rank == 0) {
        map = repeated_map(pattern);
        mc_check(map != NULL, "no address space of 4 GiB");
        if (map == NULL) {
            MPI_Abort(mc->comm, 95);
        }
        MPI_Send(map, 1, whole, 1, 4, mc->comm);
        munmap(map, PIECE_COUNT * PIECE);
    } else if (mc->rank == 1) {
        huge_receive(mc, whole, pattern, length);
    }
    mc_free(pattern);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&whole);
}

/*
 * Rank 0 is in MPI_Finalize at once. The others go on for a second, with one
 * another, and receive only then what rank 0 had sent them.
 */
static void scene_finalize(const struct mc *mc)
{
    enum { COUNT = 200 };
    int i, peer, value;

    if (mc->rank == 0) {
        for (i = 0; i < COUNT; i++) {
            for (peer = 1; peer < mc->size; peer++) {
                MPI_Send(&i, 1, MPI_INT, peer, 5, mc->comm);
            }
        }
        return;
    }
    /* ranks 1 and 2, if both are there, talk while they wait */
    peer = mc->size > 2 && mc->rank < 3 ? 3 - mc->rank : MPI_PROC_NULL;
    for (i = 0; i < 20; i++) {
        value = i;
        compute(0.05);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, peer, 6, peer, 6, mc->comm,
                             MPI_STATUS_IGNORE);
        mc_check(value == i, "exchange %d brought %d", i, value);
    }
    for (i = 0; i < COUNT; i++) {
        value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, 5, mc->comm, MPI_STATUS_IGNORE);
        mc_check(value == i, "message %d of rank 0 is %d", i, value);
    }
}

/* Messages that nobody receives must not keep MPI_Finalize from ending. */
static void scene_unreceived(const struct mc *mc)
{
    int i, right = (mc->rank + 1) % mc->size;

    for (i = 0; i < 500; i++) {
        MPI_Send(&i, 1, MPI_INT, right, 7, mc->comm);
    }
}

static char *map_pages(void *where, size_t length)
{
    char *pages = mmap(where, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return pages;
}

/* Does the runtime tell our library what it unmaps? Others have no such
 * names. */
static void check_reports(void)
{
    bool (*is_reported)(void) =
        (bool (*)(void))dlsym(RTLD_DEFAULT, "ucsi_unmap_is_reported");
    _Atomic uint64_t *clock = dlsym(RTLD_DEFAULT, "ucsi_unmap_clock");
    char             *pages = map_pages(NULL, MC_MIB);
    uint64_t          before;

    if ((is_reported == NULL) || (clock == NULL)) {
        munmap(pages, MC_MIB);
        return;
    }
    mc_check(is_reported(), "Open MPI does not say that it reports unmaps");
    before = *clock;
    munmap(pages, MC_MIB);
    mc_check(*clock != before, "munmap was not reported");
    before = *clock;
    pages  = malloc(64 * MC_MIB);
    mc_fill(pages, 1, 1); /* or the compiler leaves out both calls */
    free(pages);
    mc_check(*clock != before, "free was not reported");
}

/* Buffers that are unmapped and mapped again at the same place, between
 * messages: what the library keeps about the old pages must not be used. */
static void scene_remap(const struct mc *mc)
{
    enum { COUNT = 60 };
    const size_t length = 3 * MC_MIB + 4096;
    int          peer = mc->rank ^ 1, again = 0;
    char        *buffer = NULL, *before;

    check_reports();
    for (int i = 0; (peer < mc->size) && (i < COUNT); i++) {
        before = buffer;
        buffer = map_pages(before, length);
        again += (buffer == before);
        if ((mc->rank + i) % 2 == 0) {
            mc_fill(buffer, length, mc_seed(mc->rank, peer, (uint64_t)i));
            MPI_Send(buffer, (int)length, MPI_BYTE, peer, 8, mc->comm);
        } else {
            MPI_Recv(buffer, (int)length, MPI_BYTE, peer, 8, mc->comm,
                     MPI_STATUS_IGNORE);
            mc_verify(buffer, length, mc_seed(peer, mc->rank, (uint64_t)i),
                      "after mapping again");
        }
        munmap(buffer, length);
    }
    mc_check((peer >= mc->size) || (again > COUNT / 2),
             "the place was the same %d times only", again);
}

/* What programs do: malloc, some messages in both directions, free. The next
 * buffer often lies where the last one was; every third is so large that malloc
 * maps it and free unmaps it. Whether the library kept something meanwhile is
 * for its counters to say (run_mpi_forced.sh). */
static void scene_recycle(const struct mc *mc)
{
    enum { COUNT = 12, MESSAGES = 4 };
    static const size_t lengths[] = {MC_MIB, 5 * MC_MIB, 33 * MC_MIB};
    int                 peer      = mc->rank ^ 1;

    check_reports();
    for (int i = 0; (peer < mc->size) && (i < COUNT); i++) {
        size_t length = lengths[i % 3] + (size_t)i;
        char  *buffer = malloc(length);

        for (int k = i * MESSAGES; k < (i + 1) * MESSAGES; k++) {
            if ((mc->rank + k) % 2 == 0) {
                mc_fill(buffer, length, mc_seed(mc->rank, peer, (uint64_t)k));
                MPI_Send(buffer, (int)length, MPI_BYTE, peer, 9, mc->comm);
            } else {
                MPI_Recv(buffer, (int)length, MPI_BYTE, peer, 9, mc->comm,
                         MPI_STATUS_IGNORE);
                mc_verify(buffer, length, mc_seed(peer, mc->rank, (uint64_t)k),
                          "in a buffer like the last one");
            }
        }
        free(buffer);
    }
}

static const struct {
    const char *name;
    void (*run)(const struct mc *mc);
} scenes[] = {{"first", scene_first},       {"compute", scene_compute},
              {"fork", scene_fork},         {"huge", scene_huge},
              {"finalize", scene_finalize}, {"unreceived", scene_unreceived},
              {"remap", scene_remap},       {"recycle", scene_recycle}};

int main(int argc, char **argv)
{
    struct mc mc = {.comm = MPI_COMM_WORLD};
    size_t    i, count = sizeof(scenes) / sizeof(*scenes);

    for (i = 0; argc == 2 && i < count; i++) {
        if (strcmp(argv[1], scenes[i].name) == 0) {
            break;
        }
    }
    if (argc != 2 || i == count) {
        fprintf(stderr, "usage: mpi_scenes SCENE\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(mc.comm, &mc.rank);
    MPI_Comm_size(mc.comm, &mc.size);
    scenes[i].run(&mc);
    MPI_Finalize();
    /* the exit status tells of every rank, the line of the rank that checks */
    if (mc_failures() != 0) {
        printf("not ok scene__%s - rank %d says why above\n", scenes[i].name,
               mc.rank);
    } else if (mc.rank == 1) {
        printf("ok scene__%s\nend 1\n", scenes[i].name);
    }
    return mc_failures() != 0;
}
