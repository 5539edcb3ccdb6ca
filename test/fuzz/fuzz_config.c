/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_config.c - any bytes as a ucx.conf file, and as the value of a setting
 * of each type. What is taken must be printed as text that is taken again and
 * means the same; what is refused must change nothing. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/config.h"
#include "ucs/config_file.h"
#include "ucs/log.h"

struct options {
    struct ucs_config_base      base;
    char                       *string;
    bool                        boolean;
    int                         ternary;
    int                         on_off;
    unsigned                    count;
    int                         number;
    double                      real;
    size_t                      size;
    uint64_t                    time_ns;
    uint64_t                    bandwidth;
    int                         color;
    struct ucs_config_list      list;
    struct ucs_config_range     range;
    uint64_t                    colors;
    struct ucs_config_threshold threshold;
};

static const char *const colors[] = {"red", "green", "a", NULL};

#define ROW(_name, _text, _field, _type, _arg)                                 \
    {                                                                          \
        _name, _text, offsetof(struct options, _field), _type, _arg, "", 0,    \
            NULL                                                               \
    }

static const struct ucs_config_entry entries[] = {
    ROW("STRING", "", string, UCS_CONFIG_TYPE_STRING, NULL),
    ROW("BOOL", "y", boolean, UCS_CONFIG_TYPE_BOOL, NULL),
    ROW("TERNARY", "try", ternary, UCS_CONFIG_TYPE_TERNARY, NULL),
    ROW("ON_OFF", "auto", on_off, UCS_CONFIG_TYPE_ON_OFF_AUTO, NULL),
    ROW("UINT", "1", count, UCS_CONFIG_TYPE_UINT, NULL),
    ROW("INT", "-1", number, UCS_CONFIG_TYPE_INT, NULL),
    ROW("DOUBLE", "0.5", real, UCS_CONFIG_TYPE_DOUBLE, NULL),
    ROW("SIZE", "8k", size, UCS_CONFIG_TYPE_SIZE, NULL),
    ROW("TIME", "20s", time_ns, UCS_CONFIG_TYPE_TIME, NULL),
    ROW("BANDWIDTH", "1MBps", bandwidth, UCS_CONFIG_TYPE_BANDWIDTH, NULL),
    ROW("COLOR", "red", color, UCS_CONFIG_TYPE_ENUM, colors),
    ROW("LIST", "all", list, UCS_CONFIG_TYPE_LIST, NULL),
    ROW("RANGE", "0", range, UCS_CONFIG_TYPE_RANGE, NULL),
    ROW("COLORS", "a", colors, UCS_CONFIG_TYPE_BITMAP, colors),
    ROW("THRESH", "auto", threshold, UCS_CONFIG_TYPE_THRESHOLD, NULL),
    {0},
};

static const struct ucs_config_table table = {
    "fuzz", "", entries, sizeof(struct options), 0, NULL};

static void drop_message(void *arg, ucs_log_level_t level, const char *file,
                         unsigned line, const char *text)
{
    (void)arg;
    (void)level;
    (void)file;
    (void)line;
    (void)text;
}

static void fail(const char *name, const char *value, const char *why)
{
    (void)fprintf(stderr, "fuzz_config: %s, value \"%s\": %s\n", name, value,
                  why);
    abort();
}

static void get(const struct options *options, const char *name, char *text)
{
    if (ucsi_config_get_text(&table, options, name, text,
                             UCS_CONFIG_VALUE_BYTES_MAX) != UCS_OK) {
        abort();
    }
}

static void try_value(struct options *options, const char *name,
                      const char *value)
{
    static char  before[UCS_CONFIG_VALUE_BYTES_MAX];
    static char  once[UCS_CONFIG_VALUE_BYTES_MAX];
    static char  twice[UCS_CONFIG_VALUE_BYTES_MAX];
    ucs_status_t status;

    get(options, name, before);
    status = ucsi_config_set(&table, options, name, value);
    get(options, name, once);
    if (status != UCS_OK) {
        if ((status != UCS_ERR_INVALID_PARAM) || (strcmp(before, once) != 0)) {
            fail(name, value, "refused, but changed");
        }
        return;
    }
    if (ucsi_config_set(&table, options, name, once) != UCS_OK) {
        fail(name, once, "printed, but not taken back");
    }
    get(options, name, twice);
    if (strcmp(once, twice) != 0) {
        fail(name, once, "printed, but taken back as another value");
    }
}

static void try_value_everywhere(struct options *options, const char *value)
{
    const struct ucs_config_entry *entry;

    for (entry = entries; entry->name != NULL; ++entry) {
        try_value(options, entry->name, value);
    }
}

static void try_file(struct options *options, const char *bytes, size_t size)
{
    struct ucs_config_store store = {NULL, 0};
    unsigned                i;

    if (ucsi_config_store_parse(&store, "fuzz", bytes, size) != UCS_OK) {
        abort(); /* an input is smaller than any limit */
    }
    for (i = 0; i < store.count; ++i) {
        const struct ucs_config_setting *setting = &store.settings[i];

        if (ucsi_config_store_find(&store, setting->name) == NULL) {
            abort();
        }
        if (i < 16) {
            try_value_everywhere(options, setting->value);
        }
    }
    ucsi_config_store_cleanup(&store);
}

/* Bytes that settings are made of, so that random input gets somewhere. */
static void make_likely(char *text, size_t size)
{
    static const char alphabet[] = "0123456789kmgtpbBsGnu,,^--::==..aeinfutoxr "
                                   "\n\n#[]_UCXABCinteryesno";
    size_t            i;

    for (i = 0; i < size; ++i) {
        text[i] = alphabet[(unsigned char)text[i] % (sizeof(alphabet) - 1)];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ucs_log_handler quiet = {drop_message, NULL};
    struct options                      options;
    char                               *text;

    if (size == 0) {
        return 0;
    }
    (void)ucsi_log_set_handler(&quiet);
    text = malloc(size);
    if ((text == NULL) ||
        (ucsi_config_read(&table, NULL, &options) != UCS_OK)) {
        abort();
    }
    /* The first byte says how to read the others; the last becomes a NUL. */
    memcpy(text, data + 1, size - 1);
    if (data[0] & 1) {
        make_likely(text, size - 1);
    }
    if (data[0] & 2) {
        text[ucs_min(size - 1, (size_t)(data[0] >> 2) % 16)] = '\0';
    }
    try_file(&options, text, size - 1);
    text[size - 1] = '\0';
    try_value_everywhere(&options, text);
    free(text);
    ucsi_config_release(&table, &options);
    return 0;
}
