/* SPDX-License-Identifier: BSD-3-Clause */
/* test/apps/tool_client.c - a program that is linked with the stand-in.
 * Words: init (call it, also again), other (only load it), wait (until the
 * file named next exists), exit N, raise N. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int standin_init(void);
int standin_other(void);

/* At most 20 s. */
static void client_wait(const char *path)
{
    int tries;

    for (tries = 0; (tries < 2000) && (access(path, F_OK) != 0); tries++) {
        usleep(10000);
    }
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "init") == 0) {
            (void)standin_init();
        } else if (strcmp(argv[i], "other") == 0) {
            (void)standin_other();
        } else if (i + 1 == argc) {
            return 99;
        } else if (strcmp(argv[i], "wait") == 0) {
            client_wait(argv[++i]);
        } else if (strcmp(argv[i], "exit") == 0) {
            return (int)strtol(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "raise") == 0) {
            raise((int)strtol(argv[++i], NULL, 10));
        } else {
            return 99;
        }
    }
    return 0;
}
