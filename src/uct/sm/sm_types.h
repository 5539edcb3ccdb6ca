/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_types.h - the objects of the shared-memory transport.
 *
 *   iface ---- segment (ours: what is sent to us)
 *     |------- channel *   a sender of ours: the reading end of its ring,
 *     |          `- source *   one for each of its endpoints
 *     |------- peer *      an interface we send to: the writing end of our
 *     |          `- ep *       channel in its segment
 *     `------- watch *     a process of theirs: is it alive?
 *
 * Lifetimes: channels, peers and watches are freed by the look (sm_look.c)
 * and by iface_close() only, never while a callback runs. A callback may
 * destroy endpoints; nothing else that progress holds goes away under it.
 *
 * Threads: the worker's. Other processes touch the segments only. */
#ifndef UCT_SM_TYPES_H_
#define UCT_SM_TYPES_H_

#include "ucs/fd.h"
#include "ucs/list.h"
#include "uct/api/transport.h"
#include "uct/base/complete.h"
#include "uct/sm/sm_address.h"
#include "uct/sm/sm_options.h"
#include "uct/sm/sm_speed.h"
#include "uct/sm/sm_rma.h"
#include "uct/sm/sm_segment.h"

enum uct_sm_limit {
    /* Longest am_short: header and payload are a ring record of 8 lines. A
     * chunk is quicker from there on; measured, docs/transports/sm.md. */
    UCT_SM_SHORT_BYTES_MAX = 8 * UCT_SM_LINE_BYTES - UCT_SM_CONTROL_BYTES,
    /* Messages handed up from one channel before the next one is looked at.
     * Guess. */
    UCT_SM_BATCH_COUNT_MAX = 64,
    /* Channels polled at most. */
    UCT_SM_POLLED_COUNT_MAX = 64,
    /* progress calls between two looks at the clock. */
    UCT_SM_LOOK_CALL_COUNT = 64,
    /* Time between two looks at everything that is not a ring. */
    UCT_SM_LOOK_NS = 10 * 1000 * 1000,
    /* Messages shorter than this part of a chunk are not kept: they would
     * use up the pool. */
    UCT_SM_KEEP_PART        = 8,
    UCT_SM_BUCKET_COUNT     = 256,
    UCT_SM_REACHED_COUNT    = 64,
    UCT_SM_IOV_COUNT_MAX    = 16,
    UCT_SM_HEADER_BYTES_MAX = 1024, /* of am_zcopy */
    UCT_SM_CHUNK_COUNT_MIN  = 16,
    /* Endpoints of one sender. */
    UCT_SM_SOURCE_COUNT_MAX = 1 << 20,
};

struct uct_sm_iface;
struct uct_sm_link;

/* What iface_reach() found out. */
struct uct_sm_reached {
    uint64_t segment_id;
    int32_t  pid;
    int32_t  fd;
};

/* A descriptor of the interface's event set. */
struct uct_sm_event {
    void (*ready)(struct uct_sm_iface *iface, struct uct_sm_event *event);
};

/* Another process.
 * pidfd      -1: cannot be watched, the socket tells its end
 * use_count  peers and channels that look at it */
struct uct_sm_watch {
    struct uct_sm_event event;
    struct ucs_list     link; /* in iface->watches */
    uint64_t            process_start;
    int32_t             pid;
    int                 pidfd;
    unsigned            use_count;
    bool                is_dead;
};

/*         attach            attached                   owner left, died
 *   NEW ----------> WAITING ----------> READY ---------------------> GONE
 *    '---- no socket needed -------------^                             ^
 *    '-----------'--- cannot be attached ------------------------------'  */
enum uct_sm_peer_state {
    UCT_SM_PEER_NEW,
    UCT_SM_PEER_WAITING,
    UCT_SM_PEER_READY,
    UCT_SM_PEER_GONE,
};

/* An interface that we send to; all endpoints to it share one.
 * polled_p       what to look at after a message: the entry's word, or a word
 *                that is always 0 when a fence is needed first
 * inline_bytes_max  longer messages go into chunks
 * failed         GONE: what operations return
 * is_broken      failed during an operation; the look reports it
 * is_mapped      mapping is open: READY, and GONE until it is freed
 * free_indexes   [free_room] source indices to use again, free_count
 * index_count    source indices ever used
 * eps, closing   endpoints; those destroyed whose end is not in the ring yet
 * bell           its bell pipe, opened when first needed; -1
 * rights, rights_reason  as in uct_ep, which shows them
 * peer_rights    what its channel to us says
 * segment_address  where it has its segment; confirmed_ns: when that was
 *                read from its memory last */
struct uct_sm_peer {
    const _Atomic uint32_t   *polled_p;
    struct uct_sm_ring_writer writer;
    size_t                    inline_bytes_max;
    struct uct_sm_mapping     mapping;
    struct uct_sm_chunk_user  chunks;
    struct uct_sm_iface      *iface;
    struct ucs_list           link; /* in a bucket of iface->peers */
    struct ucs_list           eps;
    struct ucs_list           closing;
    enum uct_sm_peer_state    state;
    ucs_status_t              failed;
    bool                      is_broken;
    bool                      is_mapped;
    bool                      must_fence;
    uint32_t                 *free_indexes;
    uint32_t                  free_room;
    uint32_t                  free_count;
    uint32_t                  index_count;
    int                       bell;
    struct uct_sm_watch      *watch;
    struct uct_sm_link       *socket;
    struct uct_sm_address     address;
    uint8_t                   rights;
    uint8_t                   peer_rights;
    uint64_t                  segment_address;
    uint64_t                  confirmed_ns;
    char                      rights_reason[UCT_REASON_BYTES_MAX];
};

/* A sender of ours.
 * sources      [source_room]; NULL: not seen yet, or ended
 * is_active    something came since the last look
 * is_dead      the sender had ended before it could be watched
 * failed       the sender broke the rules: nothing is read any more
 * kept_count   chunks of it that the user keeps
 * bell         as in peer */
struct uct_sm_channel {
    struct uct_sm_ring_reader reader;
    struct uct_source       **sources;
    uint32_t                  source_room;
    unsigned                  index;
    unsigned                  kept_count;
    unsigned                  batch_count;
    bool                      is_active;
    bool                      is_polled;
    bool                      is_dead;
    ucs_status_t              failed;
    int                       bell;
    struct uct_sm_entry      *entry;
    struct uct_sm_sender      sender;
    struct uct_sm_watch      *watch;
    struct uct_sm_link       *socket;
};

/* control is a control word with nothing but our source index.
 * is_ready     attached, has an index: the quick path
 * wants_chunk, wants_lines, wants_copy  what the last refused operation
 *              lacked
 * is_copying   in iface->copies.eps; the first of inflight is a copy */
struct uct_sm_ep {
    struct uct_ep       base;
    struct uct_sm_peer *peer;
    uint64_t            control;
    bool                is_ready;
    bool                wants_chunk;
    bool                wants_copy;
    bool                is_copying;
    uint8_t             wants_lines;
    struct ucs_list     link; /* in peer->eps or peer->closing */
    struct uct_inflight inflight;
    struct ucs_list     copying_link;
};

/* polled, polled_count  channels that progress looks at
 * channels       [channel_room], by index; NULL: not met
 * look_in_calls  calls of progress until the next look
 * look_wanted    something is to be done in the next look
 * kept, kept_by  a bit for each chunk that the user keeps, and whose it was:
 *                channel index + 1
 * closing_count  endpoints in all peers' closing lists
 * is_armed       arm() said OK: no channel is polled
 * bell           pipe: [0] is in the event set, others write to [1]; -1
 * process_id     who opened it
 * rights         enum uct_right: what may be tried on peers, and why not more
 * is_child       a forked child closes its copy: what it shares with its
 *                parent (segments, the event set) stays as it is */
struct uct_sm_iface {
    struct uct_iface        base;
    struct uct_sm_channel  *polled[UCT_SM_POLLED_COUNT_MAX];
    unsigned                polled_count;
    unsigned                look_in_calls;
    struct uct_sm_copies    copies;
    struct uct_sm_segment   segment;
    struct uct_sm_channel **channels;
    unsigned                channel_room;
    unsigned                channel_count;
    uint32_t                claim_count_seen;
    unsigned                kept_count;
    unsigned                closing_count;
    unsigned                waiting_count;
    bool                    is_armed;
    bool     must_fence;     /* no barrier reaches us: after each publish */
    bool     awaits_barrier; /* until one does, or cannot */
    bool     reap_wanted;
    bool     look_wanted;
    uint64_t looked_ns;
    struct ucs_event_set  events;
    int                   bell[2];
    struct uct_sm_event   bell_event;
    int                   listener;
    struct uct_sm_event   listener_event;
    struct ucs_list       links; /* sockets */
    unsigned              link_count;
    struct ucs_list       watches;
    struct ucs_list       peers[UCT_SM_BUCKET_COUNT];
    struct uct_sm_options options;
    struct uct_sm_speed   speed;
    struct uct_sm_address address;
    pid_t                 process_id;
    bool                  is_child;
    uint8_t               rights;
    char                  rights_reason[UCT_REASON_BYTES_MAX];
    struct uct_sm_reached reached[UCT_SM_REACHED_COUNT];
    uint64_t              kept[UCT_SM_HINT_WORD_COUNT];
    uint16_t              kept_by[UCT_SM_CHUNK_COUNT_MAX];
};

#endif
