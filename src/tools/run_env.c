/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run_env.c - where our libraries are, and the environment that makes
 * programs take them. */
#include "tools/run.h"

#include "tools/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All or none: with one missing the loader would take UCX's, which does not
 * fit ours. */
static const char *const env_libraries[] = {"ucm", "ucs", "uct", "ucp"};

/* Where `make install` and packages put libraries, and last the build tree,
 * which has a folder for each (%s). Relative to the command, so that a tree
 * can move. */
static const char *const env_places[] = {
    ".",
    "../lib",
    "../lib64",
#ifdef __x86_64__
    "../lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "../lib/aarch64-linux-gnu",
#endif
    "../src/%s/.libs",
};

/* Open MPI refuses pml/ucx without InfiniBand unless tls and devices say any,
 * and distributions switch it off in their configuration files. One-sided
 * communication stays with Open MPI's own component: ours comes later. */
static const struct env_variable {
    const char *name;
    const char *value;
} env_variables[] = {
    {"OMPI_MCA_pml", "ucx"},
    {"OMPI_MCA_osc", "^ucx"},
    {"OMPI_MCA_opal_common_ucx_tls", "any"},
    {"OMPI_MCA_opal_common_ucx_devices", "any"},
    {"MPIR_CVAR_CH4_NETMOD", "ucx"},
};

/* Path of library number [i] in [place], symbolic links of folders resolved.
 * @return false if it is not there. */
static bool env_library(const char *place, size_t i, char path[PATH_MAX])
{
    char folder[2 * PATH_MAX], resolved[PATH_MAX];
    int  length;

    snprintf(folder, sizeof(folder), place, env_libraries[i]);
    if (realpath(folder, resolved) == NULL) {
        return false;
    }
    length =
        snprintf(path, PATH_MAX, "%s/lib%s.so.0", resolved, env_libraries[i]);
    return (length < PATH_MAX) && (access(path, R_OK) == 0);
}

/* Take the libraries of one place, all or none.
 * @param half_p set to true after an error was printed: some are there */
static bool env_take(const char *place, struct run_libraries *libraries,
                     bool *half_p)
{
    size_t count   = 0;
    size_t missing = 0;
    size_t i;

    for (i = 0; i < RUN_LIBRARY_COUNT; i++) {
        if (env_library(place, i, libraries->paths[i])) {
            count++;
        } else {
            missing = i;
        }
    }
    if ((count > 0) && (count < RUN_LIBRARY_COUNT)) {
        tool_error("lib%s.so.0 is missing in %s: all of libucm, libucs, "
                   "libuct and libucp must be there",
                   env_libraries[missing], place);
        *half_p = true;
    }
    return count == RUN_LIBRARY_COUNT;
}

/* A folder's name that is used as a format: no % may be in it. */
static bool env_is_plain(const char *text)
{
    return strchr(text, '%') == NULL;
}

bool run_env_find(const char *given, struct run_libraries *libraries)
{
    const char *self = tool_self_path();
    const char *end  = strrchr(self, '/');
    char        place[PATH_MAX + RUN_NAME_BYTES];
    bool        half = false;
    size_t      i;

    if (given != NULL) {
        if (env_is_plain(given) && env_take(given, libraries, &half)) {
            return true;
        }
        if (!half) {
            tool_error("--libdir '%s': %s is not there", given, RUN_LIBRARY);
        }
        return false;
    }
    for (i = 0; (i < TOOL_ARRAY_COUNT(env_places)) && (end != NULL) &&
                env_is_plain(self);
         i++) {
        snprintf(place, sizeof(place), "%.*s/%s", (int)(end - self), self,
                 env_places[i]);
        if (env_take(place, libraries, &half)) {
            return true;
        }
    }
    if (env_take(CAUSEWAY_LIBDIR, libraries, &half)) {
        return true;
    }
    if (!half) {
        tool_error("cannot find %s beside %s, in ../lib or in %s; name the "
                   "folder with --libdir",
                   RUN_LIBRARY, self, CAUSEWAY_LIBDIR);
    }
    return false;
}

/* Put [first] in front of the list that the variable holds. */
static void env_prepend(const char *name, const char *first)
{
    const char *old = getenv(name);
    size_t      length;
    char       *list;

    if ((old == NULL) || (old[0] == '\0')) {
        setenv(name, first, 1);
        return;
    }
    length = strlen(first) + strlen(old) + 2;
    list   = tool_calloc(1, length);
    snprintf(list, length, "%s:%s", first, old);
    setenv(name, list, 1);
    free(list);
}

/* Folders of the libraries, each once, the first library's first. */
static void env_prepend_folders(const struct run_libraries *libraries)
{
    char   folder[PATH_MAX], last[PATH_MAX] = "";
    size_t i;

    for (i = RUN_LIBRARY_COUNT; i-- > 0;) {
        snprintf(folder, sizeof(folder), "%.*s",
                 (int)(strrchr(libraries->paths[i], '/') - libraries->paths[i]),
                 libraries->paths[i]);
        if (strcmp(folder, last) != 0) {
            env_prepend("LD_LIBRARY_PATH", folder);
            memcpy(last, folder, sizeof(last));
        }
    }
}

void run_env_set(const struct run_libraries *libraries, bool preload)
{
    size_t i;

    env_prepend_folders(libraries);
    for (i = RUN_LIBRARY_COUNT; preload && (i-- > 0);) {
        env_prepend("LD_PRELOAD", libraries->paths[i]);
    }
    for (i = 0; i < TOOL_ARRAY_COUNT(env_variables); i++) {
        setenv(env_variables[i].name, env_variables[i].value, 0);
    }
}
