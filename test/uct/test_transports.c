/* SPDX-License-Identifier: BSD-3-Clause */
/* test_transports.c - the list of transports, and their names. */
#include "uct/base/transports.h"

#include <string.h>

#include "uct/api/uct.h"
#include "uct/suites.h"

static void name__own_alias_and_all(const struct test_param *param)
{
    const struct uct_transport one = {.name = "sm", .aliases = "shm,mm,posix"};
    const struct uct_transport two = {.name = "tcp", .aliases = ""};

    (void)param;
    ck_assert(ucti_transport_has_name(&one, "sm"));
    ck_assert(ucti_transport_has_name(&one, "shm"));
    ck_assert(ucti_transport_has_name(&one, "posix"));
    ck_assert(ucti_transport_has_name(&one, "all"));
    ck_assert(!ucti_transport_has_name(&one, "pos"));
    ck_assert(!ucti_transport_has_name(&one, "shm,mm"));
    ck_assert(!ucti_transport_has_name(&one, ""));
    ck_assert(!ucti_transport_has_name(&one, "tcp"));
    ck_assert(!ucti_transport_has_name(&two, ""));
    ck_assert(ucti_transport_has_name(&two, "tcp"));
}

/* A part is known, so nobody is warned, but it chooses nothing. */
static void name__of_a_part_does_not_choose(const struct test_param *param)
{
    const struct uct_transport one = {.name = "sm", .aliases = "shm,+part,mm"};

    (void)param;
    ck_assert(!ucti_transport_has_name(&one, "part"));
    ck_assert(ucti_transport_knows_name(&one, "part"));
    ck_assert(ucti_transport_knows_name(&one, "mm"));
    ck_assert(ucti_transport_knows_name(&one, "sm"));
    ck_assert(ucti_transport_knows_name(&one, "all"));
    ck_assert(!ucti_transport_knows_name(&one, "par"));
    ck_assert(!ucti_transport_knows_name(&one, ""));
    ck_assert(!ucti_transport_knows_name(
        &one, "a-name-longer-than-any-name-that-a-transport-can-have"));
}

static void name__all_but_those_on_demand(const struct test_param *param)
{
    const struct uct_transport one = {.name = "udp", .aliases = "net,-all"};
    const struct uct_transport two = {.name = "sm", .aliases = "shm"};

    (void)param;
    ck_assert(ucti_transport_is_on_demand(&one));
    ck_assert(!ucti_transport_is_on_demand(&two));
    ck_assert(!ucti_transport_has_name(&one, "all"));
    ck_assert(ucti_transport_has_name(&one, "udp"));
    ck_assert(ucti_transport_has_name(&one, "net"));
}

static void transports__self_is_there_once(const struct test_param *param)
{
    const struct uct_transport *const *next;
    unsigned                           count = 0;

    (void)param;
    ck_assert_ptr_eq(ucti_transports(), ucti_transports());
    for (next = ucti_transports(); *next != NULL; ++next) {
        count += (strcmp((*next)->name, "self") == 0);
    }
    ck_assert_uint_eq(count, 1);
}

static const struct test_case cases[] = {TEST(name__own_alias_and_all),
                                         TEST(name__of_a_part_does_not_choose),
                                         TEST(name__all_but_those_on_demand),
                                         TEST(transports__self_is_there_once),
                                         {0}};

const struct test_suite transports_suite = {.name  = "transports",
                                            .cases = cases};
