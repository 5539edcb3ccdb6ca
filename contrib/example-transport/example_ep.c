/* SPDX-License-Identifier: BSD-3-Clause */
/* example_ep.c - one connection to one peer: how it begins and ends. */
#include "example.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct example_iface *example_ep_iface(const struct example_ep *ep)
{
    return example_iface_of(ep->base.iface);
}

ucs_status_t example_ep_connect(struct example_ep *ep)
{
    struct sockaddr_un unix_address = {.sun_family = AF_UNIX};
    int                fd;

    memcpy(unix_address.sun_path + 1, ep->address.name, EXAMPLE_NAME_BYTES);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        ucs_error_limited("example: socket: %m");
        return UCS_ERR_IO_ERROR;
    }
    if (connect(fd, (struct sockaddr *)&unix_address,
                offsetof(struct sockaddr_un, sun_path) + 1 +
                    EXAMPLE_NAME_BYTES) != 0) {
        ucs_status_t status =
            (errno == EAGAIN) ? UCS_ERR_WOULD_BLOCK : UCS_ERR_UNREACHABLE;

        (void)close(fd);
        return status;
    }
    if (example_watch(example_ep_iface(ep), fd, &ep->watch, EPOLLIN) !=
        UCS_OK) {
        (void)close(fd);
        return UCS_ERR_IO_ERROR;
    }
    ep->fd = fd;
    return UCS_OK;
}

ucs_status_t example_ep_create(struct uct_iface           *iface,
                               const struct uct_ep_params *params,
                               struct uct_ep             **ep_p)
{
    struct example_iface *self = example_iface_of(iface);
    struct example_ep    *ep;
    ucs_status_t          status;

    status = example_iface_reach(iface, params->address, params->address_bytes,
                                 NULL);
    if (status != UCS_OK) {
        return status;
    }
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(&ep->address, params->address, sizeof(ep->address));
    ep->watch = EXAMPLE_EP;
    ep->fd    = -1;
    uct_inflight_init(&ep->inflight);
    ucti_ep_init(&ep->base, iface, params);
    status = example_ep_connect(ep);
    if ((status != UCS_OK) && (status != UCS_ERR_WOULD_BLOCK)) {
        ucti_ep_cleanup(&ep->base);
        free(ep);
        return status;
    }
    ucs_list_add_tail(&self->eps, &ep->link);
    *ep_p = &ep->base;
    return UCS_OK;
}

void example_ep_destroy(struct uct_ep *base)
{
    const struct example_head bye = {.type = EXAMPLE_PACKET_BYE};
    struct example_ep        *ep  = example_ep_of(base);

    ucti_ep_cleanup(base);
    ucs_list_remove(&ep->link);
    example_ops_remove(ep);
    ucti_inflight_cleanup(&ep->inflight);
    if (ep->fd >= 0) {
        /* There is room: sends are refused long before the buffer is full. */
        (void)!send(ep->fd, &bye, sizeof(bye), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)close(ep->fd);
    }
    free(ep);
}

/* The kernel takes a packet while less than SO_SNDBUF bytes are on the way.
 * We stop at a quarter, which is also where EPOLLOUT stops: so whatever we
 * begin to send is accepted, and BYE always is. */
bool example_has_room(const struct example_ep *ep)
{
    int       on_the_way = 0, buffer_bytes = 0;
    socklen_t bytes = sizeof(buffer_bytes);

    return (ep->fd >= 0) && (ioctl(ep->fd, SIOCOUTQ, &on_the_way) == 0) &&
           (getsockopt(ep->fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, &bytes) ==
            0) &&
           (on_the_way <= buffer_bytes / 4);
}

enum uct_may_send example_may_send(struct uct_ep *base)
{
    struct example_ep *ep = example_ep_of(base);

    return (ep->is_gone || ((ep->fd >= 0) && !ep->is_full))
               ? UCT_MAY_SEND_NOW
               : UCT_MAY_SEND_LATER;
}

/* The peer says BYE, or its end of the connection is gone. */
static unsigned example_ep_hangup(struct example_ep *ep)
{
    struct example_head head;
    ssize_t             bytes;

    do {
        bytes = recv(ep->fd, &head, sizeof(head), MSG_DONTWAIT);
    } while ((bytes < 0) && ((errno == ECONNRESET) || (errno == EINTR)));
    if (bytes < 0) {
        return 0;
    }
    (void)close(ep->fd);
    ep->fd = -1;
    if ((bytes == (ssize_t)sizeof(head)) && (head.type == EXAMPLE_PACKET_BYE)) {
        ep->is_gone = true;
        return 1;
    }
    example_ops_remove(ep);
    (void)ucti_ep_fail(&ep->base, &ep->inflight, UCS_ERR_CONNECTION_RESET);
    return 1;
}

unsigned example_ep_event(struct example_ep *ep, uint32_t events)
{
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        return example_ep_hangup(ep);
    }
    /* EPOLLOUT: there is room again; progress serves. */
    ep->is_full = false;
    (void)example_watch(example_ep_iface(ep), ep->fd, &ep->watch, EPOLLIN);
    return 1;
}
