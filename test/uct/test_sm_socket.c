/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_socket.c - the way around /proc. */
#include "uct/sm/sm_socket.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/bytes.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end        end;
static struct sm_end *const ends[] = {&end, NULL};

static void socket_setup(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_ATTACH", "socket", 1), 0);
    sm_end_open(&end, true);
}

static void socket_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&end);
}

static void
socket__the_first_send_waits_for_the_owner(const struct test_param *param)
{
    struct sm_end other;

    (void)param;
    sm_end_open(&other, true);
    other.ep = sm_end_connect(&other, &end);
    ck_assert_int_eq(
        sm_stage_send(other.ep, SM_STAGE_AM, 0, 8, UCT_FLAG_PENDING),
        UCS_ERR_WOULD_BLOCK);
    sm_stage_progress_ms(&other, NULL, 50);
    ck_assert_uint_eq(other.pendings, 0);
    sm_stage_progress_ms(&other, &end, 50);
    ck_assert_uint_eq(other.pendings, 1);
    sm_stage_send_all(&other, other.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&end, &other, 1);
    sm_end_close(&other);
    sm_stage_until(ends, &end.ended[0], 1);
}

/* Answer each message, then leave as told. */
static void socket_echo(struct sm_end *child, struct uct_ep *ep, int in_fd,
                        int out_fd, void *arg)
{
    uint64_t number;

    (void)arg;
    for (number = 0; number < 200; ++number) {
        sm_stage_send_all(child, ep, SM_STAGE_AM, number, 8 + number * 100);
        sm_stage_until_received(child, NULL, number + 1);
    }
    sm_step_tell(out_fd);
    sm_step_wait(in_fd);
}

static void socket_talk(struct sm_process *process)
{
    uint64_t number;

    sm_process_start(process, &end, true, socket_echo, NULL);
    end.ep = sm_end_connect_bytes(&end, process->address);
    for (number = 0; number < 200; ++number) {
        sm_stage_until_received(&end, NULL, number + 1);
        sm_stage_send_all(&end, end.ep, SM_STAGE_AM, number, 8 + number * 100);
    }
    /* The other end may be waiting for our last message: it is there. */
    sm_step_wait(process->from_fd);
    ck_assert(ucs_list_is_empty(&end.sm->watches));
}

static void socket__carries_the_whole_transport(const struct test_param *param)
{
    struct sm_process process;

    (void)param;
    socket_talk(&process);
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    sm_stage_until(ends, &end.ended[0], 1);
    ck_assert_uint_eq(end.ended[1], 0);
    sm_stage_progress_ms(&end, NULL, 30);
    ck_assert_uint_eq(end.errors, 0);
    ck_assert_int_eq(sm_stage_send(end.ep, SM_STAGE_AM, 200, 8, 0),
                     UCS_ERR_CONNECTION_RESET);
}

static void socket__its_hang_up_tells_the_death(const struct test_param *param)
{
    struct sm_process process;

    (void)param;
    socket_talk(&process);
    sm_process_kill(&process);
    sm_stage_until(ends, &end.ended[1], 1);
    sm_stage_until(ends, &end.errors, 1);
    ck_assert_int_eq(end.error_status, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(end.end_status, UCS_ERR_CONNECTION_RESET);
}

/* Where pidfd_open is forbidden nobody asks for the socket: it is taken. */
static void socket__is_the_way_without_pidfds(const struct test_param *param)
{
    sm_end_close(&end);
    ck_assert_int_eq(unsetenv("UCX_SM_ATTACH"), 0);
    sm_stage_forbid(SYS_pidfd_open, SYS_pidfd_open);
    sm_end_open(&end, true);
    socket__its_hang_up_tells_the_death(param);
}

/* Sleep between messages: the socket is the bell. */
static void socket_sleepy(struct sm_end *child, struct uct_ep *ep, int in_fd,
                          int out_fd, void *arg)
{
    uint64_t number;

    (void)arg;
    (void)out_fd;
    for (number = 0; number < 300; ++number) {
        sm_stage_send_all(child, ep, SM_STAGE_AM, number, 8);
        while (child->received <= number) {
            ck_assert(sm_stage_sleep(child));
        }
    }
    sm_step_wait(in_fd);
}

static void socket__wakes_both_ways(const struct test_param *param)
{
    struct sm_process process;
    uint64_t          number;

    (void)param;
    sm_process_start(&process, &end, true, socket_sleepy, NULL);
    end.ep = sm_end_connect_bytes(&end, process.address);
    for (number = 0; number < 300; ++number) {
        while (end.received <= number) {
            ck_assert_msg(sm_stage_sleep(&end), "message %d", (int)number);
        }
        sm_stage_send_all(&end, end.ep, SM_STAGE_AM, number, 8);
    }
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
}

static void socket__nobody_listens(const struct test_param *param)
{
    struct uct_sm_address decoded;
    uint8_t               address[UCT_ADDRESS_BYTES_MAX];

    (void)param;
    uct_sm_transport.iface_address(end.iface, address);
    ck_assert_int_eq(
        uct_sm_address_decode(address, UCT_SM_ADDRESS_BYTES, &decoded), UCS_OK);
    ++decoded.segment_id;
    uct_sm_address_encode(&decoded, address);
    end.ep = sm_end_connect_bytes(&end, address);
    ck_assert_int_eq(sm_stage_send(end.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_UNREACHABLE);
    sm_stage_until(ends, &end.errors, 1);
}

/* Connect to end's socket by hand. */
static int socket_by_hand(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int                fd   = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int                length;

    ck_assert_int_ge(fd, 0);
    length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
                      "causeway-sm-%016" PRIx64, end.sm->address.segment_id);
    ck_assert_int_eq(
        connect(fd, (struct sockaddr *)&name,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                            (size_t)length)),
        0);
    return fd;
}

/* It is hung up on, without an answer. */
static void socket_expect_hang_up(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char          bytes[64];
    unsigned      turns;

    for (turns = 0; (poll(&wait, 1, 0) == 0) && (turns < 5000); ++turns) {
        sm_stage_progress_ms(&end, NULL, 1);
    }
    ck_assert_int_le(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), 0);
    (void)close(fd);
}

static void socket__a_wrong_hello_is_hung_up_on(const struct test_param *param)
{
    uint8_t           hello[64];
    unsigned          length, round;
    struct ucs_writer writer;
    int               fd;

    (void)param;
    for (length = 1; length < sizeof(hello); length += 9) {
        fd = socket_by_hand();
        memset(hello, 0xa5, sizeof(hello));
        ck_assert_int_eq(send(fd, hello, length, 0), (ssize_t)length);
        socket_expect_hang_up(fd);
    }
    /* Right but for one field. */
    for (round = 0; round < 3; ++round) {
        ucs_writer_init(&writer, hello, sizeof(hello));
        ucs_write_le64(&writer, UCT_SM_MAGIC + (round == 0));
        ucs_write_le32(&writer, UCT_SM_LAYOUT_VERSION + (round == 1));
        ucs_write_le64(&writer, 1);
        ucs_write_le64(&writer, end.sm->address.segment_id + (round == 2));
        fd = socket_by_hand();
        ck_assert_int_eq(send(fd, hello, ucs_write_length(&writer), 0), 28);
        socket_expect_hang_up(fd);
    }
    sm_stage_progress_ms(&end, NULL, 30);
    ck_assert_uint_eq(end.sm->link_count, 0);
}

static void socket__another_user_is_refused(const struct test_param *param)
{
    int   status = 1;
    char  byte;
    pid_t child;
    int   fd;

    (void)param;
    if (geteuid() != 0) {
        test_skip("only root can become another user");
    }
    child = fork();
    if (child == 0) {
        if (setuid(65534) != 0) {
            _exit(2);
        }
        fd = socket_by_hand();
        /* recv says: hung up, without a hello being read. */
        _exit((recv(fd, &byte, 1, 0) == 0) ? 0 : 3);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        sm_stage_progress_ms(&end, NULL, 1);
    }
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(end.sm->link_count, 0);
}

static const struct test_case socket_cases[] = {
    TEST(socket__the_first_send_waits_for_the_owner),
    TEST(socket__carries_the_whole_transport),
    TEST(socket__its_hang_up_tells_the_death),
    TEST(socket__is_the_way_without_pidfds),
    TEST(socket__wakes_both_ways),
    TEST(socket__nobody_listens),
    TEST(socket__a_wrong_hello_is_hung_up_on),
    TEST(socket__another_user_is_refused),
    {0},
};

const struct test_suite sm_socket_suite = {
    .name     = "sm_socket",
    .cases    = socket_cases,
    .setup    = socket_setup,
    .teardown = socket_teardown,
};
