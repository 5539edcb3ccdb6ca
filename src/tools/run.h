/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run.h - `causeway run`: what its parts share.
 *
 *   run.c         options; the last line and the exit code
 *   run_env.c     where our libraries are; the environment
 *   run_child.c   start, signals, end
 *   run_seen.c    which libucp the processes loaded: their own reports, and
 *                 a look at their maps now and then
 *   run_why.c     why a program did not load ours
 *   run_elf.c     what an ELF file says about its libraries
 *
 * A libucp of ours appends one line "<pid> <its path>" to the file named by
 * CAUSEWAY_RUN_REPORT when ucp_init is called. That is the proof; everything
 * else here only explains its absence. */
#ifndef CAUSEWAY_TOOL_RUN_H_
#define CAUSEWAY_TOOL_RUN_H_

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_REPORT_VARIABLE "CAUSEWAY_RUN_REPORT"
#define RUN_LIBRARY         "libucp.so.0"

enum run_limit {
    RUN_LIBRARY_COUNT = 4,
    RUN_LIBRARY_UCP   = 3, /* the last of them */
    RUN_OTHERS_MAX    = 8, /* foreign libraries that are remembered */
    RUN_NAME_BYTES    = 64,
    RUN_TEXT_BYTES    = 2 * PATH_MAX + 512,
    RUN_FILE_MAX      = 1 << 20, /* of a report or maps file that is read */
    RUN_DEPTH_MAX     = 64,      /* generations of processes looked up */
    RUN_EXIT_TOOL     = 125,     /* the exit codes of env(1) and timeout(1) */
    RUN_EXIT_NOEXEC   = 126,
    RUN_EXIT_ABSENT   = 127,
};

/* One process that has another libucp than ours. */
struct run_other {
    pid_t pid;
    char  name[RUN_NAME_BYTES]; /* of the program */
    char  program[PATH_MAX];
    char  library[PATH_MAX];
};

struct run_seen {
    char             ours[PATH_MAX]; /* the libucp that should be loaded */
    char             report_path[PATH_MAX]; /* "" if there is none */
    size_t           reports;               /* processes that reported ours */
    size_t           foreign_reports;       /* ... a Causeway from elsewhere */
    char             foreign[PATH_MAX];     /* its path */
    size_t           mapped_ours;           /* seen in maps */
    size_t           other_count;
    struct run_other others[RUN_OTHERS_MAX];
};

/* libucm, libucs, libuct, libucp. */
struct run_libraries {
    char paths[RUN_LIBRARY_COUNT][PATH_MAX];
};

/* run_env.c */

/* Find our four libraries.
 * @param given the folder that the user says, or NULL
 * @return false, and an error was printed. */
bool run_env_find(const char *given, struct run_libraries *libraries);
/* Change this process' environment: loader path and what MPI libraries need
 * to choose UCX. Variables of the user stay. */
void run_env_set(const struct run_libraries *libraries, bool preload);

/* run_seen.c */
/* @param library the libucp that should be used */
bool run_seen_open(struct run_seen *seen, const char *library);
/* Look at the maps of all descendants of [root]. */
void run_seen_sample(struct run_seen *seen, pid_t root);
/* Read the report file, and remove it. */
void run_seen_close(struct run_seen *seen);

/* run_child.c: run words[] to its end.
 *
 * @param status_p what waitpid says
 * @return 0, or the exit code after an error was printed: the program could
 *         not be started. */
int run_child(char **words, struct run_seen *seen, int *status_p);
/* End as the child ended. */
int run_child_exit(int status);

/* run_why.c: one sentence into text[text_bytes]. */
void run_why(const struct run_seen *seen, char **words, char *text,
             size_t text_bytes);

/* run_elf.c */
struct run_elf {
    bool is_elf;     /* of this machine's kind; else nothing below is set */
    bool is_dynamic; /* has an interpreter: programs only */
    bool needs_ucp;
    char interpreter[PATH_MAX];
    char rpath[PATH_MAX]; /* DT_RPATH, "" if none or DT_RUNPATH is there */
};

void run_elf_read(const char *path, struct run_elf *elf);

#endif
