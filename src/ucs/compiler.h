/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/compiler.h - the only place with __attribute__ and __builtin names. */
#ifndef UCS_COMPILER_H_
#define UCS_COMPILER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucs/sys/compiler_def.h"

/* In a library's symbol table; everything else is hidden. */
#define UCS_EXPORT __attribute__((visibility("default")))
/* The caller may not ignore what the function returns. */
#define UCS_MUST_USE __attribute__((warn_unused_result))
#define UCS_PRINTF(_format_index, _first_index)                                \
    __attribute__((format(printf, _format_index, _first_index)))
#define UCS_NORETURN __attribute__((noreturn))
#define UCS_UNUSED   __attribute__((unused))
/* Called when the library is unloaded, or the process ends. */
#define UCS_AT_UNLOAD __attribute__((destructor))
/* Rare: kept out of the way of everything else, and small. */
#define UCS_NOINLINE __attribute__((noinline, cold))
/* The second most frequent case: a function of its own only so that the most
 * frequent one saves no registers for it. */
#define UCS_OUTLINE         __attribute__((noinline))
#define UCS_INLINE          static inline __attribute__((always_inline))
#define UCS_ALIGNED(_bytes) __attribute__((aligned(_bytes)))

#define ucs_likely(_condition)       __builtin_expect(!!(_condition), 1)
#define ucs_unlikely(_condition)     __builtin_expect(!!(_condition), 0)
#define ucs_prefetch(_pointer)       __builtin_prefetch(_pointer)
#define ucs_prefetch_write(_pointer) __builtin_prefetch(_pointer, 1)

/* Is this built with AddressSanitizer, with ThreadSanitizer? clang knows them
 * as features, gcc has a name for each. */
#if defined(__has_feature)
#define UCS_HAS_FEATURE(_name) __has_feature(_name)
#else
#define UCS_HAS_FEATURE(_name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || UCS_HAS_FEATURE(address_sanitizer)
#define UCS_HAS_ASAN 1
#else
#define UCS_HAS_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || UCS_HAS_FEATURE(thread_sanitizer)
#define UCS_HAS_TSAN 1
#else
#define UCS_HAS_TSAN 0
#endif

/* Bytes that two processors pass to one another as one. */
#define UCS_CACHE_LINE_BYTES 64

#define UCS_ARRAY_COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

/* The object whose member is at _pointer. */
#define ucs_container_of(_pointer, _type, _member)                             \
    ((_type *)(void *)((char *)(uintptr_t)(_pointer)-offsetof(_type, _member)))

#define ucs_min(_a, _b)                                                        \
    ({                                                                         \
        __typeof__(_a) _min_a = (_a);                                          \
        __typeof__(_b) _min_b = (_b);                                          \
        _min_a < _min_b ? _min_a : _min_b;                                     \
    })
#define ucs_max(_a, _b)                                                        \
    ({                                                                         \
        __typeof__(_a) _max_a = (_a);                                          \
        __typeof__(_b) _max_b = (_b);                                          \
        _max_a > _max_b ? _max_a : _max_b;                                     \
    })

static inline size_t ucs_align_up(size_t value, size_t power_of_two)
{
    return (value + power_of_two - 1) & ~(power_of_two - 1);
}

/* Tell the processor that this is a spin loop. */
static inline void ucs_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

#endif
