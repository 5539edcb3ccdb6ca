/* SPDX-License-Identifier: BSD-3-Clause */
/* test_report.c - results as TAP (version 13) and as JUnit XML. */
#include "lib/test_internal.h"

#include <stdio.h>
#include <string.h>

static FILE *report_open(const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL) {
        (void)fprintf(stderr, "cannot write %s: %m\n", path);
    }
    return file;
}

static bool report_close(FILE *file, const char *path)
{
    bool ok = !ferror(file);

    ok = (fclose(file) == 0) && ok;
    if (!ok) {
        (void)fprintf(stderr, "cannot write %s: %m\n", path);
    }
    return ok;
}

/* One line, so that a reason with line ends cannot forge a result. */
static void put_line(FILE *file, const char *text)
{
    for (; *text != '\0'; ++text) {
        (void)fputc((*text == '\n') ? ' ' : *text, file);
    }
}

bool test_report_tap(const char *path, const struct test_record *results,
                     size_t count)
{
    FILE *file = report_open(path);

    if (file == NULL) {
        return false;
    }
    (void)fprintf(file, "TAP version 13\n1..%zu\n", count);
    for (size_t i = 0; i < count; ++i) {
        const struct test_record *result = &results[i];

        (void)fprintf(file, "%sok %zu - %s",
                      (result->outcome == TEST_FAILED) ? "not " : "", i + 1,
                      result->instance->name);
        if (result->outcome == TEST_SKIPPED) {
            (void)fputs(" # SKIP ", file);
            put_line(file, result->reason);
        }
        (void)fputc('\n', file);
        if (result->outcome == TEST_FAILED) {
            (void)fputs("# ", file);
            put_line(file, result->reason);
            (void)fprintf(file, "\n# seed %llu\n",
                          (unsigned long long)result->seed);
        }
    }
    return report_close(file, path);
}

static void put_xml(FILE *file, const char *text)
{
    for (; *text != '\0'; ++text) {
        unsigned char byte = (unsigned char)*text;

        if (byte == '&') {
            (void)fputs("&amp;", file);
        } else if (byte == '<') {
            (void)fputs("&lt;", file);
        } else if (byte == '>') {
            (void)fputs("&gt;", file);
        } else if (byte == '"') {
            (void)fputs("&quot;", file);
        } else if (byte == '\n') {
            (void)fputs("&#10;", file);
        } else {
            /* XML has no control bytes; a cut UTF-8 letter is not XML. */
            (void)fputc(((byte < 0x20) || (byte > 0x7e)) ? '?' : byte, file);
        }
    }
}

static void put_junit_case(FILE *file, const struct test_record *result)
{
    const struct test_instance *instance = result->instance;

    (void)fputs("  <testcase classname=\"", file);
    put_xml(file, instance->suite->name);
    (void)fputs("\" name=\"", file);
    put_xml(file, instance->name + strlen(instance->suite->name) + 1);
    (void)fprintf(file, "\" time=\"%.3f\"", result->seconds);
    if (result->outcome == TEST_PASSED) {
        (void)fputs("/>\n", file);
        return;
    }
    (void)fprintf(file, "><%s message=\"",
                  (result->outcome == TEST_FAILED) ? "failure" : "skipped");
    put_xml(file, result->reason);
    (void)fputs("\"/></testcase>\n", file);
}

bool test_report_junit(const char *path, const struct test_record *results,
                       size_t count)
{
    FILE  *file             = report_open(path);
    size_t outcome_count[3] = {0};
    double seconds          = 0;

    if (file == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        outcome_count[results[i].outcome]++;
        seconds += results[i].seconds;
    }
    (void)fprintf(file,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"causeway\" tests=\"%zu\" failures=\"%zu\""
                  " skipped=\"%zu\" errors=\"0\" time=\"%.3f\">\n",
                  count, outcome_count[TEST_FAILED],
                  outcome_count[TEST_SKIPPED], seconds);
    for (size_t i = 0; i < count; ++i) {
        put_junit_case(file, &results[i]);
    }
    (void)fputs("</testsuite>\n", file);
    return report_close(file, path);
}
