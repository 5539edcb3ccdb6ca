/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/json.h - write JSON into a strbuf, member by member; the comma is put
 * where one is needed.
 *
 *   ucsi_json_open(&text, NULL);               {
 *   ucsi_json_text(&text, "name", "x\"y");     {"name":"x\"y"
 *   ucsi_json_open(&text, "args");             {"name":"x\"y","args":{
 *   ucsi_json_u64(&text, "bytes", 8);          ...{"bytes":8
 *   ucsi_json_close(&text);                    ...{"bytes":8}
 *
 * Keys are ours and written as they are. A text that does not fit is cut, as
 * strbuf says; then it is no JSON. */
#ifndef UCS_JSON_H_
#define UCS_JSON_H_

#include "ucs/strbuf.h"

/* Begin an object, a member of the one that is open; key NULL: a value. */
UCS_EXPORT void ucsi_json_open(struct ucs_strbuf *json, const char *key);
UCS_EXPORT void ucsi_json_close(struct ucs_strbuf *json);

/* A text: quotes and backslashes are escaped, what is not printable ASCII
 * becomes '?', for it may come from a peer. */
UCS_EXPORT void ucsi_json_text(struct ucs_strbuf *json, const char *key,
                               const char *value);
UCS_EXPORT void ucsi_json_u64(struct ucs_strbuf *json, const char *key,
                              uint64_t value);
UCS_EXPORT void ucsi_json_bool(struct ucs_strbuf *json, const char *key,
                               bool value);

/* A finite number, 9 digits of it; anything else becomes null. */
UCS_EXPORT void ucsi_json_double(struct ucs_strbuf *json, const char *key,
                                 double value);

#endif
