/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_cma.c - see sm_cma.h. */
#include "uct/sm/sm_cma.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ucs/log.h"
#include "uct/api/uct_def.h"
#include "uct/base/md.h"
#include "uct/sm/sm_wire.h"

/* The kernel looks at the process only when there is something to copy. */
uint8_t uct_sm_cma_calls(char *reason)
{
    uint8_t rights = 0;

    if (process_vm_writev(getpid(), NULL, 0, NULL, 0, 0) == 0) {
        rights |= UCT_RIGHT_PUT;
    } else {
        ucti_reason(reason,
                    "process_vm_writev: %s; the kernel lacks "
                    "CONFIG_CROSS_MEMORY_ATTACH or a container's seccomp "
                    "filter forbids it",
                    strerror(errno));
    }
    if (process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == 0) {
        rights |= UCT_RIGHT_GET;
    } else {
        ucti_reason(reason,
                    "process_vm_readv: %s; the kernel lacks "
                    "CONFIG_CROSS_MEMORY_ATTACH or a container's seccomp "
                    "filter forbids it",
                    strerror(errno));
    }
    return rights;
}

/* What an error number of either call means. */
static ucs_status_t cma_status(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
    case ENOSYS:
        return UCS_ERR_UNSUPPORTED;
    case ESRCH:
        return UCS_ERR_CONNECTION_RESET;
    case EFAULT:
        return UCS_ERR_INVALID_ADDR;
    case ENOMEM:
        return UCS_ERR_NO_MEMORY;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

ucs_status_t uct_sm_cma_identify(const struct uct_sm_remote *remote)
{
    uint64_t     words[2] = {0, 0}; /* magic, segment_id */
    struct iovec local    = {.iov_base = words, .iov_len = sizeof(words)};
    struct iovec there    = {.iov_len = sizeof(words)};
    ucs_status_t status;

    _Static_assert(offsetof(struct uct_sm_identity, segment_id) == 8,
                   "the id lies behind the magic number");
    there.iov_base = (void *)(uintptr_t)remote->segment_address;
    if (process_vm_readv(remote->pid, &local, 1, &there, 1, 0) < 0) {
        status = cma_status(errno);
        /* Nothing is mapped there: not the process that it was. */
        return (status == UCS_ERR_UNSUPPORTED) ? status
                                               : UCS_ERR_CONNECTION_RESET;
    }
    return ((words[0] == UCT_SM_MAGIC) && (words[1] == remote->segment_id))
               ? UCS_OK
               : UCS_ERR_CONNECTION_RESET;
}

/* The value of /proc/sys/kernel/yama/ptrace_scope; '0' without yama. */
static char cma_yama_scope(void)
{
    int  fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    char scope = '0';

    if (fd >= 0) {
        if (read(fd, &scope, 1) != 1) {
            scope = '0';
        }
        (void)close(fd);
    }
    return scope;
}

void uct_sm_cma_reason(int32_t pid, int error, char *reason)
{
    char        scope = cma_yama_scope();
    const char *hint  = "not the same user, not dumpable, or a seccomp filter";

    if (error == ENOSYS) {
        hint = "the kernel lacks CONFIG_CROSS_MEMORY_ATTACH";
    } else if (scope == '1') {
        hint = "yama/ptrace_scope is 1: UCX_SM_CMA_PTRACER=y in that process";
    } else if (scope > '1') {
        hint = "yama/ptrace_scope is above 1: the administrator forbids it";
    }
    ucti_reason(reason, "the memory of process %d: %s; %s", (int)pid,
                strerror(error), hint);
}

/* Step over what was copied. */
static void cma_advance(struct uct_sm_pieces *pieces, size_t bytes)
{
    while (bytes > 0) {
        struct iovec *piece = pieces->next;
        size_t        part  = ucs_min(bytes, piece->iov_len);

        piece->iov_base = (char *)piece->iov_base + part;
        piece->iov_len -= part;
        bytes -= part;
        if (piece->iov_len == 0) {
            ++pieces->next;
            --pieces->count;
        }
    }
}

static size_t cma_bytes(const struct uct_sm_pieces *pieces)
{
    size_t   bytes = 0;
    unsigned index;

    for (index = 0; index < pieces->count; ++index) {
        bytes += pieces->next[index].iov_len;
    }
    return bytes;
}

static ssize_t cma_call(const struct uct_sm_transfer *transfer)
{
    const struct uct_sm_pieces *local  = &transfer->local;
    const struct uct_sm_pieces *remote = &transfer->remote;

    return transfer->is_put
               ? process_vm_writev(transfer->pid, local->next, local->count,
                                   remote->next, remote->count, 0)
               : process_vm_readv(transfer->pid, local->next, local->count,
                                  remote->next, remote->count, 0);
}

ucs_status_t uct_sm_cma_copy(struct uct_sm_transfer *transfer)
{
    size_t       left = cma_bytes(&transfer->local);
    ucs_status_t status;
    ssize_t      bytes;

    while (left > 0) {
        bytes = cma_call(transfer);
        if (ucs_likely((bytes > 0) && ((size_t)bytes == left))) {
            return UCS_OK;
        }
        if (bytes <= 0) {
            status = (bytes < 0) ? cma_status(errno) : UCS_ERR_IO_ERROR;
            if (status == UCS_ERR_IO_ERROR) {
                ucs_error("sm: %zu bytes %s process %d: %m", left,
                          transfer->is_put ? "to" : "from", (int)transfer->pid);
            }
            return status;
        }
        /* Part of it: the next call says why, or goes on. */
        cma_advance(&transfer->local, (size_t)bytes);
        cma_advance(&transfer->remote, (size_t)bytes);
        left -= (size_t)bytes;
    }
    return UCS_OK;
}
