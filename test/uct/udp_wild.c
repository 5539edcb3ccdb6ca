/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_wild.c - the two hosts and the stranger's socket. */
#include "uct/udp_wild.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ucs/clock.h"

enum { WILD_AM_ID = 3, WILD_MESSAGE_BYTES = 200 };

unsigned wild_bound_ms = WILD_BOUND_MS;

static ucs_status_t wild_message(void *arg, struct uct_source *source,
                                 void *data, size_t length, unsigned flags)
{
    struct wild_host *host      = (struct wild_host *)arg;
    const uint8_t    *bytes     = (const uint8_t *)data;
    uint8_t           different = 0;
    uint64_t          number;
    size_t            index;

    (void)source;
    (void)flags;
    ck_assert_uint_eq(length, WILD_MESSAGE_BYTES);
    memcpy(&number, data, sizeof(number));
    for (index = sizeof(number); index < length; ++index) {
        different |= bytes[index] ^ (uint8_t)(number + index);
    }
    ck_assert((number == host->got) && (different == 0));
    ++host->got;
    return UCS_OK;
}

static void wild_error(struct uct_ep *ep, ucs_status_t status)
{
    ((struct wild_host *)ep->user)->failed = status;
}

void wild_find_lo(struct uct_device *device)
{
    struct uct_device devices[16] = {0};
    char              reason[UCT_REASON_BYTES_MAX];
    unsigned          count = UCS_ARRAY_COUNT(devices), index;

    uct_udp_transport.devices(NULL, devices, &count, reason);
    for (index = 0; index < count; ++index) {
        if (strcmp(devices[index].name, "lo") == 0) {
            *device = devices[index];
            return;
        }
    }
    test_skip("no device lo");
}

void wild_host_open(struct wild_host *host)
{
    const struct uct_iface_params params = {
        .failure_bound_ns = wild_bound_ms * (uint64_t)UCS_NS_PER_MS,
    };
    struct uct_device device;

    memset(host, 0, sizeof(*host));
    wild_find_lo(&device);
    ck_assert_int_eq(ucti_md_open(&device, &host->md), UCS_OK);
    ck_assert_int_eq(ucti_iface_open(host->md, &params, &host->iface), UCS_OK);
    ucti_iface_set_am(host->iface, WILD_AM_ID, wild_message, host);
    uct_udp_transport.iface_address(host->iface, host->address);
    ck_assert_int_eq(uct_udp_transport.mem_register(host->md, host->region,
                                                    sizeof(host->region),
                                                    UCT_ACCESS_ALL, &host->mem),
                     UCS_OK);
}

void wild_host_close(struct wild_host *host)
{
    if (host->ep != NULL) {
        uct_udp_transport.ep_destroy(host->ep);
    }
    uct_udp_transport.mem_release(host->mem);
    ucti_iface_close(host->iface);
    ucti_md_close(host->md);
}

void wild_open(struct wild *wild)
{
    struct ucs_sockaddr any = {.inet.sin_family = AF_INET};

    any.inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    wild->socket =
        socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(wild->socket, 0);
    ck_assert_int_eq(bind(wild->socket, &any.base, sizeof(any.inet)), 0);
    wild_host_open(&wild->hosts[0]);
    wild_host_open(&wild->hosts[1]);
}

void wild_close(struct wild *wild)
{
    wild_host_close(&wild->hosts[0]);
    wild_host_close(&wild->hosts[1]);
    wild_close_stranger(wild);
}

void wild_close_stranger(struct wild *wild)
{
    (void)close(wild->socket);
}

void wild_connect(struct wild_host *host, const uint8_t *address)
{
    const struct uct_ep_params params = {.address       = address,
                                         .address_bytes = UDP_ADDRESS_BYTES,
                                         .error         = wild_error,
                                         .user          = host};

    ck_assert_int_eq(
        uct_udp_transport.ep_create(host->iface, &params, &host->ep), UCS_OK);
}

void wild_progress(struct wild *wild)
{
    (void)uct_udp_transport.progress(wild->hosts[0].iface);
    (void)uct_udp_transport.progress(wild->hosts[1].iface);
}

void wild_send(struct wild_host *host)
{
    uint8_t  payload[WILD_MESSAGE_BYTES - sizeof(uint64_t)];
    size_t   index;
    uint64_t number = host->sent;

    for (index = 0; index < sizeof(payload); ++index) {
        payload[index] = (uint8_t)(number + sizeof(number) + index);
    }
    if (uct_udp_transport.am_short(host->ep, WILD_AM_ID, number, payload,
                                   sizeof(payload), 0) == UCS_OK) {
        ++host->sent;
    }
}

void wild_talk(struct wild *wild, unsigned count)
{
    uint64_t end = wild->hosts[0].sent + count;

    if (wild->hosts[0].ep == NULL) {
        wild_connect(&wild->hosts[0], wild->hosts[1].address);
    }
    while ((wild->hosts[1].got < end) && (wild->hosts[0].failed == UCS_OK)) {
        if (wild->hosts[0].sent < end) {
            wild_send(&wild->hosts[0]);
        }
        wild_progress(wild);
    }
    ck_assert_int_eq(wild->hosts[0].failed, UCS_OK);
}

struct udp_iface *wild_iface(struct wild_host *host)
{
    return udp_iface_of(host->iface);
}

uint64_t wild_count(struct wild_host *host, enum udp_counter counter)
{
    return ucs_counter_get(&wild_iface(host)->env.counters[counter]);
}

uint64_t wild_dropped(struct wild_host *host)
{
    return wild_count(host, UDP_COUNT_BAD_PACKET) +
           wild_count(host, UDP_COUNT_BAD_TAG) +
           wild_count(host, UDP_COUNT_BAD_CONNECTION);
}

unsigned wild_conn_count(struct wild_host *host)
{
    const struct udp_conn *conn;
    unsigned               count = 0;

    ucs_list_for_each (conn, &wild_iface(host)->all, link) {
        ++count;
    }
    return count;
}

void wild_shoot(struct wild *wild, struct wild_host *host,
                enum udp_channel channel, const uint8_t *bytes, size_t length)
{
    const struct ucs_sockaddr *to =
        &wild_iface(host)->address.channels[channel];

    ck_assert_int_eq(
        sendto(wild->socket, bytes, length, 0, &to->base, to->size_bytes),
        (ssize_t)length);
}

size_t wild_answer(struct wild *wild, uint8_t *bytes, size_t room)
{
    ssize_t length = recv(wild->socket, bytes, room, 0);

    return (length < 0) ? 0 : (size_t)length;
}

size_t wild_make_hello(uint8_t *bytes, unsigned kind,
                       const struct udp_hello *hello,
                       const struct udp_seal  *seal)
{
    struct udp_head head = {.kind = (uint8_t)kind};
    size_t          length;

    memset(bytes, 0, WILD_HELLO_BYTES);
    udp_wire_put_head(bytes, &head);
    length = UDP_HEAD_BYTES + udp_wire_put_hello(bytes + UDP_HEAD_BYTES, hello);
    udp_seal_put(seal, bytes, length, length);
    return length;
}

struct udp_hello wild_random_hello(void)
{
    return (struct udp_hello){.incarnation   = test_random(),
                              .nonce         = test_random(),
                              .cookie        = test_random(),
                              .id            = (uint32_t)test_random(),
                              .buffer_bytes  = 1 << 20,
                              .largest_bytes = 1400,
                              .data_port     = 1};
}

void wild_shake_hands(struct wild *wild, struct wild_host *host,
                      struct udp_hello *hello)
{
    const struct udp_seal *secret = &wild_iface(host)->self.secret;
    uint8_t                bytes[WILD_HELLO_BYTES], answer[2048];
    struct udp_hello       cookie = {.id = hello->id + 1};
    struct udp_head        head;
    size_t                 length;

    (void)wild_make_hello(bytes, UDP_KIND_HELLO, hello, secret);
    wild_shoot(wild, host, UDP_PRIORITY, bytes, sizeof(bytes));
    do { /* earlier connections are heard, too */
        wild_progress(wild);
        length = wild_answer(wild, answer, sizeof(answer));
        if ((length > 0) && udp_wire_get_head(answer, length, &head) &&
            (head.to == hello->id)) {
            udp_wire_get_hello(answer + UDP_HEAD_BYTES, &cookie);
        }
    } while (cookie.id == hello->id + 1);
    hello->cookie = cookie.cookie;
    (void)wild_make_hello(bytes, UDP_KIND_CONNECT, hello, secret);
    wild_shoot(wild, host, UDP_PRIORITY, bytes, sizeof(bytes));
}
