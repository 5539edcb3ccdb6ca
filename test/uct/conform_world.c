/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_world.c - the stage: one process or two, and the calls between.
 *
 * The peer's process is forked before anything is opened. It never uses
 * check's assertions: those belong to the test's process. */
#include "uct/conform.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/clock.h"

enum {
    PEER_SLEEP_MS  = 5000,
    RPC_ANSWER_S   = 60,
    STEPS_PER_LOOK = 16,
    /* An idle side gives its processor away: others test, too. */
    STEPS_BEFORE_YIELD = 64
};

void conform_must(ucs_status_t status, const char *what)
{
    ck_assert_msg(status == UCS_OK, "%s: %d", what, status);
}

void world_need(const struct test_param *param, enum uct_cap cap)
{
    const struct conform_param *conform = param->value;

    if (!ucti_transport_can(conform->transport, cap)) {
        test_skip("%s", ucti_cap_name(cap));
    }
}

/* ---- the peer's process ---- */

/* Nothing to do: sleep until the interface or the test wants something. */
static void peer_sleep(struct host *host, int socket)
{
    struct pollfd fds[2] = {
        {.fd = socket, .events = POLLIN},
        {.fd = host->tl->event_fd(host->iface), .events = POLLIN}};
    ucs_status_t status = host->tl->arm(host->iface);

    if (status == UCS_ERR_BUSY) {
        return;
    }
    if (status != UCS_OK) {
        host_bad(host, "arm says %d", status);
        return;
    }
    if (poll(fds, 2, PEER_SLEEP_MS) == 0) {
        if (uct_iface_progress(host->iface) > 0) {
            host_bad(host, "a wake-up was lost");
        }
        return;
    }
    host->inbox.sleeps += (fds[1].revents & POLLIN) != 0;
}

/* @return false: the socket has nothing. */
static bool peer_serve(struct host *host, int socket)
{
    struct rpc rpc;
    ssize_t    bytes = recv(socket, &rpc, sizeof(rpc), MSG_DONTWAIT);

    if ((bytes < 0) && ((errno == EAGAIN) || (errno == EINTR))) {
        return false;
    }
    if (bytes != (ssize_t)sizeof(rpc)) {
        _exit(3); /* the test is gone */
    }
    if (rpc.op == RPC_EXIT) {
        _exit(0);
    }
    host_answer(host, &rpc);
    if (rpc.op == RPC_LEAVE) {
        host_close(host);
    }
    if (send(socket, &rpc, sizeof(rpc), MSG_NOSIGNAL) != (ssize_t)sizeof(rpc)) {
        _exit(3);
    }
    if (rpc.op == RPC_LEAVE) {
        _exit(0);
    }
    return true;
}

static _Noreturn void peer_main(const struct conform_param *param, bool wakeup,
                                uint64_t seed, int socket)
{
    struct host *host = calloc(1, sizeof(*host));
    char         reason[UCT_REASON_BYTES_MAX];
    unsigned     idle = 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (host_open(host, param, wakeup, reason) != UCS_OK) {
        _exit(2);
    }
    host->random = seed;
    for (;;) {
        bool did = host_step(host);

        did |= peer_serve(host, socket);
        idle = did ? 0 : idle + 1;
        if (host->is_sleepy && (idle > 0)) {
            peer_sleep(host, socket);
        } else if (idle > STEPS_BEFORE_YIELD) {
            (void)sched_yield();
        }
    }
}

static void world_fork(struct world *world, bool wakeup)
{
    const struct timeval answer_time = {.tv_sec = RPC_ANSWER_S};
    uint64_t             seed        = test_random();
    int                  pair[2];

    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    world->child = fork();
    ck_assert_int_ge(world->child, 0);
    if (world->child == 0) {
        (void)close(pair[0]);
        peer_main(world->param, wakeup, seed, pair[1]);
    }
    (void)close(pair[1]);
    world->socket = pair[0];
    ck_assert_int_eq(setsockopt(world->socket, SOL_SOCKET, SO_RCVTIMEO,
                                &answer_time, sizeof(answer_time)),
                     0);
}

/* ---- the test's process ---- */

static void world_open_there(struct world *world, bool wakeup, char *reason)
{
    struct host *here = world->here;

    world->there = calloc(1, sizeof(*world->there));
    if (here->attr.flags & UCT_IFACE_SELF_ONLY) {
        /* The same interface, with lanes of its own. */
        *world->there = (struct host){.tl     = here->tl,
                                      .md     = here->md,
                                      .iface  = here->iface,
                                      .attr   = here->attr,
                                      .shared = here};
        memcpy(world->there->address, here->address, sizeof(here->address));
    } else {
        conform_must(host_open(world->there, world->param, wakeup, reason),
                     "open the other side");
    }
    world->there->random = test_random();
}

void world_open(struct world *world, const struct test_param *param,
                bool wakeup)
{
    char         reason[UCT_REASON_BYTES_MAX] = "";
    ucs_status_t status;

    memset(world, 0, sizeof(*world));
    world->param  = param->value;
    world->socket = -1;
    world->child  = -1;
    if (world->param->process_count == 2) {
        world_fork(world, wakeup);
    }
    world->here = calloc(1, sizeof(*world->here));
    status      = host_open(world->here, world->param, wakeup, reason);
    if (status == UCS_ERR_NO_DEVICE) {
        world_kill(world);
        test_skip("no device: %s", reason);
    }
    conform_must(status, "open");
    world->here->random = test_random();
    if (world->param->process_count == 1) {
        world_open_there(world, wakeup, reason);
    }
}

void world_rpc(struct world *world, struct rpc *rpc)
{
    ssize_t bytes;

    if (world->there != NULL) {
        host_answer(world->there, rpc);
        return;
    }
    bytes = send(world->socket, rpc, sizeof(*rpc), MSG_NOSIGNAL);
    ck_assert_msg(bytes == (ssize_t)sizeof(*rpc), "the peer is gone: %s",
                  strerror(errno));
    do {
        bytes = recv(world->socket, rpc, sizeof(*rpc), 0);
    } while ((bytes < 0) && (errno == EINTR));
    ck_assert_msg(bytes == (ssize_t)sizeof(*rpc),
                  "the peer does not answer: %zd bytes, %s", bytes,
                  strerror(errno));
}

void world_command(struct world *world, enum rpc_op op, uint64_t a)
{
    struct rpc rpc = {.op = op, .a = a};

    world_rpc(world, &rpc);
    conform_must(rpc.status, "rpc");
}

void world_kill(struct world *world)
{
    if (world->child > 0) {
        (void)kill(world->child, SIGKILL);
        (void)waitpid(world->child, NULL, 0);
        (void)close(world->socket);
        world->child  = -1;
        world->socket = -1;
    }
}

/* There closes first, here goes on: whatever is on the way then meets an
 * orderly end. */
void world_close(struct world *world)
{
    int status = 0;

    if (world->child > 0) {
        (void)world_inbox(world);
        world_command(world, RPC_LEAVE, 0);
        ck_assert_int_eq(waitpid(world->child, &status, 0), world->child);
        ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0),
                      "the peer ended with 0x%x", status);
        (void)close(world->socket);
    } else if (world->there != NULL) {
        host_close(world->there);
        ck_assert_str_eq(world->there->inbox.bad, "");
    }
    if (world->here->shared == NULL) {
        (void)uct_iface_progress(world->here->iface);
    }
    host_close(world->here);
    ck_assert_str_eq(world->here->inbox.bad, "");
    free(world->there);
    free(world->here);
}

struct lane *world_lane(struct world *world)
{
    struct rpc   rpc = {.op = RPC_ADDRESS};
    struct lane *lane;

    world_rpc(world, &rpc);
    conform_must(lane_open(world->here, rpc.bytes, rpc.size_bytes, &lane),
                 "create an endpoint");
    return lane;
}

unsigned world_lane_back(struct world *world)
{
    struct rpc rpc = {.op         = RPC_CONNECT,
                      .size_bytes = world->here->attr.address_bytes};

    memcpy(rpc.bytes, world->here->address, rpc.size_bytes);
    world_rpc(world, &rpc);
    conform_must(rpc.status, "create an endpoint back");
    return (unsigned)rpc.a;
}

void world_step(struct world *world)
{
    bool did = host_step(world->here);

    if (world->there != NULL) {
        did |= host_step(world->there);
    }
    world->idle_steps = did ? 0 : world->idle_steps + 1;
    if (world->idle_steps > STEPS_BEFORE_YIELD) {
        (void)sched_yield();
    }
}

void world_send(struct world *world, struct lane *lane, enum lane_kind kind,
                unsigned am_id, size_t payload)
{
    ucs_status_t status;
    unsigned     tries;

    for (tries = 0; tries < 1000000; ++tries) {
        status = lane_send(lane, kind, am_id, payload, 0);
        if ((status != UCS_ERR_WOULD_BLOCK) && (status != UCS_ERR_BUSY)) {
            break;
        }
        if (tries < 1000) {
            (void)host_step(world->here);
        } else {
            world_step(world); /* there must make room */
        }
    }
    conform_must(status, "send");
}

const struct inbox *world_inbox(struct world *world)
{
    struct rpc rpc = {.op = RPC_INBOX};

    world_rpc(world, &rpc);
    world->seen = rpc.inbox;
    ck_assert_msg(world->seen.bad[0] == '\0', "there: %s", world->seen.bad);
    ck_assert_msg(world->here->inbox.bad[0] == '\0', "here: %s",
                  world->here->inbox.bad);
    return &world->seen;
}

/* Changes whenever a message was sent or arrived. */
static uint64_t world_moves(const struct world *world)
{
    const struct inbox *here  = &world->here->inbox;
    const struct inbox *there = &world->seen;
    uint64_t moves = here->ordered_count + here->any_count + here->count_count +
                     there->ordered_count + there->any_count +
                     there->count_count;
    unsigned index;

    for (index = 0; index < world->here->lane_count; ++index) {
        moves += world->here->lanes[index].sent;
    }
    return moves;
}

bool world_wait(struct world *world, bool (*fn)(struct world *, uint64_t),
                uint64_t value, double seconds)
{
    uint64_t bound_ns = (uint64_t)(test_scaled_seconds(seconds) * 1e9);
    uint64_t end_ns   = ucsi_clock_ns() + bound_ns;
    uint64_t moves    = world_moves(world);
    unsigned step;

    while (!fn(world, value)) {
        if (world_moves(world) != moves) {
            moves  = world_moves(world);
            end_ns = ucsi_clock_ns() + bound_ns;
        }
        if (ucsi_clock_ns() > end_ns) {
            return fn(world, value);
        }
        for (step = 0; step < STEPS_PER_LOOK; ++step) {
            world_step(world);
        }
    }
    return true;
}

static bool has_ordered(struct world *world, uint64_t count)
{
    return world_inbox(world)->ordered_count >= count;
}

static bool has_any(struct world *world, uint64_t count)
{
    return world_inbox(world)->any_count >= count;
}

static bool has_count(struct world *world, uint64_t count)
{
    return world_inbox(world)->count_count >= count;
}

static bool has_sent(struct world *world, uint64_t unused)
{
    unsigned index;

    (void)unused;
    for (index = 0; index < world->here->lane_count; ++index) {
        if (!lane_is_done(&world->here->lanes[index])) {
            return false;
        }
    }
    return world_inbox(world)->unsent == 0;
}

enum { WAIT_S = 25 };

void world_wait_ordered(struct world *world, uint64_t count)
{
    if (!world_wait(world, has_ordered, count, WAIT_S) ||
        (world->seen.ordered_count != count)) {
        ck_abort_msg("%llu of %llu ordered messages came",
                     (unsigned long long)world->seen.ordered_count,
                     (unsigned long long)count);
    }
}

void world_wait_any(struct world *world, uint64_t count)
{
    if (!world_wait(world, has_any, count, WAIT_S) ||
        (world->seen.any_count != count)) {
        ck_abort_msg("%llu of %llu any-order messages came",
                     (unsigned long long)world->seen.any_count,
                     (unsigned long long)count);
    }
}

void world_wait_count(struct world *world, uint64_t count)
{
    if (!world_wait(world, has_count, count, WAIT_S) ||
        (world->seen.count_count != count)) {
        ck_abort_msg("%llu of %llu messages came",
                     (unsigned long long)world->seen.count_count,
                     (unsigned long long)count);
    }
}

void world_wait_sent(struct world *world)
{
    if (!world_wait(world, has_sent, 0, WAIT_S)) {
        ck_abort_msg("not everything was sent");
    }
}
