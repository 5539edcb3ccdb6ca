/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/type/thread_mode.h - who may enter an object (compatible API). */
#ifndef UCS_TYPE_THREAD_MODE_H_
#define UCS_TYPE_THREAD_MODE_H_

#include <ucs/sys/compiler_def.h>

typedef enum {
    UCS_THREAD_MODE_SINGLE     = 0, /* one thread */
    UCS_THREAD_MODE_SERIALIZED = 1, /* any thread, one at a time */
    UCS_THREAD_MODE_MULTI      = 2, /* any thread, at any time */
    UCS_THREAD_MODE_LAST       = 3
} ucs_thread_mode_t;

UCS_API_BEGIN

/* Names of ucs_thread_mode_t; UCS_THREAD_MODE_LAST entries. */
extern const char *ucs_thread_mode_names[];

UCS_API_END

#endif
