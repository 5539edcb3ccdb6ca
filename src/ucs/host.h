/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/host.h - what /proc and /sys say of where this process runs.
 *
 *   a machine, booted once  - has an id
 *   its namespaces          - have numbers, different ones at any moment; two
 *                             containers are two of them on one machine */
#ifndef UCS_HOST_H_
#define UCS_HOST_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"

/* A small file, whole or as much of it as fits. Does not log.
 * @param text  [size_bytes] terminated in any case.
 * @return its length; 0: empty, or it cannot be read. */
UCS_EXPORT size_t ucsi_host_read(const char *path, char *text,
                                 size_t size_bytes);

/* Of the running kernel: random at each boot, and the same in all containers.
 * Where /proc is hidden, of the host's name. */
UCS_EXPORT uint64_t ucsi_host_id(void);

/* The namespace of that kind ("net", "pid", ...) of this process.
 * @return its inode number; 0: not known. */
UCS_EXPORT uint32_t ucsi_host_namespace(const char *kind);

#endif
