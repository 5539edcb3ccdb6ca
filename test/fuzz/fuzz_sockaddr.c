/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_sockaddr.c - any bytes as an address from a peer and as the text of
 * one. What is taken must print as text of the same address. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/socket.h"

static void check_text(const struct ucs_sockaddr *address)
{
    char                text[UCS_SOCKADDR_TEXT_BYTES_MAX];
    struct ucs_sockaddr again;

    ucsi_sockaddr_print(address, text, sizeof(text));
    if (address->base.sa_family == AF_UNIX) {
        return; /* its text is for people only */
    }
    if ((ucsi_sockaddr_parse(text, 0, &again) != UCS_OK) ||
        (ucsi_sockaddr_compare(address, &again) != 0)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char   alphabet[] = "0123456789abcdef::::....[]%*";
    struct ucs_sockaddr address;
    char                text[512];
    size_t              length = ucs_min(size, sizeof(text) - 1);
    size_t              i;

    if (ucsi_sockaddr_copy(data, size, &address) == UCS_OK) {
        if (address.size_bytes > size) {
            abort();
        }
        check_text(&address);
    }
    memcpy(text, data, length);
    text[length] = '\0';
    if (ucsi_sockaddr_parse(text, 1, &address) == UCS_OK) {
        check_text(&address);
    }
    for (i = 0; i < length; ++i) {
        text[i] = alphabet[data[i] % (sizeof(alphabet) - 1)];
    }
    text[ucs_min(length, (size_t)24)] = '\0'; /* short ones are valid sooner */
    if (ucsi_sockaddr_parse(text, 1, &address) == UCS_OK) {
        check_text(&address);
    }
    return 0;
}
