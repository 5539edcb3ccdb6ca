/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mock.c - the mock does what a test tells it to: its own wire, faults
 * and complaints. That it is a transport at all shows uct_conform. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "mock/mock.h"
#include "uct/api/uct.h"

enum { AM_ID = 3, BYTES = 1000 };

/* Two hosts with an endpoint from the first to the second.
 * text  the messages that arrived, a letter each */
struct stage {
    const struct mock_control  *mock;
    const struct uct_transport *tl;
    struct uct_md              *mds[2];
    struct uct_iface           *ifaces[2];
    struct uct_ep              *ep;
    struct uct_mem             *local;
    struct uct_mem             *remote;
    struct uct_rkey            *rkey;
    char                        text[32];
    unsigned                    ended;
    unsigned                    errors;
    unsigned                    pending;
    unsigned                    done;
    ucs_status_t                done_status;
    struct uct_req              req;
    uint8_t                     here[BYTES];
    uint8_t                     there[BYTES];
};

static struct stage *on_stage;

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

static void on_done(struct uct_req *req)
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

static void stage_expose(struct stage *stage)
{
    uint8_t bytes[UCT_RKEY_BYTES_MAX];
    size_t  length;

    ck_assert_int_eq(stage->tl->mem_register(stage->mds[1], stage->there, BYTES,
                                             UCT_ACCESS_ALL, &stage->remote),
                     UCS_OK);
    ck_assert_int_eq(stage->tl->mem_register(stage->mds[0], stage->here, BYTES,
                                             UCT_ACCESS_LOCAL, &stage->local),
                     UCS_OK);
    length = stage->tl->rkey_pack(stage->remote, bytes);
    ck_assert_int_eq(
        stage->tl->rkey_unpack(stage->mds[0], bytes, length, &stage->rkey),
        UCS_OK);
}

static void stage_open(struct stage *stage)
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
        stage->tl->devices(&device, &count, reason);
        ck_assert_int_eq(ucti_md_open(&device, &stage->mds[host]), UCS_OK);
        ck_assert_int_eq(
            ucti_iface_open(stage->mds[host], &params, &stage->ifaces[host]),
            UCS_OK);
    }
    ucti_iface_set_am(stage->ifaces[1], AM_ID, on_message, stage);
    stage_connect(stage);
    stage_expose(stage);
    stage->req.cb               = on_done;
    stage->mock->setup->is_held = true;
    stage->mock->forget_events();
}

static void stage_progress(struct stage *stage)
{
    for (int i = 0; i < 4; ++i) {
        (void)uct_iface_progress(stage->ifaces[0]);
        (void)uct_iface_progress(stage->ifaces[1]);
    }
}

static void stage_close(struct stage *stage)
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

static ucs_status_t send_letter(struct stage *stage, char letter,
                                unsigned flags)
{
    ssize_t packed =
        uct_ep_am_bcopy(stage->ep, AM_ID, pack_letter, &letter, 1, flags);

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

static ucs_status_t put_all(struct stage *stage)
{
    const struct uct_iov    iov    = {stage->here, BYTES, stage->local};
    const struct uct_remote remote = {(uintptr_t)stage->there, BYTES,
                                      stage->rkey};
    const struct uct_rma    rma    = {&iov, &remote, 1, 1};

    return stage->tl->put_zcopy(stage->ep, &rma, &stage->req, 0);
}

static void deliver_next(struct stage *stage, enum mock_order order)
{
    ck_assert(stage->mock->deliver(stage->mock->next(order)));
    stage_progress(stage);
}

/* ---- the wire ---- */

static void wire__holds_until_delivered(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(send_letter(&stage, 'a', 0), UCS_OK);
    ck_assert_int_eq(send_letter(&stage, 'b', 0), UCS_OK);
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "");
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "a");
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "ab");
    ck_assert_uint_eq(stage.mock->next(MOCK_OLDEST), 0);
    ck_assert(!stage.mock->deliver(12345678));
    stage_close(&stage);
}

static void wire__order_holds_what_must_wait(const struct test_param *param)
{
    struct stage stage;
    uint64_t     second;

    (void)param;
    stage_open(&stage);
    (void)send_letter(&stage, 'a', 0);
    (void)send_letter(&stage, 'b', 0);
    (void)send_letter(&stage, 'c', UCT_FLAG_ANY_ORDER);
    second = stage.mock->event(1)->number;
    ck_assert(stage.mock->deliver(second)); /* behind a: it must wait */
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "");
    ck_assert(stage.mock->deliver(stage.mock->event(2)->number));
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "c");
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "cab");
    stage_close(&stage);
}

static void wire__puts_before_messages(const struct test_param *param)
{
    for (int before = 0; before < 2; ++before) {
        struct stage stage;

        (void)param;
        stage_open(&stage);
        stage.mock->setup->devices[0].flags =
            before ? UCT_IFACE_PUT_BEFORE_AM : 0;
        stage.here[0] = 9;
        ck_assert_int_eq(put_all(&stage), UCS_INPROGRESS);
        (void)send_letter(&stage, 'a', 0);
        stage_progress(&stage);
        ck_assert_uint_eq(stage.done, 1); /* locally; it has not arrived */
        ck_assert_uint_eq(stage.there[0], 0);
        deliver_next(&stage, MOCK_PUTS_LAST);
        ck_assert_str_eq(stage.text, before ? "" : "a");
        ck_assert_uint_eq(stage.there[0], before ? 9 : 0);
        deliver_next(&stage, MOCK_PUTS_LAST);
        ck_assert_str_eq(stage.text, "a");
        ck_assert_uint_eq(stage.there[0], 9);
        stage_close(&stage);
    }
}

static void wire__flush_waits_for_puts(const struct test_param *param)
{
    struct stage   stage;
    struct uct_req flush = {.cb = on_done};

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(put_all(&stage), UCS_INPROGRESS);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.done, 1);
    ck_assert_int_eq(uct_ep_flush(stage.ep, &flush, 0), UCS_INPROGRESS);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.done, 1);
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_uint_eq(stage.done, 2);
    ck_assert_int_eq(uct_ep_flush(stage.ep, &flush, 0), UCS_OK);
    stage_close(&stage);
}

static void wire__says_what_was_never_sent(const struct test_param *param)
{
    struct stage stage;
    uint64_t     channel;

    (void)param;
    stage_open(&stage);
    (void)send_letter(&stage, 'a', 0);
    channel = stage.mock->event(0)->channel;
    ck_assert(stage.mock->inject(channel, 1, AM_ID, "x", 1));
    ck_assert(stage.mock->inject(0, 1, AM_ID, "y", 1));
    ck_assert(!stage.mock->inject(channel + 1000, 1, AM_ID, "z", 1));
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "xy");
    ck_assert_uint_eq(stage.ended, 1); /* the stranger */
    stage_close(&stage);
}

/* ---- what goes wrong ---- */

static void fault__hits_the_nth(const struct test_param *param)
{
    const struct mock_fault fault = {.op     = MOCK_AM_BCOPY,
                                     .host   = 0,
                                     .first  = 2,
                                     .count  = 1,
                                     .status = UCS_ERR_WOULD_BLOCK};
    struct stage            stage;
    unsigned                id;

    (void)param;
    stage_open(&stage);
    id = stage.mock->fault(&fault);
    ck_assert_int_eq(send_letter(&stage, 'a', 0), UCS_OK);
    ck_assert_uint_eq(stage.mock->fault_hits(id), 0);
    ck_assert_int_eq(send_letter(&stage, 'b', UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(stage.mock->fault_hits(id), 1);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 1);
    ck_assert_int_eq(send_letter(&stage, 'c', 0), UCS_OK);
    stage_close(&stage);
}

static void fault__of_a_put_comes_late(const struct test_param *param)
{
    const struct mock_fault fault = {.op     = MOCK_PUT_ZCOPY,
                                     .host   = 0,
                                     .first  = 1,
                                     .count  = 1,
                                     .status = UCS_ERR_IO_ERROR,
                                     .late   = true};
    struct stage            stage;

    (void)param;
    stage_open(&stage);
    stage.here[0] = 9;
    (void)stage.mock->fault(&fault);
    ck_assert_int_eq(put_all(&stage), UCS_INPROGRESS);
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_uint_eq(stage.done, 1);
    ck_assert_int_eq(stage.done_status, UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(stage.there[0], 0);
    stage_close(&stage);
}

static void host__has_no_room(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->block(0, true);
    ck_assert_int_eq(send_letter(&stage, 'a', UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 0);
    stage.mock->block(0, false);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 1);
    stage_close(&stage);
}

/* What was delivered comes, the rest is lost; then the end is told. */
static void host__dies(const struct test_param *param)
{
    for (unsigned host = 0; host < 2; ++host) {
        struct stage stage;

        (void)param;
        stage_open(&stage);
        (void)send_letter(&stage, 'a', 0);
        (void)send_letter(&stage, 'b', 0);
        ck_assert(stage.mock->deliver(stage.mock->next(MOCK_OLDEST)));
        stage.mock->kill(host);
        stage_progress(&stage);
        ck_assert_str_eq(stage.text, (host == 0) ? "a" : "");
        ck_assert_uint_eq(stage.ended, (host == 0) ? 1 : 0);
        ck_assert_uint_eq(stage.errors, (host == 0) ? 0 : 1);
        ck_assert_int_eq(send_letter(&stage, 'c', 0), UCS_ERR_CONNECTION_RESET);
        stage_close(&stage);
    }
}

static void bad__lent_bytes_changed(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(put_all(&stage), UCS_INPROGRESS);
    ck_assert_str_eq(stage.mock->bad(), "");
    stage.here[5] ^= 1;
    stage_progress(&stage);
    ck_assert_ptr_nonnull(strstr(stage.mock->bad(), "changed"));
    stage_close(&stage);
}

static void bad__memory_not_registered(const struct test_param *param)
{
    struct stage         stage;
    uint8_t              other[8] = {0};
    const struct uct_iov iov      = {other, sizeof(other), NULL};
    struct uct_remote    remote   = {.length = sizeof(other)};
    const struct uct_rma rma      = {&iov, &remote, 1, 1};

    (void)param;
    stage_open(&stage);
    remote.address = (uintptr_t)stage.there;
    remote.rkey    = stage.rkey;
    ck_assert_int_eq(stage.tl->put_zcopy(stage.ep, &rma, NULL, 0),
                     UCS_INPROGRESS);
    ck_assert_ptr_nonnull(strstr(stage.mock->bad(), "not registered"));
    stage_progress(&stage);
    stage_close(&stage);
}

/* The peer released what a put is on the way to: the put fails. */
static void memory__released_is_out_of_reach(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->completes_late = true;
    stage.here[0]                     = 9;
    ck_assert_int_eq(put_all(&stage), UCS_INPROGRESS);
    stage.tl->mem_release(stage.remote);
    stage.remote = NULL;
    deliver_next(&stage, MOCK_OLDEST);
    ck_assert_int_eq(stage.done_status, UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(stage.there[0], 0);
    ck_assert_int_eq(put_all(&stage), UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(stage.mock->mem_count(0), 1);
    ck_assert_uint_eq(stage.mock->mem_count(1), 0);
    stage_close(&stage);
}

static const struct test_case mock_cases[] = {
    TEST(wire__holds_until_delivered),
    TEST(wire__order_holds_what_must_wait),
    TEST(wire__puts_before_messages),
    TEST(wire__flush_waits_for_puts),
    TEST(wire__says_what_was_never_sent),
    TEST(fault__hits_the_nth),
    TEST(fault__of_a_put_comes_late),
    TEST(host__has_no_room),
    TEST(host__dies),
    TEST(bad__lent_bytes_changed),
    TEST(bad__memory_not_registered),
    TEST(memory__released_is_out_of_reach),
    {0}};

static const struct test_suite mock_suite = {.name  = "mock",
                                             .cases = mock_cases};

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {&mock_suite, NULL};

    return test_main(argc, argv, suites);
}
