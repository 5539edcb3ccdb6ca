/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/config.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/suites.h"

static void config_ucx_name__table(const struct test_param *param)
{
    static const struct {
        const char *name;
        bool        is_known;
    } rows[] = {
        {"TLS", true},
        {"ACC_DEVICES", true},
        {"ZCOPY_THRESH", true},
        {"NET_DEVICES", true},
        {"RC_TIMEOUT", true},
        {"IB_GID_INDEX", true},
        {"MM_FIFO_SIZE", true},
        {"RC_VERBS_ANYTHING", true},
        {"TCP_NODELAY", true},
        {"MAX_RMA_RAILS", true},
        {"STATS_DEST", true},
        {"CM_REUSEADDR", true},
        {"", false},
        {"TL", false},
        {"TLSS", false},
        {"tls", false},
        {"RC_", false},
        {"RCX", false},
        {"XYZ", false},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_msg(ucsi_config_is_ucx_name(rows[i].name) == rows[i].is_known,
                      "%s", rows[i].name);
    }
}

/* Every name of ucx_info -cf, if it is here, is accepted. */
static void config_ucx_name__all_of_ucx_info(const struct test_param *param)
{
    FILE *pipe = popen("env -u LD_LIBRARY_PATH ucx_info -cf 2>/dev/null", "r");
    char  line[4096];
    unsigned count = 0;

    (void)param;
    ck_assert_ptr_nonnull(pipe);
    while (fgets(line, sizeof(line), pipe) != NULL) {
        char *equals = strchr(line, '=');

        if ((strncmp(line, "UCX_", 4) != 0) || (equals == NULL)) {
            continue;
        }
        *equals = '\0';
        ck_assert_msg(ucsi_config_is_ucx_name(line + 4), "%s", line);
        ++count;
    }
    (void)pclose(pipe);
    if (count == 0) {
        test_skip("ucx_info prints nothing here");
    }
}

static const struct test_case cases[] = {
    TEST(config_ucx_name__table),
    TEST(config_ucx_name__all_of_ucx_info),
    {0},
};

const struct test_suite config_names_suite = {"config_names", cases, NULL, NULL,
                                              NULL};
