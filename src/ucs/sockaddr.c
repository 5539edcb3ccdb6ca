/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/sockaddr.c - the addresses of ucs/socket.h. Makes no system call, the
 * resolver's apart; bytes from a peer are checked before they are used. */
#include "ucs/socket.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/log.h"
#include "ucs/units.h"

enum {
    /* A host name has at most 253 letters: RFC 1035, section 2.3.4. */
    SOCKADDR_HOST_BYTES_MAX = 256,
    SOCKADDR_UNIX_PATH_AT   = offsetof(struct sockaddr_un, sun_path)
};

/* "host:port" cut in two. */
struct sockaddr_text {
    char     host[SOCKADDR_HOST_BYTES_MAX];
    uint16_t port;
};

ucs_status_t ucsi_sockaddr_size(const struct sockaddr *address,
                                size_t                *size_bytes_p)
{
    switch (address->sa_family) {
    case AF_INET:
        *size_bytes_p = sizeof(struct sockaddr_in);
        return UCS_OK;
    case AF_INET6:
        *size_bytes_p = sizeof(struct sockaddr_in6);
        return UCS_OK;
    case AF_UNIX:
        *size_bytes_p = sizeof(struct sockaddr_un);
        return UCS_OK;
    default:
        return UCS_ERR_INVALID_ADDR;
    }
}

ucs_status_t ucsi_sockaddr_copy(const void *address, size_t size_bytes,
                                struct ucs_sockaddr *copy_p)
{
    struct ucs_sockaddr copy = {.size_bytes = 0};
    size_t              needed;

    if (size_bytes < sizeof(copy.base.sa_family)) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&copy.base.sa_family, address, sizeof(copy.base.sa_family));
    if (ucsi_sockaddr_size(&copy.base, &needed) != UCS_OK) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (copy.base.sa_family == AF_UNIX) {
        needed = ucs_min(needed, size_bytes); /* its length is free */
    }
    if (size_bytes < needed) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&copy.base, address, needed);
    if (copy.base.sa_family == AF_INET) {
        memset(copy.inet.sin_zero, 0, sizeof(copy.inet.sin_zero));
    }
    copy.size_bytes = (socklen_t)needed;
    *copy_p         = copy;
    return UCS_OK;
}

/* ---------------------------------------------------------------- parse */

static bool sockaddr_parse_port(const char *text, uint16_t *port_p)
{
    uint64_t port;

    if ((ucsi_units_parse_count(text, &port) != UCS_OK) ||
        (port > UINT16_MAX)) {
        return false;
    }
    *port_p = (uint16_t)port;
    return true;
}

/* Cut "[host]:port", "host:port", "host" or an IPv6 host without port. */
static bool sockaddr_split(const char *text, uint16_t port_default,
                           struct sockaddr_text *parts)
{
    const char *host = text;
    const char *end;
    const char *colon;

    parts->port = port_default;
    if (*text == '[') {
        host  = text + 1;
        end   = strchr(host, ']');
        colon = (end == NULL) ? NULL : end + 1;
        if ((end == NULL) || ((*colon != '\0') && (*colon != ':'))) {
            return false;
        }
    } else {
        colon = strchr(text, ':');
        if ((colon == NULL) || (strchr(colon + 1, ':') != NULL)) {
            colon = text + strlen(text); /* none, or colons of the host */
        }
        end = colon;
    }
    if ((end == host) || ((size_t)(end - host) >= sizeof(parts->host))) {
        return false;
    }
    memcpy(parts->host, host, (size_t)(end - host));
    parts->host[end - host] = '\0';
    return (*colon == '\0') || sockaddr_parse_port(colon + 1, &parts->port);
}

/* An IPv6 host, perhaps with %interface. */
static bool sockaddr_parse_inet6(const char *host, struct ucs_sockaddr *address)
{
    char     literal[INET6_ADDRSTRLEN];
    size_t   length = strcspn(host, "%");
    uint64_t scope  = 0;

    if (length >= sizeof(literal)) {
        return false;
    }
    memcpy(literal, host, length);
    literal[length] = '\0';
    if (host[length] == '%') {
        scope = if_nametoindex(host + length + 1);
        if ((scope == 0) &&
            ((ucsi_units_parse_count(host + length + 1, &scope) != UCS_OK) ||
             (scope > UINT32_MAX))) {
            return false;
        }
    }
    address->size_bytes          = sizeof(address->inet6);
    address->inet6.sin6_family   = AF_INET6;
    address->inet6.sin6_scope_id = (uint32_t)scope;
    return inet_pton(AF_INET6, literal, &address->inet6.sin6_addr) == 1;
}

static bool sockaddr_parse_inet(const char *host, struct ucs_sockaddr *address)
{
    address->size_bytes           = sizeof(address->inet);
    address->inet.sin_family      = AF_INET;
    address->inet.sin_addr.s_addr = htonl(INADDR_ANY);
    return (strcmp(host, "*") == 0) ||
           (inet_pton(AF_INET, host, &address->inet.sin_addr) == 1);
}

static bool sockaddr_parse_host(const char *host, struct ucs_sockaddr *address)
{
    memset(address, 0, sizeof(*address));
    return (strchr(host, ':') == NULL) ? sockaddr_parse_inet(host, address)
                                       : sockaddr_parse_inet6(host, address);
}

ucs_status_t ucsi_sockaddr_parse(const char *text, uint16_t port_default,
                                 struct ucs_sockaddr *address_p)
{
    struct ucs_sockaddr  address;
    struct sockaddr_text parts;

    if (!sockaddr_split(text, port_default, &parts) ||
        !sockaddr_parse_host(parts.host, &address)) {
        return UCS_ERR_INVALID_ADDR;
    }
    ucsi_sockaddr_set_port(&address, parts.port);
    *address_p = address;
    return UCS_OK;
}

ucs_status_t ucsi_sockaddr_resolve(const char *text, uint16_t port_default,
                                   struct ucs_sockaddr *address_p)
{
    struct addrinfo      hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo     *found;
    struct sockaddr_text parts;
    ucs_status_t         status;
    int                  error;

    if (ucsi_sockaddr_parse(text, port_default, address_p) == UCS_OK) {
        return UCS_OK;
    }
    if (!sockaddr_split(text, port_default, &parts)) {
        ucs_error("address \"%.256s\" is not host:port", text);
        return UCS_ERR_INVALID_ADDR;
    }
    error = getaddrinfo(parts.host, NULL, &hints, &found);
    if (error != 0) {
        ucs_error("host \"%s\": %s", parts.host, gai_strerror(error));
        return UCS_ERR_INVALID_ADDR;
    }
    status = ucsi_sockaddr_copy(found->ai_addr, found->ai_addrlen, address_p);
    freeaddrinfo(found);
    if (status != UCS_OK) {
        ucs_error("host \"%s\" has no IP address", parts.host);
        return status;
    }
    ucsi_sockaddr_set_port(address_p, parts.port);
    return UCS_OK;
}

ucs_status_t ucsi_sockaddr_abstract(const void *name, size_t name_bytes,
                                    struct ucs_sockaddr *address_p)
{
    struct ucs_sockaddr address = {.size_bytes = 0};

    /* The first byte of the path is zero: unix(7). */
    if (name_bytes > sizeof(address.unix_name.sun_path) - 1) {
        return UCS_ERR_INVALID_ADDR;
    }
    address.unix_name.sun_family = AF_UNIX;
    memcpy(address.unix_name.sun_path + 1, name, name_bytes);
    address.size_bytes = (socklen_t)(SOCKADDR_UNIX_PATH_AT + 1 + name_bytes);
    *address_p         = address;
    return UCS_OK;
}

/* ---------------------------------------------------------------- print */

static void sockaddr_print_inet6(const struct ucs_sockaddr *address, char *text,
                                 size_t text_bytes)
{
    char host[INET6_ADDRSTRLEN] = "?";
    char scope[IF_NAMESIZE + 1] = "";

    (void)inet_ntop(AF_INET6, &address->inet6.sin6_addr, host, sizeof(host));
    if (address->inet6.sin6_scope_id != 0) {
        /* By number: the name may be gone, the number is what counts. */
        (void)snprintf(scope, sizeof(scope), "%%%u",
                       address->inet6.sin6_scope_id);
    }
    (void)snprintf(text, text_bytes, "[%s%s]:%u", host, scope,
                   ucsi_sockaddr_port(address));
}

/* "unix:" and the name; '@' for the zero of an abstract one. */
static void sockaddr_print_unix(const struct ucs_sockaddr *address, char *text,
                                size_t text_bytes)
{
    char   name[sizeof(address->unix_name.sun_path) + 1];
    size_t length =
        ucs_min((size_t)address->size_bytes, sizeof(address->unix_name));
    size_t i;

    length -= ucs_min(length, (size_t)SOCKADDR_UNIX_PATH_AT);
    memcpy(name, address->unix_name.sun_path, length);
    if ((length > 0) && (name[0] != '\0')) {
        length = strnlen(name, length); /* a path ends at its NUL */
    }
    for (i = 0; i < length; ++i) {
        if (name[i] == '\0') {
            name[i] = '@';
        } else if ((name[i] < ' ') || (name[i] > '~')) {
            name[i] = '?';
        }
    }
    name[length] = '\0';
    (void)snprintf(text, text_bytes, "unix:%s", name);
}

char *ucsi_sockaddr_print(const struct ucs_sockaddr *address, char *text,
                          size_t text_bytes)
{
    char host[INET_ADDRSTRLEN] = "?";

    switch (address->base.sa_family) {
    case AF_INET:
        (void)inet_ntop(AF_INET, &address->inet.sin_addr, host, sizeof(host));
        (void)snprintf(text, text_bytes, "%s:%u", host,
                       ucsi_sockaddr_port(address));
        break;
    case AF_INET6:
        sockaddr_print_inet6(address, text, text_bytes);
        break;
    case AF_UNIX:
        sockaddr_print_unix(address, text, text_bytes);
        break;
    default:
        (void)snprintf(text, text_bytes, "family %u", address->base.sa_family);
        break;
    }
    return text;
}

static int sockaddr_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int ucsi_sockaddr_compare(const struct ucs_sockaddr *a,
                          const struct ucs_sockaddr *b)
{
    int result = sockaddr_order(a->base.sa_family, b->base.sa_family);

    if (result != 0) {
        return result;
    }
    if (a->base.sa_family == AF_INET) {
        result = memcmp(&a->inet.sin_addr, &b->inet.sin_addr,
                        sizeof(a->inet.sin_addr));
    } else if (a->base.sa_family == AF_INET6) {
        result = memcmp(&a->inet6.sin6_addr, &b->inet6.sin6_addr,
                        sizeof(a->inet6.sin6_addr));
        if (result == 0) {
            result =
                sockaddr_order(a->inet6.sin6_scope_id, b->inet6.sin6_scope_id);
        }
    } else {
        result = sockaddr_order(a->size_bytes, b->size_bytes);
        if (result == 0) {
            result = memcmp(&a->base, &b->base, a->size_bytes);
        }
    }
    return (result != 0)
               ? result
               : sockaddr_order(ucsi_sockaddr_port(a), ucsi_sockaddr_port(b));
}

uint16_t ucsi_sockaddr_port(const struct ucs_sockaddr *address)
{
    switch (address->base.sa_family) {
    case AF_INET:
        return ntohs(address->inet.sin_port);
    case AF_INET6:
        return ntohs(address->inet6.sin6_port);
    default:
        return 0;
    }
}

void ucsi_sockaddr_set_port(struct ucs_sockaddr *address, uint16_t port)
{
    if (address->base.sa_family == AF_INET) {
        address->inet.sin_port = htons(port);
    } else if (address->base.sa_family == AF_INET6) {
        address->inet6.sin6_port = htons(port);
    }
}
