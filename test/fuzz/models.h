/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/models.h - a structure against a naive model of it.
 *
 * Each function reads its input as a sequence of operations, does them on the
 * structure and on the model, and aborts where the two differ. Any input is a
 * valid one. The fuzz targets and the random tests of test/ucs share them. */
#ifndef TEST_FUZZ_MODELS_H_
#define TEST_FUZZ_MODELS_H_

#include <stddef.h>
#include <stdint.h>

void model_arena(const uint8_t *data, size_t size);
void model_bytes(const uint8_t *data, size_t size);
void model_hash(const uint8_t *data, size_t size);
void model_heap(const uint8_t *data, size_t size);
void model_hotel(const uint8_t *data, size_t size);
void model_idmap(const uint8_t *data, size_t size);
void model_mpool(const uint8_t *data, size_t size);

#endif
