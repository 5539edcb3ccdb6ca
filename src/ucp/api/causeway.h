/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/causeway.h - what Causeway has and UCX does not. A program that
 * includes it does not run on UCX. Nothing yet; names begin with causeway_. */
#ifndef UCP_API_CAUSEWAY_H_
#define UCP_API_CAUSEWAY_H_

#include <ucp/api/ucp.h>

#define CAUSEWAY 1

#endif
