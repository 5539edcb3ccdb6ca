/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/counters.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/suites.h"

enum { DROPPED, BAD_ID, COUNTER_COUNT };

static const struct ucs_counter_desc descs[] = {
    [DROPPED] = {"dropped", "messages without a receiver"},
    [BAD_ID]  = {"bad_id", "messages with an unknown id"},
};
static const struct ucs_counter_table table = {"tcp", descs, COUNTER_COUNT};

struct object {
    struct ucs_counters counters;
    struct ucs_counter  values[COUNTER_COUNT];
};

static const char *print_all(unsigned flags)
{
    static char text[4096];
    FILE       *stream = fmemopen(text, sizeof(text), "w");

    ck_assert_ptr_nonnull(stream);
    text[0] = '\0';
    ucsi_counters_print_all(stream, flags);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

static void counters__count_and_print(const struct test_param *param)
{
    struct object a;
    struct object b;
    uint64_t      values[COUNTER_COUNT];

    (void)param;
    memset(&a, 0xa5, sizeof(a)); /* add makes them zero */
    memset(&b, 0xa5, sizeof(b));
    ck_assert_str_eq(print_all(UCS_COUNTERS_PRINT_ZERO), "");
    ucsi_counters_add(&a.counters, &table, "eth0", a.values);
    ucsi_counters_add(&b.counters, &table, "eth1", b.values);
    ck_assert_str_eq(print_all(0), "");

    ucs_counter_inc(&a.values[DROPPED]);
    ucs_counter_inc(&a.values[DROPPED]);
    ucs_counter_add(&b.values[BAD_ID], UINT64_MAX);
    ck_assert_uint_eq(ucs_counter_get(&a.values[DROPPED]), 2);
    ck_assert_str_eq(print_all(0), "tcp eth0 dropped 2\n"
                                   "tcp eth1 bad_id 18446744073709551615\n");
    ck_assert_str_eq(
        print_all(UCS_COUNTERS_PRINT_ZERO | UCS_COUNTERS_PRINT_DOC),
        "tcp eth0 dropped 2  # messages without a receiver\n"
        "tcp eth0 bad_id 0  # messages with an unknown id\n"
        "tcp eth1 dropped 0  # messages without a receiver\n"
        "tcp eth1 bad_id 18446744073709551615  # messages with an "
        "unknown id\n");
    ucsi_counters_snapshot(&a.counters, values);
    ck_assert_uint_eq(values[DROPPED], 2);
    ck_assert_uint_eq(values[BAD_ID], 0);

    ucsi_counters_remove(&a.counters);
    ck_assert_str_eq(print_all(0), "tcp eth1 bad_id 18446744073709551615\n");
    ucsi_counters_remove(&b.counters);
    ck_assert_str_eq(print_all(UCS_COUNTERS_PRINT_ZERO), "");
}

static void counters__long_name_is_cut(const struct test_param *param)
{
    struct object object;
    char          name[2 * UCS_COUNTERS_NAME_BYTES_MAX];

    (void)param;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ucsi_counters_add(&object.counters, &table, name, object.values);
    ck_assert_uint_eq(strlen(object.counters.name),
                      UCS_COUNTERS_NAME_BYTES_MAX - 1);
    ucsi_counters_remove(&object.counters);
}

static void visit_count(const struct ucs_counters *counters, void *arg)
{
    uint64_t *sum = arg;

    *sum += ucs_counter_get(&counters->values[DROPPED]);
}

static void *churn(void *arg)
{
    struct object object;
    int           i;
    int           j;

    (void)arg;
    for (i = 0; i < 500; ++i) {
        ucsi_counters_add(&object.counters, &table, "thread", object.values);
        for (j = 0; j < 10; ++j) {
            ucs_counter_inc(&object.values[DROPPED]);
        }
        ucsi_counters_remove(&object.counters);
    }
    return NULL;
}

static void
counters__visit_while_objects_come_and_go(const struct test_param *param)
{
    pthread_t threads[2];
    int       i;

    (void)param;
    for (i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, NULL), 0);
    }
    for (i = 0; i < 500; ++i) {
        uint64_t sum = 0;

        if ((ucsi_counters_visit(visit_count, &sum) > 2) || (sum > 20)) {
            ck_abort_msg("sum %llu", (unsigned long long)sum);
        }
    }
    for (i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_eq(ucsi_counters_visit(visit_count, &(uint64_t){0}), 0);
}

static const struct test_case cases[] = {
    TEST(counters__count_and_print),
    TEST(counters__long_name_is_cut),
    TEST(counters__visit_while_objects_come_and_go),
    {0},
};

const struct test_suite counters_suite = {"counters", cases, NULL, NULL, NULL};
