/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_names.h - the settings that UCX knows. Names have no UCX_ here.
 * Inside libucs only: ucs/config.h is the interface. */
#ifndef UCS_CONFIG_NAMES_H_
#define UCS_CONFIG_NAMES_H_

#include <stdbool.h>

/* Is it one of UCX's names that are listed one by one? */
bool ucs_config_name_is_listed(const char *name);

/* Does it begin as the settings of a transport family do? */
bool ucs_config_name_is_in_family(const char *name);

/* The listed names by index; NULL behind the last one. */
const char *ucs_config_name_listed(unsigned index);

#endif
