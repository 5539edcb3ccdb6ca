/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config.c - from tables to structs and back.
 *
 * An entry is looked up under every name it has, weakest first; the last
 * place that knows it wins and is remembered as the value's origin:
 *
 *          weaker  -------------------------------------->  stronger
 *   files: UCX_FAMILY_X   UCX_PREFIX_X
 *   environment:                         UCX_FAMILY_X   UCX_PREFIX_X
 *   application's environment:      APP_UCX_FAMILY_X   APP_UCX_PREFIX_X
 *
 * Values are parsed into a value of their own and then moved, so an error
 * never leaves an option half changed. */
#include "ucs/config.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/assert.h"
#include "ucs/config_file.h"
#include "ucs/config_value.h"
#include "ucs/log.h"

struct config_origin {
    enum ucs_config_origin kind;
    char                  *where; /* owned; NULL: nothing to say */
};

struct ucs_config_origins {
    unsigned             count;
    struct config_origin entries[]; /* [count], as in the table */
};

/* What a look-up found; all lent. */
struct config_found {
    const char            *text;
    enum ucs_config_origin kind;
    const char            *where;
    char                   name[UCS_CONFIG_NAME_BYTES_MAX]; /* of a variable */
};

static struct ucs_config_origins *config_origins(const void *options)
{
    return ((const struct ucs_config_base *)options)->origins;
}

static unsigned config_entry_count(const struct ucs_config_table *table)
{
    unsigned count = 0;

    while (table->entries[count].name != NULL) {
        ++count;
    }
    return count;
}

/* ------------------------------------------------------------- look up */

/* Build [app_]UCX_<prefix><name>; false: it is too long to exist. */
static bool config_name(char *name, const char *app_prefix, const char *prefix,
                        const struct ucs_config_entry *entry)
{
    int length = snprintf(name, UCS_CONFIG_NAME_BYTES_MAX, "%s%sUCX_%s%s",
                          (app_prefix == NULL) ? "" : app_prefix,
                          (app_prefix == NULL) ? "" : "_", prefix, entry->name);

    return (length > 0) && (length < UCS_CONFIG_NAME_BYTES_MAX);
}

static void config_find_in_files(const struct ucs_config_entry *entry,
                                 const char *prefix, struct config_found *found)
{
    const struct ucs_config_setting *setting;
    char                             name[UCS_CONFIG_NAME_BYTES_MAX];

    if (config_name(name, NULL, prefix, entry)) {
        setting = ucsi_config_store_find(ucsi_config_files(), name);
        if (setting != NULL) {
            found->text  = setting->value;
            found->kind  = UCS_CONFIG_ORIGIN_FILE;
            found->where = setting->where;
        }
    }
}

static void config_find_in_environment(const struct ucs_config_entry *entry,
                                       const char          *app_prefix,
                                       const char          *prefix,
                                       struct config_found *found)
{
    char        name[UCS_CONFIG_NAME_BYTES_MAX];
    const char *text;

    if (config_name(name, app_prefix, prefix, entry)) {
        text = getenv(name);
        if (text != NULL) {
            memcpy(found->name, name, sizeof(name));
            found->text  = text;
            found->kind  = UCS_CONFIG_ORIGIN_ENVIRONMENT;
            found->where = found->name;
        }
    }
}

/* The prefix of that strength: families first, the table's own last, then
 * NULL. */
static const char *config_prefix(const struct ucs_config_table *table,
                                 unsigned                       index)
{
    unsigned i = 0;

    if (table->families != NULL) {
        for (; table->families[i] != NULL; ++i) {
            if (i == index) {
                return table->families[i];
            }
        }
    }
    return (i == index) ? table->prefix : NULL;
}

static void config_find(const struct ucs_config_table *table,
                        const struct ucs_config_entry *entry,
                        const char *app_prefix, struct config_found *found)
{
    const char *prefix;
    unsigned    i;

    found->text  = entry->default_text;
    found->kind  = UCS_CONFIG_ORIGIN_DEFAULT;
    found->where = NULL;
    for (i = 0; (prefix = config_prefix(table, i)) != NULL; ++i) {
        config_find_in_files(entry, prefix, found);
    }
    for (i = 0; (prefix = config_prefix(table, i)) != NULL; ++i) {
        config_find_in_environment(entry, NULL, prefix, found);
    }
    if (app_prefix != NULL) {
        for (i = 0; (prefix = config_prefix(table, i)) != NULL; ++i) {
            config_find_in_environment(entry, app_prefix, prefix, found);
        }
    }
}

/* The entry that is called `name`; UINT_MAX: none. */
static unsigned config_index(const struct ucs_config_table *table,
                             const char                    *name)
{
    const char *prefix;
    unsigned    i;
    unsigned    index;

    for (i = 0; (prefix = config_prefix(table, i)) != NULL; ++i) {
        size_t length = strlen(prefix);

        if (strncmp(name, prefix, length) != 0) {
            continue;
        }
        for (index = 0; table->entries[index].name != NULL; ++index) {
            if (strcmp(name + length, table->entries[index].name) == 0) {
                return index;
            }
        }
    }
    return UINT32_MAX;
}

/* --------------------------------------------------------------- change */

static void config_complain(const struct ucs_config_entry *entry,
                            const char *what, const char *where,
                            const char *text)
{
    char                   expected[512];
    struct ucs_config_text out = {expected, sizeof(expected), 0};

    expected[0] = '\0';
    ucs_config_value_expected(entry, &out);
    ucs_error("%s %s: \"%.256s\" is not valid, expected %s", what, where, text,
              expected);
}

/* Parse and move a value in, with its origin. Not logged. */
static ucs_status_t config_assign(const struct ucs_config_table *table,
                                  void *options, unsigned index,
                                  const struct config_found *found)
{
    const struct ucs_config_entry *entry = &table->entries[index];
    struct config_origin          *origin;
    union ucs_config_value         value;
    char                          *where = NULL;
    ucs_status_t                   status;

    status = ucs_config_value_parse(entry, found->text, &value);
    if (status != UCS_OK) {
        return (status == UCS_ERR_NO_MEMORY) ? status : UCS_ERR_INVALID_PARAM;
    }
    if (found->where != NULL) {
        where = strdup(found->where); /* without it the value still counts */
    }
    ucs_config_value_move(entry, options, &value);
    origin = &config_origins(options)->entries[index];
    free(origin->where);
    origin->kind  = found->kind;
    origin->where = where;
    return UCS_OK;
}

static ucs_status_t config_begin(const struct ucs_config_table *table,
                                 void                          *options)
{
    unsigned                   count = config_entry_count(table);
    struct ucs_config_origins *origins;

    ucs_check(table->struct_bytes >= sizeof(struct ucs_config_base));
    origins = calloc(1, sizeof(*origins) + count * sizeof(*origins->entries));
    if (origins == NULL) {
        ucs_error("settings of %s: out of memory", table->title);
        return UCS_ERR_NO_MEMORY;
    }
    memset(options, 0, table->struct_bytes);
    origins->count                               = count;
    ((struct ucs_config_base *)options)->origins = origins;
    return UCS_OK;
}

static ucs_status_t config_read_entry(const struct ucs_config_table *table,
                                      const char *app_prefix, void *options,
                                      unsigned index)
{
    const struct ucs_config_entry *entry = &table->entries[index];
    struct config_found            found;
    ucs_status_t                   status;

    config_find(table, entry, app_prefix, &found);
    status = config_assign(table, options, index, &found);
    if ((status == UCS_ERR_INVALID_PARAM) &&
        (found.kind != UCS_CONFIG_ORIGIN_DEFAULT) &&
        (table->flags & UCS_CONFIG_TABLE_IGNORE_BAD)) {
        found.text  = entry->default_text;
        found.kind  = UCS_CONFIG_ORIGIN_DEFAULT;
        found.where = NULL;
        status      = config_assign(table, options, index, &found);
    }
    if (status == UCS_ERR_INVALID_PARAM) {
        config_complain(entry,
                        (found.kind == UCS_CONFIG_ORIGIN_ENVIRONMENT)
                            ? "environment variable"
                            : "setting",
                        (found.where == NULL) ? entry->name : found.where,
                        found.text);
    } else if (status != UCS_OK) {
        ucs_error("setting %s: %s", entry->name, ucs_status_string(status));
    }
    return status;
}

ucs_status_t ucsi_config_read(const struct ucs_config_table *table,
                              const char *app_prefix, void *options)
{
    ucs_status_t status = config_begin(table, options);
    unsigned     i;

    if (status != UCS_OK) {
        return status;
    }
    for (i = 0; table->entries[i].name != NULL; ++i) {
        status = config_read_entry(table, app_prefix, options, i);
        if (status != UCS_OK) {
            ucsi_config_release(table, options);
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t ucsi_config_copy(const struct ucs_config_table *table,
                              const void *options, void *copy)
{
    ucs_status_t status = config_begin(table, copy);
    unsigned     i;

    for (i = 0; (status == UCS_OK) && (table->entries[i].name != NULL); ++i) {
        const struct config_origin *origin =
            &config_origins(options)->entries[i];
        char                   text[UCS_CONFIG_VALUE_BYTES_MAX];
        struct ucs_config_text out   = {text, sizeof(text), 0};
        struct config_found    found = {text, origin->kind, origin->where, ""};

        text[0] = '\0';
        ucs_config_value_print(&table->entries[i], options, &out);
        status = config_assign(table, copy, i, &found);
        if (status != UCS_OK) {
            /* What was parsed once is not bad, so it is the memory. */
            ucs_error("copy of setting %s: out of memory",
                      table->entries[i].name);
            ucsi_config_release(table, copy);
            status = UCS_ERR_NO_MEMORY;
        }
    }
    return status;
}

void ucsi_config_release(const struct ucs_config_table *table, void *options)
{
    struct ucs_config_origins *origins = config_origins(options);
    unsigned                   i;

    if (origins == NULL) {
        return; /* zero, or released */
    }
    for (i = 0; i < origins->count; ++i) {
        ucs_config_value_release(&table->entries[i], options);
        free(origins->entries[i].where);
    }
    free(origins);
    memset(options, 0, table->struct_bytes);
}

ucs_status_t ucsi_config_set(const struct ucs_config_table *table,
                             void *options, const char *name, const char *value)
{
    struct config_found found = {value, UCS_CONFIG_ORIGIN_MODIFIED, NULL, ""};
    unsigned            index = config_index(table, name);
    ucs_status_t        status;

    if (index == UINT32_MAX) {
        return UCS_ERR_NO_ELEM;
    }
    status = config_assign(table, options, index, &found);
    if (status == UCS_ERR_INVALID_PARAM) {
        config_complain(&table->entries[index], "setting", name, value);
    } else if (status != UCS_OK) {
        ucs_error("setting %s: %s", name, ucs_status_string(status));
    }
    return status;
}

/* ----------------------------------------------------------------- show */

ucs_status_t ucsi_config_get_text(const struct ucs_config_table *table,
                                  const void *options, const char *name,
                                  char *text, size_t text_bytes)
{
    struct ucs_config_text out   = {text, text_bytes, 0};
    unsigned               index = config_index(table, name);

    if (index == UINT32_MAX) {
        return UCS_ERR_NO_ELEM;
    }
    if (text_bytes > 0) {
        text[0] = '\0';
    }
    ucs_config_value_print(&table->entries[index], options, &out);
    return (out.length < text_bytes) ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
}

ucs_status_t ucsi_config_get_origin(const struct ucs_config_table *table,
                                    const void *options, const char *name,
                                    enum ucs_config_origin *origin_p,
                                    const char            **where_p)
{
    const struct config_origin *origin;
    unsigned                    index = config_index(table, name);

    if (index == UINT32_MAX) {
        return UCS_ERR_NO_ELEM;
    }
    origin    = &config_origins(options)->entries[index];
    *origin_p = origin->kind;
    *where_p  = (origin->where == NULL) ? "" : origin->where;
    return UCS_OK;
}

/* A value that a program can parse: one '=' to a line, and only lines. */
static bool config_text_is_plain(const char *text)
{
    for (; *text != '\0'; ++text) {
        unsigned char byte = (unsigned char)*text;

        if ((byte == '=') || (byte < ' ') || (byte == 0x7f)) {
            return false;
        }
    }
    return true;
}

static void config_text_clean(char *text)
{
    for (; *text != '\0'; ++text) {
        unsigned char byte = (unsigned char)*text;

        if ((byte < ' ') || (byte == 0x7f)) {
            *text = '?';
        }
    }
}

static void config_print_comments(FILE                          *stream,
                                  const struct ucs_config_entry *entry,
                                  const struct config_origin    *origin,
                                  unsigned                       flags)
{
    static const char *const kinds[] = {
        [UCS_CONFIG_ORIGIN_DEFAULT]     = "default",
        [UCS_CONFIG_ORIGIN_FILE]        = "file",
        [UCS_CONFIG_ORIGIN_ENVIRONMENT] = "environment",
        [UCS_CONFIG_ORIGIN_MODIFIED]    = "set by the program",
    };
    char                   expected[UCS_CONFIG_VALUE_BYTES_MAX];
    struct ucs_config_text out = {expected, sizeof(expected), 0};

    if (flags & UCS_CONFIG_PRINT_DOC) {
        expected[0] = '\0';
        ucs_config_value_expected(entry, &out);
        (void)fprintf(stream, "#\n# %s\n#\n# value:   %s\n# default: %s\n#\n",
                      entry->doc, expected, entry->default_text);
    }
    if (flags & UCS_CONFIG_PRINT_ORIGIN) {
        (void)fprintf(stream, "# from %s%s%s\n", kinds[origin->kind],
                      (origin->where == NULL) ? "" : ": ",
                      (origin->where == NULL) ? "" : origin->where);
    }
}

static void config_print_entry(FILE                          *stream,
                               const struct ucs_config_table *table,
                               const void *options, unsigned index,
                               unsigned flags)
{
    const struct ucs_config_entry *entry = &table->entries[index];
    const struct config_origin    *origin;
    char                           text[UCS_CONFIG_VALUE_BYTES_MAX];
    struct ucs_config_text         out = {text, sizeof(text), 0};
    bool                           is_commented;

    origin = &config_origins(options)->entries[index];
    if ((entry->flags & UCS_CONFIG_ENTRY_HIDDEN) &&
        !(flags & UCS_CONFIG_PRINT_HIDDEN)) {
        return;
    }
    text[0] = '\0';
    ucs_config_value_print(entry, options, &out);
    if (!(flags &
          ~(unsigned)(UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HIDDEN)) &&
        !config_text_is_plain(text)) {
        return;
    }
    config_text_clean(text);
    config_print_comments(stream, entry, origin, flags);
    is_commented = (flags & UCS_CONFIG_PRINT_COMMENT_DEFAULT) &&
                   (origin->kind == UCS_CONFIG_ORIGIN_DEFAULT);
    (void)fprintf(stream, "%sUCX_%s%s=%s\n%s", is_commented ? "# " : "",
                  table->prefix, entry->name, text,
                  (flags & UCS_CONFIG_PRINT_DOC) ? "\n" : "");
}

void ucsi_config_print(FILE *stream, const struct ucs_config_table *table,
                       const void *options, const char *title, unsigned flags)
{
    unsigned i;

    if (flags & UCS_CONFIG_PRINT_HEADER) {
        (void)fprintf(stream, "#\n# %s\n#\n\n",
                      (title == NULL) ? table->title : title);
    }
    if (flags & (UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_DOC)) {
        for (i = 0; table->entries[i].name != NULL; ++i) {
            config_print_entry(stream, table, options, i, flags);
        }
    }
}
