/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/path.c - filling the holes in names of files. */
#include "ucs/path.h"

#include <errno.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/strbuf.h"

static void path_append_host(struct ucs_strbuf *path)
{
    int  error = errno;
    char host[256]; /* the kernel's limit is 64 */

    if (gethostname(host, sizeof(host)) != 0) {
        host[0] = '?';
        host[1] = '\0';
    }
    host[sizeof(host) - 1] = '\0';
    errno                  = error;
    ucsi_strbuf_append(path, host);
}

/* What stands for the letter after a percent sign. False: nothing does. */
static bool path_append_hole(struct ucs_strbuf *path, char letter)
{
    switch (letter) {
    case 'p':
        ucsi_strbuf_appendf(path, "%d", (int)getpid());
        return true;
    case 'h':
        path_append_host(path);
        return true;
    case 't':
        ucsi_strbuf_appendf(
            path, "%llu",
            (unsigned long long)(ucsi_clock_wall_ns() / UCS_NS_PER_S));
        return true;
    case '%':
        ucsi_strbuf_append(path, "%");
        return true;
    default:
        return false;
    }
}

bool ucsi_path_expand(const char *pattern, char *path, size_t size_bytes)
{
    struct ucs_strbuf text;

    ucs_strbuf_init(&text, path, size_bytes);
    for (; *pattern != '\0'; ++pattern) {
        if ((*pattern == '%') && path_append_hole(&text, pattern[1])) {
            ++pattern;
        } else {
            ucsi_strbuf_appendf(&text, "%c", *pattern);
        }
    }
    return !text.truncated;
}
