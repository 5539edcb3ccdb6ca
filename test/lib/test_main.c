/* SPDX-License-Identifier: BSD-3-Clause */
/* test_main.c - which tests, in which order, and what is said about them. */
#include "lib/test_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern char **environ;

struct test_list {
    struct test_instance *instances;
    size_t                count;
};

struct test_records {
    struct test_record *list;
    size_t              count;
    size_t              outcome_count[3];
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        (void)fprintf(stderr, "out of memory\n");
        abort();
    }
    return memory;
}

static size_t param_count(const struct test_suite *suite)
{
    size_t count = 0;

    while ((suite->params != NULL) && (suite->params[count].name != NULL)) {
        ++count;
    }
    return count;
}

static void instance_name(struct test_instance *instance)
{
    int length =
        snprintf(instance->name, sizeof(instance->name), "%s.%s%s%s",
                 instance->suite->name, instance->test_case->name,
                 (instance->param != NULL) ? "/" : "",
                 (instance->param != NULL) ? instance->param->name : "");

    if ((length < 0) || ((size_t)length >= sizeof(instance->name))) {
        (void)fprintf(stderr, "test name too long: %s\n", instance->name);
        abort();
    }
}

/* Append the tests of one suite; with instances NULL only count them. */
static size_t suite_expand(const struct test_suite *suite,
                           struct test_instance    *instances)
{
    bool   has_params = (suite->params != NULL);
    size_t row_count  = has_params ? param_count(suite) : 1;
    size_t count      = 0;

    for (const struct test_case *one = suite->cases; one->name != NULL; ++one) {
        for (size_t row = 0; row < row_count; ++row, ++count) {
            if (instances == NULL) {
                continue;
            }
            instances[count].suite     = suite;
            instances[count].test_case = one;
            instances[count].param = has_params ? &suite->params[row] : NULL;
            instance_name(&instances[count]);
        }
    }
    return count;
}

static void list_create(const struct test_suite *const *suites,
                        const char *filter, struct test_list *list)
{
    size_t all_count = 0;
    size_t kept      = 0;

    for (size_t i = 0; suites[i] != NULL; ++i) {
        all_count += suite_expand(suites[i], NULL);
    }
    list->instances = allocate(all_count + 1, sizeof(*list->instances));
    all_count       = 0;
    for (size_t i = 0; suites[i] != NULL; ++i) {
        all_count += suite_expand(suites[i], &list->instances[all_count]);
    }
    for (size_t i = 0; i < all_count; ++i) {
        if (test_filter_match(filter, list->instances[i].name)) {
            list->instances[kept++] = list->instances[i];
        }
    }
    list->count = kept;
}

/* Fisher and Yates; the order depends on the seed and on the filter only. */
static void order_fill(size_t *order, size_t count, bool shuffle, uint64_t seed)
{
    uint64_t state = seed;

    for (size_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (size_t i = count; shuffle && (i > 1); --i) {
        size_t other = (size_t)(test_random_mix(&state) % i);
        size_t held  = order[i - 1];

        order[i - 1] = order[other];
        order[other] = held;
    }
}

/* The command to type. Libtool's wrapper starts the program in .libs: only the
 * wrapper finds the libraries of the build. */
static void say_again(const struct test_record  *result,
                      const struct test_options *options)
{
    const char *program = options->program;
    const char *hidden  = strstr(program, "/.libs/");
    int         folder  = (hidden != NULL) ? (int)(hidden - program) : 0;
    const char *rest = (hidden != NULL) ? hidden + strlen("/.libs") : program;

    printf("      again: %.*s%s --filter='%s' --seed=%llu%s\n", folder, program,
           rest, result->instance->name, (unsigned long long)result->seed,
           options->keep_env ? " --keep-env" : "");
}

static void say_result(const struct test_record  *result,
                       const struct test_options *options)
{
    const char *name = result->instance->name;

    switch (result->outcome) {
    case TEST_PASSED:
        printf("ok    %s (%.0f ms)\n", name, result->seconds * 1e3);
        break;
    case TEST_SKIPPED:
        printf("skip  %s: %s\n", name, result->reason);
        break;
    case TEST_FAILED:
        printf("FAIL  %s (%.0f ms)\n      %s\n", name, result->seconds * 1e3,
               result->reason);
        say_again(result, options);
        break;
    }
    (void)fflush(stdout);
}

/* Which tests, in which order, in all rounds. What is not run has failed. */
static void results_plan(const struct test_list    *list,
                         const struct test_options *options,
                         struct test_records       *results)
{
    size_t *order = allocate(list->count, sizeof(*order));

    results->count = list->count * options->repeat_count;
    results->list = test_shared_create(results->count * sizeof(*results->list));
    for (size_t i = 0; i < results->count; ++i) {
        struct test_record *result = &results->list[i];

        result->seed = options->seed + i / list->count;
        if (i % list->count == 0) {
            order_fill(order, list->count, options->shuffle, result->seed);
        }
        result->instance = &list->instances[order[i % list->count]];
        result->outcome  = TEST_FAILED;
        (void)snprintf(result->reason, sizeof(result->reason),
                       "the runner ended before it");
    }
    free(order);
}

struct test_run {
    const struct test_list    *list;
    const struct test_options *options;
    struct test_records       *results;
};

static void run_one(void *arg, size_t index)
{
    const struct test_run     *run     = arg;
    const struct test_options *options = run->options;
    struct test_record        *result  = &run->results->list[index];

    if ((options->repeat_count > 1) && (index % run->list->count == 0)) {
        printf("round %zu of %u, seed %llu\n", index / run->list->count + 1,
               options->repeat_count, (unsigned long long)result->seed);
    }
    printf("run   %s\n", result->instance->name);
    test_run_instance(options, result);
}

static void say_one(void *arg, size_t index)
{
    const struct test_run *run = arg;

    say_result(&run->results->list[index], run->options);
}

static void run_all(const struct test_list    *list,
                    const struct test_options *options,
                    struct test_records       *results)
{
    struct test_run  run  = {list, options, results};
    struct test_jobs jobs = {.run = run_one, .done = say_one, .arg = &run};

    results_plan(list, options, results);
    jobs.count = results->count;
    test_jobs_run(&jobs, options->no_fork ? 1 : options->job_count);
    for (size_t i = 0; i < results->count; ++i) {
        results->outcome_count[results->list[i].outcome]++;
    }
}

static void say_summary(const struct test_records *results,
                        const struct test_options *options)
{
    if (results->outcome_count[TEST_FAILED] > 0) {
        printf("\nfailed:\n");
    }
    for (size_t i = 0; i < results->count; ++i) {
        if (results->list[i].outcome == TEST_FAILED) {
            printf("      %s\n", results->list[i].instance->name);
            say_again(&results->list[i], options);
        }
    }
    printf("%zu passed, %zu failed, %zu skipped\n",
           results->outcome_count[TEST_PASSED],
           results->outcome_count[TEST_FAILED],
           results->outcome_count[TEST_SKIPPED]);
    (void)fflush(stdout);
}

/* Remove variables that would change what the tests see. Those named CK_ would
 * make check select tests or write files behind our back. */
static void environment_clean(bool keep_ucx)
{
    size_t i = 0;

    while (environ[i] != NULL) {
        const char *equals = strchr(environ[i], '=');
        bool        ours   = !keep_ucx && (strncmp(environ[i], "UCX_", 4) == 0);
        char        name[256];

        if ((!ours && (strncmp(environ[i], "CK_", 3) != 0)) ||
            (equals == NULL) ||
            ((size_t)(equals - environ[i]) >= sizeof(name))) {
            ++i;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)(equals - environ[i]),
                       environ[i]);
        (void)unsetenv(name);
    }
}

static int run_and_report(const struct test_list    *list,
                          const struct test_options *options)
{
    struct test_records results = {0};
    bool                ok      = true;

    printf("%zu tests, seed %llu\n", list->count,
           (unsigned long long)options->seed);
    run_all(list, options, &results);
    if (options->tap_path != NULL) {
        ok = test_report_tap(options->tap_path, results.list, results.count);
    }
    if (options->junit_path != NULL) {
        ok = test_report_junit(options->junit_path, results.list,
                               results.count) &&
             ok;
    }
    if (results.outcome_count[TEST_SKIPPED] == results.count) {
        printf("every test was skipped: that is no pass\n");
        ok = false;
    }
    say_summary(&results, options);
    ok = ok && (results.outcome_count[TEST_FAILED] == 0);
    (void)munmap(results.list, results.count * sizeof(*results.list));
    return ok ? 0 : 1;
}

int test_main(int argc, char **argv, const struct test_suite *const *suites)
{
    struct test_options options;
    struct test_list    list;
    int                 result = 0;

    if (!test_options_parse(argc, argv, &options)) {
        return 2;
    }
    environment_clean(options.keep_env);
    list_create(suites, options.filter, &list);
    if (list.count == 0) {
        (void)fprintf(stderr, "%s: no test matches --filter='%s'\n", argv[0],
                      options.filter);
        result = 2;
    } else if (options.list) {
        for (size_t i = 0; i < list.count; ++i) {
            printf("%s\n", list.instances[i].name);
        }
    } else {
        result = run_and_report(&list, &options);
    }
    free(list.instances);
    return result;
}
