/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/units.h - numbers as people write them: 64K, 20ms, 12.5GBps.
 *
 * Grammar, letters large or small unless said otherwise, no white space:
 *   number     digits [. digits]        the fraction not for counts
 *   count      digits                   also inf, auto
 *   size       number [b | k[b] | m[b] | g[b] | t[b] | p[b]]  binary; inf, auto
 *   time       number [s | ms | us | ns]       no unit: seconds; inf, auto
 *   bandwidth  number [k|m|g|t] (b|B) (ps | /s | s)    binary; inf, auto
 *              a small b is bits, a large B is bytes
 *
 * What is printed is read back as the same value, to the last byte and
 * nanosecond. A value that does not fit is an error, never another value.
 * Pure: no locale, no allocation, no log. Any thread. */
#ifndef UCS_UNITS_H_
#define UCS_UNITS_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

/* The two words that stand for no number; the same values as UCX has. */
#define UCS_UNITS_INF  UINT64_MAX
#define UCS_UNITS_AUTO (UINT64_MAX - 1)

/* Sizes are size_t; the words have to fit. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "64 bit only");

enum {
    /* Enough for every text that the print functions make, with its NUL. */
    UCS_UNITS_TEXT_BYTES_MAX = 32
};

/* Parse `text` whole.
 * @return UCS_OK, *value_p is set;
 *         UCS_ERR_INVALID_PARAM  not of the grammar;
 *         UCS_ERR_OUT_OF_RANGE   of the grammar, but does not fit, or would
 *                                be the value of inf or auto. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_units_parse_count(const char *text,
                                                            uint64_t *value_p);

/* Bytes. A fraction is rounded to the nearest byte. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_units_parse_size(const char *text,
                                                           size_t     *bytes_p);

/* Nanoseconds. A fraction is rounded to the nearest. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_units_parse_time(const char *text,
                                                           uint64_t   *ns_p);

/* Bytes per second. A fraction is rounded to the nearest. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_units_parse_bandwidth(const char *text, uint64_t *bytes_per_s_p);

/* A signed decimal number; no words. Statuses as above. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_units_parse_int(const char *text,
                                                          int64_t    *value_p);

/* A decimal number, perhaps with sign, fraction and exponent; in any locale
 * the point is '.'. Not nan; inf and -inf are. Statuses as above. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_units_parse_double(const char *text,
                                                             double *value_p);

/* Print into `text` of [text_bytes], UCS_UNITS_TEXT_BYTES_MAX are enough;
 * what does not fit is cut. The largest unit that needs no fraction is taken.
 * @return text. */
UCS_EXPORT char *ucsi_units_print_count(uint64_t value, char *text,
                                        size_t text_bytes);
UCS_EXPORT char *ucsi_units_print_size(size_t size_bytes, char *text,
                                       size_t text_bytes);
UCS_EXPORT char *ucsi_units_print_time(uint64_t duration_ns, char *text,
                                       size_t text_bytes);
UCS_EXPORT char *ucsi_units_print_bandwidth(uint64_t bytes_per_s, char *text,
                                            size_t text_bytes);
/* A short text that is read back as the same double. */
UCS_EXPORT char *ucsi_units_print_double(double value, char *text,
                                         size_t text_bytes);

#endif
