/* SPDX-License-Identifier: BSD-3-Clause */
/* model_hotel.c - the hotel against a list of guests and their ends. */
#include "fuzz/models.h"

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/hotel.h"

enum { GUEST_COUNT = 48 };
#define NOW_NS_MAX (UINT64_MAX >> 1)

struct guest {
    bool     is_in;
    uint32_t room;
    uint64_t end_tick;
    uint64_t number;   /* of the check-in */
    uint64_t again_ns; /* on eviction check in again so long; 0: do not */
};

struct model {
    struct ucs_hotel hotel;
    struct guest     guests[GUEST_COUNT];
    uint32_t         room_count;
    uint32_t         in_count;
    unsigned         shift; /* log2 of the tick */
    uint64_t         now_ns;
    uint64_t         tick; /* of the last run, or of the one that is running */
    uint64_t         checkin_count;
    struct guest     last; /* a copy of the guest evicted last in this run */
    unsigned         evicted_count;
};

static void model_checkin(struct model *model, struct guest *guest,
                          uint64_t stay_ns)
{
    uint64_t end_ns = model->now_ns + stay_ns;
    uint64_t end_tick;

    guest->room =
        ucsi_hotel_checkin(&model->hotel, guest, model->now_ns, stay_ns);
    if (model->in_count == model->room_count) {
        ucs_check(guest->room == UCS_HOTEL_NO_ROOM);
        return;
    }
    ucs_check(guest->room < model->room_count);
    ucs_check(ucs_hotel_guest(&model->hotel, guest->room) == guest);
    if (end_ns < stay_ns) {
        end_ns = UINT64_MAX;
    }
    end_tick = end_ns >> model->shift;
    if ((end_tick << model->shift) != end_ns) {
        ++end_tick;
    }
    guest->end_tick = (end_tick > model->tick) ? end_tick : model->tick + 1;
    guest->is_in    = true;
    guest->number   = ++model->checkin_count;
    ++model->in_count;
}

static void model_checkout(struct model *model, struct guest *guest)
{
    ucs_check(ucsi_hotel_checkout(&model->hotel, guest->room) == guest);
    ucs_check(ucs_hotel_guest(&model->hotel, guest->room) == NULL);
    guest->is_in = false;
    --model->in_count;
}

/* Eviction: the guest is due, and nobody who is due before it is still in. */
static void model_evict(struct ucs_hotel *hotel, uint32_t room, void *arg,
                        uint64_t now_ns)
{
    struct model *model = hotel->arg;
    struct guest *guest = arg;
    struct guest *last  = &model->last;
    struct guest *other;

    ucs_check(guest->is_in && (guest->room == room));
    ucs_check((now_ns == model->now_ns) && (guest->end_tick <= model->tick));
    if (model->evicted_count > 0) {
        ucs_check(last->end_tick <= guest->end_tick);
        ucs_check((last->end_tick < guest->end_tick) ||
                  (last->number < guest->number));
    }
    *last        = *guest;
    guest->is_in = false;
    --model->in_count;
    ++model->evicted_count;
    if (guest->again_ns > 0) {
        model_checkin(model, guest, guest->again_ns - 1);
        guest->again_ns = 0;
        other           = &model->guests[room % GUEST_COUNT];
        if (other->is_in) { /* may be due in this very run: then it is not */
            model_checkout(model, other);
        }
    }
}

/* The soonest end of a guest; UINT64_MAX: nobody is in. */
static uint64_t model_first_tick(const struct model *model)
{
    uint64_t first = UINT64_MAX;
    unsigned i;

    for (i = 0; i < GUEST_COUNT; ++i) {
        if (model->guests[i].is_in) {
            first = ucs_min(first, model->guests[i].end_tick);
        }
    }
    return first;
}

/* Run at model->now_ns: afterwards nobody is in who is due, unless it came in
 * on the way; and the deadline is neither too late nor in the past. */
static void model_run(struct model *model)
{
    uint64_t number = model->checkin_count;
    uint64_t tick   = model->now_ns >> model->shift;
    uint64_t first, deadline_ns;
    unsigned i;

    model->evicted_count = 0;
    model->tick          = ucs_max(model->tick, tick);
    ucs_check(ucsi_hotel_run(&model->hotel, model->now_ns) ==
              model->evicted_count);
    for (i = 0; i < GUEST_COUNT; ++i) {
        if (model->guests[i].is_in) {
            ucs_check((model->guests[i].end_tick > model->tick) ||
                      (model->guests[i].number > number));
        }
    }
    ucs_check(ucs_hotel_guest_count(&model->hotel) == model->in_count);
    first       = model_first_tick(model);
    deadline_ns = ucsi_hotel_deadline_ns(&model->hotel);
    if (first > (UINT64_MAX >> model->shift)) {
        return; /* nobody, or nobody in this age of the world */
    }
    ucs_check(deadline_ns <= first << model->shift);
    ucs_check((deadline_ns >> model->shift) > model->tick);
}

/* Follow the deadlines until somebody is evicted: the first one to go comes
 * down at least a level at a time. */
static void model_follow(struct model *model)
{
    uint64_t first     = model_first_tick(model);
    unsigned run_count = 0;
    uint64_t deadline_ns;

    if (first > (NOW_NS_MAX >> model->shift)) {
        return;
    }
    do {
        deadline_ns = ucsi_hotel_deadline_ns(&model->hotel);
        ucs_check(deadline_ns > model->now_ns);
        model->now_ns = deadline_ns;
        model_run(model);
        ucs_check(++run_count <= UCS_HOTEL_LEVEL_COUNT);
    } while (model->evicted_count == 0);
    ucs_check(model->tick == first);
}

/* Move the clock: by a bit, by much, or to the next deadline. */
static void model_step(struct model *model, struct tape *tape)
{
    unsigned kind = tape_u8(tape);
    uint64_t step = (kind < 160) ? (uint64_t)tape_u16(tape) << (kind % 16)
                                 : tape_scaled(tape);
    uint64_t left = NOW_NS_MAX - model->now_ns;

    model->now_ns += ucs_min(step, left);
    model_run(model);
}

static void model_act(struct model *model, struct tape *tape)
{
    unsigned      operation = tape_u8(tape);
    struct guest *guest     = &model->guests[tape_u8(tape) % GUEST_COUNT];
    uint64_t      stay_ns;

    if (operation < 60) {
        model_step(model, tape);
    } else if (operation < 80) {
        model_follow(model);
    } else if (guest->is_in) {
        model_checkout(model, guest);
    } else {
        stay_ns         = (operation < 160)
                              ? (uint64_t)tape_u16(tape) << (operation % 16)
                              : tape_scaled(tape);
        guest->again_ns = (operation % 8 == 0) ? tape_scaled(tape) : 0;
        model_checkin(model, guest, stay_ns);
    }
}

void model_hotel(const uint8_t *data, size_t size)
{
    struct tape             tape = {data, size, 0};
    static struct model     empty;
    static struct model     model;
    struct ucs_hotel_params params = {.evict = model_evict, .arg = &model};

    model             = empty;
    model.shift       = 1 + tape_u8(&tape) % 24;
    model.room_count  = 1 + tape_u8(&tape) % GUEST_COUNT;
    model.now_ns      = tape_scaled(&tape) >> 1;
    model.tick        = model.now_ns >> model.shift;
    params.tick_ns    = (1ull << model.shift) - (tape_u8(&tape) % 2);
    params.tick_ns    = (model.shift == 1) ? 2 : params.tick_ns;
    params.room_count = model.room_count;
    params.now_ns     = model.now_ns;
    ucs_check(ucsi_hotel_init(&model.hotel, &params) == UCS_OK);
    while (!tape_is_over(&tape)) {
        model_act(&model, &tape);
    }
    ucsi_hotel_cleanup(&model.hotel);
}
