/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Situations that client programs bring about, one per run:
 *   ucp_scenes two_contexts|two_features|self|pair|net_only|orphan
 */
#include "ucp_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDRESS_MAX 4096

static const size_t lengths[] = {0,    1,    8,     100,     4000,
                                 8192, 8193, 65536, 1000000, 3 << 20};
#define LENGTH_COUNT (sizeof(lengths) / sizeof(*lengths))

/* Verified messages of all lengths from one node to another of this process */
static void deliver(struct uu_node *from, struct uu_link *link,
                    struct uu_node *to, uint64_t tag, const char *what)
{
    size_t i;

    for (i = 0; i < LENGTH_COUNT; i++) {
        char        *out = malloc(lengths[i] + 1), *in = malloc(lengths[i] + 1);
        void        *receive;
        ucs_status_t status;

        uu_fill(out, lengths[i], tag + i);
        receive = uu_receive(to, in, lengths[i], tag);
        status  = uu_wait_two(from, to, uu_send(link, out, lengths[i], tag));
        uu_check(status == UCS_OK, "%s: a send of %zu bytes: %s", what,
                 lengths[i], ucs_status_string(status));
        status = uu_wait_two(to, from, receive);
        uu_check(status == UCS_OK && !uu_differs(in, lengths[i], tag + i),
                 "%s: a receive of %zu bytes: %s", what, lengths[i],
                 ucs_status_string(status));
        free(out);
        free(in);
    }
}

/*
 * Two contexts with a worker each, connected both ways and to themselves; then
 * the first one goes, and the second one works on with itself and a third.
 */
static void two_contexts(uint64_t a_features, uint64_t b_features)
{
    struct uu_node a, b, c;
    struct uu_link ab, ba, bb, bc, aa;

    if (uu_open(&a, a_features) != 0 || uu_open(&b, b_features) != 0) {
        return;
    }
    uu_check(uu_connect(&a, b.address, 0, &ab) == UCS_OK &&
                 uu_connect(&b, a.address, 0, &ba) == UCS_OK &&
                 uu_connect(&b, b.address, 0, &bb) == UCS_OK &&
                 uu_connect(&a, a.address, 0, &aa) == UCS_OK,
             "an endpoint cannot be created");
    deliver(&a, &ab, &b, 100, "a to b");
    deliver(&b, &ba, &a, 200, "b to a");
    deliver(&a, &aa, &a, 300, "a to a");
    deliver(&b, &bb, &b, 400, "b to b");
    uu_disconnect(&a, &ab, 0);
    uu_disconnect(&a, &aa, 0);
    uu_disconnect(&b, &ba, 0);
    uu_close(&a);
    deliver(&b, &bb, &b, 500, "b to b without a");
    if (uu_open(&c, UCP_FEATURE_TAG) == 0) {
        uu_check(uu_connect(&b, c.address, 0, &bc) == UCS_OK, "b to c");
        deliver(&b, &bc, &c, 600, "b to c");
        uu_disconnect(&b, &bc, 0);
        uu_close(&c);
    }
    uu_disconnect(&b, &bb, 0);
    uu_close(&b);
}

static void scene_two_contexts(void)
{
    two_contexts(UCP_FEATURE_TAG, UCP_FEATURE_TAG);
}

/* As Open MPI's pml and osc do: what one side asks for, the other need not. */
static void scene_two_features(void)
{
    two_contexts(UCP_FEATURE_TAG, UCP_FEATURE_TAG | UCP_FEATURE_RMA);
}

/* A worker that sends to itself; the script sets UCX_TLS. */
static void scene_self(void)
{
    struct uu_node node;
    struct uu_link link;
    ucs_status_t   status;

    if (uu_open(&node, UCP_FEATURE_TAG) != 0) {
        return;
    }
    status = uu_connect(&node, node.address, 0, &link);
    uu_check(status == UCS_OK, "ucp_ep_create to itself: %s",
             ucs_status_string(status));
    if (status == UCS_OK) {
        deliver(&node, &link, &node, 100, "to itself");
        uu_disconnect(&node, &link, 0);
    }
    uu_close(&node);
}

/* ---- pair: two processes, where the script makes the world narrow ---- */

static int pair_child(int channel, void *arg)
{
    char address[ADDRESS_MAX], *data = malloc(lengths[LENGTH_COUNT - 1]);
    struct uu_node node;
    struct uu_link link;
    size_t         i, round;

    (void)arg;
    if (data == NULL || uu_open(&node, UCP_FEATURE_TAG) != 0 ||
        uu_put(channel, node.address, node.length) != 0 ||
        uu_get(channel, address, sizeof(address)) <= 0 ||
        uu_connect(&node, address, 0, &link) != UCS_OK) {
        return 3;
    }
    for (round = 0; round < 20; round++) {
        for (i = 0; i < LENGTH_COUNT; i++) {
            if (uu_wait(&node, uu_receive(&node, data, lengths[i], i),
                        UU_SECONDS) != UCS_OK ||
                uu_wait(&node, uu_send(&link, data, lengths[i], i),
                        UU_SECONDS) != UCS_OK) {
                return 4;
            }
        }
    }
    uu_disconnect(&node, &link, 0);
    uu_close(&node);
    free(data);
    return 0;
}

static void pair_rounds(struct uu_node *node, struct uu_link *link)
{
    char        *out = malloc(lengths[LENGTH_COUNT - 1]);
    char        *in  = malloc(lengths[LENGTH_COUNT - 1]);
    size_t       i, round;
    ucs_status_t status;
    void        *receive;

    for (round = 0; round < 20; round++) {
        for (i = 0; i < LENGTH_COUNT; i++) {
            uu_fill(out, lengths[i], round);
            memset(in, 0, lengths[i]);
            receive = uu_receive(node, in, lengths[i], i);
            status =
                uu_wait(node, uu_send(link, out, lengths[i], i), UU_SECONDS);
            uu_check(status == UCS_OK, "a send of %zu bytes: %s", lengths[i],
                     ucs_status_string(status));
            status = uu_wait(node, receive, UU_SECONDS);
            uu_check(status == UCS_OK && !uu_differs(in, lengths[i], round),
                     "an echo of %zu bytes: %s", lengths[i],
                     ucs_status_string(status));
            if (status != UCS_OK) {
                round = 20; /* the buffers stay: they may still be written */
                out = in = NULL;
                break;
            }
        }
    }
    free(out);
    free(in);
}

static void scene_pair(void)
{
    struct uu_child child = uu_fork(pair_child, NULL);
    char            address[ADDRESS_MAX];
    struct uu_node  node;
    struct uu_link  link;
    int             code;

    if (uu_open(&node, UCP_FEATURE_TAG) != 0) {
        uu_kill(&child);
        return;
    }
    if (uu_get(child.channel, address, sizeof(address)) > 0 &&
        uu_put(child.channel, node.address, node.length) == 0 &&
        uu_connect(&node, address, 0, &link) == UCS_OK) {
        pair_rounds(&node, &link);
        uu_disconnect(&node, &link, 0);
    } else {
        uu_check(0, "the processes do not meet");
    }
    code = uu_join(&child);
    uu_check(code == 0, "the other process ended with %d", code);
    uu_close(&node);
}

/*
 * An address for other machines only, as Open MPI asks for: OK and a blob,
 * though this machine may be in no network; then nobody can connect to it.
 */
static void scene_net_only(void)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS |
                                            UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                              .address_flags =
                                  UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    struct uu_node    node, other;
    struct uu_link    link;
    ucs_status_t      status;

    if (uu_open(&node, UCP_FEATURE_TAG) != 0 ||
        uu_open(&other, UCP_FEATURE_TAG) != 0) {
        return;
    }
    status = ucp_worker_query(node.worker, &attr);
    uu_check(status == UCS_OK, "ucp_worker_query: %s",
             ucs_status_string(status));
    if (status != UCS_OK) {
        uu_result("net_only__query");
        return;
    }
    uu_check(attr.address != NULL && attr.address_length > 0 &&
                 attr.address_length <= 1536,
             "the address has %zu bytes", attr.address_length);
    uu_result("net_only__query");

    status = uu_connect(&other, attr.address, 0, &link);
    uu_check(status == UCS_OK || status == UCS_ERR_UNREACHABLE,
             "ucp_ep_create: %s", ucs_status_string(status));
    if (status == UCS_OK) {
        deliver(&other, &link, &node, 100, "address for other machines");
        uu_disconnect(&other, &link, 0);
    }
    uu_result("net_only__reaches_or_says_so");
    /* the full address of the same worker still works */
    status = uu_connect(&other, node.address, 0, &link);
    uu_check(status == UCS_OK, "ucp_ep_create with the full address: %s",
             ucs_status_string(status));
    if (status == UCS_OK) {
        deliver(&other, &link, &node, 100, "full address");
        uu_disconnect(&other, &link, 0);
    }
    ucp_worker_release_address(node.worker, attr.address);
    uu_close(&other);
    uu_close(&node);
}

/*
 * What a careless client leaves: endpoints open, a receive posted, messages
 * never received. Destroying the worker takes care of it.
 */
static void scene_orphan(void)
{
    static char    data[100000];
    struct uu_node a, b;
    struct uu_link ab, ba;
    int            i;

    if (uu_open(&a, UCP_FEATURE_TAG) != 0 ||
        uu_open(&b, UCP_FEATURE_TAG) != 0) {
        return;
    }
    uu_check(uu_connect(&a, b.address, 0, &ab) == UCS_OK &&
                 uu_connect(&b, a.address, 0, &ba) == UCS_OK,
             "an endpoint cannot be created");
    deliver(&a, &ab, &b, 100, "before");
    for (i = 0; i < 100; i++) {
        void *request = uu_send(&ab, data, 100, 7);

        uu_check(!UCS_PTR_IS_ERR(request), "a send fails");
        if (request != NULL) {
            uu_wait_two(&a, &b, request);
        }
    }
    uu_receive(&b, data, sizeof(data), 8);
    ucp_worker_release_address(a.worker, a.address);
    ucp_worker_destroy(a.worker);
    ucp_cleanup(a.context);
    uu_close(&b);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenes[] = {{"two_contexts", scene_two_contexts},
              {"two_features", scene_two_features},
              {"self", scene_self},
              {"pair", scene_pair},
              {"net_only", scene_net_only},
              {"orphan", scene_orphan}};

int main(int argc, char **argv)
{
    char   name[64];
    size_t i;

    for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        if (argc == 2 && strcmp(argv[1], scenes[i].name) == 0) {
            scenes[i].run();
            snprintf(name, sizeof(name), "ucp__%s", scenes[i].name);
            uu_result(name);
            return uu_end();
        }
    }
    fprintf(stderr, "usage: ucp_scenes SCENE\n");
    return 2;
}
