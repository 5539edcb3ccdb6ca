/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/fuzz.h - what a fuzz target is: one function, called by libFuzzer
 * or by driver.c. */
#ifndef TEST_FUZZ_FUZZ_H_
#define TEST_FUZZ_FUZZ_H_

#include <stddef.h>
#include <stdint.h>

/* Eat one input. A bug shows as an abort or in a sanitizer; nothing of one
 * call may stay for the next. @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
