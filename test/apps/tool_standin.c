/* SPDX-License-Identifier: BSD-3-Clause */
/* test/apps/tool_standin.c - a libucp.so.0 of two functions, which reports
 * itself as ours does, or with STANDIN_SILENT does not, as a foreign one. So
 * `causeway run` is tested apart from the library. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int standin_init(void);
int standin_other(void);

__attribute__((visibility("default"))) int standin_init(void)
{
#ifndef STANDIN_SILENT
    char        line[5000];
    const char *path = getenv("CAUSEWAY_RUN_REPORT");
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    Dl_info info;
    int     length;

    if ((fd >= 0) &&
        (dladdr(dlsym(RTLD_DEFAULT, "standin_init"), &info) != 0)) {
        length = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(),
                          info.dli_fname);
        if (write(fd, line, (size_t)length) != length) {
            abort();
        }
        close(fd);
    }
#endif
    return 0;
}

__attribute__((visibility("default"))) int standin_other(void)
{
    return 0;
}
