/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/status.c - the sentences for the status codes.
 *
 * The symbol is part of the compatible API: programs look it up in libucs. */
#include "ucs/type/status.h"

#include <stdio.h>

#include "ucs/compiler.h"

enum {
    /* "Unknown error " and a number of up to four characters. */
    STATUS_TEXT_BYTES_MAX = 40
};

static const char *const status_texts[] = {
    [-UCS_OK]                       = "Success",
    [-UCS_ERR_NO_MESSAGE]           = "No such message is pending",
    [-UCS_ERR_NO_RESOURCE]          = "No room now, try again after progress",
    [-UCS_ERR_IO_ERROR]             = "Input or output failed",
    [-UCS_ERR_NO_MEMORY]            = "Not enough memory",
    [-UCS_ERR_INVALID_PARAM]        = "A parameter is not valid",
    [-UCS_ERR_UNREACHABLE]          = "The destination cannot be reached",
    [-UCS_ERR_INVALID_ADDR]         = "The address is not valid",
    [-UCS_ERR_NOT_IMPLEMENTED]      = "Not implemented",
    [-UCS_ERR_MESSAGE_TRUNCATED]    = "The message is longer than its buffer",
    [-UCS_ERR_NO_PROGRESS]          = "Nothing progressed",
    [-UCS_ERR_BUFFER_TOO_SMALL]     = "The buffer is too small",
    [-UCS_ERR_NO_ELEM]              = "There is no such element",
    [-UCS_ERR_SOME_CONNECTS_FAILED] = "Not every connection was made",
    [-UCS_ERR_NO_DEVICE]            = "There is no usable device",
    [-UCS_ERR_BUSY]                 = "In use, or something is waiting already",
    [-UCS_ERR_CANCELED]             = "The operation was cancelled",
    [-UCS_ERR_SHMEM_SEGMENT]        = "A shared memory segment failed",
    [-UCS_ERR_ALREADY_EXISTS]       = "It exists already",
    [-UCS_ERR_OUT_OF_RANGE]         = "A value is out of range",
    [-UCS_ERR_TIMED_OUT]            = "The time ran out",
    [-UCS_ERR_EXCEEDS_LIMIT]        = "A limit is exceeded",
    [-UCS_ERR_UNSUPPORTED]          = "Not supported",
    [-UCS_ERR_REJECTED]             = "The peer refused",
    [-UCS_ERR_NOT_CONNECTED]        = "Not connected",
    [-UCS_ERR_CONNECTION_RESET]     = "The peer ended the connection",
};

/* The ranges that only have a meaning as a whole; NULL outside of them. */
static const char *status_range_text(int code)
{
    if (code == UCS_ERR_ENDPOINT_TIMEOUT) {
        return "The endpoint's peer did not answer in time";
    }
    if ((code <= UCS_ERR_FIRST_LINK_FAILURE) &&
        (code >= UCS_ERR_LAST_LINK_FAILURE)) {
        return "The link failed";
    }
    if ((code <= UCS_ERR_FIRST_ENDPOINT_FAILURE) &&
        (code >= UCS_ERR_LAST_ENDPOINT_FAILURE)) {
        return "The endpoint failed";
    }
    return NULL;
}

UCS_EXPORT const char *ucs_status_string(ucs_status_t status)
{
    static _Thread_local char unknown[STATUS_TEXT_BYTES_MAX];
    int                       code = status;
    const char               *text = status_range_text(code);

    if (text != NULL) {
        return text;
    }
    if (code == UCS_INPROGRESS) {
        return "Under way";
    }
    if ((code <= 0) && ((size_t)-code < UCS_ARRAY_COUNT(status_texts))) {
        return status_texts[-code];
    }
    (void)snprintf(unknown, sizeof(unknown), "Unknown error %d", code);
    return unknown;
}
