/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_rows.c - one row: warm up, find the number of iterations, repeat,
 * and between the repetitions measure what the machine could do. */
#include "tools/perf_client.h"
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>

enum perf_rows_private {
    ROWS_RATE_BYTES      = 8,
    ROWS_INLINE_BYTES    = 56,    /* fit in a line beside its turn */
    ROWS_LINE_ITERATIONS = 20000, /* 2-5 ms a trial */
    ROWS_RING_ITERATIONS = 200000,
    ROWS_WARM_UP_MIN     = 16,
    ROWS_PIECES          = 64, /* of a repetition, the first is one */
    ROWS_SLOTS_MAX       = 3,  /* then a repetition ends early */
    ROWS_WARM_UP_MAX     = 12, /* rounds */
    ROWS_GROW_MAX        = 10, /* from round to round */
    ROWS_ITERATIONS_MIN  = 4,
    ROWS_ITERATIONS_MAX  = 1 << 28,
};

static bool rows_wants(const struct perf_options *options, enum perf_test test,
                       uint64_t size_bytes, bool sizes_given)
{
    if ((options->tests & (1u << test)) == 0) {
        return false;
    }
    if (test == PERF_TEST_BANDWIDTH) {
        return size_bytes > 0;
    }
    return (test != PERF_TEST_RATE) || sizes_given ||
           (size_bytes == ROWS_RATE_BYTES);
}

static void rows_add(struct perf_client *client, enum perf_test test,
                     uint64_t size_bytes)
{
    bool stream = (test == PERF_TEST_BANDWIDTH) || (test == PERF_TEST_RATE);
    struct perf_report *report = &client->report;
    struct perf_row    *row    = &report->rows[report->row_count++];

    row->test       = test;
    row->size_bytes = size_bytes;
    row->window     = stream ? client->options->window : 1;
}

void perf_rows_plan(struct perf_client *client)
{
    const struct perf_options *options     = client->options;
    bool                       sizes_given = options->sizes.count > 0;
    struct perf_sizes          sizes       = options->sizes;
    unsigned                   test;
    size_t                     i;

    if (!sizes_given) {
        perf_sizes_default(&sizes);
    }
    client->report.rows = tool_calloc(PERF_TEST_COUNT * sizes.count,
                                      sizeof(*client->report.rows));
    for (test = 0; test < PERF_TEST_COUNT; test++) {
        for (i = 0; i < sizes.count; i++) {
            if (rows_wants(options, (enum perf_test)test, sizes.bytes[i],
                           sizes_given)) {
                rows_add(client, (enum perf_test)test, sizes.bytes[i]);
            }
        }
    }
}

uint64_t perf_rows_buffer_bytes(const struct perf_client *client)
{
    uint64_t largest = 1;
    uint64_t needs;
    size_t   i;

    for (i = 0; i < client->report.row_count; i++) {
        needs = client->report.rows[i].size_bytes;
        if (client->options->verify) {
            needs =
                perf_verify_buffer_bytes(needs, client->report.rows[i].window);
        }
        largest = needs > largest ? needs : largest;
    }
    needs   = client->options->walk_mib << 20;
    largest = needs > largest ? needs : largest;
    return largest + client->options->piece_count * client->options->gap_bytes;
}

static struct perf_job rows_job(const struct perf_client *client,
                                const struct perf_row    *row,
                                enum perf_job_kind kind, uint64_t iterations)
{
    return (struct perf_job){.kind          = kind,
                             .test          = row->test,
                             .size_bytes    = row->size_bytes,
                             .iterations    = iterations,
                             .window        = row->window,
                             .seed          = client->report.seed,
                             .check_buffers = client->options->verify,
                             .walk_bytes    = client->options->walk_mib << 20,
                             .piece_count   = client->options->piece_count,
                             .gap_bytes     = client->options->gap_bytes};
}

static bool rows_verify(struct perf_client *client, struct perf_row *row)
{
    uint64_t fit      = PERF_VERIFY_BYTES / (row->size_bytes + 1);
    uint64_t messages = fit < PERF_VERIFY_MESSAGES ? fit : PERF_VERIFY_MESSAGES;
    struct perf_result mine;
    struct perf_job    job;

    messages   = messages > PERF_VERIFY_MIN ? messages : PERF_VERIFY_MIN;
    job        = rows_job(client, row, PERF_JOB_VERIFY, messages);
    job.window = perf_verify_window(row->size_bytes, row->window);
    if (!perf_client_job(client, &job, &mine, NULL)) {
        return false;
    }
    row->verified = 2 * messages;
    return true;
}

/* Warm up with more and more iterations and find out how many fill a
 * repetition. The fastest run counts: the first ones connect, and any may be
 * interrupted by other processes, which would leave a handful of iterations. */
static bool rows_calibrate(struct perf_client *client, struct perf_row *row)
{
    const struct perf_options *options = client->options;
    double   slot_ns = options->row_seconds * 1e9 / (double)options->repeat;
    uint64_t iterations =
        row->window > ROWS_WARM_UP_MIN ? row->window : ROWS_WARM_UP_MIN;
    double             best_ns = slot_ns;
    double             wanted  = ROWS_ITERATIONS_MIN;
    unsigned           round;
    struct perf_result mine;
    struct perf_job    job;
    double             each_ns;
    bool               grows;

    iterations = row->size_bytes >= 1 << 20 ? ROWS_ITERATIONS_MIN : iterations;
    for (round = 0; round < ROWS_WARM_UP_MAX; round++) {
        job = rows_job(client, row, PERF_JOB_MEASURE, iterations);
        if (!perf_client_job(client, &job, &mine, NULL)) {
            return false;
        }
        each_ns = ((double)mine.wall_ns + 1) / (double)iterations;
        best_ns = each_ns < best_ns ? each_ns : best_ns;
        wanted  = slot_ns / best_ns;
        grows   = (wanted > ROWS_GROW_MAX * (double)iterations) &&
                ((double)mine.wall_ns < slot_ns);
        if ((options->iterations > 0) || ((round >= 2) && !grows)) {
            break;
        }
        iterations *= grows ? ROWS_GROW_MAX : 1;
    }
    wanted = wanted < ROWS_ITERATIONS_MIN ? ROWS_ITERATIONS_MIN : wanted;
    wanted = wanted > ROWS_ITERATIONS_MAX ? ROWS_ITERATIONS_MAX : wanted;
    row->iterations =
        options->iterations > 0 ? options->iterations : (uint64_t)wanted;
    return true;
}

static double rows_value(const struct perf_row *row, double wall_ns)
{
    double each_ns = wall_ns / (double)row->iterations;

    switch (row->test) {
    case PERF_TEST_BANDWIDTH:
        return (double)row->size_bytes * 1e3 / each_ns; /* MB/s */
    case PERF_TEST_RATE:
        return 1e3 / each_ns; /* million a second */
    default:
        return each_ns / 2 / 1e3; /* us, half of a round trip */
    }
}

/* One trial of the raw limit of this row, in the unit of the row; 0: none.
 * A latency is bounded by a line from core to core and, above what fits in
 * the line, one copy. */
static bool rows_limit_trial(struct perf_client    *client,
                             const struct perf_row *row, double *limit_p)
{
    bool     rate       = row->test == PERF_TEST_RATE;
    uint64_t iterations = rate ? ROWS_RING_ITERATIONS : ROWS_LINE_ITERATIONS;
    struct perf_job job =
        rows_job(client, row, rate ? PERF_JOB_RING : PERF_JOB_LINE, iterations);
    struct perf_result mine;

    *limit_p = 0;
    if (row->test == PERF_TEST_BANDWIDTH) {
        *limit_p = (double)row->size_bytes * 1e3 /
                   perf_limits_copy_ns(&client->node, row->size_bytes);
        return true;
    }
    if (rate && (row->size_bytes > ROWS_INLINE_BYTES)) {
        return true;
    }
    if (!perf_client_job(client, &job, &mine, NULL)) {
        return false;
    }
    if (rate) {
        *limit_p = (double)iterations * 1e3 / (double)mine.wall_ns;
        return true;
    }
    *limit_p = (double)mine.wall_ns / (double)iterations / 2 / 1e3;
    if (row->size_bytes > ROWS_INLINE_BYTES) {
        *limit_p += perf_limits_copy_ns(&client->node, row->size_bytes) / 1e3;
    }
    return true;
}

/* Values of all repetitions; each array has options->repeat elements. */
struct rows_samples {
    double *value;
    double *limit;
    double *cpu_percent;
    double *raw; /* [repeat][PERF_RAW_COUNT] */
};

/* One repetition, in pieces that grow from a 64th to a half of it: a machine
 * that is busy with other things can make any of them a thousand times slower
 * than planned, and no loop looks at the clock. A piece costs the row nothing
 * but the wait for the last message. */
static bool rows_repetition(struct perf_client *client, struct perf_row *row,
                            struct perf_job job, struct perf_result *sum)
{
    const struct perf_options *options = client->options;
    double   slot_ns = options->row_seconds * 1e9 / (double)options->repeat;
    uint64_t planned = job.iterations;
    uint64_t done    = 0;
    uint64_t piece   = planned / ROWS_PIECES;
    struct perf_result mine;

    piece = piece > ROWS_WARM_UP_MIN ? piece : ROWS_WARM_UP_MIN;
    piece = options->iterations > 0 ? planned : piece;
    memset(sum, 0, sizeof(*sum));
    while ((done < planned) &&
           ((double)sum->wall_ns < ROWS_SLOTS_MAX * slot_ns)) {
        job.iterations = planned - done < 2 * piece ? planned - done : piece;
        if (!perf_client_job(client, &job, &mine, NULL)) {
            return false;
        }
        sum->wall_ns += mine.wall_ns;
        sum->cpu_ns += mine.cpu_ns;
        piece = done > 0 ? 2 * piece : piece;
        done += job.iterations;
    }
    row->iterations = done;
    return true;
}

static bool rows_repeat(struct perf_client *client, struct perf_row *row,
                        struct rows_samples *samples)
{
    struct perf_job job =
        rows_job(client, row, PERF_JOB_MEASURE, row->iterations);
    struct perf_result mine;

    for (job.turn = 0; job.turn < client->options->repeat; job.turn++) {
        if (!rows_repetition(client, row, job, &mine)) {
            return false;
        }
        samples->value[job.turn] = rows_value(row, (double)mine.wall_ns + 1);
        samples->cpu_percent[job.turn] =
            100.0 * (double)mine.cpu_ns / ((double)mine.wall_ns + 1);
        if ((client->limits_fd >= 0) &&
            !rows_limit_trial(client, row, &samples->limit[job.turn])) {
            return false;
        }
        if (!perf_socket_rows_trial(client, row,
                                    samples->raw + job.turn * PERF_RAW_COUNT)) {
            return false;
        }
    }
    return true;
}

static void rows_set_raw(struct perf_row *row, const struct rows_samples *all,
                         uint64_t repeat)
{
    unsigned raw;
    uint64_t turn;

    for (raw = 0; raw < PERF_RAW_COUNT; raw++) {
        for (turn = 0; turn < repeat; turn++) {
            /* The limits are done with: their place is free. */
            all->limit[turn] = all->raw[turn * PERF_RAW_COUNT + raw];
        }
        row->raw[raw] = perf_stats_of(all->limit, repeat).median;
    }
}

/* Is less better? */
static bool rows_is_time(enum perf_test test)
{
    return (test == PERF_TEST_LATENCY) || (test == PERF_TEST_SYNC);
}

bool perf_row_measure(struct perf_client *client, struct perf_row *row)
{
    uint64_t repeat = client->options->repeat;
    double  *memory =
        tool_calloc((3 + PERF_RAW_COUNT) * repeat, sizeof(*memory));
    struct rows_samples samples = {memory, memory + repeat, memory + 2 * repeat,
                                   memory + 3 * repeat};
    struct perf_stats   limit;
    bool                ok;

    ok = (!client->options->verify || rows_verify(client, row)) &&
         rows_calibrate(client, row) && rows_repeat(client, row, &samples);
    if (ok) {
        row->repetitions = repeat;
        row->value       = perf_stats_of(samples.value, repeat);
        limit            = perf_stats_of(samples.limit, repeat);
        row->limit       = limit.median;
        row->limit_best  = rows_is_time(row->test) ? limit.min : limit.max;
        row->cpu_percent = perf_stats_of(samples.cpu_percent, repeat).median;
        rows_set_raw(row, &samples, repeat);
    }
    free(memory);
    return ok;
}

bool perf_rows_measure_idle(struct perf_client *client)
{
    struct perf_job job = {.kind = PERF_JOB_IDLE, .iterations = 1, .window = 1};
    struct perf_result mine, theirs;

    if (!perf_client_job(client, &job, &mine, &theirs)) {
        return false;
    }
    client->report.idle_cpu_percent =
        100.0 * (double)theirs.cpu_ns / ((double)theirs.wall_ns + 1);
    return true;
}
