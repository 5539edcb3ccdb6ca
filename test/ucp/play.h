/* SPDX-License-Identifier: BSD-3-Clause */
/* play.h - one message between two workers over the mock, arrow by arrow.
 *
 *   side 0 = S = host 0                 side 1 = R = host 1
 *     ucp_tag_send   ---- the wire ---->  ucp_tag_recv
 *
 * play_quiet() lets both sides go on until they have nothing to do;
 * play_arrow() then lets the next thing on the wire arrive. A buffer is filled
 * with poison as soon as its request has completed, the receiver's after its
 * bytes were looked at; play_check() sees whether it stayed poison. */
#ifndef TEST_UCP_PLAY_H_
#define TEST_UCP_PLAY_H_

#include "mock/mock.h"
#include "ucp/core/worker.h"
#include "ucp/layout.h"
#include "ucp/pair.h"

enum play_limit {
    PLAY_ENV_COUNT     = 6,
    PLAY_ARROW_COUNT   = 600, /* more: it never ends */
    PLAY_QUIET_COUNT   = 20000,
    PLAY_PIECE_COUNT   = 5,
    PLAY_PROBLEM_BYTES = 4000,
};

/* A drawing: who sends what, over which transport, and its arrows.
 * prepare        changes the mock's default, or NULL
 * env            name, value, name, value ...
 * receive_bytes  0: as many as are sent
 * block_bytes    of strided data, 0: 100, which is packed; they divide bytes
 * piece_count    of an iov, 0: 5
 * receive_after  arrows that arrive before the receive is posted
 * is_alone       where both may move it (rdma_shared), R does not wait for S;
 *                otherwise it waits for ever
 * send_status, receive_status  how it ends when nothing breaks
 * arrows         ends with NULL */
struct scenario {
    const char *name;
    void (*prepare)(struct mock_setup *setup);
    const char       *env[2 * PLAY_ENV_COUNT + 1];
    size_t            bytes;
    size_t            receive_bytes;
    bool              is_sync;
    bool              is_buffered; /* S has attached a buffer */
    enum ucp_dt_class send_type;
    enum ucp_dt_class receive_type;
    size_t            block_bytes;
    size_t            piece_count;
    unsigned          receive_after;
    bool              is_alone;
    ucs_status_t      send_status;
    ucs_status_t      receive_status;
    const char       *arrows[32];
};

/* How the wire behaves: the value of a test_param. */
struct play_wire {
    enum mock_order order;
    bool            completes_late;
};

extern const struct test_param play_wires[];

/* One end of the message.
 * is_posted  the call was made; request NULL: done inside it
 * is_dead   killed, or its worker is destroyed
 * is_taken_back  its request was cancelled by the test, and nothing had come
 * status    UCS_INPROGRESS until the request completed */
struct play_side {
    void         *request;
    struct layout layout;
    ucs_status_t  status;
    bool          is_posted;
    bool          is_dead;
    bool          is_taken_back;
    void         *close;
    uint64_t      bad_ids;
    uint64_t      other_channel; /* of its second endpoint */
};

struct play {
    const struct scenario     *scenario;
    const struct play_wire    *wire;
    const struct mock_control *mock;
    struct pair                pair;
    struct play_side           sides[2];
    unsigned                   arrows; /* that have arrived */
    char                       problem[PLAY_PROBLEM_BYTES];
};

/* The mock's control; loads the module. */
const struct mock_control *play_mock(void);

/* Open both sides, let them meet, and hold the wire. */
void play_open(struct play *play, const struct scenario *scenario,
               const struct play_wire *wire);
/* Send, and post the receive unless it comes later. */
void play_start(struct play *play);
/* Post the receive. */
void play_receive(struct play *play);
/* Both sides go on until nothing happens. */
void play_quiet(struct play *play);
/* What arrives next, NULL: nothing is on the way. Lent until then. */
const struct mock_event *play_next(struct play *play);
/* Let it arrive. @return false: nothing was on the way. */
bool play_arrow(struct play *play);
/* The rest. */
void play_run(struct play *play);
/* Close and destroy everything. */
void play_close(struct play *play);

/* Is the request of that side complete? */
bool play_is_done(const struct play *play, int side);
/* And nothing of it waits in S's attached buffer? */
bool play_is_over(const struct play *play, int side);
/* Nothing is left over, nothing was touched. The requests are done. */
void play_check(struct play *play);
/* Note what is wrong; the first counts. */
void play_problem(struct play *play, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
