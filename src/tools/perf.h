/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf.h - what the parts of `causeway perf` share.
 *
 *   perf.c             options, roles
 *   perf_client.c      leads: connects, asks for jobs, ends
 *   perf_server.c      follows: does the other half of each job
 *   perf_idle.c        connected, asleep
 *   perf_rows.c        what is measured, how often, medians
 *   perf_job.c         one half of a job, of any kind
 *   perf_loops.c       the measured loops
 *   perf_verify.c      the checked loop
 *   perf_pieces.c      iovs
 *   perf_limits.c      what the machine can do: lines, rings, memcpy
 *   perf_sockets.c     bare sockets: connects them; perf_socket_loops.c,
 *                      perf_socket_rows.c
 *   perf_node.c        UCP objects
 *   perf_control.c     messages between the two; perf_connect.c: over TCP
 *   perf_launch.c      starts and pins processes
 *   perf_watch.c       never hang
 *   perf_sizes.c       sizes, tests, processors
 *   perf_stats.c       medians
 *   perf_print.c       table, CSV, JSON
 *
 * Client and server talk over a stream socket (inherited, or TCP) that carries
 * everything except the measured messages. The client decides, the server
 * runs the same job at the same time. */
#ifndef CAUSEWAY_TOOL_PERF_H_
#define CAUSEWAY_TOOL_PERF_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum perf_limit {
    PERF_SIZE_COUNT_MAX  = 256,
    PERF_WINDOW_MAX      = 4096,
    PERF_REPEAT_MAX      = 1000,
    PERF_PROCS_MAX       = 256,
    PERF_WALK_MIB_MAX    = 1024,
    PERF_PIECES_MAX      = 1024,
    PERF_GAP_MAX         = 65536,
    PERF_VERIFY_MESSAGES = 2000,     /* per row, if they are small */
    PERF_VERIFY_BYTES    = 32 << 20, /* per row and direction; at 2 GB/s
                                        below 0.1 s */
    PERF_VERIFY_MIN   = 8,
    PERF_CANARY_BYTES = 64, /* behind every checked message */
};

/* The largest message; both processes hold two buffers of the largest row. */
#define PERF_SIZE_MAX (UINT64_C(1) << 30)

enum perf_test {
    PERF_TEST_LATENCY,
    PERF_TEST_SYNC,
    PERF_TEST_BANDWIDTH,
    PERF_TEST_RATE,
    PERF_TEST_COUNT,
};

enum perf_sleep {
    PERF_SLEEP_NEVER,
    PERF_SLEEP_WAIT, /* ucp_worker_wait */
    PERF_SLEEP_EFD,  /* ucp_worker_arm, poll */
    PERF_SLEEP_COUNT,
};

/* Zeroed: none given. */
struct perf_sizes {
    uint64_t bytes[PERF_SIZE_COUNT_MAX];
    size_t   count;
};

struct perf_cpus {
    bool given;
    bool none;     /* do not pin */
    int  index[2]; /* client, server; -1: not pinned */
};

struct perf_options {
    struct perf_sizes sizes;
    uint32_t          tests; /* bit per enum perf_test */
    enum perf_sleep   sleep;
    struct perf_cpus  cpus;
    uint64_t          window;
    uint64_t          repeat;
    uint64_t          iterations;  /* 0: as many as fit in row_seconds */
    uint64_t          walk_mib;    /* 0: always the same two buffers */
    uint64_t          piece_count; /* 0: a message is one block */
    uint64_t          gap_bytes;   /* between pieces */
    uint64_t          seed;        /* 0: pick one */
    uint64_t          procs;
    const char       *idle_tls; /* UCX_TLS of the sleeping ones; NULL: ours */
    double            row_seconds;
    double            timeout_seconds;
    bool              verify;
    bool              limits;
    bool              csv;
    bool              json;
    const char       *listen;  /* [HOST:]PORT, NULL: not a server */
    const char       *connect; /* HOST[:PORT], NULL: not a remote client */
    uint64_t          peer_fd; /* 0 or the inherited socket: be the server */
    uint64_t idle_fd;   /* 0 or the inherited socket: be an idle process */
    uint64_t limits_fd; /* 0 or the inherited memory for raw limits */
};

/* One piece of work that both sides do at the same time. Travels as words. */
enum perf_job_kind {
    PERF_JOB_MEASURE,
    PERF_JOB_VERIFY,
    PERF_JOB_LINE,     /* raw cache-line ping-pong */
    PERF_JOB_RING,     /* raw ring of cache lines */
    PERF_JOB_IDLE,     /* the server waits for one late message */
    PERF_JOB_UDP_PING, /* from here on: raw sockets, perf_sockets.h */
    PERF_JOB_TCP_PING,
    PERF_JOB_UDP_STREAM,
    PERF_JOB_UDP_SEGMENTS,
    PERF_JOB_TCP_STREAM,
    PERF_JOB_KIND_COUNT,
};

struct perf_job {
    uint64_t kind;
    uint64_t test;
    uint64_t size_bytes;
    uint64_t iterations;
    uint64_t window;
    uint64_t seed;
    uint64_t turn;          /* repetition; the content of measured buffers */
    uint64_t check_buffers; /* with MEASURE: content is checked at the end */
    uint64_t walk_bytes;    /* with MEASURE: each message from and into the
                             * next part of so many bytes; 0: the first */
    uint64_t piece_count;   /* with MEASURE: of an iov; 0: one block */
    uint64_t gap_bytes;     /* between pieces in memory */
};

enum { PERF_JOB_WORDS = sizeof(struct perf_job) / sizeof(uint64_t) };

struct perf_result {
    uint64_t wall_ns;
    uint64_t cpu_ns; /* of this process, during wall_ns */
};

/* Bare sockets that a row is compared with. */
enum perf_raw {
    PERF_RAW_UDP,
    PERF_RAW_SEGMENTS, /* UDP, cut by the kernel */
    PERF_RAW_TCP,
    PERF_RAW_COUNT,
};

/* One line of the output. Values in the unit of perf_test_unit(). */
struct perf_stats {
    double median;
    double min;
    double p10;
    double p90;
    double max;
};

struct perf_row {
    enum perf_test    test;
    uint64_t          size_bytes;
    uint64_t          iterations; /* of the last repetition */
    uint64_t          window;     /* 1 for latency */
    uint64_t          repetitions;
    uint64_t          verified; /* messages checked, both directions */
    struct perf_stats value;
    double            limit;               /* median; 0: none */
    double            limit_best;          /* of all trials */
    double            raw[PERF_RAW_COUNT]; /* medians; 0: none */
    double            cpu_percent;         /* client, median */
};

struct perf_report {
    char             library[512]; /* path of libucp here */
    char             version[64];
    int              cpus[2]; /* -1: not pinned */
    uint64_t         seed;
    double           idle_cpu_percent; /* below 0: not measured */
    struct perf_row *rows;
    size_t           row_count;
    size_t           row_done;
};

/* perf_sizes.c: parsers for the option table, names */
bool perf_sizes_set(const char *text, void *field, char *why, size_t why_bytes);
bool perf_tests_set(const char *text, void *field, char *why, size_t why_bytes);
bool perf_sleep_set(const char *text, void *field, char *why, size_t why_bytes);
bool perf_cpus_set(const char *text, void *field, char *why, size_t why_bytes);
void perf_sizes_default(struct perf_sizes *sizes);
const char *perf_test_name(enum perf_test test);  /* "lat" */
const char *perf_test_title(enum perf_test test); /* for people */
const char *perf_test_unit(enum perf_test test);
const char *perf_raw_name(enum perf_raw raw); /* "raw_udp" */
/* "8", "64k", "1m"; into text[text_bytes]. */
void perf_size_format(uint64_t bytes, char *text, size_t text_bytes);

/* perf_stats.c; sorts values[count], count > 0. */
struct perf_stats perf_stats_of(double *values, size_t count);

/* perf_client.c, perf_server.c, perf_idle.c: return an exit code. */
int perf_client_main(const struct perf_options *options);
int perf_server_main(const struct perf_options *options, int fd);
int perf_idle_main(int fd);

/* perf_print.c */
void perf_print_begin(const struct perf_options *options,
                      const struct perf_report  *report);
void perf_print_row(const struct perf_options *options,
                    const struct perf_report  *report,
                    const struct perf_row     *row);
void perf_print_end(const struct perf_options *options,
                    const struct perf_report  *report);
/* Show or, with row NULL, remove the progress line on standard error. */
void perf_print_progress(const struct perf_report *report,
                         const struct perf_row    *row);

/* perf_watch.c: from begin to end, end the program with a message when the
 * process at the other end of socket [fd] is gone or nothing was begun for
 * [seconds]. [what] is borrowed until end. */
void perf_watch_open(int fd, double seconds);
void perf_watch_begin(const char *what);
void perf_watch_end(void);

#endif
