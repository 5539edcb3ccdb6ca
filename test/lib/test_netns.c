/* SPDX-License-Identifier: BSD-3-Clause */
/* test_netns.c - a network of a test's own. */
#include "lib/test.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void test_netns(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        test_skip("no network namespace: unshare: %s", strerror(errno));
    }
    test_netns_run("ip link set lo up");
}

void test_netns_run(const char *command)
{
    int status = system(command);

    if (WIFEXITED(status) && (WEXITSTATUS(status) == 127)) {
        test_skip("no such program: %s", command);
    }
    ck_assert_msg(status == 0, "%s: status %d", command, status);
}
