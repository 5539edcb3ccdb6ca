/* SPDX-License-Identifier: BSD-3-Clause */
/* test/ucs/config_samples.h - a table with one entry of each type,
 * and of each that may have bounds. */
#ifndef TEST_UCS_CONFIG_SAMPLES_H_
#define TEST_UCS_CONFIG_SAMPLES_H_

#include <string.h>

#include "lib/test.h"
#include "ucs/config.h"
#include "ucs/log_capture.h"

struct options {
    struct ucs_config_base      base;
    char                       *string;
    bool                        boolean;
    int                         ternary;
    int                         on_off;
    unsigned                    count;
    int                         number;
    double                      real;
    size_t                      size;
    uint64_t                    time_ns;
    uint64_t                    bandwidth;
    int                         color;
    struct ucs_config_list      list;
    struct ucs_config_range     range;
    uint64_t                    colors;
    struct ucs_config_threshold threshold;
    bool                        hidden;
    unsigned                    bound_count;
    size_t                      bound_size;
    uint64_t                    bound_ns;
    struct ucs_config_range     bound_range;
};

static const char *const colors[] = {"red", "green", "blue", NULL};

#define FIELD(_field) offsetof(struct options, _field)

static const struct ucs_config_bounds bounds      = {5, 2000, 0};
static const struct ucs_config_bounds page_bounds = {4096, 1 << 20, 4096};

static const struct ucs_config_entry entries[] = {
    {"STRING", "some text", FIELD(string), UCS_CONFIG_TYPE_STRING, NULL,
     "A string.", 0, NULL},
    {"BOOL", "y", FIELD(boolean), UCS_CONFIG_TYPE_BOOL, NULL, "A switch.", 0,
     NULL},
    {"TERNARY", "try", FIELD(ternary), UCS_CONFIG_TYPE_TERNARY, NULL, "?", 0,
     NULL},
    {"ON_OFF", "auto", FIELD(on_off), UCS_CONFIG_TYPE_ON_OFF_AUTO, NULL, "?", 0,
     NULL},
    {"UINT", "16", FIELD(count), UCS_CONFIG_TYPE_UINT, NULL, "A count.", 0,
     NULL},
    {"INT", "-1", FIELD(number), UCS_CONFIG_TYPE_INT, NULL, "A number.", 0,
     NULL},
    {"DOUBLE", "0.5", FIELD(real), UCS_CONFIG_TYPE_DOUBLE, NULL, "?", 0, NULL},
    {"SIZE", "8k", FIELD(size), UCS_CONFIG_TYPE_SIZE, NULL, "A size.", 0, NULL},
    {"TIME", "20s", FIELD(time_ns), UCS_CONFIG_TYPE_TIME, NULL, "A time.", 0,
     NULL},
    {"BANDWIDTH", "10GBps", FIELD(bandwidth), UCS_CONFIG_TYPE_BANDWIDTH, NULL,
     "?", 0, NULL},
    {"COLOR", "green", FIELD(color), UCS_CONFIG_TYPE_ENUM, colors, "?", 0,
     NULL},
    {"LIST", "all", FIELD(list), UCS_CONFIG_TYPE_LIST, NULL, "Names.", 0, NULL},
    {"RANGE", "0", FIELD(range), UCS_CONFIG_TYPE_RANGE, NULL, "Ports.", 0,
     NULL},
    {"COLORS", "red,blue", FIELD(colors), UCS_CONFIG_TYPE_BITMAP, colors, "?",
     0, NULL},
    {"THRESH", "auto", FIELD(threshold), UCS_CONFIG_TYPE_THRESHOLD, NULL, "?",
     0, NULL},
    {"SECRET", "n", FIELD(hidden), UCS_CONFIG_TYPE_BOOL, NULL, "Hidden.",
     UCS_CONFIG_ENTRY_HIDDEN, NULL},
    {"BOUND_UINT", "16", FIELD(bound_count), UCS_CONFIG_TYPE_UINT, NULL, "?",
     UCS_CONFIG_ENTRY_HIDDEN, &bounds},
    {"BOUND_SIZE", "8k", FIELD(bound_size), UCS_CONFIG_TYPE_SIZE, NULL, "?",
     UCS_CONFIG_ENTRY_HIDDEN, &page_bounds},
    {"BOUND_TIME", "1us", FIELD(bound_ns), UCS_CONFIG_TYPE_TIME, NULL, "?",
     UCS_CONFIG_ENTRY_HIDDEN, &bounds},
    {"BOUND_RANGE", "10-20", FIELD(bound_range), UCS_CONFIG_TYPE_RANGE, NULL,
     "?", UCS_CONFIG_ENTRY_HIDDEN, &bounds},
    {0},
};

static const struct ucs_config_table table = {
    "test settings", "", entries, sizeof(struct options), 0, NULL};

static struct options options;

/* The value of that name reads so. */
static inline void check_text(const struct ucs_config_table *which,
                              const char *name, const char *expected)
{
    char text[UCS_CONFIG_VALUE_BYTES_MAX];

    ck_assert_int_eq(
        ucsi_config_get_text(which, &options, name, text, sizeof(text)),
        UCS_OK);
    ck_assert_msg(strcmp(text, expected) == 0, "%s: \"%s\", expected \"%s\"",
                  name, text, expected);
}

/* Set values; text NULL: it must be refused, with one message, and the value
 * stays. Else it must read as that text, which must set the same value. */
struct config_row {
    const char *name;
    const char *value;
    const char *text;
};

static inline void check_row(const struct config_row *row)
{
    char         before[UCS_CONFIG_VALUE_BYTES_MAX];
    ucs_status_t status;

    ck_assert_int_eq(ucsi_config_get_text(&table, &options, row->name, before,
                                          sizeof(before)),
                     UCS_OK);
    log_captured.count = 0;
    status = ucsi_config_set(&table, &options, row->name, row->value);
    ck_assert_uint_eq(log_captured.count, row->text == NULL);
    if (row->text == NULL) {
        ck_assert_msg(status == UCS_ERR_INVALID_PARAM, "%s=%s: %s", row->name,
                      row->value, ucs_status_string(status));
        check_text(&table, row->name, before);
        return;
    }
    ck_assert_msg(status == UCS_OK, "%s=%s: %s", row->name, row->value,
                  ucs_status_string(status));
    check_text(&table, row->name, row->text);
    ck_assert_int_eq(ucsi_config_set(&table, &options, row->name, row->text),
                     UCS_OK);
    check_text(&table, row->name, row->text);
}

static inline void check_rows(const struct config_row *rows, size_t count)
{
    size_t i;

    log_capture_start();
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    for (i = 0; i < count; ++i) {
        check_row(&rows[i]);
    }
    ucsi_config_release(&table, &options);
}

#endif
