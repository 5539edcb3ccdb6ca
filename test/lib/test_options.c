/* SPDX-License-Identifier: BSD-3-Clause */
/* test_options.c - the runner's arguments, and the filter they may hold. */
#include "lib/test_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char help_text[] =
    "Run tests; names are suite.topic__case or suite.topic__case/param.\n"
    "  --list                  print the names that the filter selects\n"
    "  --filter=P[:P][-N[:N]]  run what a P matches and no N does (* ?)\n"
    "  --repeat=N              run everything N times, each with a new seed\n"
    "  --jobs=N                run N tests at the same time; default: 1\n"
    "  --shuffle               in random order (of the seed)\n"
    "  --seed=N                start of every random number; default: random\n"
    "  --tap=FILE              write the results as TAP\n"
    "  --junit=FILE            write the results as JUnit XML\n"
    "  --no-fork               run in this process, for a debugger; without\n"
    "                          time limit and memory check\n"
    "  --timeout-multiplier=X  give every time limit X times as long\n"
    "  --keep-env              keep UCX_* variables of the environment\n"
    "The words in TEST_OPTIONS are read before the arguments.\n";

static bool parse_u64(const char *text, uint64_t *value_p)
{
    char *end;

    errno    = 0;
    *value_p = strtoull(text, &end, 0);
    return (errno == 0) && (end != text) && (*end == '\0') && (*text != '-');
}

static bool parse_flag(const char *word, struct test_options *options)
{
    if (strcmp(word, "--list") == 0) {
        options->list = true;
    } else if (strcmp(word, "--shuffle") == 0) {
        options->shuffle = true;
    } else if (strcmp(word, "--no-fork") == 0) {
        options->no_fork = true;
    } else if (strcmp(word, "--keep-env") == 0) {
        options->keep_env = true;
    } else {
        return false;
    }
    return true;
}

/* The text after "--name=", or NULL if the word is another option. */
static const char *value_of(const char *word, const char *name)
{
    size_t length = strlen(name);

    return (strncmp(word, name, length) == 0) ? word + length : NULL;
}

/* A number from 1 to [max]; 0 in *count_p: it is none. */
static bool parse_count(const char *value, unsigned max, unsigned *count_p)
{
    uint64_t number = 0;
    bool     ok = parse_u64(value, &number) && (number > 0) && (number <= max);

    *count_p = ok ? (unsigned)number : 0;
    return ok;
}

static bool parse_value(const char *word, struct test_options *options)
{
    const char *value;
    char       *end;

    if ((value = value_of(word, "--filter=")) != NULL) {
        options->filter = value;
        return true;
    }
    if ((value = value_of(word, "--tap=")) != NULL) {
        options->tap_path = value;
        return *value != '\0';
    }
    if ((value = value_of(word, "--junit=")) != NULL) {
        options->junit_path = value;
        return *value != '\0';
    }
    if ((value = value_of(word, "--seed=")) != NULL) {
        return parse_u64(value, &options->seed);
    }
    if ((value = value_of(word, "--repeat=")) != NULL) {
        return parse_count(value, 1000000, &options->repeat_count);
    }
    if ((value = value_of(word, "--jobs=")) != NULL) {
        return parse_count(value, 1000, &options->job_count);
    }
    if ((value = value_of(word, "--timeout-multiplier=")) != NULL) {
        options->timeout_multiplier = strtod(value, &end);
        return (end != value) && (*end == '\0') &&
               (options->timeout_multiplier > 0);
    }
    return false;
}

static bool parse_word(const char *word, struct test_options *options)
{
    if ((strcmp(word, "--help") == 0) || (strcmp(word, "-h") == 0)) {
        (void)fputs(help_text, stdout);
        exit(0);
    }
    if (!parse_flag(word, options) && !parse_value(word, options)) {
        (void)fprintf(stderr, "%s: cannot use argument '%s'; see --help\n",
                      options->program, word);
        return false;
    }
    return true;
}

bool test_options_parse(int argc, char **argv, struct test_options *options)
{
    const char *environment = getenv("TEST_OPTIONS");
    bool        ok          = true;

    *options = (struct test_options){.program            = argv[0],
                                     .filter             = "*",
                                     .repeat_count       = 1,
                                     .job_count          = 1,
                                     .timeout_multiplier = 1.0};
    if (getrandom(&options->seed, sizeof(options->seed), 0) !=
        (ssize_t)sizeof(options->seed)) {
        (void)fprintf(stderr, "%s: getrandom: %m\n", argv[0]);
        return false;
    }
    options->seed >>= 32; /* short enough to type */

    if (environment != NULL) {
        /* Never freed: filter and paths point into it. */
        static char *words;
        char        *save;

        free(words);
        words = strdup(environment);
        for (char *word = strtok_r(words, " ", &save); ok && (word != NULL);
             word       = strtok_r(NULL, " ", &save)) {
            ok = parse_word(word, options);
        }
    }
    for (int i = 1; ok && (i < argc); ++i) {
        ok = parse_word(argv[i], options);
    }
    return ok;
}

/* Does any of the patterns between begin and end match? */
static bool match_any(const char *begin, const char *end, const char *name)
{
    char pattern[TEST_NAME_BYTES_MAX];

    while (begin < end) {
        const char *colon  = memchr(begin, ':', (size_t)(end - begin));
        const char *stop   = (colon != NULL) ? colon : end;
        size_t      length = (size_t)(stop - begin);

        if ((length > 0) && (length < sizeof(pattern))) {
            memcpy(pattern, begin, length);
            pattern[length] = '\0';
            if (fnmatch(pattern, name, FNM_NOESCAPE) == 0) {
                return true;
            }
        }
        begin = stop + 1;
    }
    return false;
}

bool test_filter_match(const char *filter, const char *name)
{
    const char *end      = filter + strlen(filter);
    const char *minus    = strchr(filter, '-');
    const char *positive = (minus != NULL) ? minus : end;

    if ((positive != filter) && !match_any(filter, positive, name)) {
        return false;
    }
    return (minus == NULL) || !match_any(minus + 1, end, name);
}
