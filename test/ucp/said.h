/* SPDX-License-Identifier: BSD-3-Clause */
/* said.h - the lines of an explanation, kept, for the tests of explain. */
#ifndef TEST_UCP_SAID_H_
#define TEST_UCP_SAID_H_

#include <stdio.h>
#include <string.h>

#include "lib/test.h"

struct said {
    char   text[256 * 1024];
    size_t length;
};

/* Add a line; for struct ucp_explain. */
static inline void said_hear(void *arg, const char *text)
{
    struct said *said = arg;

    said->length +=
        (size_t)snprintf(said->text + said->length,
                         sizeof(said->text) - said->length, "%s\n", text);
    ck_assert_uint_lt(said->length, sizeof(said->text));
}

/* How often some words were said. */
static inline unsigned said_count(const struct said *said, const char *words)
{
    unsigned count = 0;

    for (const char *at = said->text; (at = strstr(at, words)) != NULL; ++at) {
        ++count;
    }
    return count;
}

#endif
