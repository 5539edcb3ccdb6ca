/* SPDX-License-Identifier: BSD-3-Clause */
/* example_iface.c - the interface: it listens, and one epoll set watches all
 * of its sockets. That set is also the descriptor for sleeping: it is
 * readable as long as something waits, so no wake-up can be lost. */
#include "example.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* splitmix64. */
uint64_t example_random(struct example_iface *self)
{
    uint64_t mix = (self->random += 0x9e3779b97f4a7c15ull);

    mix = (mix ^ (mix >> 30)) * 0xbf58476d1ce4e5b9ull;
    mix = (mix ^ (mix >> 27)) * 0x94d049bb133111ebull;
    return mix ^ (mix >> 31);
}

ucs_status_t example_watch(struct example_iface *self, int fd,
                           enum example_watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if ((epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event) != 0) &&
        (epoll_ctl(self->epoll, EPOLL_CTL_MOD, fd, &event) != 0)) {
        ucs_error("example: epoll_ctl fd %d: %m", fd);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

/* Draw a name that nobody can guess, and note where it is known. */
static bool example_name(struct example_address *address)
{
    struct stat status;
    uint64_t    inode;

    if (stat("/proc/self/ns/net", &status) != 0) {
        return false;
    }
    inode            = status.st_ino;
    address->version = EXAMPLE_VERSION;
    memcpy(address->net_namespace, &inode, sizeof(inode));
    return getrandom(address->name, sizeof(address->name), 0) ==
           (ssize_t)sizeof(address->name);
}

static ucs_status_t example_listen(struct example_iface *self)
{
    struct sockaddr_un unix_address = {.sun_family = AF_UNIX};

    if (!example_name(&self->address)) {
        ucs_error("example: cannot name the interface: %m");
        return UCS_ERR_IO_ERROR;
    }
    /* sun_path begins with NUL: abstract, it leaves no file. */
    memcpy(unix_address.sun_path + 1, self->address.name, EXAMPLE_NAME_BYTES);
    self->listener =
        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    if ((self->listener < 0) || (self->epoll < 0) ||
        (bind(self->listener, (struct sockaddr *)&unix_address,
              offsetof(struct sockaddr_un, sun_path) + 1 +
                  EXAMPLE_NAME_BYTES) != 0) ||
        (listen(self->listener, SOMAXCONN) != 0)) {
        ucs_error("example: cannot listen: %m");
        return UCS_ERR_IO_ERROR;
    }
    self->watch = EXAMPLE_LISTENER;
    return example_watch(self, self->listener, &self->watch, EPOLLIN);
}

static ucs_status_t example_read_config(struct example_iface          *self,
                                        const struct uct_iface_params *params)
{
    if (params->config != NULL) {
        return ucsi_config_copy(&example_config_table, params->config,
                                &self->config);
    }
    return ucsi_config_read(&example_config_table, NULL, &self->config);
}

static void example_iface_free(struct example_iface *self)
{
    if (self->listener >= 0) {
        (void)close(self->listener);
    }
    if (self->epoll >= 0) {
        (void)close(self->epoll);
    }
    ucsi_config_release(&example_config_table, &self->config);
    free(self->packet);
    free(self);
}

ucs_status_t example_iface_open(struct uct_md                 *md,
                                const struct uct_iface_params *params,
                                struct uct_iface             **iface_p)
{
    struct example_iface *self = calloc(1, sizeof(*self));
    ucs_status_t          status;

    if (self == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    self->listener = -1;
    self->epoll    = -1;
    status         = example_read_config(self, params);
    if (status != UCS_OK) {
        free(self);
        return status;
    }
    self->random = self->config.seed;
    self->packet = malloc(sizeof(*self->packet));
    status = (self->packet != NULL) ? example_listen(self) : UCS_ERR_NO_MEMORY;
    if (status != UCS_OK) {
        example_iface_free(self);
        return status;
    }
    ucti_iface_init(&self->base, md, params);
    ucs_list_init(&self->sources);
    ucs_list_init(&self->eps);
    *iface_p = &self->base;
    return UCS_OK;
}

void example_iface_close(struct uct_iface *iface)
{
    struct example_iface  *self = example_iface_of(iface);
    struct example_source *source;

    uct_iface_cleanup(iface);
    ucs_assert(self->kept_count == 0);
    while (!ucs_list_is_empty(&self->sources)) {
        source = ucs_list_first(&self->sources, struct example_source, link);
        example_source_close(source);
    }
    example_iface_free(self);
}

void example_iface_query(const struct uct_iface *iface,
                         struct uct_iface_attr  *attr_p)
{
    bool is_alone = example_iface_of(iface)->config.devices <= 1;

    *attr_p = (struct uct_iface_attr){
        .am = {.bcopy_bytes_max = EXAMPLE_BCOPY_BYTES_MAX,
               .zcopy_bytes_max = EXAMPLE_ZCOPY_BYTES_MAX,
               .iov_count_max   = EXAMPLE_IOV_COUNT_MAX},
        .am_zcopy_header_bytes_max = EXAMPLE_HEADER_BYTES_MAX,
        /* A unix socket, measured in design/limits.md: 1.9 us one way. */
        .cost = {.latency_s = 1e-6, .overhead_s = 500e-9, .bandwidth_Bps = 2e9},
        .flags =
            UCT_IFACE_POLL_IS_SYSCALL | (is_alone ? UCT_IFACE_INTRA_NODE : 0u),
        .address_bytes = sizeof(struct example_address),
    };
}

void example_iface_address(const struct uct_iface *iface, uint8_t *bytes)
{
    memcpy(bytes, &example_iface_of(iface)->address,
           sizeof(struct example_address));
}

ucs_status_t example_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                                 size_t size_bytes, char *reason)
{
    const struct example_iface *self = example_iface_of(iface);
    struct example_address      address;

    if ((size_bytes != sizeof(address)) || (bytes[0] != EXAMPLE_VERSION)) {
        ucti_reason(reason, "example: %zu bytes are no address of version %d",
                    size_bytes, (int)EXAMPLE_VERSION);
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&address, bytes, sizeof(address));
    if (memcmp(address.net_namespace, self->address.net_namespace,
               sizeof(address.net_namespace)) != 0) {
        ucti_reason(reason,
                    "example: the peer is in another network namespace");
        return UCS_ERR_UNREACHABLE;
    }
    return UCS_OK;
}

/* Endpoints whose peer could not take the connection yet. */
static unsigned example_connect_again(struct example_iface *self)
{
    struct example_ep *ep, *next;
    unsigned           count = 0;

    ucs_list_for_each_safe (ep, next, &self->eps, link) {
        if ((ep->fd < 0) && (ep->base.failed == UCS_OK) && !ep->is_gone &&
            (example_ep_connect(ep) != UCS_ERR_WOULD_BLOCK)) {
            ++count;
            if (ep->fd < 0) {
                (void)ucti_ep_fail(&ep->base, &ep->inflight,
                                   UCS_ERR_UNREACHABLE);
                break; /* the list may have changed */
            }
        }
    }
    return count;
}

/* One event at a time: a callback may free what the next one is about. */
static unsigned example_event(struct example_iface *self)
{
    struct epoll_event  event;
    enum example_watch *watch;

    if (epoll_wait(self->epoll, &event, 1, 0) != 1) {
        return 0;
    }
    watch = (enum example_watch *)event.data.ptr;
    switch (*watch) {
    case EXAMPLE_LISTENER:
        example_accept(self);
        return 1;
    case EXAMPLE_SOURCE:
        return example_receive(
            self, ucs_container_of(watch, struct example_source, watch));
    case EXAMPLE_EP:
        return example_ep_event(
            ucs_container_of(watch, struct example_ep, watch), event.events);
    }
    return 0;
}

unsigned example_progress(struct uct_iface *iface)
{
    struct example_iface *self  = example_iface_of(iface);
    unsigned              count = example_ops_progress(self);
    unsigned              round, handled;

    for (round = 0; round < EXAMPLE_EVENT_COUNT_MAX; ++round) {
        handled = example_event(self);
        count += handled;
        if (handled == 0) {
            break;
        }
    }
    count += example_connect_again(self);
    return count + ucti_pending_serve(iface, example_may_send);
}

int example_event_fd(struct uct_iface *iface)
{
    return example_iface_of(iface)->epoll;
}

ucs_status_t example_arm(struct uct_iface *iface)
{
    struct example_iface *self = example_iface_of(iface);
    struct epoll_event    event;
    struct example_ep    *ep;

    if (self->running_count > 0) {
        return UCS_ERR_BUSY; /* progress finishes them */
    }
    ucs_list_for_each (ep, &self->eps, link) {
        if (((ep->fd < 0) && (ep->base.failed == UCS_OK)) ||
            ((ep->base.pending_state == UCT_PENDING_WAITS) && !ep->is_full)) {
            return UCS_ERR_BUSY;
        }
    }
    return (epoll_wait(self->epoll, &event, 1, 0) == 1) ? UCS_ERR_BUSY : UCS_OK;
}
