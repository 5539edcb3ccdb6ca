/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_wire.h - what lies where in a shared segment, and nothing else.
 *
 * An interface owns one segment. Whoever sends to it maps it, and everything
 * that is sent to it lies in it (docs/adr/0010):
 *
 *   0          header     who owns it, is it alive, does it sleep, doorbell
 *   4 KiB      directory  one entry of 256 B for each channel
 *              chunk words  one line for each chunk: who has it
 *              chunks     buffers for messages too long for a ring
 *              rings      8 KiB for each channel
 *
 *   sender A --ring 0--.                .--ring--> segment of A
 *   sender B --ring 1--+--> owner ------+
 *   sender C --ring 2--'                '--ring--> segment of C
 *
 * The segment is sparse: the header's page is allocated by the owner, entry
 * and ring by the sender that claims a channel, a chunk by its first user,
 * before they touch them. Everything here may be written by another process at
 * any time: it is loaded once, checked, then used. */
#ifndef UCT_SM_WIRE_H_
#define UCT_SM_WIRE_H_

#include <stdatomic.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "uct/api/claim.h"

enum uct_sm_wire_limit {
    UCT_SM_LINE_BYTES = UCS_CACHE_LINE_BYTES,
    UCT_SM_PAGE_BYTES = 4096,
    /* Lines of a ring: 8 KiB. A power of two, found by mask. */
    UCT_SM_RING_LINE_COUNT = 128,
    UCT_SM_RING_BYTES      = UCT_SM_RING_LINE_COUNT * UCT_SM_LINE_BYTES,
    /* Senders of one segment: one bit of the doorbell's 64 words each. */
    UCT_SM_CHANNEL_COUNT_MAX = 4096,
    UCT_SM_BELL_WORD_COUNT   = UCT_SM_CHANNEL_COUNT_MAX / 64,
    /* Chunks: one bit of the 16 words of hints each. */
    UCT_SM_CHUNK_COUNT_MAX = 1024,
    UCT_SM_HINT_WORD_COUNT = UCT_SM_CHUNK_COUNT_MAX / 64,
    UCT_SM_CHUNK_BYTES_MAX = 1 << 20,
    /* A message begins so far into its chunk that what follows its header
     * begins a line: less than this. */
    UCT_SM_CHUNK_MARGIN_BYTES = UCT_SM_LINE_BYTES,
    /* Words for protocols (uct/api/claim.h): what the header's page holds. */
    UCT_SM_CLAIM_COUNT = UCT_CLAIM_COUNT_MAX,
    /* Endpoints that share a channel: bits of a control word. */
    UCT_SM_SOURCE_INDEX_MAX = (1 << 24) - 1,
};

#define UCT_SM_MAGIC UINT64_C(0x31306d7377657363) /* "csewsm01" */
enum { UCT_SM_LAYOUT_VERSION = 4 };

/* What the owner says about itself before anyone can see the segment; it
 * never changes. */
struct uct_sm_identity {
    uint64_t magic;
    uint64_t segment_id;       /* random */
    uint64_t process_start;    /* clock ticks since boot, /proc/pid/stat */
    uint64_t pid_namespace_id; /* inode; 0 not known */
    uint64_t owner_address;    /* where the owner has the segment */
    int32_t  pid;              /* in that namespace */
    uint32_t layout_version;
    uint32_t chunk_count;
    uint32_t chunk_bytes; /* a multiple of the page */
    uint32_t needs_fence; /* 1: the owner cannot order others' processors */
};

enum uct_sm_alive {
    UCT_SM_ALIVE  = 1,
    UCT_SM_CLOSED = 2, /* the owner left in order */
};

struct uct_sm_header {
    UCS_ALIGNED(UCT_SM_LINE_BYTES) struct uct_sm_identity identity;
    /* The owner's, seldom changed; read by senders on their way to sleep or
     * when a ring is full.
     * alive    enum uct_sm_alive
     * bell_fd  the write end of the owner's bell pipe, -1: none */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t alive;
    _Atomic int32_t bell_fd;
    /* 1: the owner sleeps, or is about to. Who changes it to 0 rings. */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t asleep;
    /* Written by senders, seldom.
     * room_wanted   1: a sender that sleeps waits for room, see its entry
     * fence_wanted  1: a sender cannot order the owner's processor
     * claim_count   channels ever claimed, modulo 2^32
     * entry_count   entries that were ever used: the lowest numbers */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t room_wanted;
    _Atomic uint32_t fence_wanted;
    _Atomic uint32_t claim_count;
    _Atomic uint32_t entry_count;
    /* The doorbell of channels that the owner does not poll: a bit of bell
     * for each, and a bit here for each word of bell that has one. */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint64_t bell_summary;
    UCS_ALIGNED(UCT_SM_LINE_BYTES)
    _Atomic uint64_t bell[UCT_SM_BELL_WORD_COUNT];
    /* Chunks that are probably free; the words of the chunks decide. */
    UCS_ALIGNED(UCT_SM_LINE_BYTES)
    _Atomic uint64_t hint[UCT_SM_HINT_WORD_COUNT];
    struct uct_claim claims[UCT_SM_CLAIM_COUNT];
};
_Static_assert(sizeof(struct uct_sm_header) <= UCT_SM_PAGE_BYTES,
               "the header is one page");

/*            claim()            owner                 sender leaves
 *   FREE -------------> CLAIMED -------> (in use) ----------> CLOSED
 *     ^                                      |                  |
 *     '----- owner, all messages read -------'------------------'
 *                                  sender died                        */
enum uct_sm_channel_state {
    UCT_SM_CHANNEL_FREE    = 0,
    UCT_SM_CHANNEL_CLAIMED = 1, /* being filled in; pid is set */
    UCT_SM_CHANNEL_OPEN    = 2, /* sender is complete */
    UCT_SM_CHANNEL_CLOSED  = 3, /* the sender left in order */
};

/* Who sends on a channel. */
struct uct_sm_sender {
    uint64_t segment_id;
    uint64_t process_start;
    uint64_t pid_namespace_id;
    int32_t  pid;
    uint32_t by_socket; /* 1: attached over a socket, which tells its end */
    uint32_t rights;    /* enum uct_right: what it may do to the owner */
};

/* A channel's entry in the directory: four lines, by who writes them. */
struct uct_sm_entry {
    /* The sender's, once: state is (pid << 8 | enum uct_sm_channel_state),
     * pid 0 when it is not known here. */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint64_t state;
    struct uct_sm_sender sender;
    /* The owner's, often: lines read, ever. */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint64_t read_position;
    /* The owner's, seldom. 1: it looks at the ring by itself; 0: a message
     * must be followed by the doorbell.
     * refused  1: the sender broke the rules, nothing is read any more */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t polled;
    _Atomic uint32_t refused;
    /* The sender's, seldom.
     * room_wanted  1: it sleeps and waits for room
     * bell_fd      the write end of the sender's bell pipe, -1: none */
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t room_wanted;
    _Atomic int32_t bell_fd;
};
_Static_assert(sizeof(struct uct_sm_entry) == 4 * UCT_SM_LINE_BYTES,
               "an entry is four lines");

/* What a record is. */
enum uct_sm_kind {
    UCT_SM_KIND_PADDING = 0, /* nothing, up to the end of the ring */
    UCT_SM_KIND_INLINE  = 1, /* an active message; the payload is here */
    UCT_SM_KIND_CHUNK   = 2, /* an active message; where it lies is here */
    UCT_SM_KIND_CLOSE   = 3, /* the source ends in order */
    UCT_SM_KIND_COUNT,
};

/*   63         40 39          16 15    11 10   8 7    0
 *  |   length    | source index | am id  | kind | turn |  */
enum uct_sm_control_bits {
    UCT_SM_KIND_SHIFT   = 8,
    UCT_SM_AM_ID_SHIFT  = 11,
    UCT_SM_SOURCE_SHIFT = 16,
    UCT_SM_LENGTH_SHIFT = 40,
    UCT_SM_LENGTH_MAX   = (1 << 24) - 1,
};

/* A control word without its turn. */
static inline uint64_t uct_sm_control(enum uct_sm_kind kind, unsigned am_id,
                                      uint32_t source_index, size_t length)
{
    return ((uint64_t)kind << UCT_SM_KIND_SHIFT) |
           ((uint64_t)am_id << UCT_SM_AM_ID_SHIFT) |
           ((uint64_t)source_index << UCT_SM_SOURCE_SHIFT) |
           ((uint64_t)length << UCT_SM_LENGTH_SHIFT);
}

static inline unsigned uct_sm_control_kind(uint64_t control)
{
    return (control >> UCT_SM_KIND_SHIFT) & 7;
}

static inline unsigned uct_sm_control_am_id(uint64_t control)
{
    return (control >> UCT_SM_AM_ID_SHIFT) & 31;
}

static inline uint32_t uct_sm_control_source(uint64_t control)
{
    return (uint32_t)(control >> UCT_SM_SOURCE_SHIFT) & UCT_SM_SOURCE_INDEX_MAX;
}

static inline size_t uct_sm_control_length(uint64_t control)
{
    return (size_t)(control >> UCT_SM_LENGTH_SHIFT);
}

/* Where a message lies, in the record of its chunk.
 *   63     32 31          0
 *  |  start  | chunk index | */
static inline uint64_t uct_sm_place(unsigned chunk_index, unsigned start)
{
    return ((uint64_t)start << 32) | chunk_index;
}

/* How far into its chunk a message with such a header begins: 8-byte aligned,
 * and what follows the header in a line of its own. Measured with processors
 * that share no cache: `rep movsb`, which memcpy uses for more than some KiB,
 * takes 3.7 us to and from an aligned chunk for 64 KiB, 10.4 otherwise. */
static inline unsigned uct_sm_start(size_t header_bytes)
{
    return (unsigned)(-header_bytes & (UCT_SM_LINE_BYTES - 1) & ~(size_t)7);
}

/* From one chunk to the next. */
static inline size_t uct_sm_chunk_stride(size_t chunk_bytes)
{
    return chunk_bytes + UCT_SM_CHUNK_MARGIN_BYTES;
}

/* Who has a chunk. Alone in its line: sender and owner both write it. */
struct uct_sm_chunk_word {
    UCS_ALIGNED(UCT_SM_LINE_BYTES) _Atomic uint32_t word;
};

#endif
