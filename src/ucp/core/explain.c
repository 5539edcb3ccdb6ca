/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/explain.c - a peer in words. What it says was decided elsewhere:
 * wireup/lanes.c, core/context.c, the transports, proto/select.c. */
#include "ucp/core/explain.h"

#include <stdio.h>
#include <strings.h>

#include "ucp/core/worker_config.h"
#include "ucp/wireup/lanes.h"
#include "ucp/wireup/peer.h"
#include "ucs/json.h"
#include "ucs/log.h"

static const char *iface_name(const struct ucp_worker *worker, unsigned index,
                              char *text, size_t size_bytes)
{
    const struct uct_iface *iface = worker->ifaces[index].iface;

    (void)snprintf(text, size_bytes, "%s/%s", iface->transport->name,
                   (iface->md == NULL) ? "?" : iface->md->device.name);
    return text;
}

static void explain_workers(struct ucp_explain            *explain,
                            const struct ucp_worker       *worker,
                            const struct ucp_address_view *view)
{
    ucp_explain_begin(explain, "peer");
    if (explain->json) {
        ucsi_json_text(&explain->text, "worker", worker->options.name);
        ucsi_json_text(&explain->text, "peer", view->name);
    } else {
        ucsi_strbuf_appendf(&explain->text, "worker '%s' to worker '%s'",
                            worker->options.name, view->name);
    }
    ucp_explain_end(explain);
}

/* The part of a large message's bytes that a lane carries. */
static unsigned explain_percent(const struct ucp_ep_config *config,
                                unsigned                    lane)
{
    double all = 0, own = 0;

    if (config->lane_count == 1) {
        return 100;
    }
    for (unsigned i = 0; i < config->lane_count; ++i) {
        const struct uct_iface_attr *attr = &config->lanes[i].model.attr;
        double                       bandwidth =
            ucs_max(attr->put_cost.bandwidth_Bps, attr->get_cost.bandwidth_Bps);

        all += bandwidth;
        own = (i == lane) ? bandwidth : own;
    }
    return (all > 0) ? (unsigned)(100 * own / all + 0.5) : 0;
}

/* The lane, what it is good for, and the model that all costs come from. */
static void explain_lane(struct ucp_explain         *explain,
                         const struct ucp_worker    *worker,
                         const struct ucp_ep_config *config, unsigned lane)
{
    const struct ucp_lane_row *row  = &config->lanes[lane];
    const struct uct_cost     *cost = &row->model.attr.cost;
    const char                *use  = (lane == 0) ? "messages, bulk" : "bulk";
    unsigned                   percent = explain_percent(config, lane);
    char                       name[2 * UCT_NAME_BYTES_MAX];

    iface_name(worker, row->iface_index, name, sizeof(name));
    ucp_explain_begin(explain, "lane");
    if (explain->json) {
        ucsi_json_u64(&explain->text, "lane", lane);
        ucsi_json_text(&explain->text, "iface", name);
        ucsi_json_text(&explain->text, "use", use);
        ucsi_json_u64(&explain->text, "percent", percent);
        ucsi_json_double(&explain->text, "latency_s", cost->latency_s);
        ucsi_json_double(&explain->text, "overhead_s", cost->overhead_s);
        ucsi_json_double(&explain->text, "bandwidth_Bps", cost->bandwidth_Bps);
    } else {
        ucsi_strbuf_appendf(&explain->text,
                            "  lane %u  %-16s %s %u %%; "
                            "latency %.3f us, overhead %.3f us a message, "
                            "%.0f MB/s",
                            lane, name, use, percent, cost->latency_s * 1e6,
                            cost->overhead_s * 1e6, cost->bandwidth_Bps / 1e6);
    }
    ucp_explain_end(explain);
}

/* One thing that might have been a lane.
 * @param verdict  "taken", "dearer", "refused", "left out", "not open here" */
static void explain_candidate(struct ucp_explain *explain, const char *verdict,
                              const char *name, const char *reason,
                              const char *setting)
{
    ucp_explain_begin(explain, "candidate");
    if (explain->json) {
        ucsi_json_text(&explain->text, "iface", name);
        ucsi_json_text(&explain->text, "verdict", verdict);
        ucsi_json_text(&explain->text, "reason", reason);
        ucsi_json_text(&explain->text, "setting", setting);
    } else {
        ucsi_strbuf_appendf(&explain->text, "  %-8s %s%s%s", verdict, name,
                            (*reason == '\0') ? "" : ": ", reason);
        if (*setting != '\0') {
            ucsi_strbuf_appendf(&explain->text, " [%s]", setting);
        }
    }
    ucp_explain_end(explain);
}

static void explain_pair(struct ucp_explain              *explain,
                         const struct ucp_worker         *worker,
                         const struct ucp_lane_candidate *candidate,
                         const struct ucp_lane_choice *choices, unsigned count)
{
    const char *transport =
        worker->ifaces[candidate->pair.iface_index].iface->transport->name;
    bool is_taken = false;
    char name[2 * UCT_NAME_BYTES_MAX];
    char reason[UCT_REASON_BYTES_MAX + 64];
    char setting[64] = "";

    for (unsigned i = 0; i < count; ++i) {
        is_taken = is_taken ||
                   ((candidate->pair.iface_index == choices[i].iface_index) &&
                    (candidate->pair.entry == choices[i].entry));
    }
    iface_name(worker, candidate->pair.iface_index, name, sizeof(name));
    (void)snprintf(reason, sizeof(reason), "a small message costs %.3f us%s%s",
                   candidate->cost_s * 1e6,
                   (candidate->reason[0] == '\0') ? "" : "; ",
                   candidate->reason);
    if (candidate->status != UCS_OK) {
        explain_candidate(explain, "refused", name, candidate->reason, "");
    } else if (is_taken) {
        (void)snprintf(setting, sizeof(setting), "UCX_TLS=^%s", transport);
        explain_candidate(explain, "taken", name, reason, setting);
    } else {
        (void)snprintf(setting, sizeof(setting), "UCX_TLS=%s", transport);
        explain_candidate(explain, "dearer", name, reason, setting);
    }
}

static bool is_open(const struct ucp_worker *worker, const char *transport)
{
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        if (strcmp(worker->ifaces[i].iface->transport->name, transport) == 0) {
            return true;
        }
    }
    return false;
}

/* What has no partner: theirs that is not open here, and what was not opened
 * here at all. */
static void explain_unpaired(struct ucp_explain            *explain,
                             const struct ucp_worker       *worker,
                             const struct ucp_address_view *view)
{
    const struct ucp_context *context = worker->context;

    for (unsigned i = 0; i < view->entry_count; ++i) {
        if (!is_open(worker, view->entries[i].transport)) {
            explain_candidate(explain, "refused", view->entries[i].transport,
                              "the peer has it, it is not open here",
                              "UCX_TLS");
        }
    }
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        const char *name  = worker->ifaces[i].iface->transport->name;
        bool        found = false;

        for (unsigned j = 0; j < view->entry_count; ++j) {
            found = found || (strcmp(view->entries[j].transport, name) == 0);
        }
        if (!found) {
            explain_candidate(explain, "refused", name,
                              "it is open here, the peer does not have it",
                              "UCX_TLS of the peer");
        }
    }
    for (unsigned i = 0; i < context->left_out_count; ++i) {
        const struct ucp_left_out *left      = &context->left_out[i];
        bool                       is_device = strchr(left->name, '/') != NULL;

        /* What keeps a device out is in its reason. */
        explain_candidate(explain, "left out", left->name, left->reason,
                          is_device ? "" : "UCX_TLS");
    }
}

/* What each side may do to the other one's memory (uct_ep.rights). */
static void explain_rights(struct ucp_explain *explain, const char *whose,
                           unsigned rights, const char *reason)
{
    static const struct {
        unsigned    right;
        const char *name;
    } names[] = {{UCT_RIGHT_PUT, "put"},
                 {UCT_RIGHT_GET, "get"},
                 {UCT_RIGHT_ATOMIC, "atomic"}};
    char              text_bytes[64];
    struct ucs_strbuf text;

    ucs_strbuf_init(&text, text_bytes, sizeof(text_bytes));
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(names); ++i) {
        if (rights & names[i].right) {
            ucsi_strbuf_appendf(&text, "%s%s", (text.length > 0) ? ", " : "",
                                names[i].name);
        }
    }
    if (!(rights & UCT_RIGHT_KNOWN)) {
        ucsi_strbuf_append(&text, "not known yet");
    } else if (text.length == 0) {
        ucsi_strbuf_append(&text, "none");
    }
    reason = (reason == NULL) ? "" : reason;
    ucp_explain_begin(explain, "rights");
    if (explain->json) {
        ucsi_json_text(&explain->text, "whose", whose);
        ucsi_json_text(&explain->text, "rights", text_bytes);
        ucsi_json_text(&explain->text, "reason", reason);
    } else {
        ucsi_strbuf_appendf(&explain->text, "  rights   %s: %s%s%s", whose,
                            text_bytes, (*reason == '\0') ? "" : "; ", reason);
    }
    ucp_explain_end(explain);
}

/* A sentence about all that follows. */
static void explain_remark(struct ucp_explain *explain, const char *about,
                           const char *text)
{
    ucp_explain_begin(explain, about);
    if (explain->json) {
        ucsi_json_text(&explain->text, "remark", text);
    } else {
        ucsi_strbuf_appendf(&explain->text, "  %-8s %s", about, text);
    }
    ucp_explain_end(explain);
}

static void explain_candidates(struct ucp_explain            *explain,
                               struct ucp_worker             *worker,
                               const struct ucp_address_view *view,
                               const struct ucp_lane_choice  *choices,
                               unsigned                       choice_count)
{
    struct ucp_lane_candidate candidates[UCP_LANE_CANDIDATE_COUNT_MAX];
    unsigned count = ucp_lanes_candidates(worker, view, candidates);

    for (unsigned i = 0; i < count; ++i) {
        explain_pair(explain, worker, &candidates[i], choices, choice_count);
    }
    explain_unpaired(explain, worker, view);
}

ucs_status_t ucp_explain_peer(struct ucp_explain            *explain,
                              struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              const struct ucp_ep           *ep)
{
    const struct ucp_ep_config *config;
    struct ucp_lane_choice      choices[UCP_LANE_COUNT_MAX];
    unsigned                    indices[UCP_LANE_COUNT_MAX];
    unsigned                    count;
    struct ucp_query            query;
    char                        reasons[512];
    ucs_status_t                status;

    status =
        ucp_lanes_choose(worker, view, &choices[0], reasons, sizeof(reasons));
    explain_workers(explain, worker, view);
    if (status != UCS_OK) {
        explain_candidates(explain, worker, view, NULL, 0);
        explain_candidate(explain, "no lane", "at all", reasons, "UCX_TLS");
        return status;
    }
    count = ucp_lanes_add_rails(worker, view, choices);
    for (unsigned i = 0; i < count; ++i) {
        indices[i] = choices[i].iface_index;
    }
    config = ucp_worker_ep_config(worker, indices, count);
    if (config == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < count; ++i) {
        explain_lane(explain, worker, config, i);
    }
    explain_candidates(explain, worker, view, choices, count);
    if ((ep != NULL) && (ep->message_ep != NULL)) {
        explain_rights(explain, "we to the peer's memory",
                       ep->message_ep->rights, ep->message_ep->rights_reason);
        explain_rights(explain, "the peer to ours", ep->message_ep->peer_rights,
                       NULL);
    }
    if (explain->memory->remark != NULL) {
        explain_remark(explain, "memory", explain->memory->remark);
    }
    explain->ep = ep;
    query       = ucp_worker_config_query(worker, config);
    ucp_explain_queries(explain, explain->operation->protos, &query);
    return UCS_OK;
}

static void explain_to_log(void *arg, const char *text)
{
    (void)arg;
    ucsi_log(UCS_LOG_LEVEL_PRINT, __FILE__, __LINE__, "%s", text);
}

void ucp_explain_new_ep(struct ucp_ep *ep)
{
    const char        *wanted = ep->worker->context->config.proto_info;
    struct ucp_explain explain;

    if ((ep->config == NULL) || (strcasecmp(wanted, "n") == 0) ||
        (*wanted == '\0') ||
        !ucp_worker_config_is_new(ep->worker, ep->config)) {
        return;
    }
    ucp_explain_init(&explain, explain_to_log, NULL);
    if (strcasecmp(wanted, "y") != 0) {
        explain.title = wanted;
    }
    if (ucp_explain_peer(&explain, ep->worker, &ep->peer->view, ep) != UCS_OK) {
        ucs_debug("UCX_PROTO_INFO: nothing to explain");
    }
}
