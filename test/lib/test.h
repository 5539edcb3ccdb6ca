/* SPDX-License-Identifier: BSD-3-Clause */
/* test/lib/test.h - the test runner: what a test file may use.
 *
 * A library's tests are one program. Each test file defines one suite, an
 * explicit table; main() lists the suites. Assertions are ck_assert_* of the
 * `check` library (each one writes a line to a file: in a hot loop write
 * `if (bad) { ck_abort_msg(...); }`).
 *
 *   runner --fork--> child: setup(param) run(param) teardown(param)
 *                           then: no new descriptor, no child process left,
 *                           no leaked memory (LeakSanitizer, see README.md)
 *
 * Every test runs in its own process and process group; when its time is over
 * the whole group is killed. Variables named UCX_* are removed from the
 * environment first, unless --keep-env is given: a test sets what it needs. */
#ifndef TEST_LIB_TEST_H_
#define TEST_LIB_TEST_H_

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

/* One value that every test of a suite runs with, say one per transport. */
struct test_param {
    const char *name; /* shown after the slash; NULL ends the array */
    const void *value;
};

struct test_case {
    const char *name; /* topic__case; NULL ends the array */
    void (*run)(
        const struct test_param *param); /* param NULL: suite has none */
    double timeout_s;                    /* seconds; 0: 60 */
};

struct test_suite {
    const char              *name;
    const struct test_case  *cases;  /* ends with {0} */
    const struct test_param *params; /* ends with {0}; NULL: run once */
    /* Both run in the test's process, around run; NULL: nothing to do. A
     * failed or skipped test ends without its teardown. */
    void (*setup)(const struct test_param *param);
    void (*teardown)(const struct test_param *param);
};

/* clang-format off */
#define TEST(_fn) {#_fn, _fn, 0}
#define TEST_TIMEOUT(_fn, _seconds) {#_fn, _fn, _seconds}
/* clang-format on */

/* Run the tests that the arguments ask for; `--help` describes them. The
 * words in the environment variable TEST_OPTIONS come before argv's.
 * @param suites  Ends with NULL.
 * @return the exit status: 0 at least one test ran and none failed; 1 a test
 *         failed, or all were skipped; 2 wrong arguments, or no such test. */
int test_main(int argc, char **argv, const struct test_suite *const *suites);

/* The seed of this test in this repetition. It depends only on --seed and
 * the test's name, so one test alone gets the same seed as among others. */
uint64_t test_seed(void);

/* The next number of the stream that starts at test_seed(). Thread: one at a
 * time; a forked process goes on with a copy of the stream. */
uint64_t test_random(void);

/* The next number, uniform in [0, limit). limit must not be 0. */
uint64_t test_random_below(uint64_t limit);

/* End this test as skipped, with a reason. It counts neither as passed nor
 * as failed. Only from the test's own process and first thread. */
void test_skip(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Call fn(arg) until it says true or the time is over (--timeout-multiplier
 * counts). Yields the processor between calls.
 * @return what fn said last. */
bool test_wait_until(bool (*fn)(void *), void *arg, double seconds);

/* A time limit, in seconds, times --timeout-multiplier. */
double test_scaled_seconds(double seconds);

/* Has this test run for less than that many seconds (--timeout-multiplier
 * counts)? What is tried many times ends by it, after a few tries at least:
 * on a busy machine each may wait for the processor. */
bool test_has_time(double seconds);

/* How often to try: `often` if TEST_LONG=1 is in the environment, as in a
 * campaign, else `quick`. */
uint64_t test_rounds(uint64_t quick, uint64_t often);

/* Processor time that this process has used, in seconds: what work costs,
 * however busy the machine is. */
double test_cpu_seconds(void);

/* Bytes that are allocated in this process: to compare with another time. */
size_t test_heap_bytes(void);

/* A network namespace for this process, with lo and nothing else. Skips the
 * test where the kernel forbids it. */
void test_netns(void);

/* Run a command of iproute2 or nftables there; fails the test, or skips it
 * where there is no such program. */
void test_netns_run(const char *command);

#endif
