/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/context.h - library, settings, context (part of ucp/api/ucp.h). */
#ifndef UCP_API_CONTEXT_H_
#define UCP_API_CONTEXT_H_

#include <stdio.h>

#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/type/thread_mode.h>

enum ucp_params_field {
    UCP_PARAM_FIELD_FEATURES          = UCS_BIT(0),
    UCP_PARAM_FIELD_REQUEST_SIZE      = UCS_BIT(1),
    UCP_PARAM_FIELD_REQUEST_INIT      = UCS_BIT(2),
    UCP_PARAM_FIELD_REQUEST_CLEANUP   = UCS_BIT(3),
    UCP_PARAM_FIELD_TAG_SENDER_MASK   = UCS_BIT(4),
    UCP_PARAM_FIELD_MT_WORKERS_SHARED = UCS_BIT(5),
    UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = UCS_BIT(6),
    UCP_PARAM_FIELD_ESTIMATED_NUM_PPN = UCS_BIT(7),
    UCP_PARAM_FIELD_NAME              = UCS_BIT(8),
    UCP_PARAM_FIELD_NODE_LOCAL_ID     = UCS_BIT(9)
};

/* What a context will be used for; calls of other features may fail. */
enum ucp_feature {
    UCP_FEATURE_TAG           = UCS_BIT(0),
    UCP_FEATURE_RMA           = UCS_BIT(1),
    UCP_FEATURE_AMO32         = UCS_BIT(2),
    UCP_FEATURE_AMO64         = UCS_BIT(3),
    UCP_FEATURE_WAKEUP        = UCS_BIT(4), /* sleep until something happens */
    UCP_FEATURE_STREAM        = UCS_BIT(5),
    UCP_FEATURE_AM            = UCS_BIT(6),
    UCP_FEATURE_EXPORTED_MEMH = UCS_BIT(7),
    UCP_FEATURE_DEVICE        = UCS_BIT(8)
};

typedef struct ucp_params {
    uint64_t field_mask;   /* UCP_PARAM_FIELD_* */
    uint64_t features;     /* UCP_FEATURE_*; required */
    size_t   request_size; /* caller's bytes at the start of each request */
    ucp_request_init_callback_t    request_init;
    ucp_request_cleanup_callback_t request_cleanup;
    uint64_t    tag_sender_mask;   /* tag bits that name the sender; a hint */
    int         mt_workers_shared; /* calls on the context from any thread */
    size_t      estimated_num_eps; /* a hint */
    size_t      estimated_num_ppn; /* processes on this node; a hint */
    const char *name;              /* lent; for messages */
    size_t      node_local_id;     /* index on this node; a hint */
} ucp_params_t;

enum ucp_lib_attr_field { UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = UCS_BIT(0) };

typedef struct ucp_lib_attr {
    uint64_t          field_mask;
    ucs_thread_mode_t max_thread_level;
} ucp_lib_attr_t;

enum ucp_context_attr_field {
    UCP_ATTR_FIELD_REQUEST_SIZE        = UCS_BIT(0),
    UCP_ATTR_FIELD_THREAD_MODE         = UCS_BIT(1),
    UCP_ATTR_FIELD_MEMORY_TYPES        = UCS_BIT(2),
    UCP_ATTR_FIELD_NAME                = UCS_BIT(3),
    UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE = UCS_BIT(4)
};

typedef struct ucp_context_attr {
    uint64_t field_mask;
    size_t   request_size; /* bytes needed before a request of the caller's
                              (UCP_OP_ATTR_FIELD_REQUEST); without
                              ucp_params.request_size */
    ucs_thread_mode_t thread_mode;
    uint64_t          memory_types; /* UCS_BIT(ucs_memory_type_t) */
    char              name[UCP_ENTITY_NAME_MAX];
    size_t            device_counter_size;
} ucp_context_attr_t;

UCS_API_BEGIN

/* Tell what the library can; fills the fields that attr->field_mask names. */
ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr);

/* Tell the version of the API (the three numbers) and of the library (text
 * that lives as long as the library). */
void        ucp_get_version(unsigned *major_version, unsigned *minor_version,
                            unsigned *release_number);
const char *ucp_get_version_string(void);

/* Read the settings: defaults, then ucx.conf, then UCX_<NAME> from the
 * environment, then <env_prefix>_UCX_<NAME>. env_prefix may be NULL; filename
 * is ignored. Release *config_p with ucp_config_release.
 * UCS_ERR_INVALID_PARAM: a value cannot be read. */
ucs_status_t ucp_config_read(const char *env_prefix, const char *filename,
                             ucp_config_t **config_p);
void         ucp_config_release(ucp_config_t *config);

/* Set one value; name is without "UCX_". UCS_ERR_INVALID_PARAM: no such name
 * or value. */
ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                               const char *value);

/* Print settings as UCX_NAME=value lines; title is printed with the header
 * flag only. */
void ucp_config_print(const ucp_config_t *config, FILE *stream,
                      const char *title, ucs_config_print_flags_t print_flags);

/* Create a context. config is lent; NULL means ucp_config_read(NULL, NULL).
 * Call ucp_init, which passes the version of the headers.
 * UCS_ERR_NO_DEVICE: no transport is left by the settings. */
ucs_status_t ucp_init_version(unsigned            api_major_version,
                              unsigned            api_minor_version,
                              const ucp_params_t *params,
                              const ucp_config_t *config,
                              ucp_context_h      *context_p);

static inline ucs_status_t ucp_init(const ucp_params_t *params,
                                    const ucp_config_t *config,
                                    ucp_context_h      *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config,
                            context_p);
}

/* Release a context. Memory handles that are left go with it; workers that are
 * left keep it until the last of them is destroyed. */
void ucp_cleanup(ucp_context_h context_p);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t ucp_context_query(ucp_context_h       context_p,
                               ucp_context_attr_t *attr);

/* Print memory domains and transports; Open MPI reads the lines. */
void ucp_context_print_info(const ucp_context_h context, FILE *stream);

UCS_API_END

#endif
