/* SPDX-License-Identifier: BSD-3-Clause */
/* ways.c - the ways to break a conversation: cancel, close, death; copies and
 * lies; refusals and failures of the transport. */
#include "ucp/ways.h"

#include <string.h>

#include "ucp/arrows.h"
#include "ucp/proto/layout.h"
#include "ucs/bytes.h"

/* ---- cancel, close, death ---- */

static bool kill_side(struct play *play, int side)
{
    play->mock->kill((unsigned)side);
    play->sides[side].is_dead = true;
    return true;
}

static bool way_kill_sender(struct play *play, struct copy *copy)
{
    (void)copy;
    return kill_side(play, 0);
}

static bool way_kill_receiver(struct play *play, struct copy *copy)
{
    (void)copy;
    return kill_side(play, 1);
}

bool way_cancel_side(struct play *play, int side)
{
    if (play_is_done(play, side) ||
        !UCS_PTR_IS_PTR(play->sides[side].request)) {
        return false;
    }
    ucp_request_cancel(play->pair.workers[side], play->sides[side].request);
    play->sides[side].is_taken_back =
        (ucp_request_check_status(play->sides[side].request) ==
         UCS_ERR_CANCELED);
    return true;
}

static bool way_cancel_send(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_cancel_side(play, 0);
}

static bool way_cancel_receive(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_cancel_side(play, 1);
}

bool way_close_side(struct play *play, int side,
                    const ucp_request_param_t *param)
{
    play->sides[side].close = ucp_ep_close_nbx(play->pair.eps[side], param);
    play->pair.eps[side]    = NULL;
    if (UCS_PTR_IS_ERR(play->sides[side].close)) {
        play_problem(
            play, "close: %s",
            ucs_status_string(UCS_PTR_STATUS(play->sides[side].close)));
    }
    return true;
}

static bool way_flush_sender(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_close_side(play, 0, &pair_no_param);
}

static bool way_flush_receiver(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_close_side(play, 1, &pair_no_param);
}

static bool way_force_sender(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_close_side(play, 0, &pair_force_param);
}

static bool way_force_receiver(struct play *play, struct copy *copy)
{
    (void)copy;
    return way_close_side(play, 1, &pair_force_param);
}

/* ---- copies and lies ---- */

static void say(struct play *play, const struct copy *copy)
{
    (void)play->mock->inject(copy->channel, copy->to, copy->am_id, copy->bytes,
                             copy->length);
    play_quiet(play);
}

static void way_say_again(struct play *play, const struct copy *copy)
{
    say(play, copy);
}

/* @param at  where the field lies; -1: the message has none. */
static bool lie(struct play *play, struct copy *copy, int at, uint64_t change)
{
    uint64_t value;

    if ((at < 0) || ((size_t)at + sizeof(uint64_t) > copy->length)) {
        return false;
    }
    value = ucs_get_le64(copy->bytes + at);
    ucs_put_le64(copy->bytes + at, value ^ change);
    say(play, copy);
    return true;
}

static const struct arrow_kind *kind_of(const struct copy *copy)
{
    struct mock_event event = {.type = MOCK_AM, .am_id = copy->am_id};

    return arrow_kind_of(&event);
}

static bool way_lie_index(struct play *play, struct copy *copy)
{
    return lie(play, copy, kind_of(copy)->id, 1);
}

static bool way_lie_generation(struct play *play, struct copy *copy)
{
    return lie(play, copy, kind_of(copy)->id, 1ull << 32);
}

static bool way_lie_offset(struct play *play, struct copy *copy)
{
    return lie(play, copy, kind_of(copy)->offset, 1ull << 40);
}

static bool way_lie_length(struct play *play, struct copy *copy)
{
    return lie(play, copy, kind_of(copy)->length, 1ull << 40);
}

/* A kind that there is not. */
static bool way_lie_layout(struct play *play, struct copy *copy)
{
    return lie(play, copy, kind_of(copy)->layout, 1 << 6);
}

/* The first run of a list is longer than its range. */
static bool way_lie_run(struct play *play, struct copy *copy)
{
    enum { HEAD_BYTES = 8, RUN_LENGTH = HEAD_BYTES + 8 };
    int layout = kind_of(copy)->layout;

    return (layout >= 0) && (copy->bytes[layout] == UCP_LAYOUT_LIST) &&
           lie(play, copy, layout + RUN_LENGTH, 1ull << 40);
}

static bool way_lie_cut(struct play *play, struct copy *copy)
{
    copy->length = ucs_min(copy->length, (size_t)7);
    say(play, copy);
    return true;
}

static bool way_lie_stranger(struct play *play, struct copy *copy)
{
    copy->channel = 0;
    say(play, copy);
    return true;
}

static bool way_lie_other(struct play *play, struct copy *copy)
{
    copy->channel = play->sides[1 - copy->to].other_channel;
    say(play, copy);
    return true;
}

/* ---- lanes that the reader has not ---- */

/* Where the names of lanes stand in a PUT or RGET; 0: it is neither. */
static size_t lanes_at(const struct mock_event *event)
{
    enum { CANDIDATE_AT = 24, CLAIM_BYTES = 12 };
    const struct arrow_kind *kind =
        (event == NULL) ? NULL : arrow_kind_of(event);
    bool is_shared;

    if ((kind == NULL) || (kind->layout < 0)) {
        return 0;
    }
    is_shared = (event->am_id == UCP_AM_RGET) &&
                (event->bytes[CANDIDATE_AT] == UCP_RNDV_SHARED);
    return (size_t)kind->layout + (is_shared ? CLAIM_BYTES : 0);
}

/* The ends have different lanes: this message names only some that its reader
 * has not. */
static bool way_lack_lanes(struct play *play, struct copy *copy)
{
    enum { NAMES_AT = 4 };
    const struct mock_event *event = play_next(play);
    size_t                   at    = lanes_at(event);

    if (at == 0) {
        return false;
    }
    copy->am_id = event->am_id;
    memcpy(copy->bytes, event->bytes, event->length);
    for (unsigned i = 0; i < copy->bytes[at + 1]; ++i) {
        uint8_t *name = copy->bytes + at + NAMES_AT + 4 * (size_t)i;

        ucs_put_le32(name, ~ucs_get_le32(name));
    }
    ck_assert(play->mock->change(event->number, copy->bytes));
    return true;
}

/* It came as fragments instead. */
static void way_see_fragments(struct play *play, const struct copy *copy)
{
    unsigned fragments = 0, gets = 0;

    for (unsigned i = 0; i < play->mock->event_count(); ++i) {
        const struct mock_event *event = play->mock->event(i);

        fragments +=
            (event->type == MOCK_AM) && (event->am_id == UCP_AM_FRAG) ? 1 : 0;
        gets += (event->type == MOCK_GET) ? 1 : 0;
    }
    if ((play->scenario->receive_status == UCS_OK) && (fragments == 0)) {
        play_problem(play, "no fragment has come");
    }
    if ((copy->am_id == UCP_AM_RGET) && (gets > 0)) {
        play_problem(play, "%u gets over lanes that R has not", gets);
    }
}

#define WAY_FAULT(_op, _host, _count, _status, _late)                          \
    {                                                                          \
        .op = _op, .host = _host, .count = _count, .status = _status,          \
        .late = _late                                                          \
    }

const struct way ways[] = {
    {"kill_sender", CUT, .before = way_kill_sender,
     .errors = {UCS_OK, UCS_ERR_CONNECTION_RESET}, .tells = {false, true}},
    {"kill_receiver", CUT, .before = way_kill_receiver,
     .errors = {UCS_ERR_CONNECTION_RESET, UCS_OK}, .tells = {true, false}},
    {"cancel_send", WHOLE, .before = way_cancel_send},
    {"cancel_receive", CUT, .before = way_cancel_receive},
    {"flush_sender", CUT, .before = way_flush_sender,
     .errors = {UCS_ERR_CANCELED, UCS_ERR_CANCELED}, .is_orderly = true},
    {"flush_receiver", CUT, .before = way_flush_receiver,
     .errors = {UCS_ERR_CONNECTION_RESET, UCS_OK}, .is_orderly = true},
    {"force_sender", CUT, .before = way_force_sender,
     .errors = {UCS_ERR_CANCELED, UCS_ERR_CONNECTION_RESET}},
    {"force_receiver", CUT, .before = way_force_receiver,
     .errors      = {UCS_ERR_CONNECTION_RESET, UCS_ERR_CANCELED},
     .leaves_peer = true},
    {"twice", LIE, .after = way_say_again, .needs_answer = true},
    {"late", LIE, .late = way_say_again, .needs_answer = true},
    {"wrong_index", LIE, .before = way_lie_index, .needs_answer = true},
    {"wrong_generation", LIE, .before = way_lie_generation,
     .needs_answer = true},
    {"wrong_offset", LIE, .before = way_lie_offset, .needs_answer = true},
    {"wrong_length", LIE, .before = way_lie_length, .needs_answer = true},
    {"wrong_layout", LIE, .before = way_lie_layout, .needs_answer = true},
    {"wrong_run", LIE, .before = way_lie_run, .needs_answer = true},
    {"cut_short", LIE, .before = way_lie_cut, .needs_answer = true},
    {"of_a_stranger", LIE, .before = way_lie_stranger, .needs_answer = true},
    {"of_another_endpoint", LIE, .before = way_lie_other, .needs_answer = true},
    {"lanes_that_the_reader_lacks", WHOLE, .before = way_lack_lanes,
     .late = way_see_fragments},
    {"sender_refused_once", WHOLE,
     .fault = WAY_FAULT(MOCK_ANY_SEND, 0, 1, UCS_ERR_WOULD_BLOCK, false)},
    {"sender_refused_long", WHOLE,
     .fault = WAY_FAULT(MOCK_ANY_SEND, 0, 7, UCS_ERR_WOULD_BLOCK, false)},
    {"receiver_refused_once", WHOLE,
     .fault = WAY_FAULT(MOCK_ANY_SEND, 1, 1, UCS_ERR_WOULD_BLOCK, false)},
    {"receiver_refused_long", WHOLE,
     .fault = WAY_FAULT(MOCK_ANY_SEND, 1, 7, UCS_ERR_WOULD_BLOCK, false)},
    {"sender_cannot_register", WHOLE,
     .fault = WAY_FAULT(MOCK_REGISTER, 0, 1, UCS_ERR_IO_ERROR, false)},
    {"receiver_cannot_register", WHOLE,
     .fault = WAY_FAULT(MOCK_REGISTER, 1, 1, UCS_ERR_IO_ERROR, false)},
    {"sender_cannot_use_key", WHOLE,
     .fault = WAY_FAULT(MOCK_UNPACK_KEY, 0, 1, UCS_ERR_INVALID_PARAM, false)},
    {"receiver_cannot_use_key", WHOLE,
     .fault = WAY_FAULT(MOCK_UNPACK_KEY, 1, 1, UCS_ERR_INVALID_PARAM, false)},
    {"put_fails", WHOLE,
     .fault = WAY_FAULT(MOCK_PUT_ZCOPY, 0, 1, UCS_ERR_IO_ERROR, false)},
    {"put_fails_late", WHOLE,
     .fault = WAY_FAULT(MOCK_PUT_ZCOPY, 0, 1, UCS_ERR_IO_ERROR, true)},
    {"get_fails", WHOLE,
     .fault = WAY_FAULT(MOCK_GET_ZCOPY, 1, 1, UCS_ERR_IO_ERROR, false)},
    {"get_fails_late", WHOLE,
     .fault = WAY_FAULT(MOCK_GET_ZCOPY, 1, 1, UCS_ERR_IO_ERROR, true)},
    {0},
};
