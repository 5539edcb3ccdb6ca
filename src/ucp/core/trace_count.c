/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_count.c - UCX_STATS_DEST: the trace of a worker summed up, two
 * counters for each protocol:
 *
 *   app:4711 protocol 0x55d0 eager_immediate_messages 1000
 *   app:4711 protocol 0x55d0 eager_immediate_bytes 8000
 *
 * A message counts where it is sent. Its bytes count where the work is done:
 * what is read by get counts at the receiver. */
#include "ucp/core/trace_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/counters.h"

enum {
    COUNT_PROTO_MAX  = 16,
    COUNT_NAME_BYTES = 48,
    COUNT_MESSAGES   = 0, /* of a protocol's counters */
    COUNT_BYTES,
    COUNT_KINDS
};

/* values  those of protocol i are at COUNT_KINDS * i */
struct ucp_trace_counts {
    struct ucs_counters      counters;
    struct ucs_counter_table table;
    struct ucs_counter_desc  descs[COUNT_KINDS * COUNT_PROTO_MAX];
    struct ucs_counter       values[COUNT_KINDS * COUNT_PROTO_MAX];
    char names[COUNT_KINDS * COUNT_PROTO_MAX][COUNT_NAME_BYTES];
};

/* "eager/immediate" is eager_immediate_bytes: a counter is one word. */
static void count_name(struct ucp_trace_counts *counts, unsigned index,
                       const char *proto, const char *what)
{
    char *name = counts->names[index];

    (void)snprintf(name, COUNT_NAME_BYTES, "%s_%s", proto, what);
    for (char *slash = strchr(name, '/'); slash != NULL;
         slash       = strchr(slash, '/')) {
        *slash = '_';
    }
    counts->descs[index] = (struct ucs_counter_desc){.name = name, .doc = what};
}

bool ucp_trace_counts_init(struct ucp_trace *trace)
{
    struct ucp_trace_counts *counts = calloc(1, sizeof(*counts));
    unsigned                 count  = 0;

    if (counts == NULL) {
        return false;
    }
    for (; (ucp_protos[count] != NULL) && (count < COUNT_PROTO_MAX); ++count) {
        count_name(counts, COUNT_KINDS * count + COUNT_MESSAGES,
                   ucp_protos[count]->name, "messages");
        count_name(counts, COUNT_KINDS * count + COUNT_BYTES,
                   ucp_protos[count]->name, "bytes");
    }
    counts->table = (struct ucs_counter_table){.title = "protocol",
                                               .descs = counts->descs,
                                               .count = COUNT_KINDS * count};
    ucsi_counters_add(&counts->counters, &counts->table,
                      trace->worker->options.name, counts->values);
    trace->counts = counts;
    return true;
}

void ucp_trace_counts_cleanup(struct ucp_trace *trace)
{
    if (trace->counts != NULL) {
        ucsi_counters_remove(&trace->counts->counters);
        free(trace->counts);
    }
}

void ucp_trace_count(struct ucp_trace_counts      *counts,
                     const struct ucp_trace_event *event)
{
    bool is_start = (event->kind == UCP_TRACE_SEND) && event->has_tag;

    if (((event->kind != UCP_TRACE_SEND) &&
         (event->kind != UCP_TRACE_REMOTE)) ||
        (event->proto == NULL) || UCS_STATUS_IS_ERR(event->status)) {
        return;
    }
    for (unsigned i = 0; COUNT_KINDS * i < counts->table.count; ++i) {
        if (ucp_protos[i]->name == event->proto) {
            struct ucs_counter *values =
                &counts->values[(size_t)COUNT_KINDS * i];

            ucs_counter_add(&values[COUNT_MESSAGES], is_start);
            ucs_counter_add(&values[COUNT_BYTES], event->bytes);
        }
    }
}
