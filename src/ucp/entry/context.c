/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/context.c - version, settings and contexts. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config.h"
#include "ucp/core/context.h"
#include "ucp/entry/op.h"
#include "ucs/log.h"

enum {
    /* The caller's bytes in a request: 128 are made at once. */
    CONTEXT_REQUEST_BYTES_MAX = 16 * 1024 * 1024,
};

void ucp_get_version(unsigned *major_version, unsigned *minor_version,
                     unsigned *release_number)
{
    if (ucp_op_is_null(__func__, major_version, minor_version,
                       release_number)) {
        return;
    }
    *major_version  = UCP_API_MAJOR;
    *minor_version  = UCP_API_MINOR;
    *release_number = 0;
}

const char *ucp_get_version_string(void)
{
    return "1.20.0 (Causeway " PACKAGE_VERSION ")";
}

ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr)
{
    if (ucp_op_is_null(__func__, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (attr->field_mask & UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL) {
        attr->max_thread_level = UCS_THREAD_MODE_MULTI;
    }
    return UCS_OK;
}

/* All tables that a UCX_ variable may belong to, NULL at the end. */
enum { CONFIG_TABLE_COUNT_MAX = 64 };

static void config_tables(const struct ucs_config_table **tables)
{
    const struct uct_transport *const *transport = ucti_transports();
    unsigned                           count     = 0;

    tables[count++] = &ucp_context_config_table;
    tables[count++] = &ucsi_log_config_table;
    for (; (*transport != NULL) && (count < CONFIG_TABLE_COUNT_MAX - 1);
         ++transport) {
        if ((*transport)->config != NULL) {
            tables[count++] = (*transport)->config;
        }
    }
    tables[count] = NULL;
}

static ucs_status_t config_read_all(const char        *env_prefix,
                                    struct ucp_config *config)
{
    ucs_status_t status =
        ucsi_config_read(&ucsi_log_config_table, env_prefix, &config->log);

    if (status != UCS_OK) {
        return status;
    }
    ucsi_log_config_apply(&config->log); /* also for what the others say */
    status = ucsi_config_read(&ucp_context_config_table, env_prefix,
                              &config->context);
    return (status != UCS_OK)
               ? status
               : ucp_transport_config_read(env_prefix, &config->transports);
}

ucs_status_t ucp_config_read(const char *env_prefix, const char *filename,
                             ucp_config_t **config_p)
{
    const struct ucs_config_table *tables[CONFIG_TABLE_COUNT_MAX];
    struct ucp_config             *config;
    ucs_status_t                   status;

    (void)filename;
    if (ucp_op_is_null(__func__, config_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    config = calloc(1, sizeof(*config));
    if (config == NULL) {
        return ucsi_no_memory("a configuration", sizeof(*config));
    }
    status = config_read_all(env_prefix, config);
    if (status != UCS_OK) {
        ucp_config_release(config);
        return status;
    }
    config_tables(tables);
    ucsi_config_warn_unknown(tables, env_prefix);
    *config_p = config;
    return UCS_OK;
}

void ucp_config_release(ucp_config_t *config)
{
    if (ucp_op_is_null(__func__, config)) {
        return;
    }
    ucp_transport_config_release(&config->transports);
    ucsi_config_release(&ucp_context_config_table, &config->context);
    ucsi_config_release(&ucsi_log_config_table, &config->log);
    free(config);
}

ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                               const char *value)
{
    ucs_status_t status;

    if (ucp_op_is_null(__func__, config, name, value)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = ucsi_config_set(&ucp_context_config_table, &config->context, name,
                             value);
    if (status == UCS_ERR_NO_ELEM) {
        status = ucp_transport_config_set(&config->transports, name, value);
    }
    if (status != UCS_ERR_NO_ELEM) {
        return status;
    }
    status = ucsi_config_set(&ucsi_log_config_table, &config->log, name, value);
    if (status != UCS_ERR_NO_ELEM) {
        ucsi_log_config_apply(&config->log);
        return status;
    }
    if (ucsi_config_is_ucx_name(name)) {
        return UCS_OK; /* OpenUCX has it, it means nothing here */
    }
    ucs_error("ucp_config_modify: there is no setting UCX_%s", name);
    return UCS_ERR_INVALID_PARAM;
}

void ucp_config_print(const ucp_config_t *config, FILE *stream,
                      const char *title, ucs_config_print_flags_t print_flags)
{
    if (ucp_op_is_null(__func__, config, stream)) {
        return;
    }
    ucsi_config_print(stream, &ucp_context_config_table, &config->context,
                      title, print_flags);
    ucsi_config_print(stream, &ucsi_log_config_table, &config->log, NULL,
                      print_flags);
    ucp_transport_config_print(&config->transports, stream, print_flags);
}

static struct ucp_context_options options_read(const ucp_params_t *user)
{
    struct ucp_context_options options = {.features = 0};

    if (user->field_mask & UCP_PARAM_FIELD_FEATURES) {
        options.features = user->features;
    }
    if (user->field_mask & UCP_PARAM_FIELD_REQUEST_SIZE) {
        /* Rounding up may wrap; this stays too large. */
        options.request_bytes =
            ucs_max(ucs_align_up(user->request_size, 8), user->request_size);
    }
    if (user->field_mask & UCP_PARAM_FIELD_REQUEST_INIT) {
        options.request_init = user->request_init;
    }
    if (user->field_mask & UCP_PARAM_FIELD_REQUEST_CLEANUP) {
        options.request_cleanup = user->request_cleanup;
    }
    if (user->field_mask & UCP_PARAM_FIELD_TAG_SENDER_MASK) {
        options.tag_sender_mask = user->tag_sender_mask;
    }
    if (user->field_mask & UCP_PARAM_FIELD_MT_WORKERS_SHARED) {
        options.workers_are_shared = (user->mt_workers_shared != 0);
    }
    if ((user->field_mask & UCP_PARAM_FIELD_NAME) && (user->name != NULL)) {
        snprintf(options.name, sizeof(options.name), "%s", user->name);
    }
    return options; /* below here there are no masks */
}

/* `causeway run` asks whether its program came here: one line to the file
 * that CAUSEWAY_RUN_REPORT names, "<pid> <path of this library>". */
static void report_to_runner(void)
{
    const char *path = secure_getenv("CAUSEWAY_RUN_REPORT");
    char        line[4096];
    Dl_info     library;
    int         length, fd;

    if ((path == NULL) ||
        (dladdr((const void *)(uintptr_t)ucp_init_version, &library) == 0)) {
        return;
    }
    length = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(),
                      library.dli_fname);
    fd     = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        ucs_warn("CAUSEWAY_RUN_REPORT %s: %m", path);
        return;
    }
    if (write(fd, line, (size_t)length) != length) {
        ucs_warn("CAUSEWAY_RUN_REPORT %s: %m", path);
    }
    close(fd);
}

ucs_status_t ucp_init_version(unsigned            api_major_version,
                              unsigned            api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h      *context_p)
{
    struct ucp_context_options options;
    ucp_config_t              *own_config = NULL;
    ucs_status_t               status;

    if (ucp_op_is_null(__func__, params, context_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((api_major_version != UCP_API_MAJOR) ||
        (api_minor_version > UCP_API_MINOR)) {
        ucs_warn("the program was built for API %u.%u, this library has %u.%u",
                 api_major_version, api_minor_version, UCP_API_MAJOR,
                 UCP_API_MINOR);
    }
    options = options_read(params);
    if (options.request_bytes > CONTEXT_REQUEST_BYTES_MAX) {
        ucs_error("ucp_init: a request_size of %zu bytes; at most %d",
                  params->request_size, CONTEXT_REQUEST_BYTES_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    if (config == NULL) {
        status = ucp_config_read(NULL, NULL, &own_config);
        if (status != UCS_OK) {
            return status;
        }
        config = own_config;
    }
    status = ucp_context_create(config, &options, context_p);
    if ((status == UCS_OK) && (options.name[0] == '\0')) {
        snprintf((*context_p)->options.name, sizeof(options.name), "%p",
                 (void *)*context_p);
    }
    if (own_config != NULL) {
        ucp_config_release(own_config);
    }
    report_to_runner();
    return status;
}

void ucp_cleanup(ucp_context_h context)
{
    unsigned worker_count;

    if (ucp_op_is_null(__func__, context)) {
        return;
    }
    worker_count = atomic_load(&context->user_count) - 1;
    if (worker_count > 0) {
        ucs_error("ucp_cleanup: %u workers are open; the context goes with the "
                  "last of them",
                  worker_count);
    }
    ucp_context_put(context);
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attr)
{
    if (ucp_op_is_null(__func__, context, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (attr->field_mask & UCP_ATTR_FIELD_REQUEST_SIZE) {
        attr->request_size = sizeof(struct ucp_request);
    }
    if (attr->field_mask & UCP_ATTR_FIELD_THREAD_MODE) {
        attr->thread_mode = context->options.workers_are_shared
                                ? UCS_THREAD_MODE_MULTI
                                : UCS_THREAD_MODE_SINGLE;
    }
    if (attr->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES) {
        attr->memory_types = UCS_BIT(UCS_MEMORY_TYPE_HOST);
    }
    if (attr->field_mask & UCP_ATTR_FIELD_NAME) {
        snprintf(attr->name, sizeof(attr->name), "%s", context->options.name);
    }
    if (attr->field_mask & UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE) {
        attr->device_counter_size = 0;
    }
    return UCS_OK;
}

/* Open MPI reads the resource lines: ucp-api 4.17. */
void ucp_context_print_info(const ucp_context_h context, FILE *stream)
{
    if (ucp_op_is_null(__func__, context, stream)) {
        return;
    }
    fprintf(stream, "#\n# Causeway context '%s'\n#\n", context->options.name);
    for (unsigned i = 0; i < context->resource_count; ++i) {
        fprintf(stream, "#            md %-2u :  %s\n", i,
                context->resources[i].md->device.name);
    }
    fprintf(stream, "#\n");
    for (unsigned i = 0; i < context->resource_count; ++i) {
        const struct uct_md *md = context->resources[i].md;

        fprintf(stream,
                "#      resource %-2u :  md %-2u dev %-2u flags -- %s/%s\n", i,
                i, i, md->transport->name, md->device.name);
    }
    fprintf(stream, "#\n");
}
