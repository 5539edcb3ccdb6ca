/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_sizes.c - the small languages of perf's options: sizes, tests,
 * processors; and the names of tests. */
#include "tools/options.h"
#include "tools/perf.h"
#include "tools/tool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum perf_text_limit { PERF_WORD_BYTES = 64 };

static const struct perf_test_text {
    const char *name;
    const char *title;
    const char *unit;
} perf_test_texts[PERF_TEST_COUNT] = {
    [PERF_TEST_LATENCY]   = {"lat", "tag latency, one way", "us"},
    [PERF_TEST_SYNC]      = {"sync", "synchronous tag latency, one way", "us"},
    [PERF_TEST_BANDWIDTH] = {"bw", "tag bandwidth, same buffers", "MB/s"},
    [PERF_TEST_RATE]      = {"rate", "tag message rate", "M/s"},
};

const char *perf_test_name(enum perf_test test)
{
    return perf_test_texts[test].name;
}

const char *perf_test_title(enum perf_test test)
{
    return perf_test_texts[test].title;
}

const char *perf_raw_name(enum perf_raw raw)
{
    static const char *const names[PERF_RAW_COUNT] = {
        [PERF_RAW_UDP]      = "raw_udp",
        [PERF_RAW_SEGMENTS] = "raw_udp_segments",
        [PERF_RAW_TCP]      = "raw_tcp"};

    return names[raw];
}

const char *perf_test_unit(enum perf_test test)
{
    return perf_test_texts[test].unit;
}

void perf_size_format(uint64_t bytes, char *text, size_t text_bytes)
{
    static const char units[] = "\0kmg";
    size_t            unit    = 0;

    while ((unit < 3) && (bytes >= 1024) && (bytes % 1024 == 0)) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, text_bytes, "%llu%.1s", (unsigned long long)bytes,
             &units[unit]);
}

static bool perf_size_parse(const char *text, uint64_t *bytes_p)
{
    static const char units[] = "bkmg";
    char              digits[PERF_WORD_BYTES];
    size_t            length = strlen(text);
    unsigned          shift  = 0;
    const char       *unit;
    uint64_t          value;

    if ((length == 0) || (length >= sizeof(digits))) {
        return false;
    }
    memcpy(digits, text, length + 1);
    unit = strchr(units, digits[length - 1] | 0x20);
    if (unit != NULL) {
        shift              = 10 * (unsigned)(unit - units);
        digits[length - 1] = '\0';
    }
    if (!tool_parse_u64(digits, &value) || (value > PERF_SIZE_MAX >> shift)) {
        return false;
    }
    *bytes_p = value << shift;
    return true;
}

static bool perf_sizes_add(struct perf_sizes *sizes, uint64_t bytes)
{
    if (sizes->count == PERF_SIZE_COUNT_MAX) {
        return false;
    }
    sizes->bytes[sizes->count++] = bytes;
    return true;
}

/* first, then every power of two up to last, then last if it is none. */
static bool perf_sizes_add_range(struct perf_sizes *sizes, uint64_t first,
                                 uint64_t last)
{
    uint64_t power = 1;
    bool     fits  = perf_sizes_add(sizes, first);

    while (power <= first) {
        power *= 2;
    }
    for (; power < last; power *= 2) {
        fits = fits && perf_sizes_add(sizes, power);
    }
    return (last > first) ? fits && perf_sizes_add(sizes, last) : fits;
}

/* One word of the list: SIZE or SIZE-SIZE. */
static bool perf_sizes_add_word(struct perf_sizes *sizes, char *word)
{
    char    *dash = strchr(word, '-');
    uint64_t first, last;

    if (dash != NULL) {
        *dash = '\0';
    }
    if (!perf_size_parse(word, &first)) {
        return false;
    }
    if (dash == NULL) {
        return perf_sizes_add(sizes, first);
    }
    return perf_size_parse(dash + 1, &last) && (first <= last) &&
           perf_sizes_add_range(sizes, first, last);
}

/* Call add(field, word) for each word between commas.
 * @return false if one was refused, or a word is empty or too long. */
static bool perf_for_each_word(const char *text, void *field,
                               bool (*add)(void *field, char *word))
{
    char   word[PERF_WORD_BYTES];
    size_t length;

    for (;; text += length + 1) {
        length = strcspn(text, ",");
        if ((length == 0) || (length >= sizeof(word))) {
            return false;
        }
        memcpy(word, text, length);
        word[length] = '\0';
        if (!add(field, word)) {
            return false;
        }
        if (text[length] == '\0') {
            return true;
        }
    }
}

static bool perf_sizes_add_field(void *field, char *word)
{
    return perf_sizes_add_word(field, word);
}

bool perf_sizes_set(const char *text, void *field, char *why, size_t why_bytes)
{
    struct perf_sizes *sizes = field;

    sizes->count = 0;
    if (perf_for_each_word(text, sizes, perf_sizes_add_field)) {
        return true;
    }
    snprintf(why, why_bytes,
             "expected up to %d sizes or ranges from 0 to 1g, for example "
             "8,1k,64k-16m",
             PERF_SIZE_COUNT_MAX);
    return false;
}

void perf_sizes_default(struct perf_sizes *sizes)
{
    sizes->count = 0;
    (void)perf_sizes_add_range(sizes, 0, UINT64_C(16) << 20);
}

static bool perf_tests_add(void *field, char *word)
{
    uint32_t *tests = field;
    unsigned  i;

    for (i = 0; i < PERF_TEST_COUNT; i++) {
        if (strcmp(word, perf_test_texts[i].name) == 0) {
            *tests |= 1u << i;
            return true;
        }
    }
    return false;
}

bool perf_tests_set(const char *text, void *field, char *why, size_t why_bytes)
{
    uint32_t tests = 0;

    if (!perf_for_each_word(text, &tests, perf_tests_add)) {
        snprintf(why, why_bytes, "expected one or more of lat, sync, bw, rate");
        return false;
    }
    *(uint32_t *)field = tests;
    return true;
}

bool perf_sleep_set(const char *text, void *field, char *why, size_t why_bytes)
{
    enum perf_sleep *sleep_p = field;

    if (strcmp(text, "wait") == 0) {
        *sleep_p = PERF_SLEEP_WAIT;
    } else if (strcmp(text, "efd") == 0) {
        *sleep_p = PERF_SLEEP_EFD;
    } else {
        snprintf(why, why_bytes,
                 "expected wait (ucp_worker_wait) or efd "
                 "(ucp_worker_arm and poll)");
        return false;
    }
    return true;
}

/* A processor that this process may use. */
static bool perf_cpu_parse(const char *text, int *cpu_p)
{
    cpu_set_t allowed;
    uint64_t  value;

    CPU_ZERO(&allowed);
    if (!tool_parse_u64(text, &value) || (value >= CPU_SETSIZE) ||
        (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) ||
        !CPU_ISSET((int)value, &allowed)) {
        return false;
    }
    *cpu_p = (int)value;
    return true;
}

bool perf_cpus_set(const char *text, void *field, char *why, size_t why_bytes)
{
    struct perf_cpus *cpus = field;
    char              first[PERF_WORD_BYTES];
    const char       *comma = strchr(text, ',');

    cpus->given = true;
    cpus->none  = strcmp(text, "none") == 0;
    if (cpus->none) {
        cpus->index[0] = cpus->index[1] = -1;
        return true;
    }
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, ","), text);
    cpus->index[1] = -1;
    if (perf_cpu_parse(first, &cpus->index[0]) &&
        ((comma == NULL) || perf_cpu_parse(comma + 1, &cpus->index[1]))) {
        return true;
    }
    snprintf(why, why_bytes,
             "expected two processors that this process may "
             "use, for example 0,1 (one for --listen and "
             "--connect), or none");
    return false;
}
