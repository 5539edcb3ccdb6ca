/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/self_stage.h - one interface of self with one endpoint, for the
 * tests of self's files. What self shares with all transports is in
 * conform_*. */
#ifndef TEST_UCT_SELF_STAGE_H_
#define TEST_UCT_SELF_STAGE_H_

#include <stdlib.h>
#include <string.h>

#include "uct/api/uct.h"
#include "uct/self/self.h"
#include "uct/suites.h"

enum { AM_ID = 5 };

static struct uct_md    *md;
static struct uct_iface *iface;
static struct uct_ep    *ep;
static unsigned          ended;
static unsigned          pending_calls;

static inline void on_source_end(void *arg, struct uct_source *source,
                                 ucs_status_t status)
{
    (void)arg;
    (void)source;
    ck_assert_int_eq(status, UCS_OK);
    ++ended;
}

static inline void on_pending(struct uct_ep *waiting)
{
    (void)waiting;
    ++pending_calls;
}

static unsigned received;

static inline ucs_status_t count_message(void *arg, struct uct_source *source,
                                         void *data, size_t length,
                                         unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    ++received;
    return UCS_OK;
}

static inline void create_ep(struct uct_ep **ep_p)
{
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {.address       = address,
                                   .address_bytes = SELF_ADDRESS_BYTES,
                                   .pending       = on_pending};

    iface->transport->iface_address(iface, address);
    ck_assert_int_eq(ucti_ep_create(iface, &params, ep_p), UCS_OK);
}

static inline void open_with(const void *config)
{
    const struct uct_transport   *self = ucti_transports()[0];
    struct uct_device             device;
    unsigned                      count  = 1;
    const struct uct_iface_params params = {
        .source_end = on_source_end, .config = config, .wakeup = true};

    self->devices(NULL, &device, &count, NULL);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(ucti_md_open(&device, &md), UCS_OK);
    ck_assert_int_eq(ucti_iface_open(md, &params, &iface), UCS_OK);
    create_ep(&ep);
}

static inline void setup(const struct test_param *param)
{
    (void)param;
    open_with(NULL);
}

static inline void teardown(const struct test_param *param)
{
    (void)param;
    if (ep != NULL) {
        ucti_ep_destroy(ep);
    }
    ucti_iface_close(iface);
    ucti_md_close(md);
}

#endif
