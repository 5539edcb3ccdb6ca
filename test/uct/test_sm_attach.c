/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_attach.c - which peers are reachable, why not, and what
 * happens when an address no longer leads to its segment. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/log.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end        a, b;
static struct sm_end *const both[] = {&a, &b, NULL};
static uint8_t              address[UCT_ADDRESS_BYTES_MAX];
static char                 reason[UCT_REASON_BYTES_MAX];

static void attach_open(const char *way)
{
    ck_assert_int_eq(setenv("UCX_SM_ATTACH", way, 1), 0);
    sm_end_open(&a, false);
    sm_end_open(&b, false);
    uct_sm_transport.iface_address(b.iface, address);
    reason[0] = '\0';
}

static void attach_close(void)
{
    sm_end_close(&a);
    sm_end_close(&b);
}

static ucs_status_t attach_reach(void)
{
    return uct_sm_transport.iface_reach(a.iface, address, UCT_SM_ADDRESS_BYTES,
                                        reason);
}

/* Change a part of b's address. */
static void attach_change(void (*change)(struct uct_sm_address *))
{
    struct uct_sm_address decoded;

    ck_assert_int_eq(
        uct_sm_address_decode(address, UCT_SM_ADDRESS_BYTES, &decoded), UCS_OK);
    change(&decoded);
    uct_sm_address_encode(&decoded, address);
}

static void change_host(struct uct_sm_address *decoded)
{
    decoded->host_id ^= 1;
}

static void change_pid_namespace(struct uct_sm_address *decoded)
{
    decoded->pid_namespace ^= 1;
}

static void change_net_namespace(struct uct_sm_address *decoded)
{
    decoded->net_namespace ^= 1;
}

static void change_uid(struct uct_sm_address *decoded)
{
    decoded->uid ^= 1;
}

static void change_segment(struct uct_sm_address *decoded)
{
    decoded->segment_id ^= 1;
}

static void change_fd(struct uct_sm_address *decoded)
{
    decoded->fd = 1 << 20;
}

static void change_pid(struct uct_sm_address *decoded)
{
    decoded->pid = 1 << 22;
}

static void reach__a_peer_and_oneself(const struct test_param *param)
{
    (void)param;
    attach_open("auto");
    ck_assert_int_eq(attach_reach(), UCS_OK);
    ck_assert_int_eq(attach_reach(), UCS_OK); /* remembered */
    uct_sm_transport.iface_address(a.iface, address);
    ck_assert_int_eq(attach_reach(), UCS_OK);
    attach_close();
}

static void reach__garbage_is_no_address(const struct test_param *param)
{
    uint8_t garbage[UCT_ADDRESS_BYTES_MAX];
    size_t  length, index;

    (void)param;
    attach_open("auto");
    for (length = 0; length < sizeof(garbage); ++length) {
        for (index = 0; index < length; ++index) {
            garbage[index] = (uint8_t)test_random();
        }
        garbage[0] = 0xff;
        ck_assert_int_eq(
            uct_sm_transport.iface_reach(a.iface, garbage, length, reason),
            UCS_ERR_INVALID_ADDR);
        ck_assert_str_ne(reason, "");
    }
    attach_close();
}

static void reach__every_flipped_bit_is_survived(const struct test_param *param)
{
    uint8_t      right[UCT_SM_ADDRESS_BYTES];
    ucs_status_t status;
    unsigned     bit;

    (void)param;
    attach_open("auto");
    memcpy(right, address, sizeof(right));
    ucsi_log_set_level(UCS_LOG_LEVEL_FATAL);
    for (bit = 0; bit < 8 * sizeof(right); ++bit) {
        memcpy(address, right, sizeof(right));
        address[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        status = attach_reach();
        ck_assert(status == UCS_OK || status == UCS_ERR_UNREACHABLE ||
                  status == UCS_ERR_INVALID_ADDR);
        a.ep = NULL;
        if (status != UCS_ERR_INVALID_ADDR) {
            struct uct_ep_params params = {
                .address = address, .address_bytes = UCT_SM_ADDRESS_BYTES};

            if (ucti_ep_create(a.iface, &params, &a.ep) == UCS_OK) {
                (void)sm_stage_send(a.ep, SM_STAGE_AM, 0, 8, 0);
                sm_stage_progress(&a, &b, 3);
                ucti_ep_destroy(a.ep);
                a.ep = NULL;
            }
        }
    }
    attach_close();
}

static void reach__another_host(const struct test_param *param)
{
    (void)param;
    attach_open("auto");
    attach_change(change_host);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "another host"));
    attach_close();
}

static void reach__another_pid_namespace(const struct test_param *param)
{
    (void)param;
    attach_open("auto");
    attach_change(change_pid_namespace);
    /* The socket is left. */
    ck_assert_int_eq(attach_reach(), UCS_OK);
    attach_change(change_net_namespace);
    ck_assert_int_eq(attach_reach(), UCS_OK); /* remembered: same process */
    attach_change(change_segment);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "PID namespace"));
    ck_assert_ptr_nonnull(strstr(reason, "network namespace"));
    attach_close();
    attach_open("proc");
    attach_change(change_pid_namespace);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "UCX_SM_ATTACH"));
    attach_close();
}

static void reach__another_user(const struct test_param *param)
{
    (void)param;
    attach_open("socket");
    attach_change(change_uid);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "user"));
    attach_close();
}

static void
reach__what_the_number_does_not_lead_to(const struct test_param *param)
{
    (void)param;
    attach_open("proc");
    attach_change(change_segment);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "is not the segment"));
    attach_change(change_fd);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "cannot open"));
    attach_change(change_pid);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    attach_close();
}

/* The number was closed and used again, by something that must not be
 * opened: opening a pipe's end would keep it alive. */
static void
attach__a_number_used_again_is_refused(const struct test_param *param)
{
    struct uct_sm_address decoded;
    int                   pipe_fds[2];

    (void)param;
    attach_open("proc");
    ck_assert_int_eq(pipe(pipe_fds), 0);
    ck_assert_int_eq(
        uct_sm_address_decode(address, UCT_SM_ADDRESS_BYTES, &decoded), UCS_OK);
    decoded.fd = pipe_fds[1];
    ++decoded.segment_id;
    uct_sm_address_encode(&decoded, address);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    (void)close(pipe_fds[1]);
    /* Another sealed memory than the one meant. */
    decoded.fd = a.sm->segment.fd;
    uct_sm_address_encode(&decoded, address);
    ck_assert_int_eq(attach_reach(), UCS_ERR_UNREACHABLE);
    a.ep = sm_end_connect_bytes(&a, address);
    ck_assert_int_eq(sm_stage_send(a.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_UNREACHABLE);
    sm_stage_until(both, &a.errors, 1);
    (void)close(pipe_fds[0]);
    attach_close();
}

static void attach__works_both_ways_at_once(const struct test_param *param)
{
    (void)param;
    attach_open("proc");
    a.ep = sm_end_connect(&a, &b);
    b.ep = sm_end_connect(&b, &a);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    sm_stage_send_all(&b, b.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&a, &b, 1);
    sm_stage_until_received(&b, &a, 1);
    attach_close();
}

static void
attach__out_of_descriptors_is_an_answer(const struct test_param *param)
{
    struct rlimit files, few;

    (void)param;
    attach_open("auto");
    a.ep = sm_end_connect(&a, &b);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    few          = files;
    few.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_eq(sm_stage_send(a.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    sm_stage_until(both, &a.errors, 1);
    attach_close();
}

static void attach__leaves_no_descriptor(const struct test_param *param)
{
    int before, after;

    (void)param;
    attach_open("auto");
    before = dup(0);
    (void)close(before);
    a.ep = sm_end_connect(&a, &b);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&b, &a, 1);
    after = dup(0);
    (void)close(after);
    /* Nothing but, with another process, its pidfd. */
    ck_assert_int_eq(after, before);
    attach_close();
}

static const struct test_case attach_cases[] = {
    TEST(reach__a_peer_and_oneself),
    TEST(reach__garbage_is_no_address),
    TEST(reach__every_flipped_bit_is_survived),
    TEST(reach__another_host),
    TEST(reach__another_pid_namespace),
    TEST(reach__another_user),
    TEST(reach__what_the_number_does_not_lead_to),
    TEST(attach__a_number_used_again_is_refused),
    TEST(attach__works_both_ways_at_once),
    TEST(attach__out_of_descriptors_is_an_answer),
    TEST(attach__leaves_no_descriptor),
    {0},
};

const struct test_suite sm_attach_suite = {
    .name  = "sm_attach",
    .cases = attach_cases,
};
