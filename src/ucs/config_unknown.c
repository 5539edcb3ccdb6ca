/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_unknown.c - finds variables that look like settings and are
 * none, most of which are typing errors, and guesses what was meant.
 *
 * A variable passes if a table has it, or if UCX has it. The settings of a
 * family of transports pass as well, unless they are one letter away from a
 * setting that a table has: UCX_TCP_NODLAY is told, UCX_TCP_FOO is not. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/config.h"
#include "ucs/config_file.h"
#include "ucs/config_names.h"
#include "ucs/config_value.h"
#include "ucs/log.h"

enum {
    /* A guess is at most a quarter of the name away; and this. Guess. */
    UNKNOWN_DISTANCE_MAX = 4,
    /* Most variables that are named; the others are counted. */
    UNKNOWN_NAMED_MAX      = 16,
    UNKNOWN_TEXT_BYTES_MAX = 3072
};

struct unknown_scan {
    const struct ucs_config_table *const *tables;
    struct ucs_config_text                text;
    unsigned                              count;
};

/* The closest name so far. */
struct unknown_guess {
    const char *wanted;
    char        name[UCS_CONFIG_NAME_BYTES_MAX];
    unsigned    distance;
};

/* Letters to insert, remove, replace or swap with their neighbour to make b
 * of a (optimal string alignment). Both are short names. */
static unsigned unknown_distance(const char *a, const char *b)
{
    unsigned rows[3][UCS_CONFIG_NAME_BYTES_MAX];
    size_t   a_length = strnlen(a, UCS_CONFIG_NAME_BYTES_MAX - 1);
    size_t   b_length = strnlen(b, UCS_CONFIG_NAME_BYTES_MAX - 1);
    size_t   i;
    size_t   j;

    for (j = 0; j <= b_length; ++j) {
        rows[0][j] = (unsigned)j;
    }
    for (i = 1; i <= a_length; ++i) {
        unsigned *row    = rows[i % 3];
        unsigned *above  = rows[(i + 2) % 3];
        unsigned *before = rows[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (j = 1; j <= b_length; ++j) {
            unsigned replace = above[j - 1] + (a[i - 1] != b[j - 1]);

            row[j] = ucs_min(above[j], row[j - 1]) + 1;
            row[j] = ucs_min(row[j], replace);
            if ((i > 1) && (j > 1) && (a[i - 1] == b[j - 2]) &&
                (a[i - 2] == b[j - 1])) {
                row[j] = ucs_min(row[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

static void unknown_guess_try(struct unknown_guess *guess, const char *prefix,
                              const char *name)
{
    char     whole[UCS_CONFIG_NAME_BYTES_MAX];
    unsigned distance;
    int      length = snprintf(whole, sizeof(whole), "%s%s", prefix, name);

    if ((length <= 0) || ((size_t)length >= sizeof(whole)) ||
        (labs(length - (long)strlen(guess->wanted)) >= (long)guess->distance)) {
        return; /* cannot be closer */
    }
    distance = unknown_distance(guess->wanted, whole);
    if (distance < guess->distance) {
        guess->distance = distance;
        memcpy(guess->name, whole, sizeof(whole));
    }
}

static void unknown_guess_prefix(struct unknown_guess          *guess,
                                 const struct ucs_config_entry *entry,
                                 const char                    *prefix)
{
    for (; entry->name != NULL; ++entry) {
        unknown_guess_try(guess, prefix, entry->name);
    }
}

/* The closest name of the tables; distance 0: it is one of them. */
static void unknown_guess_tables(struct unknown_guess                 *guess,
                                 const struct ucs_config_table *const *tables)
{
    const char *const *family;

    for (; *tables != NULL; ++tables) {
        unknown_guess_prefix(guess, (*tables)->entries, (*tables)->prefix);
        family = (*tables)->families;
        for (; (family != NULL) && (*family != NULL); ++family) {
            unknown_guess_prefix(guess, (*tables)->entries, *family);
        }
    }
}

static void unknown_tell(struct unknown_scan *scan, const char *variable,
                         const struct unknown_guess *guess)
{
    if (++scan->count > UNKNOWN_NAMED_MAX) {
        return;
    }
    ucs_config_text_add(&scan->text, (scan->count > 1) ? ", " : "");
    ucs_config_text_add(&scan->text, variable);
    if ((guess->distance <= UNKNOWN_DISTANCE_MAX) &&
        (guess->distance <= strlen(guess->wanted) / 4)) {
        ucs_config_text_add(&scan->text, " (did you mean UCX_");
        ucs_config_text_add(&scan->text, guess->name);
        ucs_config_text_add(&scan->text, "?)");
    }
}

/* Look at one variable; `name` is where the setting's name begins in it. */
static void unknown_check(struct unknown_scan *scan, const char *variable,
                          const char *name)
{
    struct unknown_guess guess = {.wanted   = name,
                                  .distance = UNKNOWN_DISTANCE_MAX + 1};
    unsigned             i;

    if (ucs_config_name_is_listed(name)) {
        return;
    }
    unknown_guess_tables(&guess, scan->tables);
    if ((guess.distance == 0) ||
        ((guess.distance > 1) && ucs_config_name_is_in_family(name))) {
        return;
    }
    for (i = 0; ucs_config_name_listed(i) != NULL; ++i) {
        unknown_guess_try(&guess, "", ucs_config_name_listed(i));
    }
    unknown_tell(scan, variable, &guess);
}

/* One string "NAME=value" of the environment. */
static void unknown_check_variable(struct unknown_scan *scan,
                                   const char *app_prefix, const char *string)
{
    char        variable[UCS_CONFIG_NAME_BYTES_MAX];
    const char *name   = variable;
    size_t      length = strcspn(string, "=");
    size_t      app_length;

    if (length >= sizeof(variable)) {
        return; /* no name that can be meant */
    }
    memcpy(variable, string, length);
    variable[length] = '\0';
    if (app_prefix != NULL) {
        app_length = strlen(app_prefix);
        if ((strncmp(variable, app_prefix, app_length) == 0) &&
            (strncmp(variable + app_length, "_UCX_", 5) == 0)) {
            name = variable + app_length + 1;
        }
    }
    if ((strncmp(name, "UCX_", 4) == 0) && (name[4] != '\0')) {
        unknown_check(scan, variable, name + 4);
    }
}

/* UCX_WARN_UNUSED_ENV_VARS, which is on when it is not set, or bad. */
static bool unknown_is_wanted(const char *app_prefix)
{
    struct warn_options {
        struct ucs_config_base base;
        bool                   is_on;
    } options;
    static const struct ucs_config_entry entries[] = {
        {"WARN_UNUSED_ENV_VARS", "y", offsetof(struct warn_options, is_on),
         UCS_CONFIG_TYPE_BOOL, NULL, "Warn about unknown variables.", 0, NULL},
        {0},
    };
    static const struct ucs_config_table table = {
        "warnings", "", entries, sizeof(options), UCS_CONFIG_TABLE_IGNORE_BAD,
        NULL};
    bool is_on = true;

    if (ucsi_config_read(&table, app_prefix, &options) == UCS_OK) {
        is_on = options.is_on;
        ucsi_config_release(&table, &options);
    }
    return is_on;
}

void ucsi_config_warn_unknown(const struct ucs_config_table *const *tables,
                              const char                           *app_prefix)
{
    static atomic_flag  is_done = ATOMIC_FLAG_INIT;
    char                text[UNKNOWN_TEXT_BYTES_MAX];
    struct unknown_scan scan = {tables, {text, sizeof(text), 0}, 0};
    char              **variable;

    if (atomic_flag_test_and_set_explicit(&is_done, memory_order_relaxed) ||
        !ucs_log_is_enabled(UCS_LOG_LEVEL_WARN) ||
        !unknown_is_wanted(app_prefix)) {
        return;
    }
    text[0] = '\0';
    for (variable = environ; (variable != NULL) && (*variable != NULL);
         ++variable) {
        unknown_check_variable(&scan, app_prefix, *variable);
    }
    if (scan.count == 0) {
        return;
    }
    if (scan.count > UNKNOWN_NAMED_MAX) {
        ucs_config_text_add(&scan.text, ", ...");
    }
    ucs_warn("%u environment variable(s) are no settings: %s "
             "(UCX_WARN_UNUSED_ENV_VARS=n keeps this quiet)",
             scan.count, text);
}
