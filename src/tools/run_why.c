/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run_why.c - why did a program not take our libraries?
 *
 * From what was seen while it ran, or else from its file: the loader itself is
 * asked (`ld.so --list`, which runs nothing of the program) where it would
 * find libucp. With mpirun and the like the program is one of the arguments:
 * every word that is a program is looked at. */
#include "tools/run.h"

#include "tools/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum run_why_private { WHY_LINE_BYTES = PATH_MAX + 256 };

/* A word of the command line as a path of a file, found as the shell would. */
static bool why_resolve(const char *word, char path[PATH_MAX])
{
    const char *list = getenv("PATH");
    char        place[2 * PATH_MAX];
    size_t      length;

    if (strchr(word, '/') != NULL) {
        return (access(word, X_OK) == 0) && (realpath(word, path) != NULL);
    }
    for (list = list != NULL ? list : "/usr/bin"; *list != '\0';
         list += length + (list[length] == ':')) {
        length = strcspn(list, ":");
        if (length < PATH_MAX) {
            snprintf(place, sizeof(place), "%.*s/%s", (int)length, list, word);
            if ((access(place, X_OK) == 0) && (realpath(place, path) != NULL)) {
                return true;
            }
        }
    }
    return false;
}

/* Start `interpreter --list program`. @return its output, or NULL. */
static FILE *why_list(const struct run_elf *elf, const char *program,
                      pid_t *pid_p)
{
    int pair[2];

    if (pipe(pair) != 0) {
        return NULL;
    }
    fflush(NULL);
    *pid_p = fork();
    if (*pid_p == 0) {
        dup2(pair[1], STDOUT_FILENO);
        dup2(pair[1], STDERR_FILENO);
        close(pair[0]);
        close(pair[1]);
        execl(elf->interpreter, elf->interpreter, "--list", program,
              (char *)NULL);
        _exit(RUN_EXIT_ABSENT);
    }
    close(pair[1]);
    if (*pid_p < 0) {
        close(pair[0]);
        return NULL;
    }
    return fdopen(pair[0], "r");
}

struct why_list {
    char library[PATH_MAX]; /* the libucp the loader would take; "" if none */
    char guilty[PATH_MAX];  /* the file whose RPATH leads there; "" if none */
    char rpath[PATH_MAX];
};

/* Remember the file if it has an RPATH and needs libucp. */
static void why_note_rpath(struct why_list *list, const char *path)
{
    struct run_elf elf;

    run_elf_read(path, &elf);
    if (elf.needs_ucp && (elf.rpath[0] != '\0') && (list->guilty[0] == '\0')) {
        snprintf(list->guilty, sizeof(list->guilty), "%s", path);
        memcpy(list->rpath, elf.rpath, sizeof(list->rpath));
    }
}

static void why_read_list(const struct run_elf *elf, const char *program,
                          struct why_list *list)
{
    char  line[WHY_LINE_BYTES], name[WHY_LINE_BYTES], path[WHY_LINE_BYTES];
    pid_t pid   = -1;
    FILE *lines = why_list(elf, program, &pid);

    memset(list, 0, sizeof(*list));
    why_note_rpath(list, program);
    while ((lines != NULL) && (fgets(line, sizeof(line), lines) != NULL)) {
        if (sscanf(line, " %s => %s", name, path) != 2) {
            continue;
        }
        if (strcmp(name, RUN_LIBRARY) == 0) {
            if (realpath(path, list->library) == NULL) {
                list->library[0] = '\0';
            }
        }
        why_note_rpath(list, path);
    }
    if (lines != NULL) {
        fclose(lines);
    }
    if (pid > 0) {
        while ((waitpid(pid, NULL, 0) < 0) && (errno == EINTR)) {
            /* again */
        }
    }
}

/* What the RPATH does and how to get past it. */
static void why_rpath(const struct why_list *list, char *text,
                      size_t text_bytes)
{
    snprintf(text, text_bytes,
             "; %s has an RPATH (%s), which comes before LD_LIBRARY_PATH: "
             "remove it, or use 'causeway run --preload'",
             list->guilty, list->rpath);
}

/* Explain by the file. @return false if it says nothing. */
static bool why_of_program(const struct run_seen *seen, const char *path,
                           char *text, size_t text_bytes)
{
    char            more[RUN_TEXT_BYTES] = "";
    struct why_list list;
    struct run_elf  elf;
    struct stat     info;

    run_elf_read(path, &elf);
    if (!elf.is_elf) {
        return false;
    }
    if (!elf.is_dynamic) {
        snprintf(text, text_bytes,
                 "%s is statically linked, no library can be exchanged", path);
        return true;
    }
    if ((stat(path, &info) == 0) &&
        ((info.st_mode & (S_ISUID | S_ISGID)) != 0)) {
        snprintf(text, text_bytes,
                 "%s is set-user-ID or set-group-ID: the loader ignores "
                 "LD_LIBRARY_PATH",
                 path);
        return true;
    }
    why_read_list(&elf, path, &list);
    if (list.library[0] == '\0') {
        return false;
    }
    if (strcmp(list.library, seen->ours) == 0) {
        snprintf(text, text_bytes,
                 "%s has our libucp but did not call ucp_init", path);
        return true;
    }
    if (list.guilty[0] != '\0') {
        why_rpath(&list, more, sizeof(more));
    }
    snprintf(text, text_bytes, "%s loads %s%s", path, list.library, more);
    return true;
}

/* A process was caught with another libucp. */
static void why_of_other(const struct run_other *other, char *text,
                         size_t text_bytes)
{
    char            more[RUN_TEXT_BYTES] = "";
    struct why_list list;
    struct run_elf  elf;

    run_elf_read(other->program, &elf);
    if (elf.is_dynamic) {
        why_read_list(&elf, other->program, &list);
        if (list.guilty[0] != '\0') {
            why_rpath(&list, more, sizeof(more));
        }
    }
    if (more[0] == '\0') {
        snprintf(more, sizeof(more),
                 "; something between us and it changed LD_LIBRARY_PATH, or "
                 "it is loaded by its full path");
    }
    snprintf(text, text_bytes, "process %d (%s) loaded %s%s", (int)other->pid,
             other->name, other->library, more);
}

static bool why_is_launcher(const char *word)
{
    static const char *const names[] = {"mpi",  "orte", "prte",
                                        "prun", "srun", "osh"};
    const char              *slash   = strrchr(word, '/');
    size_t                   i;

    word = slash != NULL ? slash + 1 : word;
    for (i = 0; i < TOOL_ARRAY_COUNT(names); i++) {
        if (strncmp(word, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

void run_why(const struct run_seen *seen, char **words, char *text,
             size_t text_bytes)
{
    char   path[PATH_MAX];
    char **word;

    if (seen->other_count > 0) {
        why_of_other(&seen->others[0], text, text_bytes);
        return;
    }
    if (seen->foreign_reports > 0) {
        snprintf(text, text_bytes, "it ran on another Causeway, %s",
                 seen->foreign);
        return;
    }
    for (word = words; *word != NULL; word++) {
        if (why_resolve(*word, path) &&
            why_of_program(seen, path, text, text_bytes)) {
            return;
        }
    }
    if (seen->mapped_ours > 0) {
        snprintf(text, text_bytes,
                 "a process loaded our libucp but did not call ucp_init");
        return;
    }
    if (why_is_launcher(words[0])) {
        snprintf(text, text_bytes,
                 "no process loaded a libucp; was its MPI library built with "
                 "UCX, and is no other pml chosen?");
    } else {
        snprintf(text, text_bytes,
                 "neither %s nor what it started loaded a "
                 "libucp",
                 words[0]);
    }
}
