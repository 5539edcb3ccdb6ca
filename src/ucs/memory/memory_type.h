/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/memory/memory_type.h - where memory lives (part of the compatible API).
 *
 * The values 0 to 4 are the same in every release of UCX. "Unknown" was 5, 6
 * and 9 in turn, so a library must take any type it cannot serve to mean
 * "detect it". Causeway serves host memory. */
#ifndef UCS_MEMORY_MEMORY_TYPE_H_
#define UCS_MEMORY_MEMORY_TYPE_H_

#include <ucs/sys/compiler_def.h>

typedef enum ucs_memory_type {
    UCS_MEMORY_TYPE_HOST         = 0, /* ordinary memory */
    UCS_MEMORY_TYPE_CUDA         = 1,
    UCS_MEMORY_TYPE_CUDA_MANAGED = 2,
    UCS_MEMORY_TYPE_ROCM         = 3,
    UCS_MEMORY_TYPE_ROCM_MANAGED = 4,
    UCS_MEMORY_TYPE_RDMA         = 5,
    UCS_MEMORY_TYPE_ZE_HOST      = 6,
    UCS_MEMORY_TYPE_ZE_DEVICE    = 7,
    UCS_MEMORY_TYPE_ZE_MANAGED   = 8,
    UCS_MEMORY_TYPE_LAST         = 9,
    UCS_MEMORY_TYPE_UNKNOWN      = UCS_MEMORY_TYPE_LAST
} ucs_memory_type_t;

/* A set of the types that a processor can load from and store to. */
#define UCS_MEMORY_TYPES_CPU_ACCESSIBLE                                        \
    (UCS_BIT(UCS_MEMORY_TYPE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ROCM_MANAGED) |   \
     UCS_BIT(UCS_MEMORY_TYPE_ZE_HOST) | UCS_BIT(UCS_MEMORY_TYPE_ZE_MANAGED))

#define ucs_memory_type_for_each(_type)                                        \
    for ((_type) = UCS_MEMORY_TYPE_HOST; (_type) < UCS_MEMORY_TYPE_LAST;       \
         (_type)++)

UCS_API_BEGIN

/* Names and descriptions of the types, for programs built for UCX 1.13: HOST
 * to ROCM_MANAGED, then in the names "unknown", then NULL. Do not index them
 * with a later type. */
extern const char *ucs_memory_type_names[];
extern const char *ucs_memory_type_descs[];

UCS_API_END

#endif
