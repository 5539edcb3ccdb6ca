/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/sys/compiler_def.h - the compiler helpers that the public headers use.
 * Part of the compatible API; our own code includes ucs/compiler.h. */
#ifndef UCS_SYS_COMPILER_DEF_H_
#define UCS_SYS_COMPILER_DEF_H_

#include <stddef.h>

#ifdef __cplusplus
#define BEGIN_C_DECLS extern "C" {
#define END_C_DECLS   }
#else
#define BEGIN_C_DECLS
#define END_C_DECLS
#endif

/* What is declared between the two is in the library's symbol table, whatever
 * -fvisibility says. */
#ifdef __GNUC__
#define UCS_API_BEGIN _Pragma("GCC visibility push(default)") BEGIN_C_DECLS
#define UCS_API_END   END_C_DECLS _Pragma("GCC visibility pop")
#else
#define UCS_API_BEGIN BEGIN_C_DECLS
#define UCS_API_END   END_C_DECLS
#endif

#define UCS_S_PACKED        __attribute__((packed))
#define UCS_S_MAY_ALIAS     __attribute__((may_alias))
#define UCS_F_DEPRECATED    __attribute__((deprecated))
#define UCS_F_PURE          __attribute__((pure))
#define UCS_F_NORETURN      __attribute__((noreturn))
#define UCS_F_NOINLINE      __attribute__((noinline))
#define UCS_F_ALWAYS_INLINE inline __attribute__((always_inline))
#define UCS_F_NON_NULL      __attribute__((nonnull))
#define UCS_F_MAYBE_UNUSED  __attribute__((used))
#define UCS_F_PRINTF(_format_index, _first_index)                              \
    __attribute__((format(printf, _format_index, _first_index)))
#define UCS_V_UNUSED          __attribute__((unused))
#define UCS_V_ALIGNED(_bytes) __attribute__((aligned(_bytes)))

#define UCS_BIT(_index) (1ul << (_index))
#define UCS_MASK(_bits)                                                        \
    (((_bits) >= (8 * sizeof(unsigned long))) ? ~0ul : (UCS_BIT(_bits) - 1))

/* The address _offset bytes after _ptr, and the bytes from _start to _end. */
#define UCS_PTR_BYTE_OFFSET(_ptr, _offset)                                     \
    ((void *)((char *)(_ptr) + (ptrdiff_t)(_offset)))
#define UCS_PTR_BYTE_DIFF(_start, _end)                                        \
    ((ptrdiff_t)((const char *)(_end) - (const char *)(_start)))

#endif
