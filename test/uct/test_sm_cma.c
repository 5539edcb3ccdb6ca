/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sm_cma.c - the two system calls: short counts, holes, strangers, how
 * often a peer is asked, and what is said when they are refused. */
#include "uct/sm/sm_cma.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uct/sm_stage.h"
#include "uct/suites.h"

enum { PAGE = UCT_SM_PAGE_BYTES };

static void need_calls(void)
{
    char reason[UCT_REASON_BYTES_MAX] = "";

    if (uct_sm_cma_calls(reason) != (UCT_RIGHT_PUT | UCT_RIGHT_GET)) {
        test_skip("not here: %s", reason);
    }
}

/* Reads of other processes, of this one. */
static unsigned foreign_reads;

/* The C library's, for all of this program, which counts. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to,
                         unsigned long to_count, const struct iovec *from,
                         unsigned long from_count, unsigned long flags)
{
    foreign_reads += (pid != getpid()) && (from_count > 0);
    return syscall(SYS_process_vm_readv, pid, to, to_count, from, from_count,
                   flags);
}

static struct uct_sm_remote remote_of(const struct sm_end *end)
{
    return (struct uct_sm_remote){
        .pid             = getpid(),
        .segment_address = (uintptr_t)end->sm->segment.base,
        .segment_id      = end->sm->address.segment_id,
    };
}

static void identify__knows_the_right_one(const struct test_param *param)
{
    struct uct_sm_remote remote, other;
    struct sm_end        end;

    (void)param;
    need_calls();
    sm_end_open(&end, false);
    remote = remote_of(&end);
    ck_assert_int_eq(uct_sm_cma_identify(&remote), UCS_OK);
    other = remote;
    ++other.segment_id;
    ck_assert_int_eq(uct_sm_cma_identify(&other), UCS_ERR_CONNECTION_RESET);
    other = remote;
    other.segment_address += 8;
    ck_assert_int_eq(uct_sm_cma_identify(&other), UCS_ERR_CONNECTION_RESET);
    other.segment_address = 0; /* as after exec */
    ck_assert_int_eq(uct_sm_cma_identify(&other), UCS_ERR_CONNECTION_RESET);
    sm_end_close(&end);
}

static void identify__knows_one_that_ended(const struct test_param *param)
{
    struct uct_sm_remote remote;
    struct sm_end        end;

    (void)param;
    need_calls();
    sm_end_open(&end, false);
    remote     = remote_of(&end);
    remote.pid = fork();
    if (remote.pid == 0) {
        (void)pause();
        _exit(0);
    }
    /* The child has the same segment: it is taken for us. */
    ck_assert_int_eq(uct_sm_cma_identify(&remote), UCS_OK);
    ck_assert_int_eq(kill(remote.pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(remote.pid, NULL, 0), remote.pid);
    ck_assert_int_eq(uct_sm_cma_identify(&remote), UCS_ERR_CONNECTION_RESET);
    sm_end_close(&end);
}

enum { PROBE_MESSAGES = 10 };

static void probe_talk(struct sm_end *end, struct uct_ep *ep)
{
    for (uint64_t number = 0; number < PROBE_MESSAGES; ++number) {
        sm_stage_send_all(end, ep, SM_STAGE_AM, number, 8);
    }
}

static void probing_process(struct sm_end *end, struct uct_ep *ep, int in_fd,
                            int out_fd, void *arg)
{
    (void)arg;
    ck_assert_uint_eq(foreign_reads, 0);
    probe_talk(end, ep);
    ck_assert_uint_eq(foreign_reads, 1);
    sm_stage_until_received(end, NULL, (uint64_t)2 * PROBE_MESSAGES);
    ck_assert(ep->peer_rights & UCT_RIGHT_GET);
    ck_assert_uint_eq(foreign_reads, 1); /* told, not asked again */
    sm_step_tell(out_fd);
    sm_step_wait(in_fd);
}

/* One read of the peer's memory when the first message goes there, by each
 * end; none before, none for another endpoint, none when it is told what the
 * peer may. */
static void identify__once_in_each_direction(const struct test_param *param)
{
    struct sm_process process;
    struct sm_end     end;
    struct uct_ep    *other;

    (void)param;
    need_calls();
    sm_end_open(&end, false);
    sm_process_start(&process, &end, false, probing_process, NULL);
    end.ep = sm_end_connect_bytes(&end, process.address);
    other  = sm_end_connect_bytes(&end, process.address);
    ck_assert_uint_eq(foreign_reads, 0);
    probe_talk(&end, end.ep);
    ck_assert_uint_eq(foreign_reads, 1);
    ck_assert(end.ep->rights & UCT_RIGHT_GET);
    probe_talk(&end, other);
    ck_assert(other->rights & UCT_RIGHT_GET);
    sm_stage_until_received(&end, NULL, PROBE_MESSAGES);
    ck_assert(end.ep->peer_rights & UCT_RIGHT_GET);
    sm_step_wait(process.from_fd);
    ck_assert_uint_eq(foreign_reads, 1);
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    ucti_ep_destroy(other);
    sm_end_close(&end);
}

/* Bytes through pieces of all kinds, both ways. */
static void copy__pieces_of_any_length(const struct test_param *param)
{
    static uint8_t         there[8 * PAGE], local[8 * PAGE];
    struct uct_sm_transfer transfer;
    struct iovec           pieces[5], remote[3];
    unsigned               is_put;

    (void)param;
    need_calls();
    for (is_put = 0; is_put < 2; ++is_put) {
        sm_stage_fill(is_put ? local : there, sizeof(local), 7 + is_put);
        memset(is_put ? there : local, 0, sizeof(local));
        pieces[0] = (struct iovec){local, 1};
        pieces[1] = (struct iovec){local + 1, 3 * PAGE};
        pieces[2] = (struct iovec){NULL, 0};
        pieces[3] = (struct iovec){local + 1 + 3 * PAGE, 4};
        pieces[4] =
            (struct iovec){local + 5 + 3 * PAGE, sizeof(local) - 5 - 3 * PAGE};
        remote[0] = (struct iovec){there, 2 * PAGE + 7};
        remote[1] = (struct iovec){NULL, 0};
        remote[2] =
            (struct iovec){there + 2 * PAGE + 7, sizeof(there) - 2 * PAGE - 7};
        transfer = (struct uct_sm_transfer){.is_put = is_put,
                                            .pid    = getpid(),
                                            .local  = {pieces, 5},
                                            .remote = {remote, 3}};
        ck_assert_int_eq(uct_sm_cma_copy(&transfer), UCS_OK);
        ck_assert(sm_stage_check(is_put ? there : local, sizeof(local)));
    }
}

/* The kernel copies up to the hole and says so; then it says why. */
static void copy__up_to_a_hole(const struct test_param *param)
{
    static uint8_t local[4 * PAGE];
    struct iovec pieces[2] = {{local, 100}, {local + 100, sizeof(local) - 100}};
    struct iovec remote    = {.iov_len = sizeof(local)};
    struct uct_sm_transfer transfer;
    uint8_t               *there;

    (void)param;
    need_calls();
    there = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(there, MAP_FAILED);
    memset(there, 0x5a, 4 * PAGE);
    ck_assert_int_eq(munmap(there + 2 * PAGE, PAGE), 0);
    remote.iov_base = there;
    transfer        = (struct uct_sm_transfer){
               .pid = getpid(), .local = {pieces, 2}, .remote = {&remote, 1}};
    ck_assert_int_eq(uct_sm_cma_copy(&transfer), UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(local[2 * PAGE - 1], 0x5a);
    ck_assert_uint_eq(local[2 * PAGE], 0);
    ck_assert_uint_eq(local[3 * PAGE], 0);
    ck_assert_int_eq(munmap(there, 2 * PAGE), 0);
    ck_assert_int_eq(munmap(there + 3 * PAGE, PAGE), 0);
}

static void copy__nobody_there(const struct test_param *param)
{
    uint8_t                byte  = 0;
    struct iovec           piece = {&byte, 1}, remote = piece;
    pid_t                  pid = fork();
    struct uct_sm_transfer transfer;

    (void)param;
    if (pid == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    need_calls();
    transfer = (struct uct_sm_transfer){.is_put = true,
                                        .pid    = pid,
                                        .local  = {&piece, 1},
                                        .remote = {&remote, 1}};
    ck_assert_int_eq(uct_sm_cma_copy(&transfer), UCS_ERR_CONNECTION_RESET);
}

static void reason__names_process_and_cause(const struct test_param *param)
{
    char reason[UCT_REASON_BYTES_MAX];

    (void)param;
    uct_sm_cma_reason(4711, EPERM, reason);
    ck_assert_ptr_nonnull(strstr(reason, "process 4711"));
    ck_assert_ptr_nonnull(strstr(reason, strerror(EPERM)));
    uct_sm_cma_reason(1, ENOSYS, reason);
    ck_assert_ptr_nonnull(strstr(reason, "CONFIG_CROSS_MEMORY_ATTACH"));
}

static const struct test_case cases[] = {TEST(identify__knows_the_right_one),
                                         TEST(identify__knows_one_that_ended),
                                         TEST(identify__once_in_each_direction),
                                         TEST(copy__pieces_of_any_length),
                                         TEST(copy__up_to_a_hole),
                                         TEST(copy__nobody_there),
                                         TEST(reason__names_process_and_cause),
                                         {0}};

const struct test_suite sm_cma_suite = {.name = "sm_cma", .cases = cases};
