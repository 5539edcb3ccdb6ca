/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_journal.c - what happened, what went wrong, and what is to go wrong. */
#include "mock/mock_private.h"

#include <stdarg.h>
#include <stdio.h>

int mock_journal_add(const struct mock_event *event)
{
    struct mock_world *world = &mock_world;

    if (world->event_count == world->event_room) {
        world->event_room = 2 * world->event_room + 64;
        world->events =
            realloc(world->events, world->event_room * sizeof(*world->events));
        ucs_check(world->events != NULL);
    }
    world->events[world->event_count]        = *event;
    world->events[world->event_count].time_s = world->hosts[event->from].now_s;
    return (int)world->event_count++;
}

void mock_journal_item(struct mock_item *item, enum mock_op op)
{
    bool              is_am = (item->kind == MOCK_ITEM_AM);
    struct mock_event event = {
        .type         = is_am                         ? MOCK_AM
                        : item->kind == MOCK_ITEM_PUT ? MOCK_PUT
                                                      : MOCK_GET,
        .op           = op,
        .number       = item->number,
        .channel      = item->ep->channel,
        .device       = item->from->device,
        .from         = item->from->host,
        .to           = (item->to != NULL) ? item->to->host : UINT32_MAX,
        .am_id        = item->am_id,
        .is_any_order = item->is_any_order,
        .length       = item->length,
        .address      = item->remote[0].address,
        .status       = UCS_INPROGRESS,
    };

    if (is_am) {
        event.bytes = malloc((item->length == 0) ? 1 : item->length);
        ucs_check(event.bytes != NULL);
        memcpy(event.bytes, item->data, item->length);
    }
    item->event = mock_journal_add(&event);
}

void mock_bad(const char *format, ...)
{
    va_list args;

    if (mock_world.bad[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(mock_world.bad, sizeof(mock_world.bad), format, args);
        va_end(args);
    }
}

static bool mock_fault_means(const struct mock_fault *fault, enum mock_op op)
{
    return (fault->op == op) ||
           ((fault->op == MOCK_ANY_SEND) && (op <= MOCK_FLUSH));
}

const struct mock_fault *mock_fault_hit(enum mock_op op, unsigned host)
{
    const struct mock_fault *hit = NULL;
    struct mock_fault_state *state;
    unsigned                 index;

    for (index = 0; index < mock_world.fault_count; ++index) {
        state = &mock_world.faults[index];
        if ((state->fault.host != host) ||
            !mock_fault_means(&state->fault, op)) {
            continue;
        }
        ++state->seen;
        if ((state->seen >= state->fault.first) &&
            (state->seen - state->fault.first < state->fault.count)) {
            ++state->hits;
            hit = &state->fault;
        }
    }
    return hit;
}
