/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/compat.c - UCX's libucs as programs see it: ucx_perftest, ucx_info,
 * io_demo and the like run on ours. A facade: it must not hold state of
 * Causeway, and no code of ours may depend on it. */
#include "ucs/compat.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "ucs/clock.h"
#include "ucs/log.h"

/* ----------------------------------------------------------------- data */

ucs_global_opts_t ucs_global_opts = {
    .log_component = {UCS_LOG_LEVEL_WARN, "UCX", "*"},
};

ucs_list_link_t ucs_config_global_list = {&ucs_config_global_list,
                                          &ucs_config_global_list};

const char *ucs_memory_type_names[] = {
    "host", "cuda", "cuda-managed", "rocm", "rocm-managed", "unknown", NULL,
};

const char *ucs_memory_type_descs[] = {
    "memory of the host",        "memory of a CUDA device",
    "CUDA memory that migrates", "memory of a ROCm device",
    "ROCm memory that migrates", "not known",
};

const char *ucs_thread_mode_names[] = {"single", "serialized", "multi"};

const char *ucs_async_mode_names[] = {
    "signal", "thread_spinlock", "thread_mutex", "poll", NULL,
};

ucs_ternary_auto_value_t ucs_arch_x86_enable_rdtsc = UCS_TRY;

_Static_assert((sizeof(ucs_global_opts) == UCS_COMPAT_GLOBAL_OPTS_BYTES) &&
                   (sizeof(ucs_memory_type_names) == 7 * sizeof(char *)) &&
                   (sizeof(ucs_memory_type_descs) == 6 * sizeof(char *)),
               "programs hold copies of these sizes");

void ucsi_compat_refresh(ucs_log_level_t level)
{
    ucs_global_opts.log_component.log_level = level;
}

/* ------------------------------------------------------------------ log */

void ucs_log_dispatch(const char *file, unsigned line, const char *function,
                      ucs_log_level_t             level,
                      ucs_log_component_config_t *component, const char *format,
                      ...)
{
    va_list args;

    (void)function, (void)component; /* the caller compared the level */
    va_start(args, format);
    ucsi_log_va(level, file, line, format, args);
    va_end(args);
}

void ucs_fatal_error_format(const char *file, unsigned line,
                            const char *function, const char *format, ...)
{
    va_list args;

    (void)function;
    va_start(args, format);
    ucsi_log_va(UCS_LOG_LEVEL_FATAL, file, line, format, args);
    va_end(args);
    abort();
}

/* -------------------------------------------------------------- strings */

/* Room for length bytes and a NUL. False: fixed, or out of memory. */
static bool string_buffer_reserve(ucs_string_buffer_t *string, size_t length)
{
    size_t capacity = string->capacity & ~UCS_COMPAT_STRING_FIXED;
    char  *buffer;

    if (length < capacity) {
        return true;
    }
    if (string->capacity & UCS_COMPAT_STRING_FIXED) {
        return false;
    }
    capacity = ucs_max(2 * capacity, length + 1);
    buffer   = realloc(string->buffer, capacity);
    if (buffer == NULL) {
        return false;
    }
    string->buffer   = buffer;
    string->capacity = capacity;
    return true;
}

void ucs_string_buffer_appendf(ucs_string_buffer_t *string, const char *format,
                               ...)
{
    size_t  capacity;
    va_list args;
    int     added;

    va_start(args, format);
    added = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (added < 0) {
        return;
    }
    (void)string_buffer_reserve(string, string->length + (size_t)added);
    capacity = string->capacity & ~UCS_COMPAT_STRING_FIXED;
    if (string->length >= capacity) {
        return; /* not even room for a NUL */
    }
    va_start(args, format);
    (void)vsnprintf(string->buffer + string->length, capacity - string->length,
                    format, args);
    va_end(args);
    /* What did not fit is cut, and the text still ends in a NUL. */
    string->length = ucs_min(string->length + (size_t)added, capacity - 1);
}

const char *ucs_string_buffer_cstr(const ucs_string_buffer_t *string)
{
    return (string->length == 0) ? "" : string->buffer;
}

void ucs_string_buffer_rtrim(ucs_string_buffer_t *string, const char *charset)
{
    while (string->length > 0) {
        char last = string->buffer[string->length - 1];

        if ((charset == NULL) ? !isspace((unsigned char)last)
                              : (strchr(charset, last) == NULL)) {
            break;
        }
        string->buffer[--string->length] = '\0';
    }
}

void ucs_snprintf_safe(char *buffer, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(buffer, size, format, args);
    va_end(args);
}

void ucs_snprintf_zero(char *buffer, size_t size, const char *format, ...)
{
    va_list args;

    memset(buffer, 0, size);
    va_start(args, format);
    (void)vsnprintf(buffer, size, format, args);
    va_end(args);
}

void ucs_strncpy_zero(char *dest, const char *src, size_t size)
{
    if (size > 0) {
        size_t length = strnlen(src, size - 1);

        memmove(dest, src, length);
        memset(dest + length, 0, size - length);
    }
}

char *ucs_memunits_to_str(size_t value, char *buffer, size_t size)
{
    static const char units[] = {'\0', 'K', 'M', 'G', 'T', 'P', 'E'};
    size_t            unit    = 0;

    if (value >= SIZE_MAX - 1) {
        ucs_snprintf_safe(buffer, size, "%s",
                          (value == SIZE_MAX) ? "inf" : "auto");
        return buffer;
    }
    while ((value >= 1024) && (value % 1024 == 0)) {
        value /= 1024;
        ++unit;
    }
    ucs_snprintf_safe(buffer, size, (unit == 0) ? "%zu" : "%zu%c", value,
                      units[unit]);
    return buffer;
}

ssize_t ucs_string_find_in_list(const char *str, const char **list,
                                int case_sensitive)
{
    ssize_t index;

    for (index = 0; list[index] != NULL; ++index) {
        if ((case_sensitive ? strcmp(str, list[index])
                            : strcasecmp(str, list[index])) == 0) {
            return index;
        }
    }
    return -1;
}

/* -------------------------------------------------------------- sockets */

/* Where the port of an address is; NULL for a family without ports. */
static in_port_t *sockaddr_port(const struct sockaddr *address)
{
    void *bytes = UCS_PTR_BYTE_OFFSET((uintptr_t)address, 0);

    switch (address->sa_family) {
    case AF_INET:
        return &((struct sockaddr_in *)bytes)->sin_port;
    case AF_INET6:
        return &((struct sockaddr_in6 *)bytes)->sin6_port;
    default:
        ucs_error("address family %d has no port: use IPv4 or IPv6",
                  address->sa_family);
        return NULL;
    }
}

static const void *sockaddr_ip(const struct sockaddr *address)
{
    const void *bytes = address;

    return (address->sa_family == AF_INET)
               ? (const void *)&((const struct sockaddr_in *)bytes)->sin_addr
               : &((const struct sockaddr_in6 *)bytes)->sin6_addr;
}

const char *ucs_sockaddr_str(const struct sockaddr *address, char *buffer,
                             size_t size)
{
    char     ip[INET6_ADDRSTRLEN];
    uint16_t port;

    if (address == NULL) {
        ucs_snprintf_safe(buffer, size, "<null>");
    } else if ((address->sa_family != AF_INET) &&
               (address->sa_family != AF_INET6)) {
        ucs_snprintf_safe(buffer, size, "<invalid address family>");
    } else if ((ucs_sockaddr_get_port(address, &port) == UCS_OK) &&
               (inet_ntop(address->sa_family, sockaddr_ip(address), ip,
                          sizeof(ip)) != NULL)) {
        ucs_snprintf_safe(buffer, size, "%s:%u", ip, port);
    }
    return buffer;
}

ucs_status_t ucs_sockaddr_get_port(const struct sockaddr *address,
                                   uint16_t              *port_p)
{
    const in_port_t *port = sockaddr_port(address);

    if (port == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    *port_p = ntohs(*port);
    return UCS_OK;
}

ucs_status_t ucs_sockaddr_set_port(struct sockaddr *address, uint16_t port)
{
    in_port_t *port_p = sockaddr_port(address);

    if (port_p == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    *port_p = htons(port);
    return UCS_OK;
}

ucs_status_t ucs_sockaddr_set_inaddr_any(struct sockaddr *address,
                                         sa_family_t      family)
{
    void *bytes = address;

    switch (family) {
    case AF_INET:
        ((struct sockaddr_in *)bytes)->sin_addr.s_addr = INADDR_ANY;
        break;
    case AF_INET6:
        ((struct sockaddr_in6 *)bytes)->sin6_addr = in6addr_any;
        break;
    default:
        ucs_error("address family %d: use IPv4 or IPv6", family);
        return UCS_ERR_INVALID_PARAM;
    }
    address->sa_family = family;
    return UCS_OK;
}

ucs_status_t ucs_sock_ipstr_to_sockaddr(const char              *text,
                                        struct sockaddr_storage *address_p)
{
    struct sockaddr_in  ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
        memcpy(address_p, &ipv4, sizeof(ipv4));
        return UCS_OK;
    }
    if (inet_pton(AF_INET6, text, &ipv6.sin6_addr) == 1) {
        memcpy(address_p, &ipv6, sizeof(ipv6));
        return UCS_OK;
    }
    ucs_error("'%s' is neither an IPv4 nor an IPv6 address", text);
    return UCS_ERR_INVALID_ADDR;
}

ucs_status_t ucs_socket_setopt(int fd, int level, int name, const void *value,
                               socklen_t length)
{
    if (setsockopt(fd, level, name, value, length) != 0) {
        ucs_error("setsockopt of descriptor %d, level %d, option %d: %m", fd,
                  level, name);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

void ucs_close_fd(int *fd_p)
{
    if (*fd_p == -1) {
        return;
    }
    if (close(*fd_p) != 0) {
        ucs_warn("close of descriptor %d: %m", *fd_p);
    }
    *fd_p = -1;
}

/* -------------------------------------------------------------- machine */

size_t ucs_get_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

long ucs_sys_get_num_cpus(void)
{
    return sysconf(_SC_NPROCESSORS_CONF);
}

int ucs_sys_getaffinity(cpu_set_t *cpus_p)
{
    return sched_getaffinity(0, sizeof(*cpus_p), cpus_p);
}

int ucs_sys_setaffinity(const cpu_set_t *cpus)
{
    return sched_setaffinity(0, sizeof(*cpus), cpus);
}

/* Does the cycle counter tick at one rate, whatever the processor does? */
static bool machine_has_steady_tsc(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) &&
           ((edx & UCS_BIT(8)) != 0);
#else
    return false;
#endif
}

double ucs_x86_init_tsc_freq(void)
{
    ucs_arch_x86_enable_rdtsc = machine_has_steady_tsc() ? UCS_YES : UCS_NO;
    return (double)ucsi_clock_cycles_per_s();
}

double ucs_get_cpu_clocks_per_sec(void)
{
    double cycles_per_s = ucs_x86_init_tsc_freq();

    /* Without the counter, programs read gettimeofday in microseconds. */
    return (ucs_arch_x86_enable_rdtsc == UCS_YES) ? cycles_per_s : 1e6;
}

unsigned ucs_arch_get_cpu_vendor(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;

    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx)) {
        return (ebx == signature_INTEL_ebx) ? 1
               : (ebx == signature_AMD_ebx) ? 2
                                            : 0;
    }
#endif
    return 0; /* unknown */
}

unsigned ucs_arch_get_cpu_model(void)
{
    return 0; /* unknown: Causeway chooses by measured costs, not by model */
}

void ucs_arch_print_memcpy_limits(const void *arch_opts)
{
    (void)arch_opts; /* the C library's memcpy is used for all sizes */
}

/* ----------------------------------------------------------------- none */

/* All arguments of the calls below are passed on, which is their only use. */
static ucs_status_t unsupported(const char *function, ...)
{
    (void)function;
    return UCS_ERR_UNSUPPORTED;
}

void ucs_load_modules(const char *framework, const char *modules,
                      void *init_once, unsigned flags)
{
    (void)unsupported(__func__, framework, modules, init_once, flags);
}

void *ucs_stats_get_root(void)
{
    return NULL;
}

void ucs_memtrack_allocated(void *pointer, size_t size, const char *name)
{
    (void)unsupported(__func__, pointer, size, name);
}

void ucs_memtrack_releasing(void *pointer)
{
    (void)unsupported(__func__, pointer);
}

ucs_status_t ucs_async_context_create(ucs_async_mode_t mode, void **async_p)
{
    return unsupported(__func__, mode, async_p);
}

void ucs_async_context_destroy(void *async)
{
    (void)unsupported(__func__, async);
}

ucs_status_t ucs_async_context_init(void *async, ucs_async_mode_t mode)
{
    return unsupported(__func__, async, mode);
}

void ucs_async_context_cleanup(void *async)
{
    (void)unsupported(__func__, async);
}

unsigned ucs_topo_num_devices(void)
{
    return 0;
}

const char *ucs_topo_sys_device_get_name(uint8_t device)
{
    return (device == UINT8_MAX) ? "<unknown>" : "<invalid>";
}

ucs_status_t ucs_topo_get_distance(uint8_t device1, uint8_t device2,
                                   void *distance_p)
{
    return unsupported(__func__, device1, device2, distance_p);
}

void ucs_config_parser_print_all_opts(FILE *stream, const char *prefix,
                                      ucs_config_print_flags_t flags,
                                      ucs_list_link_t         *list)
{
    (void)unsupported(__func__, prefix, flags, list);
    fprintf(stream, "# the settings of Causeway: causeway info --config\n");
}

void ucs_empty_function(void)
{
}

ucs_status_t ucs_empty_function_return_success(void)
{
    return UCS_OK;
}
