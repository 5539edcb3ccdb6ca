/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/worker_config.c - deciding once per set of lanes. */
#include "ucp/core/worker_config.h"

#include <stdlib.h>

#include "ucp/proto/eager.h"
#include "ucp/proto/rndv.h"
#include "ucs/log.h"

/* UCX_RNDV_SCHEME asks for what cannot be: say so, once, and take what is
 * best instead. Other data than contiguous is no reason to complain. */
static void config_check_scheme(struct ucp_worker *worker,
                                struct ucp_query  *query)
{
    struct ucp_offer        offer;
    const struct ucp_proto *proto = ucp_rndv_settle_scheme(query, &offer);

    if ((proto != NULL) && (query->mode == UCP_MODE_STANDARD) &&
        (query->dt_kind == UCP_DT_CONTIG) &&
        !worker->context->is_scheme_reported) {
        worker->context->is_scheme_reported = true;
        ucs_warn("UCX_RNDV_SCHEME: %s cannot be used over %s: %s; the next "
                 "best is taken",
                 proto->name, query->lane->transport->name, offer.reason);
    }
}

struct ucp_query ucp_worker_config_query(const struct ucp_worker    *worker,
                                         const struct ucp_ep_config *config)
{
    return (struct ucp_query){
        .lane      = &config->lane,
        .rows      = config->lanes,
        .row_count = config->lane_count,
        .scheme    = worker->context->config.rndv_scheme,
        .config    = &worker->context->config,
    };
}

/* The tables of a mode and a kind of data: one, or one for each length of a
 * piece. */
static ucs_status_t config_select_class(struct ucp_worker      *worker,
                                        struct ucp_ep_config   *config,
                                        const struct ucp_query *base)
{
    bool     has_pieces = ucp_dt_kind_has_pieces(base->dt_kind);
    unsigned count      = has_pieces ? UCP_PIECES_COUNT : 1;

    for (unsigned i = 0; i < count; ++i) {
        struct ucp_query query = *base;
        ucs_status_t     status;

        query.piece_bytes = has_pieces ? ucp_pieces_bytes(i) : 0;
        config_check_scheme(worker, &query);
        status = ucp_select(ucp_protos, &query,
                            &config->select[query.mode][query.dt_kind][i]);
        if (status != UCS_OK) {
            ucs_error("transport %s: no protocol for some sizes (mode %d, "
                      "kind of data %d); look at UCX_RNDV_THRESH",
                      config->lane.transport->name, (int)query.mode,
                      query.dt_kind);
            return status;
        }
    }
    return UCS_OK;
}

static ucs_status_t config_select(struct ucp_worker    *worker,
                                  struct ucp_ep_config *config)
{
    struct ucp_query query = ucp_worker_config_query(worker, config);
    ucs_status_t     status;

    for (int mode = 0; mode < UCP_MODE_COUNT; ++mode) {
        for (int dt_kind = 0; dt_kind < UCP_DT_KIND_COUNT; ++dt_kind) {
            query.mode    = (enum ucp_mode)mode;
            query.dt_kind = dt_kind;
            status        = config_select_class(worker, config, &query);
            if (status != UCS_OK) {
                return status;
            }
        }
    }
    config->zcopy_bytes_min = ucp_zcopy_threshold(&query);
    return UCS_OK;
}

/* The sizes at the start of the standard contiguous table that a call sends
 * without looking: first by am_short, then by am_bcopy. */
static void config_set_direct(struct ucp_ep_config *config)
{
    const struct ucp_select_row *row =
        &config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0].rows[0];

    if (row->proto->direct == UCP_DIRECT_SHORT) {
        config->short_bytes_end = row->bytes_max + 1;
        ++row; /* there is one: am_short has a limit */
    }
    if (row->proto->direct == UCP_DIRECT_PACKED) {
        config->packed_bytes_end =
            ucs_min(row->bytes_max, config->lane.attr.am.bcopy_bytes_max -
                                        UCP_WIRE_EAGER_BYTES) +
            1;
    }
}

static bool config_has_lanes(const struct ucp_ep_config *config,
                             const unsigned *iface_indices, unsigned count)
{
    if (config->lane_count != count) {
        return false;
    }
    for (unsigned i = 0; i < count; ++i) {
        if (config->lanes[i].iface_index != iface_indices[i]) {
            return false;
        }
    }
    return true;
}

static void config_set_lanes(struct ucp_ep_config    *config,
                             const struct ucp_worker *worker,
                             const unsigned *iface_indices, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        const struct ucp_worker_iface *wiface =
            &worker->ifaces[iface_indices[i]];

        config->lanes[i] = (struct ucp_lane_row){
            .iface_index     = iface_indices[i],
            .model.transport = wiface->iface->transport,
            .model.attr      = wiface->attr,
        };
    }
    config->lane_count = count;
    config->lane       = config->lanes[0].model;
}

const struct ucp_ep_config *ucp_worker_ep_config(struct ucp_worker *worker,
                                                 const unsigned *iface_indices,
                                                 unsigned        count)
{
    struct ucp_ep_config *config;

    ucs_list_for_each (config, &worker->configs, link) {
        if (config_has_lanes(config, iface_indices, count)) {
            return config;
        }
    }
    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        (void)ucsi_no_memory("a selection table", sizeof(*config));
        return NULL;
    }
    config_set_lanes(config, worker, iface_indices, count);
    if (config_select(worker, config) != UCS_OK) {
        free(config);
        return NULL;
    }
    config_set_direct(config);
    ucs_list_add_tail(&worker->configs, &config->link);
    return config;
}

bool ucp_worker_config_is_new(struct ucp_worker          *worker,
                              const struct ucp_ep_config *config)
{
    struct ucp_ep_config *known;

    ucs_list_for_each (known, &worker->configs, link) {
        if ((known == config) && !known->is_explained) {
            known->is_explained = true;
            return true;
        }
    }
    return false;
}

void ucp_worker_configs_cleanup(struct ucp_worker *worker)
{
    struct ucp_ep_config *config, *next;

    ucs_list_for_each_safe (config, next, &worker->configs, link) {
        free(config);
    }
}
