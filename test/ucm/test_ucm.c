/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ucm.c - src/ucm/ucm.c: a report of unmapped memory comes from inside
 * munmap, an allocator or a signal handler. So it takes no lock, allocates
 * nothing and calls nobody: shown by stopping it at every instruction. */
#include "ucm/api/ucm.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/seccomp.h>

#include "lib/test.h"
#include "ucs/unmap.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

enum { PAGE = 4096, STEP_COUNT_MAX = 4096 };

/* Addresses of what is reported. */
enum { OUTER = 0x100000, INNER = 0x200000 };

static void report(uintptr_t address)
{
    ucm_vm_munmap((void *)address, PAGE);
}

/* What a reader was told. */
struct heard {
    bool     all;
    unsigned outer;
    unsigned inner;
    unsigned other;
};

static void on_unmap(void *arg, uintptr_t start, uintptr_t end)
{
    struct heard *heard = arg;

    heard->all |= (start == 0) && (end == UINTPTR_MAX);
    heard->outer += (start == OUTER) && (end == OUTER + PAGE);
    heard->inner += (start == INNER) && (end == INNER + PAGE);
    heard->other += (start != OUTER) && (start != INNER);
}

/* Where the program was after each instruction.
 * strike  the step at which the handler reports too; -1: at none */
static void                 *steps[STEP_COUNT_MAX];
static volatile sig_atomic_t step_count;
static int                   step_strike;

static void on_step(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;

    (void)number;
    (void)info;
    if (step_count == step_strike) {
        report(INNER);
    }
    if (step_count < STEP_COUNT_MAX) {
        steps[step_count] = (void *)at->uc_mcontext.gregs[REG_RIP];
        step_count        = step_count + 1;
    }
}

/* The processor stops after each instruction (trap flag), or no longer does.
 * What lies below the stack pointer may be in use. */
static inline void stepping_begin(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
                     "orq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static inline void stepping_end(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
                     "andq $-257, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

/* One report, stopped at each instruction. @return how many there were. */
static int report_in_steps(int strike)
{
    step_strike = strike;
    step_count  = 0;
    stepping_begin();
    report(OUTER);
    stepping_end();
    return step_count;
}

static void steps_open(void)
{
    const struct sigaction action = {.sa_sigaction = on_step,
                                     .sa_flags     = SA_SIGINFO};

    ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
    report(OUTER); /* the loader finds what it calls */
}

/* Is that code of libucm, libucs or this program? */
static bool is_ours(void *code)
{
    Dl_info of, self;

    return (dladdr(code, &of) != 0) &&
           (dladdr((void *)(uintptr_t)is_ours, &self) != 0) &&
           ((of.dli_fbase == self.dli_fbase) ||
            (strstr(of.dli_fname, "libucm") != NULL) ||
            (strstr(of.dli_fname, "libucs") != NULL));
}

/* Neither malloc nor a lock nor anything else of another library. */
static void munmap__calls_nobody(const struct test_param *param)
{
    int count;

    (void)param;
    steps_open();
    count = report_in_steps(-1);
    ck_assert_int_gt(count, 10);
    for (int i = 0; i < count; ++i) {
        ck_assert_msg(is_ours(steps[i]), "step %d of %d is in foreign code", i,
                      count);
    }
    ck_assert_int_lt(count, STEP_COUNT_MAX); /* none was left out */
}

/* A signal at any instruction may report as well: both are heard. */
static void munmap__stopped_at_any_instruction(const struct test_param *param)
{
    struct ucs_unmap_reader reader;
    int                     count;

    (void)param;
    steps_open();
    count = report_in_steps(-1);
    for (int strike = 0; strike < count; ++strike) {
        struct heard heard = {0};

        ucsi_unmap_reader_init(&reader);
        ck_assert_int_eq(report_in_steps(strike), count);
        ucsi_unmap_read(&reader, on_unmap, &heard);
        ck_assert_msg(!heard.all && (heard.outer == 1) && (heard.inner == 1) &&
                          (heard.other == 0),
                      "struck at instruction %d of %d", strike, count);
        ck_assert(!ucs_unmap_has_news(&reader));
    }
}

/* The kernel ends a process that calls it for anything else. */
static void munmap__makes_no_system_call(const struct test_param *param)
{
    int   status;
    pid_t pid;

    (void)param;
    report(OUTER);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
            _exit(1);
        }
        for (unsigned i = 0; i < 2 * UCS_UNMAP_RING_COUNT; ++i) {
            report(OUTER);
        }
        (void)syscall(SYS_exit, 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0),
                  "it ended with 0x%x", (unsigned)status);
}

#else

static void munmap__calls_nobody(const struct test_param *param)
{
    (void)param;
    test_skip("x86-64, and not with ThreadSanitizer");
}

static void munmap__stopped_at_any_instruction(const struct test_param *param)
{
    munmap__calls_nobody(param);
}

/* ThreadSanitizer has a thread of its own, which keeps the child alive. */
static void munmap__makes_no_system_call(const struct test_param *param)
{
    munmap__calls_nobody(param);
}

#endif

/* Reports count from the one call to the other. */
static void events__say_who_reports(const struct test_param *param)
{
    (void)param;
    ck_assert(!ucsi_unmap_is_reported());
    ucm_set_external_event(UCM_EVENT_VM_MAPPED);
    ck_assert(!ucsi_unmap_is_reported());
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    ck_assert(ucsi_unmap_is_reported());
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    ck_assert(!ucsi_unmap_is_reported());
}

static const struct test_case cases[] = {
    TEST(munmap__calls_nobody),
    TEST(munmap__stopped_at_any_instruction),
    TEST(munmap__makes_no_system_call),
    TEST(events__say_who_reports),
    {0},
};

static const struct test_suite ucm_suite = {.name = "ucm", .cases = cases};

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {&ucm_suite, NULL};

    return test_main(argc, argv, suites);
}
