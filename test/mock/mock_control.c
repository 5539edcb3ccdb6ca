/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_control.c - the side that tests see. */
#include "mock/mock_private.h"

/* A network card of today, roughly: 1 us, 10 GB/s, registration to be paid. */
#define MOCK_DEVICE_DEFAULT                                                    \
    {                                                                          \
        .am                        = {.short_bytes_max = 128,                  \
                                      .bcopy_bytes_max = 8 << 10,              \
                                      .zcopy_bytes_max = 64 << 10,             \
                                      .iov_count_max   = 8},                     \
        .am_zcopy_header_bytes_max = 64,                                       \
        .put                       = {.short_bytes_max  = 128,                 \
                                      .bcopy_bytes_max  = 8 << 10,             \
                                      .zcopy_bytes_max  = SIZE_MAX,            \
                                      .iov_count_max    = 8,                   \
                                      .remote_count_max = 4},                  \
        .get                       = {.bcopy_bytes_max  = 8 << 10,             \
                                      .zcopy_bytes_max  = SIZE_MAX,            \
                                      .iov_count_max    = 8,                   \
                                      .remote_count_max = 4},                  \
        .cost                      = {.latency_s           = 1e-6,             \
                                      .overhead_s          = 100e-9,           \
                                      .bandwidth_Bps       = 10e9,             \
                                      .register_base_s     = 1e-6,             \
                                      .register_per_byte_s = 0.01e-9},         \
        .put_cost                  = {.latency_s     = 1e-6,                   \
                                      .overhead_s    = 100e-9,                 \
                                      .bandwidth_Bps = 10e9},                  \
        .get_cost                  = {.latency_s     = 2e-6,                   \
                                      .overhead_s    = 100e-9,                 \
                                      .bandwidth_Bps = 10e9},                  \
        .flags                     = UCT_IFACE_PUT_BEFORE_AM,                  \
    }

#define MOCK_SETUP_DEFAULT                                                     \
    {                                                                          \
        .device_count = 1, .needs_mem = true, .pinned_bytes_max = SIZE_MAX,    \
        .room = 64, .kept_max = 32,                                            \
        .devices = {                                                           \
            MOCK_DEVICE_DEFAULT,                                               \
            MOCK_DEVICE_DEFAULT,                                               \
            MOCK_DEVICE_DEFAULT,                                               \
            MOCK_DEVICE_DEFAULT,                                               \
        },                                                                     \
    }

static const struct mock_setup setup_default = MOCK_SETUP_DEFAULT;

struct mock_world mock_world = {
    .mds    = {&mock_world.mds, &mock_world.mds},
    .ifaces = {&mock_world.ifaces, &mock_world.ifaces},
    .mems   = {&mock_world.mems, &mock_world.mems},
    .wire   = {&mock_world.wire, &mock_world.wire},
    .setup  = MOCK_SETUP_DEFAULT,
};

/* splitmix64. */
uint64_t mock_random(void)
{
    uint64_t mix = (mock_world.random += 0x9e3779b97f4a7c15ull);

    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9ull;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebull;
    return mix ^ (mix >> 31);
}

/* ---- journal ---- */

static void control_forget_events(void)
{
    struct mock_item *item;
    unsigned          index;

    for (index = 0; index < mock_world.event_count; ++index) {
        free(mock_world.events[index].bytes);
    }
    mock_world.event_count = 0;
    for (index = 0; index < MOCK_HOST_COUNT_MAX; ++index) {
        mock_world.hosts[index].pinned_bytes_peak =
            mock_world.hosts[index].pinned_bytes;
    }
    ucs_list_for_each (item, &mock_world.wire, link) {
        item->event = -1;
    }
}

static unsigned control_event_count(void)
{
    return mock_world.event_count;
}

static const struct mock_event *control_event(unsigned index)
{
    return &mock_world.events[index];
}

static void control_reset(void)
{
    control_forget_events();
    free(mock_world.events);
    mock_world.events      = NULL;
    mock_world.event_room  = 0;
    mock_world.fault_count = 0;
    mock_world.setup       = setup_default;
    mock_world.bad[0]      = '\0';
    memset(mock_world.hosts, 0, sizeof(mock_world.hosts));
}

/* ---- the wire ---- */

static bool control_is_waiting(const struct mock_item *item)
{
    return !item->has_arrived && !item->is_released &&
           (item->kind != MOCK_ITEM_END) && mock_item_may_go(item);
}

/* Of two that may arrive, the first of which is older. */
static bool control_is_before(enum mock_order         order,
                              const struct mock_item *older,
                              const struct mock_item *newer)
{
    switch (order) {
    case MOCK_PUTS_LAST:
        return (older->kind != MOCK_ITEM_PUT) || (newer->kind == MOCK_ITEM_PUT);
    case MOCK_EARLIEST:
        return older->done_s <= newer->done_s;
    case MOCK_OLDEST:
        break;
    }
    return true;
}

static uint64_t control_next(enum mock_order order)
{
    const struct mock_item *item;
    const struct mock_item *first = NULL;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if (control_is_waiting(item) &&
            ((first == NULL) || !control_is_before(order, first, item))) {
            first = item;
        }
    }
    return (first == NULL) ? 0 : first->number;
}

static bool control_deliver(uint64_t number)
{
    struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->number == number) && !item->has_arrived &&
            (item->to != NULL)) {
            item->is_released = true;
            if (item->kind != MOCK_ITEM_AM) {
                mock_item_execute(item);
            }
            return true;
        }
    }
    return false;
}

/* Somebody who never announced himself. */
static struct mock_source *control_stranger(unsigned host)
{
    struct mock_source *source;
    struct mock_iface  *iface;

    ucs_list_for_each (iface, &mock_world.ifaces, link) {
        if ((iface->host == host) && !iface->is_dead) {
            source = calloc(1, sizeof(*source));
            ucs_check(source != NULL);
            source->iface    = iface;
            source->is_cut   = true; /* ends after this one message */
            source->has_sent = true;
            ucs_list_add_tail(&iface->sources, &source->link);
            return source;
        }
    }
    return NULL;
}

static struct mock_source *control_source(uint64_t channel)
{
    struct mock_source *source;
    struct mock_iface  *iface;

    ucs_list_for_each (iface, &mock_world.ifaces, link) {
        ucs_list_for_each (source, &iface->sources, link) {
            if ((source->channel == channel) && !iface->is_dead) {
                return source;
            }
        }
    }
    return NULL;
}

static bool control_inject(uint64_t channel, unsigned to, uint8_t am_id,
                           const void *bytes, size_t length)
{
    struct mock_source *source =
        (channel == 0) ? control_stranger(to) : control_source(channel);
    struct mock_item *item;

    if (source == NULL) {
        return false;
    }
    item = mock_item_new(NULL, MOCK_ITEM_AM);
    ucs_check(item != NULL);
    item->source       = source;
    item->to           = source->iface;
    item->am_id        = am_id;
    item->is_any_order = true;
    item->is_released  = true;
    item->length       = length;
    item->data         = malloc((length == 0) ? 1 : length);
    ucs_check(item->data != NULL);
    if (length > 0) {
        memcpy(item->data, bytes, length);
    }
    ucs_list_add_tail(&mock_world.wire, &item->link);
    return true;
}

static bool control_change(uint64_t number, const void *bytes)
{
    struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->number == number) && (item->kind == MOCK_ITEM_AM) &&
            !item->has_arrived && (item->data != NULL) && !item->is_lent) {
            memcpy(item->data, bytes, item->length);
            return true;
        }
    }
    return false;
}

/* ---- what goes wrong ---- */

static unsigned control_fault(const struct mock_fault *fault)
{
    unsigned id = mock_world.fault_count++;

    ucs_check(id < MOCK_FAULT_COUNT_MAX);
    mock_world.faults[id] = (struct mock_fault_state){.fault = *fault};
    return id;
}

static unsigned control_fault_hits(unsigned id)
{
    return mock_world.faults[id].hits;
}

static void control_block(unsigned host, bool is_blocked)
{
    mock_world.hosts[host].is_blocked = is_blocked;
}

static void control_kill(unsigned host)
{
    struct mock_iface *iface;

    ucs_list_for_each (iface, &mock_world.ifaces, link) {
        if (iface->host == host) {
            mock_iface_kill(iface);
        }
    }
}

static unsigned control_mem_count(unsigned host)
{
    struct mock_mem *mem;
    struct mock_md  *md;
    unsigned         count = 0;

    ucs_list_for_each (mem, &mock_world.mems, link) {
        md = ucs_container_of(mem->base.md, struct mock_md, base);
        count += (md->host == host) ? 1 : 0;
    }
    return count;
}

static size_t control_pinned_bytes(unsigned host)
{
    return mock_world.hosts[host].pinned_bytes;
}

static size_t control_pinned_bytes_peak(unsigned host)
{
    return mock_world.hosts[host].pinned_bytes_peak;
}

static double control_now_s(unsigned host)
{
    return mock_world.hosts[host].now_s;
}

static const char *control_bad(void)
{
    return mock_world.bad;
}

UCS_EXPORT extern const struct mock_control causeway_mock_control;
const struct mock_control                   causeway_mock_control = {
                      .reset             = control_reset,
                      .setup             = &mock_world.setup,
                      .event_count       = control_event_count,
                      .event             = control_event,
                      .forget_events     = control_forget_events,
                      .next              = control_next,
                      .deliver           = control_deliver,
                      .inject            = control_inject,
                      .change            = control_change,
                      .fault             = control_fault,
                      .fault_hits        = control_fault_hits,
                      .block             = control_block,
                      .kill              = control_kill,
                      .mem_count         = control_mem_count,
                      .pinned_bytes      = control_pinned_bytes,
                      .pinned_bytes_peak = control_pinned_bytes_peak,
                      .now_s             = control_now_s,
                      .restart_clock     = mock_clock_restart,
                      .bad               = control_bad,
};
