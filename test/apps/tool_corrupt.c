/* SPDX-License-Identifier: BSD-3-Clause */
/* test/apps/tool_corrupt.c - a library that damages messages (LD_PRELOAD), to
 * see that `causeway perf --verify` notices. TOOL_CORRUPT says how:
 *
 *   flip:SIZE:NTH   one bit of the last byte of the NTH message of SIZE bytes
 *   swap:SIZE:NTH   the NTH message of SIZE bytes is sent twice, the next never
 *   past:SIZE:NTH   the NTH receive of SIZE bytes writes a byte behind its end
 *   kill:SIZE:NTH   the server ends without a word
 *   hang:SIZE:NTH   the server stops there */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucp/api/ucp.h>

static char          corrupt_how[8];
static size_t        corrupt_size_bytes;
static unsigned long corrupt_nth;

static void corrupt_read(void)
{
    const char *text = getenv("TOOL_CORRUPT");

    if ((corrupt_how[0] == '\0') &&
        ((text == NULL) || (sscanf(text, "%7[a-z]:%zu:%lu", corrupt_how,
                                   &corrupt_size_bytes, &corrupt_nth) != 3))) {
        fprintf(stderr, "TOOL_CORRUPT is not set\n");
        abort();
    }
}

static int corrupt_is(const char *how, size_t size_bytes)
{
    corrupt_read();
    return (size_bytes == corrupt_size_bytes) &&
           (strcmp(how, corrupt_how) == 0) && (--corrupt_nth == 0);
}

/* Is this the process that `causeway perf` started? */
static int corrupt_in_server(void)
{
    char   line[256] = "";
    FILE  *file      = fopen("/proc/self/cmdline", "re");
    size_t length = file != NULL ? fread(line, 1, sizeof(line) - 1, file) : 0;

    if (file != NULL) {
        fclose(file);
    }
    return memmem(line, length, "--peer-fd", 9) != NULL;
}

/* Never freed: the send may still be under way when the program ends. Only one
 * is made, and a leak checker finds it here. */
extern void *corrupt_copied; /* seen by others, so that it is not removed */
void        *corrupt_copied;

static void *corrupt_copy(const void *buffer, size_t size_bytes)
{
    char *copy = malloc(size_bytes + 1);

    if (copy == NULL) {
        abort();
    }
    memcpy(copy, buffer, size_bytes);
    corrupt_copied = copy;
    return copy;
}

/* The real one: RTLD_NEXT is behind us. */
#define CORRUPT_NEXT(_name) ((__typeof__(&(_name)))dlsym(RTLD_NEXT, #_name))

__attribute__((visibility("default"))) ucs_status_ptr_t
ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag,
                 const ucp_request_param_t *param)
{
    static void *kept;

    if (corrupt_is("flip", count)) {
        buffer = corrupt_copy(buffer, count);
        ((char *)buffer)[count - 1] ^= 0x10;
    } else if (kept != NULL && count == corrupt_size_bytes) {
        buffer = kept;
        kept   = NULL;
    } else if (corrupt_is("swap", count)) {
        kept = corrupt_copy(buffer, count);
    } else if (corrupt_is("kill", count) && corrupt_in_server()) {
        _exit(0);
    } else if (corrupt_is("hang", count) && corrupt_in_server()) {
        for (;;) {
            pause();
        }
    }
    return CORRUPT_NEXT(ucp_tag_send_nbx)(ep, buffer, count, tag, param);
}

__attribute__((visibility("default"))) ucs_status_ptr_t
ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag,
                 ucp_tag_t mask, const ucp_request_param_t *param)
{
    if (corrupt_is("past", count)) {
        ((char *)buffer)[count + 3] = 1;
    }
    return CORRUPT_NEXT(ucp_tag_recv_nbx)(worker, buffer, count, tag, mask,
                                          param);
}
