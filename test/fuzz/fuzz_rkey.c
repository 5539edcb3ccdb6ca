/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_rkey.c - any bytes as a remote key. By the first byte of the input:
 *
 *   raw      the bytes as they come, to the decoder
 *   made     a view of odd names and lengths, encoded: must come back as it
 *            was, cut ones and flipped ones must not
 *   mended   the bytes with head and checksums made right, to the decoder and
 *            to ucp_ep_rkey_unpack() of a live endpoint: what a liar can do */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/live.h"
#include "fuzz/tape.h"
#include "ucp/core/rkey_wire.h"
#include "ucs/bytes.h"
#include "ucs/checksum.h"

enum { MADE_KEY_MAX = 6 };

static const struct live_setup setup = {.tls = "self"};

/* Decode bytes that end where they end. */
static ucs_status_t decode(const uint8_t *bytes, size_t size,
                           struct ucp_rkey_view *view)
{
    char reason[UCT_REASON_BYTES_MAX];

    return ucp_rkey_decode(bytes, size, view, reason);
}

static void raw(const uint8_t *data, size_t size)
{
    struct ucp_rkey_view view;

    if (size >= UCP_RKEY_HEAD_BYTES) {
        live_check(ucp_rkey_buffer_length(data) <= UCP_RKEY_BYTES_MAX,
                   "a key beyond its limit");
    }
    if (decode(data, size, &view) == UCS_OK) {
        live_check(view.key_count <= UCP_RKEY_KEY_COUNT_MAX, "too many keys");
    }
}

static void made(struct tape *tape)
{
    static const uint8_t bytes[UCT_RKEY_BYTES_MAX];
    struct ucp_rkey_view view = {.name = tape_u64(tape)}, read;
    uint8_t              key[UCP_RKEY_BYTES_MAX];
    size_t               length, bit;

    view.key_count = tape_u8(tape) % MADE_KEY_MAX;
    for (unsigned i = 0; i < view.key_count; ++i) {
        memset(view.keys[i].transport, 'a', tape_u8(tape) % UCT_NAME_BYTES_MAX);
        view.keys[i].domain     = tape_u8(tape);
        view.keys[i].bytes      = bytes;
        view.keys[i].size_bytes = tape_u8(tape) % UCT_RKEY_BYTES_MAX;
    }
    length = ucp_rkey_encode(&view, key);
    live_check(decode(key, length, &read) == UCS_OK, "our own is refused");
    live_check(read.key_count == view.key_count, "a key is lost");
    for (unsigned i = 0; i < view.key_count; ++i) {
        live_check(strcmp(read.keys[i].transport, view.keys[i].transport) == 0,
                   "a name is changed");
    }
    live_check(decode(key, tape_u16(tape) % length, &read) != UCS_OK,
               "a cut key is taken");
    bit = tape_u16(tape) % (8 * length);
    key[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    live_check(decode(key, length, &read) != UCS_OK, "a changed key is taken");
}

/* Make head and checksum right: the documented layout. */
static void mend(uint8_t *key, size_t length)
{
    uint32_t sum;

    memcpy(key, "Ck\1", 3);
    ucs_put_le16(key + 4, (uint16_t)length);
    sum = ucs_checksum32(key, 6);
    ucs_put_le16(key + 6, (uint16_t)(sum ^ (sum >> 16)));
    ucs_put_le32(key + length - 4, ucs_checksum32(key, length - 4));
}

static void unpack(const uint8_t *key)
{
    ucp_worker_h    worker = live_worker(live_context(&setup));
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t  *address;
    size_t          address_bytes;
    ucp_rkey_h      rkey;
    ucp_ep_h        ep;
    void           *pointer;

    live_check(ucp_worker_get_address(worker, &address, &address_bytes) ==
                   UCS_OK,
               "no address");
    params.address = address;
    live_check(ucp_ep_create(worker, &params, &ep) == UCS_OK, "no endpoint");
    ucp_worker_release_address(worker, address);
    if (ucp_ep_rkey_unpack(ep, key, &rkey) == UCS_OK) {
        live_check(ucp_rkey_ptr(rkey, 1, &pointer) != UCS_OK,
                   "a pointer to nothing");
        ucp_rkey_destroy(rkey);
    }
    ucp_worker_destroy(worker);
}

static void mended(const uint8_t *data, size_t size)
{
    size_t               length = ucs_min(size, (size_t)UCP_RKEY_BYTES_MAX);
    struct ucp_rkey_view view;
    uint8_t             *key;

    if (length < UCP_RKEY_HEADER_BYTES + 4) {
        return;
    }
    key = malloc(length); /* so that a sanitizer sees its end */
    live_check(key != NULL, "no memory");
    memcpy(key, data, length);
    mend(key, length);
    (void)decode(key, length, &view);
    unpack(key);
    free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape tape = {.bytes = data, .size = size};

    switch (tape_u8(&tape) % 3) {
    case 0:
        raw(data + tape.at, size - tape.at);
        break;
    case 1:
        made(&tape);
        break;
    default:
        mended(data + tape.at, size - tape.at);
        break;
    }
    return 0;
}
