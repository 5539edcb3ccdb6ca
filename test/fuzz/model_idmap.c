/* SPDX-License-Identifier: BSD-3-Clause */
/* model_idmap.c - the id map against a list of all ids ever given out. */
#include "fuzz/models.h"

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/idmap.h"

enum { ID_COUNT_MAX = 1024 };

struct issued {
    uint64_t id;
    bool     is_in;
};

struct model {
    struct ucs_idmap map;
    struct issued    issued[ID_COUNT_MAX]; /* pointers given are to these */
    unsigned         count;
    unsigned         in_count;
};

static void model_add(struct model *model)
{
    struct issued *issued = &model->issued[model->count];
    unsigned       i;

    if (model->count == ID_COUNT_MAX) {
        return;
    }
    ucs_check(ucsi_idmap_add(&model->map, issued, &issued->id) == UCS_OK);
    ucs_check(issued->id != 0);
    issued->is_in = true;
    for (i = 0; i < model->count; ++i) {
        ucs_check(model->issued[i].id != issued->id);
    }
    ++model->count;
    ++model->in_count;
}

/* Remove an id that is, or was once, in the map. */
static void model_remove(struct model *model, struct issued *issued)
{
    void *pointer = ucsi_idmap_remove(&model->map, issued->id);

    ucs_check(pointer == (issued->is_in ? issued : NULL));
    model->in_count -= issued->is_in;
    issued->is_in = false;
}

/* Ask for an id that nobody may have given out. */
static void model_get_forged(const struct model *model, uint64_t id)
{
    const struct issued *found = ucs_idmap_get(&model->map, id);

    ucs_check((found == NULL) || (found->is_in && (found->id == id)));
}

static void model_walk(const struct model *model)
{
    uint32_t             cursor = 0;
    unsigned             count  = 0;
    const struct issued *found;

    while ((found = ucsi_idmap_next(&model->map, &cursor)) != NULL) {
        ucs_check(found->is_in);
        ++count;
    }
    ucs_check(count == model->in_count);
}

void model_idmap(const uint8_t *data, size_t size)
{
    struct tape         tape = {data, size, 0};
    static struct model model;
    struct issued      *issued;

    model.count    = 0;
    model.in_count = 0;
    ucsi_idmap_init(&model.map);
    while (!tape_is_over(&tape)) {
        unsigned operation = tape_u8(&tape);

        if ((operation < 110) || (model.count == 0)) {
            model_add(&model);
            continue;
        }
        issued = &model.issued[tape_u16(&tape) % model.count];
        if (operation < 200) {
            model_remove(&model, issued);
        } else if (operation < 240) {
            ucs_check(ucs_idmap_get(&model.map, issued->id) ==
                      (issued->is_in ? issued : NULL));
        } else if (operation < 254) {
            model_get_forged(&model, tape_u64(&tape) >> (operation % 32));
            model_get_forged(&model, issued->id + (1ull << 32));
        } else {
            model_walk(&model);
        }
        ucs_check(ucs_idmap_count(&model.map) == model.in_count);
    }
    model_walk(&model);
    ucsi_idmap_cleanup(&model.map);
}
