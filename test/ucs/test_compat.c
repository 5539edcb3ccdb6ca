/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/compat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/log.h"
#include "ucs/suites.h"

static void objects__have_the_sizes_of_1_13(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(sizeof(ucs_global_opts), 360);
    ck_assert_uint_eq(sizeof(ucs_config_global_list), 16);
    ck_assert_uint_eq(sizeof(ucs_arch_x86_enable_rdtsc), 4);
    ck_assert_str_eq(ucs_memory_type_names[UCS_MEMORY_TYPE_HOST], "host");
    ck_assert_str_eq(ucs_memory_type_names[5], "unknown");
    ck_assert_ptr_null(ucs_memory_type_names[6]);
    ck_assert_ptr_eq(ucs_config_global_list.next, &ucs_config_global_list);
    ck_assert_str_eq(ucs_thread_mode_names[UCS_THREAD_MODE_MULTI], "multi");
}

static void objects__log_level_follows(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(ucs_global_opts.log_component.log_level,
                     UCS_LOG_LEVEL_WARN);
    ucsi_compat_refresh(UCS_LOG_LEVEL_DEBUG);
    ck_assert_int_eq(ucs_global_opts.log_component.log_level,
                     UCS_LOG_LEVEL_DEBUG);
    ck_assert_str_eq(ucs_global_opts.log_component.name, "UCX");
}

struct seen {
    ucs_log_level_t level;
    char            text[64];
};

static void see(void *arg, ucs_log_level_t level, const char *file,
                unsigned line, const char *text)
{
    struct seen *seen = arg;

    (void)file;
    (void)line;
    seen->level = level;
    ucs_snprintf_zero(seen->text, sizeof(seen->text), "%s", text);
}

static void log__dispatch_prints(const struct test_param *param)
{
    struct seen                  seen    = {0};
    const struct ucs_log_handler handler = {see, &seen};

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    ucs_log_dispatch("file.c", 7, "function", UCS_LOG_LEVEL_ERROR,
                     &ucs_global_opts.log_component, "%d of %s", 3, "four");
    (void)ucsi_log_set_handler(NULL);
    ck_assert_int_eq(seen.level, UCS_LOG_LEVEL_ERROR);
    ck_assert_str_eq(seen.text, "3 of four");
}

static void string_buffer__grows(const struct test_param *param)
{
    ucs_string_buffer_t string = {0};
    int                 i;

    (void)param;
    ck_assert_str_eq(ucs_string_buffer_cstr(&string), "");
    for (i = 0; i < 1000; ++i) {
        ucs_string_buffer_appendf(&string, "%03d,", i);
    }
    ck_assert_uint_eq(string.length, 4000);
    ck_assert_uint_eq(strlen(ucs_string_buffer_cstr(&string)), 4000);
    ck_assert_mem_eq(string.buffer + 3996, "999,", 5);
    free(string.buffer);
}

static void string_buffer__fixed_is_cut(const struct test_param *param)
{
    char                bytes[9] = "xxxxxxxx";
    ucs_string_buffer_t string   = {bytes, 0, 8 | UCS_COMPAT_STRING_FIXED};
    ucs_string_buffer_t none     = {bytes, 0, UCS_COMPAT_STRING_FIXED};

    (void)param;
    ucs_string_buffer_appendf(&none, "text");
    ck_assert_uint_eq(none.length, 0);
    ck_assert_int_eq(bytes[0], 'x');
    ucs_string_buffer_appendf(&string, "%s", "0123456789");
    ck_assert_str_eq(ucs_string_buffer_cstr(&string), "0123456");
    ucs_string_buffer_appendf(&string, "more");
    ck_assert_uint_eq(string.length, 7);
    ck_assert_int_eq(bytes[8], '\0');
    ck_assert_ptr_eq(string.buffer, bytes);
}

static void string_buffer__rtrim(const struct test_param *param)
{
    ucs_string_buffer_t string = {0};

    (void)param;
    ucs_string_buffer_rtrim(&string, ",");
    ucs_string_buffer_appendf(&string, "a, b,;, \n");
    ucs_string_buffer_rtrim(&string, NULL);
    ck_assert_str_eq(ucs_string_buffer_cstr(&string), "a, b,;,");
    ucs_string_buffer_rtrim(&string, ",;");
    ck_assert_str_eq(ucs_string_buffer_cstr(&string), "a, b");
    ucs_string_buffer_rtrim(&string, "ab, ");
    ck_assert_str_eq(ucs_string_buffer_cstr(&string), "");
    free(string.buffer);
}

static void strings__stay_inside(const struct test_param *param)
{
    char bytes[12] = "xxxxxxxxxxx";

    (void)param;
    ucs_strncpy_zero(bytes, "abcdefghijk", 5);
    ck_assert_mem_eq(bytes, "abcd\0xxxxxx", 12);
    ucs_strncpy_zero(bytes, "a", 5);
    ck_assert_mem_eq(bytes, "a\0\0\0\0xxxxxx", 12);
    ucs_strncpy_zero(bytes + 5, "a", 0);
    ucs_snprintf_zero(bytes, 5, "%d", 7);
    ck_assert_mem_eq(bytes, "7\0\0\0\0xxxxxx", 12);
    ucs_snprintf_safe(bytes, 5, "%d", 1234567);
    ck_assert_mem_eq(bytes, "1234\0xxxxxx", 12);
}

static void strings__memunits(const struct test_param *param)
{
    static const struct {
        size_t      value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1000, "1000"},
        {1024, "1K"},
        {1536, "1536"},
        {3 << 19, "1536K"},
        {1ul << 60, "1E"},
        {SIZE_MAX, "inf"},
        {SIZE_MAX - 1, "auto"},
        {SIZE_MAX - 2, "18446744073709551613"},
    };
    char   text[32];
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_str_eq(ucs_memunits_to_str(rows[i].value, text, sizeof(text)),
                         rows[i].text);
    }
}

static void strings__find_in_list(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(ucs_string_find_in_list("cuda", ucs_memory_type_names, 1),
                     1);
    ck_assert_int_eq(ucs_string_find_in_list("HOST", ucs_memory_type_names, 0),
                     0);
    ck_assert_int_eq(ucs_string_find_in_list("HOST", ucs_memory_type_names, 1),
                     -1);
}

static void sockets__addresses(const struct test_param *param)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr        *address = (struct sockaddr *)(void *)&storage;
    char                    text[64];
    uint16_t                port = 0;

    (void)param;
    ck_assert_int_eq(ucs_sock_ipstr_to_sockaddr("10.1.2.3", &storage), UCS_OK);
    ck_assert_int_eq(ucs_sockaddr_set_port(address, 4711), UCS_OK);
    ck_assert_int_eq(ucs_sockaddr_get_port(address, &port), UCS_OK);
    ck_assert_uint_eq(port, 4711);
    ck_assert_str_eq(ucs_sockaddr_str(address, text, sizeof(text)),
                     "10.1.2.3:4711");
    ck_assert_int_eq(ucs_sock_ipstr_to_sockaddr("fe80::1", &storage), UCS_OK);
    ck_assert_str_eq(ucs_sockaddr_str(address, text, sizeof(text)),
                     "fe80::1:0");
    ck_assert_int_eq(ucs_sockaddr_set_inaddr_any(address, AF_INET6), UCS_OK);
    ck_assert_str_eq(ucs_sockaddr_str(address, text, sizeof(text)), ":::0");
    ck_assert_str_eq(ucs_sockaddr_str(NULL, text, sizeof(text)), "<null>");

    ucsi_log_set_level(UCS_LOG_LEVEL_FATAL); /* the rest is wrong on purpose */
    ck_assert_int_eq(ucs_sock_ipstr_to_sockaddr("host", &storage),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucs_sockaddr_set_inaddr_any(address, AF_UNIX),
                     UCS_ERR_INVALID_PARAM);
    address->sa_family = AF_UNIX;
    ck_assert_int_eq(ucs_sockaddr_get_port(address, &port),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucs_sockaddr_set_port(address, 1), UCS_ERR_INVALID_PARAM);
    ck_assert_str_eq(ucs_sockaddr_str(address, text, sizeof(text)),
                     "<invalid address family>");
}

static void sockets__descriptors(const struct test_param *param)
{
    int value = 1;
    int fd    = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int copy  = fd;

    (void)param;
    ck_assert_int_eq(
        ucs_socket_setopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, sizeof(value)),
        UCS_OK);
    ucs_close_fd(&fd);
    ck_assert_int_eq(fd, -1);
    ck_assert_int_eq(fcntl(copy, F_GETFD), -1);
    ucs_close_fd(&fd);
    ucsi_log_set_level(UCS_LOG_LEVEL_FATAL);
    ck_assert_int_eq(
        ucs_socket_setopt(-1, SOL_SOCKET, SO_REUSEADDR, &value, sizeof(value)),
        UCS_ERR_IO_ERROR);
}

static void machine__counts(const struct test_param *param)
{
    cpu_set_t cpus;

    (void)param;
    ck_assert_uint_eq(ucs_get_page_size() % 4096, 0);
    ck_assert_int_ge(ucs_sys_get_num_cpus(), 1);
    ck_assert_int_eq(ucs_sys_getaffinity(&cpus), 0);
    ck_assert_int_eq(ucs_sys_setaffinity(&cpus), 0);
    ck_assert_int_ge(CPU_COUNT(&cpus), 1);
}

/* What a program computes from the counter is a time. */
static void machine__counter_is_a_clock(const struct test_param *param)
{
    double per_s = ucs_get_cpu_clocks_per_sec();

    (void)param;
    ck_assert_int_ne(ucs_arch_x86_enable_rdtsc, UCS_TRY);
    if (ucs_arch_x86_enable_rdtsc == UCS_NO) {
        ck_assert_double_eq(per_s, 1e6);
    } else {
        ck_assert_double_eq(per_s, ucs_x86_init_tsc_freq());
        ck_assert_double_gt(per_s, 1e8);
    }
}

static void none__answers(const struct test_param *param)
{
    void *pointer = NULL;

    (void)param;
    ucs_load_modules("uct", "", NULL, 0);
    ck_assert_ptr_null(ucs_stats_get_root());
    ck_assert_uint_eq(ucs_topo_num_devices(), 0);
    ck_assert_int_eq(ucs_async_context_create(UCS_ASYNC_MODE_POLL, &pointer),
                     UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucs_empty_function_return_success(), UCS_OK);
}

static const struct test_case cases[] = {
    TEST(objects__have_the_sizes_of_1_13),
    TEST(objects__log_level_follows),
    TEST(log__dispatch_prints),
    TEST(string_buffer__grows),
    TEST(string_buffer__fixed_is_cut),
    TEST(string_buffer__rtrim),
    TEST(strings__stay_inside),
    TEST(strings__memunits),
    TEST(strings__find_in_list),
    TEST(sockets__addresses),
    TEST(sockets__descriptors),
    TEST(machine__counts),
    TEST(machine__counter_is_a_clock),
    TEST(none__answers),
    {0},
};

const struct test_suite compat_suite = {"compat", cases, NULL, NULL, NULL};
