/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_value.c - the settings that are strings, names, lists and
 * ranges, and the table of all types.
 *
 * Values come from users, so any text is safe here. */
#include "ucs/config_value.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ucs/units.h"

/* A piece of a longer text. */
struct config_piece {
    const char *bytes;
    size_t      size_bytes;
};

void ucs_config_text_add(struct ucs_config_text *out, const char *text)
{
    size_t length = strlen(text);

    if (out->length < out->size_bytes) {
        size_t room = out->size_bytes - out->length - 1;
        size_t part = ucs_min(room, length);

        memcpy(out->bytes + out->length, text, part);
        out->bytes[out->length + part] = '\0';
    }
    out->length += length;
}

/* --------------------------------------------------------------- pieces */

static bool config_is_space(char c)
{
    return (c == ' ') || (c == '\t') || (c == '\n') || (c == '\r');
}

/* Cut the next piece before a comma off *text_p, without the space around
 * it. False at the end. */
static bool config_piece_next(const char **text_p, struct config_piece *piece)
{
    const char *begin = *text_p;
    const char *end;

    if (begin == NULL) {
        return false;
    }
    end     = begin + strcspn(begin, ",");
    *text_p = (*end == ',') ? end + 1 : NULL;
    while ((begin < end) && config_is_space(*begin)) {
        ++begin;
    }
    while ((begin < end) && config_is_space(end[-1])) {
        --end;
    }
    piece->bytes      = begin;
    piece->size_bytes = (size_t)(end - begin);
    return true;
}

static bool config_piece_is(const struct config_piece *piece, const char *word)
{
    return (strlen(word) == piece->size_bytes) &&
           (strncasecmp(piece->bytes, word, piece->size_bytes) == 0);
}

static bool config_word_find(const struct config_piece *piece,
                             const char *const *names, int *index_p)
{
    int i;

    for (i = 0; names[i] != NULL; ++i) {
        if (config_piece_is(piece, names[i])) {
            *index_p = i;
            return true;
        }
    }
    return false;
}

/* --------------------------------------------------------------- string */

static ucs_status_t config_parse_string(const char            *text,
                                        const void UCS_UNUSED *arg, void *value)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *(char **)value = copy;
    return UCS_OK;
}

static void config_print_string(const void *value, const void UCS_UNUSED *arg,
                                struct ucs_config_text *out)
{
    ucs_config_text_add(out, *(char *const *)value);
}

static void config_release_string(void *value)
{
    free(*(char **)value);
}

/* ------------------------------------------------------ names and lists */

static ucs_status_t config_parse_enum(const char *text, const void *arg,
                                      void *value)
{
    struct config_piece piece = {text, strlen(text)};

    return config_word_find(&piece, arg, value) ? UCS_OK
                                                : UCS_ERR_INVALID_PARAM;
}

static void config_print_enum(const void *value, const void *arg,
                              struct ucs_config_text *out)
{
    const char *const *names = arg;

    ucs_config_text_add(out, names[*(const int *)value]);
}

static ucs_status_t config_parse_bitmap(const char *text, const void *arg,
                                        void *value)
{
    uint64_t            bits = 0;
    struct config_piece piece;
    int                 index;

    while (config_piece_next(&text, &piece)) {
        if (piece.size_bytes == 0) {
            continue;
        }
        if (!config_word_find(&piece, arg, &index) || (index >= 64)) {
            return UCS_ERR_INVALID_PARAM;
        }
        bits |= 1ull << index;
    }
    *(uint64_t *)value = bits;
    return UCS_OK;
}

static void config_print_bitmap(const void *value, const void *arg,
                                struct ucs_config_text *out)
{
    const char *const *names = arg;
    uint64_t           bits  = *(const uint64_t *)value;
    const char        *comma = "";
    int                index;

    for (index = 0; (index < 64) && (names[index] != NULL); ++index) {
        if (bits & (1ull << index)) {
            ucs_config_text_add(out, comma);
            ucs_config_text_add(out, names[index]);
            comma = ",";
        }
    }
}

static void config_release_list(void *value)
{
    struct ucs_config_list *list = value;
    unsigned                i;

    for (i = 0; i < list->count; ++i) {
        free(list->names[i]);
    }
    free(list->names);
}

/* How many names there are. A '^' is at the front of all or nowhere: else
 * "a,^b" would be taken for one thing and printed as another. */
static ucs_status_t config_list_count(const char *text, unsigned *count_p)
{
    struct config_piece piece;
    unsigned            count = 0;

    while (config_piece_next(&text, &piece)) {
        count += (piece.size_bytes > 0);
        if ((piece.size_bytes > 0) && (*piece.bytes == '^')) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    *count_p = count;
    return (count <= UCS_CONFIG_LIST_COUNT_MAX) ? UCS_OK : UCS_ERR_OUT_OF_RANGE;
}

static ucs_status_t config_parse_list(const char            *text,
                                      const void UCS_UNUSED *arg, void *value)
{
    struct ucs_config_list list = {0};
    struct config_piece    piece;
    ucs_status_t           status;
    unsigned               count;

    while (config_is_space(*text)) {
        ++text;
    }
    list.is_excluded = (*text == '^');
    text += list.is_excluded;
    status = config_list_count(text, &count);
    if (status != UCS_OK) {
        return status;
    }
    list.names = calloc(count + 1, sizeof(*list.names));
    while ((list.names != NULL) && config_piece_next(&text, &piece)) {
        if (piece.size_bytes == 0) {
            continue;
        }
        list.names[list.count] = strndup(piece.bytes, piece.size_bytes);
        if (list.names[list.count] == NULL) {
            break;
        }
        ++list.count;
    }
    if ((list.names == NULL) || (list.count < count)) {
        config_release_list(&list);
        return UCS_ERR_NO_MEMORY;
    }
    *(struct ucs_config_list *)value = list;
    return UCS_OK;
}

static void config_print_list(const void *value, const void UCS_UNUSED *arg,
                              struct ucs_config_text *out)
{
    const struct ucs_config_list *list = value;
    unsigned                      i;

    if (list->is_excluded) {
        ucs_config_text_add(out, "^");
    }
    for (i = 0; i < list->count; ++i) {
        ucs_config_text_add(out, (i == 0) ? "" : ",");
        ucs_config_text_add(out, list->names[i]);
    }
}

/* ------------------------------------------------ ranges and thresholds */

/* Numbers and sizes are short: a copy with an end makes a string of it. */
static ucs_status_t config_piece_size(const char *bytes, size_t size_bytes,
                                      size_t *value_p)
{
    char text[UCS_UNITS_TEXT_BYTES_MAX];

    if (size_bytes >= sizeof(text)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(text, bytes, size_bytes);
    text[size_bytes] = '\0';
    return ucsi_units_parse_size(text, value_p);
}

static ucs_status_t config_parse_range(const char            *text,
                                       const void UCS_UNUSED *arg, void *value)
{
    size_t      length = strcspn(text, "-");
    const char *second = (text[length] == '-') ? text + length + 1 : text;
    struct ucs_config_range range;

    /* Counts: a digit must stand first, and no unit may follow. */
    if (text[strspn(text, "0123456789-")] != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((config_piece_size(text, length, &range.first) != UCS_OK) ||
        (config_piece_size(second, strlen(second), &range.last) != UCS_OK) ||
        (range.first > range.last)) {
        return UCS_ERR_INVALID_PARAM;
    }
    *(struct ucs_config_range *)value = range;
    return UCS_OK;
}

static void config_print_range(const void *value, const void UCS_UNUSED *arg,
                               struct ucs_config_text *out)
{
    const struct ucs_config_range *range = value;
    char                           text[UCS_UNITS_TEXT_BYTES_MAX];

    ucs_config_text_add(
        out, ucsi_units_print_count(range->first, text, sizeof(text)));
    if (range->last != range->first) {
        ucs_config_text_add(out, "-");
        ucs_config_text_add(
            out, ucsi_units_print_count(range->last, text, sizeof(text)));
    }
}

/* One "intra:size" or "inter:size". */
static ucs_status_t
config_parse_labelled(const struct config_piece   *piece,
                      struct ucs_config_threshold *threshold)
{
    static const char *const labels[]  = {"intra:", "inter:"};
    const size_t             label_len = 6;
    size_t *const sizes[] = {&threshold->intra_bytes, &threshold->inter_bytes};
    int           i;

    for (i = 0; i < 2; ++i) {
        if ((piece->size_bytes > label_len) &&
            (strncasecmp(piece->bytes, labels[i], label_len) == 0)) {
            return config_piece_size(piece->bytes + label_len,
                                     piece->size_bytes - label_len, sizes[i]);
        }
    }
    return UCS_ERR_INVALID_PARAM;
}

static ucs_status_t config_parse_threshold(const char            *text,
                                           const void UCS_UNUSED *arg,
                                           void                  *value)
{
    /* Whoever is not named stays automatic. */
    struct ucs_config_threshold threshold = {UCS_UNITS_AUTO, UCS_UNITS_AUTO};
    struct config_piece         piece;
    ucs_status_t                status = UCS_OK;

    if (strchr(text, ':') == NULL) {
        status = ucsi_units_parse_size(text, &threshold.intra_bytes);
        threshold.inter_bytes = threshold.intra_bytes;
    } else {
        while ((status == UCS_OK) && config_piece_next(&text, &piece)) {
            status = config_parse_labelled(&piece, &threshold);
        }
    }
    if (status == UCS_OK) {
        *(struct ucs_config_threshold *)value = threshold;
    }
    return status;
}

static void config_print_threshold(const void             *value,
                                   const void UCS_UNUSED  *arg,
                                   struct ucs_config_text *out)
{
    const struct ucs_config_threshold *threshold = value;

    if (threshold->intra_bytes == threshold->inter_bytes) {
        ucs_config_size_ops.print(&threshold->intra_bytes, NULL, out);
        return;
    }
    ucs_config_text_add(out, "intra:");
    ucs_config_size_ops.print(&threshold->intra_bytes, NULL, out);
    ucs_config_text_add(out, ",inter:");
    ucs_config_size_ops.print(&threshold->inter_bytes, NULL, out);
}

/* ---------------------------------------------------------------- types */

static const struct ucs_config_type_ops config_string_ops = {
    .expected    = "any text",
    .value_bytes = sizeof(char *),
    .parse       = config_parse_string,
    .print       = config_print_string,
    .release     = config_release_string,
};

static const struct ucs_config_type_ops config_enum_ops = {
    .expected    = "one of: ",
    .value_bytes = sizeof(int),
    .parse       = config_parse_enum,
    .print       = config_print_enum,
};

static const struct ucs_config_type_ops config_list_ops = {
    .expected    = "names with commas between them, '^' in front to exclude",
    .value_bytes = sizeof(struct ucs_config_list),
    .parse       = config_parse_list,
    .print       = config_print_list,
    .release     = config_release_list,
};

static const struct ucs_config_type_ops config_range_ops = {
    .expected    = "a range such as 1000-1999, or one number",
    .value_bytes = sizeof(struct ucs_config_range),
    .parse       = config_parse_range,
    .print       = config_print_range,
};

static const struct ucs_config_type_ops config_bitmap_ops = {
    .expected    = "names with commas between them, of: ",
    .value_bytes = sizeof(uint64_t),
    .parse       = config_parse_bitmap,
    .print       = config_print_bitmap,
};

static const struct ucs_config_type_ops config_threshold_ops = {
    .expected    = "a size such as 8k, inf or auto, or intra:8k,inter:64k",
    .value_bytes = sizeof(struct ucs_config_threshold),
    .parse       = config_parse_threshold,
    .print       = config_print_threshold,
};

static const struct ucs_config_type_ops *const config_types[] = {
    [UCS_CONFIG_TYPE_STRING]      = &config_string_ops,
    [UCS_CONFIG_TYPE_BOOL]        = &ucs_config_bool_ops,
    [UCS_CONFIG_TYPE_TERNARY]     = &ucs_config_ternary_ops,
    [UCS_CONFIG_TYPE_ON_OFF_AUTO] = &ucs_config_on_off_ops,
    [UCS_CONFIG_TYPE_UINT]        = &ucs_config_uint_ops,
    [UCS_CONFIG_TYPE_INT]         = &ucs_config_int_ops,
    [UCS_CONFIG_TYPE_DOUBLE]      = &ucs_config_double_ops,
    [UCS_CONFIG_TYPE_SIZE]        = &ucs_config_size_ops,
    [UCS_CONFIG_TYPE_TIME]        = &ucs_config_time_ops,
    [UCS_CONFIG_TYPE_BANDWIDTH]   = &ucs_config_bandwidth_ops,
    [UCS_CONFIG_TYPE_ENUM]        = &config_enum_ops,
    [UCS_CONFIG_TYPE_LIST]        = &config_list_ops,
    [UCS_CONFIG_TYPE_RANGE]       = &config_range_ops,
    [UCS_CONFIG_TYPE_BITMAP]      = &config_bitmap_ops,
    [UCS_CONFIG_TYPE_THRESHOLD]   = &config_threshold_ops,
};

_Static_assert(UCS_ARRAY_COUNT(config_types) == UCS_CONFIG_TYPE_LAST,
               "every type has its row");

static void *config_field(const struct ucs_config_entry *entry, void *options)
{
    return (char *)options + entry->offset;
}

static const void *config_field_const(const struct ucs_config_entry *entry,
                                      const void                    *options)
{
    return (const char *)options + entry->offset;
}

ucs_status_t ucs_config_value_parse(const struct ucs_config_entry *entry,
                                    const char                    *text,
                                    union ucs_config_value        *value_p)
{
    ucs_status_t status;

    if (strlen(text) >= UCS_CONFIG_VALUE_BYTES_MAX) {
        return UCS_ERR_OUT_OF_RANGE;
    }
    status = config_types[entry->type]->parse(text, entry->type_arg, value_p);
    if ((status == UCS_OK) && !ucs_config_bounds_hold(entry, value_p)) {
        status = UCS_ERR_OUT_OF_RANGE; /* a number: nothing to release */
    }
    return status;
}

void ucs_config_value_print(const struct ucs_config_entry *entry,
                            const void *options, struct ucs_config_text *out)
{
    config_types[entry->type]->print(config_field_const(entry, options),
                                     entry->type_arg, out);
}

void ucs_config_value_move(const struct ucs_config_entry *entry, void *options,
                           const union ucs_config_value *value)
{
    ucs_config_value_release(entry, options);
    memcpy(config_field(entry, options), value,
           config_types[entry->type]->value_bytes);
}

void ucs_config_value_release(const struct ucs_config_entry *entry,
                              void                          *options)
{
    const struct ucs_config_type_ops *ops   = config_types[entry->type];
    void                             *field = config_field(entry, options);

    if (ops->release != NULL) {
        ops->release(field);
        memset(field, 0, ops->value_bytes);
    }
}

void ucs_config_value_expected(const struct ucs_config_entry *entry,
                               struct ucs_config_text        *out)
{
    const char *const *names = entry->type_arg;
    int                i;

    ucs_config_text_add(out, config_types[entry->type]->expected);
    if ((entry->type == UCS_CONFIG_TYPE_ENUM) ||
        (entry->type == UCS_CONFIG_TYPE_BITMAP)) {
        for (i = 0; names[i] != NULL; ++i) {
            ucs_config_text_add(out, (i == 0) ? "" : ", ");
            ucs_config_text_add(out, names[i]);
        }
    }
    if (entry->bounds != NULL) {
        ucs_config_bounds_print(entry, config_types[entry->type], out);
    }
}
