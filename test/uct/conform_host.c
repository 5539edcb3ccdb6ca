/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_host.c - an interface, and what rpc makes it do. */
#include "uct/conform.h"

#include <poll.h>
#include <unistd.h>

#include "ucs/config.h"

enum { HOST_ECHO_BYTES = 32, HOST_SLEEP_MS = 5000 };

/* splitmix64. */
uint64_t host_random(struct host *host)
{
    uint64_t mix = (host->random += 0x9e3779b97f4a7c15ull);

    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9ull;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebull;
    return mix ^ (mix >> 31);
}

/* The transport's settings, with encryption. */
static ucs_status_t host_options(const struct uct_transport *tl,
                                 void                      **options_p)
{
    ucs_status_t status;

    *options_p = calloc(1, tl->config->struct_bytes);
    status     = ucsi_config_read(tl->config, NULL, *options_p);
    if (status == UCS_OK) {
        status = ucsi_config_set(tl->config, *options_p, "NET_ENCRYPT", "y");
    }
    return status;
}

static ucs_status_t host_open_iface(struct host                *host,
                                    const struct conform_param *param,
                                    bool                        wakeup)
{
    struct uct_iface_params params = {
        .source_end       = host_source_end,
        .source_end_arg   = host,
        .names            = param->names,
        .wakeup           = wakeup,
        .failure_bound_ns = CONFORM_FAILURE_S * 1000000000ull,
    };
    void        *options = NULL;
    ucs_status_t status  = UCS_OK;

    if (param->is_encrypted) {
        status = host_options(host->tl, &options);
    }
    if (status == UCS_OK) {
        params.config = options;
        status        = ucti_iface_open(host->md, &params, &host->iface);
    }
    if (options != NULL) {
        ucsi_config_release(host->tl->config, options);
        free(options);
    }
    if (status != UCS_OK) {
        return status;
    }
    host->tl->iface_query(host->iface, &host->attr);
    host->tl->iface_address(host->iface, host->address);
    host_set_handlers(host);
    return UCS_OK;
}

ucs_status_t host_open(struct host *host, const struct conform_param *param,
                       bool wakeup, char *reason)
{
    const struct uct_transport *tl    = param->transport;
    unsigned                    count = 1;
    struct uct_device           device;
    ucs_status_t                status;

    memset(host, 0, sizeof(*host));
    host->tl = tl;
    tl->devices(NULL, &device, &count, reason);
    if (count == 0) {
        return UCS_ERR_NO_DEVICE;
    }
    status = ucti_md_open(&device, &host->md);
    if (status != UCS_OK) {
        return status;
    }
    status = host_open_iface(host, param, wakeup);
    if (status != UCS_OK) {
        ucti_md_close(host->md);
        return status;
    }
    host->region = aligned_alloc(4096, CONFORM_REGION_BYTES);
    memset(host->region, 0, CONFORM_REGION_BYTES);
    return UCS_OK;
}

static void host_close_lanes(struct host *host)
{
    unsigned index;

    for (index = 0; index < host->lane_count; ++index) {
        lane_close(&host->lanes[index]);
    }
}

void host_close(struct host *host)
{
    host_close_lanes(host);
    if (host->shared != NULL) {
        return;
    }
    host_release_kept(host, UINT64_MAX);
    if (host->region_mem != NULL) {
        host->tl->mem_release(host->region_mem);
    }
    ucti_iface_close(host->iface);
    ucti_md_close(host->md);
    host_free_senders(host);
    free(host->region);
}

/* Send one reply for each echo asked for; on lane 0. */
static bool host_pay(struct host *host)
{
    struct inbox *inbox =
        (host->shared != NULL) ? &host->shared->inbox : &host->inbox;
    struct lane *lane = &host->lanes[0];
    bool         did  = false;

    while ((inbox->owed_count > 0) && (host->lane_count > 0) &&
           (lane->ep != NULL) && !lane->is_waiting) {
        ucs_status_t status;

        --inbox->owed_count;
        status = lane_send(lane, LANE_BCOPY, AM_ORDERED, HOST_ECHO_BYTES,
                           UCT_FLAG_PENDING);
        if (status != UCS_OK) {
            ++inbox->owed_count;
            lane->is_waiting = (status == UCS_ERR_WOULD_BLOCK);
            break;
        }
        did = true;
    }
    return did;
}

bool host_step(struct host *host)
{
    bool     did = false;
    unsigned index;

    if (host->is_frozen) {
        return false;
    }
    if (host->shared == NULL) {
        did = uct_iface_progress(host->iface) > 0;
    }
    for (index = 0; index < host->lane_count; ++index) {
        if (host->lanes[index].ep != NULL) {
            did |= lane_step(&host->lanes[index]);
        }
    }
    return host_pay(host) || did;
}

static void host_tell_inbox(struct host *host, struct rpc *rpc)
{
    struct host *owner = (host->shared != NULL) ? host->shared : host;
    unsigned     index;

    rpc->inbox         = owner->inbox;
    rpc->inbox.dropped = owner->iface->am_dropped_count;
    rpc->inbox.unsent  = 0;
    rpc->inbox.refused = 0;
    for (index = 0; index < host->lane_count; ++index) {
        rpc->inbox.unsent +=
            host->lanes[index].load.count + host->lanes[index].slots_used;
        rpc->inbox.refused += host->lanes[index].refused;
    }
}

static void host_expose_region(struct host *host, struct rpc *rpc)
{
    host = (host->shared != NULL) ? host->shared : host;
    if (host->region_mem != NULL) {
        host->tl->mem_release(host->region_mem);
        host->region_mem = NULL;
    }
    rpc->status =
        host->tl->mem_register(host->md, host->region, CONFORM_REGION_BYTES,
                               (unsigned)rpc->a, &host->region_mem);
    if (rpc->status == UCS_OK) {
        rpc->a          = (uintptr_t)host->region;
        rpc->size_bytes = host->tl->rkey_pack(host->region_mem, rpc->bytes);
    }
}

static uint8_t *host_region(struct host *host, const struct rpc *rpc)
{
    return ((host->shared != NULL) ? host->shared : host)->region + rpc->a;
}

void host_answer(struct host *host, struct rpc *rpc)
{
    struct lane     *lane;
    struct lane_load load;

    rpc->status = UCS_OK;
    switch (rpc->op) {
    case RPC_INBOX:
        host_tell_inbox(host, rpc);
        break;
    case RPC_ADDRESS:
        rpc->size_bytes = host->attr.address_bytes;
        memcpy(rpc->bytes, host->address, host->attr.address_bytes);
        break;
    case RPC_CONNECT:
        rpc->status = lane_open(host, rpc->bytes, rpc->size_bytes, &lane);
        rpc->a      = host->lane_count - 1;
        break;
    case RPC_LOAD:
        memcpy(&load, rpc->bytes, sizeof(load));
        lane_load(&host->lanes[rpc->a], &load);
        break;
    case RPC_FREEZE:
        host->is_frozen = (rpc->a != 0);
        break;
    case RPC_RELEASE_KEPT:
        host_release_kept((host->shared != NULL) ? host->shared : host, rpc->a);
        break;
    case RPC_REGION:
        host_expose_region(host, rpc);
        break;
    case RPC_REGION_READ:
        memcpy(rpc->bytes, host_region(host, rpc), rpc->size_bytes);
        break;
    case RPC_REGION_WRITE:
        memcpy(host_region(host, rpc), rpc->bytes, rpc->size_bytes);
        break;
    case RPC_RIGHTS:
        rpc->a = host->lanes[rpc->a].ep->rights |
                 (uint64_t)host->lanes[rpc->a].ep->peer_rights << 8;
        break;
    case RPC_SLEEPY:
        host->is_sleepy = (rpc->a != 0);
        break;
    case RPC_DESTROY:
        host_close_lanes(host);
        break;
    case RPC_LEAVE:
    case RPC_EXIT:
        break; /* the peer's loop does it */
    }
}
