/* SPDX-License-Identifier: BSD-3-Clause */
/* model_hash.c - the hash map against an array indexed by key. */
#include "fuzz/models.h"

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/hash.h"

enum { KEY_COUNT = 256 };

struct model {
    struct ucs_hash hash;
    uint64_t        stretch;           /* what one key differs from the next */
    char            objects[16];       /* values point into it */
    void           *values[KEY_COUNT]; /* the model; NULL: no entry */
    size_t          count;
};

static void model_put(struct model *model, unsigned key, void *value)
{
    ucs_check(ucsi_hash_put(&model->hash, key * model->stretch, value) ==
              UCS_OK);
    model->count += (model->values[key] == NULL);
    model->values[key] = value;
}

static void model_remove(struct model *model, unsigned key)
{
    void *value = ucsi_hash_remove(&model->hash, key * model->stretch);

    ucs_check(value == model->values[key]);
    model->count -= (value != NULL);
    model->values[key] = NULL;
}

/* A walk meets each entry of the model once, and nothing else. */
static void model_walk(const struct model *model)
{
    bool     seen[KEY_COUNT] = {false};
    size_t   cursor          = 0;
    size_t   count           = 0;
    uint64_t key;
    void    *value;

    while ((value = ucsi_hash_next(&model->hash, &cursor, &key)) != NULL) {
        unsigned index = (unsigned)(key / model->stretch);

        ucs_check((index < KEY_COUNT) && (key % model->stretch == 0));
        ucs_check(!seen[index] && (model->values[index] == value));
        seen[index] = true;
        ++count;
    }
    ucs_check(count == model->count);
}

void model_hash(const uint8_t *data, size_t size)
{
    struct tape  tape  = {data, size, 0};
    struct model model = {.stretch = 1 + tape_scaled(&tape) / KEY_COUNT};
    unsigned     key;

    ucsi_hash_init(&model.hash, tape_u8(&tape));
    while (!tape_is_over(&tape)) {
        unsigned operation = tape_u8(&tape);

        key = tape_u8(&tape);
        if (operation < 100) {
            model_put(&model, key, &model.objects[operation % 16]);
        } else if (operation < 200) {
            model_remove(&model, key);
        } else if (operation < 254) {
            ucs_check(ucsi_hash_get(&model.hash, key * model.stretch) ==
                      model.values[key]);
        } else {
            model_walk(&model);
        }
        ucs_check(ucsi_hash_count(&model.hash) == model.count);
    }
    for (key = 0; key < KEY_COUNT; ++key) {
        ucs_check(ucsi_hash_get(&model.hash, key * model.stretch) ==
                  model.values[key]);
    }
    model_walk(&model);
    ucsi_hash_cleanup(&model.hash);
}
