/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/forge.h - the messages that a liar would send: right up to a
 * point. */
#ifndef TEST_FUZZ_FORGE_H_
#define TEST_FUZZ_FORGE_H_

#include "fuzz/scene.h"

enum { FORGED_BYTES_MAX = UCP_ADDRESS_BYTES_MAX + 512 };

struct forged {
    uint8_t am_id;
    bool    is_carried;
    size_t  length;
    uint8_t bytes[FORGED_BYTES_MAX];
};

/* A lane to ourselves. The caller destroys it. */
struct uct_ep *forge_stranger(struct scene *scene);

/* The next message of a speaker: strangers first, then eps. */
void forge_message(struct scene *scene, unsigned from, struct forged *forged);

/* Must the worker count this message as bad, as things are now? */
bool forge_is_bad(const struct scene *scene, const struct uct_source *source,
                  uint8_t am_id, const uint8_t *bytes, size_t length);

#endif
