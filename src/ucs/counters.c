/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/counters.c - the registry of counters: one list under one lock, which
 * only setting up, tearing down and reading take. Counting takes no lock. */
#include "ucs/counters.h"

#include <pthread.h>
#include <stdio.h>

#include "ucs/counters_report.h"

static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ucs_list counters_list = {&counters_list, &counters_list};

void ucsi_counters_add(struct ucs_counters            *counters,
                       const struct ucs_counter_table *table, const char *name,
                       struct ucs_counter *values)
{
    unsigned i;

    counters->table  = table;
    counters->values = values;
    (void)snprintf(counters->name, sizeof(counters->name), "%s", name);
    for (i = 0; i < table->count; ++i) {
        atomic_init(&values[i].value, 0);
    }
    (void)pthread_mutex_lock(&counters_lock);
    ucs_list_add_tail(&counters_list, &counters->link);
    (void)pthread_mutex_unlock(&counters_lock);
}

void ucsi_counters_remove(struct ucs_counters *counters)
{
    (void)pthread_mutex_lock(&counters_lock);
    ucs_list_remove(&counters->link);
    (void)pthread_mutex_unlock(&counters_lock);
    ucs_counters_report(counters);
}

void ucsi_counters_snapshot(const struct ucs_counters *counters,
                            uint64_t                  *values)
{
    unsigned i;

    for (i = 0; i < counters->table->count; ++i) {
        values[i] = ucs_counter_get(&counters->values[i]);
    }
}

unsigned ucsi_counters_visit(ucs_counters_visit_fn fn, void *arg)
{
    const struct ucs_counters *counters;
    unsigned                   count = 0;

    (void)pthread_mutex_lock(&counters_lock);
    ucs_list_for_each (counters, &counters_list, link) {
        fn(counters, arg);
        ++count;
    }
    (void)pthread_mutex_unlock(&counters_lock);
    return count;
}

void ucsi_counters_print(FILE *stream, const struct ucs_counters *counters,
                         unsigned flags)
{
    const struct ucs_counter_table *table = counters->table;
    unsigned                        i;

    for (i = 0; i < table->count; ++i) {
        uint64_t value = ucs_counter_get(&counters->values[i]);

        if ((value == 0) && !(flags & UCS_COUNTERS_PRINT_ZERO)) {
            continue;
        }
        (void)fprintf(stream, "%s %s %s %llu", table->title, counters->name,
                      table->descs[i].name, (unsigned long long)value);
        if (flags & UCS_COUNTERS_PRINT_DOC) {
            (void)fprintf(stream, "  # %s", table->descs[i].doc);
        }
        (void)fputc('\n', stream);
    }
}

struct counters_print {
    FILE    *stream;
    unsigned flags;
};

static void counters_print_visit(const struct ucs_counters *counters, void *arg)
{
    const struct counters_print *print = arg;

    ucsi_counters_print(print->stream, counters, print->flags);
}

void ucsi_counters_print_all(FILE *stream, unsigned flags)
{
    struct counters_print print = {stream, flags};

    (void)ucsi_counters_visit(counters_print_visit, &print);
}
