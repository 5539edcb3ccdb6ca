/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run_seen.c - which libucp did the processes load? */
#include "tools/run.h"

#include "tools/tool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool run_seen_open(struct run_seen *seen, const char *library)
{
    const char *temporary = getenv("TMPDIR");
    char        path[PATH_MAX + RUN_NAME_BYTES];
    int         fd;

    memset(seen, 0, sizeof(*seen));
    if (realpath(library, seen->ours) == NULL) {
        tool_error("%s: %s", library, strerror(errno));
        return false;
    }
    /* A file and not a descriptor in /proc/<pid>/fd: a process that outlives
     * us must not write into whatever has our pid and number then. */
    if ((temporary == NULL) || (temporary[0] != '/')) {
        temporary = "/tmp";
    }
    snprintf(path, sizeof(path), "%s/causeway-run-XXXXXX", temporary);
    fd = strlen(path) < sizeof(seen->report_path) ? mkstemp(path) : -1;
    if (fd < 0) {
        tool_error("cannot create a file in %s: %s", temporary,
                   strerror(errno));
        return false;
    }
    close(fd);
    memcpy(seen->report_path, path, strlen(path) + 1);
    setenv(RUN_REPORT_VARIABLE, path, 1);
    return true;
}

/* The whole text of a file, up to RUN_FILE_MAX; "" if there is none. */
static char *seen_read(const char *path)
{
    char   *text   = tool_calloc(1, RUN_FILE_MAX + 1);
    size_t  length = 0;
    ssize_t count  = 0;
    int     fd     = open(path, O_RDONLY | O_CLOEXEC);

    while ((fd >= 0) && (length < RUN_FILE_MAX)) {
        count = read(fd, text + length, RUN_FILE_MAX - length);
        if (count <= 0) {
            break;
        }
        length += (size_t)count;
    }
    if (fd >= 0) {
        close(fd);
    }
    text[length] = '\0';
    return text;
}

/* Parent of a process; 0 if it is gone. */
static pid_t seen_parent(pid_t pid)
{
    char        path[RUN_NAME_BYTES], line[1024];
    const char *end;
    int         parent = 0;
    FILE       *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    if (fgets(line, sizeof(line), file) != NULL) {
        end = strrchr(line, ')'); /* the name may hold anything */
        if ((end == NULL) || (sscanf(end, ") %*c %d", &parent) != 1)) {
            parent = 0;
        }
    }
    fclose(file);
    return parent;
}

static bool seen_descends(pid_t pid, pid_t root)
{
    int depth;

    for (depth = 0; (depth < RUN_DEPTH_MAX) && (pid > 1); depth++) {
        if (pid == root) {
            return true;
        }
        pid = seen_parent(pid);
    }
    return false;
}

static void seen_note_other(struct run_seen *seen, pid_t pid,
                            const char *library, size_t length)
{
    struct run_other *other;
    char              path[RUN_NAME_BYTES];
    ssize_t           count;
    char             *end;
    size_t            i;

    for (i = 0; i < seen->other_count; i++) {
        if (seen->others[i].pid == pid) {
            return;
        }
    }
    if (seen->other_count == RUN_OTHERS_MAX) {
        return;
    }
    other      = &seen->others[seen->other_count++];
    other->pid = pid;
    snprintf(other->library, sizeof(other->library), "%.*s", (int)length,
             library);
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    count = readlink(path, other->program, sizeof(other->program) - 1);
    other->program[count > 0 ? count : 0] = '\0';
    end                                   = strrchr(other->program, '/');
    snprintf(other->name, sizeof(other->name), "%.*s", RUN_NAME_BYTES - 1,
             end != NULL ? end + 1 : "?");
}

/* Find a mapped libucp in /proc/<pid>/maps. */
static void seen_look(struct run_seen *seen, pid_t pid)
{
    char        path[RUN_NAME_BYTES];
    const char *found, *begin;
    char       *text;
    size_t      length;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    text  = seen_read(path);
    found = strstr(text, "/libucp.so");
    if (found != NULL) {
        for (begin = found;
             (begin > text) && (begin[-1] != ' ') && (begin[-1] != '\n');
             begin--) {
            /* to the start of the path */
        }
        length = strcspn(begin, "\n");
        if ((length == strlen(seen->ours)) &&
            (strncmp(begin, seen->ours, length) == 0)) {
            seen->mapped_ours++;
        } else {
            seen_note_other(seen, pid, begin, length);
        }
    }
    free(text);
}

void run_seen_sample(struct run_seen *seen, pid_t root)
{
    DIR                 *folder = opendir("/proc");
    const struct dirent *entry;
    pid_t                pid;

    if (folder == NULL) {
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            pid = (pid_t)strtol(entry->d_name, NULL, 10);
            if (seen_descends(pid, root)) {
                seen_look(seen, pid);
            }
        }
    }
    closedir(folder);
}

/* "<pid> <path>": of ours, or of a Causeway that lies elsewhere? */
static void seen_note_report(struct run_seen *seen, char *line)
{
    char  resolved[PATH_MAX];
    char *path = strchr(line, ' ');

    if (path == NULL) {
        return;
    }
    path++;
    if ((realpath(path, resolved) != NULL) &&
        (strcmp(resolved, seen->ours) == 0)) {
        seen->reports++;
    } else {
        seen->foreign_reports++;
        snprintf(seen->foreign, sizeof(seen->foreign), "%s", path);
    }
}

/* A process may call ucp_init many times: count each pid once. */
static void seen_read_reports(struct run_seen *seen, char *text)
{
    char *line, *next, *before;
    bool  known;

    for (line = text; *line != '\0'; line = next) {
        size_t length = strcspn(line, "\n");

        next  = line + length + (line[length] == '\n');
        known = false;
        for (before = text; (before < line) && !known;
             before += strlen(before) + 1) {
            known = strncmp(before, line, strcspn(line, " ") + 1) == 0;
        }
        line[length] = '\0';
        if (!known) {
            seen_note_report(seen, line);
        }
    }
}

void run_seen_close(struct run_seen *seen)
{
    char *text;

    if (seen->report_path[0] == '\0') {
        return;
    }
    text = seen_read(seen->report_path);
    seen_read_reports(seen, text);
    free(text);
    (void)unlink(seen->report_path);
    seen->report_path[0] = '\0';
}
