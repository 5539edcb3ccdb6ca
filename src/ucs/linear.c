/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/linear.c - lines, functions of lines and their lower envelope. */
#include "ucs/linear.h"

#include <string.h>

#include "ucs/assert.h"

/* Costs this close are equal: some thousand times the rounding of a sum. */
#define LINEAR_TOLERANCE 1e-12

double ucsi_linear_crossing(struct ucs_linear a, struct ucs_linear b)
{
    double slopes = a.per_byte_s - b.per_byte_s;
    double size;

    if ((slopes == 0.0) || isinf(a.base_s) || isinf(b.base_s)) {
        return HUGE_VAL;
    }
    size = (b.base_s - a.base_s) / slopes;
    return (size >= 0.0) ? size : HUGE_VAL;
}

void ucsi_piecewise_init(struct ucs_piecewise *function, struct ucs_linear cost)
{
    function->count     = 1;
    function->pieces[0] = (struct ucs_piece){SIZE_MAX, cost};
}

static bool linear_is_same(struct ucs_linear a, struct ucs_linear b)
{
    return (a.base_s == b.base_s) && (a.per_byte_s == b.per_byte_s);
}

/* Room for each piece of a function, cut at two sizes. */
enum { PIECEWISE_CUT_COUNT_MAX = UCS_PIECEWISE_COUNT_MAX + 2 };

/* Add a piece behind others; joins it to the last one if that goes on. */
static void piecewise_add(struct ucs_piece *pieces, unsigned *count_p,
                          size_t size_bytes_max, struct ucs_linear cost)
{
    if ((*count_p == 0) || !linear_is_same(pieces[*count_p - 1].cost, cost)) {
        ++*count_p;
    }
    pieces[*count_p - 1] = (struct ucs_piece){size_bytes_max, cost};
}

ucs_status_t ucsi_piecewise_set(struct ucs_piecewise *function,
                                size_t size_bytes_first, size_t size_bytes_last,
                                struct ucs_linear cost)
{
    struct ucs_piece        pieces[PIECEWISE_CUT_COUNT_MAX];
    const struct ucs_piece *piece;
    unsigned                count   = 0;
    bool                    is_done = false;

    if (size_bytes_first > size_bytes_last) {
        return UCS_ERR_INVALID_PARAM;
    }
    for (piece = function->pieces; piece < function->pieces + function->count;
         ++piece) {
        if (piece->size_bytes_max < size_bytes_first) {
            piecewise_add(pieces, &count, piece->size_bytes_max, piece->cost);
            continue;
        }
        if (!is_done) {
            if ((size_bytes_first > 0) &&
                ((count == 0) ||
                 (pieces[count - 1].size_bytes_max != size_bytes_first - 1))) {
                piecewise_add(pieces, &count, size_bytes_first - 1,
                              piece->cost);
            }
            piecewise_add(pieces, &count, size_bytes_last, cost);
            is_done = true;
        }
        if (piece->size_bytes_max > size_bytes_last) {
            piecewise_add(pieces, &count, piece->size_bytes_max, piece->cost);
        }
    }
    if (count > UCS_PIECEWISE_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    memcpy(function->pieces, pieces, count * sizeof(*pieces));
    function->count = count;
    return UCS_OK;
}

static const struct ucs_piece *
piecewise_find(const struct ucs_piecewise *function, size_t size_bytes)
{
    const struct ucs_piece *piece = function->pieces;

    while (size_bytes > piece->size_bytes_max) {
        ++piece;
    }
    return piece;
}

struct ucs_linear ucsi_piecewise_at(const struct ucs_piecewise *function,
                                    size_t                      size_bytes)
{
    return piecewise_find(function, size_bytes)->cost;
}

/* The functions whose envelope is built, and how far it is. */
struct envelope {
    const struct ucs_piecewise *const *functions;
    unsigned                           function_count;
    size_t                             size_bytes; /* where the row begins */
};

static struct ucs_linear envelope_line(const struct envelope *envelope,
                                       unsigned               index)
{
    return ucsi_piecewise_at(envelope->functions[index], envelope->size_bytes);
}

/* The cheapest function where the row begins. */
static unsigned envelope_best(const struct envelope *envelope)
{
    double            size     = (double)envelope->size_bytes;
    double            cost_min = HUGE_VAL;
    struct ucs_linear line, best_line = UCS_LINEAR_NEVER;
    unsigned          best = UCS_ENVELOPE_NONE;
    unsigned          i;

    for (i = 0; i < envelope->function_count; ++i) {
        cost_min =
            fmin(cost_min, ucs_linear_cost(envelope_line(envelope, i), size));
    }
    if (isinf(cost_min)) {
        return UCS_ENVELOPE_NONE;
    }
    cost_min += fabs(cost_min) * LINEAR_TOLERANCE;
    for (i = 0; i < envelope->function_count; ++i) {
        line = envelope_line(envelope, i);
        if ((ucs_linear_cost(line, size) <= cost_min) &&
            ((best == UCS_ENVELOPE_NONE) ||
             (line.per_byte_s < best_line.per_byte_s))) {
            best      = i;
            best_line = line;
        }
    }
    return best;
}

/* The last size up to which best stays the cheapest of two lines; size_max if
 * it does for good. The other line is dearer where the row begins, or not
 * less steep, or envelope_best would have taken it. */
static size_t envelope_overtaken(const struct envelope *envelope,
                                 struct ucs_linear      best,
                                 struct ucs_linear other, size_t size_max)
{
    double start = (double)envelope->size_bytes;
    double distance =
        ucs_linear_cost(other, start) - ucs_linear_cost(best, start);
    double catch_up = best.per_byte_s - other.per_byte_s;
    double bytes;

    if (isinf(distance) || !(catch_up > 0.0)) {
        return size_max;
    }
    /* Cut below, not by floor(): that of a static libm chooses its code at
     * load time, which a program with a dynamic libc cannot link. */
    bytes = fmax(distance / catch_up, 0.0);
    if (bytes >= (double)(size_max - envelope->size_bytes)) {
        return size_max;
    }
    return envelope->size_bytes + (size_t)bytes;
}

/* The last size of the row that begins with function best. */
static size_t envelope_row_end(const struct envelope *envelope, unsigned best)
{
    struct ucs_linear line = (best == UCS_ENVELOPE_NONE)
                                 ? UCS_LINEAR_NEVER
                                 : envelope_line(envelope, best);
    size_t            end  = SIZE_MAX;
    unsigned          i;

    for (i = 0; i < envelope->function_count; ++i) {
        end = ucs_min(
            end, piecewise_find(envelope->functions[i], envelope->size_bytes)
                     ->size_bytes_max);
    }
    for (i = 0; (best != UCS_ENVELOPE_NONE) && (i < envelope->function_count);
         ++i) {
        end =
            envelope_overtaken(envelope, line, envelope_line(envelope, i), end);
    }
    return end;
}

ucs_status_t
ucsi_piecewise_envelope(const struct ucs_piecewise *const *functions,
                        unsigned function_count, struct ucs_envelope_row *rows,
                        unsigned *row_count_p)
{
    struct envelope         envelope = {functions, function_count, 0};
    unsigned                count    = 0;
    struct ucs_envelope_row row;

    ucs_assert(function_count > 0);
    for (;;) {
        row.index          = envelope_best(&envelope);
        row.cost           = (row.index == UCS_ENVELOPE_NONE)
                                 ? UCS_LINEAR_NEVER
                                 : envelope_line(&envelope, row.index);
        row.size_bytes_max = envelope_row_end(&envelope, row.index);
        if ((count == 0) || (rows[count - 1].index != row.index) ||
            !linear_is_same(rows[count - 1].cost, row.cost)) {
            if (count == *row_count_p) {
                return UCS_ERR_EXCEEDS_LIMIT;
            }
            ++count;
        }
        rows[count - 1] = row;
        if (row.size_bytes_max == SIZE_MAX) {
            break;
        }
        envelope.size_bytes = row.size_bytes_max + 1;
    }
    *row_count_p = count;
    return UCS_OK;
}
