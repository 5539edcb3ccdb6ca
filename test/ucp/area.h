/* SPDX-License-Identifier: BSD-3-Clause */
/* area.h - memory that comes and goes at the same addresses, and a runtime
 * that reports it, or does not.
 *
 *   area_remap(page, count, how)
 *      runtime:  ucm_vm_munmap()       if area_open(true)
 *      kernel:   munmap, mmap ...      other pages at that address
 *      mock:     generation + 1        a registration made before is stale */
#ifndef TEST_UCP_AREA_H_
#define TEST_UCP_AREA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AREA_PAGE_BYTES = 4096, AREA_PAGE_COUNT = 512 };

/* Ways for pages to become others. */
enum area_way {
    AREA_MUNMAP,   /* and mapped again */
    AREA_MMAP,     /* over it */
    AREA_MREMAP,   /* moved away, mapped again, and what was moved is gone */
    AREA_DONTNEED, /* madvise */
    AREA_WAY_COUNT,
};

/* Map the area. @param is_reported  The runtime says that it will tell. */
void area_open(bool is_reported);
void area_close(void);

uint8_t *area_page(unsigned page);

/* Other pages, zeroed, where those were; told, if the runtime tells. Any
 * thread, as long as nobody uses them. */
void area_remap(unsigned page, unsigned count, enum area_way way);

/* The runtime says no more what it promised to say: what must not happen. */
void area_forget_to_tell(void);

/* malloc and free of so many bytes, in pages of their own, that the runtime
 * reports as those in munmap. */
uint8_t *area_malloc(size_t bytes);
void     area_free(uint8_t *memory);

/* A thread that remaps what it is given, in slots of so many pages; between,
 * it reports more of its own memory, the last pages, than is remembered.
 * give:  the slot is the thread's.
 * wait:  until it is ours again, with other pages. */
void area_thread_start(unsigned slot_pages);
void area_thread_give(unsigned slot);
void area_thread_wait(unsigned slot);
void area_thread_stop(void);

/* For mock_setup.generation. The second form also remaps and tells, the last
 * pages: what an allocator does that is called inside the library. */
uint64_t area_generation(const void *address, size_t length);
uint64_t area_generation_noisy(const void *address, size_t length);

#endif
