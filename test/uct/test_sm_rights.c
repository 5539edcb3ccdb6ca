/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sm_rights.c - who may read whom: found out on the real peer, told to
 * it, taken away in the middle. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/config.h"
#include "uct/sm/sm_key.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

#define RIGHTS_BOTH (UCT_RIGHT_PUT | UCT_RIGHT_GET)
#define RIGHTS_FULL (UCT_RIGHT_KNOWN | RIGHTS_BOTH)

static void need_cma(void)
{
    char reason[UCT_REASON_BYTES_MAX] = "";

    if (uct_sm_cma_calls(reason) != RIGHTS_BOTH) {
        test_skip("not here: %s", reason);
    }
}

static void forbid_both(void)
{
    sm_stage_forbid(SYS_process_vm_readv, SYS_process_vm_writev);
}

/* What makes root root for this; children inherit it. */
static void drop_ptrace_capability(void)
{
    struct __user_cap_header_struct header = {.version =
                                                  _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct   data[2];

    ck_assert_int_eq((int)syscall(SYS_capget, &header, data), 0);
    data[0].effective &= ~(1u << CAP_SYS_PTRACE);
    data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    data[0].inheritable = 0;
    ck_assert_int_eq((int)syscall(SYS_capset, &header, data), 0);
}

/* ---- names and settings ---- */

static uint8_t rights_with(char **names, unsigned count, bool is_excluded)
{
    struct ucs_config_list list  = {names, count, is_excluded};
    struct uct_sm_iface   *iface = calloc(1, sizeof(*iface));
    uint8_t                rights;

    iface->options.cma = true;
    uct_sm_rights_init(iface, (count > 0) ? &list : NULL);
    rights = iface->rights;
    ck_assert((rights == RIGHTS_BOTH) || (iface->rights_reason[0] != '\0'));
    free(iface);
    return rights;
}

static void init__names_choose_the_part(const struct test_param *param)
{
    static char *posix[] = {"posix"}, *sysv[] = {"self", "sysv"},
                *mm[] = {"mm"}, *sm[] = {"sm"}, *shm[] = {"tcp", "shm"},
                *all[] = {"all"}, *both[] = {"posix", "cma"}, *cma[] = {"cma"},
                *tcp[] = {"tcp"};

    (void)param;
    need_cma();
    ck_assert_uint_eq(rights_with(posix, 1, false), 0);
    ck_assert_uint_eq(rights_with(sysv, 2, false), 0);
    ck_assert_uint_eq(rights_with(mm, 1, false), 0);
    ck_assert_uint_eq(rights_with(sm, 1, false), RIGHTS_BOTH);
    ck_assert_uint_eq(rights_with(shm, 2, false), RIGHTS_BOTH);
    ck_assert_uint_eq(rights_with(all, 1, false), RIGHTS_BOTH);
    ck_assert_uint_eq(rights_with(both, 2, false), RIGHTS_BOTH);
    ck_assert_uint_eq(rights_with(cma, 1, true), 0);
    ck_assert_uint_eq(rights_with(tcp, 1, true), RIGHTS_BOTH);
    ck_assert_uint_eq(rights_with(NULL, 0, false), RIGHTS_BOTH);
}

static void init__setting_forbids_it(const struct test_param *param)
{
    struct sm_end end;

    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_CMA", "n", 1), 0);
    sm_end_open(&end, false);
    ck_assert_uint_eq(end.sm->rights, 0);
    ck_assert_ptr_nonnull(strstr(end.sm->rights_reason, "UCX_SM_CMA"));
    end.ep = sm_end_connect(&end, &end);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 8);
    ck_assert_uint_eq(end.ep->rights, UCT_RIGHT_KNOWN);
    ck_assert_str_eq(end.ep->rights_reason, end.sm->rights_reason);
    sm_stage_until_received(&end, NULL, 1);
    sm_end_close(&end);
}

static volatile sig_atomic_t ptracer_calls;

static void hear_ptracer(int number)
{
    (void)number;
    ptracer_calls = ptracer_calls + 1;
}

/* From here on prctl(PR_SET_PTRACER) is a signal. */
static void watch_ptracer(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PTRACER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = UCS_ARRAY_COUNT(code), .filter = code};

    ck_assert(signal(SIGSYS, hear_ptracer) != SIG_ERR);
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Others may trace this process only if its user says so. */
static void init__ptracer_is_a_setting(const struct test_param *param)
{
    struct sm_end end;

    (void)param;
    need_cma();
    watch_ptracer();
    sm_end_open(&end, false);
    sm_end_close(&end);
    ck_assert_int_eq(ptracer_calls, 0);
    ck_assert_int_eq(setenv("UCX_SM_CMA_PTRACER", "y", 1), 0);
    sm_end_open(&end, false);
    sm_end_close(&end);
    ck_assert_int_eq(ptracer_calls, 1);
}

/* ---- probing and telling ---- */

static void
probe__both_ends_know_both_directions(const struct test_param *param)
{
    struct sm_end a, b;

    (void)param;
    need_cma();
    sm_end_open(&a, false);
    sm_end_open(&b, false);
    a.ep = sm_end_connect(&a, &b);
    ck_assert_uint_eq(a.ep->rights, 0);
    ck_assert_uint_eq(a.ep->peer_rights, 0);
    ck_assert_uint_gt(strlen(a.ep->rights_reason), 0);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    ck_assert_uint_eq(a.ep->rights, RIGHTS_FULL);
    ck_assert_uint_eq(a.ep->peer_rights, 0);
    sm_stage_until_received(&b, &a, 1);
    /* The channel was there before the endpoint ... */
    b.ep = sm_end_connect(&b, &a);
    sm_stage_send_all(&b, b.ep, SM_STAGE_AM, 0, 8);
    ck_assert_uint_eq(b.ep->peer_rights, RIGHTS_FULL);
    /* ... and the other way round. */
    sm_stage_until_received(&a, &b, 1);
    ck_assert_uint_eq(a.ep->peer_rights, RIGHTS_FULL);
    sm_end_close(&a);
    sm_end_close(&b);
}

/* Answers one message with one, and stays until it is told. */
static void stay(struct sm_end *end, struct uct_ep *ep, int in_fd)
{
    sm_stage_send_all(end, ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(end, NULL, 1);
    sm_step_wait(in_fd);
}

/* Opens a second interface under a filter and talks to the parent with it. */
static void filtered_process(struct sm_end *end, struct uct_ep *ep, int in_fd,
                             int out_fd, void *arg)
{
    const bool    is_both = (arg != NULL);
    struct sm_end other;
    uint8_t       address[UCT_SM_ADDRESS_BYTES];

    (void)end;
    (void)ep;
    ck_assert_int_eq(read(in_fd, address, sizeof(address)), sizeof(address));
    if (is_both) {
        forbid_both();
    } else {
        sm_stage_forbid(SYS_process_vm_writev, SYS_process_vm_writev);
    }
    sm_end_open(&other, false);
    ck_assert_uint_eq(other.attr.put.zcopy_bytes_max, 0);
    ck_assert((other.attr.get.zcopy_bytes_max == 0) == is_both);
    ck_assert_ptr_nonnull(strstr(other.sm->rights_reason, "seccomp"));
    other.ep = sm_end_connect_bytes(&other, address);
    uct_sm_transport.iface_address(other.iface, address);
    ck_assert_int_eq(write(out_fd, address, sizeof(address)), sizeof(address));
    stay(&other, other.ep, in_fd);
    ck_assert_uint_eq(other.ep->rights,
                      UCT_RIGHT_KNOWN | (is_both ? 0 : UCT_RIGHT_GET));
    ck_assert_uint_eq(other.ep->peer_rights, RIGHTS_FULL);
    sm_end_close(&other);
}

static void filtered(bool is_both)
{
    uint8_t           address[UCT_SM_ADDRESS_BYTES];
    struct sm_process process;
    struct sm_end     end;

    need_cma();
    sm_end_open(&end, false);
    sm_process_start(&process, &end, false, filtered_process,
                     is_both ? &end : NULL);
    uct_sm_transport.iface_address(end.iface, address);
    ck_assert_int_eq(write(process.to_fd, address, sizeof(address)),
                     sizeof(address));
    ck_assert_int_eq(read(process.from_fd, address, sizeof(address)),
                     sizeof(address));
    end.ep = sm_end_connect_bytes(&end, address);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&end, NULL, 1);
    ck_assert_uint_eq(end.ep->rights, RIGHTS_FULL);
    ck_assert_uint_eq(end.ep->peer_rights,
                      UCT_RIGHT_KNOWN | (is_both ? 0 : UCT_RIGHT_GET));
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    sm_end_close(&end);
}

static void
probe__a_filter_forbids_one_direction(const struct test_param *param)
{
    (void)param;
    filtered(true);
}

static void probe__a_filter_forbids_writing_only(const struct test_param *param)
{
    (void)param;
    filtered(false);
}

static void probe__a_socket_gives_no_right(const struct test_param *param)
{
    struct sm_end a, b;

    (void)param;
    need_cma();
    ck_assert_int_eq(setenv("UCX_SM_ATTACH", "socket", 1), 0);
    sm_end_open(&a, false);
    sm_end_open(&b, false);
    a.ep = sm_end_connect(&a, &b);
    while (sm_stage_send(a.ep, SM_STAGE_AM, 0, 8, 0) == UCS_ERR_WOULD_BLOCK) {
        sm_stage_progress(&a, &b, 1);
    }
    ck_assert_uint_eq(a.ep->rights, UCT_RIGHT_KNOWN);
    ck_assert_ptr_nonnull(strstr(a.ep->rights_reason, "socket"));
    sm_stage_until_received(&b, &a, 1);
    sm_end_close(&a);
    sm_end_close(&b);
}

/* ---- taken away ---- */

struct shared_word {
    struct uct_mem *mem;
    uint8_t         bytes[UCT_SM_KEY_BYTES];
    uint64_t        word;
};

static void word_open(struct shared_word *word, struct sm_end *end)
{
    word->word = 0x4242;
    ck_assert_int_eq(uct_sm_mem_register(end->md, &word->word, 8,
                                         UCT_ACCESS_ALL, &word->mem),
                     UCS_OK);
    (void)uct_sm_rkey_pack(word->mem, word->bytes);
}

static ucs_status_t word_get(struct uct_ep *ep, const struct shared_word *word,
                             uint64_t *value)
{
    struct uct_rkey  *rkey;
    struct uct_sm_key key;
    ucs_status_t      status;

    ck_assert_int_eq(uct_sm_key_decode(word->bytes, UCT_SM_KEY_BYTES, &key),
                     UCS_OK);
    ck_assert_int_eq(
        uct_sm_rkey_unpack(ep->iface->md, word->bytes, UCT_SM_KEY_BYTES, &rkey),
        UCS_OK);
    status = uct_sm_get_bcopy(ep, value, 8, key.address, rkey, NULL, 0);
    uct_sm_rkey_release(rkey);
    return status;
}

/* Has a word read; then its process may not be read any more. */
static void undumpable_process(struct sm_end *end, struct uct_ep *ep, int in_fd,
                               int out_fd, void *arg)
{
    struct shared_word word;

    (void)arg;
    word_open(&word, end);
    ck_assert_int_eq(write(out_fd, &word, sizeof(word)), sizeof(word));
    stay(end, ep, in_fd);
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    sm_step_tell(out_fd);
    sm_step_wait(in_fd);
    uct_sm_mem_release(word.mem);
}

static void lose__the_peer_must_not_be_read_now(const struct test_param *param)
{
    struct sm_process  process;
    struct shared_word word;
    struct sm_end      end;
    uint64_t           value = 0;

    (void)param;
    need_cma();
    drop_ptrace_capability();
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    sm_end_open(&end, false);
    sm_process_start(&process, &end, false, undumpable_process, NULL);
    ck_assert_int_eq(read(process.from_fd, &word, sizeof(word)), sizeof(word));
    end.ep = sm_end_connect_bytes(&end, process.address);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 8);
    if (!(end.ep->rights & UCT_RIGHT_GET)) {
        sm_process_kill(&process);
        test_skip("not here: %s", end.ep->rights_reason);
    }
    ck_assert_int_eq(word_get(end.ep, &word, &value), UCS_OK);
    ck_assert_uint_eq(value, 0x4242);
    sm_step_tell(process.to_fd);
    sm_step_wait(process.from_fd);
    ck_assert_int_eq(word_get(end.ep, &word, &value), UCS_ERR_UNSUPPORTED);
    ck_assert_uint_eq(end.ep->rights, UCT_RIGHT_KNOWN);
    ck_assert_ptr_nonnull(strstr(end.ep->rights_reason, "dumpable"));
    /* Messages go on. */
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 1, 8);
    ck_assert_int_eq(end.ep->failed, UCS_OK);
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    sm_end_close(&end);
}

static void lose__our_calls_are_forbidden_now(const struct test_param *param)
{
    struct shared_word word;
    struct sm_end      end;
    uint64_t           value = 0;

    (void)param;
    need_cma();
    sm_end_open(&end, false);
    word_open(&word, &end);
    end.ep = sm_end_connect(&end, &end);
    ck_assert_int_eq(word_get(end.ep, &word, &value), UCS_OK);
    ck_assert_uint_eq(value, 0x4242);
    forbid_both();
    ck_assert_int_eq(word_get(end.ep, &word, &value), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(word_get(end.ep, &word, &value), UCS_ERR_UNSUPPORTED);
    ck_assert_uint_eq(end.ep->rights, UCT_RIGHT_KNOWN);
    uct_sm_mem_release(word.mem);
    sm_end_close(&end);
}

/* ---- words that both reach ---- */

enum { CLAIM_ROUND_COUNT = 20000 };

/* Take pieces until none is left. @return how many. */
static uint64_t claim_pieces(_Atomic uint64_t *word, uint64_t name)
{
    uint64_t value = atomic_load(word);
    uint64_t count = 0;

    while (uct_claim_is_current(name, value) &&
           ((uint32_t)value < CLAIM_ROUND_COUNT)) {
        if (atomic_compare_exchange_weak(word, &value, value + 1)) {
            ++count;
            value = atomic_load(word);
        }
    }
    return count;
}

static void claiming_process(struct sm_end *end, struct uct_ep *ep, int in_fd,
                             int out_fd, void *arg)
{
    uint64_t name, count;

    (void)arg;
    sm_stage_send_all(end, ep, SM_STAGE_AM, 0, 8);
    ck_assert_int_eq(read(in_fd, &name, sizeof(name)), sizeof(name));
    ck_assert_ptr_nonnull(ucti_ep_claim(ep, name));
    sm_step_tell(out_fd);
    count = claim_pieces(ucti_ep_claim(ep, name), name);
    ck_assert_int_eq(write(out_fd, &count, sizeof(count)), sizeof(count));
    sm_step_wait(in_fd);
    /* Given back: a late one gets nothing. */
    ck_assert_uint_eq(claim_pieces(ucti_ep_claim(ep, name), name), 0);
}

static void claim__each_piece_is_taken_once(const struct test_param *param)
{
    struct sm_process process;
    struct sm_end     end;
    uint64_t          name, mine, theirs;

    (void)param;
    sm_end_open(&end, false);
    sm_process_start(&process, &end, false, claiming_process, NULL);
    ck_assert(ucti_claim_get(end.iface, &name));
    ck_assert_int_eq(write(process.to_fd, &name, sizeof(name)), sizeof(name));
    sm_step_wait(process.from_fd);
    mine = claim_pieces(ucti_iface_claim(end.iface, name), name);
    ck_assert_int_eq(read(process.from_fd, &theirs, sizeof(theirs)),
                     sizeof(theirs));
    ck_assert_uint_eq(mine + theirs, CLAIM_ROUND_COUNT);
    ucti_claim_put(end.iface, name);
    ck_assert(ucti_claim_get(end.iface, &name)); /* the same word, used again */
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    ucti_claim_put(end.iface, name);
    sm_end_close(&end);
}

static const struct test_case cases[] = {
    TEST(init__names_choose_the_part),
    TEST(init__setting_forbids_it),
    TEST(init__ptracer_is_a_setting),
    TEST(probe__both_ends_know_both_directions),
    TEST(probe__a_filter_forbids_one_direction),
    TEST(probe__a_filter_forbids_writing_only),
    TEST(probe__a_socket_gives_no_right),
    TEST(lose__the_peer_must_not_be_read_now),
    TEST(lose__our_calls_are_forbidden_now),
    TEST(claim__each_piece_is_taken_once),
    {0}};

const struct test_suite sm_rights_suite = {.name = "sm_rights", .cases = cases};
