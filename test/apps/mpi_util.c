/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns, guarded memory, sizes and the runner of the MPI test programs. */
#include "mpi_util.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MC_GUARD       64
#define MC_GUARD_BYTE  0xA5
#define MC_PRINTED_MAX 5
#define MC_SIZES_MAX   256

static struct {
    atomic_int  failures; /* of the running case, here */
    const char *name;     /* of the running case */
    int         rank;
    uint64_t    seed;     /* of the whole run */
    unsigned    factor;   /* on the limits of the cases */
    char        why[160]; /* the first failure's words */
} mc_state = {.name = "start"};

double mc_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

uint64_t mc_random(uint64_t *state)
{
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15u);

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

uint64_t mc_seed(int from, int to, uint64_t index)
{
    uint64_t state = mc_state.seed ^ ((uint64_t)(unsigned)from << 48) ^
                     ((uint64_t)(unsigned)to << 32) ^ index;

    return mc_random(&state);
}

int mc_failures(void)
{
    return atomic_load_explicit(&mc_state.failures, memory_order_relaxed);
}

void mc_fail(const char *file, int line, const char *format, ...)
{
    char    text[sizeof(mc_state.why)];
    va_list args;
    int     before;

    before =
        atomic_fetch_add_explicit(&mc_state.failures, 1, memory_order_relaxed);
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (before == 0) {
        memcpy(mc_state.why, text, sizeof(text));
    }
    if (before < MC_PRINTED_MAX) {
        fprintf(stderr, "# rank %d, %s: %s (%s:%d)\n", mc_state.rank,
                mc_state.name, text, file, line);
    }
}

static uint64_t mc_word(uint64_t seed, size_t index)
{
    return (seed + index) * 0x9E3779B97F4A7C15u + (seed >> 7);
}

void mc_fill(void *buffer, size_t length, uint64_t seed)
{
    unsigned char *at = buffer;
    size_t         i;
    uint64_t       word;

    for (i = 0; i < length / sizeof(word); i++) {
        word = mc_word(seed, i);
        memcpy(at + i * sizeof(word), &word, sizeof(word));
    }
    word = mc_word(seed, i);
    if (length % sizeof(word) != 0) {
        memcpy(at + i * sizeof(word), &word, length % sizeof(word));
    }
}

void mc_verify(const void *buffer, size_t length, uint64_t seed,
               const char *what)
{
    const unsigned char *at = buffer;
    size_t               i, part;
    uint64_t             word;

    for (i = 0; i < length; i += part) {
        word = mc_word(seed, i / sizeof(word));
        part = length - i < sizeof(word) ? length - i : sizeof(word);
        if (memcmp(at + i, &word, part) != 0) {
            mc_fail(__FILE__, __LINE__,
                    "%s: wrong data in the word at byte %zu of %zu", what, i,
                    length);
            return;
        }
    }
}

void *mc_alloc(size_t length)
{
    unsigned char *base = malloc(length + 2 * MC_GUARD);

    if (base == NULL) {
        fprintf(stderr, "# no memory for %zu bytes\n", length);
        _exit(99);
    }
    memset(base, MC_GUARD_BYTE, MC_GUARD);
    memcpy(base, &length, sizeof(length));
    memset(base + MC_GUARD + length, MC_GUARD_BYTE, MC_GUARD);
    return base + MC_GUARD;
}

void mc_free(void *buffer)
{
    unsigned char *base = (unsigned char *)buffer - MC_GUARD;
    size_t         length, i;
    int            damaged = 0;

    memcpy(&length, base, sizeof(length));
    for (i = sizeof(length); i < MC_GUARD; i++) {
        damaged |= base[i] != MC_GUARD_BYTE;
    }
    for (i = 0; i < MC_GUARD; i++) {
        damaged |= base[MC_GUARD + length + i] != MC_GUARD_BYTE;
    }
    mc_check(!damaged, "bytes outside a buffer of %zu were written", length);
    free(base);
}

static int mc_size_compare(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return (left > right) - (left < right);
}

static size_t mc_size_add(size_t *sizes, size_t count, size_t size)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (sizes[i] == size) {
            return count;
        }
    }
    sizes[count] = size;
    return count + 1;
}

size_t mc_sizes(size_t max, int coarse, const size_t **sizes_p)
{
    /* headers of 8 to 64 bytes below the usual segment sizes, and fragments */
    static const size_t thresholds[] = {
        24,    56,    60,    92,     100,    120,    172,   200,
        248,   1000,  2036,  4040,   8128,   8176,   8184,  8200,
        8248,  8256,  8264,  12345,  16376,  24576,  49152, 65472,
        65504, 98304, 99999, 262080, 524280, 1000003};
    static size_t list[2][MC_SIZES_MAX];
    size_t       *sizes = list[coarse != 0];
    size_t        i, size, count = 0;

    for (size = 1; size <= 16 * MC_MIB; size <<= coarse ? 4 : 1) {
        count = mc_size_add(sizes, count, size - 1);
        count = mc_size_add(sizes, count, size);
        count = mc_size_add(sizes, count, size + 1);
    }
    if (coarse) {
        count = mc_size_add(sizes, count, 8192);
        count = mc_size_add(sizes, count, 16 * MC_MIB);
    }
    for (i = 0; !coarse && i < sizeof(thresholds) / sizeof(*thresholds); i++) {
        count = mc_size_add(sizes, count, thresholds[i]);
    }
    qsort(sizes, count, sizeof(*sizes), mc_size_compare);
    while (count > 0 && sizes[count - 1] > max) {
        count--;
    }
    *sizes_p = sizes;
    return count;
}

/* A case that hangs: say where, then end; mpirun ends the others. */
static void mc_hung(int signal_number)
{
    static const char words[] = "# hung: ";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0 ||
        write(STDERR_FILENO, mc_state.name, strlen(mc_state.name)) < 0 ||
        write(STDERR_FILENO, "\n", 1) < 0) {
        _exit(98);
    }
    _exit(97);
}

/* A message nobody received means that matching is wrong (or the case). */
static void mc_check_nothing_left(const struct mc *mc)
{
    int        i, flag;
    MPI_Status status;

    MPI_Barrier(mc->comm);
    for (i = 0; i < 10; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mc->comm, &flag, &status);
        mc_check(!flag, "a message from %d with tag %d is left over",
                 status.MPI_SOURCE, status.MPI_TAG);
    }
}

static int mc_run_case(const struct mc_case *one)
{
    struct mc mc;
    int       mine, worst, printer;
    double    start = mc_now();

    atomic_store(&mc_state.failures, 0);
    mc_state.name   = one->name;
    mc_state.why[0] = '\0';
    alarm((unsigned)one->seconds * mc_state.factor);
    MPI_Comm_dup(MPI_COMM_WORLD, &mc.comm);
    MPI_Comm_rank(mc.comm, &mc.rank);
    MPI_Comm_size(mc.comm, &mc.size);
    one->run(&mc);
    mc_check_nothing_left(&mc);
    MPI_Comm_free(&mc.comm);

    /* the lowest rank that failed tells why */
    mine = mc_failures() != 0 ? mc.rank : mc.size;
    MPI_Allreduce(&mine, &printer, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    worst = printer < mc.size;
    if (worst && printer == mc.rank) {
        printf("not ok %s - rank %d: %s\n", one->name, mc.rank, mc_state.why);
    } else if (!worst && mc.rank == 0) {
        printf("ok %s # %.2f s\n", one->name, mc_now() - start);
    }
    fflush(stdout);
    alarm(0);
    return worst;
}

static int mc_wanted(const char *name, int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strncmp(name, argv[i], strlen(argv[i])) == 0) {
            return 1;
        }
    }
    return argc < 2;
}

int mc_main(int argc, char **argv, const struct mc_case *const *tables)
{
    const struct mc_case *one;
    const char           *seed   = getenv("APPS_SEED");
    const char           *factor = getenv("APPS_TIMEOUT");
    int                   ran = 0, failed = 0;

    signal(SIGALRM, mc_hung);
    mc_state.seed   = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    mc_state.factor = factor != NULL ? (unsigned)strtoul(factor, NULL, 0) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &mc_state.rank);
    for (; *tables != NULL; tables++) {
        for (one = *tables; one->name != NULL; one++) {
            if (mc_wanted(one->name, argc, argv)) {
                failed += mc_run_case(one);
                ran++;
            }
        }
    }
    if (mc_state.rank == 0) {
        printf("end %d\n", ran);
        fflush(stdout);
    }
    return failed != 0 || ran == 0;
}
