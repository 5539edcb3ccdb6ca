/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_transport.c - settings and the device. */
#include "uct/self/self.h"

#include "uct/self_stage.h"

static void config__comes_from_the_opener(const struct test_param *param)
{
    const struct uct_transport *self = ucti_transports()[0];
    struct self_config          config;
    struct uct_iface_attr       attr;

    teardown(param);
    memset(&config, 0, sizeof(config));
    ck_assert_int_eq(ucsi_config_read(self->config, NULL, &config), UCS_OK);
    ck_assert_int_eq(
        ucsi_config_set(self->config, &config, "SELF_SEG_SIZE", "4k"), UCS_OK);
    open_with(&config);
    ucsi_config_release(self->config, &config);
    self->iface_query(iface, &attr);
    ck_assert_uint_eq(attr.am.bcopy_bytes_max, 4096);
}

static void config__is_bounded(const struct test_param *param)
{
    const struct uct_transport *self = ucti_transports()[0];
    struct self_config          config;
    struct uct_iface_attr       attr;

    teardown(param);
    memset(&config, 0, sizeof(config));
    ck_assert_int_eq(ucsi_config_read(self->config, NULL, &config), UCS_OK);
    ck_assert_int_eq(
        ucsi_config_set(self->config, &config, "SELF_SEG_SIZE", "1"),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        ucsi_config_set(self->config, &config, "SELF_SEG_SIZE", "512"), UCS_OK);
    ck_assert_int_eq(
        ucsi_config_set(self->config, &config, "SELF_BUFFER_COUNT", "3"),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        ucsi_config_set(self->config, &config, "SELF_BUFFER_COUNT", "4"),
        UCS_OK);
    open_with(&config);
    ucsi_config_release(self->config, &config);
    self->iface_query(iface, &attr);
    ck_assert_uint_eq(attr.am.bcopy_bytes_max, SELF_SEG_BYTES_MIN);
    ck_assert_uint_eq(self_iface_of(iface)->config.buffer_count,
                      SELF_BUFFER_COUNT_MIN);
}

static void devices__count_without_room(const struct test_param *param)
{
    unsigned count = 0;

    (void)param;
    ucti_transports()[0]->devices(NULL, NULL, &count, NULL);
    ck_assert_uint_eq(count, 1);
}

static const struct test_case cases[] = {TEST(config__comes_from_the_opener),
                                         TEST(config__is_bounded),
                                         TEST(devices__count_without_room),
                                         {0}};

const struct test_suite self_transport_suite = {.name     = "self_transport",
                                                .cases    = cases,
                                                .setup    = setup,
                                                .teardown = teardown};
