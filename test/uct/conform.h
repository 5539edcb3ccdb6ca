/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/conform.h - what every transport must do: the stage on which the
 * conform_* tests play.
 *
 *   one process                     two processes
 *   +---------------------+         +------------+  socketpair  +-----------+
 *   | test: here    there |         | test: here | -- rpc ----> | there     |
 *   |        |        |   |         |     |      |              |  |        |
 *   |      iface -- iface |         |   iface ------- lanes ------ iface    |
 *   +---------------------+         +------------+              +-----------+
 *
 * A host is one interface with everything that is sent and received on it; a
 * lane is one endpoint of it with the messages that it still has to send. The
 * test works with `here` directly and with `there` by world_rpc(), which is a
 * call in one process and a message with two. Whoever notices something wrong
 * writes it into its inbox; the test fails with that text.
 *
 * Messages carry their order, length and pattern in their first 8 bytes, so
 * that a receiver can check any message by itself. */
#ifndef TEST_UCT_CONFORM_H_
#define TEST_UCT_CONFORM_H_

#include "uct/conform_host.h"

/* The stage of one test.
 * socket, child  with two processes, else -1 */
struct world {
    const struct conform_param *param;
    struct host                *here;
    struct host                *there; /* NULL with two processes */
    int                         socket;
    int                         child;
    unsigned                    idle_steps;
    struct inbox                seen; /* there's inbox, as last seen */
};

/* conform_world.c: the stage; these fail the test themselves */
void world_open(struct world *world, const struct test_param *param,
                bool wakeup);
void world_close(struct world *world);
/* A lane from here to there. */
struct lane *world_lane(struct world *world);
/* A lane from there to here; its number there. */
unsigned world_lane_back(struct world *world);
void     world_rpc(struct world *world, struct rpc *rpc);
void     world_command(struct world *world, enum rpc_op op, uint64_t a);
/* Send one message, however often it is refused; here goes on, and
 * there only if that does not help. */
void world_send(struct world *world, struct lane *lane, enum lane_kind kind,
                unsigned am_id, size_t payload);
/* Everybody goes on a little. */
void world_step(struct world *world);
/* There's inbox now; fails when something is wrong there or here. */
const struct inbox *world_inbox(struct world *world);
/* Go on until fn says yes; @return false: not within `seconds`. */
bool world_wait(struct world *world, bool (*fn)(struct world *, uint64_t),
                uint64_t value, double seconds);
/* Wait until there has received so many in order; fails otherwise. */
void world_wait_ordered(struct world *world, uint64_t count);
void world_wait_any(struct world *world, uint64_t count);
void world_wait_count(struct world *world, uint64_t count);
void world_wait_sent(struct world *world);
void world_kill(struct world *world);
/* Skip the test unless the transport can. */
void world_need(const struct test_param *param, enum uct_cap cap);
void conform_must(ucs_status_t status, const char *what);

/* The suites; their params are set by main. */
extern struct test_suite conform_address_suite;
extern struct test_suite conform_am_suite;
extern struct test_suite conform_atomic_suite;
extern struct test_suite conform_example_suite;
extern struct test_suite conform_faults_suite;
extern struct test_suite conform_flush_suite;
extern struct test_suite conform_keep_suite;
extern struct test_suite conform_order_suite;
extern struct test_suite conform_pending_suite;
extern struct test_suite conform_rights_suite;
extern struct test_suite conform_rma_suite;
extern struct test_suite conform_pieces_suite;
extern struct test_suite conform_teardown_suite;
extern struct test_suite conform_wakeup_suite;
extern struct test_suite conform_zcopy_suite;

#endif
