/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_address.h - an interface's address: where its segment is.
 *
 *   0 version  1 flags  2..9 host  10..17 segment id  18..25 process start
 *   26..29 pid  30..33 fd  34..37 uid  38..41 PID namespace
 *   42..45 network namespace            little endian, 46 bytes
 *
 * Pure, but for uct_sm_address_self(), which asks the kernel who we are. */
#ifndef UCT_SM_ADDRESS_H_
#define UCT_SM_ADDRESS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum {
    UCT_SM_ADDRESS_VERSION = 1,
    UCT_SM_ADDRESS_BYTES   = 46,
};

enum uct_sm_address_flag {
    UCT_SM_ADDRESS_PROC   = 1 << 0, /* may be opened through /proc/<pid>/fd */
    UCT_SM_ADDRESS_SOCKET = 1 << 1, /* listens on an abstract socket */
};

/* host_id  of the running kernel: two containers of one host share it
 * pid_namespace, net_namespace  inode numbers; 0: not known */
struct uct_sm_address {
    uint8_t  flags;
    uint64_t host_id;
    uint64_t segment_id;
    uint64_t process_start; /* clock ticks since boot; 0: not known */
    int32_t  pid;
    int32_t  fd;
    uint32_t uid;
    uint32_t pid_namespace;
    uint32_t net_namespace;
};

/* Fill in what is true for this process: all but flags, segment_id, fd. */
void uct_sm_address_self(struct uct_sm_address *address);

/* When a process started, in clock ticks since boot; 0: it is not there, or
 * /proc cannot be read. pid 0: this process. */
uint64_t uct_sm_process_start(int32_t pid);

/* @param bytes  [UCT_SM_ADDRESS_BYTES]. */
void uct_sm_address_encode(const struct uct_sm_address *address,
                           uint8_t                     *bytes);

/* @return UCS_OK; UCS_ERR_INVALID_ADDR: not an address of this version. */
UCS_MUST_USE ucs_status_t uct_sm_address_decode(
    const uint8_t *bytes, size_t size_bytes, struct uct_sm_address *address_p);

#endif
