/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "ucs/fd.h"
#include "ucs/log_capture.h"
#include "ucs/suites.h"

static void check_flags(int fd)
{
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* A listener on a free port, or with a free abstract name. */
static int listener_open(int family, struct ucs_sockaddr *address)
{
    char name[64];
    int  fd;

    if (family == AF_UNIX) {
        int length = snprintf(name, sizeof(name), "ucs_test_%d_%llx",
                              (int)getpid(), (unsigned long long)test_random());

        ck_assert_int_eq(ucsi_sockaddr_abstract(name, (size_t)length, address),
                         UCS_OK);
    } else {
        ck_assert_int_eq(ucsi_sockaddr_parse("127.0.0.1:0", 0, address),
                         UCS_OK);
    }
    ck_assert_int_eq(ucsi_socket_open(family, SOCK_STREAM, &fd), UCS_OK);
    check_flags(fd);
    ck_assert_int_eq(ucsi_socket_bind(fd, address), UCS_OK);
    ck_assert_int_eq(ucsi_socket_listen(fd, 8), UCS_OK);
    ck_assert_int_eq(ucsi_socket_own_address(fd, address), UCS_OK);
    return fd;
}

struct connecting {
    int                        fd;
    const struct ucs_sockaddr *address;
    ucs_status_t               status;
};

static bool connect_ended(void *arg)
{
    struct connecting *connecting = arg;

    connecting->status =
        ucsi_socket_connect_result(connecting->fd, connecting->address);
    return connecting->status != UCS_INPROGRESS;
}

static ucs_status_t connect_wait(int fd, const struct ucs_sockaddr *address)
{
    struct connecting connecting = {fd, address,
                                    ucsi_socket_connect(fd, address)};

    if (connecting.status == UCS_INPROGRESS) {
        ck_assert(test_wait_until(connect_ended, &connecting, 10));
    }
    return connecting.status;
}

struct accepting {
    int                 fd;
    int                 connected;
    struct ucs_sockaddr peer;
};

static bool accept_one(void *arg)
{
    struct accepting *accepting = arg;

    return ucsi_socket_accept(accepting->fd, &accepting->connected,
                              &accepting->peer) == UCS_OK;
}

/* Two ends of a connection. */
static void pair_open(int family, int ends[2])
{
    struct ucs_sockaddr address;
    struct accepting    accepting = {.connected = -1};
    struct ucs_sockaddr seen;

    accepting.fd = listener_open(family, &address);
    ck_assert_int_eq(ucsi_socket_accept(accepting.fd, &ends[1], NULL),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(ucsi_socket_open(family, SOCK_STREAM, &ends[0]), UCS_OK);
    ck_assert_int_eq(connect_wait(ends[0], &address), UCS_OK);
    ck_assert(test_wait_until(accept_one, &accepting, 10));
    ends[1] = accepting.connected;
    check_flags(ends[1]);
    ck_assert_int_eq(ucsi_socket_peer_address(ends[0], &seen), UCS_OK);
    ck_assert_int_eq(ucsi_sockaddr_compare(&seen, &address), 0);
    if (family == AF_INET) {
        ck_assert_int_eq(ucsi_socket_own_address(ends[0], &seen), UCS_OK);
        ck_assert_int_eq(ucsi_sockaddr_compare(&seen, &accepting.peer), 0);
    }
    ucsi_fd_close(&accepting.fd);
}

static void pair_close(int ends[2])
{
    ucsi_fd_close(&ends[0]);
    ucsi_fd_close(&ends[1]);
}

static void socket_connect__tcp_and_unix(const struct test_param *param)
{
    int ends[2];

    (void)param;
    pair_open(AF_INET, ends);
    ck_assert_int_eq(ucsi_socket_set_option(ends[0], IPPROTO_TCP, TCP_NODELAY,
                                            1, "TCP_NODELAY"),
                     UCS_OK);
    pair_close(ends);
    pair_open(AF_UNIX, ends);
    pair_close(ends);
}

static void socket_connect__refused_is_told(const struct test_param *param)
{
    struct ucs_sockaddr address;
    char                text[UCS_SOCKADDR_TEXT_BYTES_MAX];
    int                 fd = listener_open(AF_INET, &address);

    (void)param;
    log_capture_start();
    ucsi_fd_close(&fd); /* now nobody listens there */
    ck_assert_int_eq(ucsi_socket_open(AF_INET, SOCK_STREAM, &fd), UCS_OK);
    ck_assert_int_eq(connect_wait(fd, &address), UCS_ERR_REJECTED);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(
        log_captured.text, ucsi_sockaddr_print(&address, text, sizeof(text))));
    ucsi_fd_close(&fd);
}

/* More connect than the listener's queue takes: no fault, and no line. */
static void
socket_connect__a_full_queue_is_for_later(const struct test_param *param)
{
    enum { TRIES = 64 };
    struct ucs_sockaddr address;
    int                 listener = listener_open(AF_UNIX, &address);
    int                 fds[TRIES];
    ucs_status_t        status = UCS_OK;
    int                 count  = 0;

    (void)param;
    log_capture_start();
    while ((status == UCS_OK) && (count < TRIES)) {
        ck_assert_int_eq(ucsi_socket_open(AF_UNIX, SOCK_STREAM, &fds[count]),
                         UCS_OK);
        status = ucsi_socket_connect(fds[count++], &address);
    }
    ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(log_captured.count, 0);
    while (count > 0) {
        ucsi_fd_close(&fds[--count]);
    }
    ucsi_fd_close(&listener);
}

static void socket_errors__name_the_cause(const struct test_param *param)
{
    struct ucs_sockaddr address;
    int                 listener = listener_open(AF_INET, &address);
    int                 fd;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_socket_open(AF_INET, SOCK_STREAM, &fd), UCS_OK);
    ck_assert_int_eq(ucsi_socket_bind(fd, &address), UCS_ERR_BUSY);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "Address already in use"));
    ck_assert_int_eq(ucsi_socket_set_option(fd, SOL_SOCKET, 9999, 1, "NONE"),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "NONE"));
    ck_assert_int_eq(ucsi_socket_peer_address(fd, &address),
                     UCS_ERR_NOT_CONNECTED);
    ck_assert_uint_eq(log_captured.count, 3);
    ucsi_fd_close(&fd);
    ucsi_fd_close(&listener);

    ck_assert_int_eq(ucsi_socket_open(9999, SOCK_STREAM, &fd),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucsi_socket_listen(-1, 1), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucsi_socket_accept(-1, &fd, NULL), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucsi_socket_own_address(-1, &address),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 7);
}

enum { MANY_BYTES = 4 * 1024 * 1024 };

static unsigned char sent[MANY_BYTES];
static unsigned char received[MANY_BYTES];

static void *send_many(void *arg)
{
    uint64_t deadline = ucsi_clock_ns() + 20ull * UCS_NS_PER_S;

    return ucsi_socket_send_all(*(int *)arg, sent, sizeof(sent), deadline) ==
                   UCS_OK
               ? NULL
               : sent;
}

static void socket_all__more_than_a_buffer(const struct test_param *param)
{
    pthread_t thread;
    void     *result;
    int       ends[2];
    size_t    i;

    (void)param;
    for (i = 0; i < sizeof(sent); ++i) {
        sent[i] = (unsigned char)(i * 2654435761u >> 13);
    }
    pair_open(AF_INET, ends);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_many, &ends[0]), 0);
    ck_assert_int_eq(ucsi_socket_recv_all(ends[1], received, sizeof(received),
                                          UCS_NS_INFINITE),
                     UCS_OK);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_null(result);
    ck_assert(memcmp(sent, received, sizeof(sent)) == 0);
    ck_assert_int_eq(ucsi_socket_send_all(ends[0], NULL, 0, 0), UCS_OK);
    ck_assert_int_eq(ucsi_socket_recv_all(ends[0], NULL, 0, 0), UCS_OK);
    pair_close(ends);
}

static void socket_all__deadline_and_end(const struct test_param *param)
{
    uint64_t start;
    int      ends[2];

    (void)param;
    log_capture_start();
    pair_open(AF_UNIX, ends);
    ck_assert_int_eq(ucsi_socket_send_all(ends[0], "abc", 3, 0), UCS_OK);
    start = ucsi_clock_ns();
    ck_assert_int_eq(
        ucsi_socket_recv_all(ends[1], received, 4, start + 5 * UCS_NS_PER_MS),
        UCS_ERR_TIMED_OUT);
    ck_assert_uint_ge(ucsi_clock_ns() - start, 5 * UCS_NS_PER_MS);
    ck_assert_mem_eq(received, "abc", 3);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "received 3 of 4 bytes"));
    ck_assert_int_eq(ucsi_socket_send_all(ends[0], sent, sizeof(sent),
                                          ucsi_clock_ns() + UCS_NS_PER_MS),
                     UCS_ERR_TIMED_OUT);
    ucsi_fd_close(&ends[0]);
    ck_assert_int_eq(ucsi_socket_recv_all(ends[1], received, sizeof(received),
                                          UCS_NS_INFINITE),
                     UCS_ERR_CONNECTION_RESET);
    /* No SIGPIPE kills us. */
    ck_assert_int_eq(ucsi_socket_send_all(ends[1], "x", 1, 0),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(log_captured.count, 4);
    ucsi_fd_close(&ends[1]);
}

static void socket_credentials__are_ours(const struct test_param *param)
{
    struct ucred credentials;
    int          ends[2];

    (void)param;
    log_capture_start();
    pair_open(AF_UNIX, ends);
    ck_assert_int_eq(ucsi_socket_peer_credentials(ends[0], &credentials),
                     UCS_OK);
    ck_assert_int_eq(credentials.pid, getpid());
    ck_assert_uint_eq(credentials.uid, geteuid());
    pair_close(ends);
    ck_assert_int_eq(ucsi_socket_peer_credentials(-1, &credentials),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
}

static void socket_fd__arrives_with_its_data(const struct test_param *param)
{
    char data[UCS_SOCKET_FD_BYTES_MAX];
    int  ends[2];
    int  pipe_ends[2];
    int  fd = -1;

    (void)param;
    pair_open(AF_UNIX, ends);
    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, 3),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(pipe(pipe_ends), 0);
    ck_assert_int_eq(ucsi_socket_send_fd(ends[0], pipe_ends[1], "abc", 3),
                     UCS_OK);
    memset(data, 'z', sizeof(data));
    ck_assert_int_eq(
        ucsi_socket_send_fd(ends[0], pipe_ends[1], data, sizeof(data)), UCS_OK);
    ucsi_fd_close(&pipe_ends[1]);

    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, 3), UCS_OK);
    ck_assert_mem_eq(data, "abc", 3);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_eq(write(fd, "hello", 5), 5);
    ck_assert_int_eq(read(pipe_ends[0], data, 5), 5);
    ck_assert_mem_eq(data, "hello", 5);
    ucsi_fd_close(&fd);
    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, sizeof(data)),
                     UCS_OK);
    ck_assert_int_eq(data[sizeof(data) - 1], 'z');
    ucsi_fd_close(&fd);
    ucsi_fd_close(&pipe_ends[0]);
    pair_close(ends);
}

/* Send `count` copies of a descriptor, whatever the library allows. */
static void send_fds(int socket_fd, int fd, unsigned count, size_t size_bytes)
{
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(64 * sizeof(int))];
    } control              = {.bytes = {0}};
    char          data[64] = "data";
    struct iovec  part     = {data, size_bytes};
    struct msghdr message  = {.msg_iov = &part, .msg_iovlen = 1};
    unsigned      i;

    if (count > 0) {
        message.msg_control       = &control;
        message.msg_controllen    = CMSG_SPACE(count * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type  = SCM_RIGHTS;
        control.header.cmsg_len   = CMSG_LEN(count * sizeof(int));
        for (i = 0; i < count; ++i) {
            memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fd,
                   sizeof(fd));
        }
    }
    ck_assert_int_eq(sendmsg(socket_fd, &message, 0), (ssize_t)size_bytes);
}

/* The runner finds any descriptor that such a message leaves open. */
static void
socket_fd__other_messages_are_dropped(const struct test_param *param)
{
    static const struct {
        unsigned fd_count;
        size_t   size_bytes;
    } rows[] = {{0, 4}, {2, 4}, {16, 4}, {17, 4}, {60, 4}, {1, 3}, {0, 1}};
    char   data[64];
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        int ends[2];
        int fd = -1;

        pair_open(AF_UNIX, ends);
        log_capture_start();
        send_fds(ends[0], ends[0], rows[i].fd_count, rows[i].size_bytes);
        ck_assert_msg(ucsi_socket_recv_fd(ends[1], &fd, data, 4) ==
                          UCS_ERR_INVALID_PARAM,
                      "row %zu", i);
        ck_assert_int_eq(fd, -1);
        ck_assert_uint_eq(log_captured.count, 1);
        pair_close(ends);
    }
}

/* The message is there, its descriptor is lost: our limit, not the sender's
 * fault, and the next one comes. */
static void socket_fd__no_number_is_free(const struct test_param *param)
{
    struct rlimit before, none;
    char          data[4];
    int           ends[2];
    int           fd = -1;

    (void)param;
    log_capture_start();
    pair_open(AF_UNIX, ends);
    send_fds(ends[0], ends[0], 1, sizeof(data));
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none          = before;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, sizeof(data)),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(fd, -1);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "ulimit -n"));
    send_fds(ends[0], ends[0], 1, sizeof(data));
    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, sizeof(data)),
                     UCS_OK);
    ucsi_fd_close(&fd);
    pair_close(ends);
}

static void socket_fd__limits_and_end(const struct test_param *param)
{
    char data[UCS_SOCKET_FD_BYTES_MAX + 1] = "";
    int  ends[2];
    int  fd = -1;

    (void)param;
    log_capture_start();
    pair_open(AF_UNIX, ends);
    ck_assert_int_eq(ucsi_socket_send_fd(ends[0], ends[0], data, 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucsi_socket_send_fd(ends[0], ends[0], data, sizeof(data)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucsi_socket_send_fd(ends[0], -1, data, 1),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 3);
    ucsi_fd_close(&ends[0]);
    ck_assert_int_eq(ucsi_socket_recv_fd(ends[1], &fd, data, 1),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(ucsi_socket_send_fd(ends[1], ends[1], data, 1),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(log_captured.count, 5);
    ucsi_fd_close(&ends[1]);
}

static const struct test_case cases[] = {
    TEST(socket_connect__tcp_and_unix),
    TEST(socket_connect__refused_is_told),
    TEST(socket_connect__a_full_queue_is_for_later),
    TEST(socket_errors__name_the_cause),
    TEST(socket_all__more_than_a_buffer),
    TEST(socket_all__deadline_and_end),
    TEST(socket_credentials__are_ours),
    TEST(socket_fd__arrives_with_its_data),
    TEST(socket_fd__other_messages_are_dropped),
    TEST(socket_fd__no_number_is_free),
    TEST(socket_fd__limits_and_end),
    {0},
};

const struct test_suite socket_suite = {"socket", cases, NULL, NULL, NULL};
