/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/facade.c - what libuct and libucm answer to programs of UCX. */
#include <stdio.h>

#include "ucm/api/ucm.h"
#include "uct/compat.h"

static int failures;

#define CHECK(_condition)                                                      \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_condition);   \
            ++failures;                                                        \
        }                                                                      \
    } while (0)

static int is_unsupported(ucs_status_t status)
{
    return status == UCS_ERR_UNSUPPORTED;
}

static void uct_lists_are_empty(void)
{
    void   **components = (void **)&failures;
    void    *resources  = &failures;
    unsigned count      = 7;

    CHECK(uct_query_components(&components, &count) == UCS_OK);
    CHECK((components == NULL) && (count == 0));
    uct_release_component_list(components);
    count = 7;
    CHECK(uct_md_query_tl_resources(NULL, &resources, &count) == UCS_OK);
    CHECK((resources == NULL) && (count == 0));
    uct_release_tl_resource_list(resources);
}

static void uct_has_nothing(void)
{
    void *out = &failures;

    CHECK(is_unsupported(uct_component_query(NULL, NULL)));
    CHECK(is_unsupported(uct_md_config_read(NULL, NULL, NULL, &out)));
    CHECK(is_unsupported(uct_md_open(NULL, "md", NULL, &out)));
    CHECK(is_unsupported(uct_md_query(NULL, NULL)));
    CHECK(
        is_unsupported(uct_md_iface_config_read(NULL, "tl", NULL, NULL, &out)));
    CHECK(is_unsupported(uct_md_mkey_pack(NULL, NULL, NULL)));
    CHECK(is_unsupported(uct_rkey_unpack(NULL, NULL, NULL)));
    CHECK(is_unsupported(uct_rkey_release(NULL, NULL)));
    CHECK(is_unsupported(uct_worker_create(NULL, 0, &out)));
    CHECK(is_unsupported(uct_iface_open(NULL, NULL, NULL, NULL, &out)));
    CHECK(is_unsupported(uct_iface_query(NULL, NULL)));
    CHECK(is_unsupported(uct_iface_get_address(NULL, NULL)));
    CHECK(is_unsupported(uct_iface_get_device_address(NULL, NULL)));
    CHECK(is_unsupported(uct_iface_set_am_handler(NULL, 0, NULL, NULL, 0)));
    CHECK(is_unsupported(uct_iface_mem_alloc(NULL, 1, 0, "m", NULL)));
    CHECK(is_unsupported(uct_ep_create(NULL, &out)));
    CHECK(is_unsupported(uct_ep_get_address(NULL, NULL)));
    CHECK(is_unsupported(uct_ep_connect_to_ep(NULL, NULL, NULL)));
    CHECK(is_unsupported(uct_cm_config_read(NULL, NULL, NULL, &out)));
    CHECK(is_unsupported(uct_cm_open(NULL, NULL, NULL, &out)));
    CHECK(is_unsupported(uct_cm_query(NULL, NULL)));
    CHECK(uct_iface_is_reachable(NULL, NULL, NULL) == 0);
    CHECK(out == &failures); /* outputs are written on success only */
    uct_config_release(NULL);
    uct_md_close(NULL);
    uct_worker_destroy(NULL);
    uct_iface_close(NULL);
    uct_iface_mem_free(NULL);
    uct_ep_destroy(NULL);
    uct_cm_close(NULL);
    CHECK(uct_device_type_names[0][0] == 'n');
}

static void on_event(ucm_event_type_t event_type, ucm_event_t *event, void *arg)
{
    (void)event_type;
    (void)event;
    (void)arg;
    ++failures;
}

static void ucm_accepts_reports(void)
{
    char memory[16];

    CHECK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    CHECK(ucm_test_events(UCM_EVENT_VM_UNMAPPED) == UCS_OK);
    CHECK(is_unsupported(
        ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, on_event, NULL)));
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    ucm_vm_mmap(memory, sizeof(memory));
    ucm_vm_munmap(memory, sizeof(memory));
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, on_event, NULL);
}

int main(void)
{
    uct_lists_are_empty();
    uct_has_nothing();
    ucm_accepts_reports();
    return (failures == 0) ? 0 : 1;
}
