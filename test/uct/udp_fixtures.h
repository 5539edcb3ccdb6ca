/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/udp_fixtures.h - what suites of udp begin with, as their `setup` and
 * `teardown`: a net whose ends are connected, or two open hosts. */
#ifndef TEST_UCT_UDP_FIXTURES_H_
#define TEST_UCT_UDP_FIXTURES_H_

#include "uct/udp_net.h"
#include "uct/udp_wild.h"

extern struct udp_net fixture_net;
void                  fixture_net_open(const struct test_param *param);
void                  fixture_net_close(const struct test_param *param);

extern struct wild fixture_wild;
void               fixture_wild_open(const struct test_param *param);
void               fixture_wild_close(const struct test_param *param);

#endif
