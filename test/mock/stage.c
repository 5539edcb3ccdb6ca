/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c - two hosts of the mock. */
#include "mock/stage.h"

#include <stdlib.h>
#include <string.h>

struct stage *on_stage;

static ucs_status_t on_message(void *arg, struct uct_source *source, void *data,
                               size_t length, unsigned flags)
{
    struct stage *stage = arg;

    (void)source;
    (void)flags;
    ck_assert_uint_ge(length, 1);
    strncat(stage->text, data, 1);
    return UCS_OK;
}

static void on_end(void *arg, struct uct_source *source, ucs_status_t status)
{
    (void)source;
    (void)status;
    ++((struct stage *)arg)->ended;
}

static void on_error(struct uct_ep *ep, ucs_status_t status)
{
    (void)status;
    ++((struct stage *)ep->user)->errors;
}

static void on_pending(struct uct_ep *ep)
{
    ++((struct stage *)ep->user)->pending;
}

void stage_on_done(struct uct_req *req)
{
    ++on_stage->done;
    on_stage->done_status = req->status;
}

static void stage_connect(struct stage *stage)
{
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {.address       = address,
                                   .address_bytes = 24,
                                   .pending       = on_pending,
                                   .error         = on_error,
                                   .user          = stage};

    stage->tl->iface_address(stage->ifaces[1], address);
    ck_assert_int_eq(ucti_ep_create(stage->ifaces[0], &params, &stage->ep),
                     UCS_OK);
}

void stage_expose(struct stage *stage)
{
    uint8_t bytes[UCT_RKEY_BYTES_MAX];
    size_t  length;

    ck_assert_int_eq(stage->tl->mem_register(stage->mds[1], stage->there,
                                             STAGE_BYTES, UCT_ACCESS_ALL,
                                             &stage->remote),
                     UCS_OK);
    ck_assert_int_eq(stage->tl->mem_register(stage->mds[0], stage->here,
                                             STAGE_BYTES, UCT_ACCESS_LOCAL,
                                             &stage->local),
                     UCS_OK);
    length = stage->tl->rkey_pack(stage->remote, bytes);
    ck_assert_int_eq(
        stage->tl->rkey_unpack(stage->mds[0], bytes, length, &stage->rkey),
        UCS_OK);
}

void stage_open(struct stage *stage)
{
    const struct uct_iface_params      params = {.source_end     = on_end,
                                                 .source_end_arg = stage};
    const struct uct_transport *const *next;
    struct uct_device                  device;
    unsigned                           count = 1;
    char                               reason[UCT_REASON_BYTES_MAX];

    (void)setenv("UCX_MODULE_DIR", MOCK_MODULE_DIR, 1);
    memset(stage, 0, sizeof(*stage));
    on_stage    = stage;
    stage->mock = mock_open(MOCK_MODULE_DIR);
    ck_assert_ptr_nonnull(stage->mock);
    for (next = ucti_transports(); *next != NULL; ++next) {
        stage->tl = (strcmp((*next)->name, "mock") == 0) ? *next : stage->tl;
    }
    ck_assert_ptr_nonnull(stage->tl);
    stage->mock->reset();
    for (int host = 0; host < 2; ++host) {
        count = 1;
        stage->tl->devices(NULL, &device, &count, reason);
        ck_assert_int_eq(ucti_md_open(&device, &stage->mds[host]), UCS_OK);
        ck_assert_int_eq(
            ucti_iface_open(stage->mds[host], &params, &stage->ifaces[host]),
            UCS_OK);
    }
    ucti_iface_set_am(stage->ifaces[1], STAGE_AM_ID, on_message, stage);
    stage_connect(stage);
    stage_expose(stage);
    stage->req.cb               = stage_on_done;
    stage->mock->setup->is_held = true;
    stage->mock->forget_events();
}

void stage_progress(struct stage *stage)
{
    for (int i = 0; i < 4; ++i) {
        (void)uct_iface_progress(stage->ifaces[0]);
        (void)uct_iface_progress(stage->ifaces[1]);
    }
}

void stage_close(struct stage *stage)
{
    stage->mock->setup->is_held = false;
    ucti_ep_destroy(stage->ep);
    stage_progress(stage);
    stage->tl->rkey_release(stage->rkey);
    stage->tl->mem_release(stage->local);
    if (stage->remote != NULL) {
        stage->tl->mem_release(stage->remote);
    }
    for (int host = 0; host < 2; ++host) {
        ucti_iface_close(stage->ifaces[host]);
        ucti_md_close(stage->mds[host]);
    }
    stage->mock->reset();
}

static size_t pack_letter(void *dest, void *arg)
{
    memcpy(dest, arg, 1);
    return 1;
}

ucs_status_t stage_send(struct stage *stage, char letter, unsigned flags)
{
    ssize_t packed =
        uct_ep_am_bcopy(stage->ep, STAGE_AM_ID, pack_letter, &letter, 1, flags);

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

ucs_status_t stage_put(struct stage *stage)
{
    const struct uct_iov    iov    = {stage->here, STAGE_BYTES, stage->local};
    const struct uct_remote remote = {(uintptr_t)stage->there, STAGE_BYTES,
                                      stage->rkey};
    const struct uct_rma    rma    = {&iov, &remote, 1, 1};

    return stage->tl->put_zcopy(stage->ep, &rma, &stage->req, 0);
}

void stage_deliver(struct stage *stage, enum mock_order order)
{
    ck_assert(stage->mock->deliver(stage->mock->next(order)));
    stage_progress(stage);
}
