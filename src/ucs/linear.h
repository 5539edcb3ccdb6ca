/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/linear.h - what an operation costs, as a function of its size.
 *
 *     cost in s                     One line: base_s + per_byte_s * size.
 *       |          b  .'            A function of lines, each up to a size;
 *       |      a   .'..--           the lower envelope of several says which
 *       |   ..--'':                 is cheapest where: here a, then b... the
 *       | .-'    .' :               protocol selection table.
 *       +------------------ size
 *
 * A size that cannot be served costs UCS_LINEAR_NEVER. Pure. */
#ifndef UCS_LINEAR_H_
#define UCS_LINEAR_H_

#include <math.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

/* Seconds for each operation, and for each byte of it; neither is NaN, and
 * per_byte_s is finite. */
struct ucs_linear {
    double base_s;
    double per_byte_s;
};

/* The cost of what cannot be done. */
#define UCS_LINEAR_NEVER ((struct ucs_linear){HUGE_VAL, 0.0})

UCS_INLINE struct ucs_linear ucs_linear(double base_s, double per_byte_s)
{
    return (struct ucs_linear){base_s, per_byte_s};
}

/* Seconds for an operation of size_bytes. */
UCS_INLINE double ucs_linear_cost(struct ucs_linear line, double size_bytes)
{
    return line.base_s + line.per_byte_s * size_bytes;
}

/* One after the other. */
UCS_INLINE struct ucs_linear ucs_linear_add(struct ucs_linear a,
                                            struct ucs_linear b)
{
    return ucs_linear(a.base_s + b.base_s, a.per_byte_s + b.per_byte_s);
}

/* factor times; finite. */
UCS_INLINE struct ucs_linear ucs_linear_scale(struct ucs_linear line,
                                              double            factor)
{
    return ucs_linear(line.base_s * factor, line.per_byte_s * factor);
}

/* The size, at least 0, at which two lines cost the same. HUGE_VAL: there is
 * none, or they are the same line. */
UCS_EXPORT double ucsi_linear_crossing(struct ucs_linear a,
                                       struct ucs_linear b);

/* ---- Functions of lines ---- */

enum { UCS_PIECEWISE_COUNT_MAX = 16 }; /* pieces of a function; a guess */

struct ucs_piece {
    size_t            size_bytes_max; /* the last size of this piece */
    struct ucs_linear cost;           /* from the end of the piece before */
};

/* Pieces in order of size; the last one reaches SIZE_MAX. */
struct ucs_piecewise {
    unsigned         count; /* at least 1 */
    struct ucs_piece pieces[UCS_PIECEWISE_COUNT_MAX];
};

/* The same line for all sizes. */
UCS_EXPORT void ucsi_piecewise_init(struct ucs_piecewise *function,
                                    struct ucs_linear     cost);

/* Change the cost of the sizes from first to last, both included.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: first > last;
 *         UCS_ERR_EXCEEDS_LIMIT: too many pieces. On errors nothing has
 *         changed. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_piecewise_set(struct ucs_piecewise *function, size_t size_bytes_first,
                   size_t size_bytes_last, struct ucs_linear cost);

/* The line that holds at a size. */
UCS_EXPORT struct ucs_linear
ucsi_piecewise_at(const struct ucs_piecewise *function, size_t size_bytes);

/* One row of a lower envelope. */
struct ucs_envelope_row {
    size_t            size_bytes_max; /* the last size of this row */
    unsigned          index;          /* the cheapest function */
    struct ucs_linear cost;           /* its line here */
};

/* In index: no function can serve these sizes. */
#define UCS_ENVELOPE_NONE UINT32_MAX

/* Find the cheapest of some functions for each size. Costs that differ by
 * less than rounding (1e-12) are equal; then the line with the smaller
 * per_byte_s wins, then the function with the smaller index.
 *
 * @param functions   At least one.
 * @param rows        Filled in order of size; the last reaches SIZE_MAX.
 *                    Neighbours differ in index or cost.
 * @param row_count_p In: room in rows. Out, on success only: rows filled.
 * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT: the rows did not suffice. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_piecewise_envelope(
    const struct ucs_piecewise *const *functions, unsigned function_count,
    struct ucs_envelope_row *rows, unsigned *row_count_p);

#endif
