/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info.h - the part of `causeway info` that needs our own libuct. */
#ifndef CAUSEWAY_TOOL_INFO_H_
#define CAUSEWAY_TOOL_INFO_H_

#include <stdbool.h>

/* A print flag of ours for ucp_config_print: add where each value comes from.
 * info_transports.c asserts that it is UCS_CONFIG_PRINT_ORIGIN. */
#define INFO_PRINT_ORIGIN (1u << 16)

/* Is the loaded libuct ours? */
bool info_transports_exist(void);
/* Each transport with its devices; with limits, also their attributes. */
void info_transports_print(bool limits);

#endif
