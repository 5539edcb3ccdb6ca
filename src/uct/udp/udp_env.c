/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_env.c - pools, hotel and queues. */
#include "uct/udp/udp_env.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"
#include "uct/udp/udp_conn.h"
#include "uct/udp/udp_crypt.h"

enum {
    ENV_TICK_NS          = 100 * 1000,
    ENV_RING_COUNT       = 2,  /* of the first chunk: 32 KiB each, */
    ENV_SHORT_RING_COUNT = 16, /* and 512 B */
    ENV_LARGE_COUNT      = 16,
    ENV_REASSEMBLY_COUNT = 4,
    ENV_FRAGMENT_COUNT   = 16,
    ENV_CRYPT_COUNT      = 4,
};

/* An interface that sent nothing for so long rests. */
#define ENV_REST_NS UCS_NS_PER_S

static const size_t env_pools[] = {
    offsetof(struct udp_env, small),
    offsetof(struct udp_env, large),
    offsetof(struct udp_env, fragments),
    offsetof(struct udp_env, rings),
    offsetof(struct udp_env, short_rings),
    offsetof(struct udp_env, held_small),
    offsetof(struct udp_env, held_large),
    offsetof(struct udp_env, held_huge),
    offsetof(struct udp_env, reassemblies),
    offsetof(struct udp_env, crypts),
};

struct ucs_mpool *udp_env_pool(struct udp_env *env, unsigned index)
{
    return (index < UCS_ARRAY_COUNT(env_pools))
               ? (struct ucs_mpool *)((uint8_t *)env + env_pools[index])
               : NULL;
}

static const struct ucs_counter_desc env_counters[UDP_COUNT_COUNT] = {
    [UDP_COUNT_RESENT]     = {"resent", "segments sent again"},
    [UDP_COUNT_TIMEOUTS]   = {"timeouts", "segments whose time was over"},
    [UDP_COUNT_PROBES]     = {"probes", "last segments sent again early"},
    [UDP_COUNT_DUPLICATES] = {"duplicates", "segments that came twice"},
    [UDP_COUNT_EARLY]      = {"early", "segments that came before others"},
    [UDP_COUNT_DETOURS]    = {"detours", "turns to or from another way"},
    [UDP_COUNT_NO_ROOM]    = {"no_room", "segments dropped: nobody takes them"},
    [UDP_COUNT_REFUSED] = {"refused", "connections beyond CONNS_PER_ADDRESS"},
    [UDP_COUNT_BAD_PACKET]     = {"bad_packet", "packets that make no sense"},
    [UDP_COUNT_BAD_TAG]        = {"bad_tag", "packets by who lacks the secret"},
    [UDP_COUNT_BAD_CONNECTION] = {"bad_connection",
                                  "packets for no connection of ours"},
    [UDP_COUNT_BAD_ACCESS]     = {"bad_access",
                                  "operations without key, bounds or right"},
};

const struct ucs_counter_table udp_counter_table = {
    .title = "udp", .descs = env_counters, .count = UDP_COUNT_COUNT};

static void env_clear_ring(struct ucs_mpool *pool, void *element)
{
    memset(element, 0, pool->params.element_bytes);
}

static void env_evict(struct ucs_hotel *hotel, uint32_t room, void *guest,
                      uint64_t now_ns)
{
    struct udp_segment *segment = (struct udp_segment *)guest;

    (void)hotel;
    (void)room;
    (void)now_ns;
    udp_conn_timed_out(segment->conn, segment);
}

struct env_pool {
    struct ucs_mpool *pool;
    const char       *name;
    size_t            bytes;
    unsigned          chunk, most;
};

static ucs_status_t env_init_pools(struct udp_env *env, unsigned segment_count)
{
    const struct env_pool pools[] = {
        {&env->small, "udp small segments",
         sizeof(struct udp_segment) + UDP_SMALL_BYTES, 32, segment_count},
        {&env->large, "udp segments",
         sizeof(struct udp_segment) + UDP_LARGE_BYTES, ENV_LARGE_COUNT,
         segment_count},
        {&env->fragments, "udp fragments", sizeof(struct udp_fragment),
         ENV_FRAGMENT_COUNT, 0},
        {&env->rings, "udp rings", UDP_WINDOW_COUNT * sizeof(void *),
         ENV_RING_COUNT, 0},
        {&env->short_rings, "udp short rings", UDP_RING_COUNT * sizeof(void *),
         ENV_SHORT_RING_COUNT, 0},
        {&env->held_small, "udp small messages",
         sizeof(struct udp_held) + UDP_SMALL_BYTES, 32, 0},
        {&env->held_large, "udp messages",
         sizeof(struct udp_held) + UDP_LARGE_BYTES, ENV_LARGE_COUNT,
         UDP_HELD_LARGE_MAX},
        {&env->held_huge, "udp long packets",
         sizeof(struct udp_held) + UDP_PACKET_BYTES_MAX, ENV_REASSEMBLY_COUNT,
         UDP_HELD_HUGE_MAX},
        {&env->reassemblies, "udp reassembly",
         sizeof(struct udp_reassembly) + UDP_MESSAGE_BYTES + UDP_HEADER_BYTES,
         ENV_REASSEMBLY_COUNT, UDP_WHOLE_COUNT_MAX},
        {&env->crypts, "udp keys", sizeof(struct udp_crypt), ENV_CRYPT_COUNT,
         0},
    };
    ucs_status_t status = UCS_OK;
    unsigned     index;

    for (index = 0; (index < UCS_ARRAY_COUNT(pools)) && (status == UCS_OK);
         ++index) {
        const struct ucs_mpool_params params = {
            .name              = pools[index].name,
            .element_bytes     = pools[index].bytes,
            .align_bytes       = _Alignof(struct udp_crypt),
            .chunk_count       = pools[index].chunk,
            .element_count_max = pools[index].most,
            .element_init      = ((pools[index].pool == &env->rings) ||
                             (pools[index].pool == &env->short_rings))
                                     ? env_clear_ring
                                     : NULL,
        };

        status = ucsi_mpool_init(pools[index].pool, &params);
    }
    ucs_assert(status == UCS_OK); /* the table is ours */
    return status;
}

ucs_status_t udp_env_init(struct udp_env *env, unsigned segment_count)
{
    const struct ucs_hotel_params hotel = {.room_count = segment_count,
                                           .tick_ns    = ENV_TICK_NS,
                                           .now_ns     = env->now_ns,
                                           .evict      = env_evict,
                                           .arg        = env};
    ucs_status_t                  status;

    status = env_init_pools(env, segment_count);
    if ((status == UCS_OK) && (env->ciphers != 0)) {
        env->scratch = malloc(UDP_IO_OUT_BYTES_MAX);
        status       = (env->scratch != NULL) ? UCS_OK : UCS_ERR_NO_MEMORY;
    }
    if (status == UCS_OK) {
        status = ucsi_hotel_init(&env->hotel, &hotel);
    }
    if (status != UCS_OK) {
        free(env->scratch);
        return status;
    }
    ucsi_timer_queue_init(&env->timers);
    ucs_list_init(&env->busy);
    ucs_list_init(&env->owing);
    ucs_list_init(&env->bundles);
    return UCS_OK;
}

void udp_env_cleanup(struct udp_env *env)
{
    ucsi_timer_queue_cleanup(&env->timers);
    ucsi_hotel_cleanup(&env->hotel);
    free(env->scratch);
    for (unsigned i = 0; udp_env_pool(env, i) != NULL; ++i) {
        (void)ucsi_mpool_cleanup(udp_env_pool(env, i), true);
    }
}

void udp_env_rest(struct udp_env *env)
{
    env->rest_ns = env->now_ns + ENV_REST_NS;
    if (env->sent_count_seen != env->sent_count) {
        env->sent_count_seen = env->sent_count;
        env->has_rested      = false;
    } else if (!env->has_rested) {
        env->has_rested = true;
        for (unsigned i = 0; udp_env_pool(env, i) != NULL; ++i) {
            (void)ucsi_mpool_trim(udp_env_pool(env, i));
        }
    }
}

struct udp_held *udp_env_hold(struct udp_env *env, size_t length)
{
    struct ucs_mpool *const pools[] = {[UDP_SHARE_SMALL] = &env->held_small,
                                       [UDP_SHARE_LARGE] = &env->held_large,
                                       [UDP_SHARE_HUGE]  = &env->held_huge};
    enum udp_share          share   = udp_held_share(length);
    struct udp_held *held = (struct udp_held *)ucs_mpool_get(pools[share]);

    if (held != NULL) {
        held->share      = (uint8_t)share;
        held->reassembly = NULL;
        held->data       = held->bytes;
    }
    return held;
}

bool udp_env_can_hold(struct udp_env *env, size_t length)
{
    struct udp_held *held = udp_env_hold(env, length);

    if (held != NULL) {
        udp_env_unhold(held);
    }
    return held != NULL;
}

void udp_env_unhold(struct udp_held *held)
{
    if (held->reassembly != NULL) {
        --held->conn->env->reassembly_count;
        ucs_mpool_put(held->reassembly);
    }
    ucs_mpool_put(held);
}

void **udp_env_ring(struct udp_env *env, unsigned count)
{
    ucs_assert((count == UDP_RING_COUNT) || (count == UDP_WINDOW_COUNT));
    return (void **)ucs_mpool_get((count == UDP_RING_COUNT) ? &env->short_rings
                                                            : &env->rings);
}

struct udp_segment *udp_env_segment(struct udp_env *env, size_t packet_bytes)
{
    struct ucs_mpool *pool =
        (packet_bytes <= UDP_SMALL_BYTES) ? &env->small : &env->large;

    ucs_assert(packet_bytes <= UDP_LARGE_BYTES);
    return (struct udp_segment *)ucs_mpool_get(pool);
}
