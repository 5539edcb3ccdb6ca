/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/config.c - the table of libucp's settings. */
#include "ucp/core/config.h"

#include "ucs/log.h"
#include "ucs/strbuf.h"
#include "uct/api/uct.h"

/* In the order of enum ucp_rndv_scheme. */
static const char *const rndv_schemes[] = {
    "auto",     "put_zcopy", "get_zcopy", "put_ppln", "am",
    "get_ppln", "rkey_ptr",  "shared",    NULL,
};

/* In the order of enum ucp_lost_action. */
static const char *const lost_actions[] = {"abort", "error", NULL};

static const struct ucs_config_entry config_entries[] = {
    {.name         = "TLS",
     .default_text = "all",
     .offset       = offsetof(struct ucp_context_config, transports),
     .type         = UCS_CONFIG_TYPE_LIST,
     .doc          = "Transports that may be used, comma separated; with ^ in "
                     "front, all but these."},
    {.name         = "RNDV_THRESH",
     .default_text = "auto",
     .offset       = offsetof(struct ucp_context_config, rndv_threshold),
     .type         = UCS_CONFIG_TYPE_THRESHOLD,
     .doc          = "Messages from this size on ask the receiver first "
                     "(rendezvous); inf: never, auto: by cost."},
    {.name         = "ZCOPY_THRESH",
     .default_text = "auto",
     .offset       = offsetof(struct ucp_context_config, zcopy_threshold),
     .type         = UCS_CONFIG_TYPE_THRESHOLD,
     .doc = "Messages from this size on are sent from the user's buffer "
            "where the transport can; auto: by cost."},
    {.name         = "RNDV_SCHEME",
     .default_text = "auto",
     .offset       = offsetof(struct ucp_context_config, rndv_scheme),
     .type         = UCS_CONFIG_TYPE_ENUM,
     .type_arg     = rndv_schemes,
     .doc = "How large messages move once the receiver is ready: by put, "
            "by get, by puts in a pipeline, by messages (am), by "
            "messages and where none come by get (shared); auto: by "
            "cost. get_ppln and rkey_ptr mean get_zcopy."},
    {.name         = "MAX_RNDV_RAILS",
     .default_text = "2",
     .offset       = offsetof(struct ucp_context_config, rndv_rails_max),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Lanes that share the bytes of a large message, 1 to 4."},
    {.name         = "MIN_RNDV_CHUNK_SIZE",
     .default_text = "16k",
     .offset       = offsetof(struct ucp_context_config, rndv_share_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc = "A lane that would carry less than this of a large message is "
            "left out: small messages go over one."},
    {.name         = "RNDV_PIPELINE_SEND_LENGTH",
     .default_text = "128k",
     .offset       = offsetof(struct ucp_context_config, rndv_send_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc = "With puts in a pipeline, so much of the message's end goes "
            "by messages meanwhile."},
    {.name         = "RNDV_FRAG_SIZE",
     .default_text = "512k",
     .offset       = offsetof(struct ucp_context_config, rndv_fragment_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "A large message moves in pieces of this size where it is "
                     "registered or granted piece by piece."},
    {.name         = "RNDV_PIPELINE_DEPTH",
     .default_text = "4",
     .offset       = offsetof(struct ucp_context_config, rndv_depth),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc = "Pieces of a large message that may be under way at a time."},
    {.name         = "KEEPALIVE_INTERVAL",
     .default_text = "20s",
     .offset       = offsetof(struct ucp_context_config, keepalive_interval_ns),
     .type         = UCS_CONFIG_TYPE_TIME,
     .doc          = "How often a network transport asks an idle peer whether "
                     "it lives."},
    {.name         = "FAILURE_BOUND",
     .default_text = "60s",
     .offset       = offsetof(struct ucp_context_config, failure_bound_none_ns),
     .type         = UCS_CONFIG_TYPE_TIME,
     .doc          = "A dead peer is noticed within this time in error mode "
                     "NONE."},
    {.name         = "FAILURE_BOUND_PEER",
     .default_text = "5s",
     .offset       = offsetof(struct ucp_context_config, failure_bound_peer_ns),
     .type         = UCS_CONFIG_TYPE_TIME,
     .doc          = "The same in error mode PEER."},
    {.name         = "LOST_PEER",
     .default_text = "abort",
     .offset       = offsetof(struct ucp_context_config, lost_peer),
     .type         = UCS_CONFIG_TYPE_ENUM,
     .type_arg     = lost_actions,
     .doc          = "What a program in error mode NONE does when a peer is "
                     "silent for the bound: abort, or say it (error) and go "
                     "on; receives from it then wait for ever."},
    {.name         = "PROTO_INFO",
     .default_text = "n",
     .offset       = offsetof(struct ucp_context_config, proto_info),
     .type         = UCS_CONFIG_TYPE_STRING,
     .doc          = "Explain the lanes and protocols of each new endpoint "
                     "configuration in the log: y, n, or a pattern of operations "
                     "like '*sync, contig*'."},
    {.name         = "RCACHE_ENABLE",
     .default_text = "try",
     .offset       = offsetof(struct ucp_context_config, rcache_enable),
     .type         = UCS_CONFIG_TYPE_TERNARY,
     .doc          = "Keep registrations of memory after their operation where "
                     "that is safe; n: never."},
    {.name         = "RCACHE_MAX_SIZE",
     .default_text = "inf",
     .offset       = offsetof(struct ucp_context_config, rcache_bytes_max),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "Keep registrations of at most this much memory; what "
                     "ucp_mem_map registered does not count."},
    {.name         = "RCACHE_MAX_REGIONS",
     .default_text = "inf",
     .offset       = offsetof(struct ucp_context_config, rcache_count_max),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Keep at most so many registrations."},
    {.name         = "STATS_DEST",
     .default_text = "",
     .offset       = offsetof(struct ucp_context_config, stats_dest),
     .type         = UCS_CONFIG_TYPE_STRING,
     .doc = "Count messages and bytes of each protocol, and write these "
            "and all other counters of a worker when it is destroyed: "
            "stdout, stderr, or file:PATH, where %p is the process and %h "
            "the host. Empty: no."},
    {.name         = "TRACE_FILE",
     .default_text = "",
     .offset       = offsetof(struct ucp_context_config, trace_file),
     .type         = UCS_CONFIG_TYPE_STRING,
     .doc = "Write what each message does into this file, for Perfetto; "
            "%p is the process, %h the host. Empty: no trace."},
    {0},
};

const struct ucs_config_table ucp_context_config_table = {
    .title        = "UCP context",
    .prefix       = "",
    .entries      = config_entries,
    .struct_bytes = sizeof(struct ucp_context_config),
};

static bool list_has_transport(const struct ucs_config_list *list,
                               const struct uct_transport   *transport)
{
    for (unsigned i = 0; i < list->count; ++i) {
        if (ucti_transport_has_name(transport, list->names[i])) {
            return true;
        }
    }
    return false;
}

bool ucp_config_allows(const struct ucp_context_config *config,
                       const struct uct_transport      *transport)
{
    const struct ucs_config_list *list = &config->transports;

    if (list->is_excluded && ucti_transport_is_on_demand(transport)) {
        return false;
    }
    return list_has_transport(list, transport) != list->is_excluded;
}

static bool name_is_known(const char *name)
{
    const struct uct_transport *const *transport = ucti_transports();

    for (; *transport != NULL; ++transport) {
        if (ucti_transport_knows_name(*transport, name)) {
            return true;
        }
    }
    return false;
}

void ucp_config_warn_transports(const struct ucp_context_config *config)
{
    const struct ucs_config_list      *list = &config->transports;
    const struct uct_transport *const *transport;
    char                               text[512];
    struct ucs_strbuf                  names;

    for (unsigned i = 0; i < list->count; ++i) {
        if (name_is_known(list->names[i])) {
            continue;
        }
        ucs_strbuf_init(&names, text, sizeof(text));
        for (transport = ucti_transports(); *transport != NULL; ++transport) {
            ucsi_strbuf_appendf(&names, "%s%s", (names.length > 0) ? ", " : "",
                                (*transport)->name);
        }
        ucs_warn("UCX_TLS: there is no transport '%s' here; available: %s",
                 list->names[i], names.text);
    }
}
