/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_crowd.c - a thousand peers over real sockets: the one that all talk
 * with needs two of them, and an idle endpoint costs at most 4 KiB.
 *
 *     hub, 2 sockets  <== message, answer ==>  peers[0 .. 999], 2 sockets each
 *
 * They talk and close some at a time: a socket of the hub holds the packets of
 * some hundred of them, and to poll a thousand for one would take all the time.
 * 10,000 peers are simulated: test/sim/sim --star 10000. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "uct/api/uct.h"
#include "uct/suites.h"
#include "uct/udp/udp.h"
#include "uct/udp_wild.h"

enum {
    CROWD_PEER_COUNT     = 1000,
    CROWD_SOME_COUNT     = 50,
    CROWD_FD_COUNT       = 8 * CROWD_PEER_COUNT, /* of a process, at most */
    CROWD_AM_ID          = 3,
    CROWD_IDLE_BYTES_MAX = 4096,
    CROWD_PATIENCE_S     = 60,
};

/* ep, has_sent  a peer's, to the hub; got: messages that came */
struct crowd_host {
    struct uct_iface *iface;
    struct uct_ep    *ep;
    bool              has_sent;
    unsigned          got;
    uint8_t           address[UDP_ADDRESS_BYTES];
};

/* The hub's end to each. */
struct crowd_end {
    struct uct_ep *ep;
    bool           has_sent;
};

/* Peers [first, end). */
struct crowd_part {
    unsigned first, end;
};

static struct uct_md    *md;
static struct crowd_host hub, peers[CROWD_PEER_COUNT];
static struct crowd_end  ends[CROWD_PEER_COUNT];

static ucs_status_t crowd_message(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    struct crowd_host *host = (struct crowd_host *)arg;

    (void)source;
    (void)data;
    (void)flags;
    ck_assert_uint_eq(length, sizeof(uint64_t));
    ++host->got;
    return UCS_OK;
}

static void crowd_error(struct uct_ep *ep, ucs_status_t status)
{
    (void)ep;
    ck_abort_msg("a peer is given up: %s", ucs_status_string(status));
}

static void open_md(void)
{
    struct uct_device device;

    wild_find_lo(&device);
    ck_assert_int_eq(ucti_md_open(&device, &md), UCS_OK);
}

static void open_host(struct crowd_host *host)
{
    const struct uct_iface_params params = {
        .failure_bound_ns = (uint64_t)CROWD_PATIENCE_S * UCS_NS_PER_S,
    };

    memset(host, 0, sizeof(*host));
    ck_assert_int_eq(ucti_iface_open(md, &params, &host->iface), UCS_OK);
    ucti_iface_set_am(host->iface, CROWD_AM_ID, crowd_message, host);
    uct_udp_transport.iface_address(host->iface, host->address);
}

static struct uct_ep *connect_to(struct crowd_host       *host,
                                 const struct crowd_host *other)
{
    const struct uct_ep_params params = {.address       = other->address,
                                         .address_bytes = UDP_ADDRESS_BYTES,
                                         .error         = crowd_error};
    struct uct_ep             *ep;

    ck_assert_int_eq(uct_udp_transport.ep_create(host->iface, &params, &ep),
                     UCS_OK);
    return ep;
}

/* The first try asks for the connection, later ones send. */
static void try_to_send(struct uct_ep *ep, bool *has_sent)
{
    if (!*has_sent) {
        *has_sent = (uct_udp_transport.am_short(ep, CROWD_AM_ID, 1, NULL, 0,
                                                0) == UCS_OK);
    }
}

static void progress_part(const struct crowd_part *part)
{
    unsigned index;

    (void)uct_udp_transport.progress(hub.iface);
    for (index = part->first; index < part->end; ++index) {
        (void)uct_udp_transport.progress(peers[index].iface);
    }
}

static bool have_talked(void *arg)
{
    const struct crowd_part *part = (const struct crowd_part *)arg;
    unsigned                 index;

    for (index = part->first; index < part->end; ++index) {
        try_to_send(ends[index].ep, &ends[index].has_sent);
        if ((peers[index].got > 0) && (peers[index].ep == NULL)) {
            peers[index].ep = connect_to(&peers[index], &hub);
        }
        if (peers[index].ep != NULL) {
            try_to_send(peers[index].ep, &peers[index].has_sent);
        }
    }
    progress_part(part);
    return hub.got == part->end;
}

/* Everybody who has to do something is in this process: on a busy machine a
 * yield in each of some hundred rounds would take all the time. */
static bool all_here(bool (*fn)(void *), struct crowd_part *part)
{
    uint64_t deadline_ns =
        ucsi_clock_ns() + (uint64_t)CROWD_PATIENCE_S * UCS_NS_PER_S;
    bool is_true;

    do {
        is_true = fn(part);
    } while (!is_true && (ucsi_clock_ns() < deadline_ns));
    return is_true;
}

/* One message each way between the hub and these. */
static void talk(struct crowd_part *part)
{
    unsigned index;

    for (index = part->first; index < part->end; ++index) {
        ends[index] = (struct crowd_end){.ep = connect_to(&hub, &peers[index])};
    }
    ck_assert_msg(all_here(have_talked, part), "peers %u to %u do not answer",
                  part->first, part->end);
}

static unsigned ending_count(const struct crowd_host *host)
{
    return udp_iface_of(host->iface)->env.ending_count;
}

/* Nobody has to wait for another's end when it closes. */
static bool have_ended(void *arg)
{
    const struct crowd_part *part  = (const struct crowd_part *)arg;
    unsigned                 count = ending_count(&hub), index;

    progress_part(part);
    for (index = part->first; index < part->end; ++index) {
        count += ending_count(&peers[index]);
    }
    return count == 0;
}

static void say_goodbye(struct crowd_part *part)
{
    unsigned index;

    for (index = part->first; index < part->end; ++index) {
        ck_assert_uint_eq(peers[index].got, 1);
        uct_udp_transport.ep_destroy(ends[index].ep);
        uct_udp_transport.ep_destroy(peers[index].ep);
    }
    ck_assert_msg(all_here(have_ended, part), "peers %u to %u do not end",
                  part->first, part->end);
    for (index = part->first; index < part->end; ++index) {
        ucti_iface_close(peers[index].iface);
    }
}

static void for_parts(void (*call)(struct crowd_part *part))
{
    struct crowd_part part = {.end = 0};

    while (part.end < CROWD_PEER_COUNT) {
        part.first = part.end;
        part.end += CROWD_SOME_COUNT;
        call(&part);
    }
}

/* What the pools have beyond their first chunks, or those. */
static size_t pool_bytes(const struct crowd_host *host, bool is_first)
{
    struct udp_env               *env   = &udp_iface_of(host->iface)->env;
    size_t                        bytes = 0;
    const struct ucs_mpool_chunk *chunk;
    const struct ucs_mpool       *pool;
    unsigned                      index;

    for (index = 0; (pool = udp_env_pool(env, index)) != NULL; ++index) {
        for (chunk = pool->chunks; chunk != NULL; chunk = chunk->next) {
            bytes +=
                ((chunk->next == NULL) == is_first) ? chunk->size_bytes : 0;
        }
    }
    return bytes;
}

static size_t all_pool_bytes(bool is_first)
{
    size_t   bytes = pool_bytes(&hub, is_first);
    unsigned index;

    for (index = 0; index < CROWD_PEER_COUNT; ++index) {
        bytes += pool_bytes(&peers[index], is_first);
    }
    return bytes;
}

/* The heap, but for what an interface has once, however many peers it has. */
static size_t heap_bytes(void)
{
    return test_heap_bytes() - all_pool_bytes(true);
}

/* Interfaces notice by themselves that a second was quiet. */
static bool have_rested(void *arg)
{
    progress_part((const struct crowd_part *)arg);
    return all_pool_bytes(false) == 0;
}

/* Whoever is polled needs no helper, and one that looked at a thousand would
 * be in the way. */
static void open_crowd(void)
{
    struct rlimit limit;
    unsigned      index;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = ucs_min(limit.rlim_max, (rlim_t)CROWD_FD_COUNT);
    if ((limit.rlim_cur < CROWD_FD_COUNT) ||
        (setrlimit(RLIMIT_NOFILE, &limit) != 0)) {
        test_skip("ulimit -n is below 8000");
    }
    open_md();
    ck_assert_int_eq(setenv("UCX_UDP_HELPER", "n", 1), 0);
    open_host(&hub);
    ck_assert_int_eq(setenv("UCX_UDP_SEGMENT_COUNT", "64", 1), 0);
    for (index = 0; index < CROWD_PEER_COUNT; ++index) {
        open_host(&peers[index]);
    }
    ck_assert_int_eq(unsetenv("UCX_UDP_SEGMENT_COUNT"), 0);
    ck_assert_int_eq(unsetenv("UCX_UDP_HELPER"), 0);
}

/* Entries of /proc/self/fd, with the one that looks. */
static unsigned open_count(void)
{
    DIR     *folder = opendir("/proc/self/fd");
    unsigned count  = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL) {
        ++count;
    }
    (void)closedir(folder);
    return count;
}

/* All connections go by the sockets that were there; only who is talked to
 * most may have one of its own on each channel (ADR 35), and that is the hub's
 * choice: the others say too little. */
static void crowd__memory_of_an_idle_endpoint(const struct test_param *param)
{
    struct crowd_part all = {.end = CROWD_PEER_COUNT};
    size_t            before, burst, bytes;
    unsigned          fds;

    (void)param;
    open_crowd();
    before = heap_bytes();
    fds    = open_count();
    ck_assert_uint_ge(fds, 2 * (CROWD_PEER_COUNT + 1));
    for_parts(talk);
    ck_assert_uint_le(open_count(), fds + UDP_CHANNEL_COUNT);
    burst = (heap_bytes() - before) / (2 * CROWD_PEER_COUNT);
    ck_assert_msg(test_wait_until(have_rested, &all, CROWD_PATIENCE_S),
                  "the pools keep %zu bytes", all_pool_bytes(false));
    bytes = (heap_bytes() - before) / (2 * CROWD_PEER_COUNT);
    printf("%u peers: %zu bytes for an idle endpoint, %zu after the burst\n",
           (unsigned)CROWD_PEER_COUNT, bytes, burst);
    ck_assert_uint_le(bytes, CROWD_IDLE_BYTES_MAX);
    for_parts(say_goodbye);
    ucti_iface_close(hub.iface);
    ucti_md_close(md);
}

/* Two seconds of processor time, which a busy machine gives in a minute. */
static const struct test_case cases[] = {
    TEST_TIMEOUT(crowd__memory_of_an_idle_endpoint, 300), {0}};

const struct test_suite udp_crowd_suite = {.name = "udp_crowd", .cases = cases};
