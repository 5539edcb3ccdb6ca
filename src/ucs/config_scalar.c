/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_scalar.c - the settings that are one number or one word.
 *
 * Values come from users, so any text is safe here, and what is printed is
 * parsed back as the same value. Nothing is logged: config.c has the names. */
#include "ucs/config_value.h"

#include <string.h>
#include <strings.h>

#include "ucs/units.h"

/* ---------------------------------------------------------- yes, no, ... */

static bool config_bool_find(const char *text, bool *value_p)
{
    static const char *const words[] = {"n",   "y",  "no", "yes",
                                        "off", "on", "0",  "1"};
    size_t                   i;

    for (i = 0; i < UCS_ARRAY_COUNT(words); ++i) {
        if (strcasecmp(text, words[i]) == 0) {
            *value_p = (i & 1) != 0; /* every second word means yes */
            return true;
        }
    }
    return false;
}

static ucs_status_t config_parse_bool(const char            *text,
                                      const void UCS_UNUSED *arg, void *value)
{
    bool *value_p = value;

    return config_bool_find(text, value_p) ? UCS_OK : UCS_ERR_INVALID_PARAM;
}

static void config_print_bool(const void *value, const void UCS_UNUSED *arg,
                              struct ucs_config_text *out)
{
    ucs_config_text_add(out, *(const bool *)value ? "y" : "n");
}

static ucs_status_t
config_parse_ternary(const char *text, const void UCS_UNUSED *arg, void *value)
{
    int *value_p = value;
    bool is_yes;

    if (config_bool_find(text, &is_yes)) {
        *value_p = is_yes ? UCS_YES : UCS_NO;
    } else if (strcasecmp(text, "try") == 0) {
        *value_p = UCS_TRY;
    } else if (strcasecmp(text, "auto") == 0) {
        *value_p = UCS_AUTO;
    } else {
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

static void config_print_ternary(const void *value, const void UCS_UNUSED *arg,
                                 struct ucs_config_text *out)
{
    static const char *const words[] = {[UCS_NO]   = "n",
                                        [UCS_YES]  = "y",
                                        [UCS_TRY]  = "try",
                                        [UCS_AUTO] = "auto"};

    ucs_config_text_add(out, words[*(const int *)value & 3]);
}

static ucs_status_t config_parse_on_off(const char            *text,
                                        const void UCS_UNUSED *arg, void *value)
{
    int *value_p = value;
    bool is_on;

    if (config_bool_find(text, &is_on)) {
        *value_p = is_on ? UCS_CONFIG_ON : UCS_CONFIG_OFF;
    } else if ((strcasecmp(text, "auto") == 0) ||
               (strcasecmp(text, "try") == 0)) {
        *value_p = UCS_CONFIG_AUTO;
    } else {
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

static void config_print_on_off(const void *value, const void UCS_UNUSED *arg,
                                struct ucs_config_text *out)
{
    int number = *(const int *)value;

    ucs_config_text_add(out, (number == UCS_CONFIG_OFF)  ? "off"
                             : (number == UCS_CONFIG_ON) ? "on"
                                                         : "auto");
}

/* -------------------------------------------------------------- numbers */

static ucs_status_t config_parse_uint(const char            *text,
                                      const void UCS_UNUSED *arg, void *value)
{
    unsigned    *value_p = value;
    uint64_t     wide;
    ucs_status_t status = ucsi_units_parse_count(text, &wide);

    if (status != UCS_OK) {
        return status;
    }
    if (wide == UCS_UNITS_INF) {
        *value_p = UCS_CONFIG_UINT_INF;
    } else if (wide == UCS_UNITS_AUTO) {
        *value_p = UCS_CONFIG_UINT_AUTO;
    } else if (wide < UCS_CONFIG_UINT_AUTO) {
        *value_p = (unsigned)wide;
    } else {
        return UCS_ERR_OUT_OF_RANGE;
    }
    return UCS_OK;
}

static void config_print_uint(const void *value, const void UCS_UNUSED *arg,
                              struct ucs_config_text *out)
{
    unsigned number = *(const unsigned *)value;
    uint64_t wide   = (number == UCS_CONFIG_UINT_INF)    ? UCS_UNITS_INF
                      : (number == UCS_CONFIG_UINT_AUTO) ? UCS_UNITS_AUTO
                                                         : number;
    char     text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(out, ucsi_units_print_count(wide, text, sizeof(text)));
}

static ucs_status_t config_parse_int(const char            *text,
                                     const void UCS_UNUSED *arg, void *value)
{
    int         *value_p = value;
    int64_t      wide;
    ucs_status_t status = ucsi_units_parse_int(text, &wide);

    if (status != UCS_OK) {
        return status;
    }
    if ((wide < INT32_MIN) || (wide > INT32_MAX)) {
        return UCS_ERR_OUT_OF_RANGE;
    }
    *value_p = (int)wide;
    return UCS_OK;
}

static void config_print_int(const void *value, const void UCS_UNUSED *arg,
                             struct ucs_config_text *out)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof(text), "%d", *(const int *)value);
    ucs_config_text_add(out, text);
}

static ucs_status_t config_parse_double(const char            *text,
                                        const void UCS_UNUSED *arg, void *value)
{
    return ucsi_units_parse_double(text, value);
}

static void config_print_double(const void *value, const void UCS_UNUSED *arg,
                                struct ucs_config_text *out)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(out, ucsi_units_print_double(*(const double *)value,
                                                     text, sizeof(text)));
}

static ucs_status_t config_parse_size(const char            *text,
                                      const void UCS_UNUSED *arg, void *value)
{
    return ucsi_units_parse_size(text, value);
}

static void config_print_size(const void *value, const void UCS_UNUSED *arg,
                              struct ucs_config_text *out)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(
        out, ucsi_units_print_size(*(const size_t *)value, text, sizeof(text)));
}

static ucs_status_t config_parse_time(const char            *text,
                                      const void UCS_UNUSED *arg, void *value)
{
    return ucsi_units_parse_time(text, value);
}

static void config_print_time(const void *value, const void UCS_UNUSED *arg,
                              struct ucs_config_text *out)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(out, ucsi_units_print_time(*(const uint64_t *)value,
                                                   text, sizeof(text)));
}

static ucs_status_t config_parse_bandwidth(const char            *text,
                                           const void UCS_UNUSED *arg,
                                           void                  *value)
{
    return ucsi_units_parse_bandwidth(text, value);
}

static void config_print_bandwidth(const void             *value,
                                   const void UCS_UNUSED  *arg,
                                   struct ucs_config_text *out)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(out, ucsi_units_print_bandwidth(
                                 *(const uint64_t *)value, text, sizeof(text)));
}

/* ---------------------------------------------------------------- table */

const struct ucs_config_type_ops ucs_config_bool_ops = {
    .expected    = "y, yes, on, 1, n, no, off or 0",
    .value_bytes = sizeof(bool),
    .parse       = config_parse_bool,
    .print       = config_print_bool,
};

const struct ucs_config_type_ops ucs_config_ternary_ops = {
    .expected    = "y, n, try or auto",
    .value_bytes = sizeof(int),
    .parse       = config_parse_ternary,
    .print       = config_print_ternary,
};

const struct ucs_config_type_ops ucs_config_on_off_ops = {
    .expected    = "on, off or auto",
    .value_bytes = sizeof(int),
    .parse       = config_parse_on_off,
    .print       = config_print_on_off,
};

const struct ucs_config_type_ops ucs_config_uint_ops = {
    .expected    = "a whole number below 2^32 - 2, inf or auto",
    .value_bytes = sizeof(unsigned),
    .parse       = config_parse_uint,
    .print       = config_print_uint,
};

const struct ucs_config_type_ops ucs_config_int_ops = {
    .expected    = "a whole number from -2^31 to 2^31 - 1",
    .value_bytes = sizeof(int),
    .parse       = config_parse_int,
    .print       = config_print_int,
};

const struct ucs_config_type_ops ucs_config_double_ops = {
    .expected    = "a decimal number such as 0.5",
    .value_bytes = sizeof(double),
    .parse       = config_parse_double,
    .print       = config_print_double,
};

const struct ucs_config_type_ops ucs_config_size_ops = {
    .expected    = "a size such as 8k, with the unit b, k, m, g, t or p, "
                   "or inf or auto",
    .value_bytes = sizeof(size_t),
    .parse       = config_parse_size,
    .print       = config_print_size,
};

const struct ucs_config_type_ops ucs_config_time_ops = {
    .expected    = "a time such as 20ms, with the unit s, ms, us or ns, or inf "
                   "or auto",
    .value_bytes = sizeof(uint64_t),
    .parse       = config_parse_time,
    .print       = config_print_time,
};

const struct ucs_config_type_ops ucs_config_bandwidth_ops = {
    .expected    = "a bandwidth such as 10GBps (bytes) or 100Gbps (bits), or "
                   "inf or auto",
    .value_bytes = sizeof(uint64_t),
    .parse       = config_parse_bandwidth,
    .print       = config_print_bandwidth,
};
