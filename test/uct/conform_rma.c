/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_rma.c - put and get: bytes land where asked, and nowhere else; keys
 * are checked, bounds and rights too. */

#include "uct/conform_rma.h"

enum { GUARD = 64 };

struct pack_bytes {
    const uint8_t *bytes;
    size_t         size_bytes;
};

static size_t pack_bytes(void *dest, void *arg)
{
    const struct pack_bytes *pack = (const struct pack_bytes *)arg;

    memcpy(dest, pack->bytes, pack->size_bytes);
    return pack->size_bytes;
}

static bool is_put(enum uct_cap cap)
{
    return cap <= UCT_CAP_PUT_ZCOPY;
}

static const struct uct_op_limits *zcopy_limits(const struct target *target,
                                                enum uct_cap         cap)
{
    const struct uct_iface_attr *attr = &target->world.here->attr;

    return is_put(cap) ? &attr->put : &attr->get;
}

/* One operation of that kind on [offset, offset + length) of the region;
 * local bytes at target->local. */
static ucs_status_t target_try(struct target *target, enum uct_cap cap,
                               uint64_t offset, size_t length)
{
    const struct uct_transport *tl      = target->world.here->tl;
    struct uct_ep              *ep      = target->lane->ep;
    uint64_t                    address = target->address + offset;
    struct pack_bytes           pack    = {target->local, length};
    const struct uct_op_limits *limits  = zcopy_limits(target, cap);
    struct uct_iov              iov[3];
    struct uct_remote           remote[3];
    struct uct_rma              rma = {iov, remote, 1, 1};
    ssize_t                     packed;

    iov[0]    = (struct uct_iov){target->local, length, target->local_mem};
    remote[0] = (struct uct_remote){address, length, target->rkey};
    if (limits->iov_count_max >= 3) {
        iov[0].length = length / 3;
        iov[1]        = (struct uct_iov){NULL, 0, NULL};
        iov[2]        = (struct uct_iov){target->local + length / 3,
                                         length - length / 3, target->local_mem};
        rma.iov_count = 3;
    }
    if (limits->remote_count_max >= 3) {
        remote[0].length = length / 5;
        remote[1] = (struct uct_remote){address + length / 5, 0, target->rkey};
        remote[2] = (struct uct_remote){address + length / 5,
                                        length - length / 5, target->rkey};
        rma.remote_count = 3;
    }
    switch (cap) {
    case UCT_CAP_PUT_SHORT:
        return tl->put_short(ep, target->local, length, address, target->rkey,
                             0);
    case UCT_CAP_PUT_BCOPY:
        packed = tl->put_bcopy(ep, pack_bytes, &pack, length, address,
                               target->rkey, 0);
        return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
    case UCT_CAP_PUT_ZCOPY:
        return tl->put_zcopy(ep, &rma, target_req(target), 0);
    case UCT_CAP_GET_BCOPY:
        return tl->get_bcopy(ep, target->local, length, address, target->rkey,
                             target_req(target), 0);
    case UCT_CAP_GET_ZCOPY:
        return tl->get_zcopy(ep, &rma, target_req(target), 0);
    default:
        return UCS_ERR_UNSUPPORTED;
    }
}

static ucs_status_t target_do(struct target *target, enum uct_cap cap,
                              uint64_t offset, size_t length)
{
    ucs_status_t status;

    do {
        status = target_try(target, cap, offset, length);
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(&target->world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    return target_wait(target, status);
}

static size_t length_max(const struct target *target, enum uct_cap cap)
{
    const struct uct_iface_attr *attr = &target->world.here->attr;
    size_t                       bytes;

    switch (cap) {
    case UCT_CAP_PUT_SHORT:
        bytes = attr->put.short_bytes_max;
        break;
    case UCT_CAP_PUT_BCOPY:
        bytes = attr->put.bcopy_bytes_max;
        break;
    case UCT_CAP_PUT_ZCOPY:
        bytes = attr->put.zcopy_bytes_max;
        break;
    case UCT_CAP_GET_BCOPY:
        bytes = attr->get.bcopy_bytes_max;
        break;
    default:
        bytes = attr->get.zcopy_bytes_max;
        break;
    }
    return ucs_min(bytes, (size_t)TARGET_LOCAL_BYTES);
}

/* Random lengths to random places; the bytes around stay as they were. */
static void random_transfers(const struct test_param *param, enum uct_cap cap)
{
    static uint8_t around[TARGET_LOCAL_BYTES + 2 * GUARD];
    static uint8_t after[TARGET_LOCAL_BYTES + 2 * GUARD];
    struct target  target;
    unsigned       round;
    uint64_t       offset;
    size_t         length;

    target_open(&target, param, cap, UCT_ACCESS_ALL);
    for (round = 0; round < 200; ++round) {
        length = test_random_below(length_max(&target, cap) + 1) >>
                 test_random_below(12);
        offset = GUARD + test_random_below(CONFORM_REGION_BYTES - length -
                                           2 * GUARD + 1);
        message_fill(around, round, length + 2 * GUARD);
        target_write(&target, offset - GUARD, around, length + 2 * GUARD);
        message_fill(target.local, ~(uint64_t)round, length);
        conform_must(target_do(&target, cap, offset, length), "transfer");
        target_flush(&target);
        if (is_put(cap)) {
            memcpy(around + GUARD, target.local, length);
        } else {
            ck_assert_mem_eq(target.local, around + GUARD, length);
        }
        target_read(&target, offset - GUARD, after, length + 2 * GUARD);
        ck_assert_mem_eq(after, around, length + 2 * GUARD);
    }
    target_close(&target);
}

static void put_short__lands_where_asked(const struct test_param *param)
{
    random_transfers(param, UCT_CAP_PUT_SHORT);
}

static void put_bcopy__lands_where_asked(const struct test_param *param)
{
    random_transfers(param, UCT_CAP_PUT_BCOPY);
}

static void put_zcopy__lands_where_asked(const struct test_param *param)
{
    random_transfers(param, UCT_CAP_PUT_ZCOPY);
}

static void get_bcopy__brings_what_is_there(const struct test_param *param)
{
    random_transfers(param, UCT_CAP_GET_BCOPY);
}

static void get_zcopy__brings_what_is_there(const struct test_param *param)
{
    random_transfers(param, UCT_CAP_GET_ZCOPY);
}

static const enum uct_cap all_caps[] = {UCT_CAP_PUT_SHORT, UCT_CAP_PUT_BCOPY,
                                        UCT_CAP_PUT_ZCOPY, UCT_CAP_GET_BCOPY,
                                        UCT_CAP_GET_ZCOPY};

static bool can_any(const struct test_param *param)
{
    const struct conform_param *conform = param->value;
    unsigned                    index;

    for (index = 0; index < UCS_ARRAY_COUNT(all_caps); ++index) {
        if (ucti_transport_can(conform->transport, all_caps[index])) {
            return true;
        }
    }
    return false;
}

/* The first operation of either direction that the transport has. */
static enum uct_cap first_cap(const struct test_param *param)
{
    const struct conform_param *conform = param->value;
    unsigned                    index   = 0;

    if (!can_any(param)) {
        test_skip("put_short"); /* and all the others */
    }
    while (!ucti_transport_can(conform->transport, all_caps[index])) {
        ++index;
    }
    return all_caps[index];
}

static void bounds__are_those_of_the_region(const struct test_param *param)
{
    struct target target;
    uint8_t       word[8];
    unsigned      index;
    enum uct_cap  cap;

    target_open(&target, param, first_cap(param), UCT_ACCESS_ALL);
    memset(target.local, 0x33, 64);
    for (index = 0; index < UCS_ARRAY_COUNT(all_caps); ++index) {
        cap = all_caps[index];
        if (!ucti_transport_can(target.world.here->tl, cap)) {
            continue;
        }
        conform_must(target_do(&target, cap, CONFORM_REGION_BYTES - 8, 8),
                     "the last bytes");
        ck_assert_int_eq(target_do(&target, cap, CONFORM_REGION_BYTES - 7, 8),
                         UCS_ERR_INVALID_ADDR);
        ck_assert_int_eq(target_do(&target, cap, CONFORM_REGION_BYTES, 1),
                         UCS_ERR_INVALID_ADDR);
        ck_assert_int_eq(target_do(&target, cap, (uint64_t)-1, 8),
                         UCS_ERR_INVALID_ADDR);
        ck_assert_int_eq(
            target_do(&target, cap, UINT64_MAX - target.address, 8),
            UCS_ERR_INVALID_ADDR);
    }
    conform_must(target.lane->ep->failed, "the endpoint");
    target_read(&target, 0, word, sizeof(word));
    ck_assert_int_eq(word[0], 0);
    target_close(&target);
}

static void rights__are_those_of_the_region(const struct test_param *param)
{
    static const unsigned rights[] = {UCT_ACCESS_LOCAL, UCT_ACCESS_REMOTE_READ,
                                      UCT_ACCESS_REMOTE_WRITE};
    struct target         target;
    unsigned              index, right, needed;
    ucs_status_t          status;

    for (right = 0; right < UCS_ARRAY_COUNT(rights); ++right) {
        target_open(&target, param, first_cap(param), rights[right]);
        for (index = 0; index < UCS_ARRAY_COUNT(all_caps); ++index) {
            if (!ucti_transport_can(target.world.here->tl, all_caps[index])) {
                continue;
            }
            needed = is_put(all_caps[index]) ? UCT_ACCESS_REMOTE_WRITE
                                             : UCT_ACCESS_REMOTE_READ;
            status = target_do(&target, all_caps[index], 0, 8);
            ck_assert_int_eq(status, (rights[right] & needed)
                                         ? UCS_OK
                                         : UCS_ERR_INVALID_ADDR);
        }
        target_close(&target);
    }
}

static void rkey__damaged_bytes_open_nothing(const struct test_param *param)
{
    enum uct_cap     cap = first_cap(param);
    struct target    target;
    struct uct_rkey *right, *rkey;
    uint8_t         *exact;
    uint8_t          bytes[UCT_RKEY_BYTES_MAX];
    struct host     *here;
    size_t           bit, size_bytes;
    ucs_status_t     status;

    target_open(&target, param, cap, UCT_ACCESS_ALL);
    here  = target.world.here;
    right = target.rkey;
    for (size_bytes = 0; size_bytes < target.rkey_bytes; ++size_bytes) {
        exact = malloc(size_bytes + 1);
        memcpy(exact, target.rkey_packed, size_bytes);
        ck_assert_int_eq(
            here->tl->rkey_unpack(here->md, exact, size_bytes, &rkey),
            UCS_ERR_INVALID_PARAM);
        free(exact);
    }
    for (bit = 0; bit < target.rkey_bytes * 8; ++bit) {
        memcpy(bytes, target.rkey_packed, target.rkey_bytes);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        status =
            here->tl->rkey_unpack(here->md, bytes, target.rkey_bytes, &rkey);
        if (status != UCS_OK) {
            ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
            continue;
        }
        /* Bounds may have changed in it; the address is then checked against
         * nonsense, and may even fit. What must not happen is a crash. */
        target.rkey = rkey;
        (void)target_do(&target, cap, 0, 8);
        here->tl->rkey_release(rkey);
    }
    target.rkey = right;
    conform_must(target_do(&target, cap, 0, 8), "with the right key");
    target_close(&target);
}

/* UCT_IFACE_PUT_BEFORE_AM, _PUT_DONE_AT_TARGET: the message that follows a
 * put that is done finds the bytes there. */
static struct target *seen_target;
static unsigned       seen_count;

static ucs_status_t on_look(void *arg, struct uct_source *source, void *data,
                            size_t length, unsigned flags)
{
    struct host *host = (struct host *)arg;
    uint64_t     expected;

    (void)source;
    (void)flags;
    memcpy(&expected, data, sizeof(expected));
    if ((length != 8) || (memcmp(host->region, &expected, 8) != 0)) {
        host_bad(host, "a message came before its put");
    }
    ++seen_count;
    return UCS_OK;
}

static size_t pack_word(void *dest, void *arg)
{
    memcpy(dest, arg, 8);
    return 8;
}

static void put__is_there_before_a_message(const struct test_param *param)
{
    enum uct_cap  cap = first_cap(param);
    struct target target;
    struct host  *there;
    uint64_t      round;

    if (!is_put(cap)) {
        test_skip("put_short");
    }
    target_open(&target, param, cap, UCT_ACCESS_ALL);
    seen_target = &target;
    there       = target.world.there;
    if (!(target.world.here->attr.flags &
          (UCT_IFACE_PUT_BEFORE_AM | UCT_IFACE_PUT_DONE_AT_TARGET)) ||
        (there == NULL)) {
        /* With two processes the handler would be the other's. */
        there = target.world.there;
        target_close(&target);
        test_skip((there == NULL) ? "one process only" : "put_before_am");
    }
    there = (there->shared != NULL) ? there->shared : there;
    ucti_iface_set_am(there->iface, AM_NOBODY, on_look, there);
    for (round = 1; round < 2000; ++round) {
        memcpy(target.local, &round, 8);
        conform_must(target_do(&target, cap, 0, 8), "put");
        while (uct_ep_am_bcopy(target.lane->ep, AM_NOBODY, pack_word, &round, 8,
                               0) == UCS_ERR_WOULD_BLOCK) {
            world_step(&target.world);
        }
        while (seen_count < round) {
            world_step(&target.world);
        }
    }
    target_close(&target);
}

static const struct test_case cases[] = {TEST(put_short__lands_where_asked),
                                         TEST(put_bcopy__lands_where_asked),
                                         TEST(put_zcopy__lands_where_asked),
                                         TEST(get_bcopy__brings_what_is_there),
                                         TEST(get_zcopy__brings_what_is_there),
                                         TEST(bounds__are_those_of_the_region),
                                         TEST(rights__are_those_of_the_region),
                                         TEST(rkey__damaged_bytes_open_nothing),
                                         TEST(put__is_there_before_a_message),
                                         {0}};

struct test_suite conform_rma_suite = {.name = "conform_rma", .cases = cases};
