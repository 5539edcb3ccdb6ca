/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer that is there but does not call the library. Nobody takes it for dead,
 * and what it sent before arrives without it.
 *
 *   ucp_absent compute SECONDS   it computes for so long
 *   ucp_absent pause SECONDS     it is stopped for so long, and goes on
 *   ucp_absent barrier           it closed its endpoint and waits for all
 *
 *   here (this process)                absent (a child)
 *   |<--------- ping, pong ----------->|
 *   |<======== COUNT messages =========| the moment of the last one: a socket
 *   |======== COUNT messages =========>| absent
 *   |<--------- ping, pong ----------->| there again: all came, in order
 *
 * ABSENT_NETNS   a file: the network namespace of the child
 * ABSENT_WITHIN  seconds in which its last messages must come; default 0.05
 */
#include "ucp_util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG_PING    1
#define TAG_DATA    2
#define ADDRESS_MAX 4096
#define COUNT       3000 /* more than the inbox of an interface holds */
#define FEW         100  /* what one sends without looking back */
#define BYTES       1000

/* What the child tells before it computes.
 * sent   when the last send that ended inside its call did
 * count  of them: the others need their sender */
struct told {
    double sent;
    int    count;
};

struct side {
    int            channel;
    struct uu_node node;
    struct uu_link link;
};

static int open_side(struct side *side, int channel)
{
    char address[ADDRESS_MAX];

    side->channel = channel;
    return uu_open(&side->node, UCP_FEATURE_TAG) == 0 &&
                   uu_put(channel, side->node.address, side->node.length) ==
                       0 &&
                   uu_get(channel, address, sizeof(address)) > 0 &&
                   uu_connect(&side->node, address, 1, &side->link) == UCS_OK
               ? 0
               : -1;
}

/* Both sides: a message each way. */
static void meet(struct side *side)
{
    uint64_t out = 1, in = 0;
    void    *receive = uu_receive(&side->node, &in, sizeof(in), TAG_PING);
    void    *send    = uu_send(&side->link, &out, sizeof(out), TAG_PING);

    uu_check(uu_wait(&side->node, send, UU_SECONDS) == UCS_OK, "a ping");
    uu_check(uu_wait(&side->node, receive, UU_SECONDS) == UCS_OK, "its answer");
}

/* Start `count` sends; @return how many did not end inside the call. */
static int send_all(struct side *side, void **requests, int count)
{
    static char data[COUNT][BYTES];
    int         i, pending = 0;

    for (i = 0; i < count; i++) {
        uu_fill(data[i], BYTES, (uint64_t)i);
        requests[i] = uu_send(&side->link, data[i], BYTES, TAG_DATA);
        pending += requests[i] != NULL;
    }
    return pending;
}

static void wait_all(struct side *side, void **requests, int count)
{
    int i, failed = 0;

    for (i = 0; i < count; i++) {
        failed += uu_wait(&side->node, requests[i], UU_SECONDS) != UCS_OK;
    }
    uu_check(failed == 0, "%d of %d sends failed", failed, count);
}

/* Messages [first, count). */
static void receive_all(struct side *side, int first, int count, double seconds)
{
    static char data[BYTES];
    double      until = uu_now() + seconds;
    int         i, wrong = 0;

    for (i = first; i < count; i++) {
        void *request = uu_receive(&side->node, data, sizeof(data), TAG_DATA);

        if (uu_wait(&side->node, request, until - uu_now() + 1) != UCS_OK) {
            uu_check(0, "%d of %d messages came", i, count);
            return;
        }
        wrong += uu_differs(data, BYTES, (uint64_t)i);
    }
    uu_check(wrong == 0, "%d of %d messages are not what was sent", wrong,
             count);
}

static void compute(double seconds)
{
    double          until = uu_now() + seconds;
    volatile double sum   = 0;

    while (uu_now() < until) {
        for (int i = 0; i < 100000; i++) {
            sum += 1.0 / (i + 1);
        }
    }
}

/* ---- absent ---- */

/* Who closes first is an error to the other one, whose last answer may still
 * be on its way: so both have met before one does, and a closed channel is an
 * order to end. */
static int come_back(struct side *side)
{
    char word = 0;

    if (freopen("/dev/null", "w", stdout) == NULL) { /* the other one says it */
        return 5;
    }
    receive_all(side, 0, COUNT, UU_SECONDS);
    meet(side);
    uu_check(side->link.errors == 0, "an error of who was never away: %s",
             ucs_status_string(side->link.error));
    if (uu_put(side->channel, &word, 1) != 0) {
        return 4;
    }
    (void)uu_get(side->channel, &word, sizeof(word));
    uu_disconnect(&side->node, &side->link, 0);
    uu_close(&side->node);
    uu_result("absent__child");
    return uu_end();
}

static int absent_compute(int channel, void *arg)
{
    static void *requests[FEW];
    struct side  side;
    struct told  told;

    if (uu_move("ABSENT_NETNS") != 0 || open_side(&side, channel) != 0) {
        return 3;
    }
    meet(&side);
    told.count = FEW - send_all(&side, requests, FEW);
    told.sent  = uu_now();
    if (uu_put(channel, &told, sizeof(told)) != 0) {
        return 4;
    }
    compute(*(double *)arg);
    wait_all(&side, requests, FEW);
    return come_back(&side);
}

/* It is stopped, by the other one, wherever it is. */
static int absent_pause(int channel, void *arg)
{
    struct side side;

    (void)arg;
    if (uu_move("ABSENT_NETNS") != 0 || open_side(&side, channel) != 0) {
        return 3;
    }
    meet(&side);
    return come_back(&side);
}

static int absent_barrier(int channel, void *arg)
{
    struct side side;
    char        word = 0;

    (void)arg;
    if (uu_move("ABSENT_NETNS") != 0 || open_side(&side, channel) != 0) {
        return 3;
    }
    meet(&side);
    uu_disconnect(&side.node, &side.link, 0);
    if (uu_put(channel, &word, 1) != 0 || uu_get(channel, &word, 1) != 1) {
        return 4; /* the barrier */
    }
    uu_close(&side.node);
    return side.link.errors;
}

/* ---- here ---- */

/* The other one is there again, and has all. */
static void meet_again(struct side *here)
{
    char word;

    meet(here);
    uu_check(uu_get(here->channel, &word, 1) == 1, "it does not come back");
}

static void scene_compute(struct side *here, pid_t child, double seconds)
{
    static void *requests[COUNT];
    double       within = uu_seconds("ABSENT_WITHIN", 0.05);
    struct told  told   = {0, 0};
    double       until;

    (void)child;
    meet(here);
    uu_check(uu_get(here->channel, &told, sizeof(told)) == sizeof(told),
             "what is told");
    uu_check(told.count > 0, "no send ended inside its call");
    receive_all(here, 0, told.count, 3);
    until = uu_now() - told.sent;
    fprintf(stderr, "# all %d came %.1f ms after\n", told.count, until * 1e3);
    uu_check(until <= within, "the last of %d messages came after %.1f ms",
             told.count, until * 1e3);
    send_all(here, requests, COUNT);
    until = told.sent + seconds;
    while (uu_now() < until) {
        ucp_worker_progress(here->node.worker);
    }
    wait_all(here, requests, COUNT);
    receive_all(here, told.count, FEW, UU_SECONDS);
    meet_again(here);
}

static void scene_pause(struct side *here, pid_t child, double seconds)
{
    static void *requests[COUNT];
    double       until;

    meet(here);
    kill(child, SIGSTOP);
    until = uu_now() + seconds;
    send_all(here, requests, COUNT);
    while (uu_now() < until) {
        ucp_worker_progress(here->node.worker);
    }
    kill(child, SIGCONT);
    wait_all(here, requests, COUNT);
    meet_again(here);
}

/* The other one has closed and waits; our close must not need it. */
static void scene_barrier(struct side *here, pid_t child, double seconds)
{
    double begin;
    char   word = 0;

    (void)child;
    (void)seconds;
    meet(here);
    uu_check(uu_get(here->channel, &word, 1) == 1, "its word");
    usleep(200000); /* it sits in its barrier for sure */
    begin = uu_now();
    uu_disconnect(&here->node, &here->link, 0);
    uu_close(&here->node);
    fprintf(stderr, "# closed after %.1f ms\n", (uu_now() - begin) * 1e3);
    uu_check(uu_now() - begin <= 0.5, "the close took %.3f s",
             uu_now() - begin);
    uu_check(uu_put(here->channel, &word, 1) == 0, "the barrier");
}

static const struct {
    const char *name;
    int (*child)(int channel, void *arg);
    void (*here)(struct side *here, pid_t child, double seconds);
} scenes[] = {{"compute", absent_compute, scene_compute},
              {"pause", absent_pause, scene_pause},
              {"barrier", absent_barrier, scene_barrier}};

static void run(size_t index, double seconds)
{
    struct uu_child child = uu_fork(scenes[index].child, &seconds);
    struct side     here;
    char            name[64];
    int             code, is_closed = scenes[index].here == scene_barrier;

    if (open_side(&here, child.channel) != 0) {
        uu_check(0, "the processes do not meet");
        uu_kill(&child);
    } else {
        scenes[index].here(&here, child.pid, seconds);
        uu_check(here.link.errors == 0, "it is taken for dead: %s",
                 ucs_status_string(here.link.error));
        if (!is_closed) {
            uu_disconnect(&here.node, &here.link, 0);
            uu_close(&here.node);
        }
        code = uu_join(&child);
        uu_check(code == 0, "the other process ended with %d", code);
    }
    snprintf(name, sizeof(name), "absent__%s", scenes[index].name);
    uu_result(name);
}

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        if (argc >= 2 && strcmp(argv[1], scenes[i].name) == 0) {
            run(i, argc < 3 ? 0 : strtod(argv[2], NULL));
            return uu_end();
        }
    }
    fprintf(stderr, "usage: ucp_absent compute|pause|barrier [SECONDS]\n");
    return 2;
}
