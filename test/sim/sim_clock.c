/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_clock.c - ucs/clock.h and ucs/random.h in virtual time, with
 * seeded chance; linked in place of ucs/clock.c and ucs/random.c. */
#include <string.h>

#include "sim_world.h"
#include "ucs/clock.h"
#include "ucs/random.h"

uint64_t ucsi_clock_ns(void)
{
    return (sim_world == NULL) ? 0 : sim_world->net.now_ns;
}

uint64_t ucsi_clock_wall_ns(void)
{
    return ucsi_clock_ns();
}

uint64_t ucsi_clock_cycles_per_s(void)
{
    return UCS_NS_PER_S;
}

uint64_t ucsi_clock_ns_to_cycles(uint64_t duration_ns)
{
    return duration_ns;
}

uint64_t ucsi_clock_cycles_to_ns(uint64_t cycles)
{
    return cycles;
}

ucs_status_t ucsi_random_u64(uint64_t *value_p)
{
    *value_p = sim_random_next(&sim_world->secrets);
    return UCS_OK;
}

ucs_status_t ucsi_random_bytes(void *bytes, size_t size_bytes)
{
    uint8_t *next = bytes;
    uint64_t value;
    size_t   count;

    for (; size_bytes > 0; size_bytes -= count, next += count) {
        count = ucs_min(size_bytes, sizeof(value));
        value = sim_random_next(&sim_world->secrets);
        memcpy(next, &value, count);
    }
    return UCS_OK;
}
