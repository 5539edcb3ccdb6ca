/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/explain.c - explaining, of ucp/api/causeway.h. */
#include "ucp/core/explain.h"

#include <strings.h>

#include "ucp/api/causeway.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"

static void explain_to_stream(void *arg, const char *text)
{
    (void)fprintf((FILE *)arg, "%s\n", text);
}

/* The index of a name. @return -1: there is none, one line said so. */
static int name_index(const char *const *names, const char *name,
                      const char *what)
{
    for (int i = 0; names[i] != NULL; ++i) {
        if (strcasecmp(names[i], name) == 0) {
            return i;
        }
    }
    ucs_error("explain: there is no %s '%s'", what, name);
    return -1;
}

static ucs_status_t explain_read(const causeway_explain_params_t *params,
                                 FILE *stream, struct ucp_explain *explain)
{
    uint64_t mask = (params == NULL) ? 0 : params->field_mask;

    ucp_explain_init(explain, explain_to_stream, stream);
    if (mask & CAUSEWAY_EXPLAIN_FIELD_MODE) {
        explain->mode = name_index(ucp_mode_names, params->mode, "mode");
        if (explain->mode < 0) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    if (mask & CAUSEWAY_EXPLAIN_FIELD_DATATYPE) {
        explain->dt_class =
            name_index(ucp_dt_class_names, params->datatype, "datatype");
        if (explain->dt_class < 0) {
            return UCS_ERR_INVALID_PARAM;
        }
    }
    if (mask & CAUSEWAY_EXPLAIN_FIELD_BYTES) {
        explain->has_bytes = true;
        explain->bytes     = params->bytes;
    }
    explain->json = (mask & CAUSEWAY_EXPLAIN_FIELD_FLAGS) &&
                    (params->flags & CAUSEWAY_EXPLAIN_FLAG_JSON);
    return UCS_OK;
}

ucs_status_t causeway_ep_explain(ucp_ep_h                         ep,
                                 const causeway_explain_params_t *params,
                                 FILE                            *stream)
{
    struct ucp_explain explain;
    ucs_status_t       status = explain_read(params, stream, &explain);

    if (status != UCS_OK) {
        return status;
    }
    ucp_worker_enter(ep->worker);
    status = ucp_explain_peer(&explain, ep->worker, &ep->peer->view, ep);
    ucp_worker_leave(ep->worker);
    return status;
}

ucs_status_t causeway_address_explain(ucp_worker_h                     worker,
                                      const ucp_address_t             *address,
                                      size_t                           length,
                                      const causeway_explain_params_t *params,
                                      FILE                            *stream)
{
    struct ucp_address_view view;
    struct ucp_explain      explain;
    char                    reason[UCT_REASON_BYTES_MAX];
    ucs_status_t            status = explain_read(params, stream, &explain);

    if (status != UCS_OK) {
        return status;
    }
    status =
        ucp_address_decode((const uint8_t *)address, length, &view, reason);
    if (status != UCS_OK) {
        ucs_error("explain: %zu bytes of address: %s", length, reason);
        return status;
    }
    ucp_worker_enter(worker);
    status = ucp_explain_peer(&explain, worker, &view, NULL);
    ucp_worker_leave(worker);
    return status;
}
