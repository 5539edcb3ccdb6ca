/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_clock.c - what time it is at each host, by the costs of the devices.
 *
 *   host 0   |reg|o|                          |o|      processor: register,
 *                  \---- put, 10 kB ---\               overhead o
 *   link 0->1       [==================]    /          busy until all is sent
 *   host 1                              |o|            latency, then overhead
 *
 * Every host has one processor and one link per device and direction. A thing
 * that arrives moves the clock of its receiver forward, never back; the time
 * is that of a real machine if things arrive in the order of their times
 * (MOCK_EARLIEST), and puts complete late. */
#include "mock/mock_private.h"

/* What moving costs. */
struct mock_cost {
    double latency_s;
    double overhead_s;
    double bandwidth_Bps;
};

static struct mock_cost mock_cost_of(const struct mock_item *item)
{
    const struct uct_iface_attr *attr =
        &mock_world.setup.devices[item->from->device];
    const struct uct_rma_cost *rma =
        (item->kind == MOCK_ITEM_PUT) ? &attr->put_cost : &attr->get_cost;

    if ((item->kind == MOCK_ITEM_PUT) || (item->kind == MOCK_ITEM_GET)) {
        return (struct mock_cost){rma->latency_s, rma->overhead_s,
                                  rma->bandwidth_Bps};
    }
    return (struct mock_cost){attr->cost.latency_s, attr->cost.overhead_s,
                              attr->cost.bandwidth_Bps};
}

static void mock_clock_wait(unsigned host, double until_s)
{
    struct mock_host *self = &mock_world.hosts[host];

    self->now_s = ucs_max(self->now_s, until_s);
}

void mock_clock_spend(unsigned host, double time_s)
{
    mock_world.hosts[host].now_s += time_s;
}

void mock_clock_accept(struct mock_item *item)
{
    const struct mock_cost cost   = mock_cost_of(item);
    struct mock_host      *sender = &mock_world.hosts[item->from->host];
    struct mock_host      *source; /* of the bytes */
    double                *link_free_s;

    if ((item->to == NULL) || (item->kind == MOCK_ITEM_FLUSH)) {
        item->done_s = sender->now_s;
        return;
    }
    source = (item->kind == MOCK_ITEM_GET) ? &mock_world.hosts[item->to->host]
                                           : sender;
    link_free_s = &source->link_free_s[item->from->device];
    sender->now_s += cost.overhead_s;
    *link_free_s = ucs_max(*link_free_s, sender->now_s) +
                   (double)item->length / cost.bandwidth_Bps;
    item->done_s = *link_free_s + cost.latency_s;
}

void mock_clock_hand_up(const struct mock_item *item)
{
    unsigned host = item->to->host;

    if (item->from != NULL) { /* the sender may be gone, or never was */
        mock_clock_wait(host, item->done_s);
        mock_clock_spend(host, mock_cost_of(item).overhead_s);
    }
}

void mock_clock_complete(const struct mock_item *item)
{
    if (mock_world.setup.completes_late || (item->kind == MOCK_ITEM_GET)) {
        mock_clock_wait(item->from->host, item->done_s);
    }
}

void mock_clock_register(unsigned host, unsigned device, size_t length)
{
    const struct uct_cost *cost = &mock_world.setup.devices[device].cost;

    mock_clock_spend(host, cost->register_base_s +
                               (double)length * cost->register_per_byte_s);
}

void mock_clock_restart(void)
{
    for (unsigned host = 0; host < MOCK_HOST_COUNT_MAX; ++host) {
        struct mock_host *self = &mock_world.hosts[host];

        self->now_s = 0;
        memset(self->link_free_s, 0, sizeof(self->link_free_s));
    }
}
