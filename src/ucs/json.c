/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/json.c - JSON, member by member. */
#include "ucs/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What goes before a value: a comma unless it is the first, and its key. */
static void json_key(struct ucs_strbuf *json, const char *key)
{
    char last = '{';

    if (json->length > 0) {
        last = json->text[json->length - 1];
    }

    if ((last != '{') && (last != '[') && (last != '\n')) {
        ucsi_strbuf_append(json, ",");
    }
    if (key != NULL) {
        ucsi_strbuf_appendf(json, "\"%s\":", key);
    }
}

void ucsi_json_open(struct ucs_strbuf *json, const char *key)
{
    json_key(json, key);
    ucsi_strbuf_append(json, "{");
}

void ucsi_json_close(struct ucs_strbuf *json)
{
    ucsi_strbuf_append(json, "}");
}

void ucsi_json_text(struct ucs_strbuf *json, const char *key, const char *value)
{
    char piece[3];

    json_key(json, key);
    ucsi_strbuf_append(json, "\"");
    for (; *value != '\0'; ++value) {
        bool needs_escape = (*value == '"') || (*value == '\\');
        bool is_plain     = (*value >= ' ') && (*value <= '~');

        piece[0]            = '\\';
        piece[needs_escape] = '?';
        if (is_plain) {
            piece[needs_escape] = *value;
        }
        piece[needs_escape + 1] = '\0';
        ucsi_strbuf_append(json, piece);
    }
    ucsi_strbuf_append(json, "\"");
}

void ucsi_json_u64(struct ucs_strbuf *json, const char *key, uint64_t value)
{
    json_key(json, key);
    ucsi_strbuf_appendf(json, "%" PRIu64, value);
}

void ucsi_json_bool(struct ucs_strbuf *json, const char *key, bool value)
{
    json_key(json, key);
    ucsi_strbuf_append(json, value ? "true" : "false");
}

void ucsi_json_double(struct ucs_strbuf *json, const char *key, double value)
{
    json_key(json, key);
    if (isfinite(value)) {
        ucsi_strbuf_appendf(json, "%.9g", value);
    } else {
        ucsi_strbuf_append(json, "null");
    }
}
