/* SPDX-License-Identifier: BSD-3-Clause */
/* model_heap.c - the heap against a search through all nodes. */
#include "fuzz/models.h"

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/heap.h"

enum { NODE_COUNT = 64 };

struct model_node {
    struct ucs_heap_node node;
    uint64_t             key;
    unsigned             push; /* number of its push; 0: not in */
};

struct model {
    struct ucs_heap   heap;
    struct model_node nodes[NODE_COUNT];
    unsigned          push_count;
};

static struct ucs_heap_node *model_min(struct model *model)
{
    struct model_node *min = NULL;
    unsigned           i;

    for (i = 0; i < NODE_COUNT; ++i) {
        struct model_node *one = &model->nodes[i];

        if ((one->push > 0) &&
            ((min == NULL) || (one->key < min->key) ||
             ((one->key == min->key) && (one->push < min->push)))) {
            min = one;
        }
    }
    return (min == NULL) ? NULL : &min->node;
}

static void model_pop(struct model *model)
{
    struct ucs_heap_node *expected = model_min(model);

    ucs_check(ucs_heap_min(&model->heap) == expected);
    ucs_check(ucs_heap_is_empty(&model->heap) == (expected == NULL));
    ucs_check(ucs_heap_pop(&model->heap) == expected);
    if (expected != NULL) {
        ucs_container_of(expected, struct model_node, node)->push = 0;
    }
}

/* Push the node, or remove it if it is in. */
static void model_toggle(struct model *model, struct model_node *one,
                         uint64_t key)
{
    ucs_check(ucs_heap_node_is_in(&one->node) == (one->push > 0));
    if (one->push > 0) {
        ucs_heap_remove(&model->heap, &one->node);
        one->push = 0;
    } else {
        ucs_heap_push(&model->heap, &one->node, key);
        one->key  = key;
        one->push = ++model->push_count;
    }
}

void model_heap(const uint8_t *data, size_t size)
{
    struct tape  tape  = {data, size, 0};
    struct model model = {.push_count = 0};
    unsigned     i;

    ucs_heap_init(&model.heap);
    for (i = 0; i < NODE_COUNT; ++i) {
        ucs_heap_node_init(&model.nodes[i].node);
    }
    while (!tape_is_over(&tape)) {
        unsigned operation = tape_u8(&tape);

        if (operation < 80) {
            model_pop(&model);
        } else if (operation < 240) {
            model_toggle(&model, &model.nodes[operation % NODE_COUNT],
                         tape_u8(&tape) % 32);
        } else {
            model_toggle(&model, &model.nodes[operation % NODE_COUNT],
                         tape_scaled(&tape));
        }
    }
    while (!ucs_heap_is_empty(&model.heap)) {
        model_pop(&model);
    }
    model_pop(&model);
}
