/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.c - which interface reaches a peer best. */
#include "ucp/wireup/lanes.h"

#include "ucs/strbuf.h"

static double lane_cost(const struct ucp_worker_iface *wiface)
{
    return wiface->attr.cost.latency_s + wiface->attr.cost.overhead_s;
}

/* Look at one pair. @return false: of different transports. */
static bool lane_judge(struct ucp_worker *worker, unsigned iface_index,
                       const struct ucp_address_entry *entry,
                       struct ucp_lane_candidate      *candidate)
{
    struct ucp_worker_iface *wiface = &worker->ifaces[iface_index];

    if (strcmp(wiface->iface->transport->name, entry->transport) != 0) {
        return false;
    }
    candidate->pair.iface_index = iface_index;
    candidate->pair.entry       = entry;
    candidate->cost_s           = lane_cost(wiface);
    candidate->reason[0]        = '\0';
    candidate->status           = wiface->iface->transport->iface_reach(
            wiface->iface, entry->bytes, entry->size_bytes, candidate->reason);
    return true;
}

/* Does that entry of the peer's address reach over this interface? */
static bool lane_reaches(struct ucp_worker *worker, unsigned iface_index,
                         const struct ucp_address_entry *entry,
                         struct ucs_strbuf              *reasons)
{
    struct ucp_lane_candidate candidate;

    if (!lane_judge(worker, iface_index, entry, &candidate)) {
        return false;
    }
    if (candidate.status != UCS_OK) {
        ucsi_strbuf_appendf(reasons, "%s%s: %s",
                            (reasons->length > 0) ? "; " : "",
                            entry->transport, candidate.reason);
    }
    return candidate.status == UCS_OK;
}

unsigned ucp_lanes_candidates(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucp_lane_candidate     *candidates)
{
    unsigned count = 0;

    for (unsigned i = 0; i < worker->iface_count; ++i) {
        for (unsigned j = 0; (j < view->entry_count) &&
                             (count < UCP_LANE_CANDIDATE_COUNT_MAX);
             ++j) {
            count += lane_judge(worker, i, &view->entries[j],
                                &candidates[count]);
        }
    }
    return count;
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
            if (lane_reaches(worker, i, &view->entries[j], &text)) {
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
