/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ucs.c - the test program of libucs. */
#include "lib/test.h"

#include "ucs/suites.h"

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {
        &arena_suite,
        &assert_suite,
        &bytes_suite,
        &clock_suite,
        &compat_suite,
        &config_file_suite,
        &config_names_suite,
        &config_scalar_suite,
        &config_suite,
        &config_unknown_suite,
        &config_bounds_suite,
        &config_value_suite,
        &copy_suite,
        &counters_suite,
        &counters_report_suite,
        &fd_suite,
        &hash_suite,
        &heap_suite,
        &host_suite,
        &hotel_suite,
        &idmap_suite,
        &linear_suite,
        &list_suite,
        &log_config_suite,
        &json_suite,
        &log_suite,
        &mpool_suite,
        &netif_suite,
        &path_suite,
        &queue_suite,
        &random_suite,
        &ranges_suite,
        &sockaddr_suite,
        &socket_suite,
        &status_suite,
        &strbuf_suite,
        &timer_suite,
        &units_suite,
        &unmap_suite,
        NULL,
    };

    return test_main(argc, argv, suites);
}
