/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_stats.c - order statistics of a few repetitions. */
#include "tools/perf.h"

#include <stdlib.h>

static int perf_stats_compare(const void *a, const void *b)
{
    double left  = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Between the two nearest ranks, in proportion. */
static double perf_stats_at(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;

    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    return sorted[below] +
           (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct perf_stats perf_stats_of(double *values, size_t count)
{
    struct perf_stats stats;

    qsort(values, count, sizeof(*values), perf_stats_compare);
    stats.median = perf_stats_at(values, count, 0.5);
    stats.min    = values[0];
    stats.p10    = perf_stats_at(values, count, 0.1);
    stats.p90    = perf_stats_at(values, count, 0.9);
    stats.max    = values[count - 1];
    return stats;
}
