/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.c - which interfaces reach a peer best. */
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
                            (reasons->length > 0) ? "; " : "", entry->transport,
                            candidate.reason);
    }
    return candidate.status == UCS_OK;
}

unsigned ucp_lanes_candidates(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucp_lane_candidate     *candidates)
{
    unsigned count = 0;

    for (unsigned i = 0; i < worker->iface_count; ++i) {
        for (unsigned j = 0;
             (j < view->entry_count) && (count < UCP_LANE_CANDIDATE_COUNT_MAX);
             ++j) {
            count +=
                lane_judge(worker, i, &view->entries[j], &candidates[count]);
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
    ucsi_strbuf_appendf(
        reasons, "%s; open here:", (view->entry_count == 0) ? " none" : "");
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

/* Bytes per second that a large message may get; 0: none. */
static double lane_bandwidth(const struct ucp_worker_iface *wiface)
{
    const struct uct_iface_attr *attr = &wiface->attr;
    double                       best = attr->cost.bandwidth_Bps;

    if (attr->put.zcopy_bytes_max > 0) {
        best = ucs_max(best, attr->put_cost.bandwidth_Bps);
    }
    if (attr->get.zcopy_bytes_max > 0) {
        best = ucs_max(best, attr->get_cost.bandwidth_Bps);
    }
    return best;
}

/* A rail must carry this part of what the fastest one does: waiting for a
 * slow one costs more than it brings (guess). */
static const double lane_part_min = 0.25;

/* Where the n-th entry of a peer's address is among the choices. */
static bool lane_is_used(const struct ucp_lane_choice *choices, unsigned count,
                         const struct ucp_address_entry *entry)
{
    for (unsigned i = 0; i < count; ++i) {
        if (choices[i].entry == entry) {
            return true;
        }
    }
    return false;
}

/* The first entry that this interface reaches and no other lane uses. */
static const struct ucp_address_entry *
lane_find_entry(struct ucp_worker *worker, unsigned iface_index,
                const struct ucp_address_view *view,
                const struct ucp_lane_choice *choices, unsigned count)
{
    struct ucp_lane_candidate candidate;

    for (unsigned i = 0; i < view->entry_count; ++i) {
        if (!lane_is_used(choices, count, &view->entries[i]) &&
            lane_judge(worker, iface_index, &view->entries[i], &candidate) &&
            (candidate.status == UCS_OK)) {
            return &view->entries[i];
        }
    }
    return NULL;
}

/* Two ways into one device: "eth0" and "eth0/ipv6". */
static bool lane_shares_wire(const struct uct_iface *a,
                             const struct uct_iface *b)
{
    size_t bytes;

    if ((a->transport != b->transport) || (a->md == NULL) || (b->md == NULL)) {
        return false;
    }
    bytes = strcspn(a->md->device.name, "/");
    return (bytes == strcspn(b->md->device.name, "/")) &&
           (strncmp(a->md->device.name, b->md->device.name, bytes) == 0);
}

static bool lane_has_iface(const struct ucp_worker      *worker,
                           const struct ucp_lane_choice *choices,
                           unsigned count, unsigned iface_index)
{
    const struct uct_iface *iface = worker->ifaces[iface_index].iface;

    for (unsigned i = 0; i < count; ++i) {
        if ((choices[i].iface_index == iface_index) ||
            lane_shares_wire(worker->ifaces[choices[i].iface_index].iface,
                             iface)) {
            return true;
        }
    }
    return false;
}

/* The fastest interface that is no lane yet and reaches the peer. */
static bool lane_find_rail(struct ucp_worker             *worker,
                           const struct ucp_address_view *view,
                           const struct ucp_lane_choice  *choices,
                           unsigned count, struct ucp_lane_choice *rail_p)
{
    const struct ucp_address_entry *entry;
    double                          best = 0;

    for (unsigned i = 0; i < worker->iface_count; ++i) {
        struct ucp_worker_iface *wiface = &worker->ifaces[i];

        if ((lane_bandwidth(wiface) <= best) ||
            lane_has_iface(worker, choices, count, i)) {
            continue;
        }
        entry = lane_find_entry(worker, i, view, choices, count);
        if (entry != NULL) {
            best = lane_bandwidth(wiface);
            *rail_p =
                (struct ucp_lane_choice){.iface_index = i, .entry = entry};
        }
    }
    return best > 0;
}

unsigned ucp_lanes_add_rails(struct ucp_worker             *worker,
                             const struct ucp_address_view *view,
                             struct ucp_lane_choice        *choices)
{
    const struct ucp_worker_iface *wiface =
        &worker->ifaces[choices[0].iface_index];
    unsigned rails_max = ucs_min(worker->context->config.rndv_rails_max,
                                 (unsigned)UCP_LANE_COUNT_MAX - 1);
    double   best      = lane_bandwidth(wiface);
    bool is_full   = (best > 0) && (wiface->attr.flags & UCT_IFACE_INTRA_NODE);
    unsigned rails = (best > 0) ? 1 : 0;
    unsigned count = 1;

    while (!is_full && (rails < rails_max) &&
           lane_find_rail(worker, view, choices, count, &choices[count])) {
        wiface = &worker->ifaces[choices[count].iface_index];
        if ((lane_bandwidth(wiface) < best * lane_part_min) ||
            ((rails > 0) && (wiface->attr.flags & UCT_IFACE_INTRA_NODE))) {
            break;
        }
        best    = ucs_max(best, lane_bandwidth(wiface));
        is_full = (wiface->attr.flags & UCT_IFACE_INTRA_NODE) != 0;
        ++rails;
        ++count;
    }
    return count;
}

uint32_t ucp_lane_name(const char *transport, const uint8_t *address,
                       size_t address_bytes)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *transport != '\0'; ++transport) {
        hash = (hash ^ (uint8_t)*transport) * 16777619u;
    }
    for (size_t i = 0; i < address_bytes; ++i) {
        hash = (hash ^ address[i]) * 16777619u;
    }
    return hash;
}
