/* SPDX-License-Identifier: BSD-3-Clause */
/* ucm/api/ucm.h - the few names of UCX's libucm that programs use.
 *
 * UCX watches memory being unmapped, because it keeps registrations of it.
 * Causeway hooks nothing. It keeps registrations only where the program maps
 * the memory by ucp_mem_map, or says that it reports what it unmaps; so these
 * reports matter. Thread: any, also from inside an allocator. */
#ifndef UCM_API_UCM_H_
#define UCM_API_UCM_H_

#include <stddef.h>

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

typedef enum ucm_event_type {
    UCM_EVENT_NONE           = 0,
    UCM_EVENT_MMAP           = UCS_BIT(0),
    UCM_EVENT_MUNMAP         = UCS_BIT(1),
    UCM_EVENT_MREMAP         = UCS_BIT(2),
    UCM_EVENT_SHMAT          = UCS_BIT(3),
    UCM_EVENT_SHMDT          = UCS_BIT(4),
    UCM_EVENT_SBRK           = UCS_BIT(5),
    UCM_EVENT_MADVISE        = UCS_BIT(6),
    UCM_EVENT_BRK            = UCS_BIT(7),
    UCM_EVENT_VM_MAPPED      = UCS_BIT(16),
    UCM_EVENT_VM_UNMAPPED    = UCS_BIT(17),
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20),
    UCM_EVENT_MEM_TYPE_FREE  = UCS_BIT(21),

    UCM_EVENT_FLAG_NO_INSTALL     = UCS_BIT(24),
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25)
} ucm_event_type_t;

typedef union ucm_event ucm_event_t; /* none is ever delivered */
typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type,
                                     ucm_event_t *event, void *arg);

UCS_API_BEGIN

/* Say that the program will report these events itself, or no longer will;
 * UCM_EVENT_VM_UNMAPPED counts, the others are accepted. */
void ucm_set_external_event(int events);
void ucm_unset_external_event(int events);

/* Is everything that needs these events told of them? Always UCS_OK: without
 * reports nothing is kept that needs them. */
ucs_status_t ucm_test_events(int events);
ucs_status_t ucm_test_external_events(int events);

/* Report memory that came (ignored) or goes away: before it is unmapped, or
 * after, but before anything else can be mapped there. */
void ucm_vm_mmap(void *addr, size_t length);
void ucm_vm_munmap(void *addr, size_t length);

/* Ask to be told of events. UCS_ERR_UNSUPPORTED: nothing is hooked. */
ucs_status_t ucm_set_event_handler(int events, int priority,
                                   ucm_event_callback_t cb, void *arg);
void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg);

UCS_API_END

#endif
