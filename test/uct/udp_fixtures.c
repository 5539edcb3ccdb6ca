/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_fixtures.c - one net and one pair of hosts, for one suite at a time. */
#include "uct/udp_fixtures.h"

struct udp_net fixture_net;
struct wild    fixture_wild;

void fixture_net_open(const struct test_param *param)
{
    (void)param;
    udp_net_open_connected(&fixture_net);
}

void fixture_net_close(const struct test_param *param)
{
    (void)param;
    udp_net_close(&fixture_net);
}

void fixture_wild_open(const struct test_param *param)
{
    (void)param;
    wild_open(&fixture_wild);
}

void fixture_wild_close(const struct test_param *param)
{
    (void)param;
    wild_close(&fixture_wild);
}
