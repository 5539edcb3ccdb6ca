/* SPDX-License-Identifier: BSD-3-Clause */
/* play.c - one message between two workers over the mock, arrow by arrow. */
#include "ucp/play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/api/causeway.h"
#include "ucp/proto/rdma_shared.h"

enum { TAG = 5, TAG_OTHER = 6, POISON = 0xa5, SEED = 3, ROOM_BYTES = 1 << 20 };

/* What buffered sends go out of. */
static uint8_t play_room[ROOM_BYTES];

static const struct play_wire wire_plain = {MOCK_OLDEST, false};
static const struct play_wire wire_late  = {MOCK_OLDEST, true};
static const struct play_wire wire_puts  = {MOCK_PUTS_LAST, false};

const struct test_param play_wires[] = {{"in_order", &wire_plain},
                                        {"late_completions", &wire_late},
                                        {"puts_last", &wire_puts},
                                        {0}};

const struct mock_control *play_mock(void)
{
    static const struct mock_control *mock;

    if (mock == NULL) {
        mock = mock_open(MOCK_MODULE_DIR);
        ck_assert_msg(mock != NULL, "no mock in %s", MOCK_MODULE_DIR);
    }
    return mock;
}

void play_problem(struct play *play, const char *format, ...)
{
    va_list args;

    if (play->problem[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(play->problem, sizeof(play->problem), format, args);
        va_end(args);
    }
}

/* ---- opening ---- */

/* The channel of a side's second endpoint: the last that it sent on. */
static uint64_t play_last_channel(const struct play *play, unsigned side)
{
    uint64_t channel = 0;
    unsigned index;

    for (index = 0; index < play->mock->event_count(); ++index) {
        const struct mock_event *event = play->mock->event(index);

        if ((event->type == MOCK_AM) && (event->from == side)) {
            channel = event->channel;
        }
    }
    return channel;
}

/* A second pair of endpoints, to lie from. */
static void play_open_others(struct play *play)
{
    uint32_t word = 0;

    for (int side = 0; side < 2; ++side) {
        play->pair.others[side] =
            pair_connect(&play->pair, side, UCP_ERR_HANDLING_MODE_PEER);
    }
    for (int side = 0; side < 2; ++side) {
        void *receive =
            pair_receive(&play->pair, 1 - side, &word, sizeof(word), TAG_OTHER);
        void *send = ucp_tag_send_nbx(play->pair.others[side], &word,
                                      sizeof(word), TAG_OTHER, &pair_no_param);

        ck_assert_int_eq(pair_wait(&play->pair, send), UCS_OK);
        ck_assert_int_eq(pair_wait(&play->pair, receive), UCS_OK);
        pair_settle(&play->pair);
        play->sides[side].other_channel =
            play_last_channel(play, (unsigned)side);
    }
}

static void play_open_side(struct play_side      *side,
                           const struct scenario *scenario,
                           enum ucp_dt_class type, size_t bytes)
{
    size_t block_bytes =
        (scenario->block_bytes != 0) ? scenario->block_bytes : 100;
    size_t piece_count =
        (scenario->piece_count != 0) ? scenario->piece_count : PLAY_PIECE_COUNT;
    const causeway_dt_level_t level = {bytes / block_bytes,
                                       (ptrdiff_t)(5 * block_bytes / 2)};

    side->status = UCS_INPROGRESS;
    switch (type) {
    case UCP_DT_IOV:
        layout_of_iov(&side->layout, bytes, piece_count);
        break;
    case UCP_DT_STRIDED:
        ck_assert_uint_eq(bytes % block_bytes, 0);
        layout_of_strided(&side->layout, block_bytes, &level, 1, 0, 1);
        layout_clear(&side->layout);
        break;
    case UCP_DT_CONTIG:
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        /* Its pack function may give a few bytes at a time. */
        layout_draw(&side->layout, type, bytes);
        break;
    }
}

void play_open(struct play *play, const struct scenario *scenario,
               const struct play_wire *wire)
{
    const char *const *env   = scenario->env;
    struct pair_setup  setup = {.tls = "mock"};

    memset(play, 0, sizeof(*play));
    play->scenario = scenario;
    play->wire     = wire;
    play->mock     = play_mock();
    play->mock->reset();
    if (scenario->prepare != NULL) {
        scenario->prepare(play->mock->setup);
    }
    for (; *env != NULL; env += 2) {
        if (strcmp(env[0], "UCX_RNDV_THRESH") == 0) {
            setup.rndv_threshold = env[1];
        } else if (strcmp(env[0], "UCX_ZCOPY_THRESH") == 0) {
            setup.zcopy_threshold = env[1];
        } else {
            (void)setenv(env[0], env[1], 1);
        }
    }
    pair_open_setup(&play->pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&play->pair);
    play_open_others(play);
    pair_settle(&play->pair);
    play_open_side(&play->sides[0], scenario, scenario->send_type,
                   scenario->bytes);
    play_open_side(&play->sides[1], scenario, scenario->receive_type,
                   (scenario->receive_bytes != 0) ? scenario->receive_bytes
                                                  : scenario->bytes);
    layout_fill(&play->sides[0].layout, SEED);
    if (scenario->is_buffered) {
        ck_assert_int_eq(causeway_worker_attach_buffer(play->pair.workers[0],
                                                       play_room, ROOM_BYTES),
                         UCS_OK);
    }
    play->mock->forget_events();
    play->mock->setup->is_held        = true;
    play->mock->setup->completes_late = wire->completes_late;
}

/* ---- going on ---- */

void play_receive(struct play *play)
{
    struct play_side   *side  = &play->sides[1];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype     = side->layout.datatype};

    side->request =
        ucp_tag_recv_nbx(play->pair.workers[1], side->layout.buffer,
                         side->layout.count, TAG, UINT64_MAX, &param);
    side->is_posted = true;
}

void play_start(struct play *play)
{
    const struct scenario *scenario = play->scenario;
    struct play_side      *side     = &play->sides[0];
    const struct layout   *layout   = &side->layout;
    ucp_ep_h               ep       = play->pair.eps[0];
    ucp_request_param_t    param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                    .datatype     = layout->datatype};

    if (scenario->receive_after == 0) {
        play_receive(play);
    }
    side->is_posted = true;
    if (scenario->is_buffered) {
        side->request = causeway_tag_send_buffered_nbx(
            ep, layout->buffer, layout->count, TAG, &param);
    } else if (scenario->is_sync) {
        side->request = ucp_tag_send_sync_nbx(ep, layout->buffer, layout->count,
                                              TAG, &param);
    } else {
        side->request =
            ucp_tag_send_nbx(ep, layout->buffer, layout->count, TAG, &param);
    }
}

static ucs_status_t play_request_status(const struct play_side *side)
{
    return UCS_PTR_IS_PTR(side->request)
               ? ucp_request_check_status(side->request)
               : UCS_PTR_RAW_STATUS(side->request);
}

/* Poison the buffers of requests that have completed meanwhile. */
static void play_observe(struct play *play)
{
    for (int i = 0; i < 2; ++i) {
        struct play_side *side = &play->sides[i];

        if (!side->is_posted || side->is_dead ||
            (side->status != UCS_INPROGRESS)) {
            continue;
        }
        side->status = play_request_status(side);
        if (side->status != UCS_INPROGRESS) {
            if ((i == 1) && (side->status == UCS_OK) &&
                layout_differs(&side->layout, play->scenario->bytes, SEED)) {
                play_problem(play, "the receive is complete, its bytes or "
                                   "those around them are wrong");
            }
            memset(side->layout.memory, POISON, side->layout.memory_bytes);
        }
    }
}

bool play_is_done(const struct play *play, int side)
{
    return play->sides[side].status != UCS_INPROGRESS;
}

bool play_is_over(const struct play *play, int side)
{
    const struct ucp_buffered *buffered = &play->pair.workers[side]->buffered;

    return play_is_done(play, side) &&
           ((buffered->buffer == NULL) || (buffered->arena.used_count == 0));
}

/* How long R waits for S before it reads: real time decides nothing here. */
static void play_set_patience(const struct play *play, int side)
{
    struct ucp_share *share;

    ucs_list_for_each (share, &play->pair.workers[side]->shares, link) {
        share->seen = share->rndv->ep->fragment_count;
        /* Since the beginning of time, or since a moment ago. */
        share->since_ns = play->scenario->is_alone ? 1 : 0;
    }
}

void play_quiet(struct play *play)
{
    unsigned quiet = 0;

    for (unsigned i = 0; i < PLAY_QUIET_COUNT; ++i) {
        unsigned count = 0;

        for (int side = 0; side < 2; ++side) {
            if (!play->sides[side].is_dead) {
                play_set_patience(play, side);
                count += ucp_worker_progress(play->pair.workers[side]);
            }
            play_observe(play);
        }
        quiet = (count == 0) ? quiet + 1 : 0;
        if (quiet == 3) {
            return;
        }
    }
    play_problem(play, "progress never comes to rest");
}

const struct mock_event *play_next(struct play *play)
{
    uint64_t number = play->mock->next(play->wire->order);

    for (unsigned i = 0; (number != 0) && (i < play->mock->event_count());
         ++i) {
        if (play->mock->event(i)->number == number) {
            return play->mock->event(i);
        }
    }
    return NULL;
}

bool play_arrow(struct play *play)
{
    uint64_t number;

    if (!play->sides[1].is_posted &&
        (play->arrows >= play->scenario->receive_after) &&
        !play->sides[1].is_dead) {
        play_receive(play);
        play_quiet(play);
    }
    number = play->mock->next(play->wire->order);
    if (number == 0) {
        return false;
    }
    (void)play->mock->deliver(number);
    ++play->arrows;
    play_quiet(play);
    return true;
}

void play_run(struct play *play)
{
    play_quiet(play);
    while (play_arrow(play)) {
        if (play->arrows > PLAY_ARROW_COUNT) {
            play_problem(play, "more than %d arrows", (int)PLAY_ARROW_COUNT);
            return;
        }
    }
}

/* ---- the end ---- */

static void play_check_poison(struct play *play, int index)
{
    const struct play_side *side = &play->sides[index];

    for (size_t i = 0; i < side->layout.memory_bytes; ++i) {
        if (side->layout.memory[i] != POISON) {
            play_problem(play,
                         "byte %zu of %c's buffer changed after its "
                         "request had completed",
                         i, (index == 0) ? 'S' : 'R');
            return;
        }
    }
}

void play_check(struct play *play)
{
    for (int i = 0; i < 2; ++i) {
        struct play_side  *side   = &play->sides[i];
        struct ucp_worker *worker = play->pair.workers[i];

        if (side->is_dead) {
            continue;
        }
        if (!play_is_done(play, i)) {
            play_problem(play, "%c's request never completes",
                         (i == 0) ? 'S' : 'R');
            continue;
        }
        if (!play_is_over(play, i)) {
            play_problem(play, "%zu messages are left in the attached buffer",
                         worker->buffered.arena.used_count);
        }
        play_check_poison(play, i);
        if (worker->ids.count != 0) {
            play_problem(play, "%u ids are left at %c",
                         (unsigned)worker->ids.count, (i == 0) ? 'S' : 'R');
        }
        if (play->mock->mem_count((unsigned)i) != 0) {
            play_problem(play, "%u registrations are left at %c",
                         play->mock->mem_count((unsigned)i),
                         (i == 0) ? 'S' : 'R');
        }
    }
    if (play->mock->bad()[0] != '\0') {
        play_problem(play, "%s", play->mock->bad());
    }
}

void play_close(struct play *play)
{
    play->mock->setup->is_held        = false;
    play->mock->setup->completes_late = false;
    for (int i = 0; i < 2; ++i) {
        struct play_side *side = &play->sides[i];

        if (UCS_PTR_IS_PTR(side->request)) {
            ucp_request_cancel(play->pair.workers[i], side->request);
            ucp_request_free(side->request);
        }
        if (UCS_PTR_IS_PTR(side->close)) {
            ucp_request_free(side->close);
        }
    }
    pair_abandon(&play->pair);
    layout_free(&play->sides[0].layout);
    layout_free(&play->sides[1].layout);
    for (const char *const *env = play->scenario->env; *env != NULL; env += 2) {
        (void)unsetenv(env[0]);
    }
}
