/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_socket.c - hello, welcome, wake up, hang-up. */
#include "uct/sm/sm_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ucs/bytes.h"
#include "ucs/log.h"
#include "uct/base/md.h"

/*   hello:    magic 8, version 4, our segment 8, wanted segment 8
 *   welcome:  magic 8, version 4, segment 8, and one descriptor  */
enum {
    SOCKET_HELLO_BYTES   = 28,
    SOCKET_WELCOME_BYTES = 20,
    SOCKET_BACKLOG       = 4096,
};

static socklen_t socket_name(uint64_t segment_id, struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    /* The first byte 0: abstract, bound to the network namespace. */
    length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
                      "causeway-sm-%016" PRIx64, segment_id);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)length);
}

/* Is the process at the other end of our user? */
static bool socket_is_ours(int fd, uint32_t *uid_p)
{
    struct ucred credentials = {.uid = (uid_t)-1};
    socklen_t    length      = sizeof(credentials);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
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

/* Hand our memory to a connector that said hello. @return false: hang up. */
static bool link_welcome(struct uct_sm_iface *iface, struct uct_sm_link *link,
                         const uint8_t *bytes, size_t length)
{
    union {
        struct cmsghdr align;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control;
    uint8_t           packet[SOCKET_WELCOME_BYTES];
    struct iovec      iov     = {packet, sizeof(packet)};
    struct msghdr     message = {.msg_iov        = &iov,
                                 .msg_iovlen     = 1,
                                 .msg_control    = &control,
                                 .msg_controllen = sizeof(control)};
    struct ucs_reader reader;
    struct ucs_writer writer;
    struct cmsghdr   *cmsg;
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
        return false;
    }
    link->segment_id = theirs;
    ucs_writer_init(&writer, packet, sizeof(packet));
    ucs_write_le64(&writer, UCT_SM_MAGIC);
    ucs_write_le32(&writer, UCT_SM_LAYOUT_VERSION);
    ucs_write_le64(&writer, iface->address.segment_id);
    memset(&control, 0, sizeof(control));
    cmsg             = CMSG_FIRSTHDR(&message);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type  = SCM_RIGHTS;
    cmsg->cmsg_len   = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(cmsg), &iface->segment.fd, sizeof(int));
    if (sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) !=
        SOCKET_WELCOME_BYTES) {
        return false;
    }
    link->stage = UCT_SM_LINK_OPEN;
    return true;
}

/* In place of a descriptor: one came, and the kernel had no number for it. */
enum { LINK_FD_NO_ROOM = -2 };

/* What came with a welcome cannot be used. */
static void link_refuse(struct uct_sm_peer *peer, int fd)
{
    bool has_no_room = fd == LINK_FD_NO_ROOM;

    ucs_error("sm: process %d %s", (int)peer->address.pid,
              has_no_room ? "gave us its memory, and no descriptor is free "
                            "for it; see `ulimit -n`"
                          : "answered with something that is not its memory");
    uct_sm_peer_break(peer, has_no_room ? UCS_ERR_EXCEEDS_LIMIT
                                        : UCS_ERR_UNREACHABLE);
}

/* Use the memory that came with a welcome. */
static bool link_welcomed(struct uct_sm_link *link, const uint8_t *bytes,
                          size_t length, int fd)
{
    struct uct_sm_peer    *peer = link->peer;
    struct uct_sm_identity identity;
    struct ucs_reader      reader;
    ucs_status_t           status;
    uint64_t               magic;

    ucs_reader_init(&reader, bytes, length);
    magic = ucs_read_le64(&reader);
    if (!ucs_read_ok(&reader) || (magic != UCT_SM_MAGIC) || (fd < 0) ||
        (uct_sm_segment_identify(fd, &identity) != UCS_OK)) {
        link_refuse(peer, fd);
        return false;
    }
    link->stage = UCT_SM_LINK_OPEN;
    --peer->iface->waiting_count;
    status = uct_sm_peer_map(peer, fd, &identity);
    if (status != UCS_OK) {
        ++peer->iface->waiting_count; /* until the look calls peer_gone() */
        uct_sm_peer_break(peer, status);
        return false;
    }
    return true;
}

/* Receive one packet, and a descriptor if one comes with it; -1: none. */
static ssize_t link_receive(struct uct_sm_link *link, uint8_t *bytes,
                            size_t size_bytes, int *fd_p)
{
    union {
        struct cmsghdr align;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec    iov     = {bytes, size_bytes};
    struct msghdr   message = {.msg_iov        = &iov,
                               .msg_iovlen     = 1,
                               .msg_control    = &control,
                               .msg_controllen = sizeof(control)};
    struct cmsghdr *cmsg;
    ssize_t         length;

    *fd_p  = -1;
    length = recvmsg(link->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length <= 0) {
        return length;
    }
    cmsg = CMSG_FIRSTHDR(&message);
    if ((cmsg != NULL) && (cmsg->cmsg_level == SOL_SOCKET) &&
        (cmsg->cmsg_type == SCM_RIGHTS) &&
        (cmsg->cmsg_len == CMSG_LEN(sizeof(int)))) {
        memcpy(fd_p, CMSG_DATA(cmsg), sizeof(int));
    } else if ((message.msg_flags & MSG_CTRUNC) != 0) {
        *fd_p = LINK_FD_NO_ROOM;
    }
    return length;
}

/* Handle one packet. @return false: hang up. */
static bool link_packet(struct uct_sm_iface *iface, struct uct_sm_link *link,
                        const uint8_t *bytes, size_t length, int fd)
{
    switch (link->stage) {
    case UCT_SM_LINK_HELLO:
        return link_welcome(iface, link, bytes, length);
    case UCT_SM_LINK_WELCOME:
        return (link->peer == NULL) || link_welcomed(link, bytes, length, fd);
    case UCT_SM_LINK_OPEN:
        break; /* a wake-up: progress does the rest */
    }
    return true;
}

static void link_ready(struct uct_sm_iface *iface, struct uct_sm_event *event)
{
    struct uct_sm_link *link =
        ucs_container_of(event, struct uct_sm_link, event);
    uint8_t bytes[64];
    bool    goes_on = true;
    ssize_t length;
    int     fd;

    while (goes_on) {
        length = link_receive(link, bytes, sizeof(bytes), &fd);
        if ((length < 0) && ((errno == EAGAIN) || (errno == EINTR))) {
            return;
        }
        goes_on =
            (length > 0) && link_packet(iface, link, bytes, (size_t)length, fd);
        ucsi_fd_close(&fd);
    }
    link_hang_up(iface, link);
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
    while ((fd = accept4(iface->listener, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (!socket_is_ours(fd, &uid)) {
            ucs_warn_limited("sm: user %u connected to our socket; refused",
                             (unsigned)uid);
            (void)close(fd);
            continue;
        }
        (void)link_create(iface, fd, UCT_SM_LINK_HELLO);
    }
    if ((errno == EMFILE) || (errno == ENFILE)) {
        ucs_error_limited("sm: accept: %m; a process waits for our memory; "
                          "see `ulimit -n`");
    }
}

bool uct_sm_socket_listen(struct uct_sm_iface *iface)
{
    struct sockaddr_un name;
    socklen_t          length = socket_name(iface->address.segment_id, &name);

    iface->listener =
        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (iface->listener < 0) {
        ucs_debug("sm: no unix socket: %m");
        return false;
    }
    if ((bind(iface->listener, (struct sockaddr *)&name, length) != 0) ||
        (listen(iface->listener, SOCKET_BACKLOG) != 0)) {
        ucs_debug("sm: cannot listen on an abstract socket: %m");
        ucsi_fd_close(&iface->listener);
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

/* Connect, check, say hello. @return the socket; -1 with the reason. */
static int socket_say_hello(const struct uct_sm_peer *peer, char *reason)
{
    uint8_t            packet[SOCKET_HELLO_BYTES];
    struct sockaddr_un name;
    struct ucs_writer  writer;
    socklen_t          length = socket_name(peer->address.segment_id, &name);
    uint32_t           uid    = 0;
    int                fd, error;

    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        ucti_reason(reason, "socket: %s", strerror(errno));
        return -1;
    }
    if (connect(fd, (struct sockaddr *)&name, length) != 0) {
        ucti_reason(reason, "connect: %s", strerror(errno));
        goto close_fd;
    }
    if (!socket_is_ours(fd, &uid)) {
        ucti_reason(reason, "the other end belongs to user %u", (unsigned)uid);
        errno = EPERM;
        goto close_fd;
    }
    ucs_writer_init(&writer, packet, sizeof(packet));
    ucs_write_le64(&writer, UCT_SM_MAGIC);
    ucs_write_le32(&writer, UCT_SM_LAYOUT_VERSION);
    ucs_write_le64(&writer, peer->iface->address.segment_id);
    ucs_write_le64(&writer, peer->address.segment_id);
    if (send(fd, packet, sizeof(packet), MSG_NOSIGNAL) !=
        (ssize_t)sizeof(packet)) {
        ucti_reason(reason, "send: %s", strerror(errno));
        goto close_fd;
    }
    return fd;

close_fd:
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

ucs_status_t uct_sm_socket_connect(struct uct_sm_peer *peer, char *reason)
{
    int fd = socket_say_hello(peer, reason);

    if (fd < 0) {
        /* So many connect to it that the queue is full: again later. */
        return (errno == EAGAIN) ? UCS_ERR_WOULD_BLOCK : UCS_ERR_UNREACHABLE;
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
