/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - main() of a fuzz target where there is no libFuzzer.
 *
 *   fuzz_x [-s SEED] [-n INPUTS] [-t SECONDS] [FILE or FOLDER ...]
 *
 * Runs the given files (of a folder: the files in it; by default of the
 * folder $srcdir/test/fuzz/corpus/fuzz_x, if there is one: inputs that once
 * failed), then random inputs until INPUTS or SECONDS are over; by default 1
 * second, or FUZZ_SECONDS of the environment. Random input number i is made
 * from SEED + i alone. A child process does the work and leaves a note of what
 * it is at in shared memory, so that the parent can say it however the child
 * ends: abort, sanitizer, time-out. */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_BYTES_MAX   = 4096,
    FILE_BYTES_MAX    = 1 << 20,
    INPUT_SECONDS_MAX = 20 /* for one input: then it hangs */
};

struct options {
    uint64_t seed;
    uint64_t input_count;
    double   seconds;
    char     corpus[1024]; /* the folder for when no path is given */
};

/* What the child is at. */
struct note {
    char     path[1024]; /* "": a random input */
    uint64_t seed;
    uint64_t done_count;
};

static double now_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* splitmix64 (Vigna, public domain). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t bits = (*state += 0x9e3779b97f4a7c15ull);

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

/* Run the target on a copy that ends where its memory ends, so that
 * AddressSanitizer sees a read behind it. */
static void run_bytes(const uint8_t *bytes, size_t size, struct note *note)
{
    uint8_t *copy = malloc((size == 0) ? 1 : size);

    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, size);
    (void)alarm(INPUT_SECONDS_MAX);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    ++note->done_count;
}

/* Lengths are short more often than long; a third of the inputs has few
 * values, so that the same operation comes many times. */
static void run_random(uint64_t seed, struct note *note)
{
    static uint8_t bytes[INPUT_BYTES_MAX];
    uint64_t       state = seed;
    size_t         size  = next_random(&state) % INPUT_BYTES_MAX;
    uint8_t        mask  = (next_random(&state) % 3 == 0) ? 0x0f : 0xff;
    size_t         i;

    size >>= next_random(&state) % 8;
    for (i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)next_random(&state) & mask;
    }
    note->path[0] = '\0';
    note->seed    = seed;
    run_bytes(bytes, size, note);
}

static bool run_file(const char *path, struct note *note)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    FILE          *file = fopen(path, "rb");
    size_t         size;

    if (file == NULL) {
        perror(path);
        return false;
    }
    size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    (void)snprintf(note->path, sizeof(note->path), "%s", path);
    run_bytes(bytes, size, note);
    return true;
}

static bool run_path(const char *path, struct note *note)
{
    struct stat    status;
    struct dirent *entry;
    char           name[1024];
    bool           is_good = true;
    DIR           *folder;

    if ((stat(path, &status) != 0) || !S_ISDIR(status.st_mode)) {
        return run_file(path, note);
    }
    folder = opendir(path);
    while ((folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
            is_good &= run_file(name, note);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return is_good && (folder != NULL);
}

static int run_child(const struct options *options, char **paths,
                     struct note *note)
{
    double   end     = now_seconds() + options->seconds;
    bool     is_good = true;
    uint64_t i;

    if ((*paths == NULL) && (access(options->corpus, R_OK) == 0)) {
        is_good = run_path(options->corpus, note);
    }
    for (; *paths != NULL; ++paths) {
        is_good &= run_path(*paths, note);
    }
    for (i = 0; (i < options->input_count) && (now_seconds() < end); ++i) {
        run_random(options->seed + i, note);
    }
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The child's end. @return the exit status of the program. */
static int report(const char *program, const struct note *note, int status)
{
    if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_SUCCESS)) {
        printf("%s: %llu inputs\n", program,
               (unsigned long long)note->done_count);
        return EXIT_SUCCESS;
    }
    if (WIFSIGNALED(status)) {
        printf("%s: ended by signal %d%s\n", program, WTERMSIG(status),
               (WTERMSIG(status) == SIGALRM) ? ": the input hangs" : "");
    }
    if (note->path[0] != '\0') {
        printf("%s: failed; again: %s -n 0 %s\n", program, program, note->path);
    } else {
        printf("%s: failed; again: %s -n 1 -s %llu\n", program, program,
               (unsigned long long)note->seed);
    }
    return EXIT_FAILURE;
}

/* Where the corpus of this program would be. make check sets srcdir. */
static void find_corpus(const char *program, char *path, size_t size)
{
    const char *source = getenv("srcdir");
    const char *slash  = strrchr(program, '/');

    (void)snprintf(path, size, "%s/test/fuzz/corpus/%s",
                   (source != NULL) ? source : ".",
                   (slash != NULL) ? slash + 1 : program);
}

/* @return false: the text is not a number. */
static bool parse_number(const char *text, uint64_t *value_p)
{
    char *end;

    *value_p = strtoull(text, &end, 0);
    return (end != text) && (*end == '\0');
}

static bool parse_seconds(const char *text, double *value_p)
{
    char *end;

    *value_p = strtod(text, &end);
    return (end != text) && (*end == '\0');
}

static bool parse(int argc, char **argv, struct options *options)
{
    const char *seconds = getenv("FUZZ_SECONDS");
    bool        is_good = true;
    int         option;

    options->seed        = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    options->input_count = UINT64_MAX;
    options->seconds     = 1.0;
    find_corpus(argv[0], options->corpus, sizeof(options->corpus));
    if (seconds != NULL) {
        is_good = parse_seconds(seconds, &options->seconds);
    }
    while (is_good && ((option = getopt(argc, argv, "s:n:t:")) != -1)) {
        switch (option) {
        case 's':
            is_good = parse_number(optarg, &options->seed);
            break;
        case 'n':
            is_good = parse_number(optarg, &options->input_count);
            break;
        case 't':
            is_good = parse_seconds(optarg, &options->seconds);
            break;
        default:
            return false;
        }
    }
    return is_good;
}

int main(int argc, char **argv)
{
    int            status = 0;
    struct note   *note;
    pid_t          pid;
    struct options options;

    if (!parse(argc, argv, &options)) {
        (void)fprintf(stderr, "%s: wrong option or FUZZ_SECONDS\n", argv[0]);
        return 2;
    }
    note = mmap(NULL, sizeof(*note), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (note == MAP_FAILED) {
        perror("mmap");
        return EXIT_FAILURE;
    }
    printf("%s: seed %llu\n", argv[0], (unsigned long long)options.seed);
    (void)fflush(stdout);
    pid = fork();
    if (pid == 0) {
        exit(run_child(&options, argv + optind, note));
    }
    if ((pid < 0) || (waitpid(pid, &status, 0) != pid)) {
        perror("fork");
        return EXIT_FAILURE;
    }
    return report(argv[0], note, status);
}
