/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_connect.c - the TCP connection of --listen and --connect. */
#include "tools/options.h"
#include "tools/perf_control.h"
#include "tools/tool.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Free in IANA's list; any other can be named. */
#define PERF_CONNECT_PORT "17337"

struct perf_place {
    char host[NI_MAXHOST]; /* "" for any */
    char port[NI_MAXSERV];
};

/* HOST, HOST:PORT, [IPV6]:PORT; a lone number is a port if port_alone. */
static bool place_parse(const char *text, bool port_alone,
                        struct perf_place *place)
{
    const char *colon = strrchr(text, ':');
    const char *host  = text;
    size_t      host_length;
    uint64_t    port;

    if (text[0] == '[') {
        const char *end = strchr(text, ']');

        if (end == NULL) {
            return false;
        }
        host        = text + 1;
        host_length = (size_t)(end - host);
        colon       = end[1] == ':' ? end + 1 : NULL;
        if ((colon == NULL) && (end[1] != '\0')) {
            return false;
        }
    } else if ((colon == NULL) && port_alone && tool_parse_u64(text, &port)) {
        host_length = 0;
        colon       = text - 1;
    } else {
        host_length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    }
    if (host_length >= sizeof(place->host)) {
        return false;
    }
    memcpy(place->host, host, host_length);
    place->host[host_length] = '\0';
    snprintf(place->port, sizeof(place->port), "%s",
             colon != NULL ? colon + 1 : PERF_CONNECT_PORT);
    return tool_parse_u64(place->port, &port) && (port <= UINT16_MAX);
}

static struct addrinfo *place_resolve(const char *option, const char *text)
{
    bool              passive = strcmp(option, "listen") == 0;
    struct addrinfo   hints   = {.ai_socktype = SOCK_STREAM,
                                 .ai_flags    = passive ? AI_PASSIVE : 0};
    struct addrinfo  *found   = NULL;
    struct perf_place place;
    int               code;

    if (!place_parse(text, passive, &place)) {
        tool_error("--%s '%s': expected %s with a port from 0 to 65535", option,
                   text, passive ? "[HOST:]PORT" : "HOST[:PORT]");
        return NULL;
    }
    code = getaddrinfo(place.host[0] != '\0' ? place.host : NULL, place.port,
                       &hints, &found);
    if (code != 0) {
        tool_error("--%s '%s': %s", option, text, gai_strerror(code));
        return NULL;
    }
    return found;
}

/* Tell the user which port the kernel picked. */
static void listen_announce(int fd)
{
    struct sockaddr_storage address;
    socklen_t               length = sizeof(address);
    char                    host[NI_MAXHOST], port[NI_MAXSERV];

    if ((getsockname(fd, (struct sockaddr *)&address, &length) == 0) &&
        (getnameinfo((struct sockaddr *)&address, length, host, sizeof(host),
                     port, sizeof(port),
                     NI_NUMERICHOST | NI_NUMERICSERV) == 0)) {
        tool_note("waiting at %s port %s", host, port);
    }
}

static int listen_open(const struct addrinfo *info)
{
    int on = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC,
                    info->ai_protocol);

    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if ((bind(fd, info->ai_addr, info->ai_addrlen) != 0) ||
        (listen(fd, 1) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void connection_tune(int fd)
{
    int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

int perf_control_listen(const char *where)
{
    struct addrinfo *found = place_resolve("listen", where);
    int              listener, fd;

    if (found == NULL) {
        return -1;
    }
    listener = listen_open(found);
    if (listener < 0) {
        tool_error("--listen '%s': %s", where, strerror(errno));
        freeaddrinfo(found);
        return -1;
    }
    freeaddrinfo(found);
    listen_announce(listener);
    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while ((fd < 0) && (errno == EINTR));
    if (fd < 0) {
        tool_error("cannot accept a connection: %s", strerror(errno));
    } else {
        connection_tune(fd);
    }
    close(listener);
    return fd;
}

int perf_control_connect(const char *where)
{
    struct addrinfo       *found = place_resolve("connect", where);
    const struct addrinfo *info;
    int                    fd = -1;

    if (found == NULL) {
        return -1;
    }
    for (info = found; (info != NULL) && (fd < 0); info = info->ai_next) {
        fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC,
                    info->ai_protocol);
        if ((fd >= 0) && (connect(fd, info->ai_addr, info->ai_addrlen) != 0)) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        tool_error("--connect '%s': %s", where, strerror(errno));
    } else {
        connection_tune(fd);
    }
    freeaddrinfo(found);
    return fd;
}
