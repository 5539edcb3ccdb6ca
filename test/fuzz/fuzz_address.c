/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_address.c - any bytes as the address of a worker: to the decoder, and
 * to ucp_ep_create() of a live worker, where the transports look at their
 * part. By the first byte of the input:
 *
 *   raw      the bytes as they come, behind the magic or not
 *   made     a view of odd names, lengths and entries, encoded: must come
 *            back as it was
 *   changed  the worker's own address, cut at every byte and with every bit
 *            flipped: all refused. Then again with length and checksum
 *            mended, so that the damage gets behind them.
 *
 * Some endpoints that come of it send, so that the transports attach. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/live.h"
#include "fuzz/tape.h"
#include "ucp/wireup/address.h"
#include "ucs/bytes.h"

enum {
    EP_COUNT_MAX      = 32,
    MADE_ENTRY_MAX    = 6,
    MENDED_BYTES_MIN  = 12, /* the length field and a checksum */
    PROGRESS_CALL_MAX = 70, /* sm looks at sockets with every 64th */
};

static const struct live_setup setup = {.tls = "self,sm"};

/* What one input works on. */
struct scene {
    struct tape  tape;
    ucp_worker_h worker;
    unsigned     ep_count;
    ucp_ep_h     eps[EP_COUNT_MAX];
    uint8_t      own[UCP_ADDRESS_BYTES_MAX];
    size_t       own_bytes;
};

/* The documented checksum, FNV-1a, and the length made right. */
static void mend(uint8_t *bytes, size_t size)
{
    uint32_t sum = 2166136261u;

    ucs_put_le16(bytes + 4, (uint16_t)size);
    for (size_t i = 0; i < size - 4; ++i) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    ucs_put_le32(bytes + size - 4, sum);
}

static void progress(struct scene *scene, unsigned count)
{
    while (count-- > 0) {
        (void)ucp_worker_progress(scene->worker);
    }
}

static void close_ep(struct scene *scene, ucp_ep_h ep)
{
    const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    live_check(ucp_ep_close_nbx(ep, &force) == NULL, "close by force waits");
    progress(scene, 1);
}

static void close_eps(struct scene *scene)
{
    while (scene->ep_count > 0) {
        close_ep(scene, scene->eps[--scene->ep_count]);
    }
}

/* A message of nobody's interest; force ends it wherever it is. */
static void send_something(struct scene *scene, ucp_ep_h ep)
{
    static const uint8_t      bytes[100];
    const ucp_request_param_t none = {0};
    ucs_status_ptr_t          request;

    request = ucp_tag_send_nbx(ep, bytes, sizeof(bytes), 1, &none);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
    progress(scene, tape_u8(&scene->tape) % PROGRESS_CALL_MAX);
}

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    live_check(UCS_STATUS_IS_ERR(status), "an error handler without error");
}

/* @param bytes  [size], a block that ends there. */
static void try_create(struct scene *scene, const uint8_t *bytes, size_t size)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address     = (const ucp_address_t *)bytes,
        .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = failed},
    };
    ucs_status_t status;
    ucp_ep_h     ep;

    /* The caller of ucp_ep_create() promises as many bytes as they say. */
    if ((size < 8) || (ucp_address_length(bytes) > size)) {
        return;
    }
    status = ucp_ep_create(scene->worker, &params, &ep);
    if (status != UCS_OK) {
        live_check(UCS_STATUS_IS_ERR(status), "refused without an error");
        return;
    }
    scene->eps[scene->ep_count++] = ep;
    if (tape_u8(&scene->tape) % 4 == 0) {
        send_something(scene, ep);
    }
    if (scene->ep_count == EP_COUNT_MAX) {
        close_eps(scene);
    }
}

/* The decoder, then an endpoint. @return what the decoder said. */
static ucs_status_t try_bytes(struct scene *scene, const uint8_t *bytes,
                              size_t size)
{
    char                    reason[UCT_REASON_BYTES_MAX] = "";
    uint8_t                *copy = malloc((size == 0) ? 1 : size);
    struct ucp_address_view view;
    ucs_status_t            status;

    live_check(copy != NULL, "malloc");
    memcpy(copy, bytes, size);
    status = ucp_address_decode(copy, size, &view, reason);
    live_check((status == UCS_OK) ||
                   ((status == UCS_ERR_INVALID_ADDR) && (reason[0] != '\0')),
               "refused without a reason");
    try_create(scene, copy, size);
    free(copy);
    return status;
}

static void run_raw(struct scene *scene)
{
    struct tape *tape  = &scene->tape;
    bool         looks = tape_u8(tape) & 1;
    size_t size = ucs_min(tape->size - tape->at, (size_t)UCP_ADDRESS_BYTES_MAX);
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];

    memcpy(bytes, tape->bytes + tape->at, size);
    if (looks && (size >= MENDED_BYTES_MIN)) {
        memcpy(bytes, scene->own, 4); /* magic, version, flags */
        mend(bytes, size);
    }
    (void)try_bytes(scene, bytes, size);
}

/* An entry: a transport's name or none, with bytes that are or are not its
 * address. */
static void make_entry(struct scene *scene, const struct ucp_address_view *own,
                       struct ucp_address_entry *entry)
{
    static const char *const names[] = {"self", "sm", "tcp", ""};
    struct tape             *tape    = &scene->tape;
    unsigned                 kind    = tape_u8(tape);
    unsigned                 model   = tape_u8(tape) % own->entry_count;

    *entry = own->entries[model];
    if (kind & 1) {
        memset(entry->transport, 0, sizeof(entry->transport));
        strncpy(entry->transport, names[(kind >> 1) % 4],
                sizeof(entry->transport) - 1);
    }
    if (kind & 8) {
        /* Some other bytes of the blob: right form, wrong meaning. */
        entry->size_bytes = ucs_min((size_t)tape_u8(tape), scene->own_bytes);
        entry->bytes      = scene->own + tape_u16(tape) % (scene->own_bytes -
                                                      entry->size_bytes + 1);
    }
}

/* Does a blob say what it was made from? */
static void check_made(const struct ucp_address_view *made,
                       const uint8_t *bytes, size_t size)
{
    char                    reason[UCT_REASON_BYTES_MAX];
    struct ucp_address_view view;

    live_check(ucp_address_decode(bytes, size, &view, reason) == UCS_OK,
               "encoded, but not taken back");
    live_check((view.worker_id == made->worker_id) &&
                   (strcmp(view.name, made->name) == 0) &&
                   (view.entry_count == made->entry_count) &&
                   (ucp_address_encode(&view, NULL, 0) == size),
               "encoded, but taken back as another");
}

static void run_made(struct scene *scene)
{
    struct tape            *tape = &scene->tape;
    uint8_t                 bytes[UCP_ADDRESS_BYTES_MAX];
    char                    reason[UCT_REASON_BYTES_MAX];
    struct ucp_address_view own, view = {0};
    size_t                  size;

    live_check(ucp_address_decode(scene->own, scene->own_bytes, &own, reason) ==
                   UCS_OK,
               "the own address is refused");
    view.worker_id = (tape_u8(tape) % 4 == 0) ? own.worker_id : tape_u64(tape);
    memset(view.secret, tape_u8(tape), sizeof(view.secret));
    memset(view.name, 'n', tape_u8(tape) % sizeof(view.name));
    view.entry_count = tape_u8(tape) % (MADE_ENTRY_MAX + 1);
    for (unsigned i = 0; i < view.entry_count; ++i) {
        make_entry(scene, &own, &view.entries[i]);
    }
    size = ucp_address_encode(&view, bytes, sizeof(bytes));
    live_check(size > 0, "a small view does not fit");
    check_made(&view, bytes, size);
    (void)try_bytes(scene, bytes, size);
    if (tape_u8(tape) & 1) {
        bytes[8 + tape_u16(tape) % (size - 8)] ^= tape_u8(tape);
        mend(bytes, size);
        (void)try_bytes(scene, bytes, size);
    }
}

static void run_cuts(struct scene *scene)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];

    for (size_t size = 0; size < scene->own_bytes; ++size) {
        memcpy(bytes, scene->own, size);
        live_check(try_bytes(scene, bytes, size) == UCS_ERR_INVALID_ADDR,
                   "a cut address is taken");
        if (size >= MENDED_BYTES_MIN) {
            mend(bytes, size);
            (void)try_bytes(scene, bytes, size);
        }
    }
}

static void run_flips(struct scene *scene)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  size = scene->own_bytes;

    for (size_t bit = 0; bit < 8 * size; ++bit) {
        memcpy(bytes, scene->own, size);
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        live_check(try_bytes(scene, bytes, size) == UCS_ERR_INVALID_ADDR,
                   "an address with a flipped bit is taken");
        mend(bytes, size);
        (void)try_bytes(scene, bytes, size);
    }
}

static void open_scene(struct scene *scene)
{
    ucp_address_t *address;

    scene->worker = live_worker(live_context(&setup));
    live_check(ucp_worker_get_address(scene->worker, &address,
                                      &scene->own_bytes) == UCS_OK,
               "ucp_worker_get_address");
    memcpy(scene->own, address, scene->own_bytes);
    ucp_worker_release_address(scene->worker, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {.tape = {.bytes = data, .size = size}};
    unsigned     kind  = tape_u8(&scene.tape) % 16;

    open_scene(&scene);
    if (kind == 0) {
        run_cuts(&scene);
    } else if (kind == 1) {
        run_flips(&scene);
    } else if (kind < 6) {
        run_raw(&scene);
    } else {
        run_made(&scene);
    }
    progress(&scene, tape_u8(&scene.tape) % PROGRESS_CALL_MAX);
    close_eps(&scene);
    ucp_worker_destroy(scene.worker);
    return 0;
}
