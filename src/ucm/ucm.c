/* SPDX-License-Identifier: BSD-3-Clause */
/* ucm/ucm.c - the whole of libucm: programs link it; reports of unmapped
 * memory are passed on, all else does nothing. It must stay without hooks,
 * constructors, locks and allocations. */
#include "ucm/api/ucm.h"

#include "ucs/unmap.h"

void ucm_set_external_event(int events)
{
    if (events & UCM_EVENT_VM_UNMAPPED) {
        ucsi_unmap_set_reported(true);
    }
}

void ucm_unset_external_event(int events)
{
    if (events & UCM_EVENT_VM_UNMAPPED) {
        ucsi_unmap_set_reported(false);
    }
}

ucs_status_t ucm_test_events(int events)
{
    (void)events;
    return UCS_OK;
}

ucs_status_t ucm_test_external_events(int events)
{
    (void)events;
    return UCS_OK;
}

void ucm_vm_mmap(void *addr, size_t length)
{
    (void)addr;
    (void)length;
}

void ucm_vm_munmap(void *addr, size_t length)
{
    ucsi_unmap_tell((uintptr_t)addr, length);
}

ucs_status_t ucm_set_event_handler(int events, int priority,
                                   ucm_event_callback_t cb, void *arg)
{
    (void)events;
    (void)priority;
    (void)cb;
    (void)arg;
    return UCS_ERR_UNSUPPORTED;
}

void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg)
{
    (void)events;
    (void)cb;
    (void)arg;
}
