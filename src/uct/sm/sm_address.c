/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_address.c - who am I, as bytes. */
#include "uct/sm/sm_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/bytes.h"
#include "ucs/host.h"

uint64_t uct_sm_process_start(int32_t pid)
{
    enum { FIELD_STATE = 3, FIELD_START = 22 }; /* proc(5), from 1 */
    char        path[64] = "/proc/self/stat";
    char        text[1024];
    const char *next;
    int         field;

    if (pid != 0) {
        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    }
    if (ucsi_host_read(path, text, sizeof(text)) == 0) {
        return 0;
    }
    /* The name in field 2 is in parentheses and may hold any character. */
    next = strrchr(text, ')');
    if (next == NULL) {
        return 0;
    }
    for (field = FIELD_STATE - 1; field < FIELD_START; ++field) {
        next = strchr(next + 1, ' ');
        if (next == NULL) {
            return 0;
        }
    }
    return strtoull(next + 1, NULL, 10);
}

void uct_sm_address_self(struct uct_sm_address *address)
{
    address->host_id       = ucsi_host_id();
    address->process_start = uct_sm_process_start(0);
    address->pid           = (int32_t)getpid();
    address->uid           = (uint32_t)geteuid();
    address->pid_namespace = ucsi_host_namespace("pid");
    address->net_namespace = ucsi_host_namespace("net");
}

void uct_sm_address_encode(const struct uct_sm_address *address, uint8_t *bytes)
{
    struct ucs_writer writer;

    ucs_writer_init(&writer, bytes, UCT_SM_ADDRESS_BYTES);
    ucs_write_u8(&writer, UCT_SM_ADDRESS_VERSION);
    ucs_write_u8(&writer, address->flags);
    ucs_write_le64(&writer, address->host_id);
    ucs_write_le64(&writer, address->segment_id);
    ucs_write_le64(&writer, address->process_start);
    ucs_write_le32(&writer, (uint32_t)address->pid);
    ucs_write_le32(&writer, (uint32_t)address->fd);
    ucs_write_le32(&writer, address->uid);
    ucs_write_le32(&writer, address->pid_namespace);
    ucs_write_le32(&writer, address->net_namespace);
}

ucs_status_t uct_sm_address_decode(const uint8_t *bytes, size_t size_bytes,
                                   struct uct_sm_address *address_p)
{
    struct uct_sm_address address;
    struct ucs_reader     reader;
    uint8_t               version;

    ucs_reader_init(&reader, bytes, size_bytes);
    version               = ucs_read_u8(&reader);
    address.flags         = ucs_read_u8(&reader);
    address.host_id       = ucs_read_le64(&reader);
    address.segment_id    = ucs_read_le64(&reader);
    address.process_start = ucs_read_le64(&reader);
    address.pid           = (int32_t)ucs_read_le32(&reader);
    address.fd            = (int32_t)ucs_read_le32(&reader);
    address.uid           = ucs_read_le32(&reader);
    address.pid_namespace = ucs_read_le32(&reader);
    address.net_namespace = ucs_read_le32(&reader);
    if (!ucs_read_ok(&reader) || (ucs_read_left(&reader) != 0) ||
        (version != UCT_SM_ADDRESS_VERSION) || (address.pid <= 0) ||
        (address.fd < 0) || (address.segment_id == 0)) {
        return UCS_ERR_INVALID_ADDR;
    }
    *address_p = address;
    return UCS_OK;
}
