/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_file.c - reads ucx.conf files into a list of settings.
 *
 * A file is whatever somebody put there: its size, its lines and its bytes
 * are checked, nothing but a plain file is read, and a bad line costs one
 * warning and is left out. */
#include "ucs/config_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/config.h"
#include "ucs/fd.h"
#include "ucs/log.h"

#ifndef UCS_SYSCONFDIR
#define UCS_SYSCONFDIR "/etc"
#endif

/* Part of the file; never with the newline. */
struct file_span {
    const char *bytes;
    size_t      size_bytes;
};

struct file_parser {
    struct ucs_config_store *store;
    const char              *path;
    unsigned                 line;
    unsigned                 bad_line; /* the first one; 0: none */
    unsigned                 bad_count;
    bool                     is_section; /* of some machine only */
};

static bool file_is_space(char c)
{
    return (c == ' ') || (c == '\t') || (c == '\r');
}

static struct file_span file_trim(struct file_span span)
{
    while ((span.size_bytes > 0) && file_is_space(span.bytes[0])) {
        ++span.bytes;
        --span.size_bytes;
    }
    while ((span.size_bytes > 0) &&
           file_is_space(span.bytes[span.size_bytes - 1])) {
        --span.size_bytes;
    }
    return span;
}

static bool file_is_name(struct file_span span)
{
    size_t i;

    if ((span.size_bytes == 0) ||
        (span.size_bytes >= UCS_CONFIG_NAME_BYTES_MAX)) {
        return false;
    }
    for (i = 0; i < span.size_bytes; ++i) {
        char c = span.bytes[i];

        if (!(((c >= 'A') && (c <= 'Z')) || ((c >= 'a') && (c <= 'z')) ||
              ((c >= '0') && (c <= '9')) || (c == '_'))) {
            return false;
        }
    }
    return true;
}

static void file_setting_free(struct ucs_config_setting *setting)
{
    free(setting->name);
    free(setting->where);
}

static ucs_status_t file_add(struct file_parser *parser, struct file_span name,
                             struct file_span value)
{
    struct ucs_config_store   *store   = parser->store;
    struct ucs_config_setting  setting = {0};
    struct ucs_config_setting *grown;

    if (store->count >= UCS_CONFIG_SETTING_COUNT_MAX) {
        ucs_error("%s:%u: more than %d settings in ucx.conf files",
                  parser->path, parser->line, UCS_CONFIG_SETTING_COUNT_MAX);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    grown = reallocarray(store->settings, store->count + 1, sizeof(*grown));
    if (grown == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    store->settings = grown;
    setting.name    = malloc(name.size_bytes + value.size_bytes + 2);
    if ((setting.name == NULL) ||
        (asprintf(&setting.where, "%s:%u", parser->path, parser->line) < 0)) {
        setting.where = NULL; /* asprintf leaves it undefined */
        file_setting_free(&setting);
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(setting.name, name.bytes, name.size_bytes);
    setting.name[name.size_bytes] = '\0';
    setting.value                 = setting.name + name.size_bytes + 1;
    memcpy(setting.value, value.bytes, value.size_bytes);
    setting.value[value.size_bytes] = '\0';
    grown[store->count++]           = setting;
    return UCS_OK;
}

static ucs_status_t file_parse_line(struct file_parser *parser,
                                    struct file_span    line)
{
    struct file_span name = {line.bytes, 0};
    struct file_span value;
    const char      *equals;

    line = file_trim(line);
    if ((line.size_bytes == 0) || (*line.bytes == '#') ||
        (*line.bytes == ';')) {
        return UCS_OK;
    }
    if ((*line.bytes == '[') && (line.bytes[line.size_bytes - 1] == ']')) {
        parser->is_section = (line.size_bytes > 2);
        return UCS_OK;
    }
    if (parser->is_section) {
        return UCS_OK;
    }
    equals = memchr(line.bytes, '=', line.size_bytes);
    if (equals != NULL) {
        name.bytes       = line.bytes;
        name.size_bytes  = (size_t)(equals - line.bytes);
        value.bytes      = equals + 1;
        value.size_bytes = line.size_bytes - name.size_bytes - 1;
        name             = file_trim(name);
        value            = file_trim(value);
    }
    if ((equals == NULL) || !file_is_name(name) ||
        (value.size_bytes >= UCS_CONFIG_VALUE_BYTES_MAX) ||
        (memchr(value.bytes, '\0', value.size_bytes) != NULL)) {
        parser->bad_line =
            (parser->bad_count++ == 0) ? parser->line : parser->bad_line;
        return UCS_OK;
    }
    return file_add(parser, name, value);
}

ucs_status_t ucsi_config_store_parse(struct ucs_config_store *store,
                                     const char *path, const char *bytes,
                                     size_t size_bytes)
{
    struct file_parser parser = {.store = store, .path = path};
    ucs_status_t       status = UCS_OK;

    while ((size_bytes > 0) && (status == UCS_OK)) {
        const char *end = memchr(bytes, '\n', size_bytes);
        size_t used = (end == NULL) ? size_bytes : (size_t)(end - bytes) + 1;
        struct file_span line = {bytes, (end == NULL) ? used : used - 1};

        ++parser.line;
        status = file_parse_line(&parser, line);
        bytes += used;
        size_bytes -= used;
    }
    if (parser.bad_count > 0) {
        ucs_warn("%s:%u: expected NAME=value or a comment; %u such line(s) "
                 "left out",
                 path, parser.bad_line, parser.bad_count);
    }
    return status;
}

/* Read the whole descriptor; a file that grows meanwhile is cut. */
static ucs_status_t file_read(int fd, const char *path, char *bytes,
                              size_t *size_bytes_p)
{
    size_t used = 0;

    while (used < *size_bytes_p) {
        ssize_t got = read(fd, bytes + used, *size_bytes_p - used);

        if (got == 0) {
            break;
        }
        if (got > 0) {
            used += (size_t)got;
        } else if (errno != EINTR) {
            ucs_warn("%s: read: %m", path);
            return UCS_ERR_IO_ERROR;
        }
    }
    *size_bytes_p = used;
    return UCS_OK;
}

static ucs_status_t file_load(struct ucs_config_store *store, int fd,
                              const char *path)
{
    struct stat  info;
    size_t       size_bytes;
    char        *bytes;
    ucs_status_t status;

    if (fstat(fd, &info) != 0) {
        ucs_warn("%s: fstat: %m", path);
        return UCS_ERR_IO_ERROR;
    }
    if (!S_ISREG(info.st_mode) || (info.st_size > UCS_CONFIG_FILE_BYTES_MAX)) {
        ucs_warn("%s: not a plain file of at most %d bytes", path,
                 UCS_CONFIG_FILE_BYTES_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    size_bytes = (size_t)info.st_size;
    bytes      = malloc(size_bytes + 1);
    if (bytes == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = file_read(fd, path, bytes, &size_bytes);
    if (status == UCS_OK) {
        status = ucsi_config_store_parse(store, path, bytes, size_bytes);
    }
    free(bytes);
    return status;
}

ucs_status_t ucsi_config_store_load(struct ucs_config_store *store,
                                    const char              *path)
{
    /* NONBLOCK: the open of a fifo would wait for a writer. */
    int          fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ucs_status_t status;

    if (fd < 0) {
        if ((errno == ENOENT) || (errno == ENOTDIR)) {
            return UCS_ERR_NO_ELEM;
        }
        ucs_warn("%s: open: %m", path);
        return UCS_ERR_IO_ERROR;
    }
    status = file_load(store, fd, path);
    ucsi_fd_close(&fd);
    return status;
}

const struct ucs_config_setting *
ucsi_config_store_find(const struct ucs_config_store *store, const char *name)
{
    unsigned i;

    for (i = store->count; i > 0; --i) {
        if (strcmp(store->settings[i - 1].name, name) == 0) {
            return &store->settings[i - 1];
        }
    }
    return NULL;
}

void ucsi_config_store_cleanup(struct ucs_config_store *store)
{
    unsigned i;

    for (i = 0; i < store->count; ++i) {
        file_setting_free(&store->settings[i]);
    }
    free(store->settings);
    store->settings = NULL;
    store->count    = 0;
}

/* ---------------------------------------------------------- the process */

static struct ucs_config_store file_process_store;

static void file_load_in(const char *folder, const char *below)
{
    char path[PATH_MAX];
    int  length = snprintf(path, sizeof(path), "%s%s", folder, below);

    if ((length > 0) && ((size_t)length < sizeof(path))) {
        /* Whatever is wrong with a file was said; the others count. */
        ucs_status_t status = ucsi_config_store_load(&file_process_store, path);

        ucs_debug("%s: %s", path, ucs_status_string(status));
    }
}

static void file_load_beside_library(void)
{
    Dl_info     info;
    const char *slash;
    char        folder[PATH_MAX];

    if ((dladdr((void *)(uintptr_t)ucsi_config_files, &info) == 0) ||
        (info.dli_fname == NULL)) {
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    if ((slash == NULL) ||
        ((size_t)(slash - info.dli_fname) >= sizeof(folder))) {
        return;
    }
    memcpy(folder, info.dli_fname, (size_t)(slash - info.dli_fname));
    folder[slash - info.dli_fname] = '\0';
    file_load_in(folder, "/../etc/ucx/ucx.conf");
}

static void file_load_all(void)
{
    const char *folder;

    file_load_in(UCS_SYSCONFDIR, "/ucx/ucx.conf");
    file_load_beside_library();
    if (getauxval(AT_SECURE)) {
        return; /* the caller's folders are not the owner's */
    }
    folder = getenv("HOME");
    if (folder != NULL) {
        file_load_in(folder, "/ucx.conf");
    }
    folder = getenv("UCX_CONFIG_DIR");
    if (folder != NULL) {
        file_load_in(folder, "/ucx.conf");
    }
    file_load_in(".", "/ucx.conf");
}

const struct ucs_config_store *ucsi_config_files(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, file_load_all);
    return &file_process_store;
}
