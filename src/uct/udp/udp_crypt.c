/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_crypt.c - keys out of the secret, packets through libsodium, and
 * the window of counters. */
#include "uct/udp/udp_crypt.h"

#include <string.h>

#include "ucs/bytes.h"
#include "ucs/log.h"

enum {
    CRYPT_NONCE_BYTES = 12, /* both algorithms */
    CRYPT_INPUT_BYTES = 32,
};

_Static_assert(CRYPT_NONCE_BYTES == crypto_aead_aes256gcm_NPUBBYTES, "AES");
_Static_assert(CRYPT_NONCE_BYTES == crypto_aead_chacha20poly1305_ietf_NPUBBYTES,
               "ChaCha20");
_Static_assert(UDP_CRYPT_TAG_BYTES == crypto_aead_aes256gcm_ABYTES, "AES");
_Static_assert(UDP_CRYPT_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "ChaCha20");
_Static_assert(UDP_CRYPT_SECRET_BYTES == crypto_generichash_KEYBYTES_MIN,
               "the secret is the key of the derivation");

unsigned udp_crypt_algorithms(void)
{
    if (sodium_init() < 0) {
        ucs_error("libsodium does not start: no encryption");
        return 0;
    }
    return UDP_CRYPT_CHACHA20 |
           (crypto_aead_aes256gcm_is_available() ? UDP_CRYPT_AES256 : 0);
}

ucs_status_t udp_crypt_choose(unsigned ours, unsigned theirs,
                              enum udp_crypt_algorithm *algorithm_p)
{
    if (ours & theirs & UDP_CRYPT_AES256) {
        *algorithm_p = UDP_CRYPT_AES256;
        return UCS_OK;
    }
    if (ours & theirs & UDP_CRYPT_CHACHA20) {
        *algorithm_p = UDP_CRYPT_CHACHA20;
        return UCS_OK;
    }
    return UCS_ERR_UNSUPPORTED;
}

/* A word of our own for each use of the secret, then what makes this
 * connection another one than all others. */
static void crypt_derive(const struct udp_crypt_params *params,
                         uint8_t keys[2][UDP_CRYPT_KEY_BYTES])
{
    uint8_t input[CRYPT_INPUT_BYTES] = "causeway aead 1";

    input[15] = (uint8_t)params->algorithm;
    ucs_put_le64(input + 16, params->client_nonce);
    ucs_put_le64(input + 24, params->server_nonce);
    /* Fails only for lengths that it cannot. */
    (void)crypto_generichash(&keys[0][0], (size_t)2 * UDP_CRYPT_KEY_BYTES,
                             input, sizeof(input), params->secret,
                             sizeof(params->secret));
}

static void crypt_set_key(struct udp_crypt_direction *direction,
                          const uint8_t              *key,
                          enum udp_crypt_algorithm    algorithm)
{
    memcpy(direction->key, key, UDP_CRYPT_KEY_BYTES);
    if (algorithm == UDP_CRYPT_AES256) {
        (void)crypto_aead_aes256gcm_beforenm(&direction->state, key);
    }
}

ucs_status_t udp_crypt_init(struct udp_crypt              *crypt,
                            const struct udp_crypt_params *params)
{
    uint8_t  keys[2][UDP_CRYPT_KEY_BYTES]; /* of the client, of the server */
    unsigned algorithm = (unsigned)params->algorithm;

    if (((algorithm & udp_crypt_algorithms()) != algorithm) ||
        ((algorithm != UDP_CRYPT_CHACHA20) &&
         (algorithm != UDP_CRYPT_AES256))) {
        return UCS_ERR_UNSUPPORTED;
    }
    memset(crypt, 0, sizeof(*crypt));
    crypt->algorithm = params->algorithm;
    crypt_derive(params, keys);
    crypt_set_key(&crypt->out, keys[params->is_client ? 0 : 1],
                  params->algorithm);
    crypt_set_key(&crypt->in, keys[params->is_client ? 1 : 0],
                  params->algorithm);
    sodium_memzero(keys, sizeof(keys));
    return UCS_OK;
}

void udp_crypt_cleanup(struct udp_crypt *crypt)
{
    sodium_memzero(crypt, sizeof(*crypt));
}

/* ------------------------------------------------------------------- window */

/* Was this counter seen, or is it too old to know? */
static bool window_has(const struct udp_crypt_window *window, uint64_t counter)
{
    uint64_t slot = counter % UDP_CRYPT_WINDOW;

    if (counter > window->newest) {
        return false;
    }
    return (window->newest - counter >= UDP_CRYPT_WINDOW) ||
           ((window->seen[slot / 64] >> (slot % 64)) & 1);
}

static void window_clear(struct udp_crypt_window *window, uint64_t counter)
{
    uint64_t slot = counter % UDP_CRYPT_WINDOW;

    window->seen[slot / 64] &= ~(1ull << (slot % 64));
}

static void window_add(struct udp_crypt_window *window, uint64_t counter)
{
    uint64_t slot = counter % UDP_CRYPT_WINDOW;

    if ((counter > window->newest) &&
        (counter - window->newest >= UDP_CRYPT_WINDOW)) {
        memset(window->seen, 0, sizeof(window->seen));
        window->newest = counter;
    }
    while (window->newest < counter) {
        window_clear(window, ++window->newest);
    }
    window->seen[slot / 64] |= 1ull << (slot % 64);
}

/* ------------------------------------------------------------------ packets */

/* head and counter are authenticated; they do not lie side by side, but the
 * counter is in the nonce, so it is covered anyway. */
static void crypt_nonce(uint8_t nonce[CRYPT_NONCE_BYTES], uint64_t counter)
{
    memset(nonce, 0, CRYPT_NONCE_BYTES);
    ucs_put_le64(nonce + 4, counter);
}

size_t udp_crypt_seal(struct udp_crypt *crypt, uint8_t *packet,
                      size_t head_bytes, size_t length)
{
    uint8_t *body       = packet + head_bytes;
    size_t   body_bytes = length - head_bytes;
    uint8_t *counter    = packet + length;
    uint8_t *tag        = counter + UDP_CRYPT_COUNTER_BYTES;
    uint8_t  nonce[CRYPT_NONCE_BYTES];

    if (crypt->counter == UINT64_MAX) {
        return 0;
    }
    ++crypt->counter;
    ucs_put_le64(counter, crypt->counter);
    crypt_nonce(nonce, crypt->counter);
    if (crypt->algorithm == UDP_CRYPT_AES256) {
        (void)crypto_aead_aes256gcm_encrypt_detached_afternm(
            body, tag, NULL, body, body_bytes, packet, head_bytes, NULL, nonce,
            &crypt->out.state);
    } else {
        (void)crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            body, tag, NULL, body, body_bytes, packet, head_bytes, NULL, nonce,
            crypt->out.key);
    }
    return length + UDP_CRYPT_TRAILER_BYTES;
}

ucs_status_t udp_crypt_open(struct udp_crypt *crypt, uint8_t *packet,
                            size_t head_bytes, size_t length, size_t *length_p)
{
    uint8_t *body = packet + head_bytes;
    uint8_t *end; /* of the body: the counter */
    uint8_t  nonce[CRYPT_NONCE_BYTES];
    uint64_t counter;
    int      result;

    if (length < head_bytes + UDP_CRYPT_TRAILER_BYTES) {
        return UCS_ERR_INVALID_PARAM;
    }
    end     = packet + length - UDP_CRYPT_TRAILER_BYTES;
    counter = ucs_get_le64(end);
    if ((counter == 0) || window_has(&crypt->window, counter)) {
        return UCS_ERR_ALREADY_EXISTS;
    }
    crypt_nonce(nonce, counter);
    if (crypt->algorithm == UDP_CRYPT_AES256) {
        result = crypto_aead_aes256gcm_decrypt_detached_afternm(
            body, NULL, body, (size_t)(end - body),
            end + UDP_CRYPT_COUNTER_BYTES, packet, head_bytes, nonce,
            &crypt->in.state);
    } else {
        result = crypto_aead_chacha20poly1305_ietf_decrypt_detached(
            body, NULL, body, (size_t)(end - body),
            end + UDP_CRYPT_COUNTER_BYTES, packet, head_bytes, nonce,
            crypt->in.key);
    }
    if (result != 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    /* Only who has the key moves the window. */
    window_add(&crypt->window, counter);
    *length_p = (size_t)(end - packet);
    return UCS_OK;
}
