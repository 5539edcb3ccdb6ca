/* SPDX-License-Identifier: BSD-3-Clause */
/* test/ucs/random_model.h - a model of test/fuzz, fed from the runner. */
#ifndef TEST_UCS_RANDOM_MODEL_H_
#define TEST_UCS_RANDOM_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#include "fuzz/models.h"
#include "lib/test.h"

/* Run a model on so many random inputs, from the seed of this test. */
static inline void run_random_model(void (*model)(const uint8_t *, size_t),
                                    unsigned input_count)
{
    static uint8_t input[2048];
    size_t         size, i;

    while (input_count-- > 0) {
        size = (size_t)test_random_below(sizeof(input)) >> test_random_below(6);
        for (i = 0; i < size; ++i) {
            input[i] = (uint8_t)test_random();
        }
        model(input, size);
    }
}

#endif
