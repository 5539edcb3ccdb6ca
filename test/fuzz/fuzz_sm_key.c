/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_sm_key.c - any bytes as a key of sm (uct/sm/sm_key.h). By the first
 * byte of the input:
 *
 *   raw      the bytes as they come, to the decoder
 *   made     a key of odd numbers, encoded: must come back as it was, cut ones
 *            and flipped ones must not
 *   mended   the bytes with version and check made right, to rkey_unpack: what
 *            a liar can do; what it opens stays inside its own bounds
 *   asked    does a key open what it is asked for? Against a model that counts
 *            with more bits. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/tape.h"
#include "ucs/bytes.h"
#include "uct/sm/sm_key.h"

enum { CHECK_AT = UCT_SM_KEY_BYTES - 4 };

static void check(bool is_true, const char *why)
{
    if (!is_true) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
}

/* Decode bytes that end where they end, so that a sanitizer sees it. */
static ucs_status_t decode(const uint8_t *bytes, size_t size,
                           struct uct_sm_key *key_p)
{
    uint8_t     *exact = malloc((size == 0) ? 1 : size);
    ucs_status_t status;

    check(exact != NULL, "no memory");
    memcpy(exact, bytes, size);
    status = uct_sm_key_decode(exact, size, key_p);
    free(exact);
    return status;
}

/* What holds for every key that is taken. */
static void judge(const struct uct_sm_key *key)
{
    check(key->pid > 0, "a key of no process");
    check((key->access & ~(unsigned)UCT_ACCESS_ALL) == 0, "unknown rights");
    check(key->address + key->length >= key->address, "a region that wraps");
    check((key->length == UINT64_MAX) ||
              !uct_sm_key_allows(key, key->address, key->length + 1, 0),
          "a byte behind the end");
}

static void raw(const uint8_t *data, size_t size)
{
    struct uct_sm_key key;

    if (decode(data, (size > 64) ? 64 : size, &key) == UCS_OK) {
        check(size >= UCT_SM_KEY_BYTES, "a cut key");
        judge(&key);
    }
}

static struct uct_sm_key make(struct tape *tape)
{
    struct uct_sm_key key = {
        .access        = tape_u8(tape) & UCT_ACCESS_ALL,
        .name          = tape_u64(tape),
        .address       = tape_scaled(tape),
        .length        = tape_scaled(tape),
        .process_start = tape_scaled(tape),
        .pid           = 1 + (int32_t)tape_u16(tape),
        .pid_namespace = (uint32_t)tape_u64(tape),
    };

    return key;
}

static void made(struct tape *tape)
{
    const struct uct_sm_key key = make(tape);
    uint8_t                 bytes[UCT_SM_KEY_BYTES];
    struct uct_sm_key       read;
    size_t                  bit;

    uct_sm_key_encode(&key, bytes);
    check(decode(bytes, sizeof(bytes), &read) == UCS_OK, "our own is refused");
    check((read.access == key.access) && (read.name == key.name) &&
              (read.address == key.address) && (read.length == key.length) &&
              (read.process_start == key.process_start) &&
              (read.pid == key.pid) &&
              (read.pid_namespace == key.pid_namespace),
          "a key came back as another");
    check(decode(bytes, tape_u8(tape) % sizeof(bytes), &read) != UCS_OK,
          "a cut key is taken");
    bit = tape_u16(tape) % (8 * sizeof(bytes));
    bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    check(decode(bytes, sizeof(bytes), &read) != UCS_OK,
          "a changed key is taken");
}

/* The documented check: FNV-1a of 64 bits, folded. */
static void mend(uint8_t *bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    bytes[0] = UCT_SM_KEY_VERSION;
    for (size_t i = 0; i < CHECK_AT; ++i) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    ucs_put_le32(bytes + CHECK_AT, (uint32_t)(hash ^ (hash >> 32)));
}

static void mended(const uint8_t *data, size_t size)
{
    uint8_t          bytes[UCT_SM_KEY_BYTES] = {0};
    struct uct_rkey *rkey;

    memcpy(bytes, data, (size > sizeof(bytes)) ? sizeof(bytes) : size);
    mend(bytes);
    if (uct_sm_rkey_unpack(NULL, bytes, sizeof(bytes), &rkey) == UCS_OK) {
        judge(uct_sm_key_of(rkey));
        uct_sm_rkey_release(rkey);
    }
}

static void asked(struct tape *tape)
{
    const struct uct_sm_key key     = make(tape);
    unsigned                access  = tape_u8(tape) & UCT_ACCESS_ALL;
    uint64_t                address = key.address + tape_scaled(tape);
    uint64_t                length  = tape_scaled(tape);
    unsigned __int128       end     = (unsigned __int128)address + length;
    unsigned __int128 key_end = (unsigned __int128)key.address + key.length;
    bool              is_open;

    if (key_end > UINT64_MAX) {
        return; /* the decoder takes no such key */
    }
    is_open = (address >= key.address) && (end <= key_end) &&
              ((key.access & access) == access);
    check(uct_sm_key_allows(&key, address, length, access) == is_open,
          "a key opens what it does not, or not what it does");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape tape = {.bytes = data, .size = size};

    switch (tape_u8(&tape) % 4) {
    case 0:
        raw(data + tape.at, size - tape.at);
        break;
    case 1:
        made(&tape);
        break;
    case 2:
        mended(data + tape.at, size - tape.at);
        break;
    default:
        asked(&tape);
        break;
    }
    return 0;
}
