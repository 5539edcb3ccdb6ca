/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/counters.h - named event counters, always on.
 *
 *   static const struct ucs_counter_desc descs[] = {
 *       {"dropped", "messages without a receiver"},
 *       {"bad_id", "messages with an unknown id"},
 *   };
 *   static const struct ucs_counter_table table = {"tcp", descs, 2};
 *   struct iface { struct ucs_counters counters; struct ucs_counter values[2];
 * };
 *
 *   ucsi_counters_add(&iface->counters, &table, "eth0", iface->values);
 *   ucs_counter_inc(&iface->values[TCP_DROPPED]);           on the data path
 *
 * An object registers its values while it lives; then the registry can take a
 * snapshot of all, or print them, from any thread; counters_report.h writes
 * down what each had counted at its end. Counting is for what
 * should not happen often, or is cheap beside what it counts: a load, an add
 * and a store, no locked instruction. */
#ifndef UCS_COUNTERS_H_
#define UCS_COUNTERS_H_

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "ucs/compiler.h"
#include "ucs/list.h"
#include "ucs/type/status.h"

enum ucs_counters_limits {
    /* Name of an object, with its NUL; a longer one is cut. */
    UCS_COUNTERS_NAME_BYTES_MAX = 64
};

enum ucs_counters_print_flag {
    UCS_COUNTERS_PRINT_ZERO = 1 << 0, /* also those that never counted */
    UCS_COUNTERS_PRINT_DOC  = 1 << 1  /* and what each means */
};

struct ucs_counter_desc {
    const char *name; /* a word: letters, digits, '_' */
    const char *doc;
};

/* What the objects of one kind count; static. */
struct ucs_counter_table {
    const char                    *title;
    const struct ucs_counter_desc *descs; /* [count] */
    unsigned                       count;
};

/* Written by one thread at a time (the object's), read by any. */
struct ucs_counter {
    _Atomic uint64_t value;
};

/* The counters of one object; in its memory, on the registry's list. */
struct ucs_counters {
    struct ucs_list                 link;
    const struct ucs_counter_table *table;
    const struct ucs_counter       *values; /* [table->count], lent */
    char                            name[UCS_COUNTERS_NAME_BYTES_MAX];
};

/* Count `by` events. Only one thread at a time may count on one counter. */
static inline void ucs_counter_add(struct ucs_counter *counter, uint64_t by)
{
    /* Relaxed, and no read-modify-write: there is one writer, and a reader
     * only wants some recent number. */
    uint64_t value =
        atomic_load_explicit(&counter->value, memory_order_relaxed);

    atomic_store_explicit(&counter->value, value + by, memory_order_relaxed);
}

static inline void ucs_counter_inc(struct ucs_counter *counter)
{
    ucs_counter_add(counter, 1);
}

static inline uint64_t ucs_counter_get(const struct ucs_counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* Make an object's counters known, all at zero. Any thread.
 * @param counters  In the object; stays where it is until removed.
 * @param name      Of the object; copied.
 * @param values    [table->count], in the object. */
UCS_EXPORT void ucsi_counters_add(struct ucs_counters            *counters,
                                  const struct ucs_counter_table *table,
                                  const char *name, struct ucs_counter *values);

/* Forget them, before the object's memory goes. Any thread; no print or visit
 * looks at them after this returns. */
UCS_EXPORT void ucsi_counters_remove(struct ucs_counters *counters);

/* Copy the numbers of one object into values[table->count]. */
UCS_EXPORT void ucsi_counters_snapshot(const struct ucs_counters *counters,
                                       uint64_t                  *values);

/* Call fn for every object, in the order in which they were added. fn must
 * not add or remove. @return how many objects there are. */
typedef void (*ucs_counters_visit_fn)(const struct ucs_counters *counters,
                                      void                      *arg);
UCS_EXPORT unsigned ucsi_counters_visit(ucs_counters_visit_fn fn, void *arg);

/* Print lines "title name counter value" of one object, or of all.
 * @param flags  enum ucs_counters_print_flag. */
UCS_EXPORT void ucsi_counters_print(FILE                      *stream,
                                    const struct ucs_counters *counters,
                                    unsigned                   flags);
UCS_EXPORT void ucsi_counters_print_all(FILE *stream, unsigned flags);

#endif
