/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_print.c - results as a table, CSV or JSON, on standard output.
 * In a table the first line says which libucp was measured; CSV has it in
 * columns of every line, JSON in the object. */
#include "tools/perf.h"
#include "tools/tool.h"

#include <string.h>
#include <unistd.h>

enum perf_print_private {
    PRINT_TEXT_BYTES = 16,
    PRINT_LONG_ROWS  = 4, /* fewer rows need no progress line */
};

/* What one host can do, if it is one. */
static bool print_has_limit(const struct perf_options *options)
{
    return options->limits && (options->connect == NULL);
}

static void print_cpus(const struct perf_report *report)
{
    if ((report->cpus[0] >= 0) && (report->cpus[1] >= 0)) {
        printf("processors %d and %d", report->cpus[0], report->cpus[1]);
    } else if (report->cpus[0] >= 0) {
        printf("processor %d", report->cpus[0]);
    } else {
        printf("not pinned");
    }
}

/* A JSON string; a path may hold anything. */
static void print_json_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if ((*text == '"') || (*text == '\\')) {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            printf("\\u%04x", *text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

/* A CSV field, quoted, quotes doubled. */
static void print_csv_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            putchar('"');
        }
        putchar(*text);
    }
    putchar('"');
}

static void print_json_begin(const struct perf_report *report)
{
    printf("{\"tool\": \"causeway perf %s\",\n \"library\": ", tool_version());
    print_json_string(report->library);
    printf(",\n \"library_version\": ");
    print_json_string(report->version);
    printf(",\n \"cpus\": [%d, %d],\n \"seed\": %llu,\n \"rows\": [",
           report->cpus[0], report->cpus[1], (unsigned long long)report->seed);
}

static void print_csv_raw_head(void)
{
    unsigned raw;

    for (raw = 0; raw < PERF_RAW_COUNT; raw++) {
        const char *name = perf_raw_name((enum perf_raw)raw);

        printf(",%s,%s_ratio", name, name);
    }
    putchar('\n');
}

void perf_print_begin(const struct perf_options *options,
                      const struct perf_report  *report)
{
    if (options->json) {
        print_json_begin(report);
        return;
    }
    if (options->csv) {
        printf("test,size_bytes,unit,median,min,p10,p90,max,repetitions,"
               "iterations,window,limit,ratio,verified_messages,cpu_percent,"
               "seed,library_version,library");
        print_csv_raw_head();
        return;
    }
    printf("causeway perf %s on libucp %s (%s), ", tool_version(),
           report->version, report->library);
    print_cpus(report);
    if (options->procs > 2) {
        printf(", %llu more processes asleep",
               (unsigned long long)(options->procs - 2));
    }
    printf("\n");
    if (options->verify) {
        printf("data is checked, seed %llu\n",
               (unsigned long long)report->seed);
    }
    fflush(stdout);
}

static double print_raw_ratio(const struct perf_row *row, unsigned raw)
{
    return row->raw[raw] > 0 ? row->value.median / row->raw[raw] : 0;
}

static double print_ratio(const struct perf_row *row)
{
    return row->limit > 0 ? row->value.median / row->limit : 0;
}

static void print_csv_row(const struct perf_report *report,
                          const struct perf_row    *row)
{
    unsigned raw;

    printf("%s,%llu,%s,%.6g,%.6g,%.6g,%.6g,%.6g,%llu,%llu,%llu,",
           perf_test_name(row->test), (unsigned long long)row->size_bytes,
           perf_test_unit(row->test), row->value.median, row->value.min,
           row->value.p10, row->value.p90, row->value.max,
           (unsigned long long)row->repetitions,
           (unsigned long long)row->iterations,
           (unsigned long long)row->window);
    if (row->limit > 0) {
        printf("%.6g,%.4g", row->limit, print_ratio(row));
    } else {
        printf(",");
    }
    printf(",%llu,%.1f,%llu,", (unsigned long long)row->verified,
           row->cpu_percent, (unsigned long long)report->seed);
    print_csv_string(report->version);
    putchar(',');
    print_csv_string(report->library);
    for (raw = 0; raw < PERF_RAW_COUNT; raw++) {
        if (row->raw[raw] > 0) {
            printf(",%.6g,%.4g", row->raw[raw], print_raw_ratio(row, raw));
        } else {
            printf(",,");
        }
    }
    putchar('\n');
}

static void print_json_row(const struct perf_report *report,
                           const struct perf_row    *row)
{
    unsigned raw;

    printf("%s\n  {\"test\": \"%s\", \"size_bytes\": %llu, \"unit\": \"%s\", "
           "\"median\": %.6g, \"min\": %.6g, \"p10\": %.6g, \"p90\": %.6g, "
           "\"max\": %.6g, \"repetitions\": %llu, \"iterations\": %llu, "
           "\"window\": %llu, \"verified_messages\": %llu, "
           "\"cpu_percent\": %.1f",
           report->row_done > 0 ? "," : "", perf_test_name(row->test),
           (unsigned long long)row->size_bytes, perf_test_unit(row->test),
           row->value.median, row->value.min, row->value.p10, row->value.p90,
           row->value.max, (unsigned long long)row->repetitions,
           (unsigned long long)row->iterations, (unsigned long long)row->window,
           (unsigned long long)row->verified, row->cpu_percent);
    if (row->limit > 0) {
        printf(", \"limit\": %.6g, \"limit_best\": %.6g, \"ratio\": %.4g",
               row->limit, row->limit_best, print_ratio(row));
    }
    for (raw = 0; raw < PERF_RAW_COUNT; raw++) {
        const char *name = perf_raw_name((enum perf_raw)raw);

        if (row->raw[raw] > 0) {
            printf(", \"%s\": %.6g, \"%s_ratio\": %.4g", name, row->raw[raw],
                   name, print_raw_ratio(row, raw));
        }
    }
    printf("}");
}

static void print_table_head(const struct perf_options *options,
                             const struct perf_row     *row)
{
    printf("\n%s (%s", perf_test_title(row->test), perf_test_unit(row->test));
    if (row->window > 1) {
        printf(", window of %llu", (unsigned long long)row->window);
    }
    printf(")\n%8s %10s %10s %10s %10s %10s", "size", "median", "min", "p10",
           "p90", "max");
    if (print_has_limit(options)) {
        printf(" %10s %8s", "limit", "x limit");
    }
    if (options->verify) {
        printf(" %9s", "verified");
    }
    if (options->sleep != PERF_SLEEP_NEVER) {
        printf(" %6s", "cpu %");
    }
    printf("\n");
}

/* Four digits that mean something, whatever the size. */
static void print_number(double value)
{
    if (value >= 1000) {
        printf(" %10.0f", value);
    } else if (value >= 10) {
        printf(" %10.2f", value);
    } else {
        printf(" %10.4f", value);
    }
}

/* A line below the row: each bare socket, and how many times of it the row
 * is. */
static void print_table_raw(const struct perf_row *row)
{
    static const char *const titles[PERF_RAW_COUNT] = {
        [PERF_RAW_UDP]      = "udp packets",
        [PERF_RAW_SEGMENTS] = "udp segments",
        [PERF_RAW_TCP]      = "tcp"};
    const char *comma = "         raw:";
    unsigned    raw;

    for (raw = 0; raw < PERF_RAW_COUNT; raw++) {
        if (row->raw[raw] > 0) {
            printf("%s %s", comma, titles[raw]);
            print_number(row->raw[raw]);
            printf(" x %.2f", print_raw_ratio(row, raw));
            comma = ",";
        }
    }
    if (*comma == ',') {
        printf("\n");
    }
}

static void print_table_row(const struct perf_options *options,
                            const struct perf_report  *report,
                            const struct perf_row     *row)
{
    char size[PRINT_TEXT_BYTES];

    if ((report->row_done == 0) || (row[-1].test != row->test)) {
        print_table_head(options, row);
    }
    perf_size_format(row->size_bytes, size, sizeof(size));
    printf("%8s", size);
    print_number(row->value.median);
    print_number(row->value.min);
    print_number(row->value.p10);
    print_number(row->value.p90);
    print_number(row->value.max);
    if (print_has_limit(options) && (row->limit > 0)) {
        print_number(row->limit);
        printf(" %8.2f", print_ratio(row));
    } else if (print_has_limit(options)) {
        printf(" %10s %8s", "-", "-");
    }
    if (options->verify) {
        printf(" %9llu", (unsigned long long)row->verified);
    }
    if (options->sleep != PERF_SLEEP_NEVER) {
        printf(" %6.1f", row->cpu_percent);
    }
    printf("\n");
    print_table_raw(row);
}

void perf_print_row(const struct perf_options *options,
                    const struct perf_report  *report,
                    const struct perf_row     *row)
{
    if (options->json) {
        print_json_row(report, row);
    } else if (options->csv) {
        print_csv_row(report, row);
    } else {
        print_table_row(options, report, row);
    }
    fflush(stdout);
}

static void print_table_end(const struct perf_options *options,
                            const struct perf_report  *report)
{
    if (report->idle_cpu_percent >= 0) {
        printf("\nwaiting half a second for a message used %.2f %% of a "
               "processor\n",
               report->idle_cpu_percent);
    }
    if (print_has_limit(options)) {
        printf("\nlimit: latency, a cache line from core to core (and one "
               "memcpy if larger);\n       bandwidth, memcpy; rate, a bare "
               "ring. Same run, same cores.\n");
    }
    if (options->limits) {
        printf("%sraw: bare sockets %s; udp in packets of at most\n     1472 "
               "bytes, one a call or in segments (UDP_SEGMENT, UDP_GRO).\n",
               print_has_limit(options) ? "" : "\n",
               (options->connect == NULL) ? "on loopback"
                                          : "between the same addresses");
    }
}

void perf_print_end(const struct perf_options *options,
                    const struct perf_report  *report)
{
    if (options->json) {
        printf("\n ]");
        if (report->idle_cpu_percent >= 0) {
            printf(",\n \"idle_cpu_percent\": %.3f", report->idle_cpu_percent);
        }
        printf("}\n");
    } else if (!options->csv) {
        print_table_end(options, report);
    }
    fflush(stdout);
}

void perf_print_progress(const struct perf_report *report,
                         const struct perf_row    *row)
{
    char size[PRINT_TEXT_BYTES];

    if ((report->row_count < PRINT_LONG_ROWS) || !isatty(STDERR_FILENO)) {
        return;
    }
    if (row == NULL) {
        fprintf(stderr, "\r\033[K");
        return;
    }
    perf_size_format(row->size_bytes, size, sizeof(size));
    fprintf(stderr, "\r\033[K[%zu of %zu] %s %s", report->row_done + 1,
            report->row_count, perf_test_name(row->test), size);
}
