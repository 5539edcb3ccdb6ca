/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/units.c - exact parsing and printing of quantities.
 *
 * A number is kept as an integer and a count of decimal places, and is
 * multiplied by its unit in 128 bits, so 0.1s is 100000000 ns and not nearly
 * that. Only ucsi_units_parse_double knows floating point. */
#include "ucs/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    /* 10^18 is the largest power of ten below 2^63. */
    UNITS_PLACES_MAX = 18
};

/* mantissa / 10^places */
struct units_number {
    uint64_t mantissa;
    unsigned places;
};

struct units_unit {
    const char *name; /* as it is printed */
    uint64_t    scale;
};

static const struct units_unit units_sizes[] = {
    {"P", 1ull << 50}, {"T", 1ull << 40}, {"G", 1ull << 30},
    {"M", 1ull << 20}, {"K", 1ull << 10}, {"", 1},
};

static const struct units_unit units_times[] = {
    {"s", 1000ull * 1000 * 1000},
    {"ms", 1000ull * 1000},
    {"us", 1000},
    {"ns", 1},
};

static const struct units_unit units_bandwidths[] = {
    {"TBps", 1ull << 40}, {"GBps", 1ull << 30}, {"MBps", 1ull << 20},
    {"KBps", 1ull << 10}, {"Bps", 1},
};

static bool units_is_digit(char c)
{
    return (c >= '0') && (c <= '9');
}

static int units_lower(char c)
{
    return ((c >= 'A') && (c <= 'Z')) ? c - 'A' + 'a' : c;
}

/* The two words. */
static bool units_parse_word(const char *text, uint64_t *value_p)
{
    if (strcasecmp(text, "inf") == 0) {
        *value_p = UCS_UNITS_INF;
        return true;
    }
    if (strcasecmp(text, "auto") == 0) {
        *value_p = UCS_UNITS_AUTO;
        return true;
    }
    return false;
}

/* Append a digit. False: too many of them. */
static bool units_number_add(struct units_number *number, char digit)
{
    unsigned value = (unsigned)(digit - '0');

    return !__builtin_mul_overflow(number->mantissa, 10, &number->mantissa) &&
           !__builtin_add_overflow(number->mantissa, value, &number->mantissa);
}

/* Read digits [. digits] from *cursor_p and move it behind them. Places
 * beyond the 18th cannot change a result by one unit: they are left out. */
static ucs_status_t units_parse_number(const char         **cursor_p,
                                       struct units_number *number_p)
{
    struct units_number number = {0};
    const char         *cursor = *cursor_p;

    if (!units_is_digit(*cursor)) {
        return UCS_ERR_INVALID_PARAM;
    }
    for (; units_is_digit(*cursor); ++cursor) {
        if (!units_number_add(&number, *cursor)) {
            return UCS_ERR_OUT_OF_RANGE;
        }
    }
    if (*cursor == '.') {
        ++cursor;
        if (!units_is_digit(*cursor)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    for (; units_is_digit(*cursor); ++cursor) {
        struct units_number longer = number;

        if ((number.places < UNITS_PLACES_MAX) &&
            units_number_add(&longer, *cursor)) {
            number = longer;
            ++number.places;
        }
    }
    *cursor_p = cursor;
    *number_p = number;
    return UCS_OK;
}

/* number * scale / divisor, rounded to the nearest. */
static ucs_status_t units_scale(const struct units_number *number,
                                uint64_t scale, uint64_t divisor,
                                uint64_t *value_p)
{
    unsigned __int128 value  = (unsigned __int128)number->mantissa * scale;
    unsigned __int128 divide = divisor;
    unsigned          i;

    for (i = 0; i < number->places; ++i) {
        divide *= 10; /* at most 8 * 10^18 */
    }
    value = value / divide + ((value % divide) * 2 >= divide);
    if (value >= UCS_UNITS_AUTO) {
        return UCS_ERR_OUT_OF_RANGE;
    }
    *value_p = (uint64_t)value;
    return UCS_OK;
}

ucs_status_t ucsi_units_parse_count(const char *text, uint64_t *value_p)
{
    struct units_number number;
    const char         *cursor = text;
    ucs_status_t        status;

    if (units_parse_word(text, value_p)) {
        return UCS_OK;
    }
    if (text[strspn(text, "0123456789")] != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }
    status = units_parse_number(&cursor, &number);
    if (status != UCS_OK) {
        return status;
    }
    return units_scale(&number, 1, 1, value_p);
}

ucs_status_t ucsi_units_parse_size(const char *text, size_t *bytes_p)
{
    static const char   letters[] = "bkmgtp";
    struct units_number number;
    const char         *cursor = text;
    const char         *letter;
    uint64_t            scale = 1;
    uint64_t            value;
    ucs_status_t        status;

    if (units_parse_word(text, &value)) {
        *bytes_p = value;
        return UCS_OK;
    }
    status = units_parse_number(&cursor, &number);
    if (status != UCS_OK) {
        return status;
    }
    if (*cursor != '\0') {
        letter = strchr(letters, units_lower(*cursor++));
        if (letter == NULL) {
            return UCS_ERR_INVALID_PARAM;
        }
        scale = 1ull << (10 * (letter - letters));
        if ((scale > 1) && (units_lower(*cursor) == 'b')) {
            ++cursor;
        }
    }
    if (*cursor != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }
    status = units_scale(&number, scale, 1, &value);
    if (status == UCS_OK) {
        *bytes_p = value;
    }
    return status;
}

ucs_status_t ucsi_units_parse_time(const char *text, uint64_t *ns_p)
{
    struct units_number number;
    const char         *cursor = text;
    ucs_status_t        status;
    size_t              i;

    if (units_parse_word(text, ns_p)) {
        return UCS_OK;
    }
    status = units_parse_number(&cursor, &number);
    if (status != UCS_OK) {
        return status;
    }
    if (*cursor == '\0') {
        cursor = "s";
    }
    for (i = 0; i < UCS_ARRAY_COUNT(units_times); ++i) {
        if (strcasecmp(cursor, units_times[i].name) == 0) {
            return units_scale(&number, units_times[i].scale, 1, ns_p);
        }
    }
    return UCS_ERR_INVALID_PARAM;
}

ucs_status_t ucsi_units_parse_bandwidth(const char *text,
                                        uint64_t   *bytes_per_s_p)
{
    static const char   letters[] = "kmgt";
    struct units_number number;
    const char         *cursor = text;
    const char         *letter;
    uint64_t            scale = 1;
    uint64_t            divisor;
    ucs_status_t        status;

    if (units_parse_word(text, bytes_per_s_p)) {
        return UCS_OK;
    }
    status = units_parse_number(&cursor, &number);
    if (status != UCS_OK) {
        return status;
    }
    letter = (*cursor == '\0') ? NULL : strchr(letters, units_lower(*cursor));
    if (letter != NULL) {
        scale = 1ull << (10 * (letter - letters + 1));
        ++cursor;
    }
    if ((*cursor != 'b') && (*cursor != 'B')) {
        return UCS_ERR_INVALID_PARAM;
    }
    divisor = (*cursor == 'b') ? 8 : 1;
    ++cursor;
    if ((strcasecmp(cursor, "ps") != 0) && (strcasecmp(cursor, "/s") != 0) &&
        (strcasecmp(cursor, "s") != 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return units_scale(&number, scale, divisor, bytes_per_s_p);
}

ucs_status_t ucsi_units_parse_int(const char *text, int64_t *value_p)
{
    const char *digits = text + ((*text == '-') || (*text == '+'));
    char       *end;
    long long   value;

    if (!units_is_digit(*digits)) {
        return UCS_ERR_INVALID_PARAM; /* strtoll would skip white space */
    }
    errno = 0;
    value = strtoll(text, &end, 10);
    if (*end != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }
    if (errno == ERANGE) {
        return UCS_ERR_OUT_OF_RANGE;
    }
    *value_p = value;
    return UCS_OK;
}

/* The locale in which the point is a point. glibc keeps "C" in static
 * memory, so nothing is allocated and nothing has to be freed. */
static locale_t units_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Digits with a fraction and an exponent, nothing else that strtod takes. */
static bool units_is_decimal(const char *text)
{
    const char *cursor = text;
    size_t      digits;

    cursor += (*cursor == '-') || (*cursor == '+');
    digits = strspn(cursor, "0123456789");
    cursor += digits;
    if (*cursor == '.') {
        size_t places = strspn(++cursor, "0123456789");

        digits += places;
        cursor += places;
    }
    if (digits == 0) {
        return false;
    }
    if ((*cursor == 'e') || (*cursor == 'E')) {
        ++cursor;
        cursor += (*cursor == '-') || (*cursor == '+');
        digits = strspn(cursor, "0123456789");
        cursor += digits;
    }
    return (*cursor == '\0') && (digits != 0);
}

ucs_status_t ucsi_units_parse_double(const char *text, double *value_p)
{
    const char *word = text + (*text == '-');
    double      value;

    if (strcasecmp(word, "inf") == 0) {
        *value_p = (word == text) ? (double)INFINITY : -(double)INFINITY;
        return UCS_OK;
    }
    if (!units_is_decimal(text)) {
        return UCS_ERR_INVALID_PARAM;
    }
    value = strtod_l(text, NULL, units_locale());
    if (isinf(value)) {
        return UCS_ERR_OUT_OF_RANGE;
    }
    *value_p = value;
    return UCS_OK;
}

/* ------------------------------------------------------------- printing */

static char *units_print_word(uint64_t value, char *text, size_t text_bytes)
{
    (void)snprintf(text, text_bytes, "%s",
                   (value == UCS_UNITS_INF) ? "inf" : "auto");
    return text;
}

/* Take the first unit of the descending list that divides the value. */
static char *units_print(uint64_t value, const struct units_unit *units,
                         char *text, size_t text_bytes)
{
    if (value >= UCS_UNITS_AUTO) {
        return units_print_word(value, text, text_bytes);
    }
    while ((units->scale > 1) && ((value == 0) || (value % units->scale))) {
        ++units;
    }
    (void)snprintf(text, text_bytes, "%llu%s",
                   (unsigned long long)(value / units->scale), units->name);
    return text;
}

char *ucsi_units_print_count(uint64_t value, char *text, size_t text_bytes)
{
    static const struct units_unit one = {"", 1};

    return units_print(value, &one, text, text_bytes);
}

char *ucsi_units_print_size(size_t size_bytes, char *text, size_t text_bytes)
{
    return units_print(size_bytes, units_sizes, text, text_bytes);
}

char *ucsi_units_print_time(uint64_t duration_ns, char *text, size_t text_bytes)
{
    if (duration_ns == 0) {
        (void)snprintf(text, text_bytes, "0s");
        return text;
    }
    return units_print(duration_ns, units_times, text, text_bytes);
}

char *ucsi_units_print_bandwidth(uint64_t bytes_per_s, char *text,
                                 size_t text_bytes)
{
    return units_print(bytes_per_s, units_bandwidths, text, text_bytes);
}

char *ucsi_units_print_double(double value, char *text, size_t text_bytes)
{
    locale_t locale = units_locale();
    locale_t before = uselocale(locale);
    int      digits;

    /* 17 digits always do; what people write is short with 15. */
    for (digits = 15; digits <= 17; ++digits) {
        (void)snprintf(text, text_bytes, "%.*g", digits, value);
        if (strtod_l(text, NULL, locale) == value) {
            break;
        }
    }
    (void)uselocale(before);
    return text;
}
