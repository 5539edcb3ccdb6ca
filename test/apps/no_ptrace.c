/* SPDX-License-Identifier: BSD-3-Clause */
/* no_ptrace.c - runs a command where the calls that reach into another process
 * answer EPERM, as seccomp profiles of containers have it:
 *
 *     no_ptrace COMMAND ARGUMENT...
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORBID(_name)                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)SYS_##_name, 0, 1),          \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        FORBID(process_vm_readv),
        FORBID(process_vm_writev),
        FORBID(pidfd_getfd),
        FORBID(ptrace),
        FORBID(kcmp),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len    = sizeof(code) / sizeof(code[0]),
                                       .filter = code};

    if (argc < 2) {
        (void)fprintf(stderr, "usage: no_ptrace COMMAND ARGUMENT...\n");
        return 2;
    }
    if ((prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ||
        (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)) {
        (void)fprintf(stderr, "no_ptrace: seccomp: %s\n", strerror(errno));
        return 77;
    }
    (void)execvp(argv[1], &argv[1]);
    (void)fprintf(stderr, "no_ptrace: %s: %s\n", argv[1], strerror(errno));
    return 127;
}
