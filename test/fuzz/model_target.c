/* SPDX-License-Identifier: BSD-3-Clause */
/* model_target.c - the fuzzer's entry to the model named FUZZ_MODEL. */
#include "fuzz/fuzz.h"
#include "fuzz/models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_MODEL(data, size);
    return 0;
}
