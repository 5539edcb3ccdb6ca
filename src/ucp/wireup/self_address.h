/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/self_address.h - the address of a worker of this process. */
#ifndef UCP_WIREUP_SELF_ADDRESS_H_
#define UCP_WIREUP_SELF_ADDRESS_H_

#include "ucp/core/worker.h"

/* Write it.
 * @param net_only  Leave out what reaches only this host.
 * @param bytes     [size_bytes], or NULL: only count.
 * @return its length; 0 when it does not fit. */
size_t ucp_worker_address_encode(struct ucp_worker *worker, bool net_only,
                                 uint8_t *bytes, size_t size_bytes);

#endif
