/* SPDX-License-Identifier: BSD-3-Clause */
/* breaks.c - the ways to break a conversation, and what must still hold.
 *
 * A way is applied while arrow k is on the wire and has not arrived; for
 * k = number of arrows, after the last. What is allowed afterwards:
 *
 *   WHOLE   nothing was lost: both ends as drawn
 *   LIE     as WHOLE, and the receiver of the lie has counted a bad id
 *   CUT     each end completes, with an error or as drawn; a receive that
 *           nothing has matched can be cancelled */
#include "ucp/breaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/arrows.h"
#include "ucs/bytes.h"

enum {
    COPY_BYTES        = 64 << 10,
    FIELD_BYTES       = 8,
    REPORT_BYTES      = 16000,
    BREAK_ARROW_COUNT = 30
};

enum outcome { WHOLE, LIE, CUT };

/* The message that a way is about; bytes [length]. */
struct copy {
    uint64_t channel;
    unsigned to;
    uint8_t  am_id;
    size_t   length;
    uint8_t *bytes;
};

struct way {
    const char  *name;
    enum outcome outcome;
    /* Before the arrow arrives; NULL: nothing. @return false: this way means
     * nothing here. */
    bool (*before)(struct play *play, struct copy *copy);
    /* After it arrived. */
    void (*after)(struct play *play, const struct copy *copy);
    /* After both are complete. */
    void (*late)(struct play *play, const struct copy *copy);
    bool needs_answer; /* only messages that name a request */
    /* Or a fault at the k-th operation. */
    struct mock_fault fault;
};

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

static bool cancel_side(struct play *play, int side)
{
    if (play_is_done(play, side) ||
        !UCS_PTR_IS_PTR(play->sides[side].request)) {
        return false;
    }
    ucp_request_cancel(play->pair.workers[side], play->sides[side].request);
    return true;
}

static bool way_cancel_send(struct play *play, struct copy *copy)
{
    (void)copy;
    return cancel_side(play, 0);
}

static bool way_cancel_receive(struct play *play, struct copy *copy)
{
    (void)copy;
    return cancel_side(play, 1);
}

static bool close_side(struct play *play, int side,
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
    return close_side(play, 0, &pair_no_param);
}

static bool way_flush_receiver(struct play *play, struct copy *copy)
{
    (void)copy;
    return close_side(play, 1, &pair_no_param);
}

static bool way_force_sender(struct play *play, struct copy *copy)
{
    (void)copy;
    return close_side(play, 0, &pair_force_param);
}

static bool way_force_receiver(struct play *play, struct copy *copy)
{
    (void)copy;
    return close_side(play, 1, &pair_force_param);
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

    if ((at < 0) || ((size_t)at + FIELD_BYTES > copy->length)) {
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

#define WAY_FAULT(_op, _host, _count, _status, _late)                          \
    {                                                                          \
        .op = _op, .host = _host, .count = _count, .status = _status,          \
        .late = _late                                                          \
    }

static const struct way ways[] = {
    {"kill_sender", CUT, .before = way_kill_sender},
    {"kill_receiver", CUT, .before = way_kill_receiver},
    {"cancel_send", CUT, .before = way_cancel_send},
    {"cancel_receive", CUT, .before = way_cancel_receive},
    {"flush_sender", CUT, .before = way_flush_sender},
    {"flush_receiver", CUT, .before = way_flush_receiver},
    {"force_sender", CUT, .before = way_force_sender},
    {"force_receiver", CUT, .before = way_force_receiver},
    {"twice", LIE, .after = way_say_again, .needs_answer = true},
    {"late", LIE, .late = way_say_again, .needs_answer = true},
    {"wrong_index", LIE, .before = way_lie_index, .needs_answer = true},
    {"wrong_generation", LIE, .before = way_lie_generation,
     .needs_answer = true},
    {"wrong_offset", LIE, .before = way_lie_offset, .needs_answer = true},
    {"wrong_length", LIE, .before = way_lie_length, .needs_answer = true},
    {"cut_short", LIE, .before = way_lie_cut, .needs_answer = true},
    {"of_a_stranger", LIE, .before = way_lie_stranger, .needs_answer = true},
    {"of_another_endpoint", LIE, .before = way_lie_other, .needs_answer = true},
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
};

/* ---- one run ---- */

/* What can be copied is: a message that names a request, if it must. */
static bool copy_take(struct play *play, const struct way *way,
                      struct copy *copy)
{
    const struct mock_event *event = play_next(play);
    const struct arrow_kind *kind;

    if (!way->needs_answer) {
        return true;
    }
    kind = (event == NULL) ? NULL : arrow_kind_of(event);
    if ((kind == NULL) || !kind->is_answer || (event->length > COPY_BYTES) ||
        (kind->is_data && (way->after != NULL))) {
        return false;
    }
    copy->channel = event->channel;
    copy->to      = event->to;
    copy->am_id   = event->am_id;
    copy->length  = event->length;
    memcpy(copy->bytes, event->bytes, event->length);
    return true;
}

/* Apply the way to what is on the wire. @return false: it means nothing. */
static bool break_now(struct play *play, const struct way *way,
                      struct copy *copy)
{
    if (!copy_take(play, way, copy)) {
        return false;
    }
    for (int side = 0; side < 2; ++side) {
        play->sides[side].bad_ids = play->pair.workers[side]->bad_ids;
    }
    if ((way->before != NULL) && !way->before(play, copy)) {
        return false;
    }
    play_quiet(play);
    if (way->after != NULL) {
        (void)play_arrow(play);
        way->after(play, copy);
    }
    return true;
}

/* Another receive takes what is left of the message, if it can. */
static void receive_the_rest(struct play *play)
{
    uint8_t *buffer = malloc(play->sides[1].bytes + 1);
    void    *request =
        ucp_tag_recv_nbx(play->pair.workers[1], buffer, play->sides[1].bytes, 0,
                         0, &pair_no_param);

    play_run(play);
    if (UCS_PTR_IS_PTR(request)) {
        if (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_request_cancel(play->pair.workers[1], request);
        }
        ucp_request_free(request);
    }
    free(buffer);
}

/* A receive that nothing has matched is taken back. A send that nobody has
 * asked for waits: for another receive, or, when the other end was closed,
 * until its own is (architecture 5a: an orderly end is no failure). */
static void end_of_cut(struct play *play, const struct way *way)
{
    if (!play->sides[1].is_dead && !play_is_done(play, 1)) {
        if (!play->sides[1].is_posted) {
            play_receive(play);
            play_run(play);
        }
        (void)cancel_side(play, 1);
        play_run(play);
    }
    if (play->sides[0].is_dead || play_is_done(play, 0) ||
        play->sides[1].is_dead) {
        return;
    }
    receive_the_rest(play);
    if (!play_is_done(play, 0) && (way->before == way_force_receiver)) {
        (void)close_side(play, 0, &pair_no_param);
        play_run(play);
    }
}

static const char *status_name(const struct play *play, int side)
{
    return ucs_status_string(play->sides[side].status);
}

static void judge(struct play *play, const struct way *way,
                  const struct copy *copy)
{
    const ucs_status_t drawn[] = {play->scenario->send_status,
                                  play->scenario->receive_status};

    for (int side = 0; side < 2; ++side) {
        ucs_status_t status = play->sides[side].status;

        if (play->sides[side].is_dead || (status == UCS_INPROGRESS)) {
            continue; /* play_check() sees the latter */
        }
        if ((status != drawn[side]) &&
            ((way->outcome != CUT) || !UCS_STATUS_IS_ERR(status))) {
            play_problem(play, "%c ends with: %s", (side == 0) ? 'S' : 'R',
                         status_name(play, side));
        }
        if (UCS_PTR_IS_PTR(play->sides[side].close) &&
            (ucp_request_check_status(play->sides[side].close) != UCS_OK)) {
            play_problem(play, "the close of %c ends with: %s",
                         (side == 0) ? 'S' : 'R',
                         ucs_status_string(ucp_request_check_status(
                             play->sides[side].close)));
        }
    }
    if ((way->outcome == LIE) && (play->pair.workers[copy->to]->bad_ids ==
                                  play->sides[copy->to].bad_ids)) {
        play_problem(play, "%c has not counted it",
                     (copy->to == 0) ? 'S' : 'R');
    }
}

/* @return false: this way means nothing at that arrow, or there is none. */
static bool break_run(struct play *play, const struct way *way, unsigned arrow,
                      struct copy *copy)
{
    bool is_done = false;
    bool means   = true;

    play_start(play);
    play_quiet(play);
    do {
        if (!is_done && (play->arrows == arrow)) {
            is_done = true;
            means   = break_now(play, way, copy);
        }
        if (play->arrows > PLAY_ARROW_COUNT) {
            play_problem(play, "it never ends");
            break;
        }
    } while (play_arrow(play));
    if (!is_done && (play->arrows == arrow) && !way->needs_answer) {
        is_done = true;
        means   = break_now(play, way, copy);
        play_run(play);
    }
    if (means && is_done && (way->late != NULL)) {
        way->late(play, copy);
    }
    return is_done && means;
}

static bool fault_run(struct play *play, const struct way *way, unsigned nth)
{
    struct mock_fault fault = way->fault;
    unsigned          id;

    fault.first = nth + 1;
    id          = play->mock->fault(&fault);
    play_start(play);
    play_run(play);
    return play->mock->fault_hits(id) > 0;
}

/* ---- all runs ---- */

struct report {
    char     text[REPORT_BYTES];
    size_t   used;
    unsigned runs;
    unsigned problems;
};

static void report_add(struct report *report, const struct play *play,
                       const struct way *way, unsigned arrow)
{
    int bytes;

    ++report->problems;
    bytes =
        snprintf(report->text + report->used,
                 sizeof(report->text) - report->used, "  %s, %s at %u: %s\n",
                 play->scenario->name, way->name, arrow, play->problem);
    report->used +=
        ucs_min((size_t)bytes, sizeof(report->text) - report->used - 1);
}

static void tell_arrows(const struct play *play)
{
    char text[ARROW_TEXT_BYTES];

    for (unsigned i = 0; i < play->mock->event_count(); ++i) {
        arrow_text(play->mock->event(i), text);
        (void)fprintf(stderr, "      %s\n", text);
    }
}

/* @return false: there is no such arrow, or operation. */
static bool break_once(const struct scenario  *scenario,
                       const struct play_wire *wire, const struct way *way,
                       unsigned arrow, struct report *report)
{
    bool         is_verbose = getenv("BREAKS_VERBOSE") != NULL;
    struct copy  copy       = {.bytes = malloc(COPY_BYTES)};
    struct play *play       = malloc(sizeof(*play));
    bool         is_fault   = way->fault.count > 0;
    bool         means, has_more;

    if (is_verbose) {
        (void)fprintf(stderr, "%s, %s at %u\n", scenario->name, way->name,
                      arrow);
    }
    play_open(play, scenario, wire);
    means    = is_fault ? fault_run(play, way, arrow)
                        : break_run(play, way, arrow, &copy);
    has_more = is_fault ? means : (play->arrows >= arrow);
    if (means) {
        if (way->outcome == CUT) {
            end_of_cut(play, way);
        }
        judge(play, way, &copy);
        play_check(play);
        ++report->runs;
    }
    if (is_verbose) {
        tell_arrows(play);
    }
    if (play->problem[0] != '\0') {
        report_add(report, play, way, arrow);
    }
    play_close(play);
    free(play);
    free(copy.bytes);
    return has_more;
}

static void break_all(const struct scenario  *scenario,
                      const struct play_wire *wire, struct report *report)
{
    const char *only = getenv("BREAKS");

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(ways); ++i) {
        if ((only != NULL) && (strcmp(only, ways[i].name) != 0)) {
            continue;
        }
        for (unsigned arrow = 0; arrow < BREAK_ARROW_COUNT; ++arrow) {
            if (!break_once(scenario, wire, &ways[i], arrow, report)) {
                break;
            }
        }
    }
}

void scenarios_survive(const struct scenario  *scenarios,
                       const struct play_wire *wire)
{
    static struct report report;

    memset(&report, 0, sizeof(report));
    for (; scenarios->name != NULL; ++scenarios) {
        break_all(scenarios, wire, &report);
    }
    ck_assert_msg(report.problems == 0, "%u of %u runs:\n%s", report.problems,
                  report.runs, report.text);
    ck_assert_uint_gt(report.runs, 0);
}

static void play_as_drawn(const struct scenario  *scenario,
                          const struct play_wire *wire)
{
    static char  difference[REPORT_BYTES];
    struct play *play = malloc(sizeof(*play));

    play_open(play, scenario, wire);
    play_start(play);
    play_run(play);
    ck_assert_msg(arrows_match(play->mock, ARROWS_WIRE, scenario->arrows,
                               difference, sizeof(difference)),
                  "%s: drawn | sent\n%s", scenario->name, difference);
    ck_assert_msg(play->sides[0].status == scenario->send_status,
                  "S ends with: %s", status_name(play, 0));
    ck_assert_msg(play->sides[1].status == scenario->receive_status,
                  "R ends with: %s", status_name(play, 1));
    play_check(play);
    ck_assert_msg(play->problem[0] == '\0', "%s: %s", scenario->name,
                  play->problem);
    play_close(play);
    free(play);
}

void scenarios_are_as_drawn(const struct scenario  *scenarios,
                            const struct play_wire *wire)
{
    for (; scenarios->name != NULL; ++scenarios) {
        play_as_drawn(scenarios, wire);
    }
}
