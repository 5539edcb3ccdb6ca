/* SPDX-License-Identifier: BSD-3-Clause */
/* test/lib/test_internal.h - what the runner's own files share. */
#ifndef TEST_LIB_TEST_INTERNAL_H_
#define TEST_LIB_TEST_INTERNAL_H_

#include <stddef.h>

#include "lib/test.h"

enum { TEST_NAME_BYTES_MAX = 256, TEST_REASON_BYTES_MAX = 1024 };

/* One test function with one parameter: what a filter selects. */
struct test_instance {
    const struct test_suite *suite;
    const struct test_case  *test_case;
    const struct test_param *param; /* NULL: the suite has none */
    char                     name[TEST_NAME_BYTES_MAX];
};

enum test_outcome { TEST_PASSED, TEST_FAILED, TEST_SKIPPED };

struct test_record {
    const struct test_instance *instance;
    enum test_outcome           outcome;
    uint64_t                    seed; /* what --seed must be to see it again */
    double                      seconds;
    char                        reason[TEST_REASON_BYTES_MAX]; /* "": passed */
};

struct test_options {
    const char *program; /* argv[0], for messages */
    const char *filter;
    const char *tap_path;
    const char *junit_path;
    uint64_t    seed;
    unsigned    repeat_count;
    unsigned    job_count;
    double      timeout_multiplier;
    bool        list;
    bool        shuffle;
    bool        no_fork;
    bool        keep_env;
};

/* What the arguments ask for. @return false after a message on stderr. */
bool test_options_parse(int argc, char **argv, struct test_options *options);

/* Does the name pass "POSITIVE[:POSITIVE][-NEGATIVE[:NEGATIVE]]"? */
bool test_filter_match(const char *filter, const char *name);

/* Run one test, in a process of its own unless options say otherwise.
 * @param result  Its instance and seed say which one; gets all else. */
void test_run_instance(const struct test_options *options,
                       struct test_record        *result);

/* Memory that processes forked later share; all zero. Freed by munmap. */
void *test_shared_create(size_t size_bytes);

/* run   of index 0 to count - 1, in any of the processes
 * done  here, of one after the other, when it was run */
struct test_jobs {
    void (*run)(void *arg, size_t index);
    void (*done)(void *arg, size_t index);
    void  *arg;
    size_t count;
};

/* Do each once, in order, in so many processes side by side; with one, in this
 * one. What they leave behind is in shared memory. If they end before all was
 * run, done() is called for the rest, too. */
void test_jobs_run(const struct test_jobs *jobs, unsigned process_count);

/* splitmix64: the number after *state, which moves on. */
uint64_t test_random_mix(uint64_t *state);
/* A test's seed from the run's seed and the test's name. */
uint64_t test_random_seed_of(uint64_t seed, const char *name);
/* Start the stream behind test_random(). */
void test_random_start(uint64_t seed);

/* Write all results to a file. @return false after a message on stderr. */
bool test_report_tap(const char *path, const struct test_record *results,
                     size_t count);
bool test_report_junit(const char *path, const struct test_record *results,
                       size_t count);

#endif
