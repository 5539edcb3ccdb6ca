/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_socket.c - hello, welcome, wake up, hang-up. */
#include "uct/sm/sm_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ucs/bytes.h"
#include "ucs/log.h"
#include "ucs/socket.h"
#include "uct/base/md.h"

/*   hello:    magic 8, version 4, our segment 8, wanted segment 8
 *   welcome:  magic 8, version 4, segment 8, and one descriptor  */
enum {
    SOCKET_HELLO_BYTES   = 28,
    SOCKET_WELCOME_BYTES = 20,
    SOCKET_PACKET_BYTES  = 64, /* of any that comes */
    SOCKET_BACKLOG       = 4096,
};

/* Abstract: bound to the network namespace, in no folder. */
static struct ucs_sockaddr socket_name(uint64_t segment_id)
{
    struct ucs_sockaddr name;
    char                text[32];
    int                 length =
        snprintf(text, sizeof(text), "causeway-sm-%016" PRIx64, segment_id);

    ucs_check(ucsi_sockaddr_abstract(text, (size_t)length, &name) == UCS_OK);
    return name;
}

/* Is the process at the other end of our user? */
static bool socket_is_ours(int fd, uint32_t *uid_p)
{
    struct ucred credentials;

    if (ucsi_socket_peer_credentials(fd, &credentials) != UCS_OK) {
        return false;
    }
    *uid_p = (uint32_t)credentials.uid;
    return credentials.uid == geteuid();
}

static void link_close(struct uct_sm_iface *iface, struct uct_sm_link *link)
{
    if ((link->fd >= 0) && !iface->is_child) {
        ucsi_event_set_remove(&iface->events, link->fd);
    }
    ucsi_fd_close(&link->fd);
}

static void link_destroy(struct uct_sm_iface *iface, struct uct_sm_link *link)
{
    link_close(iface, link);
    ucs_list_remove(&link->link);
    --iface->link_count;
    free(link);
}

/* The other end is gone; whoever uses the link sees it with the next look. */
static void link_hang_up(struct uct_sm_iface *iface, struct uct_sm_link *link)
{
    link->is_hung_up = true;
    if ((link->use_count == 0) && (link->peer == NULL)) {
        link_destroy(iface, link);
        return;
    }
    link_close(iface, link);
    uct_sm_look_soon(iface);
}

/* Hand our memory to a connector that said hello. */
static ucs_status_t link_welcome(struct uct_sm_iface *iface,
                                 struct uct_sm_link *link, const uint8_t *bytes,
                                 size_t length)
{
    uint8_t           packet[SOCKET_WELCOME_BYTES];
    struct ucs_reader reader;
    struct ucs_writer writer;
    uint64_t          magic, theirs, ours;
    uint32_t          version;

    ucs_reader_init(&reader, bytes, length);
    magic   = ucs_read_le64(&reader);
    version = ucs_read_le32(&reader);
    theirs  = ucs_read_le64(&reader);
    ours    = ucs_read_le64(&reader);
    if (!ucs_read_ok(&reader) || (magic != UCT_SM_MAGIC) ||
        (version != UCT_SM_LAYOUT_VERSION) ||
        (ours != iface->address.segment_id)) {
        ucs_warn_limited("sm: a hello of another version, or not for us; "
                         "closed the socket");
        return UCS_ERR_INVALID_PARAM;
    }
    link->segment_id = theirs;
    link->stage      = UCT_SM_LINK_OPEN;
    ucs_writer_init(&writer, packet, sizeof(packet));
    ucs_write_le64(&writer, UCT_SM_MAGIC);
    ucs_write_le32(&writer, UCT_SM_LAYOUT_VERSION);
    ucs_write_le64(&writer, iface->address.segment_id);
    return ucsi_socket_send_fd(link->fd, iface->segment.fd, packet,
                               sizeof(packet));
}

/* Map the memory that came. */
static ucs_status_t link_map(struct uct_sm_link *link, int fd,
                             const struct uct_sm_identity *identity)
{
    struct uct_sm_peer *peer = link->peer;
    ucs_status_t        status;

    link->stage = UCT_SM_LINK_OPEN;
    --peer->iface->waiting_count;
    status = uct_sm_peer_map(peer, fd, identity);
    if (status != UCS_OK) {
        ++peer->iface->waiting_count; /* until the look calls peer_gone() */
        uct_sm_peer_break(peer, status);
    }
    return status;
}

/* Take the answer to our hello, and the peer's memory with it. */
static ucs_status_t link_welcomed(struct uct_sm_link *link)
{
    uint8_t                bytes[SOCKET_WELCOME_BYTES];
    int                    fd   = -1;
    struct uct_sm_peer    *peer = link->peer;
    struct uct_sm_identity identity;
    struct ucs_reader      reader;
    struct ucs_log_cause   cause;
    ucs_status_t           status;

    ucsi_log_cause_begin(&cause);
    status = ucsi_socket_recv_fd(link->fd, &fd, bytes, sizeof(bytes));
    ucsi_log_cause_end(&cause);
    if ((status == UCS_ERR_WOULD_BLOCK) ||
        (status == UCS_ERR_CONNECTION_RESET)) {
        return status;
    }
    if (status == UCS_OK) {
        ucs_reader_init(&reader, bytes, sizeof(bytes));
        if ((ucs_read_le64(&reader) == UCT_SM_MAGIC) &&
            (uct_sm_segment_identify(fd, &identity) == UCS_OK)) {
            status = link_map(link, fd, &identity);
            ucsi_fd_close(&fd);
            return status;
        }
        status = UCS_ERR_UNREACHABLE;
    }
    ucsi_fd_close(&fd);
    ucs_error("sm: process %d answered with something that cannot be used as "
              "its memory: %s",
              (int)peer->address.pid, ucsi_log_cause_text(&cause, status));
    uct_sm_peer_break(
        peer, (status == UCS_ERR_EXCEEDS_LIMIT) ? status : UCS_ERR_UNREACHABLE);
    return status;
}

/* Read one packet. @return UCS_OK; UCS_ERR_WOULD_BLOCK: none waits; another
 * one: hang up. */
static ucs_status_t link_read(struct uct_sm_iface *iface,
                              struct uct_sm_link  *link)
{
    uint8_t bytes[SOCKET_PACKET_BYTES];
    ssize_t length;

    if ((link->stage == UCT_SM_LINK_WELCOME) && (link->peer != NULL)) {
        return link_welcomed(link);
    }
    length = recv(link->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (length <= 0) {
        return ((length < 0) && ((errno == EAGAIN) || (errno == EINTR)))
                   ? UCS_ERR_WOULD_BLOCK
                   : UCS_ERR_CONNECTION_RESET;
    }
    if (link->stage == UCT_SM_LINK_HELLO) {
        return link_welcome(iface, link, bytes, (size_t)length);
    }
    return UCS_OK; /* a wake-up: progress does the rest */
}

static void link_ready(struct uct_sm_iface *iface, struct uct_sm_event *event)
{
    struct uct_sm_link *link =
        ucs_container_of(event, struct uct_sm_link, event);
    ucs_status_t status;

    do {
        status = link_read(iface, link);
    } while (status == UCS_OK);
    if (status != UCS_ERR_WOULD_BLOCK) {
        link_hang_up(iface, link);
    }
}

/* Give a socket a link; on failure it is closed. */
static struct uct_sm_link *link_create(struct uct_sm_iface *iface, int fd,
                                       enum uct_sm_link_stage stage)
{
    struct uct_sm_link *link = NULL;

    if (iface->link_count < UCT_SM_LINK_COUNT_MAX) {
        link = calloc(1, sizeof(*link));
    }
    if (link == NULL) {
        (void)close(fd);
        return NULL;
    }
    link->event.ready = link_ready;
    link->fd          = fd;
    link->stage       = stage;
    ucs_list_add_tail(&iface->links, &link->link);
    ++iface->link_count;
    if (ucsi_event_set_add(&iface->events, fd, UCS_EVENT_READ, &link->event) !=
        UCS_OK) {
        link_destroy(iface, link);
        return NULL;
    }
    return link;
}

/* ---- The listener ---- */

static void listener_ready(struct uct_sm_iface *iface,
                           struct uct_sm_event *event)
{
    uint32_t uid = 0;
    int      fd;

    (void)event;
    while (ucsi_socket_accept(iface->listener, &fd, NULL) == UCS_OK) {
        if (socket_is_ours(fd, &uid)) {
            (void)link_create(iface, fd, UCT_SM_LINK_HELLO);
            continue;
        }
        ucs_warn_limited("sm: user %u connected to our socket; refused",
                         (unsigned)uid);
        (void)close(fd);
    }
}

/* A socket that listens. @return its status, with nothing open. */
static ucs_status_t listener_open(const struct uct_sm_iface *iface, int *fd_p)
{
    struct ucs_sockaddr name = socket_name(iface->address.segment_id);
    ucs_status_t status      = ucsi_socket_open(AF_UNIX, SOCK_SEQPACKET, fd_p);

    if (status == UCS_OK) {
        status = ucsi_socket_bind(*fd_p, &name);
    }
    if (status == UCS_OK) {
        status = ucsi_socket_listen(*fd_p, SOCKET_BACKLOG);
    }
    if (status != UCS_OK) {
        ucsi_fd_close(fd_p);
    }
    return status;
}

bool uct_sm_socket_listen(struct uct_sm_iface *iface)
{
    struct ucs_log_cause cause;
    ucs_status_t         status;

    iface->listener = -1;
    ucsi_log_cause_begin(&cause);
    status = listener_open(iface, &iface->listener);
    ucsi_log_cause_end(&cause);
    if (status != UCS_OK) {
        ucs_debug("sm: no socket to hand our memory out: %s",
                  ucsi_log_cause_text(&cause, status));
        return false;
    }
    iface->listener_event.ready = listener_ready;
    if (ucsi_event_set_add(&iface->events, iface->listener, UCS_EVENT_READ,
                           &iface->listener_event) != UCS_OK) {
        ucsi_fd_close(&iface->listener);
        return false;
    }
    return true;
}

void uct_sm_socket_cleanup(struct uct_sm_iface *iface)
{
    while (!ucs_list_is_empty(&iface->links)) {
        link_destroy(iface,
                     ucs_list_first(&iface->links, struct uct_sm_link, link));
    }
    ucsi_fd_close(&iface->listener);
}

/* ---- The connector ---- */

static ucs_status_t socket_send_hello(const struct uct_sm_peer *peer, int fd)
{
    uint8_t           packet[SOCKET_HELLO_BYTES];
    struct ucs_writer writer;

    ucs_writer_init(&writer, packet, sizeof(packet));
    ucs_write_le64(&writer, UCT_SM_MAGIC);
    ucs_write_le32(&writer, UCT_SM_LAYOUT_VERSION);
    ucs_write_le64(&writer, peer->iface->address.segment_id);
    ucs_write_le64(&writer, peer->address.segment_id);
    return ucsi_socket_send_all(fd, packet, sizeof(packet), 0);
}

/* Connect, check, say hello. @return its status, with the reason. */
static ucs_status_t socket_say_hello(const struct uct_sm_peer *peer, int *fd_p)
{
    struct ucs_sockaddr name = socket_name(peer->address.segment_id);
    uint32_t            uid  = 0;
    ucs_status_t status      = ucsi_socket_open(AF_UNIX, SOCK_SEQPACKET, fd_p);

    if (status == UCS_OK) {
        status = ucsi_socket_connect(*fd_p, &name);
    }
    if ((status == UCS_OK) && !socket_is_ours(*fd_p, &uid)) {
        ucs_error("the other end belongs to user %u", (unsigned)uid);
        status = UCS_ERR_REJECTED;
    }
    if (status == UCS_OK) {
        status = socket_send_hello(peer, *fd_p);
    }
    if (status != UCS_OK) {
        ucsi_fd_close(fd_p);
    }
    return status;
}

ucs_status_t uct_sm_socket_connect(struct uct_sm_peer *peer, char *reason)
{
    struct ucs_log_cause cause;
    ucs_status_t         status;
    int                  fd = -1;

    ucsi_log_cause_begin(&cause);
    status = socket_say_hello(peer, &fd);
    ucsi_log_cause_end(&cause);
    if (status != UCS_OK) {
        ucti_reason(reason, "%s", ucsi_log_cause_text(&cause, status));
        /* WOULD_BLOCK: so many connect to it that the queue is full. */
        return (status == UCS_ERR_WOULD_BLOCK) ? status : UCS_ERR_UNREACHABLE;
    }
    peer->socket = link_create(peer->iface, fd, UCT_SM_LINK_WELCOME);
    if (peer->socket == NULL) {
        ucti_reason(reason, "no memory or descriptor for it");
        return UCS_ERR_NO_MEMORY;
    }
    peer->socket->peer       = peer;
    peer->socket->segment_id = peer->address.segment_id;
    peer->state              = UCT_SM_PEER_WAITING;
    ++peer->iface->waiting_count;
    return UCS_OK;
}

void uct_sm_socket_detach(struct uct_sm_peer *peer)
{
    if (peer->socket != NULL) {
        link_destroy(peer->iface, peer->socket);
        peer->socket = NULL;
    }
}

/* ---- Users of a socket ---- */

struct uct_sm_link *uct_sm_socket_get(struct uct_sm_iface *iface,
                                      uint64_t             segment_id)
{
    struct uct_sm_link *link;

    ucs_list_for_each (link, &iface->links, link) {
        if ((link->peer == NULL) && (link->stage == UCT_SM_LINK_OPEN) &&
            (link->segment_id == segment_id)) {
            ++link->use_count;
            return link;
        }
    }
    return NULL;
}

void uct_sm_socket_put(struct uct_sm_iface *iface, struct uct_sm_link *link)
{
    if ((--link->use_count == 0) && link->is_hung_up) {
        link_destroy(iface, link);
    }
}

void uct_sm_socket_wake(struct uct_sm_link *link)
{
    /* A full socket wakes already; one that is hung up needs no more. */
    if (link->fd >= 0) {
        (void)send(link->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}
