/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_open.c - for test programs: find the mock's control. */
#include "mock/mock.h"

#include <dlfcn.h>
#include <stdio.h>

const struct mock_control *mock_open(const char *folder)
{
    char  path[4096];
    void *handle;

    (void)snprintf(path, sizeof(path), "%s/causeway_uct_mock.so", folder);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return (handle == NULL) ? NULL
                            : (const struct mock_control *)dlsym(
                                  handle, MOCK_CONTROL_SYMBOL);
}
