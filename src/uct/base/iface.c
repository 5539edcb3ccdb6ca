/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/iface.c - interfaces: checks at the door, the table of handlers. */
#include "uct/base/iface.h"

#include "uct/api/uct.h"

enum {
    /* So that a debugger kills no job: architecture.md section 3, Failure. */
    IFACE_FAILURE_BOUND_S = 60,
};

/* Stands where nobody receives. */
static ucs_status_t iface_drop_am(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    struct uct_iface *iface = (struct uct_iface *)arg;

    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    ++iface->am_dropped_count;
    return UCS_OK;
}

void ucti_iface_init(struct uct_iface *iface, struct uct_md *md,
                     const struct uct_iface_params *params)
{
    unsigned am_id;

    iface->transport        = md->transport;
    iface->md               = md;
    iface->pending_turn     = NULL;
    iface->am_dropped_count = 0;
    iface->ep_count         = 0;
    iface->claims           = (struct uct_claims){0};
    iface->params           = *params;
    ucs_list_init(&iface->pending);
    if (iface->params.failure_bound_ns == 0) {
        iface->params.failure_bound_ns = IFACE_FAILURE_BOUND_S * 1000000000ull;
    }
    for (am_id = 0; am_id < UCT_AM_ID_COUNT; ++am_id) {
        ucti_iface_set_am(iface, (uint8_t)am_id, NULL, NULL);
    }
}

void ucti_iface_set_am(struct uct_iface *iface, uint8_t am_id, uct_am_fn fn,
                       void *arg)
{
    ucs_check(am_id < UCT_AM_ID_COUNT);
    iface->am[am_id].fn  = (fn != NULL) ? fn : iface_drop_am;
    iface->am[am_id].arg = (fn != NULL) ? arg : iface;
}

ucs_status_t ucti_iface_open(struct uct_md                 *md,
                             const struct uct_iface_params *params,
                             struct uct_iface             **iface_p)
{
    struct uct_iface *iface;
    ucs_status_t      status;

    if ((md == NULL) || (params == NULL) || (iface_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->wakeup && (md->transport->arm == NULL)) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = md->transport->iface_open(md, params, &iface);
    if (status == UCS_OK) {
        ucs_assert((iface->transport == md->transport) && (iface->md == md));
        *iface_p = iface;
    }
    return status;
}

void ucti_iface_close(struct uct_iface *iface)
{
    ucs_check(iface->ep_count == 0);
    iface->transport->iface_close(iface);
}
