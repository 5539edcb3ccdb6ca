/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c - src/ucp/core/config.c, transport_config.c and the calls on
 * ucp_config_t: where values come from, which are refused, how they print. */
#include "ucp/core/config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/api/ucp.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

static ucp_config_t *config_read(const char *prefix)
{
    ucp_config_t *config = NULL;

    ck_assert_int_eq(ucp_config_read(prefix, NULL, &config), UCS_OK);
    return config;
}

/* The value of a setting as it prints, to free. */
static char *value_of(const ucp_config_t *config, const char *name)
{
    char  *text  = NULL;
    char  *value = NULL;
    char  *line, *rest;
    FILE  *stream;
    size_t length;

    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ucp_config_print(config, stream, "title", UCS_CONFIG_PRINT_CONFIG);
    (void)fclose(stream);
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if ((strncmp(line, "UCX_", 4) == 0) &&
            (strncmp(line + 4, name, strlen(name)) == 0) &&
            (line[4 + strlen(name)] == '=')) {
            value = strdup(line + 4 + strlen(name) + 1);
        }
    }
    free(text);
    ck_assert_msg(value != NULL, "UCX_%s is not printed", name);
    return value;
}

static void check_value(const ucp_config_t *config, const char *name,
                        const char *expected)
{
    char *value = value_of(config, name);

    ck_assert_str_eq(value, expected);
    free(value);
}

/* A bad value is an error with its name, never a default in silence. */
static void config__bad_values(const struct test_param *param)
{
    static const char *const rows[][2] = {
        {"UCX_RNDV_THRESH", "foo"},     {"UCX_RNDV_THRESH", ""},
        {"UCX_ZCOPY_THRESH", "-1"},     {"UCX_KEEPALIVE_INTERVAL", "soon"},
        {"UCX_SM_CHUNK_SIZE", "many"},  {"UCX_SM_CHUNK_COUNT", "3.5"},
        {"UCX_SM_ATTACH", "telepathy"},
    };
    ucp_config_t *config;

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        config = (ucp_config_t *)8;
        (void)setenv(rows[i][0], rows[i][1], 1);
        log_capture_start();
        ck_assert_msg(ucp_config_read(NULL, NULL, &config) ==
                          UCS_ERR_INVALID_PARAM,
                      "%s=%s", rows[i][0], rows[i][1]);
        ck_assert_uint_eq(log_captured.count, 1);
        ck_assert_ptr_nonnull(strstr(log_captured.text, rows[i][0] + 4));
        ck_assert_ptr_eq(config, (ucp_config_t *)8); /* not written */
        (void)unsetenv(rows[i][0]);
    }
    ck_assert_int_eq(ucp_config_read(NULL, NULL, NULL), UCS_ERR_INVALID_PARAM);
}

/* UCX's own names pass in silence. */
static void config__names_of_ucx(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    (void)setenv("UCX_RC_TIMEOUT", "1s", 1);
    (void)setenv("UCX_IB_GID_INDEX", "3", 1);
    (void)setenv("UCX_MEMTYPE_CACHE", "n", 1);
    ucp_config_release(config_read(NULL));
    ck_assert_uint_eq(log_captured.count, 0);
}

/* One warning names what nobody knows. */
static void config__unknown_names(const struct test_param *param)
{
    ucp_config_t *config;

    (void)param;
    log_capture_start();
    (void)setenv("UCX_RNDV_TRESH", "1k", 1);
    (void)setenv("UCX_NO_SUCH_THING", "1", 1);
    config = config_read(NULL);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "UCX_NO_SUCH_THING"));
    ck_assert_ptr_nonnull(strstr(log_captured.text, "UCX_RNDV_TRESH"));
    ucp_config_release(config);
}

/* UCX_ before the default, the program's own prefix before UCX_, modify
 * before all. */
static void config__who_wins(const struct test_param *param)
{
    ucp_config_t *config;

    (void)param;
    (void)setenv("UCX_TLS", "self", 1);
    (void)setenv("MPI_UCX_TLS", "sm", 1);
    (void)setenv("MPI_UCX_SM_CHUNK_COUNT", "77", 1);
    config = config_read(NULL);
    check_value(config, "TLS", "self");
    ucp_config_release(config);
    config = config_read("MPI");
    check_value(config, "TLS", "sm");
    check_value(config, "SM_CHUNK_COUNT", "77");
    ck_assert_int_eq(ucp_config_modify(config, "TLS", "self,sm"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "SM_CHUNK_COUNT", "99"), UCS_OK);
    check_value(config, "TLS", "self,sm");
    check_value(config, "SM_CHUNK_COUNT", "99");
    ucp_config_release(config);
    config = config_read("OTHER");
    check_value(config, "TLS", "self");
    ucp_config_release(config);
}

static void config__modify(const struct test_param *param)
{
    ucp_config_t *config = config_read(NULL);

    (void)param;
    ck_assert_int_eq(ucp_config_modify(config, "RNDV_THRESH", "1k"), UCS_OK);
    check_value(config, "RNDV_THRESH", "1K");
    /* A bad one changes nothing. */
    ck_assert_int_eq(ucp_config_modify(config, "RNDV_THRESH", "foo"),
                     UCS_ERR_INVALID_PARAM);
    check_value(config, "RNDV_THRESH", "1K");
    ck_assert_int_eq(ucp_config_modify(config, "SM_ATTACH", "never"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_config_modify(config, "NO_SUCH_THING", "1"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_config_modify(NULL, "TLS", "self"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_config_modify(config, NULL, "1"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_config_modify(config, "TLS", NULL),
                     UCS_ERR_INVALID_PARAM);
    /* What Mercury, NIXL and UCC set. */
    ck_assert_int_eq(ucp_config_modify(config, "NET_DEVICES", "eth0"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "HANDLE_ERRORS", "none"),
                     UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "MAX_RMA_RAILS", "2"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "LOG_LEVEL", "error"), UCS_OK);
    ucp_config_release(config);
}

/* The log is set with the rest: by the application's prefix, by modify. */
static void config__log_level(const struct test_param *param)
{
    ucp_config_t *config;

    (void)param;
    (void)setenv("MPI_UCX_LOG_LEVEL", "debug", 1);
    config = config_read("MPI");
    ck_assert_int_eq(atomic_load(&ucsi_log_level), UCS_LOG_LEVEL_DEBUG);
    check_value(config, "LOG_LEVEL", "DEBUG");
    ck_assert_int_eq(ucp_config_modify(config, "LOG_LEVEL", "loud"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_config_modify(config, "LOG_LEVEL", "error"), UCS_OK);
    ck_assert_int_eq(atomic_load(&ucsi_log_level), UCS_LOG_LEVEL_ERROR);
    check_value(config, "LOG_LEVEL", "ERROR");
    ucp_config_release(config);
}

/* ucx-py splits every line at "=" into exactly two. */
static void config__print_is_parsed(const struct test_param *param)
{
    ucp_config_t *config = config_read(NULL);
    char         *text   = NULL;
    unsigned      count  = 0;
    char         *line, *rest, *equals;
    FILE         *stream;
    size_t        length;

    (void)param;
    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ucp_config_print(config, stream, "title", UCS_CONFIG_PRINT_CONFIG);
    (void)fclose(stream);
    ck_assert_ptr_null(strstr(text, "\n\n"));
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        equals = strchr(line, '=');
        ck_assert_msg((strncmp(line, "UCX_", 4) == 0) && (equals != NULL) &&
                          (strchr(equals + 1, '=') == NULL),
                      "line: %s", line);
        ++count;
    }
    ck_assert_uint_ge(count, 8);
    free(text);
    ucp_config_release(config);
}

/* What a context is made with is a copy: the config may change or go. */
static void config__context_has_a_copy(const struct test_param *param)
{
    ucp_params_t  params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                            .features   = UCP_FEATURE_TAG};
    ucp_config_t *config = config_read(NULL);
    ucp_context_h context;

    (void)param;
    ck_assert_int_eq(ucp_config_modify(config, "TLS", "self"), UCS_OK);
    ck_assert_int_eq(ucp_init(&params, config, &context), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "TLS", "cma"), UCS_OK);
    ucp_config_release(config);
    ucp_cleanup(context);
}

static const struct test_case config_cases[] = {
    TEST(config__bad_values),
    TEST(config__names_of_ucx),
    TEST(config__unknown_names),
    TEST(config__who_wins),
    TEST(config__modify),
    TEST(config__log_level),
    TEST(config__print_is_parsed),
    TEST(config__context_has_a_copy),
    {0},
};

const struct test_suite config_suite = {.name  = "config",
                                        .cases = config_cases};
