/* SPDX-License-Identifier: BSD-3-Clause */
/* test/ucs/suites.h - the suites of this folder; test_ucs.c lists them. */
#ifndef TEST_UCS_SUITES_H_
#define TEST_UCS_SUITES_H_

#include "lib/test.h"

extern const struct test_suite arena_suite;
extern const struct test_suite assert_suite;
extern const struct test_suite bytes_suite;
extern const struct test_suite clock_suite;
extern const struct test_suite compat_suite;
extern const struct test_suite config_file_suite;
extern const struct test_suite config_names_suite;
extern const struct test_suite config_scalar_suite;
extern const struct test_suite config_suite;
extern const struct test_suite config_unknown_suite;
extern const struct test_suite config_bounds_suite;
extern const struct test_suite config_value_suite;
extern const struct test_suite copy_suite;
extern const struct test_suite counters_suite;
extern const struct test_suite counters_report_suite;
extern const struct test_suite fd_suite;
extern const struct test_suite hash_suite;
extern const struct test_suite heap_suite;
extern const struct test_suite host_suite;
extern const struct test_suite hotel_suite;
extern const struct test_suite idmap_suite;
extern const struct test_suite linear_suite;
extern const struct test_suite list_suite;
extern const struct test_suite log_config_suite;
extern const struct test_suite json_suite;
extern const struct test_suite log_suite;
extern const struct test_suite mpool_suite;
extern const struct test_suite netif_suite;
extern const struct test_suite path_suite;
extern const struct test_suite queue_suite;
extern const struct test_suite random_suite;
extern const struct test_suite ranges_suite;
extern const struct test_suite sockaddr_suite;
extern const struct test_suite socket_suite;
extern const struct test_suite status_suite;
extern const struct test_suite strbuf_suite;
extern const struct test_suite timer_suite;
extern const struct test_suite units_suite;
extern const struct test_suite unmap_suite;

#endif
