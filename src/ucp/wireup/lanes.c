/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.c - which interface reaches a peer best. */
#include "ucp/wireup/lanes.h"

#include "ucs/strbuf.h"

static double lane_cost(const struct ucp_worker_iface *wiface)
{
    return wiface->attr.cost.latency_s + wiface->attr.cost.overhead_s;
}

/* Does that entry of the peer's address reach over this interface? */
static bool lane_reaches(struct ucp_worker_iface        *wiface,
                         const struct ucp_address_entry *entry,
                         struct ucs_strbuf              *reasons)
{
    const char  *name = wiface->iface->transport->name;
    char         reason[UCT_REASON_BYTES_MAX] = "";
    ucs_status_t status;

    if (strcmp(name, entry->transport) != 0) {
        return false;
    }
    status = wiface->iface->transport->iface_reach(
            wiface->iface, entry->bytes, entry->size_bytes, reason);
    if (status != UCS_OK) {
        ucsi_strbuf_appendf(reasons, "%s%s: %s",
                            (reasons->length > 0) ? "; " : "", name, reason);
    }
    return status == UCS_OK;
}

/* Say which transports the peer offers that are not open here, and the other
 * way round, when no pair has the same name. */
static void lane_explain_none(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucs_strbuf             *reasons)
{
    if (reasons->length > 0) {
        return;
    }
    ucsi_strbuf_appendf(reasons, "no transport in common: the peer offers");
    for (unsigned i = 0; i < view->entry_count; ++i) {
        ucsi_strbuf_appendf(reasons, " %s", view->entries[i].transport);
    }
    ucsi_strbuf_appendf(reasons, "%s; open here:",
                        (view->entry_count == 0) ? " none" : "");
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        ucsi_strbuf_appendf(reasons, " %s",
                            worker->ifaces[i].iface->transport->name);
    }
    ucsi_strbuf_appendf(reasons, "; look at UCX_TLS on both sides");
}

ucs_status_t ucp_lanes_choose(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucp_lane_choice *choice_p, char *reasons,
                              size_t size_bytes)
{
    const struct ucp_worker_iface *best = NULL;
    struct ucs_strbuf              text;

    ucs_strbuf_init(&text, reasons, size_bytes);
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        struct ucp_worker_iface *wiface = &worker->ifaces[i];

        if ((best != NULL) && (lane_cost(wiface) >= lane_cost(best))) {
            continue;
        }
        for (unsigned j = 0; j < view->entry_count; ++j) {
            if (lane_reaches(wiface, &view->entries[j], &text)) {
                best                  = wiface;
                choice_p->iface_index = i;
                choice_p->entry       = &view->entries[j];
                break;
            }
        }
    }
    if (best == NULL) {
        lane_explain_none(worker, view, &text);
        return UCS_ERR_UNREACHABLE;
    }
    return UCS_OK;
}
