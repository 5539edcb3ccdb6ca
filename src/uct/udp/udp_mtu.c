/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_mtu.c - the search for the path's packet length. */
#include "uct/udp/udp_mtu.h"

#include "ucs/assert.h"
#include "uct/udp/udp_wire.h"

enum { MTU_GRAIN = 8 };

void udp_mtu_init(struct udp_mtu *mtu, uint32_t largest_bytes, uint64_t now_ns)
{
    largest_bytes = ucs_min(largest_bytes, (uint32_t)UDP_PACKET_BYTES_MAX);
    largest_bytes = ucs_max(largest_bytes, (uint32_t)UDP_PACKET_BYTES_MIN);
    largest_bytes -= largest_bytes % MTU_GRAIN;
    *mtu = (struct udp_mtu){.good_bytes    = UDP_PACKET_BYTES_MIN,
                            .bad_bytes     = largest_bytes + MTU_GRAIN,
                            .largest_bytes = largest_bytes,
                            .due_ns        = now_ns};
}

static bool mtu_is_found(const struct udp_mtu *mtu)
{
    return (mtu->good_bytes == mtu->largest_bytes) ||
           (mtu->bad_bytes - mtu->good_bytes <= UDP_MTU_STEP_BYTES);
}

/* The search is over; look again much later, the path may have changed. */
static void mtu_rest(struct udp_mtu *mtu, uint64_t now_ns)
{
    mtu->probe_bytes = 0;
    mtu->due_ns      = (mtu->good_bytes == mtu->largest_bytes)
                           ? UINT64_MAX
                           : now_ns + UDP_MTU_AGAIN_NS;
}

static void mtu_is_bad(struct udp_mtu *mtu, uint64_t now_ns)
{
    mtu->bad_bytes   = ucs_min(mtu->bad_bytes, mtu->probe_bytes);
    mtu->probe_bytes = 0;
    mtu->try_count   = 0;
    mtu->due_ns      = now_ns;
    if (mtu_is_found(mtu)) {
        mtu_rest(mtu, now_ns);
    }
}

static uint32_t mtu_next(const struct udp_mtu *mtu)
{
    uint32_t middle;

    if ((mtu->hint_bytes > mtu->good_bytes) &&
        (mtu->hint_bytes < mtu->bad_bytes)) {
        return mtu->hint_bytes;
    }
    if (mtu->bad_bytes > mtu->largest_bytes) {
        return mtu->largest_bytes;
    }
    middle = (mtu->good_bytes + mtu->bad_bytes) / 2;
    return middle - middle % MTU_GRAIN;
}

uint32_t udp_mtu_step(struct udp_mtu *mtu, uint64_t now_ns)
{
    if (now_ns < mtu->due_ns) {
        return 0;
    }
    if ((mtu->probe_bytes != 0) && (mtu->try_count >= UDP_MTU_TRY_COUNT)) {
        mtu_is_bad(mtu, now_ns);
    }
    if (now_ns < mtu->due_ns) {
        return 0;
    }
    if (mtu_is_found(mtu)) { /* the long rest is over */
        mtu->bad_bytes = mtu->largest_bytes + MTU_GRAIN;
    }
    if (mtu->good_bytes == mtu->largest_bytes) {
        mtu_rest(mtu, now_ns);
        return 0;
    }
    mtu->probe_bytes = mtu_next(mtu);
    mtu->is_out      = false;
    return mtu->probe_bytes;
}

void udp_mtu_sent(struct udp_mtu *mtu, uint32_t number, uint64_t now_ns,
                  uint64_t wait_ns)
{
    ucs_assert(mtu->probe_bytes != 0);
    mtu->probe_number = number;
    mtu->due_ns       = now_ns + wait_ns;
    mtu->is_out       = true;
    ++mtu->try_count;
}

void udp_mtu_refused(struct udp_mtu *mtu, uint64_t now_ns)
{
    if (mtu->probe_bytes != 0) {
        mtu_is_bad(mtu, now_ns);
    }
}

void udp_mtu_hint(struct udp_mtu *mtu, uint32_t packet_bytes, uint64_t now_ns)
{
    packet_bytes = ucs_max(packet_bytes, (uint32_t)UDP_PACKET_BYTES_MIN);
    packet_bytes -= packet_bytes % MTU_GRAIN;
    if (mtu->probe_bytes > packet_bytes) {
        mtu->hint_bytes = packet_bytes;
        mtu_is_bad(mtu, now_ns);
    } else if ((mtu->good_bytes > packet_bytes) &&
               ((mtu->hinted_ns == 0) ||
                (now_ns - mtu->hinted_ns >= UDP_MTU_HINT_NS))) {
        udp_mtu_black_hole(mtu, now_ns);
        mtu->hint_bytes = packet_bytes;
        mtu->hinted_ns  = now_ns;
    }
}

bool udp_mtu_answered(struct udp_mtu *mtu, uint32_t number, uint64_t now_ns)
{
    if ((mtu->probe_bytes == 0) || !mtu->is_out ||
        (number != mtu->probe_number)) {
        return false;
    }
    mtu->good_bytes  = mtu->probe_bytes;
    mtu->probe_bytes = 0;
    mtu->try_count   = 0;
    mtu->hint_bytes  = 0;
    mtu->due_ns      = now_ns;
    if (mtu_is_found(mtu)) {
        mtu_rest(mtu, now_ns);
    }
    return true;
}

void udp_mtu_black_hole(struct udp_mtu *mtu, uint64_t now_ns)
{
    mtu->bad_bytes   = mtu->largest_bytes + MTU_GRAIN;
    mtu->good_bytes  = UDP_PACKET_BYTES_MIN;
    mtu->probe_bytes = 0;
    mtu->try_count   = 0;
    mtu->due_ns      = now_ns;
}
