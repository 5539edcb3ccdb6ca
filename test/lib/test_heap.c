/* SPDX-License-Identifier: BSD-3-Clause */
/* test_heap.c - how many bytes this process has allocated. */
#include "lib/test.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>

/* There where a sanitizer's allocator is linked, LeakSanitizer's at least,
 * which mallinfo2() does not know. */
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void *, size_t),
    void (*released)(const volatile void *)) __attribute__((weak));
extern size_t __sanitizer_get_allocated_size(const volatile void *block)
    __attribute__((weak));

/* A transport may have a thread of its own. */
static _Atomic size_t hooked_bytes;

static void hook_allocated(const volatile void *block, size_t size)
{
    (void)block;
    hooked_bytes += size;
}

static void hook_released(const volatile void *block)
{
    if (block != NULL) {
        hooked_bytes -= __sanitizer_get_allocated_size(block);
    }
}

size_t test_heap_bytes(void)
{
    static bool      is_hooked;
    struct mallinfo2 info;

    if (__sanitizer_install_malloc_and_free_hooks == NULL) {
        info = mallinfo2();
        return info.uordblks + info.hblkhd;
    }
    if (!is_hooked) {
        is_hooked    = true;
        hooked_bytes = SIZE_MAX / 2; /* blocks from before may be freed */
        ck_assert_int_ne(__sanitizer_install_malloc_and_free_hooks(
                             hook_allocated, hook_released),
                         0);
    }
    return hooked_bytes;
}
