/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer is lost, in mode PEER, at the stage the argument names.
 *
 *   ucp_kill STAGE [kill|stop|COMMAND]
 *
 *   survivor (this process) -- victim     the one that is lost: by kill -9, by
 *                                         SIGSTOP, by what COMMAND does to its
 *                                         network
 *                           -- bystander  echoes, before and after
 *
 * In every stage: the error handler of the victim's endpoint is called once,
 * that of the bystander never; every request on the dead endpoint ends; the
 * bystander goes on; the survivor closes and ends in peace, without a
 * descriptor more than before. What is left in the file systems afterwards is
 * checked by the script.
 *
 * KILL_NETNS   a file: the network namespace of the victim
 * KILL_WITHIN  seconds in which the error must be reported; default 10
 */
#include "ucp_util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAG_PING    1
#define TAG_PONG    2
#define TAG_DATA    3
#define TAG_OTHER   4 /* nobody receives it */
#define ADDRESS_MAX 4096
#define LARGE       ((size_t)64 << 20)
#define WINDOW      32

/* What a victim does once it is connected. */
enum habit { HABIT_WAIT, HABIT_SEND_SMALL, HABIT_SEND_LARGE, HABIT_RECEIVE };

struct world {
    struct uu_node  node;
    struct uu_link  victim, bystander;
    struct uu_child victim_process, bystander_process;
    char            victim_address[ADDRESS_MAX];
    int             unreachable; /* ep_create said so: no handler will run */
    const char     *how;         /* it is lost */
    double          lost;        /* when; 0: not yet */
};

/* ---- the other two processes ---- */

static int meet(int channel, struct uu_node *node, struct uu_link *link)
{
    char address[ADDRESS_MAX];

    if (uu_open(node, UCP_FEATURE_TAG) != 0 ||
        uu_put(channel, node->address, node->length) != 0 ||
        uu_get(channel, address, sizeof(address)) <= 0) {
        return -1;
    }
    return uu_connect(node, address, 1, link) == UCS_OK ? 0 : -1;
}

static int echo(int channel, void *arg)
{
    struct uu_node node;
    struct uu_link link;
    uint64_t       value = 1;

    (void)arg;
    if (meet(channel, &node, &link) != 0) {
        return 3;
    }
    while (value != 0) {
        if (uu_wait(&node, uu_receive(&node, &value, sizeof(value), TAG_PING),
                    60) != UCS_OK ||
            uu_wait(&node, uu_send(&link, &value, sizeof(value), TAG_PONG),
                    10) != UCS_OK) {
            return 4;
        }
    }
    uu_disconnect(&node, &link, 0);
    uu_close(&node);
    return link.errors != 0;
}

static int victim(int channel, void *arg)
{
    enum habit     habit  = *(enum habit *)arg;
    size_t         length = habit == HABIT_SEND_LARGE ? LARGE : 3000;
    char          *buffer = malloc(LARGE);
    struct uu_node node;
    struct uu_link link;
    uint64_t       value;

    if (buffer == NULL || uu_move("KILL_NETNS") != 0 ||
        meet(channel, &node, &link) != 0) {
        return 3;
    }
    uu_fill(buffer, length, 1);
    uu_wait(&node, uu_receive(&node, &value, sizeof(value), TAG_PING), 60);
    uu_wait(&node, uu_send(&link, &value, sizeof(value), TAG_PONG), 10);
    for (;;) { /* until it is killed */
        if (habit == HABIT_RECEIVE) {
            uu_wait(&node, uu_receive(&node, buffer, length, TAG_DATA), 60);
        } else if (habit != HABIT_WAIT) {
            uu_wait(&node, uu_send(&link, buffer, length, TAG_DATA), 60);
        } else {
            ucp_worker_progress(node.worker);
        }
    }
}

/* ---- the survivor ---- */

/* There and back. A pong that did not come would be taken for that of a later
 * ping: after a failure no more of them. */
static int ping(struct world *world, struct uu_link *link, uint64_t value,
                const char *whom)
{
    uint64_t     back = 0;
    ucs_status_t status;
    void        *request;

    request = uu_receive(&world->node, &back, sizeof(back), TAG_PONG);
    status =
        uu_wait(&world->node, uu_send(link, &value, sizeof(value), TAG_PING),
                UU_SECONDS);
    uu_check(status == UCS_OK, "a ping to the %s: %s", whom,
             ucs_status_string(status));
    if (status != UCS_OK) {
        return 0;
    }
    status = uu_wait(&world->node, request, UU_SECONDS);
    uu_check(status == UCS_OK && back == value, "the pong of the %s: %s", whom,
             ucs_status_string(status));
    return status == UCS_OK;
}

static void end_victim(struct world *world)
{
    if (world->victim_process.pid != 0) {
        kill(world->victim_process.pid, SIGKILL);
        waitpid(world->victim_process.pid, NULL, 0);
        world->victim_process.pid = 0;
    }
}

/* The victim is lost now. */
static void lose(struct world *world)
{
    world->lost = uu_now();
    if (strcmp(world->how, "kill") == 0) {
        end_victim(world);
    } else if (strcmp(world->how, "stop") == 0) {
        kill(world->victim_process.pid, SIGSTOP);
    } else {
        uu_check(system(world->how) == 0, "%s", world->how);
    }
}

static int begin(struct world *world, enum habit habit, int connect_victim)
{
    char address[ADDRESS_MAX];
    int  ok;

    world->victim_process    = uu_fork(victim, &habit);
    world->bystander_process = uu_fork(echo, NULL);
    ok                       = uu_open(&world->node, UCP_FEATURE_TAG) == 0 &&
         uu_get(world->victim_process.channel, world->victim_address,
                ADDRESS_MAX) > 0 &&
         uu_get(world->bystander_process.channel, address, ADDRESS_MAX) > 0 &&
         uu_put(world->bystander_process.channel, world->node.address,
                world->node.length) == 0 &&
         uu_connect(&world->node, address, 1, &world->bystander) == UCS_OK;
    uu_check(ok, "the processes do not meet");
    if (!ok) {
        return -1;
    }
    ok = ping(world, &world->bystander, 77, "bystander");
    if (ok && connect_victim) {
        ok = uu_put(world->victim_process.channel, world->node.address,
                    world->node.length) == 0 &&
             uu_connect(&world->node, world->victim_address, 1,
                        &world->victim) == UCS_OK;
        uu_check(ok, "the victim cannot be connected to");
        ok = ok && ping(world, &world->victim, 78, "victim");
    }
    return ok ? 0 : -1;
}

/* The handler is called once, within the bound, and not again. */
static void expect_error(struct world *world)
{
    double within = uu_seconds("KILL_WITHIN", UU_SECONDS);
    double start  = uu_now();

    if (world->unreachable) {
        return;
    }
    while (world->victim.errors == 0 && uu_now() < start + UU_SECONDS) {
        ucp_worker_progress(world->node.worker);
    }
    uu_check(world->victim.errors > 0, "no error is reported within %g s",
             UU_SECONDS);
    fprintf(stderr, "# reported after %.3f s: %s\n",
            world->victim.error_time - world->lost,
            ucs_status_string(world->victim.error));
    uu_check(world->victim.error_time - world->lost <= within,
             "the error is reported after %.3f s",
             world->victim.error_time - world->lost);
    start = uu_now();
    while (uu_now() < start + 0.3) {
        ucp_worker_progress(world->node.worker);
    }
    uu_check(world->victim.errors <= 1, "the error is reported %d times",
             world->victim.errors);
}

static void finish(struct world *world)
{
    uint64_t i;
    int      code, answers = 1;

    for (i = 1; i <= 100 && answers; i++) {
        answers = ping(world, &world->bystander, i, "bystander");
    }
    uu_check(world->bystander.errors == 0,
             "the bystander's handler ran, after %.3f s: %s",
             world->bystander.error_time - world->lost,
             ucs_status_string(world->bystander.error));
    if (answers) { /* 0 ends it, and its end is an error here */
        (void)ping(world, &world->bystander, 0, "bystander");
    }
    if (!world->unreachable) {
        uu_disconnect(&world->node, &world->victim, 1);
        uu_check(world->victim.errors <= 1, "an error after the close");
    }
    uu_disconnect(&world->node, &world->bystander, 0);
    uu_close(&world->node);
    end_victim(world);
    close(world->victim_process.channel);
    code = uu_join(&world->bystander_process);
    uu_check(code == 0, "the bystander ended with %d", code);
}

/* A request on the dead endpoint: done in time, and not successfully. */
static void expect_failed(struct world *world, void *request, const char *what)
{
    ucs_status_t status = uu_wait(&world->node, request, UU_SECONDS);

    uu_check(status != UCS_INPROGRESS, "%s does not end", what);
    uu_check(status != UCS_OK, "%s says OK", what);
}

/* ---- stages ---- */

static void stage_before_connect(struct world *world)
{
    uint64_t     value = 1;
    ucs_status_t status;
    void        *request;

    lose(world);
    status = uu_connect(&world->node, world->victim_address, 1, &world->victim);
    if (status != UCS_OK) {
        fprintf(stderr, "# ucp_ep_create: %s\n", ucs_status_string(status));
        uu_check(status == UCS_ERR_UNREACHABLE, "ucp_ep_create says %s",
                 ucs_status_string(status));
        world->unreachable = 1;
        return;
    }
    request = uu_send(&world->victim, &value, sizeof(value), TAG_PING);
    status  = uu_wait(&world->node, request, UU_SECONDS);
    uu_check(status != UCS_INPROGRESS, "a send to a dead process hangs");
}

static void stage_idle(struct world *world)
{
    lose(world);
}

/* Killed while it receives what we send, message after message. */
static void stage_receiving(struct world *world)
{
    static char  data[3000];
    void        *request[WINDOW] = {NULL};
    double       until           = uu_now() + UU_SECONDS;
    ucs_status_t status          = UCS_OK;
    int          i;

    for (i = 0; status == UCS_OK && uu_now() < until; i++) {
        if (i == 5 * WINDOW) {
            lose(world);
        }
        status = uu_wait(&world->node, request[i % WINDOW], UU_SECONDS);
        request[i % WINDOW] = NULL;
        if (status == UCS_OK) {
            request[i % WINDOW] =
                uu_send(&world->victim, data, sizeof(data), TAG_DATA);
        }
    }
    uu_check(status != UCS_OK && status != UCS_INPROGRESS,
             "sends to a dead process: %s", ucs_status_string(status));
    for (i = 0; i < WINDOW; i++) {
        status = uu_wait(&world->node, request[i], UU_SECONDS);
        uu_check(status != UCS_INPROGRESS, "a send does not end");
    }
}

/* Killed while stopped: everything between us is full. */
static void stage_full(struct world *world)
{
    enum { COUNT = 20000 };
    static char data[3000];
    void      **request = calloc(COUNT, sizeof(*request));
    int         i, pending = 0, hung = 0;
    double      until = uu_now() + 0.3;

    kill(world->victim_process.pid, SIGSTOP);
    for (i = 0; i < COUNT; i++) {
        request[i] = uu_send(&world->victim, data, sizeof(data), TAG_DATA);
    }
    while (uu_now() < until) {
        ucp_worker_progress(world->node.worker);
    }
    lose(world);
    for (i = 0; i < COUNT && hung < 3; i++) {
        pending += UCS_PTR_IS_PTR(request[i]) &&
                   ucp_request_check_status(request[i]) == UCS_INPROGRESS;
        hung += uu_wait(&world->node, request[i], UU_SECONDS) == UCS_INPROGRESS;
    }
    uu_check(pending > 0, "nothing was pending: the stage shows nothing");
    uu_check(hung == 0, "sends to a dead process hang");
    free(request);
}

/* Killed in the middle of the messages that it sends. */
static void stage_sending(struct world *world)
{
    static char  data[WINDOW][3000];
    void        *request[WINDOW];
    ucs_status_t status;
    int          i, received = 0, hung = 0;

    for (i = 0; i < WINDOW; i++) {
        request[i] =
            uu_receive(&world->node, data[i], sizeof(data[i]), TAG_DATA);
    }
    for (i = 0; i < WINDOW && received == i; i++) {
        status = uu_wait(&world->node, request[i], UU_SECONDS);
        received += status == UCS_OK && !uu_differs(data[i], 3000, 1);
        request[i] =
            uu_receive(&world->node, data[i], sizeof(data[i]), TAG_DATA);
    }
    uu_check(received == WINDOW, "%d of %d messages", received, WINDOW);
    lose(world);
    expect_error(world);
    for (i = 0; i < WINDOW; i++) { /* what was sent may still come */
        if (UCS_PTR_IS_PTR(request[i])) {
            ucp_request_cancel(world->node.worker, request[i]);
        }
        hung += uu_wait(&world->node, request[i], 3) == UCS_INPROGRESS;
    }
    uu_check(hung == 0, "%d receives hang after they were cancelled", hung);
}

/* We announce a large message that the victim never receives. */
static void stage_rendezvous_send(struct world *world)
{
    char  *data    = calloc(1, LARGE);
    double until   = uu_now() + 0.3;
    void  *request = uu_send(&world->victim, data, LARGE, TAG_OTHER);

    while (uu_now() < until) {
        ucp_worker_progress(world->node.worker);
    }
    uu_check(UCS_PTR_IS_PTR(request) &&
                 ucp_request_check_status(request) == UCS_INPROGRESS,
             "a large unreceived message is sent already");
    lose(world);
    expect_failed(world, request, "a rendezvous with a dead receiver");
    free(data);
}

static ucp_tag_message_h find_message(struct world *world)
{
    double              until   = uu_now() + UU_SECONDS;
    ucp_tag_message_h   message = NULL;
    ucp_tag_recv_info_t info;

    while (message == NULL && uu_now() < until) {
        ucp_worker_progress(world->node.worker);
        message = ucp_tag_probe_nb(world->node.worker, TAG_DATA, UINT64_MAX, 0,
                                   &info);
    }
    uu_check(message != NULL && info.length == LARGE, "no large message");
    return message;
}

/* The victim has announced a large message; it dies, then we receive. */
static void stage_rendezvous_announced(struct world *world)
{
    char        *data = calloc(1, LARGE);
    ucs_status_t status;

    if (find_message(world) != NULL) {
        lose(world);
        status = uu_wait(&world->node,
                         uu_receive(&world->node, data, LARGE, TAG_DATA),
                         UU_SECONDS);
        uu_check(status != UCS_INPROGRESS,
                 "a rendezvous with a dead sender hangs");
        uu_check(status != UCS_OK || !uu_differs(data, LARGE, 1),
                 "a rendezvous with a dead sender says OK, data wrong");
        fprintf(stderr, "# receive: %s\n", ucs_status_string(status));
    }
    free(data);
}

/* The large message is under way. */
static void stage_rendezvous_middle(struct world *world)
{
    char        *data = calloc(1, LARGE);
    void        *request;
    double       until;
    ucs_status_t status;

    if (find_message(world) != NULL) {
        request = uu_receive(&world->node, data, LARGE, TAG_DATA);
        for (until = uu_now() + 0.002; uu_now() < until;) {
            ucp_worker_progress(world->node.worker);
        }
        lose(world);
        status = uu_wait(&world->node, request, UU_SECONDS);
        uu_check(status != UCS_INPROGRESS, "the receive hangs");
        uu_check(status != UCS_OK || !uu_differs(data, LARGE, 1),
                 "the receive says OK, data wrong");
        fprintf(stderr, "# receive: %s\n", ucs_status_string(status));
    }
    free(data);
}

static const struct {
    const char *name;
    void (*run)(struct world *world);
    enum habit habit;
    int        connect;
} stages[] = {
    {"before_connect", stage_before_connect, HABIT_WAIT, 0},
    {"idle", stage_idle, HABIT_WAIT, 1},
    {"receiving", stage_receiving, HABIT_RECEIVE, 1},
    {"full", stage_full, HABIT_WAIT, 1},
    {"sending", stage_sending, HABIT_SEND_SMALL, 1},
    {"rendezvous_send", stage_rendezvous_send, HABIT_WAIT, 1},
    {"rendezvous_announced", stage_rendezvous_announced, HABIT_SEND_LARGE, 1},
    {"rendezvous_middle", stage_rendezvous_middle, HABIT_SEND_LARGE, 1}};

int main(int argc, char **argv)
{
    static struct world world;
    char                name[64];
    size_t              i;
    int                 before = uu_descriptors();

    world.how = argc < 3 ? "kill" : argv[2];
    for (i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
        if (argc >= 2 && strcmp(argv[1], stages[i].name) == 0) {
            if (begin(&world, stages[i].habit, stages[i].connect) == 0) {
                stages[i].run(&world);
                expect_error(&world);
                finish(&world);
                uu_check(uu_descriptors() == before,
                         "%d descriptors, %d before", uu_descriptors(), before);
            }
            snprintf(name, sizeof(name), "kill__%s", stages[i].name);
            uu_result(name);
            return uu_end();
        }
    }
    fprintf(stderr, "usage: ucp_kill STAGE [kill|stop|COMMAND]\n");
    return 2;
}
