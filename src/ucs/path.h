/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/path.h - names of files that a user gives with holes to fill, so that
 * many processes can share one setting.
 *
 *   "/tmp/trace.%h.%p.json"  ->  "/tmp/trace.node7.4711.json" */
#ifndef UCS_PATH_H_
#define UCS_PATH_H_

#include <stdbool.h>
#include <stddef.h>

#include "ucs/compiler.h"

/* Fill the holes: %p the process, %h the host ("?" if it has no name), %t the
 * time in seconds since 1970, %% a percent sign. Any other letter after a
 * percent sign stays as it is. Does not log; keeps errno.
 * @param path  [size_bytes] cut when the result is too long.
 * @return false: it is too long. */
UCS_EXPORT UCS_MUST_USE bool ucsi_path_expand(const char *pattern, char *path,
                                              size_t size_bytes);

#endif
