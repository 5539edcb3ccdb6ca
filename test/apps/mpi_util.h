/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MPI test programs share: a table of cases, checks that name the
 * rank and the reason, seeded patterns, buffers with guard zones, and a list of
 * message sizes around every threshold a library may have.
 *
 * Uses MPI and libc only, so the same program runs on any MPI and on any UCX.
 */
#ifndef TEST_APPS_MPI_UTIL_H_
#define TEST_APPS_MPI_UTIL_H_

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define MC_KIB ((size_t)1 << 10)
#define MC_MIB ((size_t)1 << 20)

/* Where a case runs: a communicator of its own, and this process's place. */
struct mc {
    MPI_Comm comm;
    int      rank;
    int      size;
};

struct mc_case {
    const char *name; /* topic__case; NULL ends a table */
    void (*run)(const struct mc *mc);
    int seconds; /* a case that takes longer has hung */
};

extern const struct mc_case mc_p2p_cases[];
extern const struct mc_case mc_modes_cases[];
extern const struct mc_case mc_match_cases[];
extern const struct mc_case mc_probe_cases[];
extern const struct mc_case mc_types_cases[];
extern const struct mc_case mc_coll_cases[];
extern const struct mc_case mc_vcoll_cases[];
extern const struct mc_case mc_icoll_cases[];

/*
 * Run the cases whose names start with one of the arguments, or all of them.
 * Rank 0 prints "ok NAME" or "not ok NAME - why" and at last "end N".
 * Returns the process's exit status: 0 if every case passed on every rank.
 */
int mc_main(int argc, char **argv, const struct mc_case *const *tables);

/* Count a failure of the running case; the first few are printed. */
void mc_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Failures of the running case so far, in this process. Thread safe. */
int mc_failures(void);

#define mc_check(_condition, ...)                                              \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            mc_fail(__FILE__, __LINE__, __VA_ARGS__);                          \
        }                                                                      \
    } while (0)

/* A seed that differs for every run, sender, receiver and message. */
uint64_t mc_seed(int from, int to, uint64_t index);

/* The next number of a generator that lives in *state. */
uint64_t mc_random(uint64_t *state);

/* Write the pattern of `seed`, and check it: says where it first differs. */
void mc_fill(void *buffer, size_t length, uint64_t seed);
void mc_verify(const void *buffer, size_t length, uint64_t seed,
               const char *what);

/*
 * Memory between two guard zones. mc_free reports a failure if something was
 * written outside. The caller owns the memory. Never returns NULL.
 */
void *mc_alloc(size_t length);
void  mc_free(void *buffer);

/*
 * Message sizes in bytes from 0 to `max`: every power of two, one less and one
 * more, and the thresholds of the known protocols, in rising order. With
 * `coarse`, only every fourth power. The list belongs to the library.
 */
size_t mc_sizes(size_t max, int coarse, const size_t **sizes_p);

/* Monotonic seconds; the same clock in all processes of a machine. */
double mc_now(void);

#endif
