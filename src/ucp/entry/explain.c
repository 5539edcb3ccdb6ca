/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/explain.c - explaining, of ucp/api/causeway.h. */
#include "ucp/core/explain.h"

#include <strings.h>

#include "ucp/api/causeway.h"
#include "ucp/entry/op.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"
#include "ucs/strbuf.h"

static void explain_to_stream(void *arg, const char *text)
{
    (void)fprintf((FILE *)arg, "%s\n", text);
}

/* The index of a name in a table whose rows begin with one, a NULL at its end.
 * @return -1: there is none, one line said
 * so. */
static int name_index(const void *table, size_t row_bytes, const char *name,
                      const char *what)
{
    char              text[128];
    struct ucs_strbuf known;

    ucs_strbuf_init(&known, text, sizeof(text));
    for (int i = 0;; ++i) {
        const char *row =
            *(const char *const *)((const char *)table + (size_t)i * row_bytes);

        if (row == NULL) {
            break;
        }
        if ((name != NULL) && (strcasecmp(row, name) == 0)) {
            return i;
        }
        ucsi_strbuf_appendf(&known, "%s%s", (i > 0) ? ", " : "", row);
    }
    ucs_error("explain: there is no %s '%s'; known: %s", what,
              (name == NULL) ? "(null)" : name, text);
    return -1;
}

#define NAME_INDEX(_table, _name, _what)                                       \
    name_index(_table, sizeof((_table)[0]), _name, _what)

/* What kind of message. @return false: one line said what there is not. */
static bool explain_read_kind(const causeway_explain_params_t *params,
                              struct ucp_explain              *explain)
{
    uint64_t mask = params->field_mask;

    if (mask & CAUSEWAY_EXPLAIN_FIELD_MODE) {
        explain->mode = NAME_INDEX(ucp_mode_names, params->mode, "mode");
        if (explain->mode < 0) {
            return false;
        }
    }
    if (mask & CAUSEWAY_EXPLAIN_FIELD_DATATYPE) {
        explain->dt_kind =
            NAME_INDEX(ucp_dt_kind_names, params->datatype, "datatype");
        if (explain->dt_kind < 0) {
            return false;
        }
    }
    if (mask & CAUSEWAY_EXPLAIN_FIELD_RECV_DATATYPE) {
        explain->recv_class =
            NAME_INDEX(ucp_dt_kind_names, params->recv_datatype, "datatype");
        if (explain->recv_class < 0) {
            return false;
        }
        if (explain->recv_class == UCP_DT_IOV_LONG) {
            explain->recv_class = UCP_DT_IOV; /* R does not count entries */
        }
    }
    return true;
}

/* @return UCS_OK, UCS_ERR_INVALID_PARAM, UCS_ERR_UNSUPPORTED. */
static ucs_status_t
explain_read_operation(const causeway_explain_params_t *params,
                       struct ucp_explain              *explain)
{
    if (params->field_mask & CAUSEWAY_EXPLAIN_FIELD_MEMORY) {
        int row = NAME_INDEX(ucp_explain_memories, params->memory, "memory");

        if (row < 0) {
            return UCS_ERR_INVALID_PARAM;
        }
        explain->memory = &ucp_explain_memories[row];
    }
    if (params->field_mask & CAUSEWAY_EXPLAIN_FIELD_OPERATION) {
        int row = NAME_INDEX(ucp_operations, params->operation, "operation");

        if (row < 0) {
            return UCS_ERR_INVALID_PARAM;
        }
        explain->operation = &ucp_operations[row];
    }
    if (explain->operation->protos == NULL) {
        ucs_error("explain: libucp cannot do this operation yet: %s (%s)",
                  explain->operation->name, explain->operation->title);
        return UCS_ERR_UNSUPPORTED;
    }
    return UCS_OK;
}

static ucs_status_t explain_read(const causeway_explain_params_t *params,
                                 FILE *stream, struct ucp_explain *explain)
{
    ucp_explain_init(explain, explain_to_stream, stream);
    if (params == NULL) {
        return UCS_OK;
    }
    if (!explain_read_kind(params, explain)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->field_mask & CAUSEWAY_EXPLAIN_FIELD_BYTES) {
        explain->has_bytes = true;
        explain->bytes     = params->bytes;
    }
    if ((params->field_mask & CAUSEWAY_EXPLAIN_FIELD_PIECE_BYTES) &&
        (params->piece_bytes > 0)) {
        explain->piece_bytes = params->piece_bytes;
    }
    explain->json = (params->field_mask & CAUSEWAY_EXPLAIN_FIELD_FLAGS) &&
                    (params->flags & CAUSEWAY_EXPLAIN_FLAG_JSON);
    return explain_read_operation(params, explain);
}

ucs_status_t causeway_ep_explain(ucp_ep_h                         ep,
                                 const causeway_explain_params_t *params,
                                 FILE                            *stream)
{
    struct ucp_explain explain;
    ucs_status_t       status;

    if (ucp_op_is_null(__func__, ep, stream)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = explain_read(params, stream, &explain);
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
    ucs_status_t            status;

    if (ucp_op_is_null(__func__, worker, stream, address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = explain_read(params, stream, &explain);
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
