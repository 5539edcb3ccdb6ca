/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/tool.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *tool_name = "";

const char *tool_version(void)
{
    return PACKAGE_VERSION;
}

void tool_set_name(const char *name)
{
    tool_name = name;
}

static void tool_message(const char *format, va_list args)
{
    fflush(stdout);
    fprintf(stderr, "causeway%s%s: ", tool_name[0] != '\0' ? " " : "",
            tool_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void tool_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tool_message(format, args);
    va_end(args);
}

void tool_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tool_message(format, args);
    va_end(args);
}

uint64_t tool_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t tool_cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void *tool_calloc(size_t count, size_t size_bytes)
{
    void *memory = calloc(count > 0 ? count : 1, size_bytes);

    if (memory == NULL) {
        tool_error("out of memory (%zu x %zu bytes)", count, size_bytes);
        exit(TOOL_EXIT_FAILED);
    }
    return memory;
}

const char *tool_library_of(const char *symbol)
{
    /* Not &function: in a non-PIE program that is a stub of the program. */
    void       *address = dlsym(RTLD_DEFAULT, symbol);
    Dl_info     info;
    static char path[PATH_MAX];

    if ((address == NULL) || (dladdr(address, &info) == 0) ||
        (info.dli_fname == NULL)) {
        return "?";
    }
    return realpath(info.dli_fname, path) != NULL ? path : info.dli_fname;
}

const char *tool_self_path(void)
{
    static char path[PATH_MAX];
    ssize_t     length;

    if (path[0] == '\0') {
        length = readlink("/proc/self/exe", path, sizeof(path) - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    return path;
}
