/* SPDX-License-Identifier: BSD-3-Clause */
/* example_receive.c - connections that come in, packets, kept buffers, and
 * how a sender ends: after BYE in order, otherwise cut off. */
#include "example.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Only our own user may send to us. */
static bool example_is_ours(int fd)
{
    struct ucred peer;
    socklen_t    bytes = sizeof(peer);

    return (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0) &&
           (peer.uid == geteuid());
}

void example_accept(struct example_iface *self)
{
    int fd = accept4(self->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct example_source *source;

    if (fd < 0) {
        if ((errno != EAGAIN) && (errno != ECONNABORTED)) {
            ucs_error_limited("example: accept: %m");
        }
        return;
    }
    source = calloc(1, sizeof(*source));
    if ((source == NULL) || !example_is_ours(fd)) {
        free(source);
        (void)close(fd);
        return;
    }
    source->watch = EXAMPLE_SOURCE;
    source->fd    = fd;
    if (example_watch(self, fd, &source->watch, EPOLLIN) != UCS_OK) {
        free(source);
        (void)close(fd);
        return;
    }
    ucs_list_add_tail(&self->sources, &source->link);
}

/* We close: tell the sender that it is no accident. */
void example_source_close(struct example_source *source)
{
    const struct example_head bye = {.type = EXAMPLE_PACKET_BYE};

    (void)!send(source->fd, &bye, sizeof(bye), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(source->fd);
    ucs_list_remove(&source->link);
    free(source);
}

static void example_source_end(struct example_iface  *self,
                               struct example_source *source,
                               ucs_status_t           status)
{
    if (source->has_source) {
        uct_iface_end_source(&self->base, &source->base, status);
    }
    (void)close(source->fd);
    ucs_list_remove(&source->link);
    free(source);
}

/* Hand a packet up. The handler may keep its buffer: then we need another. */
static void example_deliver(struct example_iface  *self,
                            struct example_source *source, size_t length)
{
    struct example_buffer *packet = self->packet;
    struct example_buffer *next   = NULL;
    unsigned               flags  = 0;

    if (self->kept_count < EXAMPLE_KEPT_COUNT_MAX) {
        next = malloc(sizeof(*next));
    }
    if (next != NULL) {
        flags |= UCT_AM_MAY_KEEP;
    }
    source->has_source = true;
    if (uct_iface_deliver(&self->base, packet->head.am_id, &source->base,
                          packet->data, length, flags) == UCS_INPROGRESS) {
        self->packet = next;
        ++self->kept_count;
    } else {
        free(next);
    }
}

void example_am_release(struct uct_iface *iface, void *data)
{
    --example_iface_of(iface)->kept_count;
    free(ucs_container_of(data, struct example_buffer, data));
}

/* One packet. A killed sender with unread data of ours behind it makes the
 * first recv fail and the next ones deliver what it sent. */
unsigned example_receive(struct example_iface  *self,
                         struct example_source *source)
{
    ssize_t bytes;

    do {
        bytes =
            recv(source->fd, self->packet, sizeof(*self->packet), MSG_DONTWAIT);
    } while ((bytes < 0) && ((errno == ECONNRESET) || (errno == EINTR)));
    if (bytes < 0) {
        return 0; /* EAGAIN: somebody else's event */
    }
    if (bytes == 0) {
        example_source_end(self, source, UCS_ERR_CONNECTION_RESET);
    } else if (bytes < (ssize_t)sizeof(struct example_head)) {
        ucs_error_limited("example: a packet of %zd bytes", bytes);
        example_source_end(self, source, UCS_ERR_IO_ERROR);
    } else if (self->packet->head.type == EXAMPLE_PACKET_BYE) {
        example_source_end(self, source, UCS_OK);
    } else {
        example_deliver(self, source,
                        (size_t)bytes - sizeof(struct example_head));
    }
    return 1;
}
