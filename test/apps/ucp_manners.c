/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that loads, uses and closes the library keeps what is its own:
 * signal handlers, allocator, descriptors, environment, and so on.
 *
 * The library is loaded by dlopen after the first look at everything, so what
 * its constructors do is seen too. Looks: before, in use, after cleanup.
 */
#include "ucp_util.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIGNALS 64
#define RELOADS 30
#define CODE    16 /* bytes at the start of a function */
#define FDS_MAX 1024

static const char *const functions[] = {
    "malloc", "free",   "calloc", "realloc",   "memalign", "posix_memalign",
    "mmap",   "munmap", "mremap", "brk",       "sbrk",     "madvise",
    "shmat",  "shmdt",  "fork",   "sigaction", "signal",   "dlopen"};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(*functions))

/* All that must not change. */
struct look {
    struct sigaction signals[SIGNALS + 1];
    sigset_t         mask;
    struct {
        void         *address;
        unsigned char code[CODE];
    } functions[FUNCTION_COUNT];
    char          fds[FDS_MAX];
    int           threads;
    int           variables;
    mode_t        umask;
    char          folder[4096];
    char          locale[256];
    int           rounding;
    cpu_set_t     cpus;
    struct rlimit files;
};

static int count_entries(const char *path, char *numbers, size_t max)
{
    DIR           *folder = opendir(path);
    struct dirent *entry;
    int            count = 0, own = folder != NULL ? dirfd(folder) : -1;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        unsigned long number = strtoul(entry->d_name, NULL, 10);

        if (entry->d_name[0] == '.' || (int)number == own) {
            continue;
        }
        count++;
        if (numbers != NULL && number < max) {
            numbers[number] = 1;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void look_at(struct look *look)
{
    size_t i;

    memset(look, 0, sizeof(*look));
    for (i = 1; i <= SIGNALS; i++) {
        sigaction((int)i, NULL, &look->signals[i]);
    }
    sigprocmask(SIG_BLOCK, NULL, &look->mask);
    for (i = 0; i < FUNCTION_COUNT; i++) {
        look->functions[i].address = dlsym(RTLD_DEFAULT, functions[i]);
        if (look->functions[i].address != NULL) {
            memcpy(look->functions[i].code, look->functions[i].address, CODE);
        }
    }
    count_entries("/proc/self/fd", look->fds, FDS_MAX);
    look->threads = count_entries("/proc/self/task", NULL, 0);
    for (look->variables = 0; environ[look->variables] != NULL;) {
        look->variables++;
    }
    look->umask = umask(0);
    umask(look->umask);
    if (getcwd(look->folder, sizeof(look->folder)) == NULL) {
        look->folder[0] = '\0';
    }
    snprintf(look->locale, sizeof(look->locale), "%s", setlocale(LC_ALL, NULL));
    look->rounding = fegetround();
    sched_getaffinity(0, sizeof(look->cpus), &look->cpus);
    getrlimit(RLIMIT_NOFILE, &look->files);
}

static void compare_signals(const struct look *before, const struct look *now,
                            const char *when)
{
    int i;

    for (i = 1; i <= SIGNALS; i++) {
        uu_check(before->signals[i].sa_handler == now->signals[i].sa_handler &&
                     before->signals[i].sa_flags == now->signals[i].sa_flags,
                 "%s: the handler of signal %d is another one", when, i);
    }
    uu_check(memcmp(&before->mask, &now->mask, sizeof(before->mask)) == 0,
             "%s: the signal mask is another one", when);
}

static void compare_functions(const struct look *before, const struct look *now,
                              const char *when)
{
    size_t i;

    for (i = 0; i < FUNCTION_COUNT; i++) {
        uu_check(before->functions[i].address == now->functions[i].address,
                 "%s: %s is another function", when, functions[i]);
        uu_check(memcmp(before->functions[i].code, now->functions[i].code,
                        CODE) == 0,
                 "%s: the code of %s was patched", when, functions[i]);
    }
}

static void compare_state(const struct look *before, const struct look *now,
                          const char *when)
{
    uu_check(before->variables == now->variables, "%s: %d variables, not %d",
             when, now->variables, before->variables);
    uu_check(before->umask == now->umask, "%s: umask", when);
    uu_check(strcmp(before->folder, now->folder) == 0, "%s: folder", when);
    uu_check(strcmp(before->locale, now->locale) == 0, "%s: locale", when);
    uu_check(before->rounding == now->rounding, "%s: rounding", when);
    uu_check(CPU_EQUAL(&before->cpus, &now->cpus), "%s: affinity", when);
    uu_check(memcmp(&before->files, &now->files, sizeof(now->files)) == 0,
             "%s: limits", when);
}

/* New descriptors must not leak into a child that execs. */
static void check_cloexec(const struct look *before, const struct look *now)
{
    char target[256], path[64];
    int  i, flags;

    for (i = 0; i < FDS_MAX; i++) {
        flags = now->fds[i] && !before->fds[i] ? fcntl(i, F_GETFD) : -1;
        if (flags < 0 || (flags & FD_CLOEXEC)) {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
        flags = (int)readlink(path, target, sizeof(target) - 1);
        target[flags < 0 ? 0 : flags] = '\0';
        uu_check(0, "descriptor %d (%s) is not CLOEXEC", i, target);
    }
}

/* ---- the library, reached by dlsym only ---- */

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    uu_check(symbol != NULL, "no %s", name);
    return symbol;
}

#define FIND(_library, _name) ((__typeof__(&_name))find(_library, #_name))

/* Open, send to oneself, and call `use` in the middle. */
static void use_library(void *library, void (*use)(void *arg), void *arg)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_ep_params_t     ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_context_h       context;
    ucp_worker_h        worker;
    ucp_address_t      *address;
    ucp_ep_h            handle;
    size_t              length;
    uint64_t            out = 4711, in = 0;
    void               *request[3];
    int                 i, rounds;

    uu_check(FIND(library, ucp_init_version)(UCP_API_MAJOR, UCP_API_MINOR,
                                             &params, NULL, &context) == UCS_OK,
             "ucp_init");
    uu_check(FIND(library, ucp_worker_create)(context, &worker_params,
                                              &worker) == UCS_OK,
             "ucp_worker_create");
    uu_check(FIND(library, ucp_worker_get_address)(worker, &address, &length) ==
                 UCS_OK,
             "ucp_worker_get_address");
    ep.address = address;
    uu_check(FIND(library, ucp_ep_create)(worker, &ep, &handle) == UCS_OK,
             "ucp_ep_create");
    request[0] = FIND(library, ucp_tag_recv_nbx)(worker, &in, sizeof(in), 1,
                                                 UINT64_MAX, &none);
    request[1] =
        FIND(library, ucp_tag_send_nbx)(handle, &out, sizeof(out), 1, &none);
    for (rounds = 0; rounds < 100000 && in != out; rounds++) {
        FIND(library, ucp_worker_progress)(worker);
    }
    uu_check(in == out, "no message");
    use(arg);
    request[2] = FIND(library, ucp_ep_close_nbx)(handle, &none);
    for (i = 0; i < 3; i++) {
        for (rounds = 0; rounds < 100000 && UCS_PTR_IS_PTR(request[i]) &&
                         FIND(library, ucp_request_check_status)(request[i]) ==
                             UCS_INPROGRESS;
             rounds++) {
            FIND(library, ucp_worker_progress)(worker);
        }
        if (UCS_PTR_IS_PTR(request[i])) {
            FIND(library, ucp_request_free)(request[i]);
        }
    }
    FIND(library, ucp_worker_release_address)(worker, address);
    FIND(library, ucp_worker_destroy)(worker);
    FIND(library, ucp_cleanup)(context);
}

static void look_in_use(void *arg)
{
    look_at(arg);
}

static void own_handler(int number)
{
    (void)number;
}

static int mapping_count(void)
{
    FILE *file  = fopen("/proc/self/maps", "r");
    int   count = 0;
    int   byte;

    while (file != NULL && (byte = fgetc(file)) != EOF) {
        count += byte == '\n';
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

static void look_at_nothing(void *arg)
{
    (void)arg;
}

/* Loaded, used and unloaded again and again, while it writes its log to a
 * file: nothing piles up, the file is closed with the library. The last of
 * `library` has been closed. */
static void reload(void)
{
    char        log[] = "/tmp/ucp_manners_XXXXXX";
    int         maps  = 0;
    int         fds, file = mkstemp(log);
    struct stat written = {.st_size = 0};

    uu_check(file >= 0, "mkstemp");
    setenv("UCX_LOG_FILE", log, 1);
    setenv("UCX_LOG_LEVEL", "debug", 1);
    fds = count_entries("/proc/self/fd", NULL, 0);
    for (int i = 0; i < RELOADS; i++) {
        void *library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);

        if (library == NULL) {
            uu_fail(__LINE__, "dlopen: %s", dlerror());
            return;
        }
        use_library(library, look_at_nothing, NULL);
        dlclose(library);
        if (i == 0) {
            maps = mapping_count();
        }
    }
    uu_check(fstat(file, &written) == 0 && written.st_size > 0,
             "nothing was written to UCX_LOG_FILE");
    uu_check(mapping_count() <= maps + 2, "%d mappings, then %d", maps,
             mapping_count());
    uu_check(count_entries("/proc/self/fd", NULL, 0) <= fds,
             "%d descriptors, then %d", fds,
             count_entries("/proc/self/fd", NULL, 0));
    close(file);
    unlink(log);
}

int main(void)
{
    static struct look before, loaded, used, after, again;
    struct sigaction own = {.sa_handler = own_handler, .sa_flags = SA_RESTART};
    void            *library;
    int              i, left = 0;

    sigaction(SIGSEGV, &own, NULL);
    sigaction(SIGUSR1, &own, NULL);
    setlocale(LC_ALL, "C");
    look_at(&before);
    library = dlopen("libucp.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        uu_notok("manners__load", "%s", dlerror());
        return uu_end();
    }
    look_at(&loaded);
    use_library(library, look_in_use, &used);
    look_at(&after);
    use_library(library, look_in_use, &again);
    look_at(&again);
    uu_result("manners__use");

    compare_signals(&before, &loaded, "loaded");
    compare_signals(&before, &used, "in use");
    compare_signals(&before, &after, "after cleanup");
    uu_result("manners__signals");
    compare_functions(&before, &loaded, "loaded");
    compare_functions(&before, &used, "in use");
    compare_functions(&before, &after, "after cleanup");
    uu_result("manners__allocator");
    compare_state(&before, &used, "in use");
    compare_state(&before, &after, "after cleanup");
    uu_result("manners__process_state");
    check_cloexec(&before, &used);
    uu_result("manners__cloexec");
    for (i = 0; i < FDS_MAX; i++) {
        left += again.fds[i] - after.fds[i];
    }
    uu_check(left <= 0, "each use leaves %d descriptors open", left);
    uu_result("manners__descriptors");
    uu_check(again.threads == after.threads && after.threads == before.threads,
             "%d threads before, %d after cleanup, %d after two",
             before.threads, after.threads, again.threads);
    uu_result("manners__threads");
    fprintf(stderr, "# in use: %d threads more\n",
            used.threads - before.threads);
    dlclose(library);
    reload();
    uu_result("manners__reload");
    return uu_end();
}
