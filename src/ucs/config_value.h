/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_value.h - what can be done with a value of each type.
 * Inside libucs only: ucs/config.h is the interface. */
#ifndef UCS_CONFIG_VALUE_H_
#define UCS_CONFIG_VALUE_H_

#include "ucs/config.h"

/* Text that is cut at the end of its memory, but knows its whole length. */
struct ucs_config_text {
    char  *bytes; /* [size_bytes], always ends in NUL */
    size_t size_bytes;
    size_t length; /* of all that was added; not below size_bytes: cut */
};

/* A value of any type. */
union ucs_config_value {
    char                       *string;
    bool                        boolean;
    int                         number;
    unsigned                    count;
    double                      real;
    uint64_t                    word;
    struct ucs_config_list      list;
    struct ucs_config_range     range;
    struct ucs_config_threshold threshold;
};

/* What a type does; one row per enum ucs_config_type. */
struct ucs_config_type_ops {
    const char *expected; /* the grammar, for messages */
    size_t      value_bytes;
    /* Statuses as of ucs_config_value_parse; sets *value on success only. */
    ucs_status_t (*parse)(const char *text, const void *arg, void *value);
    void (*print)(const void *value, const void *arg,
                  struct ucs_config_text *out);
    void (*release)(void *value); /* NULL: it owns nothing */
};

/* The types that are one number or word; the others are in config_value.c. */
extern const struct ucs_config_type_ops ucs_config_bool_ops;
extern const struct ucs_config_type_ops ucs_config_ternary_ops;
extern const struct ucs_config_type_ops ucs_config_on_off_ops;
extern const struct ucs_config_type_ops ucs_config_uint_ops;
extern const struct ucs_config_type_ops ucs_config_int_ops;
extern const struct ucs_config_type_ops ucs_config_double_ops;
extern const struct ucs_config_type_ops ucs_config_size_ops;
extern const struct ucs_config_type_ops ucs_config_time_ops;
extern const struct ucs_config_type_ops ucs_config_bandwidth_ops;

void ucs_config_text_add(struct ucs_config_text *out, const char *text);

/* Whether the value is one that the entry allows. */
bool ucs_config_bounds_hold(const struct ucs_config_entry *entry,
                            const union ucs_config_value  *value);

/* Add what the entry, which has bounds, allows. ops: of its type. */
void ucs_config_bounds_print(const struct ucs_config_entry    *entry,
                             const struct ucs_config_type_ops *ops,
                             struct ucs_config_text           *out);

/* Make a value from text; released or moved into an options struct later.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM, UCS_ERR_OUT_OF_RANGE: bad text;
 *         UCS_ERR_NO_MEMORY. Not logged. */
UCS_MUST_USE ucs_status_t
ucs_config_value_parse(const struct ucs_config_entry *entry, const char *text,
                       union ucs_config_value *value_p);

/* Write the text of the value in the options; parse takes it back. */
void ucs_config_value_print(const struct ucs_config_entry *entry,
                            const void *options, struct ucs_config_text *out);

/* Move a value into the options; what was there is released. */
void ucs_config_value_move(const struct ucs_config_entry *entry, void *options,
                           const union ucs_config_value *value);

/* Release the value in the options; an all-zero one too. */
void ucs_config_value_release(const struct ucs_config_entry *entry,
                              void                          *options);

/* Write what a value of this type must look like. */
void ucs_config_value_expected(const struct ucs_config_entry *entry,
                               struct ucs_config_text        *out);

#endif
