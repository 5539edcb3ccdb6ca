/* SPDX-License-Identifier: BSD-3-Clause */
/* test_transport_config.c - src/ucp/core/transport_config.c: the settings of
 * all transports as one. */
#include "ucp/core/transport_config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"
#include "uct/api/uct.h"

/* What a setting of sm is in there, as text. */
static void check_chunk_count(const struct ucp_transport_config *config,
                              const char                        *expected)
{
    char text[64];

    for (unsigned i = 0; i < config->count; ++i) {
        const struct uct_transport *transport = config->entries[i].transport;

        ck_assert_ptr_eq(ucp_transport_config_find(config, transport),
                         config->entries[i].options);
        if (strcmp(transport->name, "sm") == 0) {
            ck_assert_int_eq(ucsi_config_get_text(
                                 transport->config, config->entries[i].options,
                                 "SM_CHUNK_COUNT", text, sizeof(text)),
                             UCS_OK);
            ck_assert_str_eq(text, expected);
            return;
        }
    }
    ck_abort_msg("sm has no settings");
}

static void
transport_config__prefix_copy_and_set(const struct test_param *param)
{
    struct ucp_transport_config config, copy;

    (void)param;
    (void)setenv("UCX_SM_CHUNK_COUNT", "20", 1);
    (void)setenv("APP_UCX_SM_CHUNK_COUNT", "30", 1);
    ck_assert_int_eq(ucp_transport_config_read("APP", &config), UCS_OK);
    check_chunk_count(&config, "30");
    ck_assert_int_eq(ucp_transport_config_copy(&config, &copy), UCS_OK);
    ck_assert_int_eq(ucp_transport_config_set(&config, "SM_CHUNK_COUNT", "40"),
                     UCS_OK);
    check_chunk_count(&config, "40");
    check_chunk_count(&copy, "30"); /* its own */
    ucp_transport_config_release(&config);
    check_chunk_count(&copy, "30");
    ucp_transport_config_release(&copy);
}

static void transport_config__refuses(const struct test_param *param)
{
    struct ucp_transport_config config;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucp_transport_config_read(NULL, &config), UCS_OK);
    ck_assert_int_eq(ucp_transport_config_set(&config, "NO_SUCH_THING", "1"),
                     UCS_ERR_NO_ELEM);
    ck_assert_uint_eq(log_captured.count, 0);
    ck_assert_int_eq(ucp_transport_config_set(&config, "SM_CHUNK_COUNT", "x"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_null(ucp_transport_config_find(&config, NULL));
    ucp_transport_config_release(&config);
    (void)setenv("UCX_SM_CHUNK_COUNT", "x", 1);
    ck_assert_int_eq(ucp_transport_config_read(NULL, &config),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "UCX_SM_CHUNK_COUNT"));
}

static void transport_config__prints_all(const struct test_param *param)
{
    struct ucp_transport_config config;
    char                       *text = NULL;
    size_t                      length;
    FILE                       *stream = open_memstream(&text, &length);

    (void)param;
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(ucp_transport_config_read(NULL, &config), UCS_OK);
    ucp_transport_config_print(&config, stream, UCS_CONFIG_PRINT_CONFIG);
    (void)fclose(stream);
    for (unsigned i = 0; i < config.count; ++i) {
        const struct ucs_config_table *table =
            config.entries[i].transport->config;
        char name[128];

        for (const struct ucs_config_entry *entry = table->entries;
             entry->name != NULL; ++entry) {
            (void)snprintf(name, sizeof(name), "UCX_%s%s=", table->prefix,
                           entry->name);
            ck_assert_msg((entry->flags & UCS_CONFIG_ENTRY_HIDDEN) ||
                              (strstr(text, name) != NULL),
                          "%s is not printed", name);
        }
    }
    free(text);
    ucp_transport_config_release(&config);
}

static const struct test_case transport_config_cases[] = {
    TEST(transport_config__prefix_copy_and_set),
    TEST(transport_config__refuses),
    TEST(transport_config__prints_all),
    {0},
};

const struct test_suite transport_config_suite = {
    .name = "transport_config", .cases = transport_config_cases};
