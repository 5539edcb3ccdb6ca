/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/compat.h - what programs built for UCX's libucs look up in ours.
 *
 * Names, types and sizes are those of UCX 1.13, the meaning is UCX's; nothing
 * of ours calls them, and this header is not installed. A program that was
 * linked against one of the data objects has its own copy of it (the loader
 * copies the initial bytes there), so the sizes must not change and the
 * library itself must reach them by name only, never by a hidden alias. */
#ifndef UCS_COMPAT_H_
#define UCS_COMPAT_H_

#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>

#include "ucs/compiler.h"
#include "ucs/config/types.h"
#include "ucs/memory/memory_type.h"
#include "ucs/type/status.h"
#include "ucs/type/thread_mode.h"

enum { UCS_COMPAT_GLOBAL_OPTS_BYTES = 360 };

/* Programs read the log component before they log; the rest is theirs to
 * ignore and stays 0. */
typedef struct {
    ucs_log_component_config_t log_component;
    char
        rest[UCS_COMPAT_GLOBAL_OPTS_BYTES - sizeof(ucs_log_component_config_t)];
} ucs_global_opts_t;

/* A list of nothing: points to itself. */
typedef struct ucs_list_link {
    struct ucs_list_link *prev;
    struct ucs_list_link *next;
} ucs_list_link_t;

/* A string that grows; the caller makes it, zeroed, or over memory of its own
 * with UCS_COMPAT_STRING_FIXED set in capacity. */
typedef struct {
    char  *buffer;
    size_t length;   /* without the NUL */
    size_t capacity; /* bytes of buffer */
} ucs_string_buffer_t;

#define UCS_COMPAT_STRING_FIXED ((size_t)1 << 63)

/* Bring what programs see up to date with our settings: the log level. Call
 * when a configuration was read. Thread: any. */
UCS_EXPORT void ucsi_compat_refresh(ucs_log_level_t level);

UCS_API_BEGIN

extern ucs_global_opts_t        ucs_global_opts;
extern ucs_list_link_t          ucs_config_global_list;
extern ucs_ternary_auto_value_t ucs_arch_x86_enable_rdtsc;

/* Log, and end. */
void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t             level,
                      ucs_log_component_config_t *component, const char *format,
                      ...) UCS_PRINTF(6, 7);
void ucs_fatal_error_format(const char *file, unsigned line,
                            const char *function, const char *format, ...)
    UCS_PRINTF(4, 5) UCS_NORETURN;

/* Strings. */
void ucs_string_buffer_appendf(ucs_string_buffer_t *string, const char *format,
                               ...) UCS_PRINTF(2, 3);
const char *ucs_string_buffer_cstr(const ucs_string_buffer_t *string);
/* Cut off what is in charset, or white space if that is NULL. */
void ucs_string_buffer_rtrim(ucs_string_buffer_t *string, const char *charset);
/* snprintf; the zero form also clears the bytes behind. */
void ucs_snprintf_safe(char *buffer, size_t size, const char *format, ...)
    UCS_PRINTF(3, 4);
void ucs_snprintf_zero(char *buffer, size_t size, const char *format, ...)
    UCS_PRINTF(3, 4);
void  ucs_strncpy_zero(char *dest, const char *src, size_t size);
char *ucs_memunits_to_str(size_t value, char *buffer, size_t size);
/* The index of str in a list that ends in NULL, or -1. */
ssize_t ucs_string_find_in_list(const char *str, const char **list,
                                int case_sensitive);

/* Sockets. */
const char  *ucs_sockaddr_str(const struct sockaddr *address, char *buffer,
                              size_t size);
ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *address,
                                   uint16_t              *port_p);
ucs_status_t ucs_sockaddr_set_port(struct sockaddr *address, uint16_t port);
ucs_status_t ucs_sockaddr_set_inaddr_any(struct sockaddr *address,
                                         sa_family_t      family);
ucs_status_t ucs_sock_ipstr_to_sockaddr(const char              *text,
                                        struct sockaddr_storage *address_p);
ucs_status_t ucs_socket_setopt(int fd, int level, int name, const void *value,
                               socklen_t length);
void         ucs_close_fd(int *fd_p);

/* The machine. */
size_t   ucs_get_page_size(void);
long     ucs_sys_get_num_cpus(void);
int      ucs_sys_getaffinity(cpu_set_t *cpus_p);
int      ucs_sys_setaffinity(const cpu_set_t *cpus);
double   ucs_x86_init_tsc_freq(void);
double   ucs_get_cpu_clocks_per_sec(void);
unsigned ucs_arch_get_cpu_vendor(void);
unsigned ucs_arch_get_cpu_model(void);
void     ucs_arch_print_memcpy_limits(const void *arch_opts);

/* What Causeway has none of: modules of UCX's kind, statistics trees, memory
 * tracking, async contexts, a topology. */
void  ucs_load_modules(const char *framework, const char *modules,
                       void *init_once, unsigned flags);
void *ucs_stats_get_root(void);
void  ucs_memtrack_allocated(void *pointer, size_t size, const char *name);
void  ucs_memtrack_releasing(void *pointer);
ucs_status_t ucs_async_context_create(ucs_async_mode_t mode, void **async_p);
void         ucs_async_context_destroy(void *async);
ucs_status_t ucs_async_context_init(void *async, ucs_async_mode_t mode);
void         ucs_async_context_cleanup(void *async);
unsigned     ucs_topo_num_devices(void);
const char  *ucs_topo_sys_device_get_name(uint8_t device);
ucs_status_t ucs_topo_get_distance(uint8_t device1, uint8_t device2,
                                   void *distance_p);
void         ucs_config_parser_print_all_opts(FILE *stream, const char *prefix,
                                              ucs_config_print_flags_t flags,
                                              ucs_list_link_t         *list);

/* Default entries of tables of functions, called with any arguments. */
void         ucs_empty_function(void);
ucs_status_t ucs_empty_function_return_success(void);

UCS_API_END

#endif
