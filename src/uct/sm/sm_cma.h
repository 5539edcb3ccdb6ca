/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_cma.h - the two system calls that copy between processes
 * (process_vm_readv, process_vm_writev), what they say when they will not,
 * and the only place that makes them.
 *
 * Who may is decided by the kernel for each pair: the rule of ptrace
 * (PTRACE_MODE_ATTACH_REALCREDS), yama, a seccomp filter. */
#ifndef UCT_SM_CMA_H_
#define UCT_SM_CMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

/* Another process, by what proves that it is the right one.
 * pid              in our PID namespace
 * segment_address  where it has its segment
 * segment_id       what lies there, behind the magic number */
struct uct_sm_remote {
    int32_t  pid;
    uint64_t segment_address;
    uint64_t segment_id;
};

/* One side of a copy: pieces, used up as it goes on. */
struct uct_sm_pieces {
    struct iovec *next; /* [count], not NULL where length > 0 */
    unsigned      count;
};

/* One copy; both sides are of one length. */
struct uct_sm_transfer {
    bool                 is_put;
    int32_t              pid;
    struct uct_sm_pieces local;
    struct uct_sm_pieces remote;
};

/* Can this process make these calls at all? Nobody is touched.
 * @param reason  [UCT_REASON_BYTES_MAX] set when one is missing.
 * @return enum uct_right: UCT_RIGHT_PUT, UCT_RIGHT_GET, both or none. */
uint8_t uct_sm_cma_calls(char *reason);

/* Read the peer's segment id from its memory: may we, and is it the peer?
 * @return UCS_OK; UCS_ERR_UNSUPPORTED: we may not, errno says why;
 *         UCS_ERR_CONNECTION_RESET: it is not there, or another one is. */
UCS_MUST_USE ucs_status_t
uct_sm_cma_identify(const struct uct_sm_remote *remote);

/* Write a sentence that says why `identify` or `copy` was refused and what
 * would change it. */
void uct_sm_cma_reason(int32_t pid, int error, char *reason);

/* Copy all of it.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED: we may not (any more), errno is set;
 *         UCS_ERR_CONNECTION_RESET: the process is gone;
 *         UCS_ERR_INVALID_ADDR: a page is not there, on either side;
 *         UCS_ERR_NO_MEMORY; UCS_ERR_IO_ERROR: anything else, logged. */
UCS_MUST_USE ucs_status_t uct_sm_cma_copy(struct uct_sm_transfer *transfer);

#endif
