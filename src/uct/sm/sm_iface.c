/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_iface.c - open, describe and close an interface. */
#include "uct/sm/sm.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ucs/config.h"
#include "ucs/log.h"
#include "ucs/random.h"
#include "uct/base/iface.h"
#include "uct/base/pending.h"
#include "uct/sm/sm_barrier.h"
#include "uct/sm/sm_socket.h"

/* A number that nobody else has; not 0. */
static ucs_status_t iface_random_id(uint64_t *id_p)
{
    uint64_t     id = 0;
    ucs_status_t status;

    do {
        status = ucsi_random_u64(&id);
    } while ((status == UCS_OK) && (id == 0));
    *id_p = id;
    return status;
}

static ucs_status_t iface_read_options(struct uct_sm_iface           *iface,
                                       const struct uct_iface_params *params)
{
    struct uct_sm_options *options = &iface->options;
    ucs_status_t           status;

    if (params->config != NULL) {
        status =
            ucsi_config_copy(&uct_sm_config_table, params->config, options);
    } else {
        status = ucsi_config_read(&uct_sm_config_table, NULL, options);
    }
    return status;
}

/* The kernel closes /proc of a process that must not be dumped: its segment
 * and its bell would not be found there. And who cannot watch a process needs
 * its socket to learn of its end. */
static void iface_choose_attach(struct uct_sm_iface *iface)
{
    if ((iface->options.attach == UCT_SM_ATTACH_AUTO) &&
        ((prctl(PR_GET_DUMPABLE) != 1) || !uct_sm_watch_is_there())) {
        iface->options.attach = UCT_SM_ATTACH_SOCKET;
    }
}

/* The segment, and the address that leads to it. */
static ucs_status_t iface_open_segment(struct uct_sm_iface *iface)
{
    struct uct_sm_address *address = &iface->address;
    struct uct_sm_identity identity;
    ucs_status_t           status;

    iface_choose_attach(iface);
    uct_sm_address_self(address);
    status = iface_random_id(&address->segment_id);
    if (status != UCS_OK) {
        return status;
    }
    identity = (struct uct_sm_identity){
        .segment_id       = address->segment_id,
        .process_start    = address->process_start,
        .pid_namespace_id = address->pid_namespace,
        .pid              = address->pid,
        .chunk_count      = iface->options.chunk_count,
        .chunk_bytes      = (uint32_t)iface->options.chunk_bytes,
        .needs_fence      = !uct_sm_barrier_is_there(),
    };
    status = uct_sm_segment_open(&iface->segment, &identity);
    if (status == UCS_OK) {
        address->fd    = iface->segment.fd;
        address->flags = (iface->options.attach == UCT_SM_ATTACH_SOCKET)
                             ? 0
                             : UCT_SM_ADDRESS_PROC;
    }
    return status;
}

/* What others use to reach and wake us. */
static ucs_status_t iface_open_events(struct uct_sm_iface *iface, bool wakeup)
{
    ucs_status_t status;

    status = ucsi_event_set_init(&iface->events);
    if (status != UCS_OK) {
        return status;
    }
    if (wakeup) {
        status = uct_sm_bell_open(iface);
        if (status != UCS_OK) {
            ucsi_event_set_cleanup(&iface->events);
            return status;
        }
    }
    if ((iface->options.attach != UCT_SM_ATTACH_PROC) &&
        uct_sm_socket_listen(iface)) {
        iface->address.flags |= UCT_SM_ADDRESS_SOCKET;
    }
    return UCS_OK;
}

static struct uct_sm_iface *iface_allocate(void)
{
    struct uct_sm_iface *iface;
    unsigned             index;

    if (posix_memalign((void **)&iface, UCT_SM_LINE_BYTES, sizeof(*iface)) !=
        0) {
        return NULL;
    }
    memset(iface, 0, sizeof(*iface));
    iface->look_in_calls = 1;
    iface->process_id    = getpid();
    iface->bell[0]       = -1;
    iface->bell[1]       = -1;
    iface->listener      = -1;
    uct_sm_copies_init(&iface->copies);
    ucs_list_init(&iface->links);
    ucs_list_init(&iface->watches);
    for (index = 0; index < UCT_SM_BUCKET_COUNT; ++index) {
        ucs_list_init(&iface->peers[index]);
    }
    return iface;
}

ucs_status_t uct_sm_iface_open(struct uct_md                 *md,
                               const struct uct_iface_params *params,
                               struct uct_iface             **iface_p)
{
    struct uct_sm_iface *iface = iface_allocate();
    ucs_status_t         status;

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucti_iface_init(&iface->base, md, params);
    status = iface_read_options(iface, params);
    if (status != UCS_OK) {
        goto free_iface;
    }
    status = iface_open_segment(iface);
    if (status != UCS_OK) {
        goto release_options;
    }
    status = iface_open_events(iface, params->wakeup);
    if (status != UCS_OK) {
        goto close_segment;
    }
    uct_sm_barrier_begin();
    iface->awaits_barrier = (uct_sm_barrier_state() == UCT_SM_BARRIER_ASKED);
    uct_sm_rights_init(iface, params->names);
    iface->speed             = uct_sm_speed(&iface->options);
    iface->base.claims.words = iface->segment.header->claims;
    iface->base.claims.count = UCT_SM_CLAIM_COUNT;
    *iface_p                 = &iface->base;
    return UCS_OK;

close_segment:
    uct_sm_segment_close(&iface->segment);
release_options:
    ucsi_config_release(&uct_sm_config_table, &iface->options);
free_iface:
    uct_sm_copies_cleanup(&iface->copies);
    free(iface);
    return status;
}

/* Tell those who may wait for room that none will come. */
static void iface_leave(struct uct_sm_iface *iface)
{
    iface->must_fence = true; /* no more hurry */
    atomic_store_explicit(&iface->segment.header->asleep, 0,
                          memory_order_relaxed);
    atomic_store_explicit(&iface->segment.header->alive, UCT_SM_CLOSED,
                          memory_order_release);
    uct_sm_room_made_slow(iface);
}

void uct_sm_iface_close(struct uct_iface *base)
{
    struct uct_sm_iface *iface = uct_sm_iface_of(base);

    iface->is_child = (getpid() != iface->process_id);
    if (!iface->is_child) {
        uct_sm_peers_look(iface);
        iface_leave(iface);
    }
    uct_sm_peers_reap(iface, true);
    uct_sm_channels_cleanup(iface);
    uct_sm_socket_cleanup(iface);
    ucs_assert(ucs_list_is_empty(&iface->watches));
    uct_sm_bell_close(iface);
    ucsi_event_set_cleanup(&iface->events);
    uct_sm_segment_close(&iface->segment);
    uct_sm_copies_cleanup(&iface->copies);
    uct_sm_barrier_end();
    ucsi_config_release(&uct_sm_config_table, &iface->options);
    uct_iface_cleanup(base);
    free(iface);
}

/* Put and get, as far as this interface may try them. */
static void iface_query_rma(const struct uct_sm_iface *iface,
                            struct uct_iface_attr     *attr)
{
    const struct uct_op_limits limits = {
        .bcopy_bytes_max  = SIZE_MAX,
        .zcopy_bytes_max  = SIZE_MAX,
        .iov_count_max    = UCT_SM_RMA_IOV_COUNT_MAX,
        .remote_count_max = UCT_SM_RMA_IOV_COUNT_MAX,
    };
    const struct uct_rma_cost cost = {
        .overhead_s    = iface->speed.cma_overhead_s,
        .bandwidth_Bps = iface->speed.cma_Bps,
    };

    if (iface->rights & UCT_RIGHT_PUT) {
        attr->put                 = limits;
        attr->put.short_bytes_max = UCT_SM_RMA_SHORT_BYTES_MAX;
        attr->put.bcopy_bytes_max = UCT_SM_RMA_SHORT_BYTES_MAX;
        attr->put_cost            = cost;
    }
    if (iface->rights & UCT_RIGHT_GET) {
        attr->get      = limits;
        attr->get_cost = cost;
    }
}

void uct_sm_iface_query(const struct uct_iface *base,
                        struct uct_iface_attr  *attr)
{
    const struct uct_sm_iface *iface = uct_sm_iface_of(base);

    memset(attr, 0, sizeof(*attr));
    attr->am.short_bytes_max        = UCT_SM_SHORT_BYTES_MAX - sizeof(uint64_t);
    attr->am.bcopy_bytes_max        = iface->options.chunk_bytes;
    attr->am.zcopy_bytes_max        = iface->options.chunk_bytes;
    attr->am.iov_count_max          = UCT_SM_IOV_COUNT_MAX;
    attr->am_zcopy_header_bytes_max = UCT_SM_HEADER_BYTES_MAX;
    /* A line from processor to processor, and the instructions around it
     * (docs/perf/foundation.md). */
    attr->cost.latency_s     = 60e-9;
    attr->cost.overhead_s    = 10e-9;
    attr->cost.bandwidth_Bps = iface->speed.chunk_Bps;
    attr->flags              = UCT_IFACE_INTRA_NODE | UCT_IFACE_ZCOPY_COPIES |
                  UCT_IFACE_PUT_DONE_AT_TARGET | UCT_IFACE_CLAIMS;
    attr->address_bytes = UCT_SM_ADDRESS_BYTES;
    iface_query_rma(iface, attr);
}

void uct_sm_iface_address(const struct uct_iface *base, uint8_t *bytes)
{
    uct_sm_address_encode(&uct_sm_iface_of(base)->address, bytes);
}
