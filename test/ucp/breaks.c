/* SPDX-License-Identifier: BSD-3-Clause */
/* breaks.c - play a scenario again and again, each time broken in another way
 * (ways.h) or at another arrow, and judge what is left. */
#include "ucp/breaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/arrows.h"
#include "ucp/ways.h"

enum {
    COPY_BYTES        = 64 << 10,
    REPORT_BYTES      = 7000, /* check refuses messages of more than 8192 */
    BREAK_ARROW_COUNT = 30
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
    if ((kind == NULL) || !kind->is_answer || (event->length > COPY_BYTES)) {
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
    uint8_t *buffer = malloc(play->sides[1].layout.length + 1);
    void    *request =
        ucp_tag_recv_nbx(play->pair.workers[1], buffer,
                         play->sides[1].layout.length, 0, 0, &pair_no_param);

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
        (void)way_cancel_side(play, 1);
        play_run(play);
    }
    if (play->sides[0].is_dead || play_is_over(play, 0) ||
        play->sides[1].is_dead) {
        return;
    }
    receive_the_rest(play);
    if (!play_is_over(play, 0) && way->leaves_peer) {
        play->sides[0].is_taken_back = true;
        (void)way_close_side(play, 0, &pair_no_param);
        play_run(play);
    }
}

static const char *status_name(const struct play *play, int side)
{
    return ucs_status_string(play->sides[side].status);
}

static char side_name(int side)
{
    return (side == 0) ? 'S' : 'R';
}

static bool judge_is_drawn(const struct play *play, int side)
{
    return play->sides[side].status == ((side == 0)
                                            ? play->scenario->send_status
                                            : play->scenario->receive_status);
}

/* @return may a side's request end like that? */
static bool judge_status(const struct play *play, const struct way *way,
                         int side)
{
    ucs_status_t status = play->sides[side].status;

    return judge_is_drawn(play, side) ||
           ((way->outcome == CUT) && (status == way->errors[side])) ||
           ((status == UCS_ERR_CANCELED) && play->sides[side].is_taken_back);
}

static void judge_close(struct play *play, int side)
{
    void *close = play->sides[side].close;

    if (UCS_PTR_IS_PTR(close) && (ucp_request_check_status(close) != UCS_OK)) {
        play_problem(play, "the close of %c ends with: %s", side_name(side),
                     ucs_status_string(ucp_request_check_status(close)));
    }
}

/* Each endpoint that is open hears of the end of its peer, once; of anything
 * else nobody hears. */
static void judge_handlers(struct play *play, const struct way *way, int side)
{
    bool is_told = (way->outcome == CUT) && way->tells[side];
    int  count   = play->pair.error_count[side];

    if ((count != (is_told ? 1 : 0)) ||
        (is_told && (play->pair.error_status[side] != way->errors[side]))) {
        play_problem(play, "%c's error handler is told %d times: %s",
                     side_name(side), count,
                     ucs_status_string(play->pair.error_status[side]));
    }
    count = play->pair.other_error_count[side];
    if (count != (is_told ? 1 : 0)) {
        play_problem(play, "%c's other endpoint is told %d times",
                     side_name(side), count);
    }
}

static void judge(struct play *play, const struct way *way,
                  const struct copy *copy)
{
    for (int side = 0; side < 2; ++side) {
        if (!play->sides[side].is_dead && play_is_done(play, side) &&
            !judge_status(play, way, side)) {
            play_problem(play, "%c ends with: %s", side_name(side),
                         status_name(play, side));
        }
        judge_close(play, side);
        judge_handlers(play, way, side);
    }
    /* A buffered send was over before; an answer that crosses the close comes
     * too late for S. */
    if (way->is_orderly && !play->scenario->is_buffered &&
        judge_is_drawn(play, 0) && !judge_is_drawn(play, 1)) {
        play_problem(play, "S ends with %s, but R with %s",
                     status_name(play, 0), status_name(play, 1));
    }
    if ((way->outcome == LIE) && (play->pair.workers[copy->to]->bad_ids ==
                                  play->sides[copy->to].bad_ids)) {
        play_problem(play, "%c has not counted it", side_name((int)copy->to));
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

    for (unsigned i = 0; ways[i].name != NULL; ++i) {
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
