/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/ucp_version.h - the version of UCX's API that these headers have.
 * (Causeway's own version: `causeway --version` and ucp_get_version_string.) */
#ifndef UCP_VERSION_H_
#define UCP_VERSION_H_

#define UCP_VERSION_MAJOR_SHIFT 24
#define UCP_VERSION_MINOR_SHIFT 16
#define UCP_VERSION(_major, _minor)                                            \
    (((_major) << UCP_VERSION_MAJOR_SHIFT) |                                   \
     ((_minor) << UCP_VERSION_MINOR_SHIFT))

#define UCP_API_MAJOR   1
#define UCP_API_MINOR   20
#define UCP_API_VERSION UCP_VERSION(1, 20)

#endif
