/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_options.h - the settings, docs/transports/sm.md. */
#ifndef UCT_SM_OPTIONS_H_
#define UCT_SM_OPTIONS_H_

#include "ucs/config.h"

enum uct_sm_attach {
    UCT_SM_ATTACH_AUTO,
    UCT_SM_ATTACH_PROC,
    UCT_SM_ATTACH_SOCKET,
};

/* attach  enum uct_sm_attach */
struct uct_sm_options {
    struct ucs_config_base base;
    size_t                 chunk_bytes;
    unsigned               chunk_count;
    unsigned               poll_channels;
    int                    attach;
    uint64_t               chunk_Bps; /* UCS_UNITS_AUTO: measured */
    uint64_t               cma_Bps;   /* the same */
    bool                   cma;
    bool                   cma_ptracer;
};

extern const struct ucs_config_table uct_sm_config_table;

#endif
