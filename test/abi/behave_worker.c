/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_worker.c - library, contexts, workers, addresses and
 * endpoints: what queries say, what is accepted, who reaches whom. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

static const struct pair_options plain;

static void library(void)
{
    char           text[64];
    unsigned       major, minor, release;
    ucp_lib_attr_t lib;

    lib.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
    fact_status("lib.query", ucp_lib_query(&lib));
    fact("lib.max_thread_level", "%d", lib.max_thread_level);
    ucp_get_version(&major, &minor, &release);
    fact("lib.major", "%u", major);
    snprintf(text, sizeof(text), "%u.%u.%u", major, minor, release);
    fact("lib.version_text", "%d",
         strncmp(text, ucp_get_version_string(), strlen(text)) == 0);
}

static void workers_of(ucp_context_h context)
{
    ucp_worker_attr_t   attr;
    ucp_worker_params_t params;
    ucp_worker_h        worker;

    memset(&params, 0xee, sizeof(params));
    params.field_mask = UCP_WORKER_PARAM_FIELD_NAME |
                        UCP_WORKER_PARAM_FIELD_CPU_MASK |
                        UCP_WORKER_PARAM_FIELD_CLIENT_ID | (1ull << 50);
    params.name = "the_worker";
    UCS_CPU_ZERO(&params.cpu_mask);
    must(ucp_worker_create(context, &params, &worker), "worker_create");
    attr.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE |
                      UCP_WORKER_ATTR_FIELD_NAME |
                      UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING;
    fact_status("worker.query", ucp_worker_query(worker, &attr));
    fact("worker.thread_mode_default", "%d", attr.thread_mode);
    fact("worker.name", "%s", attr.name);
    fact("worker.progress_idle", "%u", ucp_worker_progress(worker));
    ucp_worker_destroy(worker);

    /* A flag word that was never written but for one bit. */
    params.field_mask = UCP_WORKER_PARAM_FIELD_FLAGS;
    params.flags      = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK | 0xab00;
    fact_status("worker.create_unknown_flags",
                ucp_worker_create(context, &params, &worker));
    ucp_worker_destroy(worker);
}

static void contexts(void)
{
    ucp_params_t       params;
    ucp_context_attr_t attr;
    ucp_context_h      context;

    memset(&params, 0xee, sizeof(params));
    params.field_mask =
        UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME |
        UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
        UCP_PARAM_FIELD_ESTIMATED_NUM_PPN | UCP_PARAM_FIELD_TAG_SENDER_MASK;
    params.features          = UCP_FEATURE_TAG;
    params.name              = "the_context";
    params.mt_workers_shared = 1;
    params.estimated_num_eps = 10;
    params.estimated_num_ppn = 2;
    params.tag_sender_mask   = 0xffff;
    must(ucp_init(&params, NULL, &context), "ucp_init");

    memset(&attr, 0xee, sizeof(attr));
    attr.field_mask = UCP_ATTR_FIELD_THREAD_MODE | UCP_ATTR_FIELD_NAME |
                      UCP_ATTR_FIELD_MEMORY_TYPES;
    fact_status("context.query", ucp_context_query(context, &attr));
    fact("context.mask_kept", "%d",
         attr.field_mask == (UCP_ATTR_FIELD_THREAD_MODE | UCP_ATTR_FIELD_NAME |
                             UCP_ATTR_FIELD_MEMORY_TYPES));
    fact("context.thread_mode_shared", "%d", attr.thread_mode);
    fact("context.host_memory", "%d", (int)(attr.memory_types & 1));
    fact("context.name", "%s", attr.name);
    fact("context.unasked_untouched", "%d",
         attr.request_size == (size_t)0xeeeeeeeeeeeeeeee);
    attr.field_mask = 1ull << 40;
    fact_status("context.query_unknown_bit", ucp_context_query(context, &attr));
    workers_of(context);
    ucp_cleanup(context);
}

static void contexts_by_default(void)
{
    ucp_params_t       params;
    ucp_context_attr_t attr;
    ucp_context_h      context;

    memset(&params, 0xee, sizeof(params));
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features   = UCP_FEATURE_TAG;
    must(ucp_init(&params, NULL, &context), "ucp_init");
    attr.field_mask = UCP_ATTR_FIELD_THREAD_MODE | UCP_ATTR_FIELD_NAME;
    must(ucp_context_query(context, &attr), "context_query");
    fact("context.thread_mode_default", "%d", attr.thread_mode);
    fact("context.name_default", "%d", attr.name[0] != '\0');
    ucp_cleanup(context);

    params.field_mask = 0;
    fact_status("context.no_features", ucp_init(&params, NULL, &context));
    ucp_cleanup(context);
    params.field_mask = UCP_PARAM_FIELD_FEATURES | (1ull << 45);
    fact_status("context.unknown_mask_bit", ucp_init(&params, NULL, &context));
    ucp_cleanup(context);
    fact_status("context.older_caller",
                ucp_init_version(1, 3, &params, NULL, &context));
    ucp_cleanup(context);
}

static void receive_from(struct pair *pair, ucp_ep_h ep, const char *name,
                         ucp_tag_t tag)
{
    char in[BEHAVE_SMALL] = {0}, out[BEHAVE_SMALL] = {1, 2, 3};

    must_ptr(ucp_tag_send_nb(ep, out, sizeof(out), ucp_dt_make_contig(1), tag,
                             on_send_nb),
             "send");
    must(pump_request(pair, ucp_tag_recv_nb(pair->b.worker, in, sizeof(in),
                                            ucp_dt_make_contig(1), tag, ~0ul,
                                            on_recv_nb)),
         "recv");
    fact(name, "%d", memcmp(in, out, sizeof(in)) == 0);
}

static ucs_status_t ep_create(ucp_worker_h worker, const void *address,
                              unsigned flags, ucp_ep_h *ep_p)
{
    ucp_ep_params_t params;

    memset(&params, 0xee, sizeof(params));
    params.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_FLAGS;
    params.address = address;
    params.flags   = flags;
    return ucp_ep_create(worker, &params, ep_p);
}

static void addresses(void)
{
    struct pair               pair;
    struct pair_options       options = {.no_eps = true};
    ucp_worker_attr_t         attr;
    ucp_worker_address_attr_t uid;
    ucp_address_t            *address;
    char                     *copy;
    size_t                    length;
    uint64_t                  first;
    ucp_ep_h                  ep, second;

    pair_open(&pair, &options);
    fact_status("address.get",
                ucp_worker_get_address(pair.b.worker, &address, &length));
    fact("address.length_fits", "%d", (length > 0) && (length < 1536));
    uid.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
    fact_status("address.query", ucp_worker_address_query(address, &uid));
    first = uid.worker_uid;

    /* A copy at an odd place, gone right after the endpoint is made. */
    copy = malloc(length + 1);
    memcpy(copy + 1, address, length);
    ucp_worker_release_address(pair.b.worker, address);
    fact_status("address.odd_copy", ep_create(pair.a.worker, copy + 1, 0, &ep));
    memset(copy, 0, length + 1);
    free(copy);
    receive_from(&pair, ep, "address.receiver_without_ep", 0x11);

    /* Another endpoint to the same worker. */
    attr.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
    fact_status("address.by_query", ucp_worker_query(pair.b.worker, &attr));
    must(ucp_worker_address_query(attr.address, &uid), "address_query");
    fact("address.uid_stays", "%d", uid.worker_uid == first);
    fact_status("ep.second",
                ep_create(pair.a.worker, attr.address, 0, &second));
    ucp_worker_release_address(pair.b.worker, attr.address);
    fact("ep.second_is_another", "%d", ep != second);
    receive_from(&pair, second, "ep.second_sends", 0x12);
    receive_from(&pair, ep, "ep.first_sends", 0x13);
    ep_shut(&pair, ep);
    receive_from(&pair, second, "ep.second_after_first_closed", 0x14);
    ep_shut(&pair, second);

    must(ucp_worker_get_address(pair.a.worker, &address, &length), "address");
    must(ucp_worker_address_query(address, &uid), "address_query");
    fact("address.uid_differs", "%d", uid.worker_uid != first);
    ucp_worker_release_address(pair.a.worker, address);

    node_close(&pair.a);
    node_close(&pair.b);
}

/* An address without what stays on this host, of a worker that is known by
 * its whole address already, and of one that is not. */
static void net_only(bool is_known)
{
    struct pair         pair;
    struct pair_options options = {.no_eps = !is_known};
    ucp_worker_attr_t   attr;
    ucp_ep_h            ep;

    pair_open(&pair, &options);
    attr.field_mask =
        UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
    attr.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
    if (is_known) {
        must(ucp_worker_query(pair.b.worker, &attr), "worker_query");
        fact_status("net_only.known_reaches",
                    ep_create(pair.a.worker, attr.address, 0, &ep));
    } else {
        fact_status("net_only.query", ucp_worker_query(pair.b.worker, &attr));
        fact("net_only.bytes", "%d", attr.address_length > 0);
        fact_status("net_only.reaches",
                    ep_create(pair.a.worker, attr.address, 0, &ep));
    }
    ucp_worker_release_address(pair.b.worker, attr.address);
    node_close(&pair.a); /* with what was opened */
    node_close(&pair.b);
}

static void to_self(void)
{
    struct pair         pair;
    struct pair_options options = {.no_eps = true};
    ucp_address_t      *address;
    size_t              length;
    ucp_ep_h            ep, other;

    pair_open(&pair, &options);
    ep = ep_open(pair.b.worker, pair.b.worker, &plain);
    receive_from(&pair, ep, "self.loopback", 0x21);
    ep_shut(&pair, ep);

    /* Two ends of one worker that are two endpoints. */
    must(ucp_worker_get_address(pair.b.worker, &address, &length), "address");
    fact_status("self.no_loopback",
                ep_create(pair.b.worker, address,
                          UCP_EP_PARAMS_FLAGS_NO_LOOPBACK, &ep));
    fact_status("self.no_loopback_peer",
                ep_create(pair.b.worker, address,
                          UCP_EP_PARAMS_FLAGS_NO_LOOPBACK, &other));
    ucp_worker_release_address(pair.b.worker, address);
    receive_from(&pair, ep, "self.no_loopback_sends", 0x22);
    receive_from(&pair, other, "self.no_loopback_peer_sends", 0x23);
    ep_shut(&pair, ep);
    ep_shut(&pair, other);
    node_close(&pair.a);
    node_close(&pair.b);
}

static void endpoints(void)
{
    struct pair     pair;
    ucp_ep_params_t params;
    ucp_ep_attr_t   attr;
    ucp_ep_h        ep;
    ucp_address_t  *address;
    size_t          length;

    pair_open(&pair, NULL);
    memset(&attr, 0xee, sizeof(attr));
    attr.field_mask = UCP_EP_ATTR_FIELD_NAME;
    fact_status("ep.query", ucp_ep_query(pair.a.ep, &attr));
    fact("ep.name_default", "%d", attr.name[0] != '\0');
    attr.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR;
    fact_status("ep.query_local", ucp_ep_query(pair.a.ep, &attr));
    attr.field_mask = UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
    fact_status("ep.query_remote", ucp_ep_query(pair.a.ep, &attr));

    memset(&params, 0xee, sizeof(params));
    params.field_mask = 0;
    fact_status("ep.create_without_address",
                ucp_ep_create(pair.a.worker, &params, &ep));
    must(ucp_worker_get_address(pair.b.worker, &address, &length), "address");
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                        UCP_EP_PARAM_FIELD_NAME | (1ull << 40);
    params.address = address;
    params.name    = "the_endpoint";
    fact_status("ep.create_named", ucp_ep_create(pair.a.worker, &params, &ep));
    ucp_worker_release_address(pair.b.worker, address);
    attr.field_mask = UCP_EP_ATTR_FIELD_NAME;
    must(ucp_ep_query(ep, &attr), "ep_query");
    fact("ep.name", "%d", attr.name[0] != '\0'); /* UCX: in debug builds */
    ep_shut(&pair, ep);
    pair_close(&pair);
}

/* Contexts and workers side by side, and what is left at the end. */
static void many_and_leftovers(void)
{
    static char         large[BEHAVE_LARGE];
    char                small[BEHAVE_SMALL] = {0};
    struct pair         pair, other;
    struct record       received;
    ucp_request_param_t param;
    ucp_worker_params_t worker_params;
    ucp_worker_h        extra;
    ucp_ep_h            ep;

    pair_open(&pair, NULL);
    pair_open(&other, NULL);
    receive_from(&pair, pair.a.ep, "many.first_pair", 0x31);
    receive_from(&other, other.a.ep, "many.second_pair", 0x32);
    memset(&worker_params, 0, sizeof(worker_params));
    must(ucp_worker_create(pair.a.context, &worker_params, &extra), "worker");
    ep = ep_open(extra, pair.b.worker, &plain);
    must_ptr(ucp_tag_send_nb(ep, small, sizeof(small), ucp_dt_make_contig(1),
                             0x33, on_send_nb),
             "send");
    pump_arrived(&pair, 0x33);
    fact("many.second_worker_of_a_context", "1");
    ucp_worker_destroy(extra); /* with its endpoint */
    pair_close(&other);

    /* Unreceived messages, a receive that waits, a send that waits. */
    must_ptr(ucp_tag_send_nb(pair.a.ep, small, sizeof(small),
                             ucp_dt_make_contig(1), 0x34, on_send_nb),
             "send");
    must_ptr(ucp_tag_send_nb(pair.a.ep, large, sizeof(large),
                             ucp_dt_make_contig(1), 0x35, on_send_nb),
             "send");
    pump_arrived(&pair, 0x35);
    param = param_recv(&received, 0);
    must_ptr(ucp_tag_recv_nbx(pair.b.worker, small, sizeof(small), 0x99, ~0ul,
                              &param),
             "recv");
    node_close(&pair.b);
    node_close(&pair.a);
    fact("leftovers.destroyed", "1");
    fact("leftovers.recv_callback", "%d", received.calls);
}

int main(void)
{
    library();
    contexts();
    contexts_by_default();
    addresses();
    net_only(false);
    net_only(true);
    to_self();
    endpoints();
    many_and_leftovers();
    fact("end", "1");
    return 0;
}
