/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/socket.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/log_capture.h"
#include "ucs/suites.h"

static char text[UCS_SOCKADDR_TEXT_BYTES_MAX];

static void sockaddr_parse__table(const struct test_param *param)
{
    static const struct {
        const char *in;
        const char *out; /* NULL: refused */
    } rows[] = {
        {"1.2.3.4:80", "1.2.3.4:80"},
        {"1.2.3.4", "1.2.3.4:7"},
        {"0.0.0.0:0", "0.0.0.0:0"},
        {"255.255.255.255:65535", "255.255.255.255:65535"},
        {"*:80", "0.0.0.0:80"},
        {"*", "0.0.0.0:7"},
        {"[::1]:80", "[::1]:80"},
        {"[::1]", "[::1]:7"},
        {"::1", "[::1]:7"},
        {"::", "[::]:7"},
        {"[fe80::1%3]:80", "[fe80::1%3]:80"},
        {"fe80::1%4294967295", "[fe80::1%4294967295]:7"},
        {"[::ffff:1.2.3.4]:1", "[::ffff:1.2.3.4]:1"},
        {"", NULL},
        {":80", NULL},
        {"1.2.3.4:", NULL},
        {"1.2.3.4:65536", NULL},
        {"1.2.3.4:-1", NULL},
        {"1.2.3.4:80x", NULL},
        {"1.2.3.4:inf", NULL},
        {"1.2.3", NULL},
        {"1.2.3.4.5", NULL},
        {"256.0.0.1", NULL},
        {"localhost:80", NULL}, /* no look-up here */
        {"[1.2.3.4]x:80", NULL},
        {"[::1", NULL},
        {"[]:80", NULL},
        {"[::1]80", NULL},
        {"[::1]:", NULL},
        {"[::g]:80", NULL},
        {"fe80::1%4294967296", NULL},
        {"fe80::1%no-such-interface", NULL},
        {"fe80::1%", NULL},
        {"1:2:3:4:5:6:7:8:9", NULL},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct ucs_sockaddr address;
        struct ucs_sockaddr again;
        ucs_status_t status = ucsi_sockaddr_parse(rows[i].in, 7, &address);

        if (rows[i].out == NULL) {
            ck_assert_msg(status == UCS_ERR_INVALID_ADDR, "%s", rows[i].in);
            continue;
        }
        ck_assert_msg(status == UCS_OK, "%s", rows[i].in);
        ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                         rows[i].out);
        ck_assert_int_eq(ucsi_sockaddr_parse(text, 0, &again), UCS_OK);
        ck_assert_int_eq(ucsi_sockaddr_compare(&address, &again), 0);
    }
}

static void sockaddr_parse__long_host(const struct test_param *param)
{
    struct ucs_sockaddr address;
    char                host[2048];

    (void)param;
    memset(host, '1', sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    ck_assert_int_eq(ucsi_sockaddr_parse(host, 0, &address),
                     UCS_ERR_INVALID_ADDR);
    host[5] = ':';
    host[9] = ':';
    ck_assert_int_eq(ucsi_sockaddr_parse(host, 0, &address),
                     UCS_ERR_INVALID_ADDR);
}

static void sockaddr_resolve__numbers_and_names(const struct test_param *param)
{
    struct ucs_sockaddr address;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_sockaddr_resolve("127.0.0.1:5", 0, &address), UCS_OK);
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "127.0.0.1:5");
    ck_assert_uint_eq(log_captured.count, 0);
    ck_assert_int_eq(ucsi_sockaddr_resolve("bad host name:x", 0, &address),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(log_captured.count, 1);
    if (ucsi_sockaddr_resolve("localhost:9", 0, &address) != UCS_OK) {
        test_skip("localhost does not resolve: %s", log_captured.text);
    }
    ck_assert_uint_eq(ucsi_sockaddr_port(&address), 9);
}

static void sockaddr_copy__bounds(const struct test_param *param)
{
    struct ucs_sockaddr address;
    struct ucs_sockaddr copy;
    unsigned char       bytes[256];
    size_t              size_bytes;

    (void)param;
    ck_assert_int_eq(ucsi_sockaddr_parse("[1::2]:3", 0, &address), UCS_OK);
    memset(bytes, 0xff, sizeof(bytes));
    memcpy(bytes, &address.base, sizeof(address.inet6));
    for (size_bytes = 0; size_bytes < sizeof(struct sockaddr_in6);
         ++size_bytes) {
        ck_assert_int_eq(ucsi_sockaddr_copy(bytes, size_bytes, &copy),
                         UCS_ERR_INVALID_ADDR);
    }
    ck_assert_int_eq(ucsi_sockaddr_copy(bytes, sizeof(bytes), &copy), UCS_OK);
    ck_assert_uint_eq(copy.size_bytes, sizeof(struct sockaddr_in6));
    ck_assert_int_eq(ucsi_sockaddr_compare(&copy, &address), 0);

    /* The padding of an IPv4 address does not count. */
    ck_assert_int_eq(ucsi_sockaddr_parse("1.2.3.4:5", 0, &address), UCS_OK);
    memset(bytes, 0xff, sizeof(bytes));
    memcpy(bytes, &address.base, 8);
    ck_assert_int_eq(ucsi_sockaddr_copy(bytes, 15, &copy),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucsi_sockaddr_copy(bytes, 16, &copy), UCS_OK);
    ck_assert_mem_eq(&copy.inet, &address.inet, sizeof(address.inet));

    bytes[0] = 99; /* a family of nobody */
    ck_assert_int_eq(ucsi_sockaddr_copy(bytes, sizeof(bytes), &copy),
                     UCS_ERR_INVALID_ADDR);
}

static void sockaddr_unix__names(const struct test_param *param)
{
    struct ucs_sockaddr address;
    struct ucs_sockaddr copy;
    char                name[200];

    (void)param;
    memset(name, 'n', sizeof(name));
    ck_assert_int_eq(ucsi_sockaddr_abstract(name, 108, &address),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucsi_sockaddr_abstract(name, 107, &address), UCS_OK);
    ck_assert_uint_eq(address.size_bytes, 110);
    ck_assert_uint_eq(strlen(ucsi_sockaddr_print(&address, text, sizeof(text))),
                      strlen("unix:@") + 107);
    ck_assert_int_eq(ucsi_sockaddr_abstract("a\0\n", 3, &address), UCS_OK);
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "unix:@a@?");
    ck_assert_int_eq(
        ucsi_sockaddr_copy(&address.base, address.size_bytes, &copy), UCS_OK);
    ck_assert_int_eq(ucsi_sockaddr_compare(&address, &copy), 0);
    ck_assert_int_eq(ucsi_sockaddr_abstract("a\0\nb", 4, &copy), UCS_OK);
    ck_assert_int_ne(ucsi_sockaddr_compare(&address, &copy), 0);
    ck_assert_uint_eq(ucsi_sockaddr_port(&address), 0);
    ucsi_sockaddr_set_port(&address, 5);
    ck_assert_uint_eq(ucsi_sockaddr_port(&address), 0);

    memset(&address, 0, sizeof(address)); /* a path, and an unnamed socket */
    address.unix_name.sun_family = AF_UNIX;
    memcpy(address.unix_name.sun_path, "/tmp/x", 7);
    address.size_bytes = sizeof(address.unix_name);
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "unix:/tmp/x");
    address.size_bytes = 2;
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "unix:");
    address.size_bytes = 0;
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "unix:");
    address.base.sa_family = 99;
    ck_assert_str_eq(ucsi_sockaddr_print(&address, text, sizeof(text)),
                     "family 99");
}

static void sockaddr_print__is_cut(const struct test_param *param)
{
    struct ucs_sockaddr address;
    char                small[5] = "xxxx";

    (void)param;
    ck_assert_int_eq(ucsi_sockaddr_parse("1.2.3.4:5", 0, &address), UCS_OK);
    ck_assert_str_eq(ucsi_sockaddr_print(&address, small, 4), "1.2");
    ck_assert_str_eq(ucsi_sockaddr_print(&address, small, 1), "");
}

static void sockaddr_compare__is_an_order(const struct test_param *param)
{
    static const char *const texts[] = {
        "1.2.3.4:5", "1.2.3.4:600", "1.2.3.5:5",   "200.2.3.4:5", "[::1]:5",
        "[::1%1]:5", "[::1%2]:5",   "[::1%2]:600", "[ff::1]:1"};
    struct ucs_sockaddr addresses[UCS_ARRAY_COUNT(texts)];
    size_t              i;
    size_t              j;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(texts); ++i) {
        ck_assert_int_eq(ucsi_sockaddr_parse(texts[i], 0, &addresses[i]),
                         UCS_OK);
        for (j = 0; j <= i; ++j) {
            int order = ucsi_sockaddr_compare(&addresses[i], &addresses[j]);
            int other = ucsi_sockaddr_compare(&addresses[j], &addresses[i]);

            ck_assert_msg((order > 0) == (i > j), "%s, %s", texts[i], texts[j]);
            ck_assert_msg((other < 0) == (i > j), "%s, %s", texts[j], texts[i]);
        }
    }
}

static const struct test_case cases[] = {
    TEST(sockaddr_parse__table),
    TEST(sockaddr_parse__long_host),
    TEST(sockaddr_resolve__numbers_and_names),
    TEST(sockaddr_copy__bounds),
    TEST(sockaddr_unix__names),
    TEST(sockaddr_print__is_cut),
    TEST(sockaddr_compare__is_an_order),
    {0},
};

const struct test_suite sockaddr_suite = {"sockaddr", cases, NULL, NULL, NULL};
