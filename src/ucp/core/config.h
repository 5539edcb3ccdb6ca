/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/config.h - all settings of libucp, and the handle ucp_config_t. */
#ifndef UCP_CORE_CONFIG_H_
#define UCP_CORE_CONFIG_H_

#include "ucp/core/transport_config.h"
#include "ucs/config.h"
#include "ucs/log_config.h"
#include "ucs/units.h"

/* UCX_RNDV_SCHEME, in the order of its words in config.c; the same protocol
 * may have several. */
enum ucp_rndv_scheme {
    UCP_RNDV_SCHEME_AUTO,
    UCP_RNDV_SCHEME_PUT,
    UCP_RNDV_SCHEME_GET,
    UCP_RNDV_SCHEME_PIPELINE,
    UCP_RNDV_SCHEME_SEND,
    UCP_RNDV_SCHEME_GET_PIPELINE, /* as GET */
    UCP_RNDV_SCHEME_RKEY_PTR,     /* as GET */
    UCP_RNDV_SCHEME_SHARED,
};

/* One row each in config.c, where they are documented. */
struct ucp_context_config {
    struct ucs_config_base      base;
    struct ucs_config_list      transports;
    struct ucs_config_threshold rndv_threshold;
    struct ucs_config_threshold zcopy_threshold;
    int                         rndv_scheme; /* enum ucp_rndv_scheme */
    unsigned                    rndv_rails_max;
    size_t                      rndv_share_bytes;
    size_t                      rndv_fragment_bytes;
    size_t                      rndv_send_bytes;
    unsigned                    rndv_depth;
    uint64_t                    keepalive_interval_ns;
    uint64_t                    failure_bound_none_ns;
    uint64_t                    failure_bound_peer_ns;
    int                         lost_peer; /* enum ucp_lost_action */
    int                         rcache_enable;
    size_t                      rcache_bytes_max;
    unsigned                    rcache_count_max;
    char                       *stats_dest;
    char                       *trace_file;
    char                       *proto_info;
};

extern const struct ucs_config_table ucp_context_config_table;

/* What ucp_config_read() returns. */
struct ucp_config {
    struct ucp_context_config   context;
    struct ucs_log_config       log;
    struct ucp_transport_config transports;
};

struct uct_transport;

/* Is that transport allowed by UCX_TLS? */
bool ucp_config_allows(const struct ucp_context_config *config,
                       const struct uct_transport      *transport);

/* Warn about names in UCX_TLS that no transport here has. */
void ucp_config_warn_transports(const struct ucp_context_config *config);

#endif
