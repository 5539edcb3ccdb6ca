/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/explain_names.c - what can be asked of explain, by name: a row
 * each.
 */
#include "ucp/proto/explain.h"

const char *const ucp_mode_names[] = {
    [UCP_MODE_STANDARD] = "standard", [UCP_MODE_SYNC] = "sync",
    [UCP_MODE_READY] = "ready",       [UCP_MODE_BUFFERED] = "buffered",
    [UCP_MODE_COUNT] = NULL,
};

const char *const ucp_dt_kind_names[] = {
    [UCP_DT_CONTIG] = "contig",     [UCP_DT_IOV] = "iov",
    [UCP_DT_GENERIC] = "generic",   [UCP_DT_STRIDED] = "strided",
    [UCP_DT_IOV_LONG] = "iov-long", [UCP_DT_KIND_COUNT] = NULL,
};

/* An operation that becomes real is a row with its protocols here. */
const struct ucp_operation ucp_operations[] = {
    {"tag", "tag send", ucp_protos},
    {"am", "active message", NULL},
    {"stream", "stream send", NULL},
    {"put", "put", NULL},
    {"get", "get", NULL},
    {"atomic", "atomic operation", NULL},
    {NULL, NULL, NULL},
};

const struct ucp_explain_memory ucp_explain_memories[] = {
    {"host", NULL},
    {"mapped", "mapped by ucp_mem_map: a registration is found there, not "
               "made; the choice below is the same, it does not look"},
    {NULL, NULL},
};
