/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.c - which interfaces reach a peer best. */
#include "ucp/wireup/lanes.h"

#include <math.h>

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

static bool lane_has_rank(const struct ucp_worker *worker, unsigned iface_index)
{
    return worker->ifaces[iface_index].iface->transport->iface_rank != NULL;
}

/* @param why  [UCT_REASON_BYTES_MAX] */
static uint64_t lane_rank(const struct ucp_worker      *worker,
                          const struct ucp_lane_choice *choice, char *why)
{
    struct uct_iface *iface = worker->ifaces[choice->iface_index].iface;

    return iface->transport->iface_rank(iface, choice->entry->bytes,
                                        choice->entry->size_bytes, why);
}

/* Of two that cost the same: does the transport rather take the first? */
static bool lane_precedes(const struct ucp_worker      *worker,
                          const struct ucp_lane_choice *a,
                          const struct ucp_lane_choice *b)
{
    char why[UCT_REASON_BYTES_MAX];

    return lane_has_rank(worker, a->iface_index) &&
           (worker->ifaces[a->iface_index].iface->transport ==
            worker->ifaces[b->iface_index].iface->transport) &&
           (lane_rank(worker, a, why) < lane_rank(worker, b, why));
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
            struct ucp_lane_candidate *candidate = &candidates[count];

            if (!lane_judge(worker, i, &view->entries[j], candidate)) {
                continue;
            }
            if ((candidate->status == UCS_OK) && lane_has_rank(worker, i)) {
                (void)lane_rank(worker, &candidate->pair, candidate->reason);
            }
            ++count;
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

/* Take the best entry of an interface, if it is better than the choice so far.
 * @param best_s  What that costs; HUGE_VAL: there is none yet. */
static void lane_try(struct ucp_worker *worker, unsigned iface_index,
                     const struct ucp_address_view *view,
                     struct ucp_lane_choice *choice, double *best_s,
                     struct ucs_strbuf *reasons)
{
    double cost_s = lane_cost(&worker->ifaces[iface_index]);

    for (unsigned j = 0; j < view->entry_count; ++j) {
        const struct ucp_lane_choice pair = {.iface_index = iface_index,
                                             .entry       = &view->entries[j]};

        if ((cost_s >= *best_s) && !lane_has_rank(worker, iface_index)) {
            return;
        }
        if (lane_reaches(worker, iface_index, pair.entry, reasons) &&
            ((cost_s < *best_s) || lane_precedes(worker, &pair, choice))) {
            *choice = pair;
            *best_s = cost_s;
        }
    }
}

ucs_status_t ucp_lanes_choose(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucp_lane_choice *choice_p, char *reasons,
                              size_t size_bytes)
{
    double            best_s = HUGE_VAL;
    struct ucs_strbuf text;

    ucs_strbuf_init(&text, reasons, size_bytes);
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        if (lane_cost(&worker->ifaces[i]) <= best_s) {
            lane_try(worker, i, view, choice_p, &best_s, &text);
        }
    }
    if (best_s == HUGE_VAL) {
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

/* The best entry that this interface reaches and no other lane uses.
 * @return false: there is none. */
static bool lane_find_entry(struct ucp_worker *worker, unsigned iface_index,
                            const struct ucp_address_view *view,
                            const struct ucp_lane_choice  *choices,
                            unsigned count, struct ucp_lane_choice *found_p)
{
    struct ucp_lane_candidate candidate;
    bool                      is_found = false;

    for (unsigned i = 0; i < view->entry_count; ++i) {
        if (lane_is_used(choices, count, &view->entries[i]) ||
            (is_found && !lane_has_rank(worker, iface_index)) ||
            !lane_judge(worker, iface_index, &view->entries[i], &candidate) ||
            (candidate.status != UCS_OK)) {
            continue;
        }
        if (!is_found || lane_precedes(worker, &candidate.pair, found_p)) {
            *found_p = candidate.pair;
            is_found = true;
        }
    }
    return is_found;
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
    struct ucp_lane_choice pair;
    double                 best = 0;

    for (unsigned i = 0; i < worker->iface_count; ++i) {
        struct ucp_worker_iface *wiface = &worker->ifaces[i];

        if ((lane_bandwidth(wiface) < best) || (lane_bandwidth(wiface) <= 0) ||
            lane_has_iface(worker, choices, count, i) ||
            !lane_find_entry(worker, i, view, choices, count, &pair)) {
            continue;
        }
        if ((lane_bandwidth(wiface) > best) ||
            lane_precedes(worker, &pair, rail_p)) {
            best    = lane_bandwidth(wiface);
            *rail_p = pair;
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
