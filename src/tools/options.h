/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/options.h - a command line as a table.
 *
 * A row names an option, says what it means and which field of the command's
 * own struct it fills. --help and every error are made from the same rows, so
 * they cannot contradict one another. "--name=value" and "--name value" both
 * work; the first word that is not an option ends the options. */
#ifndef CAUSEWAY_TOOL_OPTIONS_H_
#define CAUSEWAY_TOOL_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tool_option_kind {
    TOOL_OPTION_FLAG,    /* bool */
    TOOL_OPTION_COUNT,   /* uint64_t between min and max */
    TOOL_OPTION_SECONDS, /* double, seconds between min and max ms */
    TOOL_OPTION_TEXT,    /* const char *, borrowed from argv */
    TOOL_OPTION_CUSTOM,  /* set() stores it */
};

/* Store [text] at [field], or write into why[why_bytes] what is allowed.
 * @return false if the text was refused. */
typedef bool (*tool_option_set_fn)(const char *text, void *field, char *why,
                                   size_t why_bytes);

struct tool_option {
    const char *name;  /* without dashes; NULL ends the table */
    const char *value; /* what --help calls the value; NULL for a flag */
    const char *help;  /* one or more lines; NULL: not shown */
    enum tool_option_kind kind;
    size_t                offset; /* of the field in the command's struct */
    uint64_t              min;
    uint64_t              max;
    tool_option_set_fn    set; /* CUSTOM only */
};

struct tool_command {
    const char *usage;       /* behind "causeway " */
    bool        takes_words; /* behind the options; else refused */
    const char *summary;     /* sentences above the options */
    const struct tool_option *options;
    const char *after; /* below the options: examples; may be NULL */
};

enum tool_parse {
    TOOL_PARSE_OK,
    TOOL_PARSE_HELP, /* --help was asked for and printed */
    TOOL_PARSE_BAD,  /* an error was printed */
};

/* Fill [target] from argv[1..argc-1].
 *
 * @param rest_p index of the first word behind the options; OK only. NULL for
 *               a command that takes no words. */
enum tool_parse tool_options_parse(const struct tool_command *command, int argc,
                                   char **argv, void *target, int *rest_p);

/* Read an unsigned decimal number that fills the whole text.
 * @return false, and *value_p untouched, for anything else. */
bool tool_parse_u64(const char *text, uint64_t *value_p);

/* The word of [words] (NULL ends it) that [text] most likely means.
 * @return NULL if none is near. */
const char *tool_nearest(const char *text, const char *const *words);

#endif
