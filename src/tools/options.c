/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/options.h"

#include "tools/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum option_limit {
    OPTION_NAME_MAX   = 32, /* longer words are not compared for nearness */
    OPTION_COUNT_MAX  = 48,
    OPTION_NEAR_MAX   = 2, /* edits that still count as a slip */
    OPTION_HELP_WIDTH = 22,
    OPTION_WHY_BYTES  = 256,
};

bool tool_parse_u64(const char *text, uint64_t *value_p)
{
    char              *end;
    unsigned long long value;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if ((errno != 0) || (*end != '\0')) {
        return false;
    }
    *value_p = value;
    return true;
}

/* Levenshtein's distance, one row at a time. */
static size_t option_distance(const char *a, const char *b)
{
    size_t row[OPTION_NAME_MAX + 1];
    size_t i, j, diagonal, above, best;

    if ((b[0] == '\0') || (strlen(a) > OPTION_NAME_MAX) ||
        (strlen(b) > OPTION_NAME_MAX)) {
        return OPTION_NAME_MAX;
    }
    for (j = 0; j <= strlen(b); j++) {
        row[j] = j;
    }
    for (i = 0; a[i] != '\0'; i++) {
        diagonal = row[0];
        row[0]   = i + 1;
        for (j = 0; b[j] != '\0'; j++) {
            above      = row[j + 1];
            best       = diagonal + (a[i] != b[j]);
            best       = above + 1 < best ? above + 1 : best;
            best       = row[j] + 1 < best ? row[j] + 1 : best;
            diagonal   = above;
            row[j + 1] = best;
        }
    }
    return row[strlen(b)];
}

const char *tool_nearest(const char *text, const char *const *words)
{
    size_t      best = OPTION_NEAR_MAX + 1;
    size_t      distance;
    const char *found = NULL;

    for (; *words != NULL; words++) {
        distance = option_distance(text, *words);
        if (distance < best) {
            best  = distance;
            found = *words;
        }
    }
    return found;
}

static void option_print_help(const struct tool_command *command)
{
    const struct tool_option *option;
    const char               *line, *end;
    int                       width;

    printf("Usage: causeway %s\n\n%s\n\nOptions:\n", command->usage,
           command->summary);
    for (option = command->options; option->name != NULL; option++) {
        if (option->help == NULL) {
            continue;
        }
        width =
            printf("  --%s%s%s", option->name, option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
        if (width >= OPTION_HELP_WIDTH) {
            printf("\n");
            width = 0;
        }
        for (line = option->help; *line != '\0'; line = end) {
            end = line + strcspn(line, "\n");
            printf("%*s%.*s\n", OPTION_HELP_WIDTH - width, "",
                   (int)(end - line), line);
            width = 0;
            end += (*end == '\n');
        }
    }
    printf("%-*s%s\n", OPTION_HELP_WIDTH, "  --help", "This text.");
    if (command->after != NULL) {
        printf("\n%s\n", command->after);
    }
}

static void option_report_unknown(const struct tool_command *command,
                                  const char *command_name, const char *name)
{
    const char *words[OPTION_COUNT_MAX + 1] = {NULL};
    const char *near;
    size_t      i;

    for (i = 0; (i < OPTION_COUNT_MAX) && (command->options[i].name != NULL);
         i++) {
        /* Hidden ones are not offered; "" is near to nothing. */
        words[i] =
            command->options[i].help != NULL ? command->options[i].name : "";
    }
    near = tool_nearest(name, words);
    if (near != NULL) {
        tool_error("unknown option --%s (did you mean --%s?); "
                   "'causeway %s --help' lists all",
                   name, near, command_name);
    } else {
        tool_error("unknown option --%s; 'causeway %s --help' lists all", name,
                   command_name);
    }
}

static bool option_set_count(const struct tool_option *option, const char *text,
                             uint64_t *field)
{
    uint64_t value;

    if (!tool_parse_u64(text, &value) || (value < option->min) ||
        (value > option->max)) {
        tool_error("--%s '%s': expected a whole number from %llu to %llu",
                   option->name, text, (unsigned long long)option->min,
                   (unsigned long long)option->max);
        return false;
    }
    *field = value;
    return true;
}

static bool option_set_seconds(const struct tool_option *option,
                               const char *text, double *field)
{
    double min = (double)option->min / 1e3;
    double max = (double)option->max / 1e3;
    char  *end;
    double value = strtod(text, &end);

    /* "not within" rather than "outside": refuses NaN too. */
    if ((end == text) || (*end != '\0') ||
        !((value >= min) && (value <= max))) {
        tool_error("--%s '%s': expected seconds from %g to %g", option->name,
                   text, min, max);
        return false;
    }
    *field = value;
    return true;
}

static bool option_set(const struct tool_option *option, const char *text,
                       void *field)
{
    char why[OPTION_WHY_BYTES] = "";

    switch (option->kind) {
    case TOOL_OPTION_COUNT:
        return option_set_count(option, text, field);
    case TOOL_OPTION_SECONDS:
        return option_set_seconds(option, text, field);
    case TOOL_OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case TOOL_OPTION_CUSTOM:
        if (!option->set(text, field, why, sizeof(why))) {
            tool_error("--%s '%s': %s", option->name, text, why);
            return false;
        }
        return true;
    case TOOL_OPTION_FLAG:
        break;
    }
    *(bool *)field = true;
    return true;
}

/* Take the option at argv[*index_p], and its value if it has one. */
static bool option_take(const struct tool_command *command, int argc,
                        char **argv, void *target, int *index_p)
{
    const char *word        = argv[*index_p] + 2;
    size_t      name_length = strcspn(word, "=");
    const char *value =
        word[name_length] == '=' ? word + name_length + 1 : NULL;
    const struct tool_option *option;
    char                      name[OPTION_NAME_MAX + 1];

    snprintf(name, sizeof(name), "%.*s", (int)name_length, word);
    for (option = command->options; option->name != NULL; option++) {
        if (strcmp(option->name, name) == 0) {
            break;
        }
    }
    if (option->name == NULL) {
        option_report_unknown(command, argv[0], name);
        return false;
    }
    if ((option->value == NULL) && (value != NULL)) {
        tool_error("--%s takes no value", name);
        return false;
    }
    if ((option->value != NULL) && (value == NULL)) {
        if (*index_p + 1 >= argc) {
            tool_error("--%s needs a value: %s", name, option->value);
            return false;
        }
        value = argv[++*index_p];
    }
    return option_set(option, value, (char *)target + option->offset);
}

enum tool_parse tool_options_parse(const struct tool_command *command, int argc,
                                   char **argv, void *target, int *rest_p)
{
    int i;

    for (i = 1; i < argc; i++) {
        if ((strcmp(argv[i], "--help") == 0) || (strcmp(argv[i], "-h") == 0)) {
            option_print_help(command);
            return TOOL_PARSE_HELP;
        }
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if ((argv[i][0] == '-') && (argv[i][1] != '-')) {
            tool_error("unknown option %s; options are words with two "
                       "dashes, 'causeway %s --help' lists them",
                       argv[i], argv[0]);
            return TOOL_PARSE_BAD;
        }
        if (argv[i][0] != '-') {
            break;
        }
        if (!option_take(command, argc, argv, target, &i)) {
            return TOOL_PARSE_BAD;
        }
    }
    if (command->takes_words) {
        *rest_p = i;
    } else if (i < argc) {
        tool_error("unexpected word '%s'; 'causeway %s --help' explains",
                   argv[i], argv[0]);
        return TOOL_PARSE_BAD;
    }
    return TOOL_PARSE_OK;
}
