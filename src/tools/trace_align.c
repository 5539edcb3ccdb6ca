/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/trace_align.c - one clock for the traces of several hosts.
 *
 *      A's clock:  send 100 --.             .--> receive 190
 *                              '--> --. .--'
 *      B's clock:        receive 1105  '  send 1180
 *
 * A to B seems to take 1005, B to A -990. If the quickest message takes as
 * long each way, the clocks are (1005 - -990) / 2 = 997.5 apart and each took
 * 7.5. Hosts are joined one after the other, from the first file's on. */
#include "tools/trace.h"

#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>

/* The quickest message from one file to another. */
struct link_way {
    int64_t least_ns;
    bool    exists;
};

static bool align_same_clock(const struct trace_file *a,
                             const struct trace_file *b)
{
    return strcmp(a->boot, b->boot) == 0;
}

static int align_compare(const void *a, const void *b)
{
    const struct trace_event *left  = *(struct trace_event *const *)a;
    const struct trace_event *right = *(struct trace_event *const *)b;

    return (left->id < right->id) ? -1 : (left->id > right->id);
}

/* The starts of all arrows, sorted by id. */
static struct trace_event **align_starts(struct trace_set *set, size_t *count_p)
{
    struct trace_event **starts =
        tool_calloc(set->event_count + 1, sizeof(struct trace_event *));
    size_t count = 0;

    for (size_t i = 0; i < set->event_count; ++i) {
        if (set->events[i].phase == 's') {
            starts[count++] = &set->events[i];
        }
    }
    qsort(starts, count, sizeof(struct trace_event *), align_compare);
    *count_p = count;
    return starts;
}

/* Fill ways[from * file_count + to]. */
static void align_measure(struct trace_set *set, struct link_way *ways,
                          size_t *matched_p, size_t *lost_p)
{
    size_t               start_count, ends = 0;
    struct trace_event **starts = align_starts(set, &start_count);

    *matched_p = 0;
    for (size_t i = 0; i < set->event_count; ++i) {
        struct trace_event  *end = &set->events[i];
        struct trace_event **found;
        struct link_way     *way;
        int64_t              took_ns;

        if (end->phase != 'f') {
            continue;
        }
        ++ends;
        found = bsearch(&end, starts, start_count, sizeof(struct trace_event *),
                        align_compare);
        if (found == NULL) {
            continue;
        }
        ++*matched_p;
        way     = &ways[(*found)->file * set->file_count + end->file];
        took_ns = end->ts_ns - (*found)->ts_ns;
        if (!way->exists || (took_ns < way->least_ns)) {
            *way = (struct link_way){.least_ns = took_ns, .exists = true};
        }
    }
    *lost_p = ends + start_count - 2 * *matched_p;
    free(starts);
}

/* The quickest way between any file with the clock of a and any with that of
 * b. */
static struct link_way align_way(const struct trace_set *set,
                                 const struct link_way *ways, unsigned a,
                                 unsigned b)
{
    struct link_way best = {.exists = false};

    for (unsigned i = 0; i < set->file_count; ++i) {
        for (unsigned j = 0; j < set->file_count; ++j) {
            const struct link_way *way = &ways[i * set->file_count + j];

            if (way->exists &&
                align_same_clock(&set->files[i], &set->files[a]) &&
                align_same_clock(&set->files[j], &set->files[b]) &&
                (!best.exists || (way->least_ns < best.least_ns))) {
                best = *way;
            }
        }
    }
    return best;
}

/* What to add to b's times to have them on a's clock.
 * @return false: no message went between them. */
static bool align_pair(const struct trace_set *set, const struct link_way *ways,
                       unsigned a, unsigned b, int64_t *shift_p)
{
    struct link_way there = align_way(set, ways, a, b);
    struct link_way back  = align_way(set, ways, b, a);

    if (there.exists && back.exists) {
        *shift_p = -(there.least_ns - back.least_ns) / 2;
    } else if (there.exists) {
        *shift_p = -there.least_ns;
    } else if (back.exists) {
        *shift_p = back.least_ns;
    }
    return there.exists || back.exists;
}

static void align_set_clock(struct trace_set *set, unsigned like,
                            int64_t shift_ns)
{
    for (unsigned i = 0; i < set->file_count; ++i) {
        if (align_same_clock(&set->files[i], &set->files[like])) {
            set->files[i].shift_ns   = shift_ns;
            set->files[i].is_aligned = true;
        }
    }
}

/* Align one more clock, by messages. @return false: there is none. */
static bool align_next(struct trace_set *set, const struct link_way *ways)
{
    for (unsigned a = 0; a < set->file_count; ++a) {
        for (unsigned b = 0; b < set->file_count; ++b) {
            int64_t shift_ns;

            if (set->files[a].is_aligned && !set->files[b].is_aligned &&
                align_pair(set, ways, a, b, &shift_ns)) {
                align_set_clock(set, b, set->files[a].shift_ns + shift_ns);
                return true;
            }
        }
    }
    return false;
}

void trace_set_align(struct trace_set *set, size_t *matched_p, size_t *lost_p)
{
    size_t           count = (size_t)set->file_count * set->file_count;
    struct link_way *ways  = tool_calloc(count, sizeof(*ways));

    align_measure(set, ways, matched_p, lost_p);
    align_set_clock(set, 0, 0);
    while (align_next(set, ways)) {
    }
    for (unsigned i = 0; i < set->file_count; ++i) {
        struct trace_file *file = &set->files[i];

        if (!file->is_aligned) {
            tool_note("%s: no message connects it, so it is placed by the "
                      "time of day",
                      file->path);
            align_set_clock(set, i, file->wall_ns - set->files[0].wall_ns);
        }
    }
    free(ways);
}
