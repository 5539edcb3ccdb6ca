/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sched_yield() that sleeps, for MPI programs on hosts of their own (hosts.sh
 * preloads it). Open MPI calls it when it polled in vain, and four processes
 * share two processors, perhaps with others who never give way: a real yield
 * costs a whole turn of all of those for each poll, so that a job's speed
 * says how busy the machine is. Who sleeps is taken as soon as it wakes.
 */
#include <sched.h>
#include <time.h>

enum { REST_POLLS = 32 }; /* in vain, before it sleeps: some 20 us */

int sched_yield(void)
{
    static _Thread_local unsigned count;
    const struct timespec         nap = {0, 1000};

    if (++count % REST_POLLS == 0) {
        nanosleep(&nap, NULL);
    }
    return 0;
}
