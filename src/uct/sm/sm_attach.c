/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_attach.c - get at a peer's segment, without its help where the
 * kernel lets us: the descriptor's link in /proc leads to the memfd.
 *
 *   same PID namespace, same user   open /proc/<pid>/fd/<fd>
 *   else, same network namespace    ask over its socket (sm_socket.c)
 *   else                            unreachable, and we say why */
#include "uct/sm/sm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/log.h"
#include "uct/base/md.h"
#include "uct/sm/sm_socket.h"

/* Open what `path` leads to, if it is a plain file: not a device or a pipe
 * whose opening would do something. */
static int attach_open_file(const char *path)
{
    char        again[64];
    struct stat status;
    int         handle, fd, error;

    handle = open(path, O_PATH | O_CLOEXEC);
    if (handle < 0) {
        return -1;
    }
    if ((fstat(handle, &status) != 0) || !S_ISREG(status.st_mode)) {
        (void)close(handle);
        errno = ENOENT; /* the number means something else now */
        return -1;
    }
    (void)snprintf(again, sizeof(again), "/proc/self/fd/%d", handle);
    fd    = open(again, O_RDWR | O_CLOEXEC);
    error = errno;
    (void)close(handle);
    errno = error;
    return fd;
}

/* Open a segment through /proc.
 * @return UCS_OK: *fd_p is open and identified. UCS_ERR_UNREACHABLE with the
 *         reason; UCS_ERR_EXCEEDS_LIMIT: out of descriptors. */
static ucs_status_t attach_proc(const struct uct_sm_iface   *iface,
                                const struct uct_sm_address *address, int *fd_p,
                                struct uct_sm_identity *identity_p,
                                char                   *reason)
{
    char path[64];
    int  fd;

    if (address->segment_id == iface->address.segment_id) {
        fd = fcntl(iface->segment.fd, F_DUPFD_CLOEXEC, 0);
        (void)snprintf(path, sizeof(path), "descriptor %d", iface->segment.fd);
    } else {
        (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)address->pid,
                       (int)address->fd);
        fd = attach_open_file(path);
    }
    if (fd < 0) {
        ucti_reason(reason, "cannot open %s: %s%s", path, strerror(errno),
                    ((errno == EMFILE) || (errno == ENFILE))
                        ? " (see `ulimit -n`)"
                        : "");
        return ((errno == EMFILE) || (errno == ENFILE)) ? UCS_ERR_EXCEEDS_LIMIT
                                                        : UCS_ERR_UNREACHABLE;
    }
    if ((uct_sm_segment_identify(fd, identity_p) != UCS_OK) ||
        (identity_p->segment_id != address->segment_id)) {
        ucti_reason(reason,
                    "%s is not the segment of that address: the "
                    "process has ended or has another version",
                    path);
        (void)close(fd);
        return UCS_ERR_UNREACHABLE;
    }
    *fd_p = fd;
    return UCS_OK;
}

/* Which ways are open at all? */
static bool attach_may_proc(const struct uct_sm_iface   *iface,
                            const struct uct_sm_address *address, char *reason)
{
    if (!(address->flags & UCT_SM_ADDRESS_PROC) ||
        (iface->options.attach == UCT_SM_ATTACH_SOCKET)) {
        ucti_reason(reason, "UCX_SM_ATTACH=socket");
        return false;
    }
    if ((address->pid_namespace != iface->address.pid_namespace) ||
        (address->pid_namespace == 0)) {
        ucti_reason(reason, "process %d is in another PID namespace",
                    (int)address->pid);
        return false;
    }
    return true;
}

static bool attach_may_socket(const struct uct_sm_iface   *iface,
                              const struct uct_sm_address *address,
                              char                        *reason)
{
    if (!(address->flags & UCT_SM_ADDRESS_SOCKET) ||
        (iface->options.attach == UCT_SM_ATTACH_PROC)) {
        ucti_reason(reason, "UCX_SM_ATTACH=proc");
        return false;
    }
    if (address->net_namespace != iface->address.net_namespace) {
        ucti_reason(reason, "it is in another network namespace");
        return false;
    }
    return true;
}

/* The uncached half of reach. */
static ucs_status_t attach_probe(const struct uct_sm_iface   *iface,
                                 const struct uct_sm_address *address,
                                 char                        *reason)
{
    char                   proc_reason[UCT_REASON_BYTES_MAX]   = "";
    char                   socket_reason[UCT_REASON_BYTES_MAX] = "";
    struct uct_sm_identity identity;
    int                    fd;

    if (address->host_id != iface->address.host_id) {
        ucti_reason(reason, "process %d is on another host", (int)address->pid);
        return UCS_ERR_UNREACHABLE;
    }
    if (attach_may_proc(iface, address, proc_reason) &&
        (attach_proc(iface, address, &fd, &identity, proc_reason) == UCS_OK)) {
        (void)close(fd);
        return UCS_OK;
    }
    if (attach_may_socket(iface, address, socket_reason)) {
        if (address->uid == iface->address.uid) {
            return UCS_OK;
        }
        ucti_reason(socket_reason, "its user is %u, ours %u",
                    (unsigned)address->uid, (unsigned)iface->address.uid);
    }
    ucti_reason(reason, "not through /proc: %.80s; not over a socket: %.60s",
                proc_reason, socket_reason);
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t uct_sm_reach(struct uct_iface *base, const uint8_t *bytes,
                          size_t size_bytes, char *reason)
{
    struct uct_sm_iface   *iface = uct_sm_iface_of(base);
    struct uct_sm_address  address;
    struct uct_sm_reached *reached;
    ucs_status_t           status;

    if (uct_sm_address_decode(bytes, size_bytes, &address) != UCS_OK) {
        ucti_reason(reason, "not an address of version %d",
                    (int)UCT_SM_ADDRESS_VERSION);
        return UCS_ERR_INVALID_ADDR;
    }
    reached = &iface->reached[address.segment_id % UCT_SM_REACHED_COUNT];
    if ((reached->segment_id == address.segment_id) &&
        (reached->pid == address.pid) && (reached->fd == address.fd)) {
        return UCS_OK;
    }
    status = attach_probe(iface, &address, reason);
    if (status == UCS_OK) {
        reached->segment_id = address.segment_id;
        reached->pid        = address.pid;
        reached->fd         = address.fd;
    }
    return status;
}

/* Attach through /proc, and watch the process. */
static ucs_status_t attach_by_proc(struct uct_sm_peer *peer, char *reason)
{
    struct uct_sm_iface   *iface   = peer->iface;
    bool                   is_dead = false;
    struct uct_sm_identity identity;
    struct ucs_log_cause   cause;
    ucs_status_t           status;
    int                    fd;

    if (peer->address.pid != iface->address.pid) {
        peer->watch = uct_sm_watch_get(iface, peer->address.pid,
                                       peer->address.process_start, &is_dead);
        if (peer->watch == NULL) {
            ucti_reason(reason,
                        is_dead ? "process %d has ended"
                                : "process %d cannot be watched",
                        (int)peer->address.pid);
            return is_dead ? UCS_ERR_CONNECTION_RESET : UCS_ERR_EXCEEDS_LIMIT;
        }
    }
    status = attach_proc(iface, &peer->address, &fd, &identity, reason);
    if (status == UCS_OK) {
        ucsi_log_cause_begin(&cause);
        status = uct_sm_peer_map(peer, fd, &identity);
        ucsi_log_cause_end(&cause);
        (void)close(fd);
        ucti_reason(reason, "%s", ucsi_log_cause_text(&cause, status));
    }
    if ((status != UCS_OK) && (peer->watch != NULL)) {
        uct_sm_watch_put(iface, peer->watch);
        peer->watch = NULL;
    }
    return status;
}

ucs_status_t uct_sm_attach(struct uct_sm_peer *peer)
{
    char         reason[UCT_REASON_BYTES_MAX]        = "";
    char         socket_reason[UCT_REASON_BYTES_MAX] = "";
    ucs_status_t status                              = UCS_ERR_UNREACHABLE;

    if (attach_may_proc(peer->iface, &peer->address, reason)) {
        status = attach_by_proc(peer, reason);
        if (status == UCS_OK) {
            return UCS_OK;
        }
    }
    if ((status == UCS_ERR_UNREACHABLE) &&
        attach_may_socket(peer->iface, &peer->address, socket_reason)) {
        status = uct_sm_socket_connect(peer, socket_reason);
        if ((status == UCS_OK) || (status == UCS_ERR_WOULD_BLOCK)) {
            return UCS_ERR_WOULD_BLOCK;
        }
    }
    ucs_error("sm: the memory of process %d cannot be used: %s%s%s",
              (int)peer->address.pid, reason,
              (socket_reason[0] != '\0') ? "; socket: " : "", socket_reason);
    uct_sm_peer_break(peer, status);
    return status;
}
