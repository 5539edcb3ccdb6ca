/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_bounds.c - the least and the most that a number may be. */
#include "ucs/config_value.h"

static bool bounds_hold_for(const struct ucs_config_bounds *bounds,
                            uint64_t                        number)
{
    return (number >= bounds->min) && (number <= bounds->max) &&
           ((bounds->multiple_of == 0) || (number % bounds->multiple_of == 0));
}

bool ucs_config_bounds_hold(const struct ucs_config_entry *entry,
                            const union ucs_config_value  *value)
{
    const struct ucs_config_bounds *bounds = entry->bounds;

    if (bounds == NULL) {
        return true;
    }
    switch (entry->type) {
    case UCS_CONFIG_TYPE_UINT:
        return bounds_hold_for(bounds, value->count);
    case UCS_CONFIG_TYPE_SIZE:
    case UCS_CONFIG_TYPE_TIME:
    case UCS_CONFIG_TYPE_BANDWIDTH:
        return bounds_hold_for(bounds, value->word);
    case UCS_CONFIG_TYPE_RANGE:
        return bounds_hold_for(bounds, value->range.first) &&
               bounds_hold_for(bounds, value->range.last);
    default:
        return false; /* a table with bounds for what is no number */
    }
}

void ucs_config_bounds_print(const struct ucs_config_entry    *entry,
                             const struct ucs_config_type_ops *ops,
                             struct ucs_config_text           *out)
{
    const struct ucs_config_bounds *bounds = entry->bounds;
    const struct {
        const char *words;
        uint64_t    number;
        bool        is_said;
    } parts[] = {
        {", not below ", bounds->min, bounds->min > 0},
        {", not above ", bounds->max, bounds->max < UINT64_MAX},
        {", a multiple of ", bounds->multiple_of, bounds->multiple_of > 0},
    };

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(parts); ++i) {
        union ucs_config_value value = {.word = parts[i].number};

        if (!parts[i].is_said) {
            continue;
        }
        if (entry->type == UCS_CONFIG_TYPE_UINT) {
            value.count = (unsigned)parts[i].number;
        } else if (entry->type == UCS_CONFIG_TYPE_RANGE) {
            value.range.first = value.range.last = parts[i].number;
        }
        ucs_config_text_add(out, parts[i].words);
        ops->print(&value, entry->type_arg, out);
    }
}
