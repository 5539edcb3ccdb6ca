/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/fd.h"

size_t ucsi_host_read(const char *path, char *text, size_t size_bytes)
{
    int     fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    text[0] = '\0';
    if (fd < 0) {
        return 0;
    }
    length = read(fd, text, size_bytes - 1);
    ucsi_fd_close(&fd);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    return (size_t)length;
}

uint64_t ucsi_host_id(void)
{
    uint64_t id = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    char     text[64];
    size_t   length, index;

    length =
        ucsi_host_read("/proc/sys/kernel/random/boot_id", text, sizeof(text));
    if (length == 0) {
        (void)gethostname(text, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        length                 = strlen(text);
    }
    for (index = 0; index < length; ++index) {
        id = (id ^ (uint8_t)text[index]) * UINT64_C(0x100000001b3);
    }
    return id;
}

uint32_t ucsi_host_namespace(const char *kind)
{
    char        path[64];
    struct stat status;

    (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    return (stat(path, &status) == 0) ? (uint32_t)status.st_ino : 0;
}
