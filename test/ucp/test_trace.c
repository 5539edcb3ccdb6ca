/* SPDX-License-Identifier: BSD-3-Clause */
/* test_trace.c - src/ucp/core/trace*.c: what is written of each message, that
 * both sides name it alike, and that the file is whole however a process
 * ends. */
#include "ucp/core/trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/core/trace_event.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/trace_lines.h"
#include "ucs/log.h"

enum { TAG = 7, BYTES_MAX = 300000 };

static char    trace_path[64];
static uint8_t trace_out[BYTES_MAX], trace_in[BYTES_MAX];

static void trace_setup(const struct test_param *param)
{
    (void)param;
    (void)snprintf(trace_path, sizeof(trace_path), "/tmp/ucp_test_trace.%d",
                   (int)getpid());
    (void)setenv("UCX_TRACE_FILE", "/tmp/ucp_test_trace.%p", 1);
}

static void trace_teardown(const struct test_param *param)
{
    (void)param;
    (void)unlink(trace_path);
}

/* Warnings that were logged, counted. */
static void count_warning(void *arg, ucs_log_level_t level, const char *file,
                          unsigned line, const char *text)
{
    (void)file;
    (void)line;
    (void)text;
    *(unsigned *)arg += (level <= UCS_LOG_LEVEL_WARN);
}

static void exchange(struct pair *pair, size_t length)
{
    void *receive = pair_receive(pair, 1, trace_in, length, TAG);
    void *send;

    pattern_fill(trace_out, length, (unsigned)length);
    send = pair_send(pair, 0, trace_out, length, TAG);
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(trace_in, length, (unsigned)length);
}

/* Each arrow has both ends, the end is not before the start; every request
 * that begins also ends, by the name that it began with. */
static void check_sense(const struct trace_lines *all)
{
    unsigned begins = 0;

    for (unsigned i = 0; i < all->count; ++i) {
        const struct trace_line *start   = &all->lines[i];
        unsigned                 partner = 0;

        if ((start->ph == 'b') || (start->ph == 's')) {
            char other = (start->ph == 'b') ? 'e' : 'f';

            for (unsigned j = 0; j < all->count; ++j) {
                const struct trace_line *end = &all->lines[j];

                partner += (end->ph == other) && (end->ts >= start->ts) &&
                           (strcmp(end->id, start->id) == 0) &&
                           (strcmp(end->name, start->name) == 0);
            }
            ck_assert_msg(partner > 0, "line %u: %c %s has no end", i,
                          start->ph, start->id);
        }
        begins += (start->ph == 'b') - (start->ph == 'e');
    }
    ck_assert_int_eq((int)begins, 0);
    ck_assert_uint_eq(trace_count(all, 's', NULL, NULL),
                      trace_count(all, 'f', NULL, NULL));
}

/* Over every transport and protocol: all bytes are accounted for on both
 * sides, whatever way they went. */
static void trace__every_byte_is_there(const struct test_param *param)
{
    static const size_t lengths[] = {0, 1, 8, 500, 9000, 70000, BYTES_MAX};
    struct trace_lines  all;
    struct pair         pair;
    uint64_t            bytes = 0;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        exchange(&pair, lengths[i]);
        bytes += lengths[i];
    }
    pair_close(&pair);
    all = trace_lines_load(trace_path);
    check_sense(&all);
    ck_assert_uint_eq(trace_count(&all, 'M', NULL, "process_name"), 1);
    ck_assert_uint_eq(trace_count(&all, 'M', NULL, "causeway_clock"), 1);
    if (strcmp(param->name, "example_zcopy") == 0) {
        /* its completions come later */
        ck_assert_uint_gt(trace_count(&all, 'b', "flight", "EAGER"), 0);
    }
    bytes += trace_bytes(&all, "send", "ANNOUNCE");
    ck_assert_uint_eq(trace_bytes(&all, "send", NULL) +
                          trace_bytes(&all, "remote", NULL),
                      bytes);
    ck_assert_uint_eq(trace_bytes(&all, "receive", NULL) +
                          trace_bytes(&all, "remote", NULL),
                      bytes);
    trace_lines_free(&all);
}

/* The array is written out when it is full; nothing is lost. */
static void trace__more_than_the_array_holds(const struct test_param *param)
{
    enum { COUNT = UCP_TRACE_EVENT_COUNT_MAX + 10 };
    struct trace_lines all;
    struct pair        pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    for (unsigned i = 0; i < COUNT; ++i) {
        exchange(&pair, 0);
    }
    pair_close(&pair);
    all = trace_lines_load(trace_path);
    ck_assert_uint_eq(trace_count(&all, 'X', "send", NULL) -
                          trace_count(&all, 'X', "send", "ANNOUNCE"),
                      trace_count(&all, 'X', "receive", NULL) -
                          trace_count(&all, 'X', "receive", "ANNOUNCE"));
    ck_assert_uint_ge(trace_count(&all, 'X', "send", NULL), COUNT);
    ck_assert_uint_gt(trace_count(&all, 'X', "trace", NULL), 0);
    trace_lines_free(&all);
}

/* A second worker of the same process, later: the same file goes on. */
static void trace__goes_on_after_a_close(const struct test_param *param)
{
    struct trace_lines all;
    struct pair        pair;

    for (int i = 0; i < 2; ++i) {
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
        exchange(&pair, 100);
        pair_close(&pair);
    }
    all = trace_lines_load(trace_path);
    check_sense(&all);
    ck_assert_uint_eq(trace_count(&all, 'M', NULL, "process_name"), 1);
    ck_assert_uint_eq(trace_bytes(&all, "send", NULL) -
                          trace_bytes(&all, "send", "ANNOUNCE"),
                      200);
    trace_lines_free(&all);
}

/* UCX_STATS_DEST: the sum of what every protocol's lines of that kind say. */
static uint64_t stats_sum(const char *path, const char *kind)
{
    FILE    *file = fopen(path, "r");
    char     line[256], title[64], name[64], counter[64];
    uint64_t sum = 0, value;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *end;

        ck_assert_int_eq(sscanf(line, "%*s %63s %63s %63s %" SCNu64, title,
                                name, counter, &value),
                         4);
        end = strrchr(counter, '_');
        if ((strcmp(title, "protocol") == 0) && (end != NULL) &&
            (strcmp(end + 1, kind) == 0)) {
            sum += value;
        }
    }
    (void)fclose(file);
    return sum;
}

/* Every message is counted once, whoever carries it, with all its bytes; with
 * a trace beside and without. */
static void trace__is_summed_up(const struct test_param *param)
{
    static const size_t lengths[] = {0, 1, 8, 500, 9000, 70000, BYTES_MAX};
    char                path[64], destination[80];
    uint64_t            bytes = 0;

    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_stats.%d", (int)getpid());
    (void)snprintf(destination, sizeof(destination), "file:%s", path);
    (void)setenv("UCX_STATS_DEST", destination, 1);
    for (unsigned with_file = 0; with_file < 2; ++with_file) {
        struct pair pair;

        if (with_file == 0) {
            (void)unsetenv("UCX_TRACE_FILE");
        } else {
            (void)setenv("UCX_TRACE_FILE", "/tmp/ucp_test_trace.%p", 1);
        }
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
        for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
            exchange(&pair, lengths[i]);
            bytes += lengths[i];
        }
        pair_close(&pair);
        ck_assert_uint_eq(stats_sum(path, "messages"),
                          (with_file + 1) * UCS_ARRAY_COUNT(lengths));
        ck_assert_uint_eq(stats_sum(path, "bytes"), bytes);
    }
    (void)unlink(path);
}

static void run_child(void (*body)(const struct test_param *param),
                      const struct test_param *param, pid_t *child_p)
{
    *child_p = fork();
    ck_assert_int_ge(*child_p, 0);
    if (*child_p == 0) {
        body(param);
        exit(3);
    }
}

/* Exits without closing anything. */
static void exchange_and_leave(const struct test_param *param)
{
    struct pair *pair = calloc(1, sizeof(*pair));

    ck_assert_ptr_nonnull(pair);
    pair_open(pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    exchange(pair, 12345);
    exit(0);
}

static void trace__is_whole_after_exit(const struct test_param *param)
{
    struct trace_lines all;
    char               path[64];
    pid_t              child;
    int                status;

    run_child(exchange_and_leave, param, &child);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_trace.%d", (int)child);
    all = trace_lines_load(path);
    check_sense(&all);
    ck_assert_uint_eq(trace_bytes(&all, "send", NULL) +
                          trace_bytes(&all, "remote", NULL) -
                          trace_bytes(&all, "send", "ANNOUNCE"),
                      12345);
    trace_lines_free(&all);
    (void)unlink(path);
}

/* Dies in the middle: what was written is whole. */
static void exchange_and_die(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    for (unsigned i = 0; i < UCP_TRACE_EVENT_COUNT_MAX; ++i) {
        exchange(&pair, 1);
    }
    (void)raise(SIGKILL);
}

static void trace__is_whole_after_kill(const struct test_param *param)
{
    struct trace_lines all;
    char               path[64];
    pid_t              child;
    int                status;

    run_child(exchange_and_die, param, &child);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_trace.%d", (int)child);
    all = trace_lines_load(path);
    ck_assert_uint_gt(trace_count(&all, 'X', "send", NULL), 1000);
    trace_lines_free(&all);
    (void)unlink(path);
}

/* A child that only exits writes nothing into its parent's file, and one that
 * goes on by itself has a file of its own. */
static void trace__a_child_has_its_own(const struct test_param *param)
{
    struct trace_lines all;
    struct pair        pair;
    char               path[64];
    pid_t              children[2];
    int                status;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    exchange(&pair, 50);
    children[0] = fork();
    if (children[0] == 0) {
        exit(0);
    }
    run_child(exchange_and_leave, param, &children[1]);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    }
    exchange(&pair, 60);
    pair_close(&pair);
    all = trace_lines_load(trace_path);
    check_sense(&all);
    ck_assert_uint_eq(trace_bytes(&all, "receive", NULL) -
                          trace_bytes(&all, "receive", "ANNOUNCE"),
                      110);
    trace_lines_free(&all);
    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_trace.%d",
                   (int)children[1]);
    all = trace_lines_load(path);
    check_sense(&all);
    trace_lines_free(&all);
    (void)unlink(path);
}

/* A request whose peer goes away ends, in the trace too. */
static void trace__an_aborted_request_ends(const struct test_param *param)
{
    struct trace_lines all;
    struct pair        pair;
    void              *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send = pair_send_sync(&pair, 0, trace_out, BYTES_MAX, TAG);
    ck_assert(UCS_PTR_IS_PTR(send));
    ucp_request_free(send);
    pair_abandon(&pair);
    all = trace_lines_load(trace_path);
    ck_assert_uint_eq(trace_count(&all, 'b', "request", NULL),
                      trace_count(&all, 'e', "request", NULL));
    trace_lines_free(&all);
}

/* Another protocol takes a message over: the line of the first ends, its own
 * begins, so that each ends as it began. */
static void
trace__a_fall_back_is_a_line_of_its_own(const struct test_param *param)
{
    static const struct pair_setup setup = {
        .tls = "self", .rndv_threshold = "0", .rndv_scheme = "get_zcopy"};
    struct trace_lines all;
    struct pair        pair;

    (void)param;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_NONE);
    exchange(&pair, 9000);
    pair.eps[0]->refused = 0xff; /* as if the peer had */
    exchange(&pair, 9000);
    pair_close(&pair);
    all = trace_lines_load(trace_path);
    check_sense(&all);
    ck_assert_uint_eq(trace_count(&all, 'b', "request", "rndv/rdma_get"), 2);
    ck_assert_uint_eq(trace_count(&all, 'e', "request", "rndv/rdma_get"), 2);
    ck_assert_uint_eq(trace_count(&all, 'b', "request", "rndv/pipeline_send"),
                      1);
    ck_assert_uint_eq(trace_count(&all, 'e', "request", "rndv/pipeline_send"),
                      1);
    trace_lines_free(&all);
}

/* Each way in which there is no file: one warning, and everything works. */
static void trace__no_file(const struct test_param *param)
{
    struct row {
        const char *path;
        unsigned    warnings;
    };
    static const struct row rows[] = {
        {"", 0},
        {"/nonexistent/trace.json", 2}, /* one for each worker */
        {"/tmp", 2},
        {"/dev/full", 2},
        {"/tmp/ucp_test_trace_locked", 2},
    };
    int lock = open(rows[4].path, O_CREAT | O_RDWR, 0600);

    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(flock(lock, LOCK_EX), 0);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        unsigned               warnings = 0;
        struct ucs_log_handler handler  = {count_warning, &warnings};
        struct pair            pair;

        (void)setenv("UCX_TRACE_FILE", rows[i].path, 1);
        (void)ucsi_log_set_handler(&handler);
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
        exchange(&pair, 1000);
        pair_close(&pair);
        (void)ucsi_log_set_handler(NULL);
        ck_assert_msg(warnings <= rows[i].warnings, "%s: %u warnings",
                      rows[i].path, warnings);
        ck_assert_int_eq(warnings > 0, rows[i].warnings > 0);
    }
    (void)close(lock);
    (void)unlink(rows[4].path);
}

/* Without the setting nothing stands between libucp and the transport. */
static void trace__off_is_not_there(const struct test_param *param)
{
    struct pair pair;

    (void)unsetenv("UCX_TRACE_FILE");
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    ck_assert_ptr_null(pair.workers[0]->trace);
    ck_assert_ptr_eq(pair.eps[0]->message_ep->transport,
                     pair.eps[0]->message_ep->iface->transport);
    pair_close(&pair);
}

static const struct test_case trace_cases[] = {
    TEST(trace__every_byte_is_there),
    TEST(trace__an_aborted_request_ends),
    TEST(trace__is_summed_up),
    {0},
};

static const struct test_case trace_file_cases[] = {
    TEST(trace__more_than_the_array_holds),
    TEST(trace__goes_on_after_a_close),
    TEST(trace__is_whole_after_exit),
    TEST(trace__is_whole_after_kill),
    TEST(trace__a_child_has_its_own),
    TEST(trace__no_file),
    TEST(trace__a_fall_back_is_a_line_of_its_own),
    TEST(trace__off_is_not_there),
    {0},
};

const struct test_suite trace_suite = {.name     = "trace",
                                       .cases    = trace_cases,
                                       .params   = pair_protocols,
                                       .setup    = trace_setup,
                                       .teardown = trace_teardown};

static const struct test_param trace_sm[] = {
    {.name = "sm", .value = &(const struct pair_setup){.tls = "sm"}},
    {0},
};

const struct test_suite trace_file_suite = {.name     = "trace_file",
                                            .cases    = trace_file_cases,
                                            .params   = trace_sm,
                                            .setup    = trace_setup,
                                            .teardown = trace_teardown};
