/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/mock.h - an interface and endpoints without a transport behind
 * them, to test base alone. */
#ifndef TEST_UCT_MOCK_H_
#define TEST_UCT_MOCK_H_

#include <string.h>

#include "uct/api/transport.h"
#include "uct/base/ep.h"
#include "uct/base/iface.h"
#include "uct/base/pending.h"

struct mock {
    struct uct_transport transport;
    struct uct_md        md;
    struct uct_iface     iface;
};

static inline void mock_init(struct mock *mock)
{
    const struct uct_iface_params params = {0};

    memset(mock, 0, sizeof(*mock));
    mock->transport.name = "mock";
    mock->md.transport   = &mock->transport;
    ucti_iface_init(&mock->iface, &mock->md, &params);
}

static inline void mock_cleanup(struct mock *mock)
{
    uct_iface_cleanup(&mock->iface);
}

static inline void mock_ep_init(struct mock *mock, struct uct_ep *ep,
                                uct_pending_fn pending, uct_error_fn error,
                                void *user)
{
    const struct uct_ep_params params = {
        .pending = pending, .error = error, .user = user};

    ucti_ep_init(ep, &mock->iface, &params);
}

#endif
