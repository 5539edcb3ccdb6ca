/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_messages.c - a peer that says anything at any time.
 *
 *   stranger --- garbage, half-valid messages ---> handlers of a live worker
 *   ourselves --- the same behind our own back --^   with receives, sends,
 *                                                    probes, closes meanwhile
 *
 * The input is a list of steps (the table at the end). A message goes over
 * `self`, where its buffer may be kept, or inside a carrier: a message whose
 * handler passes the rest on in a block of exactly its length, so that
 * AddressSanitizer sees a read behind it. What names nothing that exists must
 * be counted; nothing may be written beside a buffer; in the end every
 * request is complete and nothing is left. forge.c makes the messages. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "fuzz/forge.h"
#include "fuzz/live.h"

enum {
    STEP_COUNT_MAX    = 600,
    MEMORY_KB_MAX     = 256 * 1024, /* that one input may add to the process */
    SETTLE_CALL_COUNT = 100,
};

/* The ways that sending chooses from; receiving knows all of them. */
static const struct live_setup setups[] = {
    {.tls = "self"},
    {.tls = "self", .rndv_threshold = "inf"},
    {.tls = "self", .rndv_threshold = "0", .zcopy_threshold = "1"},
};

/* ---- endpoints ---- */

static void ep_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    live_check(UCS_STATUS_IS_ERR(status), "an error handler without error");
}

static void open_ep(struct scene *scene, unsigned i)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address     = (const ucp_address_t *)scene->own,
        .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = ep_failed},
    };

    live_check(ucp_ep_create(scene->worker, &params, &scene->eps[i]) == UCS_OK,
               "no endpoint to oneself");
}

static void close_ep(struct scene *scene, unsigned i, bool force)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = force ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };
    ucs_status_ptr_t request = ucp_ep_close_nbx(scene->eps[i], &param);

    live_check(!UCS_PTR_IS_ERR(request), "an endpoint cannot be closed");
    for (unsigned call = 0; UCS_PTR_IS_PTR(request); ++call) {
        live_check(call < 100000, "an endpoint is never closed");
        if (call == 1000) {
            /* A liar has granted a part and asks for no more: it dies. */
            ucp_ep_fail(scene->eps[i], UCS_ERR_CONNECTION_RESET);
        }
        (void)ucp_worker_progress(scene->worker);
        if (ucp_request_is_completed(request)) {
            ucp_request_free(request);
            request = NULL;
        }
    }
    scene->eps[i] = NULL;
}

static void step_reopen(struct scene *scene)
{
    unsigned i = tape_u8(&scene->tape) % EP_COUNT;

    close_ep(scene, i, tape_u8(&scene->tape) & 1);
    open_ep(scene, i);
}

static void step_flush(struct scene *scene)
{
    const ucp_request_param_t none = {0};
    ucs_status_ptr_t          request;

    request = (tape_u8(&scene->tape) & 1)
                  ? ucp_worker_flush_nbx(scene->worker, &none)
                  : ucp_ep_flush_nbx(
                        scene->eps[tape_u8(&scene->tape) % EP_COUNT], &none);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

static void step_new_stranger(struct scene *scene)
{
    unsigned i = tape_u8(&scene->tape) % STRANGER_COUNT;

    ucti_ep_destroy(scene->strangers[i]);
    scene->strangers[i] = forge_stranger(scene);
}

static void step_progress(struct scene *scene)
{
    unsigned count = tape_u8(&scene->tape) % 8;

    while (count-- > 0) {
        (void)ucp_worker_progress(scene->worker);
    }
    user_sweep(scene);
}

/* ---- messages ---- */

/* Unpack a carrier: [am id] and the message. */
static ucs_status_t carried(void *arg, struct uct_source *source, void *data,
                            size_t length, unsigned flags)
{
    struct scene              *scene  = arg;
    uint8_t                    am_id  = *(uint8_t *)data;
    const struct uct_am_entry *entry  = &scene->iface->am[am_id];
    uint64_t                   before = scene->worker->bad_ids;
    uint8_t                   *copy   = malloc(ucs_max(--length, (size_t)1));
    bool                       is_bad;

    (void)flags;
    live_check(copy != NULL, "malloc");
    memcpy(copy, (uint8_t *)data + 1, length);
    is_bad = forge_is_bad(scene, source, am_id, copy, length);
    live_check(entry->fn(entry->arg, source, copy, length, 0) == UCS_OK,
               "a handler keeps what it may not keep");
    live_check(!is_bad || (scene->worker->bad_ids > before),
               "a message that names nothing is not counted");
    free(copy);
    return UCS_OK;
}

static size_t pack_message(void *dest, void *arg)
{
    const struct forged *forged = arg;
    uint8_t             *bytes  = dest;

    if (forged->is_carried) {
        *bytes++ = forged->am_id;
    }
    memcpy(bytes, forged->bytes, forged->length);
    return forged->length + (forged->is_carried ? 1 : 0);
}

static void step_message(struct scene *scene)
{
    unsigned       from = tape_u8(&scene->tape) % SPEAKER_COUNT;
    struct uct_ep *lane;
    struct forged  forged;

    lane = (from < STRANGER_COUNT)
               ? scene->strangers[from]
               : scene->eps[from - STRANGER_COUNT]->message_ep;
    forge_message(scene, from, &forged);
    forged.is_carried = tape_u8(&scene->tape) & 1;
    (void)uct_ep_am_bcopy(lane,
                          forged.is_carried ? CARRIER_AM_ID : forged.am_id,
                          pack_message, &forged, forged.length + 1, 0);
}

/* ---- the input ---- */

static void open_scene(struct scene *scene)
{
    unsigned           setup = tape_u8(&scene->tape) % UCS_ARRAY_COUNT(setups);
    ucp_context_attr_t attr  = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_context_h      context = live_context(&setups[setup]);
    ucp_address_t     *address;

    live_check(ucp_context_query(context, &attr) == UCS_OK, "query");
    scene->request_bytes = ucs_align_up(attr.request_size, 16);
    scene->worker        = live_worker(context);
    scene->iface         = scene->worker->ifaces[0].iface;
    ucti_iface_set_am(scene->iface, CARRIER_AM_ID, carried, scene);
    live_check(ucp_worker_get_address(scene->worker, &address,
                                      &scene->own_bytes) == UCS_OK,
               "ucp_worker_get_address");
    memcpy(scene->own, address, scene->own_bytes);
    ucp_worker_release_address(scene->worker, address);
    user_init(scene);
    for (unsigned i = 0; i < EP_COUNT; ++i) {
        open_ep(scene, i);
    }
    for (unsigned i = 0; i < STRANGER_COUNT; ++i) {
        scene->strangers[i] = forge_stranger(scene);
    }
}

static void close_scene(struct scene *scene)
{
    for (unsigned i = 0; i < STRANGER_COUNT; ++i) {
        ucti_ep_destroy(scene->strangers[i]);
    }
    user_give_up(scene);
    for (unsigned i = 0; i < EP_COUNT; ++i) {
        close_ep(scene, i, tape_u8(&scene->tape) & 1);
    }
    for (unsigned i = 0; i < SETTLE_CALL_COUNT; ++i) {
        (void)ucp_worker_progress(scene->worker);
    }
    user_sweep(scene);
    user_end(scene);
}

static void (*const steps[])(struct scene *scene) = {
    step_message,  step_message,  step_message, step_message,
    step_message,  step_message,  user_receive, user_receive,
    user_send,     user_send,     user_probe,   user_receive_probed,
    user_cancel,   step_reopen,   step_flush,   step_new_stranger,
    step_progress, step_progress,
};

/* The most memory that the process ever used. */
static long memory_kb(void)
{
    struct rusage usage;

    live_check(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
    return usage.ru_maxrss;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scene scene;
    long                before_kb = memory_kb();

    memset(&scene, 0, sizeof(scene));
    scene.tape = (struct tape){.bytes = data, .size = size};
    open_scene(&scene);
    for (unsigned i = 0; (i < STEP_COUNT_MAX) && !tape_is_over(&scene.tape);
         ++i) {
        steps[tape_u8(&scene.tape) % UCS_ARRAY_COUNT(steps)](&scene);
    }
    close_scene(&scene);
    live_check(memory_kb() - before_kb < MEMORY_KB_MAX, "memory grows");
    return 0;
}
