/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm.h - what the files of this transport call of one another. The
 * objects are in sm_types.h, what is shared between processes in sm_wire.h. */
#ifndef UCT_SM_H_
#define UCT_SM_H_

#include "uct/base/pending.h"
#include "uct/sm/sm_cma.h"
#include "uct/sm/sm_types.h"

static inline struct uct_sm_iface *uct_sm_iface_of(const struct uct_iface *base)
{
    return ucs_container_of(base, struct uct_sm_iface, base);
}

/* Ask for a look with the next call of progress. */
static inline void uct_sm_look_soon(struct uct_sm_iface *iface)
{
    iface->look_wanted   = true;
    iface->look_in_calls = 1;
}

/* ---- sm_ep.c: the send side of the contract ---- */
ucs_status_t uct_sm_ep_create(struct uct_iface           *base,
                              const struct uct_ep_params *params,
                              struct uct_ep             **ep_p);
void         uct_sm_ep_destroy(struct uct_ep *base);

/* ---- sm_send.c ---- */
ucs_status_t uct_sm_am_short(struct uct_ep *base, uint8_t am_id,
                             uint64_t header, const void *payload,
                             size_t length, unsigned flags);
ssize_t uct_sm_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                        void *arg, size_t length_max, unsigned flags);
ucs_status_t uct_sm_am_zcopy(struct uct_ep *base, uint8_t am_id,
                             const void *header, size_t header_length,
                             const struct uct_iov *iov, unsigned iov_count,
                             struct uct_req *req, unsigned flags);
ucs_status_t uct_sm_ep_flush(struct uct_ep *base, struct uct_req *req,
                             unsigned flags);
/* Make a closed endpoint's end known, if there is room. */
bool uct_sm_send_close(struct uct_sm_ep *ep);
/* For ucti_pending_serve(). */
enum uct_may_send uct_sm_may_send(struct uct_ep *base);

/* ---- sm_rights.c: who may read and write whose memory ---- */
/* What may be tried at all? names as in uct_iface_params. */
void uct_sm_rights_init(struct uct_sm_iface          *iface,
                        const struct ucs_config_list *names);
/* Try it on this peer, before its channel is claimed. */
void uct_sm_rights_probe(struct uct_sm_peer           *peer,
                         const struct uct_sm_identity *identity);
/* Is the process of that number still the peer? As uct_sm_cma_identify(). */
UCS_MUST_USE ucs_status_t uct_sm_peer_identify(const struct uct_sm_peer *peer);
/* Copy what its peer has into an endpoint. */
void uct_sm_rights_show(struct uct_sm_ep *ep);
/* A sender says what it may do to us: if it is a peer too, note it there. */
void uct_sm_rights_told(struct uct_sm_iface        *iface,
                        const struct uct_sm_sender *sender);
/* Has this new peer a channel to us, that says so already? */
void uct_sm_rights_ask(struct uct_sm_peer *peer);
/* What was allowed is refused now, with that error. */
void uct_sm_rights_lose(struct uct_sm_peer *peer, int error);

/* ---- sm_peer.c: those we send to ---- */
/* @return NULL: none of that id. */
struct uct_sm_peer *uct_sm_peer_find(struct uct_sm_iface *iface,
                                     uint64_t             segment_id);
/* Find or make the peer of an address. @return NULL: no memory. */
struct uct_sm_peer *uct_sm_peer_get(struct uct_sm_iface         *iface,
                                    const struct uct_sm_address *address);
/* Attach an endpoint's peer and give it a source index: the slow path of its
 * first send, and of every send after a failure.
 * @return UCS_OK; UCS_ERR_WOULD_BLOCK: not yet; why it will never work. */
ucs_status_t uct_sm_ep_prepare(struct uct_sm_ep *ep);
/* The memory is here: fd is identified. Takes nothing; fd stays the caller's.
 * @return UCS_OK: READY. Otherwise the peer is GONE. */
ucs_status_t uct_sm_peer_map(struct uct_sm_peer *peer, int fd,
                             const struct uct_sm_identity *identity);
/* Its owner left or died, or it cannot be attached. Callbacks run. */
void uct_sm_peer_gone(struct uct_sm_peer *peer, ucs_status_t status,
                      bool is_orderly);
/* Something is wrong with it; the next look calls peer_gone(). */
void uct_sm_peer_break(struct uct_sm_peer *peer, ucs_status_t status);
/* Whether barriers reach us is known by now: fence no more, or for ever. */
void uct_sm_peers_order(struct uct_sm_iface *iface);
/* Look at all: owner alive? Send what could not be closed. */
void uct_sm_peers_look(struct uct_sm_iface *iface);
/* Leave the channels of peers that no endpoint uses; of all when closing. */
void uct_sm_peers_reap(struct uct_sm_iface *iface, bool is_closing);

/* ---- sm_channel.c: those who send to us ---- */
/* The channel of that index, which rang or was claimed. @return NULL: there
 * is none (yet), or no memory. */
struct uct_sm_channel *uct_sm_channel_meet(struct uct_sm_iface *iface,
                                           unsigned             index);
/* The object of a sending endpoint, made when it is new. NULL: bad index,
 * or no memory. */
struct uct_source *uct_sm_channel_source(struct uct_sm_channel *channel,
                                         uint32_t               index);
/* There was none: break the channel, and say why. */
void uct_sm_channel_no_source(struct uct_sm_iface   *iface,
                              struct uct_sm_channel *channel, uint32_t index);
/* One endpoint of the sender is closed. */
void uct_sm_channel_close_source(struct uct_sm_iface   *iface,
                                 struct uct_sm_channel *channel,
                                 uint32_t               index);
/* The sender broke the rules, in one sentence. Nothing is read any more. */
void uct_sm_channel_break(struct uct_sm_iface   *iface,
                          struct uct_sm_channel *channel, const char *what);
/* Fence after we made room? As senders wish, and as barriers reach us. */
void uct_sm_channels_order(struct uct_sm_iface *iface);
/* Look at all: has the sender left, or died? Then read the rest and end. */
unsigned uct_sm_channels_look(struct uct_sm_iface *iface);
void     uct_sm_channels_cleanup(struct uct_sm_iface *iface);

/* ---- sm_progress.c: the receive side ---- */
unsigned uct_sm_progress(struct uct_iface *base);
void     uct_sm_am_release(struct uct_iface *base, void *data);
/* Hand up what is in a ring. @return messages; *is_empty_p false: stopped
 * before its end. */
unsigned uct_sm_channel_drain(struct uct_sm_iface   *iface,
                              struct uct_sm_channel *channel, bool *is_empty_p);

/* ---- sm_doorbell.c: who looks where, and who sleeps ---- */
void uct_sm_doorbell_ring_slow(struct uct_sm_peer *peer);
/* A message was committed: if its receiver does not look, tell it. */
static inline void uct_sm_doorbell_ring(struct uct_sm_peer *peer)
{
    /* The message is stored before polled is loaded. The processor may swap
     * them: who clears polled calls membarrier and looks at the ring once
     * more (docs/transports/sm.md, "Who looks"). */
    atomic_signal_fence(memory_order_seq_cst);
    if (ucs_unlikely(
            !atomic_load_explicit(peer->polled_p, memory_order_relaxed))) {
        uct_sm_doorbell_ring_slow(peer);
    }
}
/* Set a channel's bit by our own hand: more is to be read from it. */
static inline void uct_sm_doorbell_set(struct uct_sm_header *header,
                                       unsigned              index)
{
    (void)atomic_fetch_or_explicit(&header->bell[index / 64],
                                   UINT64_C(1) << (index % 64),
                                   memory_order_release);
    (void)atomic_fetch_or_explicit(&header->bell_summary,
                                   UINT64_C(1) << (index / 64),
                                   memory_order_release);
}
/* Close all cached bells of others: the process is short of descriptors. */
void uct_sm_bells_drop(struct uct_sm_iface *iface);
void uct_sm_room_made_slow(struct uct_sm_iface *iface);
/* Room was published: if a sender sleeps that waits for it, wake it. */
static inline void uct_sm_room_made(struct uct_sm_iface *iface)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (ucs_unlikely(atomic_load_explicit(&iface->segment.header->room_wanted,
                                          memory_order_relaxed) ||
                     iface->must_fence)) {
        uct_sm_room_made_slow(iface);
    }
}
unsigned uct_sm_doorbell_answer(struct uct_sm_iface *iface);
void     uct_sm_poll_add(struct uct_sm_iface   *iface,
                         struct uct_sm_channel *channel);
void     uct_sm_poll_remove(struct uct_sm_iface   *iface,
                            struct uct_sm_channel *channel);
/* Stop polling channels on which nothing came since the last look. */
void         uct_sm_poll_sweep(struct uct_sm_iface *iface);
ucs_status_t uct_sm_bell_open(struct uct_sm_iface *iface);
void         uct_sm_bell_close(struct uct_sm_iface *iface);
int          uct_sm_event_fd(struct uct_iface *base);
ucs_status_t uct_sm_arm(struct uct_iface *base);
void         uct_sm_disarm(struct uct_sm_iface *iface);

/* ---- sm_look.c: all that is not a ring, now and then ---- */
unsigned uct_sm_look(struct uct_sm_iface *iface);
/* Watch a process. @return NULL: no memory or descriptors (logged), or it is
 * not there any more: *is_dead_p. */
struct uct_sm_watch *uct_sm_watch_get(struct uct_sm_iface *iface, int32_t pid,
                                      uint64_t process_start, bool *is_dead_p);
void uct_sm_watch_put(struct uct_sm_iface *iface, struct uct_sm_watch *watch);
/* Can processes be watched? Not under valgrind 3.19 or an old container's
 * seccomp filter, which know no pidfd_open. */
bool uct_sm_watch_is_there(void);

/* Does it live at this moment? A system call. */
bool uct_sm_watch_is_alive(const struct uct_sm_watch *watch);

/* ---- sm_attach.c: get at a peer's memory ---- */
ucs_status_t uct_sm_reach(struct uct_iface *base, const uint8_t *bytes,
                          size_t size_bytes, char *reason);
/* @return UCS_OK: READY; UCS_ERR_WOULD_BLOCK: WAITING; else GONE (logged). */
ucs_status_t uct_sm_attach(struct uct_sm_peer *peer);

/* ---- sm_iface.c ---- */
extern const struct uct_transport uct_sm_transport;
ucs_status_t                      uct_sm_iface_open(struct uct_md                 *md,
                                                    const struct uct_iface_params *params,
                                                    struct uct_iface             **iface_p);
void                              uct_sm_iface_close(struct uct_iface *base);
void uct_sm_iface_query(const struct uct_iface *base,
                        struct uct_iface_attr  *attr);
void uct_sm_iface_address(const struct uct_iface *base, uint8_t *bytes);

#endif
