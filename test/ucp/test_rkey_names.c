/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rkey_names.c - what self, sm and udp write into a key as the name of the
 * memory: nobody guesses one out of others. */
#include "config.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/core/rkey.h"
#include "ucp/core/rkey_wire.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/bytes.h"

enum { NAME_COUNT = 400, NAME_BITS = 64 };

/* A transport, and where in its key the name stands. */
struct named {
    const char *tls;
    size_t      at;
};

static const struct named names_known[] = {{"self", 1}, {"sm", 2}, {"udp", 2}};

static const struct test_param named_params[] = {{"self", &names_known[0]},
                                                 {"sm", &names_known[1]},
#ifdef HAVE_UDP
                                                 {"udp", &names_known[2]},
#endif
                                                 {0}};

/* The names of handles over parts of memory, as their transport wrote them. */
static void read_names(const struct pair *pair, const struct named *named,
                       ucp_mem_h *mems, uint64_t *names)
{
    static char memory[NAME_COUNT];

    for (unsigned i = 0; i < NAME_COUNT; ++i) {
        uint8_t                    bytes[UCP_RKEY_BYTES_MAX];
        char                       reason[UCT_REASON_BYTES_MAX];
        struct ucp_rkey_view       view;
        const ucp_mem_map_params_t params = {
            .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                          UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                          UCP_MEM_MAP_PARAM_FIELD_PROT,
            .address = memory + i,
            .length  = 1,
            .prot    = UCP_MEM_MAP_PROT_REMOTE_READ,
        };

        ck_assert_int_eq(ucp_mem_map(pair->contexts[0], &params, &mems[i]),
                         UCS_OK);
        ck_assert_int_eq(ucp_rkey_decode(bytes, ucp_rkey_write(mems[i], bytes),
                                         &view, reason),
                         UCS_OK);
        ck_assert_str_eq(view.keys[0].transport, named->tls);
        names[i] = ucs_get_le64(view.keys[0].bytes + named->at);
    }
}

static int compare_names(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Each bit is set in a half of them, and from one to the next a half of all
 * bits change. Each of these bounds is 8 standard deviations away. */
static void check_bits(const uint64_t *names)
{
    unsigned changes = 0;

    for (unsigned bit = 0; bit < NAME_BITS; ++bit) {
        unsigned count = 0;

        for (unsigned i = 0; i < NAME_COUNT; ++i) {
            count += (unsigned)(names[i] >> bit) & 1;
        }
        ck_assert_msg(
            (count > NAME_COUNT / 2 - 80) && (count < NAME_COUNT / 2 + 80),
            "bit %u is set in %u of %d names", bit, count, (int)NAME_COUNT);
    }
    for (unsigned i = 1; i < NAME_COUNT; ++i) {
        changes += (unsigned)__builtin_popcountll(names[i] ^ names[i - 1]);
    }
    ck_assert_uint_gt(changes, NAME_COUNT * NAME_BITS / 2 - 640);
    ck_assert_uint_lt(changes, NAME_COUNT * NAME_BITS / 2 + 640);
}

/* No name tells another: all differ, and neither they nor their distances
 * follow one another. */
static void names__are_random(const struct test_param *param)
{
    const struct named     *named = param->value;
    const struct pair_setup setup = {.tls = named->tls};
    ucp_mem_h               mems[NAME_COUNT];
    uint64_t                names[NAME_COUNT], distances[NAME_COUNT - 1];
    struct pair             pair;

    pair_open_setup(&pair, &setup, UCP_FEATURE_RMA, UCP_ERR_HANDLING_MODE_NONE);
    read_names(&pair, named, mems, names);
    check_bits(names);
    for (unsigned i = 0; i < NAME_COUNT - 1; ++i) {
        distances[i] = names[i + 1] - names[i];
    }
    qsort(names, NAME_COUNT, sizeof(names[0]), compare_names);
    qsort(distances, NAME_COUNT - 1, sizeof(distances[0]), compare_names);
    for (unsigned i = 1; i < NAME_COUNT; ++i) {
        ck_assert_uint_ne(names[i - 1], names[i]);
        ck_assert((i == NAME_COUNT - 1) || (distances[i - 1] != distances[i]));
    }
    for (unsigned i = 0; i < NAME_COUNT; ++i) {
        ck_assert_int_eq(ucp_mem_unmap(pair.contexts[0], mems[i]), UCS_OK);
    }
    pair_close(&pair);
}

static const struct test_case names_cases[] = {TEST(names__are_random), {0}};

const struct test_suite rkey_names_suite = {
    .name = "rkey_names", .cases = names_cases, .params = named_params};
